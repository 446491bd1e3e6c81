"""simulate_many(): what it measures is what simulate() and its schedules say, bit for bit."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from cluster_cases import random_cluster, random_jobs
from hypothesis import given
from hypothesis import strategies as st
from random_workloads import workloads

from schedlab.engine.many.simulate_many import simulate_many
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.measures import LARGEST, NAMES, measure_small
from schedlab.schedule.metrics import schedule_metrics
from schedlab.schedule.window import measured_window
from schedlab.scheduler import FunctionPolicy, Scheduler
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

pytestmark = pytest.mark.both

SCHEDULERS = [
    "saf+easy",
    '"p*q**0.5"+easy',
    '"-ln(q) - r"+easy',
    "saf+easy@actual",
    "wfp3+easy",
    Scheduler(FunctionPolicy(lambda q: -q), "easy"),
]
"""Some together in the kernel, some one by one."""


def crowd(jobs, seed, users=5):
    rng = np.random.default_rng(seed)
    request = rng.integers(1, 900, jobs)
    return Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, 30 * jobs, jobs)),
            "run_time": rng.integers(0, 1200, jobs),
            "requested_time": request,
            "requested_processors": rng.integers(1, 17, jobs),
            "user_id": rng.integers(1, users + 1, jobs),
        },
        processors=32,
    )


def check(parts, schedulers, **options):
    """Compare all metrics of all pairs."""
    results = simulate_many(parts, schedulers, metrics=NAMES, threads=2, **options)
    assert results.shape == (len(parts), len(schedulers), len(NAMES))
    for row, part in enumerate(parts):
        for column, scheduler in enumerate(schedulers):
            found = simulate(part, scheduler, **options).metrics()
            expected = [found.get(name, np.nan) for name in NAMES]
            assert np.array_equal(results[row, column], expected, equal_nan=True), (row, column)


def test_many_simulations_measure_what_each_of_them_does():
    check([crowd(jobs, jobs) for jobs in (1, 2, 7, 8, 9, 130, 300)], SCHEDULERS)


def test_a_workload_with_more_than_the_kernel_knows_may_stand_behind_one_without():
    plain, cancelled = crowd(30, 1), crowd(30, 2)
    patience = np.where(np.arange(30) % 3 == 0, 40, 0)
    resources = Resources.of(30, tasks=cancelled.job_processors, patience=patience)
    check([plain, cancelled.replace(resources=resources)], ["saf+easy", "fcfs"])


def test_options_are_those_of_simulate():
    parts = [crowd(60, seed) for seed in range(3)]
    check(parts, ["saf+easy", "fcfs+easy"], processors=64)
    parts = [part.replace(run_time=np.minimum(part.run_time, part.requested_time)) for part in parts]
    check(parts, ["saf+easy", "fcfs+easy"], events="pyss")


def test_the_first_jobs_may_be_left_uncounted():
    part = crowd(80, 1)
    names = ["mean_bounded_slowdown", "p95_wait", "max_wait", "median_turnaround"]
    for scheduler in ("spf+easy", "wfp3+easy"):
        schedule = simulate(part, scheduler)
        found = simulate_many(part, scheduler, metrics=names, uncounted=16)[0, 0]
        waits, turnaround = schedule.wait_time[16:], schedule.turnaround_time[16:]
        assert found.tolist() == [
            schedule.bounded_slowdown[16:].mean(),
            np.percentile(waits, 95),
            waits.max(),
            np.percentile(turnaround, 50),
        ]


def test_threads_and_the_shape_of_the_question_make_no_difference():
    parts = [crowd(40, seed) for seed in range(5)]
    texts = [f'"p**{power}*q"+easy' for power in range(3)]
    one = simulate_many(parts, texts, threads=1)
    assert np.array_equal(one, simulate_many(parts, texts, threads=3))
    assert one[2, 1] == simulate_many(parts[2], texts[1])[0, 0]
    assert simulate_many([], texts).shape == (0, 3)
    assert simulate_many(parts, []).shape == (5, 0)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"metrics": "mean_joy"}, "'mean_joy' is not a metric; known are jobs, mean_wait"),
        ({"metrics": ["utilisation"], "uncounted": 3}, "utilisation is not a metric"),
        ({"threads": 0}, "threads=0: must be a number of threads"),
        ({"uncounted": -1}, "uncounted=-1: must be a number of jobs"),
        ({"tau": 0.5}, "tau is 0.5; it must be a whole number of seconds"),
        ({"processors": 3}, "processors but the machine has 3"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_sentence(options, reason):
    with pytest.raises(InputError, match=reason):
        simulate_many(crowd(10, 1), "saf+easy", **options)


def test_a_formula_without_a_number_for_some_job_is_named_with_the_job():
    with pytest.raises(InputError, match=r"policy \"ln\(p-890\)\": the score is not a number for the job submitted"):
        simulate_many([crowd(10, 1), crowd(10, 2)], ["saf+easy", '"ln(p-890)"+easy'])


@given(workloads(users=3))
def test_the_metrics_of_small_schedules_are_those_of_numpy_bit_for_bit(workload):
    schedule = simulate(workload.sorted_by_submit(), "saf+easy")
    small = measure_small(schedule, 10)
    assert small == schedule_metrics(schedule, window=measured_window(schedule))
    assert list(small) == list(schedule_metrics(schedule, window=measured_window(schedule)))


@pytest.mark.parametrize("jobs", [127, 128, 129, 1000, 1001, 4095, LARGEST])
def test_sums_are_made_in_the_order_of_numpy(jobs):
    schedule = simulate(crowd(jobs, jobs), "lcfs+easy")  # which asks for no user
    for users in (1, 2, 700):
        same = replace(schedule, workload=crowd(jobs, jobs, users))
        assert measure_small(same, 10) == schedule_metrics(same, window=measured_window(same))


def test_schedules_with_runs_or_dependencies_or_float_times_are_not_for_the_kernel():
    workload = crowd(20, 1)
    schedule = simulate(workload, "fcfs")
    assert measure_small(schedule, 10) is not None
    assert measure_small(simulate(workload[::-1], "fcfs"), 10) is None
    assert measure_small(simulate(crowd(LARGEST + 1, 1), "fcfs"), 10) is None
    assert measure_small(simulate(workload, "fcfs+easy@actual,start_delay=0.5", events="sc17"), 10) is None


@given(st.integers(0, 100))
def test_a_workload_that_has_been_simulated_before_gives_the_same_again(seed):
    workload = crowd(30, seed)
    schedulers = ["saf+easy", "saf@actual+easy", "saf+easy@actual", "fcfs+conservative"]
    first = [simulate(workload, one).start_time.tolist() for one in schedulers]
    again = [simulate(workload, one).start_time.tolist() for one in schedulers]
    fresh = [simulate(workload.replace(), one).start_time.tolist() for one in schedulers]
    assert first == again == fresh
    with pytest.raises(InputError, match="but the machine has 2"):
        simulate(workload, "saf+easy", processors=2)


def test_on_a_cluster_each_is_what_simulate_gives():
    random = Random(3)
    cluster = random_cluster(random)
    parts = [random_jobs(random, cluster) for _ in range(2)]
    schedulers = ["fcfs", "saf+easy"]
    waits = simulate_many(parts, schedulers, metrics=["mean_wait", "makespan"], cluster=cluster)
    for row, jobs in enumerate(parts):
        for column, scheduler in enumerate(schedulers):
            expected = simulate(jobs, scheduler, cluster=cluster).metrics()
            assert waits[row, column].tolist() == [expected["mean_wait"], expected["makespan"]]
    assert waits[:, :, 0].any()
