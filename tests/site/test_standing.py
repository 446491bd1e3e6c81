"""What a site keeps of its calibrations, and what answers say of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedlab import __version__
from schedlab.errors import InputError
from schedlab.site.coverage import Coverage, JudgedPartition, coverage
from schedlab.site.standing import (
    CALIBRATIONS,
    CalibrationRecord,
    Standing,
    keep_record,
    read_records,
    standing_of,
)
from schedlab.workload.workload import Workload

SITE = "a digest"
JOBS = Workload.from_columns(
    {"submit_time": [0, 9], "run_time": [5, 5], "requested_processors": [1, 1], "wait_time": [3, 0]}
)
ONE_USER = Coverage(
    4285,
    7,
    (JudgedPartition("long", 4238, 3600.0, 3700.0), JudgedPartition("gpu", 47, 3600.0, 7200.0)),
    ("debug",),
    "ann",
    4238,
    "partition long of 1 node with 8 cores",
    0.987,
)
GOOD = CalibrationRecord(__version__, "2026-01-01T00:00:00+00:00", SITE, "", True, "good", 0.028, 0.4, None, ONE_USER)
BAD = replace(GOOD, verdict="not good enough", error=-0.57)


def test_a_good_verdict_says_for_which_partitions_and_how_many_users_it_holds_and_that_one_user_waits_most():
    told = standing_of([GOOD], SITE, JOBS, nodes=True).sentences()
    assert told[0].startswith("Answers come from a twin that is good (mean wait 2.8% too long; calibrated ")
    assert (
        "4,285 jobs of 7 users in partitions long (4,238 jobs, 2.8% too long) and gpu (47 jobs, 100% too long)."
        in told[1]
    )
    assert told[2:] == [
        "It does not hold for partition gpu.",
        "It says nothing about partition debug: fewer than 30 jobs were compared.",
        "99% of the recorded waiting is that of one user (ann).",
        "The verdict is mostly about that user's jobs: 4,238 of these 4,285 jobs in partition long of 1 node with 8 "
        "cores.",
    ]


def test_a_verdict_on_mean_waits_is_about_whoever_waits_not_about_whoever_has_most_jobs():
    """Bob has three of the four jobs, which wait 10 s each; ann's one waits 90 s of the 120 s."""
    columns = {"submit_time": [0, 1, 2, 3], "run_time": [5] * 4, "requested_processors": [1] * 4}
    jobs = Workload.from_columns(
        columns | {"wait_time": [10, 90, 10, 10], "user_id": [2, 1, 2, 2]}, header=(" User: 1 ann", " User: 2 bob")
    )
    found = coverage(jobs, np.arange(4), [], None, np.array([15, 80, 10, 20]))
    assert (found.main_user, found.main_jobs, found.main_share) == ("ann", 1, 0.75)
    told = [
        "75% of the recorded waiting is that of one user (ann).",
        "The verdict is mostly about that user's jobs: 1 of these 4 jobs.",
    ]
    assert found.sentences(None)[-2:] == found.sentences(0.5)[-2:] == told
    even = coverage(jobs.replace(wait_time=np.array([10, 30, 10, 10])), np.arange(4), [], None, np.zeros(4, int))
    assert even.sentences(None) == ["It is judged on 4 jobs of 2 users."]


def test_a_verdict_that_holds_for_one_user_alone_says_how_far_the_twin_is_for_the_others():
    """Bob's three jobs waited 30 s and wait 45 s in the twin; with ann's, who waits less, it is 4 % too long."""
    columns = {"submit_time": [0, 1, 2, 3], "run_time": [5] * 4, "requested_processors": [1] * 4}
    jobs = Workload.from_columns(
        columns | {"wait_time": [10, 90, 10, 10], "user_id": [2, 1, 2, 2]}, header=(" User: 1 ann", " User: 2 bob")
    )
    found = coverage(jobs, np.arange(4), [], None, np.array([15, 80, 10, 20]))
    assert found.others_error == pytest.approx(0.5)
    assert found.sentences(0.1)[-1] == "It does not hold for all others: their mean wait is 50% too long."
    told = Standing("good", replace(GOOD, error=0.042, coverage=found), "", 0).clause
    assert "(mean wait 4.2% too long, 50% too long without ann, from 4 jobs only; calibrated" in told


def test_a_verdict_from_few_jobs_says_so():
    few = replace(GOOD, coverage=replace(ONE_USER, jobs=230))
    assert ", from 230 jobs only; calibrated" in Standing("good", few).clause
    assert "only" not in Standing("good", GOOD).clause


def test_errors_of_less_than_a_minute_are_no_reason_to_doubt_a_partition():
    assert JudgedPartition("debug", 40, 2.0, 30.0).within(0.1)
    assert not JudgedPartition("debug", 40, 600.0, 720.0).within(0.1)


def test_a_twin_that_is_not_good_enough_answers_only_anyway():
    standing = standing_of([BAD], SITE, JOBS, nodes=True)
    with pytest.raises(InputError, match=r"not good enough .*mean wait 57% too short.*--anyway"):
        standing.check(anyway=False)
    standing.check(anyway=True)
    standing_of([GOOD], SITE, JOBS, nodes=True).check(anyway=False)


@pytest.mark.parametrize(
    ("records", "site", "nodes", "state", "told"),
    [
        ([], SITE, True, "not calibrated", "has not been calibrated"),
        ([GOOD], SITE, False, "not calibrated", "on nodes it was good, 2026-01-01"),
        ([replace(GOOD, scheduler="fcfs")], SITE, True, "not calibrated", "has not been calibrated"),
        ([GOOD], "another", True, "outdated", "since the site was imported again"),
        ([replace(GOOD, schedlab="0.0.1")], SITE, True, "outdated", "(0.0.1 then)"),
        ([GOOD], SITE, True, "good", "good"),
    ],
)
def test_a_verdict_counts_for_the_same_site_version_and_way_of_replaying(records, site, nodes, state, told):
    standing = standing_of(records, site, JOBS, nodes=nodes)
    assert standing.state == state
    assert told in " ".join(standing.sentences())


def test_a_log_without_recorded_waits_cannot_be_calibrated_and_is_asked_nevertheless():
    standing = standing_of([], SITE, JOBS.replace(wait_time=np.array([-1, -1])), nodes=True)
    assert standing.clause == "a twin that cannot be calibrated (none of its 2 jobs has a recorded wait)"
    standing.check(anyway=False)


def test_the_last_verdict_of_each_kind_is_kept(tmp_path):
    for record in (BAD, replace(BAD, nodes=False), GOOD):
        keep_record(record, tmp_path)
    assert read_records(tmp_path) == [replace(BAD, nodes=False), GOOD]
    (tmp_path / CALIBRATIONS).write_text("[{}]")
    with pytest.raises(InputError, match=r"calibration\.json.*calibrate again"):
        read_records(tmp_path)


def test_how_long_ago_is_said_in_words():
    assert [Standing("good", GOOD, "", days).age for days in (0, 1, 400)] == ["today", "yesterday", "400 days ago"]
