"""Figures of a campaign: how a metric is distributed over the instances, per scheduler.

Schedulers are rows, so that long scheduler texts stay readable; workloads and classes are panels or columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from schedlab.campaign.results.ranking import RankedScheduler, SchedulerRanking
from schedlab.campaign.results.statistics import LARGER_IS_BETTER, METRIC, MIXED, by_instance, quantity
from schedlab.energy.measures import words_of
from schedlab.errors import InputError
from schedlab.report.style import (
    COLOURS,
    duration_ticks,
    legend,
    line_look,
    new_figure,
    number_ticks,
    percent_ticks,
    ratio_ticks,
    styled,
    styled_axes,
)
from schedlab.schedule.groups import SIZE_CLASSES
from schedlab.wording import count_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

WIDTH = 9.0
"""Inches of a figure."""

ROW = 0.26
"""Inches of a row, the height of a scheduler."""

LONGEST_LABEL = 34
"""Characters of a scheduler text that a figure shows; of longer ones, both ends."""

DECADES = 20
"""From this ratio of the largest to the smallest value on, an axis is logarithmic."""


def label_of(text: str, longest: int = LONGEST_LABEL) -> str:
    """Return a scheduler text that is not too long for a figure.

    Examples
    --------
    >>> label_of("fcfs+easy"), label_of("log10(p)*q + 870*log10(r)+easy", 21)
    ('fcfs+easy', 'log10(p)*q +…(r)+easy')
    """
    if len(text) <= longest:
        return text
    tail = longest * 2 // 5
    return f"{text[: longest - tail - 1]}…{text[-tail:]}"


def labels_of(texts: Sequence[str], longest: int = LONGEST_LABEL) -> list[str]:
    """Return labels that are not too long; texts that would look the same get as much more as tells them apart.

    Examples
    --------
    >>> labels_of(["fcfs", "p*q + 1*r + p*q+easy", "p*q + 2*r + p*q+easy"], 12)
    ['fcfs', 'p*q + 1…easy', 'p*q + 2…easy']
    """
    labels = [label_of(text, longest) for text in texts]
    while len(set(labels)) < len(set(texts)):
        longest += 2
        twice = {label for label in labels if labels.count(label) > 1}
        labels = [
            label_of(text, longest) if label in twice else label for text, label in zip(texts, labels, strict=True)
        ]
    return labels


def metric_label(metric: str) -> str:
    """Return the name of a metric as axes and sentences show it.

    Examples
    --------
    >>> metric_label("mean_bounded_slowdown"), metric_label("p95_wait")
    ('mean bounded slowdown', '95th percentile of wait')
    """
    words = words_of(metric).replace("per processor", "per-processor")
    for short in ("p95", "p99"):
        words = words.replace(f"{short} ", f"{short[1:]}th percentile of ")
    return words


def plot_boxes(frame: pd.DataFrame, metric: str = METRIC, schedulers: Sequence[str] | None = None) -> Figure:
    """Draw the distribution of a metric over the instances, a panel per workload and a box per scheduler.

    Parameters
    ----------
    frame
        A results frame.
    metric
        A column of it.
    schedulers
        Their order, from the top; by default, by name.

    Returns
    -------
    matplotlib.figure.Figure
        Boxes from quartile to quartile with a stroke at the median; whiskers reach to the last value within
        1.5 times the height of the box, as in the study below; dots are the values beyond.

    References
    ----------
    Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC'17.
    """
    values, workloads = by_instance(frame, metric)
    shown = list(schedulers or values.columns)
    labels = np.unique(workloads)

    def draw(ax: Axes, panel: int) -> None:
        part = values[workloads == labels[panel]]
        samples = [part[scheduler].dropna().to_numpy() for scheduler in shown]
        draw_boxes(ax, samples)
        value_axis(ax.xaxis, np.concatenate(samples), metric)
        ax.set_title(f"{label_of(labels[panel], 24)}\n({count_of(len(part), 'instance')})")

    return scheduler_panels(shown, len(labels), draw, f"Distribution of the {metric_label(metric)} over the instances")


def draw_boxes(ax: Axes, samples: Sequence[NDArray[np.float64]]) -> None:
    """Draw a lying box for each sample, in rows 0, 1, ...; whiskers reach 1.5 times its length, dots lie beyond."""
    from matplotlib.patheffects import withStroke

    boxes = ax.boxplot(
        samples,
        orientation="horizontal",
        positions=range(len(samples)),
        widths=0.62,
        whis=1.5,
        patch_artist=True,
        medianprops={"color": "white", "linewidth": 1.6},
        flierprops={"marker": ".", "markersize": 3.5, "markeredgewidth": 0},
    )
    for number, box in enumerate(boxes["boxes"]):
        colour = COLOURS[number % len(COLOURS)]
        box.set(facecolor=colour, edgecolor=colour)
        boxes["fliers"][number].set_markerfacecolor(colour)
    for line in [*boxes["whiskers"], *boxes["caps"]]:
        line.set(color="#666666", linewidth=0.9)
    for line in boxes["medians"]:  # visible also at the edge of a box, or where there is nothing but a median
        line.set_path_effects([withStroke(linewidth=2.6, foreground="#333333")])


def plot_by_class(
    frame: pd.DataFrame,
    measure: str = "mean_wait",
    classes: Sequence[str] = SIZE_CLASSES,
    schedulers: Sequence[str] | None = None,
) -> Figure:
    """Draw the mean of a measure for each class of jobs, a panel per class and a bar per scheduler.

    Parameters
    ----------
    frame
        A results frame with the columns `<measure>_<class>`.
    measure
        "mean_wait" or "mean_bounded_slowdown".
    classes
        `schedlab.schedule.groups.SIZE_CLASSES` or `USER_CLASSES`; those that no scheduler has jobs of are left out.
    schedulers
        Their order, from the top; by default, by name.

    Returns
    -------
    matplotlib.figure.Figure
        Each bar is the mean over the instances in which every scheduler has jobs of the class.

    Raises
    ------
    InputError
        If no class has jobs.
    """
    tables = {name: by_instance(frame, f"{measure}_{name}")[0] for name in classes}
    common = {name: values.dropna() for name, values in tables.items()}
    present = [name for name, values in common.items() if len(values)]
    if not present:
        raise InputError(f"not enough data: no instance has jobs of each of the classes {', '.join(classes)}")
    shown = list(schedulers or common[present[0]].columns)

    def draw(ax: Axes, panel: int) -> None:
        values = common[present[panel]]
        means = values[shown].mean().to_numpy()
        colours = [COLOURS[number % len(COLOURS)] for number in range(len(shown))]
        bars = ax.barh(range(len(shown)), means, 0.7, color=colours)
        ax.bar_label(bars, [quantity(measure, mean) for mean in means], padding=3, fontsize=7.5, color="#333333")
        ax.set_xlim(0, 1.38 * max(float(means.max()), 1e-9))
        ax.set_xticks([])
        ax.spines["bottom"].set_visible(False)
        ax.set_title(f"{present[panel].replace('_', ' ')}\n({count_of(len(values), 'instance')})")

    return scheduler_panels(shown, len(present), draw, f"{metric_label(measure).capitalize()} by class", columns=4)


def scheduler_panels(
    schedulers: Sequence[str], panels: int, draw: Callable[[Axes, int], None], heading: str, columns: int = 3
) -> Figure:
    """Return a figure of panels whose rows are the schedulers, named beside the leftmost panels."""
    across = min(panels, columns)
    down = -(-panels // across)
    with styled():
        figure = new_figure((WIDTH, 0.5 + down * (0.75 + ROW * max(len(schedulers), 3))))
        grid = figure.subplots(down, across, sharey=True, squeeze=False)
        for panel, ax in enumerate(grid.flat):
            if panel >= panels:
                ax.set_axis_off()
                continue
            draw(ax, panel)
            scheduler_rows(ax, schedulers)
            ax.tick_params(labelleft=panel % across == 0)
        figure.suptitle(heading, fontweight="bold", fontsize=11, x=0.01, ha="left")
    return figure


def scheduler_rows(ax: Axes, schedulers: Sequence[str]) -> None:
    """Name the rows 0, 1, ... of some axes after the schedulers, the first one at the top."""
    ax.set_yticks(range(len(schedulers)), labels_of(schedulers))
    ax.set_ylim(len(schedulers) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False, axis="y")


def value_axis(axis: Axis, values: NDArray[np.float64], metric: str) -> None:
    """Scale and label an axis for the values of a metric: logarithmic if they span decades, durations with a unit."""
    axes = cast("Any", axis.axes)
    rescale = axes.set_xscale if axis is axes.xaxis else axes.set_yscale
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    spans_decades = low >= 0 and high > DECADES * low
    if any(name in metric for name in ("wait", "turnaround", "makespan")):
        if spans_decades and high > 600:
            rescale("symlog", linthresh=60, linscale=0.5)
            duration_ticks(axis, 60 if low < 60 else low, high)
        else:
            _even_durations(axis, high - low)
    elif spans_decades and low > 0:
        rescale("log")
        ratio_ticks(axis)
        if low < 1:  # for 0.1 that would be "100m"
            axis.set_major_formatter(lambda value, _: f"{value:g}")


def _even_durations(axis: Axis, span: float) -> None:
    """Label a linear axis of seconds at round numbers of the largest unit of which it spans a few."""
    from matplotlib.ticker import MultipleLocator

    seconds, unit = next(((s, u) for s, u in ((86_400, "d"), (3_600, "h"), (60, "min")) if span >= 3 * s), (1, "s"))
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, np.inf) if span / seconds / step <= 6)
    if np.isfinite(step):
        axis.set_major_locator(MultipleLocator(step * seconds))
    axis.set_major_formatter(lambda value, _: f"{value / seconds:g} {unit}")


def plot_distribution(
    frame: pd.DataFrame, metric: str = METRIC, schedulers: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the share of the instances in which a metric is at most a given value, one curve per scheduler.

    Parameters
    ----------
    frame, metric
        A results frame and a column of it.
    schedulers
        Their order; by default, by name.
    ax
        Where to draw; by default, in a new figure.
    """
    values, _ = by_instance(frame, metric)
    with styled_axes(ax, (WIDTH, 4.2)) as axes:
        shown = list(schedulers or values.columns)
        for number, (scheduler, label) in enumerate(zip(shown, labels_of(shown), strict=True)):
            known = np.sort(values[scheduler].dropna().to_numpy())
            axes.ecdf(known, label=label, **line_look(number))
        everything = values.to_numpy()
        value_axis(axes.xaxis, everything[~np.isnan(everything)], metric)
        percent_ticks(axes.yaxis)
        axes.set_xlabel(metric_label(metric).capitalize())
        axes.set_ylabel("Share of instances")
        axes.set_title(f"Share of the instances with at most this {metric_label(metric)}")
        legend(axes)
    return axes


def plot_ratios(ranking: SchedulerRanking, ax: Axes | None = None) -> Axes:
    """Draw the ratio of each scheduler to the baseline over all instances, with its interval.

    Parameters
    ----------
    ranking
        See `schedlab.campaign.results.ranking.ranking`.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Dots at the geometric means, lines over the intervals; an interval that touches the line at 1 does not tell the
        scheduler from the baseline.
    """
    from matplotlib.ticker import LogLocator

    rows = ranking.of()
    with styled_axes(ax, (WIDTH, 1.1 + ROW * max(len(rows), 3))) as axes:
        axes.axvline(1, color="#444444", linewidth=1)
        for number, row in enumerate(rows):
            ratio = _ratio(row)
            if np.isnan(ratio):
                axes.text(1, number, "  no ratio", va="center", fontsize=7.5, color="#666666")
                continue
            apart = row.paired is not None and row.paired.verdict in {"better", "worse"}
            colour = COLOURS[0] if apart else "#888888"
            if row.paired and row.paired.ratio_interval:
                axes.hlines(number, *row.paired.ratio_interval, color=colour, linewidth=2.2)
            axes.plot(ratio, number, "o", color=colour, markersize=6)
        ratios = _shown_ratios(ranking)
        if ratios.max() > 2 * ratios.min():
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.set_xticks([], minor=True)
        number_ticks(axes.xaxis)
        scheduler_rows(axes, [row.scheduler for row in rows])
        better = "right" if ranking.metric in LARGER_IS_BETTER else "left"
        axes.set_xlabel(f"Ratio to {label_of(ranking.baseline)} (further {better} is better)")
        axes.set_title(f"{metric_label(ranking.metric).capitalize()} with {100 * ranking.level:g}% intervals")
    return axes


def _shown_ratios(ranking: SchedulerRanking) -> NDArray[np.float64]:
    """Return every ratio and every end of an interval over all instances."""
    ratios = [_ratio(row) for row in ranking.of()]
    ends = [end for row in ranking.of() if row.paired for end in row.paired.ratio_interval or ()]
    return np.array([ratio for ratio in ratios if not np.isnan(ratio)] + ends)


def plot_heat_map(ranking: SchedulerRanking, ax: Axes | None = None) -> Axes:
    """Draw the ratio of each scheduler to the baseline in each workload, as numbers on colours.

    Parameters
    ----------
    ranking
        See `schedlab.campaign.results.ranking.ranking`.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Blue is better than the baseline, red is worse; bold where the interval does not contain 1.
    """
    from matplotlib.colors import Normalize

    workloads = [name for name in ranking.workloads() if name] or [""]
    rows = [ranking.of(workload) for workload in workloads]
    ratios = np.array([[_ratio(row) for row in column] for column in rows]).T
    known = np.log2(ratios[~np.isnan(ratios)])
    # Not more than a factor of four to the darkest colour: one bad scheduler would leave the others pale.
    most = float(np.clip(np.abs(known).max(initial=0), 0.1, 2))
    schedulers = [row.scheduler for row in rows[0]]
    with styled_axes(ax, (WIDTH, 0.9 + ROW * len(schedulers))) as axes:
        colours = "RdBu" if ranking.metric in LARGER_IS_BETTER else "RdBu_r"
        axes.imshow(np.log2(ratios), cmap=colours, norm=Normalize(-1.3 * most, 1.3 * most), aspect="auto")
        for (i, j), ratio in np.ndenumerate(ratios):
            pair = rows[j][i].paired
            apart = pair is not None and pair.verdict in {"better", "worse", MIXED}
            axes.text(
                j,
                i,
                "-" if np.isnan(ratio) else f"{ratio:.2f}",
                ha="center",
                va="center",
                fontweight="bold" if apart else "normal",
                color="white" if abs(np.log2(ratio)) > 0.75 * most else "#222222",
            )
        scheduler_rows(axes, schedulers)
        axes.set_ylim(len(schedulers) - 0.5, -0.5)
        # Cut names stand on two lines, where there is room for what tells them apart.
        names = [name.replace("…", "…\n") or "all" for name in labels_of(workloads, 14)]
        axes.set_xticks(range(len(workloads)), names)
        axes.tick_params(length=0)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        note = "blue: better, red: worse, bold: the interval does not contain 1"
        axes.set_title(f"Ratio to {label_of(ranking.baseline)}\n{note}")
    return axes


def _ratio(row: RankedScheduler) -> float:
    """Return the ratio of a scheduler to the baseline, NaN if there is none."""
    if row.paired is None:
        return 1.0
    return np.nan if row.paired.ratio is None else row.paired.ratio
