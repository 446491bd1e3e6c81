"""The model of user estimates against its published constants and the SC'17 traces made with it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import (
    POPULARITY,
    deal_estimates,
    distinct_estimates,
    estimate_histogram,
    head_shares,
    head_values,
    tsafrir_estimates,
)
from schedlab.workload.swf import read_swf
from schedlab.workload.workload import Workload

LONGEST = 162_754
PUBLISHED_SHARES = [
    *[21.73, 10.31, 8.71, 7.37, 6.25, 5.30, 4.52, 3.86, 3.31, 2.84],
    *[2.46, 2.13, 1.86, 1.63, 1.44, 1.28, 1.15, 1.04, 0.94, 0.87],
]
PUBLISHED_HEAD = [
    *[LONGEST, 1200, 300, 600, 1800, 900, 3600, 10800, 72000, 7200],
    *[14400, 43200, 36000, 21600, 64800, 18000, 108000, 28800, 162000, 144000],
]


def popularity_of_places(jobs_of_places) -> list[int]:
    """Return the rank of each head value, largest value first, from a histogram with distinct head sizes."""
    return [1 + sorted(jobs_of_places, reverse=True).index(jobs) for jobs in jobs_of_places]


def test_the_head_holds_the_published_shares():
    # Published to two digits, from a histogram of 20,000 jobs: half a job in 20,000 and half a digit.
    assert head_shares() == pytest.approx(PUBLISHED_SHARES, abs=0.0026 + 0.005)
    assert head_shares().sum() == pytest.approx(89)


def test_the_head_of_the_model_machine_has_the_published_values():
    values = head_values(LONGEST)
    assert values[0] == LONGEST
    assert values[1:] == sorted(set(PUBLISHED_HEAD) - {LONGEST})


def test_the_smallest_possible_maximum_fills_the_head_with_multiples_of_five_minutes():
    assert head_values(5701) == [5701, *range(300, 5701, 300)]


@pytest.mark.parametrize(
    ("jobs", "values"), [(20, 10), (200, 20), (10_000, 90), (20_000, 132), (70_000, 340), (10**7, 565)]
)
def test_the_number_of_values_follows_the_published_line(jobs, values):
    assert distinct_estimates(jobs) == values


def test_a_histogram_of_20000_jobs_has_the_published_sizes():
    _, jobs = estimate_histogram(20_000, LONGEST, rng=np.random.default_rng(1))
    assert len(jobs) == 132
    assert jobs.sum() == 20_000
    largest = np.sort(jobs)[::-1] / 200
    assert largest[:20] == pytest.approx(PUBLISHED_SHARES, abs=0.0051)
    assert largest[20:23].tolist() == [0.71, 0.64, 0.58]


@pytest.mark.parametrize("processors", [256, 1024])
def test_values_and_sizes_are_those_of_the_authors_traces(traces: Path, processors):
    published = read_swf(traces / f"synthetic/gen-sched-policies-2017/lublin_{processors}_est.swf.gz")
    values, jobs = np.unique(published.requested_time, return_counts=True)
    our_values, our_jobs = estimate_histogram(len(published), LONGEST, rng=np.random.default_rng(5))
    assert our_values.tolist() == values.tolist()
    assert np.sort(our_jobs).tolist() == np.sort(jobs).tolist()


@settings(max_examples=50)
@given(st.integers(0, 2**32))
def test_popularity_goes_to_places_that_had_it_on_some_machine(seed):
    values, jobs = estimate_histogram(20_000, LONGEST, rng=np.random.default_rng(seed))
    of_value = dict(zip(values.tolist(), jobs.tolist(), strict=True))
    ranks = popularity_of_places([of_value[value] for value in head_values(LONGEST)])
    assert ranks[0] == 1
    assert sorted(ranks) == list(range(1, 21))
    for place, chosen in enumerate(ranks):
        seen = {rank for row in POPULARITY[: place + 1] for rank in row}
        assert chosen in seen
        later = {rank for row in POPULARITY[place + 1 :] for rank in row}
        # A rank that no later place had is due, the smallest first: what is passed over must be larger.
        assert all(rank > chosen for rank in seen - later - set(ranks[:place]) - {chosen})


def test_the_second_place_prefers_the_more_popular_rank():
    # Left of the first two rows: 3, 3, 4, 6. The better of two draws is 3 with 3/4, 4 with 3/16, 6 with 1/16.
    rng = np.random.default_rng(7)
    times = 1500
    found = []
    for _ in range(times):
        values, jobs = estimate_histogram(200, LONGEST, rng=rng)
        sizes = np.sort(jobs)[::-1]
        found.append(int(np.searchsorted(-sizes, -jobs[values.searchsorted(300)])) + 1)
    for rank, probability in ((3, 3 / 4), (4, 3 / 16), (6, 1 / 16)):
        error = np.sqrt(probability * (1 - probability) / times)
        assert abs(found.count(rank) / times - probability) < 4 * error


@given(st.integers(1, 3000), st.integers(5701, 10**6), st.integers(0, 2**32))
def test_a_histogram_adds_up_for_any_number_of_jobs(jobs, longest, seed):
    values, counts = estimate_histogram(jobs, longest, rng=np.random.default_rng(seed))
    assert counts.sum() == jobs
    assert counts.min() >= 1
    assert (np.diff(values) > 0).all()
    assert 0 < values[0] <= values[-1] <= longest


def test_user_bins_keep_their_jobs_and_displace_the_nearest_round_value():
    bins = {100_000: 700, 300: 123}
    assert set(head_values(LONGEST)) - set(head_values(LONGEST, tuple(bins))) == {108_000}
    values, jobs = estimate_histogram(20_000, LONGEST, rng=np.random.default_rng(1), user_bins=bins)
    of_value = dict(zip(values.tolist(), jobs.tolist(), strict=True))
    assert (of_value[100_000], of_value[300]) == (700, 123)
    assert jobs.sum() == 20_000
    head = sum(of_value[value] for value in head_values(LONGEST, tuple(bins)))
    assert head == pytest.approx(0.89 * 20_000, abs=20)  # half a job for each value


def test_a_user_bin_at_the_maximum_sets_its_jobs():
    values, jobs = estimate_histogram(1000, 7200, rng=np.random.default_rng(1), user_bins={7200: 50})
    assert jobs[values == 7200].tolist() == [50]
    assert jobs.sum() == 1000


@given(st.data())
def test_a_deal_gives_each_job_one_estimate_that_is_long_enough(data):
    run_times = np.array(data.draw(st.lists(st.integers(0, 50), min_size=1, max_size=40)))
    slack = data.draw(st.lists(st.integers(0, 20), min_size=len(run_times), max_size=len(run_times)))
    estimates = np.array(data.draw(st.permutations((run_times + slack).tolist())))
    dealt = deal_estimates(run_times, estimates, rng=np.random.default_rng(1))
    assert (dealt >= run_times).all()
    assert sorted(dealt) == sorted(estimates)


def test_a_job_draws_evenly_among_the_estimates_that_are_long_enough():
    rng = np.random.default_rng(2)
    times = 3000
    dealt = [deal_estimates(np.array([1, 4]), np.array([4, 5]), rng=rng) for _ in range(times)]
    # Estimates 4 and 5, run times 1 and 4: both estimates suit the longer job.
    share = np.mean([long == 5 for _, long in dealt])
    assert abs(share - 0.5) < 4 * 0.5 / np.sqrt(times)


def test_the_share_that_asks_for_the_maximum_is_that_of_the_authors_trace(traces: Path):
    published = read_swf(traces / "synthetic/gen-sched-policies-2017/lublin_256_est.swf.gz")
    dealt = deal_estimates(published.run_time, published.requested_time, rng=np.random.default_rng(1))
    bounds, shares = [0, 100, 1000, 5000, 20_000, 60_000, LONGEST], [0.095, 0.11, 0.29, 0.40, 0.54, 0.73]
    for low, high, share in zip(bounds[:-1], bounds[1:], shares, strict=True):
        chosen = (published.run_time > low) & (published.run_time <= high)
        error = np.sqrt(2 * share * (1 - share) / chosen.sum())
        assert abs((dealt[chosen] == LONGEST).mean() - share) < 4 * error


def test_estimates_of_a_workload_are_never_too_short():
    rng = np.random.default_rng(3)
    jobs = tsafrir_estimates(lublin(5000, 256, rng=rng), rng=rng)
    assert (jobs.requested_time >= jobs.run_time).all()
    assert jobs.requested_time.max() % 3600 == 0  # by default, the longest run time in full hours
    assert 0 <= jobs.requested_time.max() - jobs.run_time.max() < 3600


def test_a_job_longer_than_the_maximum_asks_for_all_of_it():
    jobs = Workload.from_columns({"submit_time": [0] * 50, "run_time": [9000] + [10] * 49})
    estimated = tsafrir_estimates(jobs, rng=np.random.default_rng(1), max_estimate=7200)
    assert estimated.requested_time[0] == 7200
    assert estimated.run_time[0] == 9000


def test_the_same_seed_gives_the_same_estimates():
    jobs = lublin(500, 64, rng=np.random.default_rng(1))
    first, second = (tsafrir_estimates(jobs, rng=np.random.default_rng(9)) for _ in range(2))
    assert np.array_equal(first.requested_time, second.requested_time)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_estimate": 3600}, "must be 5701 s or more"),
        ({"user_bins": {9000: 1}}, "between 1 and 7200 s"),
        ({"user_bins": {600: 0}}, "between 1 and 7200 s"),
        ({"user_bins": {600: 95}}, "at most"),
        ({"user_bins": {60 * minute: 1 for minute in range(1, 21)}}, "fewer user bins"),
        ({"user_bins": {360 * place: 1 for place in range(1, 21)}, "distinct": 20}, "of distinct"),
    ],
)
def test_bins_that_do_not_fit_are_refused(options, message):
    jobs = Workload.from_columns({"submit_time": [0] * 100, "run_time": [5] * 100})
    with pytest.raises(InputError, match=message):
        tsafrir_estimates(jobs, rng=np.random.default_rng(1), **{"max_estimate": 7200, **options})


@pytest.mark.parametrize("jobs", range(1, 31))
def test_small_workloads_get_estimates_that_their_jobs_keep(jobs: int):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        workload = tsafrir_estimates(lublin(jobs, 64, rng=rng), rng=rng)
        assert (workload.requested_time >= workload.run_time).all()


def test_only_the_missing_large_estimates_are_added():
    # Five of six jobs run for the longest time, so five must ask for it.
    jobs = Workload.from_columns({"submit_time": range(6), "run_time": [7200] * 5 + [1]})
    estimated = tsafrir_estimates(jobs, rng=np.random.default_rng(1))
    assert estimated.requested_time[:5].tolist() == [7200] * 5


def test_user_bins_without_enough_long_estimates_are_refused():
    jobs = Workload.from_columns({"submit_time": range(100), "run_time": [7000] * 100})
    with pytest.raises(InputError, match="jobs run 7000 s or longer, but only"):
        tsafrir_estimates(jobs, rng=np.random.default_rng(1), max_estimate=7200, user_bins={300: 80})


@pytest.mark.parametrize("distinct", [0, -3])
def test_there_is_at_least_one_distinct_estimate(distinct: int):
    with pytest.raises(InputError, match="at least 1 distinct estimate"):
        estimate_histogram(100, 7200, rng=np.random.default_rng(1), distinct=distinct)
