"""Methods of requesting run times side by side: bars by workload, lines along a parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.arguments import explained
from schedlab.report.style import line_look, new_figure, styled

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 9.6, 3.9


@explained
def plot_method_bars(
    frame: pd.DataFrame, measures: Mapping[str, str], heading: str, order: Sequence[str] = ()
) -> Figure:
    """Draw bars of the methods beside each other for each workload, a panel per measure and group of workloads.

    Parameters
    ----------
    frame
        Columns `workload`, `method`, and those that are measured; a row per run. The workloads' names may have a group
        in front: "Pareto, full".
    measures
        Labels of columns.
    heading
        Of the figure.
    order
        Methods in the order of their colours; by default, that of the frame.
    """
    groups = list(dict.fromkeys(str(name).rpartition(", ")[0] for name in frame["workload"]))
    order = order or list(dict.fromkeys(frame["method"]))
    with styled():
        figure = new_figure((WIDTH, 0.9 + 2.5 * len(measures)))
        grid = figure.subplots(len(measures), len(groups), squeeze=False)
        for row, (measure, label) in enumerate(measures.items()):
            for ax, group in zip(grid[row], groups, strict=True):
                _draw_bars(ax, frame[frame["workload"].str.rpartition(", ")[0] == group], order, measure)
                ax.set_title(group)
            grid[row, 0].set_ylabel(label)
        _finish(figure, grid[0, 0], heading)
    return figure


def _draw_bars(ax: Axes, frame: pd.DataFrame, order: Sequence[str], measure: str) -> None:
    """Draw the mean of each method and, as whiskers, the standard deviation of the runs."""
    workloads, methods = (list(dict.fromkeys(frame[column])) for column in ("workload", "method"))
    values = frame.groupby(["workload", "method"])[measure].agg(["mean", "std"]).fillna(0.0)
    width = 0.8 / len(methods)
    for number, method in enumerate(methods):
        own = values.loc[[(workload, method) for workload in workloads]]
        ax.bar(
            np.arange(len(workloads)) + (number - (len(methods) - 1) / 2) * width,
            own["mean"],
            width,
            yerr=own["std"],
            error_kw={"lw": 0.8, "ecolor": "#444444"},
            color=line_look(order.index(method))["color"],
            label=method,
        )
    names = [str(workload).rpartition(", ")[2] for workload in workloads]
    turned: dict[str, Any] = {"rotation": 30, "ha": "right", "rotation_mode": "anchor"} if len(names) > 2 else {}
    ax.set_xticks(range(len(names)), names, **turned)
    ax.grid(axis="x", visible=False)


@explained
def plot_method_lines(
    frame: pd.DataFrame, measures: Mapping[str, str], along: str, heading: str, order: Sequence[str] = ()
) -> Figure:
    """Draw a line per method along the workloads, a panel per measure, with a band of one standard deviation.

    Parameters
    ----------
    frame
        As for `plot_method_bars`; workloads are positions, in their order.
    measures
        Labels of columns.
    along
        What the workloads are.
    heading
        Of the figure.
    order
        As for `plot_method_bars`.
    """
    order = order or list(dict.fromkeys(frame["method"]))
    places = list(dict.fromkeys(frame["workload"]))
    with styled():
        figure = new_figure((WIDTH, HEIGHT))
        panels = figure.subplots(1, len(measures), squeeze=False)[0]
        for ax, (measure, label) in zip(panels, measures.items(), strict=True):
            for method in dict.fromkeys(frame["method"]):
                runs = frame[frame["method"] == method].groupby("workload")[measure].agg(["mean", "std"]).loc[places]
                spread = runs["std"].fillna(0.0)
                look = line_look(order.index(method))
                ax.plot(range(len(places)), runs["mean"], marker="o", markersize=3, label=method, **look)
                ax.fill_between(
                    range(len(places)),
                    runs["mean"] - spread,
                    runs["mean"] + spread,
                    color=look["color"],
                    alpha=0.12,
                    lw=0,
                )
            ax.set_xticks(range(len(places)), [str(place) for place in places])
            ax.set_xlabel(along)
            ax.set_ylabel(label)
            ax.set_ylim(bottom=0)
        _finish(figure, panels[0], heading)
    return figure


def _finish(figure: Figure, ax: Axes, heading: str) -> None:
    """Put one legend below the heading."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels))
    figure.suptitle(heading, fontweight="bold", fontsize=11, x=0.01, ha="left")
