"""TOptimal against published values and against all sequences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_distributions import all_sequences, grids, makespan_by_hand

from schedlab.errors import InputError
from schedlab.speculate.costs import AffineCost, Checkpointing, RequestLimits
from schedlab.speculate.discretise import discretise
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.point_distributions import DiscreteDistribution
from schedlab.speculate.sequences import evaluate_requests
from schedlab.speculate.toptimal import toptimal

HOUR = 3600

costs = st.builds(
    AffineCost, st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from([0.0, 1.0, 1.5]), st.sampled_from([0.0, 1.0, 30.0])
)


def affine_cost_by_hand(distribution, covered, saved, cost, checkpointing):
    """Return the mean cost of covering points in turn, run time by run time."""
    total = 0.0
    for run, mass in zip(distribution.points, distribution.masses, strict=True):
        progress = 0.0
        for number, (end, saves) in enumerate(zip(covered, saved, strict=True)):
            begin = checkpointing.restart if progress else 0.0
            writing = checkpointing.cost if saves and number < len(covered) - 1 else 0.0
            request = begin + end - progress + writing
            used = begin + run - progress if run <= end else request
            total += mass * (cost.alpha * request + cost.beta * used + cost.gamma)
            if run <= end:
                break
            progress = end if saves else progress
    return total


def test_table_1_of_the_paper():
    grid = discretise(RunTimeDistribution.parse("truncnorm(0h,20h,mu=8h,sigma=2h)"), 200)
    best = toptimal(grid)
    np.testing.assert_allclose(np.array(best.sequence.requests) / HOUR, [10.8, 13.4, 15.4, 17.1, 18.7, 20], rtol=1e-12)
    assert best.cost / HOUR == pytest.approx(11.937461, abs=1e-6)


def test_exponential_runs_first_ask_for_three_quarters_of_the_mean():
    best = toptimal(discretise(RunTimeDistribution.parse("exponential(0s,30s,mean=1s)"), 2000))
    assert best.sequence.requests[0] == pytest.approx(0.75)
    assert best.cost == pytest.approx(2.3645, abs=5e-5)


@given(grids())
def test_no_sequence_takes_less_time(distribution):
    best = toptimal(distribution)
    least = min(makespan_by_hand(distribution, sequence, 0) for sequence in all_sequences(distribution))
    assert best.cost == pytest.approx(least, rel=1e-9)
    assert makespan_by_hand(distribution, best.sequence.requests, 0) == pytest.approx(least, rel=1e-9)


@given(grids(6), costs, st.integers(1, 4), st.sampled_from([0.0, 2.0, 60.0]), st.sampled_from([0.0, 1.5, 100.0]))
def test_no_sequence_within_limits_costs_less(distribution, cost, number, shortest, increment):
    limits = RequestLimits(number, shortest, increment=increment)
    allowed = [
        sequence
        for sequence in all_sequences(distribution)
        if len(sequence) <= number and sequence[0] >= shortest and (np.diff(sequence) >= increment).all()
    ]
    if not allowed:
        with pytest.raises(InputError, match="no sequence of the requests that are allowed"):
            toptimal(distribution, cost, limits)
        return
    never = Checkpointing()
    by_hand = {one: affine_cost_by_hand(distribution, one, (False,) * len(one), cost, never) for one in allowed}
    best = toptimal(distribution, cost, limits)
    assert best.sequence.requests in by_hand
    assert best.cost == pytest.approx(min(by_hand.values()), rel=1e-9)


@given(grids(5), costs, st.sampled_from([0.0, 0.5, 5.0]), st.sampled_from([0.0, 0.5, 5.0]))
def test_no_mix_of_checkpoints_costs_less(distribution, cost, write, read):
    costs_by_mode = {}
    for mode, choices in (("never", [False]), ("always", [True]), ("adaptive", [False, True])):
        checkpointing = Checkpointing(mode, write, read)
        least = min(
            affine_cost_by_hand(distribution, covered, saved, cost, checkpointing)
            for covered in all_sequences(distribution)
            for saved in product(choices, repeat=len(covered))
        )
        best = toptimal(distribution, cost, checkpointing=checkpointing)
        assert best.cost == pytest.approx(least, rel=1e-9)
        assert evaluate_requests(distribution, best.sequence, cost=cost).cost == pytest.approx(least, rel=1e-9)
        costs_by_mode[mode] = best.cost
    assert costs_by_mode["adaptive"] <= min(costs_by_mode.values()) * (1 + 1e-12)


def test_of_equal_sequences_the_one_with_fewest_requests_is_taken():
    # Uniform on [0, b] without small jobs: every sequence (t, b) costs b.
    best = toptimal(discretise(RunTimeDistribution.parse("uniform(0h,2h)"), 50))
    assert best.sequence.requests == (7200,)


def test_a_longest_request_needs_checkpoints():
    distribution = discretise(RunTimeDistribution.parse("uniform(0h,8h)"), 16)
    limits = RequestLimits(longest=3 * HOUR)
    with pytest.raises(InputError, match="checkpoints"):
        toptimal(distribution, limits=limits)
    best = toptimal(distribution, limits=limits, checkpointing=Checkpointing("always", 600, 600))
    assert max(best.sequence.requests) <= 3 * HOUR
    assert best.sequence.covered[-1] == 8 * HOUR


def test_empirical_distributions_need_no_grid():
    distribution = DiscreteDistribution.of_runs([10, 10, 10, 11, 300])
    # 11 of all and 300 of one in five: 71; 300 at once: 300; 10 first is worse: 10 + 2/5 x 11 + 1/5 x 300 = 74.4.
    assert toptimal(distribution).sequence.requests == (11, 300)
    assert toptimal(distribution).cost == pytest.approx(71)


def test_runs_of_no_time_are_covered_by_the_first_request():
    assert toptimal(DiscreteDistribution.of_runs([0, 0, 5])).sequence.requests == (5,)


@pytest.mark.parametrize("values", [(-1, 0, 0), (0, 0, 1), (1, float("nan"), 0)])
def test_wrong_costs_are_refused(values):
    with pytest.raises(InputError, match="cost: "):
        AffineCost(*values)


def test_wrong_limits_and_checkpoints_are_refused():
    with pytest.raises(InputError, match="at least one"):
        RequestLimits(0)
    with pytest.raises(InputError, match="none is allowed"):
        RequestLimits(shortest=10, longest=5)
    with pytest.raises(InputError, match="unknown checkpointing"):
        Checkpointing("often")
    with pytest.raises(InputError, match="writing a checkpoint"):
        Checkpointing("always", -1)
