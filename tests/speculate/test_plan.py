"""Plans: which grid is taken, how it converges, and what the alternatives cost."""

from __future__ import annotations

import pytest
from scipy import stats

from schedlab.errors import InputError
from schedlab.speculate.costs import AffineCost, Checkpointing, RequestLimits
from schedlab.speculate.plan import optimal_requests
from schedlab.speculate.sequences import costs_of_runs
from schedlab.speculate.tables import convergence_text, plan_text

TEXT = "truncnorm(0h,20h,mu=8h,sigma=2h)"


def test_the_usual_grids():
    assert optimal_requests(TEXT).points == 200
    assert optimal_requests(TEXT, zeta=0.5).points == 100
    assert optimal_requests(TEXT, checkpointing=Checkpointing("always")).points == 200
    assert optimal_requests("empirical(1h,2h,2h)").points == 0
    assert optimal_requests("empirical(1h,2h,2h)", zeta=0.5).points == 100


# Measured on the continuous distribution: excess of the optimum of a grid, in percent.
@pytest.mark.parametrize(
    ("zeta", "excesses"), [(0.0, {20: 0.17, 30: 0.05, 46: 0.01}), (0.1, {20: 0.03, 30: 0.15, 46: 0.0})]
)
def test_convergence_is_as_verified(zeta, excesses):
    plans = {plan.points: plan for plan in optimal_requests(TEXT, zeta=zeta, points=200).convergence(excesses)}
    for points, excess in excesses.items():
        found = plans[points].evaluation.cost / plans[200].evaluation.cost - 1
        assert 100 * found == pytest.approx(excess, abs=0.011)
    assert "200" in convergence_text(plans.values())


def test_alternatives_cost_more():
    for options in ({}, {"zeta": 0.3}, {"cost": AffineCost(1, 1, 600)}):
        plan = optimal_requests(TEXT, **options)
        for one in plan.alternatives().values():
            assert one.cost >= plan.evaluation.cost
        assert "always the longest run" in plan_text(plan, plan.alternatives())


def test_the_longest_run_is_requested_with_one_attempt():
    plan = optimal_requests(TEXT, limits=RequestLimits(1))
    assert plan.sequence.requests == (72_000,)
    assert plan.evaluation == plan.alternatives()["always the longest run"]


def test_what_does_not_go_together_is_refused():
    with pytest.raises(InputError, match="checkpoints"):
        optimal_requests(TEXT, zeta=0.1, checkpointing=Checkpointing("always"))
    with pytest.raises(InputError, match="at least one"):
        optimal_requests(TEXT, points=0)
    for zeta in (1, "x", None):
        with pytest.raises(InputError, match=f"zeta is {zeta}"):
            optimal_requests(TEXT, zeta=zeta)


def test_what_is_no_distribution_or_no_number_is_refused():
    for distribution in (3, stats.norm(8, 2)):
        with pytest.raises(InputError, match="is not a run-time distribution: give its text, or make one"):
            optimal_requests(distribution)
    with pytest.raises(InputError, match="whole number"):
        optimal_requests(TEXT, points=2.5)


def test_short_runs_are_shown_in_seconds():
    plan = optimal_requests("uniform(10s,50s)", points=40)
    shown = plan_text(plan, plan.alternatives())
    assert "cost (s)" in shown
    assert f"{50:.2f}" in shown.partition("always the longest run")[2]
    assert "on the distribution (s)" in convergence_text([plan])


def test_grids_that_take_minutes_are_refused():
    free = Checkpointing("adaptive")
    for points, options in ((601, {"zeta": 0.1}), (2_001, {"checkpointing": free}), (50_001, {})):
        with pytest.raises(InputError, match=f"{points:,} intervals are too many: .* at most {points - 1:,}"):
            optimal_requests(TEXT, points=points, **options)
    plan = optimal_requests(TEXT, zeta=0.1, points=20)
    with pytest.raises(InputError, match="601 intervals are too many"):
        plan.convergence([10, 601])


def test_a_distribution_with_a_long_tail_gets_a_grid_that_is_fine_enough():
    """An exponential distribution has E = 2.3645 means, however far away its cut is."""
    plan = optimal_requests("exponential(0h,1000h,mean=1h)")
    assert plan.evaluation.cost / 3600 == pytest.approx(2.3645, rel=0.01)
    assert plan.points > 200


@pytest.mark.parametrize(
    ("runs", "factor", "message"),
    [([3, 20], 1, "must be longer"), ([float("nan")], 1.5, "not a finite number"), ([-1], 1.5, "0 or more")],
)
def test_runs_that_cannot_be_replayed_are_refused(runs, factor, message):
    with pytest.raises(InputError, match=message):
        costs_of_runs([5], runs, factor=factor)
