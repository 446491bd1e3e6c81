"""The engine against its reference, job by job."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_workloads import SCHEDULERS, workloads

from schedlab.engine import simulate
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import tsafrir_estimates
from schedlab.workload.workload import Workload


def assert_equal(workload, scheduler, **options):
    ours = simulate(workload, scheduler, **options)
    plain = simulate_plain(workload, scheduler, **options)
    np.testing.assert_array_equal(ours.start_time, plain.start_time)
    np.testing.assert_array_equal(ours.end_time, plain.end_time)
    np.testing.assert_array_equal(ours.backfilled, plain.backfilled)
    np.testing.assert_array_equal(ours.corrections, plain.corrections)


@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=str)
@given(workload=workloads(), in_order=st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_the_engine_equals_its_twin(scheduler, workload, in_order):
    assert_equal(workload, scheduler, in_order=0 if "conservative" in str(scheduler) else in_order)


@pytest.mark.parametrize("scheduler", SCHEDULERS, ids=str)
@given(workload=workloads(enforced=True))
@settings(max_examples=40, deadline=None)
def test_the_engine_equals_its_twin_one_event_at_a_time(scheduler, workload):
    assert_equal(workload, scheduler, events="pyss")


@pytest.mark.parametrize(
    "scheduler",
    [
        "fcfs",
        "fcfs+easy",
        "spf+easy,window=3",
        "spf@actual,window=4,start_delay=0.002610247",
        "f2+easy,start_delay=0.25",
        "wfp3+easy,window=5,start_delay=0.002610247",
        "unicef,start_delay=1.5",
    ],
)
@given(workload=workloads(), in_order=st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_the_engine_equals_its_twin_one_start_at_a_time(scheduler, workload, in_order):
    assert_equal(workload, scheduler, events="sc17", in_order=in_order)


@pytest.mark.parametrize("scheduler", ["fcfs+easy", "saf+easy:sjf", "wfp3+easy", "spf+easy,starvation=40000"])
def test_the_engine_equals_its_twin_on_a_crowded_machine(scheduler):
    """Hundreds wait, so that the tree has several levels and blocks that disappoint."""
    rng = np.random.default_rng(7)
    assert_equal(tsafrir_estimates(lublin(600, 64, rng=rng, load=1.6), rng=rng), scheduler)


@pytest.mark.parametrize("scheduler", ["fcfs+easy", "saf+easy", "wfp3+easy"])
@pytest.mark.parametrize("events", ["batched", "pyss"])
def test_the_engine_equals_its_twin_with_hundreds_of_jobs_running(scheduler, events):
    """Small jobs on a wide machine, ends in bunches, so that the calendar has many blocks that come and go."""
    rng = np.random.default_rng(8)
    n = 400
    run = rng.integers(1, 400, n) // 20 * 20 + 1
    workload = Workload.from_columns(
        {
            "submit_time": rng.integers(0, 300, n),
            "run_time": run,
            "requested_time": run + rng.integers(0, 300, n),
            "requested_processors": rng.integers(1, 4, n),
        },
        processors=400,
    )
    assert_equal(workload, scheduler, events=events)
