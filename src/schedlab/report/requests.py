"""The figure of a plan of requests: the distribution with the requests on it, and what other methods cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from schedlab.arguments import explained
from schedlab.report.style import COLOURS, new_figure, percent_ticks, styled, styled_axes
from schedlab.schedule.summary import duration
from schedlab.speculate.point_distributions import DiscreteDistribution
from schedlab.speculate.tables import rounded_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from schedlab.speculate.plan import RequestPlan
    from schedlab.speculate.sequences import Evaluation

BINS = 60
ROOM = 0.04
"""Share of the axis that the number of a request takes."""
UNITS = ((2 * 86_400, 86_400, "days"), (2 * 3_600, 3_600, "hours"), (120, 60, "minutes"), (0, 1, "seconds"))
"""From how many seconds a unit is used, its seconds, its name."""


@explained
def plot_requests(
    plan: RequestPlan, alternatives: Mapping[str, Evaluation] | None = None, *, name: str | None = None
) -> Figure:
    """Draw the distribution of a plan with its requests, and beside it the costs of the plan and of alternatives.

    Parameters
    ----------
    plan
        From `optimal_requests`.
    alternatives
        What else there is, by name; by default, those of the plan.
    name
        What the distribution is called; by default, its text.

    Returns
    -------
    matplotlib.figure.Figure
    """
    others = plan.alternatives() if alternatives is None else alternatives
    with styled():
        figure = new_figure((10.0, 3.8))
        left, right = figure.subplots(1, 2, width_ratios=(3, 2))
        plot_requests_on_distribution(plan, left)
        _costs(plan, others, right)
        figure.suptitle(f"Requests for {name or rounded_text(plan.distribution)}", fontsize=11, fontweight="bold")
    return figure


@explained
def plot_requests_on_distribution(plan: RequestPlan, ax: Axes | None = None) -> Axes:
    """Draw how run times are distributed, and up to where each request covers them.

    Parameters
    ----------
    plan
        From `optimal_requests`.
    ax
        Where to draw; by default, in a new figure.
    """
    distribution = plan.distribution
    size, unit = next((size, unit) for least, size, unit in UNITS if distribution.high >= least)
    bins = min(BINS, max(10, len(distribution.points) // 3)) if isinstance(distribution, DiscreteDistribution) else BINS
    edges = np.linspace(distribution.low, distribution.high, bins + 1)
    # The first bin has the atom at the lower end.
    shares = np.diff(distribution.cdf(edges), prepend=0.0)[1:]
    shares[0] += float(distribution.cdf(distribution.low))
    with styled_axes(ax) as axes:
        axes.stairs(shares, edges / size, fill=True, color=COLOURS[3], alpha=0.7)
        top = 1.22 * float(shares.max())
        numbered = -math.inf
        for number, end in enumerate(plan.sequence.covered):
            style = "--" if plan.sequence.checkpoints[number] else "-"
            axes.axvline(end / size, color=COLOURS[1], linewidth=1.2, linestyle=style)
            if end - numbered >= ROOM * (distribution.high - distribution.low):
                numbered = end
                axes.annotate(
                    f"{number + 1}",
                    (end / size, top),
                    (-3, -3),
                    textcoords="offset points",
                    ha="right",
                    va="top",
                    color=COLOURS[1],
                )
        axes.set_ylim(0, top)
        axes.set_xlim(left=max(0.0, distribution.low - 0.03 * (distribution.high - distribution.low)) / size)
        axes.set_xlabel(f"Run time ({unit})")
        axes.set_ylabel("Share of the runs")
        percent_ticks(axes.yaxis)
        axes.set_title(_title(plan))
    return axes


def _title(plan: RequestPlan) -> str:
    number = len(plan.sequence)
    if number == 1:
        return "1 request"
    if any(plan.sequence.checkpoints):
        return f"{number} requests, checkpoints where dashed"
    return f"{number} requests, killed at each line"


def _costs(plan: RequestPlan, others: Mapping[str, Evaluation], axes: Axes) -> None:
    """Draw what each method costs, in its own words: time if the cost is a time."""
    rows = {"these requests": plan.evaluation, **others}
    costs = np.array([one.cost for one in rows.values()])
    size, unit = next((size, unit) for least, size, unit in UNITS if costs.max() >= least)
    place = np.arange(len(rows))
    axes.barh(place, costs / size, height=0.6, color=[COLOURS[1], *[COLOURS[0]] * len(others)])
    for y, cost in zip(place, costs, strict=True):
        more = "" if y == 0 else f" ({cost / costs[0] - 1:+.1%})"
        axes.annotate(
            f"{duration(float(cost))}{more}", (cost / size, y), (3, 0), textcoords="offset points", va="center"
        )
    axes.set_yticks(place, list(rows))
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.set_xlim(0, 1.45 * float(costs.max()) / size)
    if plan.objective.zeta:
        axes.set_title(f"Mean makespan, small jobs {plan.objective.zeta:g}")
    else:
        axes.set_title("Mean time requested" if plan.objective.cost.is_makespan else "Mean cost")
    axes.set_xlabel(f"{unit.capitalize()}")
