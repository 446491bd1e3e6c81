"""Schedulers against a baseline, log by log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.arguments import explained
from schedlab.report.style import COLOURS, legend, ratio_ticks, styled_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@explained
def plot_gains(ratios: pd.DataFrame, what: str, baseline: str) -> Axes:
    """Draw a dot for each scheduler in the row of each log, at its ratio to a baseline.

    Parameters
    ----------
    ratios
        A row for each log, from the top, and a column for each scheduler; the baseline is 1.
    what
        What the ratios are of.
    baseline
        Its name.
    """
    with styled_axes(None, (7.2, 1.2 + 0.28 * len(ratios))) as ax:
        for number, name in enumerate(ratios.columns):
            colour = COLOURS[number % len(COLOURS)]
            ax.scatter(ratios[name], range(len(ratios)), s=26, color=colour, label=str(name))
        ax.axvline(1, color="0.5", linewidth=0.8)
        ax.set_xscale("log")
        ratio_ticks(ax.xaxis)
        ax.set_yticks(range(len(ratios)), list(ratios.index))
        ax.invert_yaxis()
        ax.set_xlabel(f"{what}, to {baseline}")
        legend(ax)
    return ax
