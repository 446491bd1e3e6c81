"""Groups that carry the mean wait are found by themselves, without jobs in common, and their shares are right."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.site.carriers import carriers, shares_by, stands_out, wait_share
from schedlab.workload.resources import Labels


def labels(**columns: list[str]) -> dict[str, Labels]:
    return {name: Labels.of(values) for name, values in columns.items()}


def test_the_jobs_of_one_user_that_ask_for_whole_nodes_are_found():
    """Ann's whole-node jobs wait 1,000 s; her other jobs, and whole-node jobs of others, wait 10 s."""
    users = ["ann"] * 20 + ["bob"] * 40 + ["eve"] * 40
    nodes = ["whole"] * 10 + ["part"] * 10 + (["whole"] * 20 + ["part"] * 20) * 2
    waits = np.array([1000] * 10 + [10] * 90)
    found = carriers(waits, labels(user=users, nodes=nodes))
    assert found[0].told_apart == {"user": "ann", "nodes": "whole"}
    assert found[0].rows.tolist() == list(range(10))
    assert found[-1].told_apart == {}
    assert sorted(np.concatenate([one.rows for one in found]).tolist()) == list(range(100))


def test_no_more_labels_than_needed_tell_a_group_apart_and_all_that_its_jobs_share_is_told():
    users = ["ann"] * 10 + ["bob"] * 30
    nodes = ["whole"] * 10 + ["part"] * 30
    found = carriers(np.array([500] * 10 + [1] * 30), labels(user=users, nodes=nodes))
    assert found[0].told_apart == {"user": "ann"}
    assert found[0].shared == {"user": "ann", "nodes": "whole"}


def test_the_next_group_is_sought_among_the_rest():
    users = ["ann"] * 5 + ["bob"] * 5 + ["eve"] * 50
    found = carriers(np.array([1000] * 5 + [500] * 5 + [0] * 50), labels(user=users))
    assert [one.told_apart.get("user") for one in found] == ["ann", "bob", None]


def test_the_group_with_the_largest_share_stands_first_also_if_another_was_more_telling():
    """Ann's 2 jobs wait 10,000 s each, bob's 40 jobs 1,000 s each: 20,000 and 40,000 of 60,000 s."""
    users = ["ann"] * 2 + ["bob"] * 40 + ["eve"] * 40
    found = carriers(np.array([10_000] * 2 + [1000] * 40 + [0] * 40), labels(user=users))
    assert [one.told_apart.get("user") for one in found] == ["bob", "ann", None]


def test_even_waits_have_no_carrier():
    found = carriers(np.full(30, 60), labels(user=["ann"] * 10 + ["bob"] * 20))
    assert [one.told_apart for one in found] == [{}]
    assert carriers(np.zeros(4, dtype=np.int64), labels(user=["ann"] * 2 + ["bob"] * 2))[0].told_apart == {}


def test_jobs_without_a_label_are_no_group():
    users = [""] * 10 + ["bob"] * 10
    found = carriers(np.array([1000] * 10 + [1] * 10), labels(user=users))
    assert [one.told_apart for one in found] == [{}]


def test_shares_means_and_means_of_the_others_by_hand():
    """Ann: 30 and 60 of 120 s; bob: 30 and 0."""
    waits = np.array([30, 60, 30, 0])
    ann, bob = shares_by("user", Labels.of(["ann", "ann", "bob", "bob"]), waits)
    assert (ann.group, ann.jobs, ann.share_of_jobs, ann.share_of_waiting) == ("ann", 2, 0.5, 0.75)
    assert (ann.mean, ann.median, ann.mean_without) == (45, 45, 15)
    assert (bob.group, bob.share_of_waiting, bob.mean_without) == ("bob", 0.25, 45)
    every = wait_share("all", "all", waits, np.arange(4))
    assert every.share_of_waiting == 1
    assert np.isnan(every.mean_without)


@pytest.mark.parametrize(("waits", "out"), [([90, 1, 1, 1], True), ([30, 25, 20, 20], False)])
def test_a_group_stands_out_if_it_waits_far_more_than_its_part(waits: list[int], out: bool):
    assert stands_out(wait_share("user", "ann", np.array(waits), np.array([0]))) is out
