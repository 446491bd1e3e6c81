"""Figures of a workload: what jobs ask for, how long they run, and when they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.report.style import (
    COLOURS,
    duration_ticks,
    new_figure,
    percent_ticks,
    root_figure,
    styled,
    styled_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from schedlab.workload.workload import Workload

PANEL = (5.0, 3.6)
BINS = 40
HOUR, DAY = 3_600, 86_400
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
EPOCH_WEEKDAY = 3
"""1 January 1970 was a Thursday."""


@explained
def plot_workload(workload: Workload) -> Figure:
    """Draw the six figures of a workload on one page.

    Parameters
    ----------
    workload
        The jobs.

    Returns
    -------
    matplotlib.figure.Figure
        Sizes, run times, requested times; accuracy, inter-arrival times, arrivals by hour and weekday.

    Raises
    ------
    InputError
        If there are no jobs.
    """
    if not len(workload):
        raise InputError(f"not enough jobs: {workload.name} is empty")
    panels = (
        plot_sizes,
        plot_run_times,
        plot_requested_times,
        plot_accuracy,
        plot_interarrival_times,
        plot_arrivals,
    )
    with styled():
        figure = new_figure((14.0, 7.6))
        axes = figure.subplots(2, 3)
        for panel, ax in zip(panels, axes.flat, strict=True):
            panel(workload, ax)
        machine = f", {workload.processors:,} processors" if workload.processors else ""
        figure.suptitle(f"{workload.name}: {len(workload):,} jobs{machine}", fontsize=13, fontweight="bold")
    return figure


def plot_sizes(workload: Workload, ax: Axes | None = None) -> Axes:
    """Draw the share of the jobs, and of their work, by number of processors, in powers of two."""
    processors = workload.job_processors
    known = (processors > 0) & (workload.run_time >= 0)
    power = np.ceil(np.log2(processors[known])).astype(np.int64)
    with styled_axes(ax, PANEL) as axes:
        axes.set_title("Job sizes")
        if not power.size:
            return _nothing_known(axes, "no job says how many processors it needs")
        work = (processors[known] * workload.run_time[known]).astype(np.float64)
        classes = np.arange(power.max() + 1)
        jobs_share = np.bincount(power) / len(power)
        work_share = np.bincount(power, weights=work) / max(work.sum(), 1.0)
        axes.bar(classes - 0.2, jobs_share, 0.4, color=COLOURS[0], label="jobs")
        axes.bar(classes + 0.2, work_share, 0.4, color=COLOURS[3], label="work (processors × run time)")
        step = 1 + len(classes) // 9
        axes.set_xticks(classes[::step], [f"{2**exponent:,}" for exponent in classes[::step].tolist()])
        axes.grid(visible=False, axis="x")
        percent_ticks(axes.yaxis)
        axes.set_xlabel("Processors, up to")
        axes.set_ylabel("Share")
        axes.margins(y=0.2)
        axes.legend(loc="upper left", ncols=2)
    return axes


def plot_run_times(workload: Workload, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the actual run times."""
    with styled_axes(ax, PANEL) as axes:
        axes.set_title("Actual run times")
        return _duration_histogram(axes, workload.run_time, "Run time", "no job has a run time")


def plot_requested_times(workload: Workload, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the requested run times."""
    with styled_axes(ax, PANEL) as axes:
        axes.set_title("Requested run times")
        return _duration_histogram(axes, workload.requested_time, "Requested time", "no job has a requested time")


def plot_accuracy(workload: Workload, ax: Axes | None = None) -> Axes:
    """Draw the distribution of actual over requested run time; what lies above 1 is counted at 1."""
    known = (workload.requested_time > 0) & (workload.run_time >= 0)
    with styled_axes(ax, PANEL) as axes:
        axes.set_title("Accuracy of the requests")
        if not known.any():
            return _nothing_known(axes, "no job has a requested time")
        accuracy = np.minimum(workload.run_time[known] / workload.requested_time[known], 1.0)
        _share_histogram(axes, accuracy, np.linspace(0, 1, 21))
        percent_ticks(axes.xaxis)
        axes.set_xlabel("Actual run time as a share of the requested time")
    return axes


def plot_interarrival_times(workload: Workload, ax: Axes | None = None) -> Axes:
    """Draw the distribution of the time from one submission to the next."""
    submit = np.sort(workload.submit_time)
    gaps = submit[1:] - submit[:-1]
    with styled_axes(ax, PANEL) as axes:
        axes.set_title("Inter-arrival times")
        return _duration_histogram(axes, gaps, "Time to the next submission", "there are less than two jobs")


def plot_arrivals(workload: Workload, ax: Axes | None = None) -> Axes:
    """Draw how many jobs are submitted in each hour of the week.

    Weekdays and hours are in UTC; if the workload does not say when it began, its second 0 is taken for the
    midnight before day 1.
    """
    origin = workload.start_time
    clock = workload.submit_time + (0 if origin is None else origin + EPOCH_WEEKDAY * DAY)
    hour_of_week = clock // HOUR % (7 * 24)
    weeks = max((int(clock.max()) - int(clock.min())) / (7 * DAY), 1.0)
    jobs = np.bincount(hour_of_week, minlength=7 * 24).reshape(7, 24) / weeks
    with styled_axes(ax, PANEL) as axes:
        axes.set_title("Arrivals by hour of the week")
        image = axes.imshow(jobs, aspect="auto", cmap="Blues", vmin=0, extent=(0, 24, 7, 0))
        labels = WEEKDAYS if origin is not None else tuple(f"Day {day}" for day in range(1, 8))
        axes.set_yticks(np.arange(7) + 0.5, labels)
        axes.set_xticks(range(0, 25, 4))
        axes.grid(visible=False)
        axes.set_xlabel("Hour of the day (UTC)" if origin is not None else "Hour of the day, from second 0")
        bar = root_figure(axes).colorbar(image, ax=axes, label="Jobs per hour (mean over the weeks)")
        bar.outline.set_visible(False)
    return axes


def _duration_histogram(ax: Axes, seconds: NDArray[np.int64], label: str, unknown: str) -> Axes:
    """Draw a histogram of durations on a logarithmic axis; 0 counts as 1 s, -1 (unknown) not at all."""
    known = np.maximum(seconds[seconds >= 0], 1)
    if not known.size:
        return _nothing_known(ax, unknown)
    highest = max(int(known.max()), 10)
    # Whole seconds: at the short end, a bin of less than one would be empty.
    _share_histogram(ax, known, np.unique(np.geomspace(1, highest + 1, BINS + 1).round()))
    ax.set_xscale("log")
    ax.set_xlim(0.8, 1.3 * highest)
    duration_ticks(ax.xaxis, 1, highest)
    ax.set_xlabel(label)
    return ax


def _share_histogram(ax: Axes, values: NDArray[np.float64] | NDArray[np.int64], edges: NDArray[np.float64]) -> None:
    """Draw which share of the values is in each bin."""
    counts, _ = np.histogram(values, edges)
    ax.stairs(counts / len(values), edges, fill=True, color=COLOURS[0])
    ax.grid(visible=False, axis="x")
    percent_ticks(ax.yaxis)
    ax.set_ylim(bottom=0)
    ax.set_ylabel("Share of jobs")


def _nothing_known(ax: Axes, reason: str) -> Axes:
    """Say in the middle of the axes why they are empty."""
    ax.text(0.5, 0.5, reason, ha="center", va="center", color="#666666", transform=ax.transAxes)
    ax.set_axis_off()
    return ax
