"""The error message for jobs that are left when nothing can happen any more."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.parts.moldable.rows import started
from schedlab.engine.prepared import Prepared
from schedlab.errors import InputError
from schedlab.scheduler.agent import AgentPolicy
from schedlab.scheduler.own_pass import OwnPass
from schedlab.wording import count_of


def refuse_left_over(prepared: Prepared, start: NDArray[np.int64], estimate: NDArray[np.int64]) -> None:
    """Raise InputError if jobs have not started though nothing can happen any more.

    That can be where runs may fail, nodes may leave service, or an agent or a pass in Python waits: jobs that can never
    run are refused before. Anywhere else, it tells of a fault.

    Parameters
    ----------
    prepared
        The simulation.
    start, estimate
        int64 seconds, in order of submission: when jobs started (negative: not), and how long they are expected to run.
    """
    jobs = prepared.workload if prepared.spread is None else prepared.spread.given
    left = started(prepared.in_workload_order(start), prepared.spread) < 0
    if left.any():
        row = int(np.argmax(left))
        raise InputError(
            f"{count_of(int(np.count_nonzero(left)), 'job')} never started, the first is job {jobs.job_id[row]}: "
            f"{_why(prepared, start, estimate)}",
            row=row,
        )


def _why(prepared: Prepared, start: NDArray[np.int64], estimate: NDArray[np.int64]) -> str:
    """Return what keeps jobs from starting: a limit that one of them exceeds by itself, or nodes out of service."""
    limits = prepared.limits
    if limits is not None and prepared.spread is None:
        job = np.repeat(np.arange(len(start)), np.diff(limits.use_offset))
        used = limits.use_amount * np.where(limits.timed[limits.use_limit], estimate[job], 1)
        beyond = (start[job] < 0) & (used > limits.limit[limits.use_limit])
        if beyond.any():
            place = int(np.argmax(beyond))
            name = prepared.in_submission_order(prepared.workload.job_id)[job[place]]
            return (
                f"job {name}, expected to run for {estimate[job[place]]} s, is beyond a limit by itself "
                f"({limits.reason[limits.use_limit[place]]}): raise the limit, or let jobs whose requests fail be "
                "abandoned (exhausted=give-up)"
            )
        if limits.course is not None and (left := (start[job] < 0) & (limits.use_limit == limits.course.number)).any():
            row = job[int(np.argmax(left))]
            name = prepared.in_submission_order(prepared.workload.job_id)[row]
            return (
                f"the power cap is never high enough for as long as job {name} is expected to run, {estimate[row]} s: "
                "raise the cap, or let it be high for longer"
            )
    if isinstance(prepared.scheduler.policy, AgentPolicy):
        return "the agent waited until nothing could happen any more: train it on such jobs"
    if isinstance(prepared.scheduler.backfill, OwnPass):
        return f"the pass {prepared.scheduler.backfill.text} waited until nothing could happen any more"
    if prepared.outages is None:
        return "no pass started it while anything could happen, which is a fault of schedlab: please report the input"
    return "too few of the nodes or GPUs that went down came back: add up events"
