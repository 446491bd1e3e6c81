"""Metrics by size class and by user."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedule_samples import feasible_schedules

from schedlab.schedule.groups import (
    SIZE_CLASSES,
    SLOWDOWN_CLASSES,
    USER_CLASSES,
    class_metrics,
    size_class_labels,
    size_classes,
    slowdown_classes,
    user_classes,
)
from schedlab.schedule.schedule import Schedule


def test_metrics_by_user_have_the_values_computed_by_hand(five_jobs: Schedule) -> None:
    users = five_jobs.metrics_by_user()
    assert users.index.tolist() == [1, 2]
    assert users["jobs"].tolist() == [3, 2]
    assert users["share_of_work"].tolist() == pytest.approx([250 / 370, 120 / 370])
    assert users["mean_wait"].tolist() == pytest.approx([80 / 3, 35])
    assert users["median_wait"].tolist() == [40, 35]
    assert users["p95_bounded_slowdown"].tolist() == pytest.approx([3 + 0.9 * 2, 1 + 0.95 * 6.5])
    assert users["max_turnaround"].tolist() == [100, 75]
    assert users["backfilled_share"].tolist() == pytest.approx([1 / 3, 0])
    assert users["killed_jobs"].tolist() == [1, 0]


def test_metrics_by_size_class_name_only_the_classes_that_have_jobs(five_jobs: Schedule) -> None:
    # On 4 processors: one job of 1 is serial; more than a quarter of the machine is wide.
    classes = five_jobs.metrics_by_size_class()
    assert classes.index.tolist() == ["serial", "wide"]
    assert classes["jobs"].tolist() == [1, 4]
    assert classes["mean_wait"].tolist() == [40, 27.5]


def test_trimming_applies_to_groups_too(five_jobs: Schedule) -> None:
    assert five_jobs.metrics_by_user(warm_up=0.4)["jobs"].tolist() == [2, 1]


@given(st.integers(1, 100_000))
def test_each_label_states_the_processors_that_fall_into_its_class(machine: int) -> None:
    processors = np.unique(np.geomspace(1, machine, 60).astype(np.int64))
    found = size_classes(processors, machine)
    assert (np.diff(found) >= 0).all()
    for size_class, label in enumerate(size_class_labels(machine)):
        members = processors[found == size_class]
        name, limits = label.replace(",", "").rstrip(")").split(" (")
        assert name == SIZE_CLASSES[size_class]
        if len(members):
            low, high = limits.split("–")[0], limits.split("–")[-1]
            assert int(low) <= members.min()
            assert members.max() <= int(high)


@given(feasible_schedules())
def test_groups_add_up_to_the_whole(schedule: Schedule) -> None:
    whole = schedule.metrics()
    for table in (schedule.metrics_by_user(), schedule.metrics_by_size_class()):
        assert table["jobs"].sum() == whole["jobs"]
        assert (table["jobs"] * table["mean_wait"]).sum() == pytest.approx(whole["mean_wait"] * whole["jobs"])
        assert table["max_bounded_slowdown"].max() == whole["max_bounded_slowdown"]


def test_heavy_users_are_the_fewest_who_did_half_of_the_work() -> None:
    # 60 + 40 + 40 + 40 + 10 + 10 = 200: the second user reaches half exactly, the fourth 90%.
    users = np.array([4, 3, 2, 1, 0, 5])
    classes = user_classes(users, np.array([60, 40, 40, 40, 10, 10]))
    names = dict(zip(users.tolist(), (USER_CLASSES[c] for c in classes), strict=True))
    assert [user for user in (4, 1, 2, 3, 0, 5) if names[user] == "heavy_users"] == [4, 1]
    assert {user for user, name in names.items() if name == "medium_users"} == {2, 3}
    assert {user for user, name in names.items() if name == "light_users"} == {0, 5}


def test_a_job_without_a_user_has_no_user_class_and_its_work_does_not_count() -> None:
    assert user_classes(np.array([-1, 1, 2]), np.array([1_000, 3, 2])).tolist() == [-1, 0, 1]
    assert user_classes(np.array([-1, -1]), np.array([5, 5])).tolist() == [-1, -1]
    assert user_classes(np.array([], dtype=np.int64), np.array([])).tolist() == []


def test_users_who_did_nothing_are_light() -> None:
    assert user_classes(np.array([1, 2]), np.array([0, 0])).tolist() == [2, 2]


@given(st.lists(st.tuples(st.integers(-2, 8), st.integers(0, 100)), min_size=1, max_size=40))
def test_user_classes_share_the_work_as_they_say(jobs: list[tuple[int, int]]) -> None:
    users, work = (np.array(column) for column in zip(*jobs, strict=True))
    classes = user_classes(users, work)
    done = {user: int(work[users == user].sum()) for user in set(users.tolist()) if user >= 0}
    class_of = {user: int(classes[users == user][0]) for user in done}
    assert all((classes[users == user] == class_of[user]).all() for user in done)
    total = sum(done.values())
    heavy = sorted(done[user] for user in done if class_of[user] == 0)
    if total:
        assert 2 * sum(heavy) >= total
        assert 2 * sum(heavy[1:]) < total, "one heavy user less would still have half"
        assert 10 * sum(done[user] for user in done if class_of[user] == 2) <= total
    for (one, much), (other, little) in itertools.permutations(done.items(), 2):
        assert much <= little or class_of[one] <= class_of[other]


@given(feasible_schedules())
def test_class_metrics_are_those_of_the_tables(schedule: Schedule) -> None:
    metrics = class_metrics(schedule)
    table = schedule.metrics_by_size_class()
    for name in SIZE_CLASSES:
        if name in table.index:
            row = table.loc[name]
            assert metrics[f"jobs_{name}"] == row.jobs
            assert metrics[f"mean_wait_{name}"] == pytest.approx(row.mean_wait)
            assert metrics[f"mean_bounded_slowdown_{name}"] == pytest.approx(row.mean_bounded_slowdown)
        else:
            assert metrics[f"jobs_{name}"] == 0
            assert np.isnan(metrics[f"mean_wait_{name}"])
    known = np.count_nonzero(schedule.workload.user_id >= 0)
    assert sum(metrics[f"jobs_{name}"] for name in USER_CLASSES) == known


@given(st.floats(1, 1e9))
def test_a_slowdown_lies_within_the_bounds_of_its_class(slowdown: float) -> None:
    (found,) = slowdown_classes(np.array([slowdown]))
    low, high = {"1": (1, 1), "1-10": (1, 10), "10-100": (10, 100), ">=100": (100, np.inf)}[SLOWDOWN_CLASSES[found]]
    assert slowdown == 1 if low == high else low <= slowdown < high
