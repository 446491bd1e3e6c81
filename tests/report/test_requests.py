"""The figure of a plan of requests."""

from __future__ import annotations

import pytest

from schedlab.report.requests import plot_requests, plot_requests_on_distribution
from schedlab.speculate.costs import AffineCost, Checkpointing
from schedlab.speculate.plan import optimal_requests


def test_each_request_is_a_line_at_its_hour():
    axes = plot_requests_on_distribution(optimal_requests("truncnorm(0h,20h,mu=8h,sigma=2h)"))
    assert [line.get_xdata()[0] for line in axes.lines] == pytest.approx([10.8, 13.4, 15.4, 17.1, 18.7, 20])
    assert axes.get_xlabel() == "Run time (hours)"


def test_the_bins_hold_all_runs():
    axes = plot_requests_on_distribution(optimal_requests("empirical(50s,60s,60s,100s)"))
    assert axes.patches[0].get_data().values.sum() == pytest.approx(1)  # type: ignore[attr-defined]
    assert axes.get_xlabel() == "Run time (seconds)"


def test_costs_stand_beside_each_other():
    plan = optimal_requests(
        "uniform(1h,9h)", cost=AffineCost(1, 1, 600), checkpointing=Checkpointing("adaptive", 300, 300)
    )
    figure = plot_requests(plan, plan.alternatives(5))
    right = figure.axes[1]
    assert [label.get_text() for label in right.get_yticklabels()] == [
        "these requests",
        "always the longest run",
        "maximum of the last 5",
    ]
    assert right.patches[0].get_width() == pytest.approx(plan.evaluation.cost / 3600)  # type: ignore[attr-defined]
    assert "checkpoints" in figure.axes[0].get_title(loc="left")
