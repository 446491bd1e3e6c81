"""All figures, and the set of them that a comparison writes."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from schedlab.arguments import explained
from schedlab.report.comparison import (
    plot_queue_length,
    plot_slowdown_distribution,
    plot_utilisation,
    plot_wait_by_size,
    plot_weekly_means,
)
from schedlab.report.gantt import plot_gantt
from schedlab.report.style import save_figure, save_figures
from schedlab.report.workloads import (
    plot_accuracy,
    plot_arrivals,
    plot_interarrival_times,
    plot_requested_times,
    plot_run_times,
    plot_sizes,
    plot_workload,
)
from schedlab.schedule.schedule import Schedule

__all__ = [
    "plot_accuracy",
    "plot_arrivals",
    "plot_gantt",
    "plot_interarrival_times",
    "plot_queue_length",
    "plot_requested_times",
    "plot_run_times",
    "plot_sizes",
    "plot_slowdown_distribution",
    "plot_utilisation",
    "plot_wait_by_size",
    "plot_weekly_means",
    "plot_workload",
    "save_comparison_figures",
    "save_figure",
]

COMPARISON_FIGURES = {
    "slowdown-distribution": plot_slowdown_distribution,
    "wait-by-size": plot_wait_by_size,
    "utilisation": plot_utilisation,
    "queue-length": plot_queue_length,
    "weekly-slowdown": plot_weekly_means,
}


@explained
def save_comparison_figures(schedules: Mapping[str, Schedule], directory: str | PathLike[str]) -> list[Path]:
    """Write every comparison figure of some schedules as PNG, and return the files.

    Parameters
    ----------
    schedules
        Schedules of the same jobs, by the name that the figures give them.
    directory
        Where to write; it is made if it is not there.

    Raises
    ------
    OutputError
        If the directory cannot be made or written to.
    """
    return save_figures(COMPARISON_FIGURES, schedules, directory)
