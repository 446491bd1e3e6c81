"""The sizes of malleable jobs: which run had how many processors, from when to when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.schedule.runs import RUN, SIZE

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule


OF_RESIZING = ("resized_jobs", "mean_resizes")
"""The metrics of `resizing`."""


def sizes_of_runs(
    changes: NDArray[Any],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    processors: NDArray[np.int64],
    ran: NDArray[np.bool_],
) -> NDArray[Any]:
    """Return the sizes of all runs (SIZE) in the order of their starts.

    Parameters
    ----------
    changes
        The sizes of those that have changed, with the fields `job`, `start` and `processors`: of each job in the order
        of time, from its start on. What lasted for no second, or changed nothing, may be among them.
    start, end, processors, ran
        Of each job: its run, the size that it had at the end of it, and whether it has run at all.
    """
    same = ran.copy()
    same[changes["job"]] = False
    kept = np.flatnonzero(same)
    job = np.concatenate([changes["job"], kept])
    begins = np.concatenate([changes["start"], start[kept]])
    size = np.concatenate([changes["processors"], processors[kept]])
    order = np.lexsort((np.arange(len(job)), job))
    job, begins, size = job[order], begins[order], size[order]
    last = np.append(job[1:] != job[:-1], True)[: len(job)]
    lasting = last | (np.append(begins[1:], 0)[: len(job)] > begins)
    job, begins, size = job[lasting], begins[lasting], size[lasting]
    new = np.append(True, (job[1:] != job[:-1]) | (size[1:] != size[:-1]))[: len(job)]
    job, begins, size = job[new], begins[new], size[new]
    last = np.append(job[1:] != job[:-1], True)[: len(job)]
    found = np.zeros(len(job), dtype=SIZE)
    found["job"], found["start"], found["processors"] = job, begins, size
    found["end"] = np.where(last, end[job], np.append(begins[1:], 0)[: len(job)])
    return found[np.lexsort((job, begins))]


def are_of_runs(sizes: NDArray[Any], start: NDArray[np.int64], end: NDArray[np.int64], ran: NDArray[np.bool_]) -> bool:
    """Return whether sizes fill each run from its start to its end, one after another, and nothing else."""
    if not len(sizes):
        return not ran.any()
    ordered = sizes[np.lexsort((sizes["start"], sizes["job"]))]
    job = ordered["job"]
    if int(job[0]) < 0 or int(job[-1]) >= len(start) or bool((ordered["processors"] < 1).any()):
        return False
    first = np.append(True, job[1:] != job[:-1])
    last = np.append(first[1:], True)
    follows = bool((ordered["start"][1:] == ordered["end"][:-1])[~first[1:]].all())
    whole = bool(
        (ordered["start"][first] == start[job[first]]).all() and (ordered["end"][last] == end[job[last]]).all()
    )
    return follows and whole and np.array_equal(job[first], np.flatnonzero(ran))


def as_runs(schedule: Schedule) -> NDArray[Any]:
    """Return the sizes of a schedule as runs (`RUN`), in the same order."""
    sizes = schedule.sizes
    assert sizes is not None
    runs = np.zeros(len(sizes), dtype=RUN)
    for name in ("job", "start", "end"):
        runs[name] = sizes[name]
    runs["request"] = schedule.workload.requested_time[sizes["job"]]
    runs["done"] = True
    return runs


def work_of_jobs(schedule: Schedule) -> NDArray[np.float64]:
    """Return the processor-seconds of each job: of its work, without suspensions; of malleable ones, size by size."""
    sizes = schedule.sizes
    if sizes is None:  # processor-seconds may be too many for 64 bits
        return schedule.run_time.astype(np.float64) * schedule.workload.job_processors
    area = (sizes["end"] - sizes["start"]) * sizes["processors"].astype(np.float64)
    return np.bincount(sizes["job"], area, len(schedule)).astype(np.float64)


def resizing(schedule: Schedule, rows: NDArray[np.intp]) -> dict[str, float]:
    """Return how many of some jobs changed their size while they ran, and how often; nothing if none is malleable."""
    if schedule.sizes is None:
        return {}
    changes = np.bincount(schedule.sizes["job"], minlength=len(schedule))[rows] - 1
    resized = changes[changes > 0]
    metrics = {"resized_jobs": float(len(resized))}
    return metrics | ({"mean_resizes": float(resized.mean())} if len(resized) else {})
