"""Small jobs as a fluid: by hand, against the evaluator of sequences, and against a stepped simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.speculate.fluid import simulate_fluid


def test_two_jobs_without_small_work_by_hand():
    done = simulate_fluid([4, 12], [10, 20])
    # Requests of 10 for both, then of 20 for the second, which failed.
    assert done.end.tolist() == [4, 32]
    assert done.reserved_end.tolist() == [10, 40]
    assert (done.makespan, done.utilisation) == (40, 16 / 40)


def test_small_work_that_is_left_waits_for_the_next_gap_by_hand():
    done = simulate_fluid([9, 2], [10], zeta=0.5)
    # 4.5 of it after the first job, 4 after its gap; 5 after the second job, 1 after its gap, which takes 2 more.
    assert done.makespan == 22
    assert done.utilisation == pytest.approx(11 / 22 + 0.5)


@given(st.floats(0.1, 20), st.floats(0, 0.95))
def test_one_job_alone_takes_what_theorem_1_says(run_time, zeta):
    requests = np.array([5.0, 8.0, 20.0])
    last = int(np.searchsorted(requests, run_time))
    lost = requests[:last].sum()
    expected = max(lost + requests[last], (lost + run_time) / (1 - zeta))
    assert simulate_fluid([run_time], requests, zeta).makespan == pytest.approx(expected)


@pytest.mark.parametrize("zeta", [0.1, 0.5, 0.9])
def test_it_is_the_limit_of_a_simulation_in_small_steps(zeta):
    run_time = np.random.default_rng(7).uniform(1, 20, 12)
    requests, step = [12.0, 20.0], 0.001
    runs = [(min(12.0, x), 12.0) for x in run_time] + [(x, 20.0) for x in run_time if x > 12]
    backlog = now = 0.0
    for busy, length in runs:
        for k in range(round(length / step)):
            served = 1.0 if k * step >= busy else 0.0
            backlog = max(0.0, backlog + (zeta - served) * step)
        now += length
    while backlog > 0:
        backlog += (zeta - 1) * step
        now += step
    assert simulate_fluid(run_time, requests, zeta).makespan == pytest.approx(now, rel=1e-3)


@pytest.mark.parametrize(
    ("run_time", "zeta", "what"), [([21], 0.1, "at most"), ([], 0.1, "at least one"), ([1], 1, "zeta")]
)
def test_what_cannot_be_simulated_is_refused(run_time, zeta, what):
    with pytest.raises(InputError, match=what):
        simulate_fluid(run_time, [20], zeta)
