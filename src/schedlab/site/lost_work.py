"""Work that is lost in a simulation: jobs that are cancelled as others take their place or nodes fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import HOUR
from schedlab.schedule.runs import BY_ITSELF
from schedlab.schedule.schedule import Schedule
from schedlab.wording import count_of

MUCH = 0.001
"""Share of all work from which on more that is lost makes a comparison one of different work."""


@explained
@dataclass(frozen=True, slots=True)
class LostWork:
    """Work that is lost in a schedule; of several, means.

    Parameters
    ----------
    jobs
        Jobs that are cancelled before they are done, and do not come back.
    undone_hours
        Core-hours that they ask to run: all of each.
    again_hours
        Core-hours of runs that are broken off and begin again.
    hours
        Core-hours of all jobs.
    """

    jobs: float = 0.0
    undone_hours: float = 0.0
    again_hours: float = 0.0
    hours: float = 0.0

    def exceeds(self, other: LostWork) -> bool:
        """Whether so much more is undone than in another schedule that the two do not do the same work."""
        return self.undone_hours - other.undone_hours > MUCH * self.hours

    @property
    def share(self) -> float:
        """Of the work, what is undone."""
        return self.undone_hours / self.hours if self.hours else 0.0

    def __str__(self) -> str:
        return f"{count_of(round(self.jobs), 'job')} ({self.share:.1%} of the work)"


def cancelled(schedule: Schedule) -> NDArray[np.bool_]:
    """Return which jobs are cancelled before they are done: what broke off their last run is not their own end."""
    found = np.zeros(len(schedule), dtype=np.bool_)
    if schedule.runs is not None:
        runs = schedule.runs
        last = np.full(len(schedule), -1)
        last[runs["job"]] = np.arange(len(runs))  # runs are in the order of their starts
        there = last >= 0
        found[there] = (runs["cause"][last[there]] != BY_ITSELF) & ~runs["done"][last[there]]
    return found


def lost_work(schedules: Sequence[Schedule], held: Sequence[NDArray[np.int64]] | None = None) -> LostWork:
    """Return the work that is lost, a mean over schedules; `held`, the cores that each job holds, if not what it asks
    for."""
    cores = [one.workload.job_processors for one in schedules] if held is None else held
    return LostWork(*np.mean([*map(_lost, schedules, cores)], axis=0).tolist())


def _lost(schedule: Schedule, held: NDArray[np.int64]) -> tuple[float, float, float, float]:
    jobs, cores = schedule.workload, held / HOUR
    hours = np.minimum(jobs.run_time, jobs.requested_time) * cores
    gone = cancelled(schedule)
    again = 0.0
    if schedule.runs is not None:
        broken = schedule.runs[(schedule.runs["cause"] != BY_ITSELF) & ~schedule.runs["done"]]
        broken = broken[~gone[broken["job"]]]
        again = float(((broken["end"] - broken["start"]) * cores[broken["job"]]).sum())
    return float(gone.sum()), float(hours[gone].sum()), again, float(hours.sum())


def sentences(here: LostWork, there: LostWork, name: str) -> list[str]:
    """Say what is lost at the site as it is, and in a variant; nothing, if nothing is."""
    told = []
    if here.jobs or there.jobs:
        told.append(
            f"cancelled before they are done, as others take their place or nodes fail: {there} under {name}, {here} "
            "as it is"
        )
    if here.again_hours or there.again_hours:
        told.append(
            f"broken off and begun again: {there.again_hours:,.0f} core-hours under {name}, {here.again_hours:,.0f} as "
            "it is"
        )
    return told
