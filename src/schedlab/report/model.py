"""Figures of a workload model beside its log: histogram, cumulative distribution and box of each variable."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.atomic import make_directory
from schedlab.errors import InputError
from schedlab.model.check import VARIABLES, ModelCheck
from schedlab.report.style import (
    COLOURS,
    duration_ticks,
    new_figure,
    number_ticks,
    percent_ticks,
    save_figure,
    styled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 100
"""Of a histogram, as in the paper's figure."""

SERIES = (("log", COLOURS[0]), ("model", COLOURS[1]))

DECADES = 6
"""That an axis of numbers has room for."""

PANEL = (4.6, 4.4)
COLUMNS = 3

LABELS = {
    "processors": "Processors",
    "requested_time": "Requested time",
    "run_time": "Run time",
    "accuracy": "Run time as a share of the requested time",
    "core_hours": "Core-hours",
    "gap": "Time between arrivals",
}

_DURATIONS = {"requested_time", "run_time", "gap"}


@explained
def plot_model(check: ModelCheck) -> Figure:
    """Draw all variables of a model and its log on one page.

    Parameters
    ----------
    check
        What `check_model` returned.

    Returns
    -------
    matplotlib.figure.Figure
        For each variable a histogram of 100 bins (filled: the log, line: the model), below it both cumulative
        distributions and both boxes: quartiles, median, and whiskers from the 5th to the 95th percentile.

    References
    ----------
    Rodrigo et al., "ScSF: a scheduling simulation framework", JSSPP 2017, figure 7.
    """
    rows = -(-len(VARIABLES) // COLUMNS)
    with styled():
        figure = new_figure((COLUMNS * PANEL[0], rows * PANEL[1] + 0.5))
        figure.suptitle(f"Jobs of the log and of the model ({check.log})", fontweight="bold")
        cells: Any = figure.subfigures(rows, COLUMNS)
        for number, (name, cell) in enumerate(zip(VARIABLES, cells.flat, strict=True)):
            _draw(cell, check, name, legend=number == 0)
    return figure


def plot_model_variable(check: ModelCheck, variable: str) -> Figure:
    """Draw one variable of a model and its log: see `plot_model`.

    Raises
    ------
    InputError
        If there is no such variable.
    """
    if variable not in VARIABLES:
        raise InputError(f"unknown variable {variable!r}; the variables are {', '.join(VARIABLES)}")
    with styled():
        figure = new_figure((PANEL[0] + 1.0, PANEL[1] + 0.4))
        _draw(figure, check, variable, legend=True)
        figure.suptitle(f"Log and model ({check.log})", fontweight="bold")
    return figure


def save_model_figures(check: ModelCheck, directory: str | PathLike[str]) -> list[Path]:
    """Write the page of all variables and one figure for each as PNG, and return the files.

    Raises
    ------
    OutputError
        If the directory cannot be made or written to.
    """
    target = make_directory(directory)
    files = [save_figure(plot_model(check), target / "model.png")]
    for name in VARIABLES:
        files.append(save_figure(plot_model_variable(check, name), target / f"{name.replace('_', '-')}.png"))
    return files


def _draw(figure: Any, check: ModelCheck, name: str, *, legend: bool) -> None:
    """Draw one variable into a figure of its own, or a part of one."""
    one = check.variables[name]
    samples = [_drawable(values, name) for values in (one.original, one.synthetic)]
    edges = _edges(samples, name)
    histogram, shares, boxes = figure.subplots(3, 1, sharex=True, height_ratios=(3, 3, 1.1))
    _histograms(histogram, samples, edges)
    _cumulative(shares, samples, one.distance)
    _boxes(boxes, samples)
    histogram.set_title(LABELS[name])
    if legend:
        histogram.legend(loc="best")
    boxes.set_xlabel(LABELS[name])
    _scale(boxes, edges, name)


def _drawable(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Return values as they are drawn: those beyond the axis at its edge (below 1 s, an accuracy above 105 %)."""
    if name == "accuracy":
        return np.clip(values, 0.0, 1.05)
    return np.maximum(values, 1e-3 if name == "core_hours" else 1.0)


def _edges(samples: list[NDArray[np.float64]], name: str) -> NDArray[np.float64]:
    """Return the edges of the bins; in a logarithmic scale, no bin of whole numbers is without one."""
    if name == "accuracy":
        return np.linspace(0.0, 1.05, BINS + 5 + 1)
    low, high = (float(edge(np.concatenate(samples))) for edge in (np.min, np.max))
    edges = np.geomspace(low, max(high, 10 * low) * 1.0001, BINS + 1)
    return edges if name == "core_hours" else np.unique(np.append(np.floor(edges), np.ceil(edges[-1]) + 1))


def _histograms(ax: Axes, samples: list[NDArray[np.float64]], edges: NDArray[np.float64]) -> None:
    for (label, colour), values, filled in zip(SERIES, samples, (True, False), strict=True):
        share = np.histogram(values, edges)[0] / len(values)
        ax.stairs(share, edges, fill=filled, color=colour, alpha=0.45 if filled else 1.0, linewidth=1.0, label=label)
    ax.set_ylabel("Share")
    ax.set_ylim(bottom=0)
    percent_ticks(ax.yaxis)


def _cumulative(ax: Axes, samples: list[NDArray[np.float64]], distance: float) -> None:
    for (_, colour), values, line in zip(SERIES, samples, ("-", "--"), strict=True):
        ordered, counts = np.unique(values, return_counts=True)
        ax.step(ordered, np.cumsum(counts) / len(values), where="post", color=colour, linestyle=line)
    ax.set_ylabel("Share at most")
    ax.set_ylim(0, 1.02)
    percent_ticks(ax.yaxis)
    ax.text(0.98, 0.06, f"KS distance {distance:.3f}", ha="right", color="#444444", transform=ax.transAxes)


def _boxes(ax: Axes, samples: list[NDArray[np.float64]]) -> None:
    boxes = []
    for (label, _), values in zip(SERIES, samples, strict=True):
        low, first, median, third, high = np.percentile(values, (5, 25, 50, 75, 95))
        boxes.append(
            {"label": label, "whislo": low, "q1": first, "med": median, "q3": third, "whishi": high, "fliers": []}
        )
    drawn = ax.bxp(boxes, orientation="horizontal", positions=[1, 0], widths=0.6, patch_artist=True, showfliers=False)
    for box, line, (_, colour) in zip(drawn["boxes"], drawn["medians"], SERIES, strict=True):
        box.set(facecolor=colour, alpha=0.45, edgecolor=colour)
        line.set_color("black")
    ax.grid(visible=False, axis="y")


def _scale(ax: Axes, edges: NDArray[np.float64], name: str) -> None:
    """Set the horizontal axis, which the three panels share."""
    from matplotlib.ticker import LogLocator

    if name == "accuracy":
        percent_ticks(ax.xaxis)
        ax.set_xlim(0, 1.06)
        return
    ax.set_xscale("log")
    ax.set_xlim(edges[0] * 0.9, edges[-1] * 1.1)
    if name in _DURATIONS:
        duration_ticks(ax.xaxis, float(edges[0]), float(edges[-1]))
    else:
        ax.xaxis.set_major_locator(LogLocator(numticks=DECADES))
        number_ticks(ax.xaxis)
