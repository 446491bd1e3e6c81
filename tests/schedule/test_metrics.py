"""Every metric against values computed by hand, and against obvious loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from schedule_samples import build, feasible_schedules

from schedlab.cluster.cluster import Cluster
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.metrics import bounded_slowdown, jain_index, per_processor_bounded_slowdown, slowdown
from schedlab.schedule.reasons import OF_REASONS
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.window import measured_window
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

# Of the schedule five_jobs: waits 0 0 40 70 40, turnarounds 100 50 60 75 50, run times 100 50 20 5 10.
BY_HAND = {
    "jobs": 5,
    "mean_wait": 30,
    "median_wait": 40,
    "p95_wait": 40 + 0.8 * 30,  # position 0.95 * 4 = 3.8 in 0 0 40 40 70
    "p99_wait": 40 + 0.96 * 30,
    "max_wait": 70,
    "mean_turnaround": 67,
    "median_turnaround": 60,
    "p95_turnaround": 75 + 0.8 * 25,
    "p99_turnaround": 75 + 0.96 * 25,
    "max_turnaround": 100,
    "mean_slowdown": (1 + 1 + 3 + 15 + 5) / 5,
    "median_slowdown": 3,
    "p95_slowdown": 5 + 0.8 * 10,
    "p99_slowdown": 5 + 0.96 * 10,
    "max_slowdown": 15,
    "mean_bounded_slowdown": (1 + 1 + 3 + 7.5 + 5) / 5,
    "median_bounded_slowdown": 3,
    "p95_bounded_slowdown": 5 + 0.8 * 2.5,
    "p99_bounded_slowdown": 5 + 0.96 * 2.5,
    "max_bounded_slowdown": 7.5,
    "mean_per_processor_bounded_slowdown": (1 + 1 + 60 / 40 + 75 / 40 + 5) / 5,
    "median_per_processor_bounded_slowdown": 1.5,
    "p95_per_processor_bounded_slowdown": 1.875 + 0.8 * 3.125,
    "p99_per_processor_bounded_slowdown": 1.875 + 0.96 * 3.125,
    "max_per_processor_bounded_slowdown": 5,
    "utilisation": (200 + 100 + 40 + 20 + 10) / (4 * 105),
    "makespan": 105,
    "mean_queue_length": 150 / 105,
    "max_queue_length": 3,
    "throughput": 5 * 86_400 / 105,
    "backfilled_share": 0.2,
    "killed_jobs": 1,
    "fairness": 7.25**2 / (2 * (3**2 + 4.25**2)),  # mean bounded slowdowns: user 1 (1+3+5)/3, user 2 (1+7.5)/2
}


def test_every_metric_has_the_value_computed_by_hand(five_jobs: Schedule) -> None:
    assert five_jobs.metrics() == pytest.approx(BY_HAND, rel=1e-12)


def test_tau_moves_the_bound_of_the_slowdown(five_jobs: Schedule) -> None:
    # With tau = 50: 100/100, 50/50, 60/50, 75/50, 50/50.
    assert five_jobs.metrics(tau=50)["mean_bounded_slowdown"] == pytest.approx((1 + 1 + 1.2 + 1.5 + 1) / 5)


@pytest.mark.parametrize("warm_up", [20, 11.5, 0.4, 0.59], ids=["seconds", "part seconds", "share", "rounded share"])
def test_a_warm_up_leaves_out_the_jobs_submitted_before_its_end(five_jobs: Schedule, warm_up: float) -> None:
    metrics = five_jobs.metrics(warm_up=warm_up)
    assert metrics["jobs"] == 3
    assert metrics["mean_wait"] == 50


def test_a_warm_up_measures_utilisation_from_its_end_on(five_jobs: Schedule) -> None:
    metrics = five_jobs.metrics(warm_up=20)
    assert metrics["makespan"] == 85
    assert metrics["utilisation"] == pytest.approx((160 + 80 + 40 + 20 + 10) / (4 * 85))
    assert metrics["mean_queue_length"] == pytest.approx(150 / 85)
    assert metrics["fairness"] == pytest.approx((4 + 7.5) ** 2 / (2 * (4**2 + 7.5**2)))


def test_a_cool_down_ends_the_measured_period_before_the_machine_drains(five_jobs: Schedule) -> None:
    metrics = five_jobs.metrics(warm_up=0.4, cool_down=10)
    # Jobs 3 and 4 count; from 20 to 30 jobs 1 and 2 fill the machine, job 3 waits and job 4 comes at the end.
    assert metrics["jobs"] == 2
    assert metrics["makespan"] == 10
    assert metrics["utilisation"] == 1
    assert metrics["mean_queue_length"] == 1
    assert metrics["max_queue_length"] == 2
    assert metrics["throughput"] == 0


def test_a_share_as_cool_down_ends_the_period_with_the_first_job_that_it_leaves_out(five_jobs: Schedule) -> None:
    metrics = five_jobs.metrics(warm_up=0.4, cool_down=0.2)
    # Jobs 3 and 4 count; from 20 to 40 jobs 1 and 2 fill the machine, job 3 waits 20 s and job 4 waits 10 s.
    assert metrics["jobs"] == 2
    assert metrics["makespan"] == 20
    assert metrics["utilisation"] == 1
    assert metrics["mean_queue_length"] == 30 / 20


def test_a_share_too_small_for_one_job_is_no_cool_down(five_jobs: Schedule) -> None:
    assert five_jobs.metrics(cool_down=0.1) == five_jobs.metrics()


def test_a_share_of_the_jobs_loses_none_to_floating_point() -> None:
    schedule = build([(second, second, 1, 1) for second in range(100)], machine=1)
    assert schedule.metrics(warm_up=0.29)["jobs"] == 71


def test_processor_seconds_beyond_64_bits_are_counted() -> None:
    year_of_many = build([(0, 0, 2**40, 2**30)], machine=2**30)
    assert year_of_many.metrics()["utilisation"] == 1
    assert year_of_many.metrics()["max_per_processor_bounded_slowdown"] == 1
    assert year_of_many.metrics_by_user()["share_of_work"].tolist() == [1]


@pytest.mark.parametrize("tau", [0, -10])
def test_a_bound_below_one_second_is_refused(five_jobs: Schedule, tau: int) -> None:
    with pytest.raises(InputError, match="must be at least 1 second"):
        five_jobs.metrics(tau=tau)


def test_every_metric_is_a_plain_float(five_jobs: Schedule) -> None:
    assert {type(value) for value in five_jobs.metrics().values()} == {float}


@pytest.mark.parametrize("users", [[-1, -1], [4, 4], [-1, 4], [-1, -2]])
def test_fewer_than_two_known_users_have_no_fairness(users: list[int]) -> None:
    schedule = build([(0, 0, 10, 1), (0, 10, 10, 1)], machine=1, user_id=users)
    assert "fairness" not in schedule.metrics()
    assert str(schedule).endswith("fairness          unknown: the jobs name fewer than two users")


def test_jobs_are_trimmed_in_order_of_submission_whatever_their_order_in_the_trace() -> None:
    schedule = build([(50, 57, 10, 1), (0, 0, 10, 1), (20, 23, 10, 1)], machine=2)
    assert schedule.metrics(warm_up=1 / 3)["mean_wait"] == 5
    assert schedule.metrics(cool_down=1 / 3)["mean_wait"] == 1.5
    assert measured_window(schedule, warm_up=20).rows.tolist() == [2, 0]


@pytest.mark.parametrize(
    "trim",
    [
        {"warm_up": 41},
        {"cool_down": 1e9},
        {"warm_up": 0.6, "cool_down": 0.6},
        {"warm_up": 20, "cool_down": 20},
    ],
)
def test_trimming_everything_away_is_refused(five_jobs: Schedule, trim: dict[str, float]) -> None:
    with pytest.raises(InputError, match="not enough jobs"):
        five_jobs.metrics(**trim)


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_a_trim_that_is_no_time_is_refused(five_jobs: Schedule, value: float) -> None:
    with pytest.raises(InputError, match="cool-down"):
        five_jobs.metrics(cool_down=value)


def test_an_empty_schedule_has_no_metrics() -> None:
    with pytest.raises(InputError, match="not enough jobs"):
        build([], machine=4).metrics()


def test_a_single_job_of_no_duration_has_finite_metrics() -> None:
    metrics = build([(5, 5, 0, 3)], machine=4).metrics()
    assert np.isfinite(list(metrics.values())).all()
    assert metrics["mean_slowdown"] == 1
    assert metrics["utilisation"] == 0


def test_the_slowdown_of_a_job_of_no_duration_counts_it_as_one_second() -> None:
    assert slowdown(np.array([9]), np.array([0])).tolist() == [10]
    assert bounded_slowdown(np.array([9]), np.array([0])).tolist() == [1]
    assert per_processor_bounded_slowdown(np.array([90]), np.array([0]), np.array([3])).tolist() == [3]


def test_one_user_who_is_served_n_times_worse_moves_the_index_towards_one_nth() -> None:
    assert jain_index(np.array([1.0, 1.0, 1.0, 1e9])) == pytest.approx(1 / 4, abs=1e-6)


@given(feasible_schedules())
def test_metrics_agree_with_counting_second_by_second(schedule: Schedule) -> None:
    submit, start, end = schedule.workload.submit_time, schedule.start_time, schedule.end_time
    first, last = int(submit.min()), int(end.max())
    seconds = range(first, last + 1)
    queue = [int(((submit <= t) & (t < start)).sum()) for t in seconds]
    busy = [int(schedule.workload.job_processors[(start <= t) & (t < end)].sum()) for t in seconds]
    metrics = schedule.metrics()
    length = max(last - first, 1)
    assert metrics["max_queue_length"] == max(queue)
    assert metrics["mean_queue_length"] == pytest.approx(sum(queue) / length)
    assert metrics["utilisation"] == pytest.approx(sum(busy) / (length * schedule.processors))
    assert 0 <= metrics["utilisation"] <= 1
    assert metrics["mean_queue_length"] * length == pytest.approx(schedule.wait_time.sum())


@given(feasible_schedules())
def test_the_order_of_the_rows_changes_no_metric(schedule: Schedule) -> None:
    rows = [
        (int(a), int(b), int(c), int(d))
        for a, b, c, d in zip(
            schedule.workload.submit_time,
            schedule.start_time,
            schedule.run_time,
            schedule.workload.job_processors,
            strict=True,
        )
    ]
    users = schedule.workload.user_id.tolist()
    turned = build(rows[::-1], schedule.processors, user_id=users[::-1])
    assert turned.metrics() == pytest.approx(schedule.metrics(), rel=1e-12)


def test_mean_waits_by_reason_add_up_to_the_mean_wait() -> None:
    nodes = Cluster.from_dict(
        {
            "groups": [{"nodes": "n[1-2]", "cores": 2}],
            "partitions": [{"name": "all", "default": True}],
            "accounts": [{"name": "bio", "limits": {"grp_jobs": 1}}, {"name": "chem"}],
        }
    )
    # Job 1 waits 10 s at the limit; job 2, as wide as the machine, 19 s for it; job 3 18 s behind job 2, then 10 s.
    columns = {"run_time": [10] * 4, "requested_time": [10] * 4, "requested_processors": [1, 1, 4, 4]}
    jobs = Workload.from_columns(
        columns | {"submit_time": [0, 0, 1, 2]},
        processors=4,
        resources=Resources.of(4, account=["bio", "bio", "chem", "chem"]),
    )
    metrics = simulate(jobs, "fcfs", cluster=nodes).metrics()
    kinds = {name: metrics[name] for name in OF_REASONS}
    assert sum(kinds.values()) == pytest.approx(metrics["mean_wait"])
    assert kinds["mean_wait_at_limits"] == 10 / 4
    assert kinds["mean_wait_for_resources"] == (19 + 10) / 4
    assert kinds["mean_wait_for_priority"] == 18 / 4
    assert not set(OF_REASONS) & set(simulate(jobs, "fcfs").metrics())
