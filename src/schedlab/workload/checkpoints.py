"""Jobs that write checkpoints: how often, at what cost, and how much longer they run for it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import duration_text
from schedlab.errors import InputError
from schedlab.wording import count_of
from schedlab.workload.resources import CHECKPOINTS
from schedlab.workload.workload import Workload


def write_checkpoints(workload: Workload) -> bool:
    """Return whether any job writes checkpoints.

    Examples
    --------
    >>> write_checkpoints(Workload.from_columns(dict(submit_time=[0], run_time=[60])))
    False
    """
    return workload.resources is not None and bool(_writers(workload).any())


def _writers(workload: Workload) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = (workload["checkpoint_interval"] > 0) | (workload["checkpoint_when_told"] > 0)
    return found


def check_checkpoints(workload: Workload) -> None:
    """Raise InputError for the first job whose checkpoints make no sense."""
    resources = workload.resources
    if resources is None or not any(getattr(resources, name).any() for name in CHECKPOINTS):
        return
    interval, cost, restart = (workload[name] for name in ("checkpoint_interval", "checkpoint_cost", "restart_cost"))
    writers, told, request = _writers(workload), workload["checkpoint_when_told"] > 0, workload.requested_time
    rules = (
        (
            ~writers & ((cost > 0) | (restart > 0)),
            "has the cost of checkpoints (checkpoint_cost, restart_cost), but writes none: give checkpoint_interval or "
            "checkpoint_when_told",
        ),
        (
            (interval > 0) & (cost > interval),
            "writes checkpoints for longer (checkpoint_cost) than it works between two of them (checkpoint_interval): "
            "take a longer interval",
        ),
        (
            (request > 0) & (restart + cost >= request) & (told | ((interval > 0) & (interval < request))),
            "would need all of its requested time to go on from a checkpoint and to write the next one (restart_cost, "
            "checkpoint_cost): let it request more, or write none",
        ),
    )
    for bad, what in rules:
        if bad.any():
            row = int(np.argmax(bad))
            raise InputError(f"job {workload.job_id[row]} {what}", row=row)


def checkpoints_text(workload: Workload) -> str:
    """Say how many jobs write checkpoints, how often, and how many need another run for it; empty if none does.

    Examples
    --------
    >>> from schedlab.workload import Resources
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[7000, 9], requested_time=[7000, 9]),
    ...     resources=Resources.of(2, checkpoint_interval=[3600, 0], checkpoint_cost=[60, 0]))
    >>> checkpoints_text(jobs)
    '1 of 2 jobs writes checkpoints, every 1h of work in the median; 1 of them runs into its requested time with \
them, and goes on in another run'
    """
    if not write_checkpoints(workload):
        return ""
    writers, every = _writers(workload), workload["checkpoint_interval"]
    count = np.count_nonzero(writers)
    told = f"{count:,} of {count_of(len(workload), 'job')} {'writes' if count == 1 else 'write'} checkpoints"
    if every.any():
        told += f", every {duration_text(float(np.median(every[every > 0])))} of work in the median"
    beyond = np.count_nonzero(
        writers & (workload.requested_time > 0) & (stretched(workload, workload.run_time) > workload.requested_time)
    )
    if beyond:
        runs, its, goes = ("runs", "its", "goes") if beyond == 1 else ("run", "their", "go")
        told += f"; {beyond:,} of them {runs} into {its} requested time with them, and {goes} on in another run"
    return told


def stretched(workload: Workload, work: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for how many seconds each job runs with its checkpoints if nothing ends it before.

    Parameters
    ----------
    workload
        The jobs.
    work
        int64 seconds: how long each runs without.

    Examples
    --------
    A minute of checkpoint after each ten of work, but none at the end.

    >>> from schedlab.workload import Resources
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[1200, 1201]), resources=Resources.of(
    ...     2, checkpoint_interval=[600, 600], checkpoint_cost=[60, 60]))
    >>> stretched(jobs, jobs.run_time).tolist()
    [1260, 1321]
    """
    interval = workload["checkpoint_interval"]
    count = np.where(interval > 0, np.maximum(work - 1, 0) // np.maximum(interval, 1), 0)
    return np.asarray(work + count * workload["checkpoint_cost"], dtype=np.int64)
