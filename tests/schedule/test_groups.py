"""Metrics by size class and by user."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from schedule_samples import feasible_schedules

from schedlab.schedule.groups import SIZE_CLASSES, size_class_labels, size_classes
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
