"""Boxplots of policies over the sequences of one workload, a panel per setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.report.campaigns import draw_boxes, scheduler_panels
from schedlab.report.style import ratio_ticks
from schedlab.wording import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN = 1.3
"""Beside the smallest and the largest value, as a factor."""


@explained
def plot_sequences(panels: Mapping[str, Mapping[str, NDArray[np.float64]]], workload: str, columns: int = 1) -> Figure:
    """Draw how the mean bounded slowdown is distributed over sequences, all panels on one logarithmic axis.

    Parameters
    ----------
    panels
        By their titles, the values of all sequences by policy, the same policies in each.
    workload
        What was cut into sequences.
    columns
        How many panels are side by side.

    Returns
    -------
    matplotlib.figure.Figure
        Boxes from quartile to quartile with a stroke at the median; whiskers reach to the last value within 1.5 times
        the width of the box; dots are the values beyond.

    Examples
    --------
    >>> panels = {"actual": {"FCFS": np.array([20.0, 30, 500]), "SAF": np.array([2.0, 3, 9])}}
    >>> figure = plot_sequences(panels, "Curie")
    >>> [ax.get_title("left") for ax in figure.axes]
    ['actual (3 sequences)']
    """
    titles = list(panels)
    policies = list(panels[titles[0]])
    everything = np.concatenate([values for samples in panels.values() for values in samples.values()])

    def draw(ax: Axes, panel: int) -> None:
        samples = [panels[titles[panel]][policy] for policy in policies]
        draw_boxes(ax, samples)
        ax.set_xscale("log")
        ax.set_xlim(everything.min() / MARGIN, everything.max() * MARGIN)
        ratio_ticks(ax.xaxis)
        ax.set_title(f"{titles[panel]} ({count_of(len(samples[0]), 'sequence')})")

    heading = f"{workload}: mean bounded slowdown of sequences of 15 days"
    return scheduler_panels(policies, len(titles), draw, heading, columns)
