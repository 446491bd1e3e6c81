"""Schedulers on two logs: does what is good on one do well on the other?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedlab.arguments import explained
from schedlab.campaign.results.statistics import METRIC
from schedlab.errors import InputError
from schedlab.report.campaigns import metric_label
from schedlab.report.style import COLOURS, legend, ratio_ticks, styled_axes
from schedlab.scheduler.log_regression import LogRegression
from schedlab.scheduler.predictor import Actual, Regression, Requested
from schedlab.scheduler.scheduler import Scheduler

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MARKERS = ("o", "^")
"""Without and with an order of the candidates."""

KINDS = {"exact": COLOURS[2], "requested": COLOURS[1], "regression": COLOURS[3], "past jobs": COLOURS[0]}
"""Of run times, and their colours."""


@explained
def plot_triples(frame: pd.DataFrame, log: str, other: str, metric: str = METRIC) -> Axes:
    """Draw each scheduler at its values on two logs, as in Figure 3 of SC'15.

    Parameters
    ----------
    frame
        A results frame.
    log, other
        Two of its workloads: along the axis, and up.
    metric
        A column of it; of several instances of a workload the mean is taken.

    Raises
    ------
    InputError
        If fewer than two schedulers have a value on both.

    References
    ----------
    Gaussier, Glesser, Reis and Trystram, SC 2015.
    """
    means = frame.groupby(["scheduler", "workload"])[metric].mean().unstack("workload")
    if log not in means or other not in means or len(both := means[[log, other]].dropna()) < 2:
        raise InputError(f"not enough data: {log} and {other} have fewer than two schedulers in common")
    groups: dict[tuple[str, bool], list[str]] = {}
    for text in both.index:
        scheduler = Scheduler.from_file(text, "the table of results")
        groups.setdefault((_kind(scheduler), scheduler.order is not None), []).append(text)
    with styled_axes(None, (7.2, 4.6)) as ax:
        for (kind, ordered), texts in sorted(groups.items()):
            part = both.loc[texts]
            label = f"{kind}, {'candidates in order' if ordered else 'candidates by arrival'}"
            ax.scatter(
                part[log], part[other], s=26, marker=MARKERS[ordered], color=KINDS[kind], alpha=0.75, label=label
            )
        for axis, name, scale in ((ax.xaxis, log, ax.set_xscale), (ax.yaxis, other, ax.set_yscale)):
            scale("log")
            ratio_ticks(axis)
            axis.set_label_text(f"{metric_label(metric)} on {name}")
        correlation = np.corrcoef(both[log], both[other])[0, 1]
        ax.set_title(f"{len(both)} schedulers on two logs: Pearson's r = {correlation:.2f}")
        legend(ax)
    return ax


def _kind(scheduler: Scheduler) -> str:
    if isinstance(scheduler.runtimes, Regression | LogRegression):
        return "regression"
    return {Actual(): "exact", Requested(): "requested"}.get(scheduler.runtimes, "past jobs")
