"""The evaluator against direct sums and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_distributions import all_sequences, grids, makespan_by_hand

from schedlab.errors import InputError
from schedlab.speculate.costs import AffineCost
from schedlab.speculate.discretise import discretise
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.sequences import RequestSequence, costs_of_runs, evaluate_requests

HOUR = 3600
LAW = RunTimeDistribution.parse("truncnorm(0h,20h,mu=8h,sigma=2h)")


@given(grids(), st.sampled_from([0.0, 0.1, 0.5, 0.9]), st.randoms(use_true_random=False))
def test_the_makespan_is_the_sum_over_all_run_times(distribution, zeta, random):
    sequence = random.choice(list(all_sequences(distribution)))
    found = evaluate_requests(distribution, sequence, zeta=zeta)
    assert found.makespan == pytest.approx(makespan_by_hand(distribution, sequence, zeta), rel=1e-9)


def test_the_corrected_theorem_on_the_case_that_the_printed_one_gets_wrong():
    grid = discretise(LAW, 46)
    sequence = [float(grid.points[30]), float(grid.points[46])]
    assert evaluate_requests(grid, sequence, zeta=0.5).makespan / HOUR == pytest.approx(17.0266, abs=5e-5)


def fluid_queue(runs: np.ndarray, sequence: list[float], zeta: float) -> np.ndarray:
    """Return when the small work is done, with a queue that is filled all the time and served in the gaps."""
    ends = []
    for run in runs:
        clock = backlog = 0.0
        for request in sequence:
            busy = min(run, request)
            backlog += zeta * busy
            gap = request - busy
            backlog = max(0.0, backlog - (1 - zeta) * gap)
            clock += request
            if run <= request:
                break
        ends.append(clock + backlog / (1 - zeta))
    return np.array(ends)


@pytest.mark.parametrize("zeta", [0.0, 0.1, 0.5, 0.9])
def test_the_makespan_is_that_of_a_simulated_queue(zeta):
    sequence = [10.8 * HOUR, 15.4 * HOUR, 20 * HOUR]
    ends = fluid_queue(LAW.sample(np.random.default_rng(1), 20_000), sequence, zeta)
    found = evaluate_requests(LAW, sequence, zeta=zeta)
    assert found.makespan == pytest.approx(ends.mean(), abs=4 * ends.std() / len(ends) ** 0.5)


def test_the_affine_cost_is_that_of_simulated_runs():
    runs = LAW.sample(np.random.default_rng(2), 50_000)
    sequence, cost = [9 * HOUR, 14 * HOUR, 20 * HOUR], AffineCost(1.5, 0.5, 600)
    each = costs_of_runs(sequence, runs, cost=cost)
    found = evaluate_requests(LAW, sequence, cost=cost)
    assert found.cost == pytest.approx(each.mean(), abs=4 * each.std() / len(each) ** 0.5)
    assert found.attempts == pytest.approx(1 + (runs > 9 * HOUR).mean() + (runs > 14 * HOUR).mean(), abs=0.01)


def test_runs_beyond_the_last_request_ask_for_half_as_much_again():
    # 10 fails, 15 fails, 22.5 is enough; used: 10, 15, 20.
    assert costs_of_runs([10], [20], cost=AffineCost(1, 0, 0)).tolist() == [47.5]
    assert costs_of_runs([10], [20], cost=AffineCost(0, 1, 1)).tolist() == [48]
    assert costs_of_runs([10, 20], [10, 10.5]).tolist() == [10, 30]


def test_a_checkpoint_saves_what_has_been_done():
    distribution = RunTimeDistribution.parse("discrete(1h:0.5,3h:0.5)")
    saved = RequestSequence((1.5 * HOUR, 2.25 * HOUR), (HOUR, 3.0 * HOUR), (True, False), 0.25 * HOUR)
    found = evaluate_requests(distribution, saved)
    # All ask for 1.5 h; half of them for 2.25 h more, and use it all.
    assert found.requested / HOUR == pytest.approx(1.5 + 0.5 * 2.25)
    assert found.used / HOUR == pytest.approx(0.5 * 1 + 0.5 * (1.5 + 2.25))
    assert saved.text == "1.5h+c, 2.25h"


@pytest.mark.parametrize(
    ("text", "part"),
    [("2h,1h", "does not ascend"), ("1h,1h", "does not ascend"), ("0h,1h", "above 0"), ("", "is not a duration")],
)
def test_wrong_sequences_are_refused(text, part):
    with pytest.raises(InputError, match=part):
        RequestSequence.parse(text)


def test_what_is_no_sequence_is_refused():
    for sequence in ([1, "a"], 5, [None]):
        with pytest.raises(InputError, match="requests are numbers of seconds in a list"):
            evaluate_requests(RunTimeDistribution.parse("uniform(0s,9s)"), sequence)


def test_what_does_not_go_together_is_refused():
    with pytest.raises(InputError, match="at least one request"):
        RequestSequence.plain([])
    with pytest.raises(InputError, match="ends at 10h, before the longest run"):
        evaluate_requests(LAW, [10 * HOUR])
    for zeta in (-0.1, 1, float("nan")):
        with pytest.raises(InputError, match="zeta is"):
            evaluate_requests(LAW, [20 * HOUR], zeta=zeta)
    with pytest.raises(InputError, match="leave out the cost"):
        evaluate_requests(LAW, [20 * HOUR], zeta=0.1, cost=AffineCost(1, 1, 0))
    saved = RequestSequence((1.0, 20.0 * HOUR), (1.0, 20.0 * HOUR), (True, False))
    with pytest.raises(InputError, match="checkpoints"):
        evaluate_requests(LAW, saved, zeta=0.1)
    with pytest.raises(InputError, match="checkpoints"):
        costs_of_runs(saved, [5])


def test_distributions_and_sequences_may_be_texts():
    distribution = "truncnorm(0h,20h,mu=8h,sigma=2h)"
    assert evaluate_requests(distribution, "10h,20h") == evaluate_requests(
        RunTimeDistribution.parse(distribution), [36_000, 72_000]
    )
    assert costs_of_runs("1m,2m", [90]).tolist() == [180.0]
