"""What jobs see of a queue, and how long those waited that saw a similar one."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from when_samples import busy_log

import schedlab as sl
from schedlab.when.queue_forest import PastQueues, QueueForest
from schedlab.when.queue_views import NOT_YET, QueueJobs, QueueViews

HOUR = 3_600


def jobs_of(rows):
    """Return jobs from tuples (submit, start, end, cores, request, user, partition)."""
    return QueueJobs(*np.array(rows, dtype=np.int64).T)


def test_a_job_sees_what_runs_and_what_waits_before_it():
    # At second 1,000: 4 cores run for another 500 s at most, 2 cores for 1,100 s; 3 cores wait before, 1 core behind.
    jobs = jobs_of(
        [
            (0, 500, 1_400, 4, 1_000, 1, 1),
            (0, 100, 2_000, 2, 2_000, 2, 2),
            (10, NOT_YET, NOT_YET, 3, 700, 2, 1),
            (20, NOT_YET, NOT_YET, 5, 600, 3, 1),
            (30, NOT_YET, NOT_YET, 1, 900, 3, 1),
            (5, 20, 90, 9, 900, 3, 1),
        ]
    )
    seen = QueueViews(jobs).of(3, 1_000)
    partition, own, of_partition, of_all, user = seen[0], seen[1:5], seen[5:12], seen[12:19], seen[19:22]
    assert partition == 1
    assert np.expm1(own) == pytest.approx([5, 600, 3_000, 980])
    # held cores, core-seconds left, waiting jobs, their work, cores before, work before per held core, 5 cores free in
    assert np.expm1(of_partition) == pytest.approx([4, 2_000, 2, 3_000, 3, 525, 500])
    assert np.expm1(of_all) == pytest.approx([6, 4_200, 2, 3_000, 3, 350, 1_100])
    assert np.expm1(user) == pytest.approx([0, 1, 900])
    assert seen[22] == 0  # the hour of the day
    assert np.expm1(seen[24:]) == pytest.approx([np.sqrt(501 * 16) - 1, 15])  # waits of 500 s and 15 s; the user's


def test_what_happens_later_is_not_seen():
    log = QueueJobs.of(sl.simulate(busy_log(2, 120), "fcfs+easy"))
    now = int(np.median(log.submit))
    row = int(np.flatnonzero(log.submit <= now)[-1])
    other = log._replace(
        start=np.where(log.start >= now, log.start + 9_999, log.start),
        end=np.where(log.end > now, log.end + 77_777, log.end),
        cores=np.where(log.submit > now, 16, log.cores),
    )
    assert np.array_equal(QueueViews(log).of(row, now), QueueViews(other).of(row, now), equal_nan=True)


def past(jobs=600, seed=1):
    """Return queues of which the second column decides: the wait is about an hour or about ten hours."""
    rng = np.random.default_rng(seed)
    long = rng.random(jobs) < 0.5
    view = np.stack([np.ones(jobs), long + 0.1 * rng.random(jobs), rng.random(jobs)], axis=1)
    wait = np.where(long, 10, 1) * HOUR * np.exp(0.1 * rng.standard_normal(jobs))
    return PastQueues(np.arange(jobs), view, wait.astype(np.int64))


def test_a_forest_finds_the_column_that_decides_and_covers_what_it_promises():
    pytest.importorskip("sklearn")
    asked = past(seed=2)
    drawn = QueueForest(past()).draw(asked.view, 99)
    middle = np.median(drawn, axis=0)
    assert np.median(np.abs(np.log(middle / asked.wait))) < 0.15  # they scatter by 0.1: a median of 0.07
    low, high = np.quantile(drawn, [0.1, 0.9], axis=0)
    assert np.mean((asked.wait >= low) & (asked.wait <= high)) == pytest.approx(0.8, abs=0.1)


def test_without_scikit_learn_the_last_waits_of_the_partition_count(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    known = past(400)
    known.view[:, 0] = np.arange(400) % 2
    forest = QueueForest(known)
    last = np.sort(known.wait[known.view[:, 0] == 1][-200:])
    assert not forest.learned
    assert forest.draw(np.array([[1.0, 0.0, 0.0]]), 200)[:, 0].tolist() == last.tolist()


def test_a_wait_that_goes_on_is_a_bound_and_counts_only_where_it_is_long():
    known = PastQueues(
        np.array([0, 10, 20, 900, 100]), np.zeros((5, 2)), np.array([100, 200, 300, 5_000, 5_000])
    ).known(1_000)
    # Those of 100, 200 and 300 s have ended; one has waited for 100 s so far, less than half of these, one for 900 s.
    assert known.wait.tolist() == [100, 200, 300, 900]
