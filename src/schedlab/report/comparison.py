"""Figures that compare schedules of the same jobs: one line or one bar per scheduler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.campaign.results.comparison import Comparison
from schedlab.errors import InputError
from schedlab.report.style import (
    COLOURS,
    TimeAxis,
    duration_ticks,
    legend,
    line_look,
    named,
    number_ticks,
    percent_ticks,
    ratio_ticks,
    styled_axes,
    title,
)
from schedlab.schedule.groups import SIZE_CLASSES, size_class_labels, size_classes
from schedlab.schedule.metrics import job_measures, mean_queue_length, utilisation
from schedlab.schedule.timeline import Steps, cumulative_weekly_means, queue_length, utilisation_over_time
from schedlab.schedule.window import measured_window

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from schedlab.schedule.schedule import Schedule

BOX_NOTE = "bars: quartiles, strokes: medians, lines: 5 to 95%, dots: means"

POINTS = 500
"""Points of a curve of a distribution: more cannot be seen."""

TIME_BINS = 240
"""Parts of a period, each of which shows its mean."""

STRIP = 0.85
"""Height of the strip of one scheduler, out of 1."""

MEASURE_LABELS = {
    "wait": "wait (hours)",
    "turnaround": "turnaround (hours)",
    "slowdown": "slowdown",
    "bounded_slowdown": "bounded slowdown",
    "per_processor_bounded_slowdown": "per-processor bounded slowdown",
}


@explained
def plot_slowdown_distribution(
    schedules: Schedule | Comparison | Mapping[str, Schedule] | Iterable[Schedule], ax: Axes | None = None
) -> Axes:
    """Draw which share of the jobs has more than a given bounded slowdown, one curve per scheduler.

    Parameters
    ----------
    schedules
        One schedule, several, or several by name.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The lower a curve, the better the scheduler; its right end is the worst job.
    """
    shown = named(schedules)
    most = max(len(schedule) for schedule in shown.values())
    worst = max(10.0, *(float(schedule.bounded_slowdown[schedule.ran].max(initial=0)) for schedule in shown.values()))
    limits = np.geomspace(1, worst, POINTS)
    with styled_axes(ax) as axes:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(0.9, 1.3 * worst)
        axes.set_ylim(0.6 / most, 1.1)
        for number, (name, schedule) in enumerate(shown.items()):
            values = np.sort(schedule.bounded_slowdown[schedule.ran])
            above = len(values) - np.searchsorted(values, limits, side="right")
            # A logarithmic axis has no place for the 0 beyond the worst job.
            seen = above > 0
            axes.plot(limits[seen], above[seen] / len(values), label=name, **line_look(number))
        ratio_ticks(axes.xaxis)
        percent_ticks(axes.yaxis)
        axes.set_xlabel("Bounded slowdown")
        axes.set_ylabel("Share of jobs with a larger one")
        title(axes, "Distribution of the bounded slowdown", shown)
        legend(axes)
    return axes


@explained
def plot_wait_by_size(
    schedules: Schedule | Comparison | Mapping[str, Schedule] | Iterable[Schedule], ax: Axes | None = None
) -> Axes:
    """Draw the waits of each job size class: percentiles and mean, one bar per scheduler.

    Parameters
    ----------
    schedules
        One schedule, several, or several by name; of the same machine.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Bars from the 25th to the 75th percentile, lines from the 5th to the 95th, a white stroke at the
        median and a dot at the mean.
    """
    shown = named(schedules)
    first = next(iter(shown.values()))
    width = 0.8 / len(shown)
    with styled_axes(ax) as axes:
        highest = 60.0
        for number, (name, schedule) in enumerate(shown.items()):
            classes = size_classes(schedule.workload.job_processors, schedule.processors)
            kinds = range(len(SIZE_CLASSES))
            waits = [schedule.wait_time[schedule.ran & (classes == size_class)] for size_class in kinds]
            present = [size_class for size_class, wait in enumerate(waits) if len(wait)]
            p5, p25, median, p75, p95 = np.array(
                [np.percentile(waits[size_class], (5, 25, 50, 75, 95)) for size_class in present]
            ).T
            means = [waits[size_class].mean() for size_class in present]
            x = np.array(present) + width * (number - (len(shown) - 1) / 2)
            colour = COLOURS[number % len(COLOURS)]
            axes.vlines(x, p5, p95, color=colour, linewidth=1)
            axes.bar(x, p75 - p25, 0.8 * width, bottom=p25, color=colour, label=name)
            axes.hlines(median, x - 0.4 * width, x + 0.4 * width, color="white", linewidth=1.5)
            axes.plot(x, means, "o", color="white", markeredgecolor=colour, markersize=4)
            highest = max(highest, p95.max(), *means)
        axes.set_yscale("symlog", linthresh=60, linscale=0.5)
        axes.set_ylim(0, 2 * highest)
        duration_ticks(axes.yaxis, 60, 2 * highest)
        labels = [label.replace(" (", "\n(") for label in size_class_labels(first.processors)]
        axes.set_xticks(range(len(SIZE_CLASSES)), labels)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel("Wait")
        title(axes, "Wait by job size class (processors)", shown, BOX_NOTE)
        legend(axes)
    return axes


@explained
def plot_utilisation(
    schedules: Schedule | Comparison | Mapping[str, Schedule] | Iterable[Schedule], ax: Axes | None = None
) -> Axes:
    """Draw the share of the machine in use over time.

    Parameters
    ----------
    schedules
        One schedule, several, or several by name.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A curve of means over equal parts of the time; for several schedulers one strip each, from 0 to 100%,
        with the mean beside it, because curves so much alike would hide each other.
    """
    shown = named(schedules)
    with styled_axes(ax, _strips_size(shown)) as axes:
        steps = {name: utilisation_over_time(schedule) for name, schedule in shown.items()}
        _plot_over_time(axes, shown, steps, highest=1.0)
        if len(shown) == 1:
            percent_ticks(axes.yaxis)
            axes.set_ylabel("Processors in use")
        else:
            _note_strips(
                axes,
                "mean",
                [f"{utilisation(schedule, measured_window(schedule)):.1%}" for schedule in shown.values()],
            )
        title(axes, "Utilisation", shown, "strips of 0 to 100%" if len(shown) > 1 else "")
    return axes


@explained
def plot_queue_length(
    schedules: Schedule | Comparison | Mapping[str, Schedule] | Iterable[Schedule], ax: Axes | None = None
) -> Axes:
    """Draw the number of waiting jobs over time.

    Parameters
    ----------
    schedules
        One schedule, several, or several by name.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A curve of means over equal parts of the time; for several schedulers one strip each, with the mean
        beside it, on one square-root scale: queues of schedulers differ by orders of magnitude.
    """
    shown = named(schedules)
    with styled_axes(ax, _strips_size(shown)) as axes:
        steps = {name: queue_length(schedule) for name, schedule in shown.items()}
        highest = _plot_over_time(axes, shown, steps, power=0.5)
        if len(shown) == 1:
            number_ticks(axes.yaxis)
            axes.set_ylabel("Waiting jobs")
        else:
            _note_strips(
                axes,
                "mean",
                [f"{mean_queue_length(schedule, measured_window(schedule)):,.1f}" for schedule in shown.values()],
            )
        scale = f"strips of 0 to {highest:,.0f} waiting jobs, square-root scale" if len(shown) > 1 else ""
        title(axes, "Queue length", shown, scale)
    return axes


def _strips_size(schedules: Mapping[str, Schedule]) -> tuple[float, float]:
    """Return the inches of a figure with a strip for each schedule."""
    return (8.0, max(4.2, 1.2 + 0.5 * len(schedules)))


def _plot_over_time(
    ax: Axes,
    schedules: Mapping[str, Schedule],
    steps: Mapping[str, Steps],
    *,
    highest: float | None = None,
    power: float = 1.0,
) -> float:
    """Draw step functions over the time that the schedules span together; return the top of the scale.

    A single one is drawn as it is, several as strips, in which heights are shares of the top to a power.
    """
    begin = min(int(schedule.workload.submit_time.min()) for schedule in schedules.values())
    end = max(begin + 1, *(int(schedule.end_time.max()) for schedule in schedules.values()))
    clocks = {schedule.workload.start_time for schedule in schedules.values()}
    axis = TimeAxis(begin, end, begin, clocks.pop() if len(clocks) == 1 else None)
    means = [function.binned(TIME_BINS, begin, end) for function in steps.values()]
    top = highest or max(1.0, *(float(curve.values.max()) for curve in means))
    for number, curve in enumerate(means):
        time = axis(curve.times)
        if len(means) == 1:
            base, heights = 0, curve.values
        else:
            base, heights = len(means) - 1 - number, STRIP * (curve.values / top) ** power
        colour = COLOURS[number % len(COLOURS)]
        ax.fill_between(time, base, base + heights, step="post", color=colour, linewidth=0)
    if len(means) == 1:
        ax.set_ylim(0, 1.04 * top)
    else:
        strips = np.arange(len(means))[::-1]
        ax.hlines(strips + STRIP, 0, 1, transform=ax.get_yaxis_transform(), color="#DDDDDD", linewidth=0.6)
        ax.set_ylim(0, len(means))
        ax.set_yticks(strips + STRIP / 2, list(schedules))
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
    axis.label(ax)
    return top


def _note_strips(ax: Axes, heading: str, notes: list[str]) -> None:
    """Write a number beside each strip, and above them what it is."""
    beside = ax.get_yaxis_transform()
    ax.text(1.01, len(notes), heading, transform=beside, va="bottom", color="#444444")
    for number, note in enumerate(notes):
        ax.text(1.01, len(notes) - 1 - number + STRIP / 2, note, transform=beside, va="center")


@explained
def plot_weekly_means(
    schedules: Schedule | Comparison | Mapping[str, Schedule] | Iterable[Schedule],
    ax: Axes | None = None,
    *,
    measure: str = "bounded_slowdown",
) -> Axes:
    """Draw, for the end of each week, the mean of a measure over all jobs that have ended so far.

    Parameters
    ----------
    schedules
        One schedule, several, or several by name.
    ax
        Where to draw; by default, in a new figure.
    measure
        "wait", "turnaround", "slowdown", "bounded_slowdown" or "per_processor_bounded_slowdown".

    References
    ----------
    Carastan-Santos, de Camargo, Trystram and Zrigui, "One can only gain by replacing
    EASY backfilling", CCGrid 2019.
    """
    from matplotlib.ticker import MaxNLocator

    shown = named(schedules)
    if measure not in MEASURE_LABELS:
        raise InputError(f"unknown measure {measure!r}; the measures are {', '.join(MEASURE_LABELS)}")
    label = MEASURE_LABELS[measure]
    unit = 3_600 if label.endswith("(hours)") else 1
    with styled_axes(ax) as axes:
        for number, (name, schedule) in enumerate(shown.items()):
            values: NDArray[np.float64] = job_measures(schedule)[measure] / unit
            weeks, means = cumulative_weekly_means(schedule, values)
            axes.plot(weeks, means, label=name, marker="o" if len(weeks) < 3 else "", **line_look(number))
        if unit == 1:
            axes.set_yscale("log")
            ratio_ticks(axes.yaxis)
        else:
            axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("Weeks since the first submission")
        axes.set_ylabel(f"Mean {label} of the jobs ended so far")
        title(axes, f"Cumulative weekly mean {label.removesuffix(' (hours)')}", shown)
        legend(axes)
    return axes
