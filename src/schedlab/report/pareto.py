"""What waiting for cheap or green energy saves, and what it costs in waits: a Pareto curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedlab.arguments import explained
from schedlab.campaign.results.statistics import quantity
from schedlab.durations import duration_text
from schedlab.energy.deferral import Deferral, undominated
from schedlab.errors import InputError
from schedlab.report.style import COLOURS, number_ticks, styled_axes, title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABELS = {"energy_cost": "Cost of the energy", "energy_co2_kg": "CO2 (kg)", "energy_kwh": "Energy (kWh)"}


@explained
def plot_pareto(
    found: Sequence[Deferral], *, cost: str = "energy_cost", wait: str = "mean_wait", ax: Axes | None = None
) -> Axes:
    """Draw what energy costs against how long jobs wait, one point for each time for which they may be held back.

    Parameters
    ----------
    found
        From `schedlab.energy.defer`.
    cost, wait
        Names of two metrics.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Points on the Pareto curve are filled and joined; of the others, another one costs no more and waits no longer.
    """
    points = [one.metrics() for one in found]
    for name in (cost, wait):
        if not points or name not in points[0]:
            known = ", ".join(points[0]) if points else "none: there are no simulations"
            raise InputError(f"unknown metric {name!r}; the metrics are {known}")
    best = undominated(found, wait, cost)
    curve = sorted((point[wait] / 3_600, point[cost]) for point, on in zip(points, best, strict=True) if on)
    with styled_axes(ax) as axes:
        axes.step(*zip(*curve, strict=True), where="post", color=COLOURS[0], linewidth=1)
        for point, on, one in zip(points, best, found, strict=True):
            place = (point[wait] / 3_600, point[cost])
            axes.plot(*place, "o", color=COLOURS[0], markerfacecolor=COLOURS[0] if on else "white")
            text = duration_text(one.tolerance) if one.tolerance else "at once"
            axes.annotate(text, place, xytext=(5, 5), textcoords="offset points")
        number_ticks(axes.xaxis)
        number_ticks(axes.yaxis)
        axes.set_xlabel(f"{wait.replace('_', ' ').capitalize()} (hours)")
        axes.set_ylabel(LABELS.get(cost, cost.replace("_", " ")))
        schedule = found[0].schedule
        title(axes, "Jobs that wait for cheap energy", {schedule.scheduler: schedule}, _note(points, cost))
    return axes


def _note(points: Sequence[dict[str, float]], cost: str) -> str:
    lowest = min(points, key=lambda point: point[cost])
    return f"lowest {quantity(cost, lowest[cost])} of {quantity(cost, points[0][cost])}"
