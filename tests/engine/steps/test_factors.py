"""The factors of multifactor priorities at an instant: their sum is what orders the queue."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.slurm.sprio import priorities
from schedlab.workload.workload import Workload

SCHEDULER = "multifactor(age=1000,size=500,fairshare=2000)+slurm"


def jobs(n: int = 120) -> Workload:
    rng = np.random.default_rng(3)
    run = rng.integers(60, 6_000, n)
    columns = {"submit_time": np.sort(rng.integers(0, 40_000, n)), "run_time": run, "requested_time": run + 100}
    columns |= {"requested_processors": rng.integers(1, 9, n), "user_id": rng.integers(1, 5, n)}
    return Workload.from_columns(columns, processors=8)


def test_the_factors_add_up_to_the_priority_that_orders_the_queue():
    simulation = Simulation(jobs(), SCHEDULER)
    seen = 0
    for second in (1_000, 5_000, 15_001, 33_333):
        simulation.run(until=second)
        found = simulation.priorities()
        row = np.flatnonzero(np.isin(simulation.workload.job_id, found.job_id))
        assert row.tolist() == sorted(simulation.waiting.tolist())
        ordering = dict(zip(simulation.workload.job_id.tolist(), -simulation._world.orders.policy.score, strict=True))
        assert found.priority.tolist() == [ordering[job] for job in found.job_id.tolist()]
        assert (np.diff(found.priority) <= 0).all()
        assert np.abs(found.to_frame()[["age", "fairshare", "size"]].sum(axis=1) - found.priority).max() < 1
        seen += len(found)
    assert seen > 20


def test_three_jobs_worked_by_hand():
    # Users 7 and 8 have equal shares and 8 has used nothing: Fair Tree ranks 8 first (2/2) and 7 second (1/2).
    # At 7,200 s both have waited about that long, of the 604,800 s after which the age counts in full; sizes: 3/4, 1/4.
    columns = {"submit_time": [0, 1, 2], "run_time": [9_000] * 3, "requested_time": [9_000] * 3}
    columns |= {"requested_processors": [4, 1, 3], "user_id": [7, 7, 8]}
    schedule = simulate(Workload.from_columns(columns, processors=4), SCHEDULER)
    found = priorities(schedule, 7_200)
    assert (found.job_id.tolist(), found.user_id.tolist(), found.computed) == ([3, 2], [8, 7], 7_200)
    assert found.fairshare.tolist() == [2_000, 1_000]
    assert found.size.tolist() == [375, 125]
    np.testing.assert_allclose(found.age, [1_000 * 7_198 / 604_800, 1_000 * 7_199 / 604_800])
    assert found.priority.tolist() == [2_386, 1_136]
    assert str(found).splitlines()[-1].split() == ["2", "7", "1136", "12", "1000", "125", "0", "0", "0"]


def test_other_policies_have_no_factors():
    with pytest.raises(InputError, match=r"fcfs\+easy: only multifactor\(...\) has priority factors"):
        Simulation(jobs(5), "fcfs+easy").priorities()


def test_a_schedule_that_cannot_be_repeated_is_refused():
    schedule = simulate(jobs(20), SCHEDULER)
    moved = schedule.start_time.copy()
    moved[0] += 1
    with pytest.raises(InputError, match="repeating the simulation gave other start times"):
        priorities(replace(schedule, start_time=moved, end_time=schedule.end_time + 1), 50_000)
