"""Schedulers on several samples of each of several logs: bands over time, boxes, classes of slowdowns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.report.campaigns import WIDTH, draw_boxes, scheduler_panels, value_axis
from schedlab.report.style import line_look, new_figure, percent_ticks, ratio_ticks, styled
from schedlab.schedule.groups import SLOWDOWN_CLASSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curve = tuple[NDArray[np.int64], NDArray[np.float64]]
"""Week numbers, ascending by one, and a value for each."""

CLASS_COLOURS = ("#DCE9F2", "#9DC3DC", "#E8A06A", "#A63A2B")
"""Of the classes of slowdowns, from good to bad."""


def band(curves: Sequence[Curve]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the mean, the minimum and the maximum of several curves, week by week.

    Parameters
    ----------
    curves
        After its last week a curve keeps its last value.

    Returns
    -------
    weeks
        From the first week that all curves have to the last that one has.
    values
        Shape (3, weeks): mean, minimum, maximum.

    Examples
    --------
    >>> weeks, values = band([(np.array([1, 2]), np.array([4.0, 6.0])), (np.array([2, 3]), np.array([8.0, 2.0]))])
    >>> weeks.tolist(), values.tolist()
    ([2, 3], [[7.0, 4.0], [6.0, 2.0], [8.0, 6.0]])
    """
    weeks = np.arange(max(first[0] for first, _ in curves), max(last[-1] for last, _ in curves) + 1)
    aligned = np.array([values[np.minimum(weeks, own[-1]) - own[0]] for own, values in curves])
    return weeks, np.array([aligned.mean(axis=0), aligned.min(axis=0), aligned.max(axis=0)])


@explained
def plot_bands(curves: Mapping[str, Mapping[str, Mapping[str, Sequence[Curve]]]], heading: str) -> Figure:
    """Draw the bands of each scheduler over time, a row of panels per log and a column per measure.

    Parameters
    ----------
    curves
        By measure, log and scheduler, one for each sample that counts.
    heading
        Of the figure.
    """
    logs = list(next(iter(curves.values())))
    with styled():
        figure = new_figure((WIDTH + 1, 1 + 1.9 * len(logs)))
        grid = figure.subplots(len(logs), len(curves), sharex="row", squeeze=False)
        for column, (measure, by_log) in enumerate(curves.items()):
            for row, log in enumerate(logs):
                ax = grid[row, column]
                _draw_bands(ax, by_log[log])
                ax.set_title(f"{log}\n{measure}")
                if row == len(logs) - 1:
                    ax.set_xlabel("Weeks since the first submission")
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper right", ncols=len(labels))
        figure.suptitle(heading, fontweight="bold", fontsize=11, x=0.01, ha="left")
    return figure


def _draw_bands(ax: Axes, schedulers: Mapping[str, Sequence[Curve]]) -> None:
    """Draw for each scheduler a line for the mean, and dashes for the minimum and the maximum."""
    from matplotlib.ticker import LogLocator, NullFormatter

    for number, (name, curves) in enumerate(schedulers.items()):
        weeks, (mean, low, high) = band(curves)
        look = line_look(number)
        ax.plot(weeks, mean, label=name, marker="o" if len(weeks) < 3 else "", **look)
        for edge in (low, high):
            ax.plot(weeks, edge, color=look["color"], linestyle="--", linewidth=0.6)
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlim(left=0)


@explained
def plot_sample_boxes(
    values: Mapping[str, Mapping[str, NDArray[np.float64]]], metric: str, heading: str, *, from_zero: bool = False
) -> Figure:
    """Draw the distribution of values as boxes, a panel per log and a box per scheduler.

    Parameters
    ----------
    values
        By log and scheduler.
    metric
        What they are; waits are labelled as durations.
    heading
        Of the figure.
    from_zero
        Whether the axes begin at zero, even if the values span decades.
    """
    logs = list(values)
    schedulers = list(values[logs[0]])

    def draw(ax: Axes, panel: int) -> None:
        samples = [values[logs[panel]][name] for name in schedulers]
        draw_boxes(ax, samples)
        everything = np.concatenate(samples)
        if from_zero:
            margin = 0.02 * max(float(everything.max()), 1.0)
            ax.set_xlim(-margin, max(float(everything.max()), 1.0) + margin)
            ratio_ticks(ax.xaxis)
        else:
            value_axis(ax.xaxis, everything, metric)
        ax.set_xlabel(metric)
        ax.set_title(logs[panel])

    return scheduler_panels(schedulers, len(logs), draw, heading)


@explained
def plot_slowdown_shares(shares: Mapping[str, Mapping[str, NDArray[np.float64]]], heading: str) -> Figure:
    """Draw the shares of the classes of slowdowns as one bar per scheduler, a panel per log.

    Parameters
    ----------
    shares
        By log and scheduler, one share for each of `schedlab.schedule.groups.SLOWDOWN_CLASSES`.
    heading
        Of the figure.
    """
    logs = list(shares)
    schedulers = list(shares[logs[0]])

    def draw(ax: Axes, panel: int) -> None:
        table = np.array([shares[logs[panel]][name] for name in schedulers])
        begins = np.cumsum(table, axis=1) - table
        for number, (name, colour) in enumerate(zip(SLOWDOWN_CLASSES, CLASS_COLOURS, strict=True)):
            widths = table[:, number]
            bars = ax.barh(range(len(schedulers)), widths, 0.7, begins[:, number], color=colour, label=name)
            texts = [f"{100 * width:.0f}" if width >= 0.045 else "" for width in widths]
            dark = number == len(SLOWDOWN_CLASSES) - 1
            ax.bar_label(bars, texts, label_type="center", fontsize=7.5, color="white" if dark else "#222222")
        ax.set_xlim(0, 1)
        percent_ticks(ax.xaxis)
        ax.grid(visible=False, axis="x")
        ax.set_title(logs[panel])

    figure = scheduler_panels(schedulers, len(logs), draw, heading)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower right", ncols=len(labels), title="bounded slowdown", frameon=False
    )
    return figure
