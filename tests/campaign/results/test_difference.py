"""What changed between two campaigns, against changes that the tests make."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from campaign_samples import PROVENANCE, campaign, finished_run, metrics_by_load
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.campaign.results.difference import difference
from schedlab.errors import InputError


def changed_under_easy(task):
    """Return the usual metrics, but under EASY 10 s more of waiting at load 0.9 and 1 s less at 0.5."""
    metrics = metrics_by_load(task)
    if task.scheduler == "fcfs+easy":
        metrics["mean_wait"] += 10 if task.instance.load == 0.9 else -1
    return metrics


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run directory with all tasks done."""
    return finished_run(tmp_path_factory.mktemp("a"))


def test_a_campaign_does_not_differ_from_itself(run):
    same = difference(run, run)
    assert (same.common, same.identical, same.changed, same.same_specification) == (8, 8, 0, 8)
    assert same.to_frame().changed.sum() == 0
    assert "8 results are the same to the last bit; 0 changed." in str(same)
    assert "changed most" not in str(same)
    assert same.to_dict()["unmatched"] == []


def test_changes_are_found_and_measured(run, tmp_path):
    found = difference(run, finished_run(tmp_path, metrics=changed_under_easy))
    assert (found.common, found.identical, found.changed) == (8, 4, 4)
    frame = found.to_frame()
    assert frame.changed.to_dict() == {"mean_wait": 4, "mean_wait_wide": 0, "utilisation": 0}
    # 450 -> 460 s twice, 250 -> 249 s twice: +1/45 and -1/250.
    assert frame.largest_absolute["mean_wait"] == 10
    assert frame.largest_relative["mean_wait"] == pytest.approx(1 / 45)
    assert frame.median_relative["mean_wait"] == pytest.approx((1 / 45 - 1 / 250) / 2)
    assert math.isnan(frame.largest_absolute["utilisation"])


def test_the_tasks_that_changed_most_come_first(run, tmp_path):
    found = difference(run, finished_run(tmp_path, metrics=changed_under_easy))
    most = found.most_changed(3)
    assert most[["load", "scheduler", "metric"]].values.tolist() == [
        [0.9, "fcfs+easy", "mean_wait"], [0.9, "fcfs+easy", "mean_wait"], [0.5, "fcfs+easy", "mean_wait"]
    ]  # fmt: skip
    assert most[["value_a", "value_b"]].values.tolist() == [[450, 460], [450, 460], [250, 249]]
    lines = [line.split() for line in str(found).splitlines()]
    assert ["mean_wait", "4", "10", "+2.22", "%", "+0.911", "%"] in lines
    assert ["lublin", "0.9", "1", "-", "fcfs+easy", "mean_wait", "450", "460", "+2.22", "%"] in lines


def test_a_tolerance_lets_small_changes_pass(run, tmp_path):
    found = difference(run, finished_run(tmp_path, metrics=changed_under_easy), tolerance=0.01)
    assert (found.identical, found.changed) == (4, 2)
    assert set(found.most_changed().load) == {0.9}
    assert "2 changed by more than 0.01 of the value in A" in str(found)
    with pytest.raises(InputError, match="must be a fraction of 0 or more"):
        difference(run, run, tolerance=-1)
    with pytest.raises(InputError, match="the tolerance is nan"):
        difference(run, run, tolerance=math.nan)


def test_the_last_bit_counts(run, tmp_path):
    def by_a_bit(task):
        metrics = metrics_by_load(task)
        return {**metrics, "mean_wait": np.nextafter(metrics["mean_wait"], np.inf)}

    found = difference(run, finished_run(tmp_path, metrics=by_a_bit))
    assert (found.identical, found.changed) == (0, 8)
    assert difference(run, finished_run(tmp_path, metrics=by_a_bit), tolerance=1e-12).changed == 0


def test_nan_equals_nan_only(run, tmp_path):
    found = difference(run, finished_run(tmp_path, metrics=lambda t: {**metrics_by_load(t), "mean_wait_wide": 0.0}))
    assert found.to_frame().changed.to_dict() == {"mean_wait": 0, "mean_wait_wide": 8, "utilisation": 0}
    assert found.most_changed().metric.unique().tolist() == ["mean_wait_wide"]
    assert math.isnan(found.to_frame().largest_absolute["mean_wait_wide"])
    assert json.dumps(found.to_dict(), allow_nan=False)


def test_a_change_from_zero_is_the_largest(run, tmp_path):
    def with_kills(number):
        return lambda task: {"killed": number if task.instance.load == 0.5 else 1.0, "mean_wait": 1 + number}

    a = finished_run(tmp_path / "a", metrics=with_kills(0.0))
    found = difference(a, finished_run(tmp_path / "b", metrics=with_kills(3.0)))
    assert found.to_frame().largest_relative.to_dict() == {"killed": math.inf, "mean_wait": 3.0}
    assert found.most_changed().metric.tolist() == ["killed"] * 4 + ["mean_wait"] * 4
    assert "from 0" in str(found)


def test_tasks_are_matched_by_their_coordinates(run, tmp_path):
    # Another seed is another specification; other schedulers in another order are other places in the plan.
    other = campaign(seed=5, schedulers=["saf", "easy", "fcfs"])
    found = difference(run, finished_run(tmp_path, other))
    assert (found.common, found.same_specification, found.identical) == (8, 0, 8)
    assert (found.count("absent", "done"), found.count("done", "absent")) == (4, 0)
    assert set(found.unmatched.scheduler) == {"saf"}


def test_what_failed_or_is_absent_on_one_side_is_listed(tmp_path):
    a = finished_run(tmp_path / "a", failed=[0, 1], left_out=[7])
    b = finished_run(tmp_path / "b", failed=[1, 2], left_out=[6])
    found = difference(a, b)
    assert found.common == 3
    assert found.to_dict()["states"] == {
        "done_done": 3, "done_failed": 1, "done_absent": 1,
        "failed_done": 1, "failed_failed": 1, "failed_absent": 0,
        "absent_done": 1, "absent_failed": 0,
    }  # fmt: skip
    assert len(found.to_dict()["unmatched"]) == len(found.unmatched) == 4
    lines = [line.split() for line in str(found).splitlines()]
    assert ["lublin", "0.5", "0", "-", "fcfs", "failed", "done"] in lines


def test_both_sides_say_by_which_version_they_were_made(run, tmp_path, monkeypatch):
    monkeypatch.setitem(PROVENANCE, "schedlab", "10.0")
    monkeypatch.delitem(PROVENANCE, "commit")
    text = str(difference(run, finished_run(tmp_path)))
    assert "small: schedlab 9.8.7 (abc1234), 8 of 8 tasks done, 0 failed" in text
    assert "small: schedlab 10.0, 8 of 8 tasks done, 0 failed" in text


def test_metrics_of_one_side_only_are_named(run, tmp_path):
    found = difference(run, finished_run(tmp_path, metrics=lambda task: {"utilisation": 0.5, "new": 1.0}))
    assert (found.only_in_a, found.only_in_b) == (("mean_wait", "mean_wait_wide"), ("new",))
    assert "Only B has the metrics new." in str(found)


def test_a_campaign_without_load_and_windows_is_matched_too(tmp_path):
    plain = campaign(workloads=[{"generate": "lublin", "jobs": 20, "processors": 16}])
    a, b = (finished_run(tmp_path / side, plain) for side in "ab")
    assert difference(a, b).identical == 2


def test_nothing_in_common_is_no_error(run, tmp_path):
    found = difference(run, finished_run(tmp_path, left_out=range(8)))
    assert (found.common, found.changed, found.count("done", "absent")) == (0, 0, 8)
    assert "0 tasks are done in both" in str(found)
    assert (
        difference(found_nothing := finished_run(tmp_path, campaign("b"), left_out=range(8)), found_nothing).common == 0
    )


@settings(max_examples=20)
@given(st.lists(st.sampled_from([0.0, 1.0, 1.5, math.nan, math.inf]), min_size=16, max_size=16))
def test_as_many_tasks_change_as_values_differ(tmp_path_factory, values):
    directory = tmp_path_factory.mktemp("pair")
    sides = []
    for side, half in (("a", values[:8]), ("b", values[8:])):
        rest = iter(half)
        sides.append(finished_run(directory / side, metrics=lambda task, rest=rest: {"mean_wait": next(rest)}))
    found = difference(*sides)
    pairs = zip(values[:8], values[8:], strict=True)
    expected = sum(not (x == y or (math.isnan(x) and math.isnan(y))) for x, y in pairs)
    assert found.changed == found.to_frame().changed["mean_wait"] == 8 - found.identical == expected
    assert len(found.most_changed()) == expected
    assert json.dumps(found.to_dict(), allow_nan=False)
    assert str(found)
