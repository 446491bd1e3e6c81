"""Jobs that run in pieces, each after the one before, and the schedule of the whole jobs that comes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.parts.heterogeneous.numbers import owners_of
from schedlab.schedule.placement import Placement
from schedlab.schedule.runs import RUN
from schedlab.schedule.schedule import Schedule
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload


class Pieces(NamedTuple):
    """Jobs, some of them in pieces.

    Parameters
    ----------
    jobs
        One row per piece.
    of
        The row of the whole job of each, int64.
    """

    jobs: Workload
    of: NDArray[np.int64]


def in_pieces(jobs: Workload, length: NDArray[np.int64]) -> Pieces:
    """Return jobs of which some run in pieces, as their users would submit them: all at once, each after the last one.

    A piece asks for its full length, or for what is left of the request of the whole job. It runs as long as that, and
    the last one for the rest. The components of a heterogeneous job go in step.

    Parameters
    ----------
    jobs
        In order of submission.
    length
        int64 seconds of a piece, one per job; 0: it runs as it is.

    Examples
    --------
    A job that runs for 100 s and asks for 200 s, in pieces of 60 s.

    >>> jobs = Workload.from_columns(dict(submit_time=[0, 5], run_time=[100, 30], requested_time=[200, 60],
    ...                                   requested_processors=[2, 1]))
    >>> found = in_pieces(jobs, np.array([60, 0]))
    >>> found.jobs.run_time.tolist(), found.jobs.requested_time.tolist(), found.of.tolist()
    ([60, 40, 30], [60, 60, 60], [0, 0, 1])
    >>> found.jobs.dependencies.parents_of(1).tolist()
    [0]
    """
    owner = owners_of(jobs)
    owner = np.arange(len(jobs)) if owner is None else owner
    work = np.minimum(jobs.run_time, jobs.requested_time)
    count = np.where(length > 0, -(-work // np.maximum(length, 1)), 1).clip(1)
    of = np.repeat(np.arange(len(jobs)), count)
    piece = np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
    order = np.lexsort((of, piece, owner[of]))
    of, piece = of[order].astype(np.int64), piece[order]
    before, size = piece * length[of], np.where(length[of] > 0, length[of], np.iinfo(np.int64).max)
    last = piece == count[of] - 1
    left = jobs.run_time[of] - before
    found = jobs.replace(dependencies=None)[of].replace(
        run_time=np.where(last, left, np.minimum(left, size)),
        requested_time=np.minimum(jobs.requested_time[of] - before, size),
        resources=_renamed(jobs.resources, of, piece),
    )
    return Pieces(found.replace(dependencies=_one_after_the_other(jobs, owner, of, piece)), of)


def _renamed(resources: Resources | None, of: NDArray[np.int64], piece: NDArray[np.int64]) -> Resources | None:
    """Return the resources of pieces: the second pieces of an array or heterogeneous job are one of their own."""
    if resources is None:
        return None
    columns = {name: getattr(resources.select(of), name) for name in Resources.__dataclass_fields__}
    for name in ("array", "het_job"):
        texts = columns[name].texts() if columns[name].names else []
        if texts:
            columns[name] = Labels.of(
                [f"{text}/{number + 1}" if text and number else text for text, number in zip(texts, piece, strict=True)]
            )
    return Resources(**columns)


def _one_after_the_other(
    jobs: Workload, owner: NDArray[np.int64], of: NDArray[np.int64], piece: NDArray[np.int64]
) -> Dependencies:
    """Return what each piece waits for: the pieces before it, and the first ones for what the whole jobs wait for."""
    place = {(row, number): here for here, (row, number) in enumerate(zip(of.tolist(), piece.tolist(), strict=True))}
    together: dict[tuple[int, int], list[int]] = {}
    for here, (row, number) in enumerate(zip(of.tolist(), piece.tolist(), strict=True)):
        together.setdefault((int(owner[row]), number), []).append(here)
    children, parents, delay = [], [], []
    for (whole, number), mine in together.items():
        for earlier in together.get((whole, number - 1), ()):
            children += mine
            parents += [earlier] * len(mine)
            delay += [0] * len(mine)
    if (after := jobs.dependencies) is not None:
        ends = np.zeros(len(jobs), dtype=np.int64)
        np.maximum.at(ends, of, piece)
        for child, parent, pause in zip(
            after.children.tolist(), after.parents.tolist(), after.delay.tolist(), strict=True
        ):
            children.append(place[child, 0])
            parents.append(place[parent, int(ends[parent])])
            delay.append(pause)
    pairs = (np.array(part, dtype=np.int64) for part in (children, parents, delay))
    return Dependencies.from_pairs(*pairs, jobs=len(of))


def folded(schedule: Schedule, jobs: Workload, of: NDArray[np.int64]) -> Schedule:
    """Return the schedule of whole jobs, from that of their pieces.

    The wait of a job is that for its result: the waits of all its pieces. So its start is where it would lie had the
    pieces run in one go until the end of the last one; when they really ran is in `runs`.

    Parameters
    ----------
    schedule
        Of the pieces.
    jobs
        The whole jobs.
    of
        The row of the whole job of each piece; pieces of a job in their order.
    """
    order = np.argsort(of, kind="stable")
    bounds = np.searchsorted(of[order], np.arange(len(jobs) + 1))
    first, last = order[bounds[:-1]], order[bounds[1:] - 1]
    end = schedule.end_time[last]
    ran = np.bincount(of, schedule.run_time, len(jobs)).astype(np.int64)
    runs, placement = _runs_of_whole(schedule, of)
    pauses = None if schedule.pauses is None else schedule.pauses.copy()
    if pauses is not None:
        pauses["job"] = of[pauses["job"]]
    return replace(
        schedule,
        workload=jobs,
        start_time=end - schedule.suspended_time[last] - ran,
        end_time=end,
        backfilled=schedule.backfilled[first],
        killed=schedule.killed[last],
        predicted_run_time=jobs.requested_time,
        corrections=np.bincount(of, schedule.corrections, len(jobs)).astype(np.int64),
        eligible_time=schedule.queued_since[first],
        runs=runs,
        placement=placement,
        waited_for=None
        if schedule.waited_for is None
        else {
            reason: np.bincount(of, seconds, len(jobs)).astype(np.int64)
            for reason, seconds in schedule.waited_for.items()
        },
        pauses=pauses,
    )


def _runs_of_whole(schedule: Schedule, of: NDArray[np.int64]) -> tuple[NDArray[Any], Placement | None]:
    """Return the runs of whole jobs, in the order of their starts, and where they were."""
    if schedule.runs is not None:
        runs = schedule.runs.copy()
        runs["job"] = of[runs["job"]]
        return runs, schedule.placement
    runs = np.zeros(len(of), dtype=RUN)
    runs["job"], runs["start"], runs["end"] = of, schedule.start_time, schedule.end_time
    runs["request"], runs["done"] = schedule.workload.requested_time, True
    order = np.argsort(runs["start"], kind="stable")
    return runs[order], None if schedule.placement is None else schedule.placement.select(order)
