"""What happens in each minute of a schedule: use of the machine, waits of the jobs that come, pressure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.schedule.timeline import count_present
from schedlab.workload.sections import Sections

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule

MINUTE = 60
MOST_MINUTES = 10_000_000

Seconds = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Minutes:
    """The minutes of a period.

    Parameters
    ----------
    begin
        int64 seconds: when each minute begins.
    reserved, useful
        Shares of the machine that jobs hold, and in which tasks run; they differ by what idles in pilot jobs.
    median_wait
        Seconds: median wait of the ordinary jobs that were submitted in the minute; NaN without any.
    pressure
        Core-seconds that jobs reserve, submitted from the begin of the experiment to the end of the minute, over what
        the machine could do in that time; without the jobs of the fill phase.
    """

    begin: NDArray[np.int64]
    reserved: NDArray[np.float64]
    useful: NDArray[np.float64]
    median_wait: NDArray[np.float64]
    pressure: NDArray[np.float64]


@explained
def minutes_of(schedule: Schedule, sections: Sections) -> Minutes:
    """Return the minutes of an experiment, from second 0 to the cutoff.

    Parameters
    ----------
    schedule
        What is looked at.
    sections
        Of its experiment.

    Raises
    ------
    InputError
        If it lasts longer than 19 years.

    Examples
    --------
    >>> from schedlab import Workload, simulate
    >>> jobs = Workload.from_columns(
    ...     dict(submit_time=[0, 30], run_time=[60, 90], requested_time=[60, 90], requested_processors=[4, 2]),
    ...     processors=4)
    >>> found = minutes_of(simulate(jobs, "fcfs"), Sections(0, 0, 120, 180))
    >>> found.useful.tolist(), found.median_wait.tolist()
    ([1.0, 0.5, 0.25], [15.0, nan, nan])
    """
    if sections.cutoff > MOST_MINUTES * MINUTE:
        raise InputError(
            f"{schedule.workload.name}: the experiment lasts {sections.cutoff // MINUTE:,} minutes, and "
            f"at most {MOST_MINUTES:,} can be listed"
        )
    edges = np.arange(0, sections.cutoff + MINUTE, MINUTE, dtype=np.int64)
    held = schedule.held
    reserved = _share(schedule, edges, held.start, held.end, held.processors)
    if schedule.workload.workflows is None or schedule.runs is not None:
        useful = _share(schedule, edges, held.start, held.end, held.processors * held.done)
    else:
        useful = _share(schedule, edges, *_used(schedule))
    return Minutes(edges[:-1], reserved, useful, _median_waits(schedule, edges), _pressure(schedule, sections, edges))


def _share(
    schedule: Schedule,
    edges: NDArray[np.int64],
    begins: NDArray[Any],
    ends: NDArray[Any],
    processors: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the mean share of the machine that intervals hold, between each edge and the next."""
    busy = count_present(begins, ends, processors)
    areas = np.concatenate([[0.0], np.cumsum(busy.values[:-1] * np.diff(busy.times))])
    until = np.interp(edges, busy.times, areas)
    return np.asarray(np.diff(until) / (np.diff(edges) * schedule.processors))


def _used(schedule: Schedule) -> tuple[Seconds, Seconds, NDArray[np.int64]]:
    """Return begins, ends and processors of all that runs: of a pilot job, the steps of the execution inside it."""
    workflows = schedule.workload.workflows
    assert workflows is not None
    is_pilot = (workflows.number >= 0) & (workflows.task < 0)
    others = np.flatnonzero(~is_pilot)
    begins: list[Seconds] = [schedule.start_time[others].astype(np.float64)]
    ends: list[Seconds] = [schedule.end_time[others].astype(np.float64)]
    processors: list[NDArray[np.int64]] = [schedule.workload.job_processors[others]]
    pilots = np.flatnonzero(is_pilot)
    kinds = np.array([id(workflows.submissions[number].workflow) for number in workflows.number[pilots].tolist()])
    for kind in np.unique(kinds):
        rows = pilots[kinds == kind]
        start, end = schedule.start_time[rows].astype(np.float64), schedule.end_time[rows].astype(np.float64)
        since = 0.0
        for held, until in workflows.submissions[int(workflows.number[rows[0]])].workflow.steps():
            begins.append(np.minimum(start + since, end))
            ends.append(np.minimum(start + until, end))
            processors.append(np.full(len(rows), held, dtype=np.int64))
            since = until
    return np.concatenate(begins), np.concatenate(ends), np.concatenate(processors)


def _median_waits(schedule: Schedule, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the median wait of the ordinary jobs of each minute."""
    jobs = schedule.workload
    rows = np.arange(len(jobs)) if jobs.workflows is None else np.flatnonzero(jobs.workflows.number < 0)
    minute, wait = jobs.submit_time[rows] // MINUTE, schedule.wait_time[rows]
    inside = (minute >= 0) & (minute < len(edges) - 1)
    order = np.lexsort((wait[inside], minute[inside]))
    minute, wait = minute[inside][order], wait[inside][order]
    first = np.searchsorted(minute, np.arange(len(edges)))
    count = np.diff(first)
    medians = np.full(len(count), np.nan)
    there = np.flatnonzero(count)
    upper = first[there] + count[there] // 2
    lower = first[there] + (count[there] - 1) // 2
    medians[there] = (wait[lower] + wait[upper]) / 2
    return medians


def _pressure(schedule: Schedule, sections: Sections, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the pressure at the end of each minute; NaN until the experiment has begun."""
    jobs = schedule.workload
    work = schedule.work
    counted = jobs.submit_time >= sections.begin
    order = np.argsort(jobs.submit_time[counted], kind="stable")
    total = np.concatenate([[0.0], np.cumsum(work[counted][order])])
    elapsed = np.minimum(edges[1:], sections.end) - sections.begin
    submitted = total[np.searchsorted(jobs.submit_time[counted][order], edges[1:], side="right")]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(elapsed > 0, submitted / (elapsed * float(schedule.processors)), np.nan)
