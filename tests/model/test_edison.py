"""ScSF's example model of Edison, against what is published of it and what its program made of it."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.model.edison import EDISON_LIMITS, EDISON_PROCESSORS, EDISON_TOY

DAY = 86_400


def test_its_probabilities_are_the_published_ones():
    jobs = EDISON_TOY.jobs
    gaps = np.diff(EDISON_TOY.gaps.cumulative, prepend=0).round(4)
    assert gaps.tolist() == [0.3889, 0.0556, 0.0556, 0.0556, 0.1111] + [0.0556] * 6
    assert np.diff(jobs.processors.cumulative, prepend=0).round(2).tolist() == [0.05, 0.25, 0.1, 0.5, 0.05, 0.05]
    assert jobs.processors.low.tolist() == [24, 48, 120, 144, 192, 240]
    assert (jobs.requested_time.low / 60).tolist() == [1, 10, 20, 30, 60, 356]
    assert np.diff(jobs.accuracy.cumulative, prepend=0).round(2).tolist() == [0.45, 0.1, *[0.05] * 7, 0.1]


def test_two_days_without_pressure_have_as_many_jobs_and_as_much_work_as_in_the_program():
    rng = np.random.default_rng(1)
    jobs, loads = [], []
    for _ in range(20):
        jobs.append(np.searchsorted(np.cumsum(EDISON_TOY.draw_gaps(rng, 15_000)), 2 * DAY))
        drawn = EDISON_TOY.draw_jobs(rng, jobs[-1])
        loads.append(np.dot(drawn["run_time"], drawn["processors"]) / (2 * DAY * EDISON_PROCESSORS))
    # One run of the program had these values: ours of the same length scatter around them.
    assert abs(np.mean(jobs) - 13_014) < 3 * np.std(jobs)
    assert abs(np.mean(loads) - 0.027) < 3 * np.std(loads)


def test_a_full_machine_needs_as_many_jobs_a_day_as_in_the_program():
    drawn = EDISON_TOY.draw_jobs(np.random.default_rng(1), 200_000)
    work = np.dot(drawn["run_time"], drawn["processors"]) / 200_000
    assert EDISON_PROCESSORS * DAY / work == pytest.approx(223_000, rel=0.03)


def test_requests_are_cut_to_minutes_after_the_run_time_was_made_of_them():
    drawn = EDISON_TOY.draw_jobs(np.random.default_rng(1), 5_000)
    assert set(drawn["requested_time"] % 60) == {0}
    assert (drawn["user_id"] == -1).all()


def test_what_edison_does_not_accept():
    assert EDISON_LIMITS.processors == 33_456
    processors = np.array([33_456, 33_457, 24, 24, 15_000, 15_001, 7_200, 6_672])
    run_time = np.array([1_000, 1, 432_000, 432_001, 6_667, 6_667, 15_000, 15_001])
    # 15,000 x 6,667 and 7,200 x 15,000 are above 1e8, but neither wide nor long; 15,001 x 6,667 and 6,672 x 15,001 are.
    assert EDISON_TOY.rejects(processors, run_time).tolist() == [False, True, False, True, False, True, False, True]
