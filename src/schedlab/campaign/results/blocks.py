"""One simulation cut into blocks of time: pairs for a comparison on a single workload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.campaign.results.statistics import FEWEST_PAIRS
from schedlab.durations import DAY, WEEK
from schedlab.errors import InputError
from schedlab.schedule.groups import SIZE_CLASSES, USER_CLASSES, size_classes, user_classes
from schedlab.schedule.metrics import job_measures
from schedlab.schedule.schedule import Schedule

if TYPE_CHECKING:
    import pandas as pd

MEASURES = ("wait", "bounded_slowdown")
STATISTICS: dict[str, Callable[[NDArray[Any]], Any]] = {
    "mean": np.mean,
    "median": np.median,
    "p95": lambda values: np.percentile(values, 95),
    "max": np.max,
}

BLOCK_METRICS = (
    *(f"{statistic}_{name}" for name in MEASURES for statistic in STATISTICS),
    *(f"mean_{name}_{label}" for name in MEASURES for label in (*SIZE_CLASSES, *USER_CLASSES)),
)
"""What blocks can be compared by."""


def weekly_blocks(schedules: Mapping[str, Schedule], rows: NDArray[np.intp] | None = None) -> pd.DataFrame:
    """Return a results frame of schedules of one workload, with a row for each week of submission and scheduler.

    Parameters
    ----------
    schedules
        Schedules of the same jobs, by scheduler text.
    rows
        Positions of the jobs that count; by default, all.

    Returns
    -------
    pandas.DataFrame
        The columns `workload`, `load`, `repetition`, `window` (number of the block, from 0) and `scheduler`; of the
        jobs submitted in the block their number `jobs`, `mean_`, `median_`, `p95_` and `max_` of wait and bounded
        slowdown; and by size and user class `jobs_<class>`, `mean_wait_<class>` and `mean_bounded_slowdown_<class>`.

    Raises
    ------
    InputError
        If there is no schedule, or one is empty.

    Notes
    -----
    Blocks are weeks from the first submission, or days if there are fewer than `FEWEST_PAIRS` whole weeks. What remains
    after the last whole block is left out, unless it is all there is; so are blocks without a job.

    Blocks of one simulation are not independent: a queue that builds up in one week is waited for in the next.
    Intervals over them are narrower than those over independent windows would be, and speak of this workload alone.
    """
    import pandas as pd

    found = []
    for scheduler, schedule in schedules.items():
        counted = _counted(scheduler, schedule, rows)
        block = _blocks(schedule.workload.submit_time[counted])
        values = _block_metrics(schedule)
        order = np.argsort(block, kind="stable")
        windows = np.unique(block[block >= 0])
        ends = np.searchsorted(block[order], windows, side="right")
        for window, begin, end in zip(windows.tolist(), [np.count_nonzero(block < 0), *ends[:-1]], ends, strict=True):
            row = {"workload": schedule.workload.name, "load": np.nan, "repetition": 0, "window": window}
            found.append(row | {"scheduler": scheduler} | values(counted[order[begin:end]]))
    if not found:
        raise InputError("no schedule to compare: give at least one")
    return pd.DataFrame(found)


def over_all_jobs(
    schedules: Mapping[str, Schedule], metric: str, rows: NDArray[np.intp] | None = None
) -> dict[str, float]:
    """Return one of the `BLOCK_METRICS` over all jobs at once, not block by block, for each scheduler.

    Parameters
    ----------
    schedules, rows
        As for `weekly_blocks`.
    metric
        Its name.

    Raises
    ------
    InputError
        If a schedule is empty.
    """
    return {
        scheduler: _block_metrics(schedule)(_counted(scheduler, schedule, rows))[metric]
        for scheduler, schedule in schedules.items()
    }


def _counted(scheduler: str, schedule: Schedule, rows: NDArray[np.intp] | None) -> NDArray[np.intp]:
    """Return the positions of the jobs that count, in the order of the workload."""
    if not len(schedule):
        raise InputError(f"not enough jobs: the schedule of {scheduler} is empty")
    return np.arange(len(schedule)) if rows is None else np.sort(rows)


def _block_metrics(schedule: Schedule) -> Callable[[NDArray[np.intp]], dict[str, float]]:
    """Return what computes all metrics of a block from the positions of its jobs."""
    measures = {name: values for name, values in job_measures(schedule).items() if name in MEASURES}
    classes = _classes(schedule)

    def metrics_of(inside: NDArray[np.intp]) -> dict[str, float]:
        row = {"jobs": float(len(inside))}
        for name, values in measures.items():
            row |= {f"{statistic}_{name}": float(of(values[inside])) for statistic, of in STATISTICS.items()}
        for label, members in classes.items():
            chosen = inside[members[inside]]
            row[f"jobs_{label}"] = float(len(chosen))
            for name, values in measures.items():
                row[f"mean_{name}_{label}"] = float(values[chosen].mean()) if len(chosen) else np.nan
        return row

    return metrics_of


def _blocks(submit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the block in which each job is submitted, -1 after the last whole one."""
    elapsed, length = submit - submit.min(), _length(submit)
    period = int(elapsed.max()) + 1
    block: NDArray[np.int64] = elapsed // length
    return np.where(block < max(period // length, 1), block, -1)


def _length(submit: NDArray[np.int64]) -> int:
    """Return the seconds of a block."""
    period = int(submit.max() - submit.min()) + 1
    return WEEK if period // WEEK >= FEWEST_PAIRS else DAY


def block_name(submit: NDArray[np.int64]) -> str:
    """Return what the blocks of jobs with these submit times are: "week" or "day".

    Examples
    --------
    >>> block_name(np.array([0, 6 * 7 * 86_400])), block_name(np.array([0, 5 * 7 * 86_400]))
    ('week', 'day')
    """
    return "week" if _length(submit) == WEEK else "day"


def _classes(schedule: Schedule) -> dict[str, NDArray[np.bool_]]:
    """Return the jobs of each size class and of each user class."""
    processors = schedule.workload.job_processors
    sizes = size_classes(processors, schedule.processors)
    users = user_classes(schedule.workload.user_id, schedule.work)
    return {label: sizes == number for number, label in enumerate(SIZE_CLASSES)} | {
        label: users == number for number, label in enumerate(USER_CLASSES)
    }
