"""Whether numbers of SchedulerParameters that a variant changes are ever reached in the twin, and whether they warn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.membership import users_of
from schedlab.durations import HOUR
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration
from schedlab.schedule.timeline import Steps
from schedlab.scheduler.backfilling import Backfill, Slurm
from schedlab.scheduler.slurm_limits import ALL
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

OF_PASSES: Final = {"depth": ("bf_max_job_test", "backfill"), "queue_depth": ("default_queue_depth", "main")}
"""Arguments of +slurm that bound how many jobs a pass looks at: the option, and which pass."""

OF_GROUPS: Final = {
    "user_depth": ("bf_max_job_user", "user"),
    "partition_depth": ("bf_max_job_part", "partition"),
    "partition_queue_depth": ("partition_job_depth", "partition"),
}
"""The same of each user or partition."""


@dataclass(frozen=True, slots=True)
class Reach:
    """How many jobs there are for a number that bounds how many a pass looks at.

    Parameters
    ----------
    most, waiting
        The most that are left to it, by other bounds, and the most that wait.
    above, hours
        Hours in which there are more than the smaller one of the two numbers, and hours in which jobs wait.
    """

    most: int
    waiting: int
    above: float
    hours: float


def reach_texts(base: Backfill, other: Backfill, schedules: Sequence[Schedule]) -> Iterator[str]:
    """Say of each number that differs how often it is reached.

    Parameters
    ----------
    base, other
        Of the site as it is, and of a variant.
    schedules
        Of the site as it is, on each copy of the jobs.
    """
    if not isinstance(base, Slurm) or not isinstance(other, Slurm) or any(map(_several, schedules)):
        return
    for name, (option, which) in OF_PASSES.items():
        if (least := _smaller(base, other, name)) is not None:
            limits = _limits(base) if which == "backfill" else {}
            found = _over([_left_to(one, limits) for one in schedules], least)
            left = " and ".join(f"{OF_GROUPS[field][0]}={most:,}" for field, most in limits.items())
            why = f". Up to {found.waiting:,} wait, but {left} leaves it no more" if left else ""
            some = f"{option}: a {which} pass has at most {found.most:,} jobs to look at"
            yield f"{some}, {_how_often(found, least)}{why}"
    for name, (option, kind) in OF_GROUPS.items():
        if (least := _smaller(base, other, name)) is not None:
            found = _of_groups(schedules, kind, least)
            yield f"{option}: at most {found.most:,} jobs of a {kind} wait at a time, {_how_often(found, least)}"


def _limits(passes: Slurm) -> dict[str, int]:
    """Return how many jobs of each user and partition a backfill pass looks at, where that is bounded."""
    found = {field: getattr(passes, field) for field in ("user_depth", "partition_depth")}
    return {field: most for field, most in found.items() if most < ALL}


def window_text(base: Backfill, other: Backfill, jobs: Workload) -> str:
    """Return a warning if a variant has backfilling plan less far ahead than jobs may run; empty: it does not."""
    if not isinstance(base, Slurm) or not isinstance(other, Slurm) or other.window == base.window:
        return ""
    longest = int(jobs.requested_time.max(initial=0))
    if other.window >= longest:
        return ""
    return (
        f"bf_window is {duration(other.window)} then, and jobs ask for up to {duration(longest)}. Jobs that are "
        "planned to start behind it get no reservation, and may starve. Slurm's manual advises a window as long as the "
        "longest limit"
    )


def _several(schedule: Schedule) -> bool:
    """Return whether jobs name several partitions, so that a pass looks at them several times."""
    asked = schedule.workload.resources
    return asked is not None and any("," in name for name in asked.partition.names)


def _smaller(base: Slurm, other: Slurm, name: str) -> int | None:
    """Return the smaller of two numbers; None: they are the same."""
    one, two = getattr(base, name), getattr(other, name)
    return None if one == two else int(min(one, two))


def _how_often(found: Reach, least: int) -> str:
    if not found.above:
        return f"never more than {least:,}: both numbers do the same on this log"
    return f"more than {least:,} for {found.above:,.1f} of the {found.hours:,.0f} hours in which jobs wait"


def _labels(jobs: Workload, kind: str) -> Labels:
    return users_of(jobs) if kind == "user" else (jobs.resources or Resources.of(len(jobs))).partition


class _Levels(NamedTuple):
    """How many jobs of each group wait from the seconds on in which that changes, in order of group and second."""

    group: NDArray[np.int64]
    second: NDArray[np.int64]
    level: NDArray[np.int64]

    @classmethod
    def of(cls, schedule: Schedule, codes: NDArray[np.int64]) -> _Levels:
        seconds = np.concatenate([schedule.queued_since, schedule.start_time])
        group, change = np.tile(codes, 2), np.repeat([1, -1], len(codes))
        order = np.lexsort((seconds, group))
        group, seconds = group[order], seconds[order]
        last = np.append((np.diff(group) != 0) | (np.diff(seconds) != 0), True)
        # The queue of a group ends empty, so that the sum over all before is 0 where the next one begins.
        return cls(group[last], seconds[last], np.cumsum(change[order])[last])

    def sum_of(self, values: NDArray[np.int64]) -> Steps:
        """Return the sum over the groups of what each level counts; a level of 0 counts 0."""
        order = np.argsort(self.second, kind="stable")
        seconds = self.second[order]
        last = np.append(np.diff(seconds) != 0, True)
        return Steps(seconds[last], np.cumsum(np.diff(values, prepend=0)[order])[last].astype(np.float64))


def _left_to(schedule: Schedule, limits: dict[str, int]) -> tuple[Steps, Steps]:
    """Return the queue, and how many of its jobs limits per user and partition leave to a pass."""
    every = _Levels.of(schedule, np.zeros(len(schedule), dtype=np.int64))
    waiting = every.sum_of(every.level)
    left = waiting.values
    for field, most in limits.items():
        groups = _Levels.of(schedule, _labels(schedule.workload, OF_GROUPS[field][1]).codes)
        bounded = np.where(groups.group >= 0, np.minimum(groups.level, most), groups.level)
        left = np.minimum(left, groups.sum_of(bounded).values)  # at the same seconds
    return waiting, Steps(waiting.times, left)


def _over(queues: Sequence[tuple[Steps, Steps]], least: int) -> Reach:
    """Return the most over copies, and means of hours."""
    above = [_hours(left, left.values > least) for _, left in queues]
    hours = [_hours(waiting, waiting.values > 0) for waiting, _ in queues]
    most, waiting = (max(int(one[place].values.max()) for one in queues) for place in (1, 0))
    return Reach(most, waiting, float(np.mean(above)), float(np.mean(hours)))


def _of_groups(schedules: Sequence[Schedule], kind: str, least: int) -> Reach:
    """Return the most jobs of one user or partition over copies, and means of hours with more of one than a number."""
    found = []
    for one in schedules:
        groups = _Levels.of(one, _labels(one.workload, kind).codes)
        known = np.where(groups.group >= 0, groups.level, 0)
        many, waiting = groups.sum_of((known > least).astype(np.int64)), groups.sum_of(groups.level)
        found.append((int(known.max()), _hours(many, many.values > 0), _hours(waiting, waiting.values > 0), waiting))
    most, above, hours, queues = zip(*found, strict=True)
    longest = max(int(one.values.max()) for one in queues)
    return Reach(max(most), longest, float(np.mean(above)), float(np.mean(hours)))


def _hours(steps: Steps, chosen: NDArray[np.bool_]) -> float:
    return float(np.diff(steps.times)[chosen[:-1]].sum()) / HOUR
