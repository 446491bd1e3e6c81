"""Binomial bounds and the last week of a partition, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.durations import WEEK
from schedlab.when.baselines import FEWEST, RARE, binomial_bounds, last_week, ranks
from schedlab.when.queue_views import QueueJobs


def jobs_of(submit, wait, partition=0, cores=1):
    submit, wait = np.asarray(submit, dtype=np.int64), np.asarray(wait, dtype=np.int64)
    alike = np.ones_like(submit)
    start = submit + wait
    return QueueJobs(submit, start, start + 5, alike * cores, alike * 10, alike, alike * np.asarray(partition))


def test_of_59_waits_the_longest_bounds_the_quantile_0_9_with_more_room_than_of_29():
    # P(Bin(29, 0.9) <= 28) = 1 - 0.9^29 = 0.953: the 29th. Of 28 waits it is 0.948: none is a bound.
    assert ranks(29)[-1] == 29
    assert ranks(28)[-1] == 29
    # P(Bin(46, 0.9) <= 44) = 1 - 0.9^46 - 46 * 0.1 * 0.9^45 = 0.9520; of 45 waits it is 0.9476.
    assert ranks(46)[-1] == 45
    assert ranks(45)[-1] == 45


def test_bounds_from_below_mirror_those_from_above():
    # The r-th of n is an upper bound of 0.9 where the (n + 1 - r)-th is a lower bound of 0.1.
    for count in (29, 46, 100, 1_000):
        assert (ranks(count) + ranks(count)[::-1])[[0, 1, 2, 3]].tolist() == [count + 1] * 4


def test_bounds_are_of_the_waits_of_jobs_that_have_started():
    # 29 jobs waited 1 to 29 s; one more still waits when the last is submitted, another started at once.
    submit = [*range(0, 2_900, 100), 2_950, 2_960, 3_000]
    wait = [*range(1, 30), 10_000, 0, 50]
    found = binomial_bounds(jobs_of(submit, wait), np.array([31]))
    assert found[0, -1] == 29
    assert found[0, 0] == 1
    assert found[0, 4] == 15


def test_other_partitions_and_sizes_have_histories_of_their_own():
    submit, wait = [*range(0, 2_900, 100), 3_000, 3_001], [*range(1, 30), 50, 50]
    other = binomial_bounds(jobs_of(submit, wait, partition=[0] * 30 + [1]), np.array([29, 30]))
    assert other[:, -1].tolist() == [29, 0]
    wide = binomial_bounds(jobs_of(submit, wait, cores=np.array([4] * 30 + [5])), np.array([29, 30]))
    assert wide[:, -1].tolist() == [29, 0]


def test_three_waits_in_a_row_above_the_bound_cut_the_history():
    # 100 waits of 10 s, then three of 1,000 s: of the last 29 waits, 26 are 10 and 3 are 1,000, so that the bound,
    # their longest, is 1,000. Without the cut it would be the 96th of 103: 10.
    calm = jobs_of([*range(0, 10_000, 100), 10_000, 12_000, 14_000, 16_000], [10] * 100 + [1_000] * 3 + [10])
    assert RARE == 3
    assert FEWEST == 29
    assert ranks(103)[-1] < 101
    assert binomial_bounds(calm, np.array([103]))[0, -1] == 1_000
    two = jobs_of([*range(0, 10_000, 100), 10_000, 12_000, 14_000, 16_000], [10] * 100 + [1_000, 1_000, 10, 10])
    assert binomial_bounds(two, np.array([103]))[0, -1] == 10


def test_the_last_week_has_the_waits_of_the_starts_in_it():
    # Starts at 11, 20 + WEEK and 40 + WEEK; at WEEK + 30 only the second lies in the week before.
    jobs = jobs_of([1, WEEK, WEEK + 10, WEEK + 30], [10, 20, 30, 7])
    assert last_week(jobs, np.array([3])).tolist() == [[20.0] * 9]


def test_without_a_start_of_its_partition_all_count_and_without_any_nothing_is_known():
    jobs = jobs_of([1, 50, 2], [10, 5, 4], partition=[0, 1, 0])
    assert last_week(jobs, np.array([1, 0]))[:, 4].tolist() == [7.0, 0.0]


@pytest.mark.parametrize("rows", [np.array([], dtype=np.intp)])
def test_nobody_may_be_asked_about(rows):
    jobs = jobs_of([1, 2], [3, 4])
    assert binomial_bounds(jobs, rows).shape == last_week(jobs, rows).shape == (0, 9)
