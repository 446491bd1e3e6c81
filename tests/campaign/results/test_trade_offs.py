"""Who pays: wide jobs, long waits, and users who wait longer."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.campaign.results.comparison import compare
from schedlab.campaign.results.trade_offs import price_table
from schedlab.workload.workload import Workload

JOBS = Workload.from_columns(
    {
        "submit_time": [0, 0, 0, 0],
        "run_time": [500, 100, 1_000, 10],
        "requested_time": [500, 100, 1_000, 10],
        "requested_processors": [4, 4, 4, 1],
        "user_id": [1, 2, 3, 3],
    },
    processors=4,
)


def test_users_pay_who_wait_longer_by_a_minute_or_more() -> None:
    # One after the other. In order: waits 0, 500, 600, 1600. The shortest first: 110, 10, 610, 0.
    before, after = compare(JOBS, ["fcfs", "spf"]).who_pays()
    assert (before.users, before.worse, before.worst_user) == (0, 0, -1)
    # User 1 waits 110 s more, user 2 490 s less, user 3 795 s less.
    assert (after.users, after.worse, after.worst_user, after.worst_change) == (3, 1, 1, 110.0)
    assert (before.max_wait, after.max_wait) == (1_600, 610)
    assert before.wide_wait == pytest.approx((0 + 500 + 600) / 3)
    assert after.wide_wait == pytest.approx((110 + 10 + 610) / 3)


def test_what_the_log_recorded_is_a_row_and_only_of_the_jobs_whose_wait_is_known() -> None:
    comparison = compare(JOBS.replace(wait_time=np.array([7, -1, 9, 11])), ["fcfs", "spf"])
    prices = comparison.who_pays()
    assert [(price.scheduler, price.jobs, price.users) for price in prices] == [
        ("fcfs", 4, 0),
        ("spf", 4, 3),
        ("as recorded", 3, 0),
    ]
    assert prices[2].mean_wait == 9
    assert str(comparison).splitlines()[-1].split()[:4] == ["as", "recorded", "0.15", "min"]
    assert list(comparison.to_frame().index) == ["fcfs", "spf"]
    assert list(comparison.to_frame(recorded=True).index) == ["fcfs", "spf", "as recorded"]
    assert compare(JOBS, ["fcfs"]).recorded is None


def test_the_table_names_users_and_is_left_out_where_nothing_is_known() -> None:
    comparison = compare(JOBS, ["fcfs", "spf"])
    assert price_table(comparison.who_pays(), {1: "ada"}).splitlines()[-1].split() == [
        *("spf", "4.06", "min", "1", "of", "3", "ada", "+110", "s")
    ]
    bare = JOBS.replace(
        user_id=np.full(4, -1), requested_processors=np.ones(4, int), allocated_processors=np.ones(4, int)
    )
    assert price_table(compare(bare, ["fcfs", "spf"]).who_pays(), {}) == ""


def test_clairvoyant_schedulers_are_marked_and_the_mark_is_explained() -> None:
    lines = str(compare(JOBS, ["fcfs", "fcfs+easy@actual"])).splitlines()
    assert lines[4].startswith("fcfs+easy@actual *")
    assert lines[-1].startswith("* knows every run time beforehand")
    assert "*" not in str(compare(JOBS, ["fcfs"]))
