"""ATOptimal against published values, the reference, and all sequences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_distributions import all_sequences, grids, makespan_by_hand

from schedlab.errors import InputError
from schedlab.speculate.atoptimal import atoptimal
from schedlab.speculate.costs import RequestLimits
from schedlab.speculate.discretise import discretise
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.point_distributions import DiscreteDistribution
from schedlab.speculate.sequences import evaluate_requests
from schedlab.speculate.toptimal import toptimal
from schedlab.speculate.twin import atoptimal_plain

HOUR = 3600
LAW = RunTimeDistribution.parse("truncnorm(0h,20h,mu=8h,sigma=2h)")

# As printed: cut to two decimals.
TABLE_1 = {
    0.1: ([10.86, 13.91, 18.69, 20], 12.089411),
    0.5: ([13.04, 20], 17.026639),
    0.9: ([17.39, 20], 82.179316),
}


@pytest.mark.parametrize("zeta", TABLE_1)
def test_table_1_of_the_paper(zeta):
    requests, makespan = TABLE_1[zeta]
    best = atoptimal(discretise(LAW, 46), zeta)
    assert [np.floor(100 * request / HOUR + 1e-6) / 100 for request in best.sequence.requests] == requests
    assert best.cost / HOUR == pytest.approx(makespan, abs=1e-6)


@pytest.mark.parametrize(
    ("zeta", "requests", "makespan"),
    [(0.1, [10.9, 14.0, 18.4, 20], 12.045124), (0.5, [13, 20], 16.686236), (0.9, [17.2, 20], 80.006973)],
)
def test_two_hundred_intervals_are_verified_values(zeta, requests, makespan):
    grid = discretise(LAW, 200)
    best = atoptimal(grid, zeta)
    np.testing.assert_allclose(np.array(best.sequence.requests) / HOUR, requests)
    assert evaluate_requests(LAW, best.sequence, zeta=zeta).makespan / HOUR == pytest.approx(makespan, abs=1e-6)


def test_the_printed_sequences_cost_what_was_verified_on_the_continuous_distribution():
    for zeta, makespan in ((0.1, 12.045757), (0.5, 16.686939), (0.9, 80.006999)):
        printed = [HOUR * request for request in TABLE_1[zeta][0]]
        assert evaluate_requests(LAW, printed, zeta=zeta).makespan / HOUR == pytest.approx(makespan, abs=1e-6)
    toptimal_requests = [HOUR * request for request in (10.8, 13.4, 15.4, 17.1, 18.7, 20)]
    assert evaluate_requests(LAW, toptimal_requests, zeta=0.9).makespan / HOUR == pytest.approx(89.21, abs=0.005)
    assert evaluate_requests(LAW, [20 * HOUR], zeta=0.9).makespan / HOUR == pytest.approx(80.0095, abs=5e-5)


@given(grids(), st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9]))
def test_no_sequence_has_a_shorter_makespan(distribution, zeta):
    best = atoptimal(distribution, zeta)
    least = min(makespan_by_hand(distribution, sequence, zeta) for sequence in all_sequences(distribution))
    assert best.cost == pytest.approx(least, rel=1e-9)
    assert makespan_by_hand(distribution, best.sequence.requests, zeta) == pytest.approx(least, rel=1e-9)


@given(grids(), st.sampled_from([0.0, 0.1, 0.4, 0.8]), st.sampled_from([None, 1, 2, 3]))
def test_the_plain_twin_finds_sequences_as_good_and_as_short(distribution, zeta, number):
    compiled = atoptimal(distribution, zeta, RequestLimits(number))
    plain = atoptimal_plain(distribution, zeta, number)
    assert compiled.cost == pytest.approx(plain.cost, rel=1e-9)
    assert len(compiled.sequence) == len(plain.sequence) <= (number or 99)


@given(grids())
def test_without_small_jobs_it_is_toptimal(distribution):
    assert atoptimal(distribution, 0.0).cost == pytest.approx(toptimal(distribution).cost, rel=1e-9)


@given(grids(6), st.sampled_from([0.0, 2.0, 60.0]), st.sampled_from([0.0, 1.5, 100.0]))
def test_no_sequence_within_limits_has_a_shorter_makespan(distribution, shortest, increment):
    limits = RequestLimits(shortest=shortest, increment=increment)
    allowed = [
        sequence
        for sequence in all_sequences(distribution)
        if sequence[0] >= shortest and (np.diff(sequence) >= increment).all()
    ]
    if not allowed:
        with pytest.raises(InputError, match="no sequence of the requests that are allowed"):
            atoptimal(distribution, 0.3, limits)
        return
    least = min(makespan_by_hand(distribution, sequence, 0.3) for sequence in allowed)
    assert atoptimal(distribution, 0.3, limits).cost == pytest.approx(least, rel=1e-9)


def test_a_grid_far_from_0_agrees_with_the_twin():
    # 6.1 h is no multiple of the width: requests are counted; 6 h of 16 h cut into 10 is one: steps are counted.
    for text in ("truncnorm(6.1h,16h,mu=8h,sigma=2h)", "truncnorm(6h,16h,mu=8h,sigma=2h)"):
        grid = discretise(RunTimeDistribution.parse(text), 10)
        assert atoptimal(grid, 0.1).cost == pytest.approx(atoptimal_plain(grid, 0.1).cost, rel=1e-12)


def test_bad_input_is_refused():
    grid = discretise(LAW, 10)
    for zeta in (-0.1, 1.0, float("nan")):
        with pytest.raises(InputError, match="zeta is"):
            atoptimal(grid, zeta)
    with pytest.raises(InputError, match="equally spaced"):
        atoptimal(DiscreteDistribution.of_runs([1, 2, 4]), 0.5)
    with pytest.raises(InputError, match="200 are enough"):
        atoptimal(discretise(LAW, 1000), 0.5)
    with pytest.raises(InputError, match="at most 3h"):
        atoptimal(grid, 0.5, RequestLimits(longest=3 * HOUR))
