"""Whether jobs are preempted for ever, found out from the log of runs, and the error message that says so.

A preempted run loses its work, so that preemption need not come to an end: a job that has cleared a place does not get
it if another one stands before it in the queue, and that one may have to give way in turn. Slurm would go on, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.schedule.runs import PREEMPTED

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared

PATIENCE = 10_000
"""How often a job must have been preempted to count as preempted for ever: with Slurm's delay, in two weeks or more."""

NAMED = 5
"""How many jobs are named."""


def refuse_endless(prepared: Prepared, runs: NDArray[Any]) -> None:
    """Raise InputError if jobs are preempted for ever.

    That is so if a job has been preempted `PATIENCE` times since anything else last happened (a run was done or failed,
    a job was submitted, a node changed), longer ago than the longest job runs: who was left alone has ended since.

    Parameters
    ----------
    prepared
        The simulation.
    runs
        Records of type RUN: all runs so far; the end of those that still run is negative.
    """
    preempted = (runs["cause"] == PREEMPTED) & (runs["end"] >= 0)
    quiet_since = max(
        int(prepared.workload.submit_time.max(initial=0)),
        0 if prepared.outages is None else int(prepared.outages.second.max(initial=0)),
        int(runs["end"][~preempted].max(initial=0)),
    )
    in_vain = runs[preempted & (runs["end"] > quiet_since)]
    times = np.bincount(in_vain["job"], minlength=1)
    longest = int(prepared.workload.run_time.max(initial=0))
    if times.max() < PATIENCE or int(in_vain["end"].max()) - quiet_since <= longest:
        return
    often = np.flatnonzero(times >= PATIENCE // 2)
    names = [_named(prepared, int(job)) for job in often[:NAMED]]
    raise InputError(
        f"preemption never ends: {', '.join(names)}{' and others' if len(often) > NAMED else ''} gave way again and "
        f"again, more than {PATIENCE:,} times since second {quiet_since}, while no job ended and nothing else "
        "happened: let jobs that preempt stand before those that give way in the queue, or set a longer exempt_time"
    )


def _named(prepared: Prepared, job: int) -> str:
    """Return the id of a job, in order of submission, with its QOS and its partition."""
    row = job if prepared.order is None else int(prepared.order[job])
    resources = prepared.workload.resources
    labels = {} if resources is None else {"QOS": resources.qos, "partition": resources.partition}
    said = ", ".join(f"{what} {one.names[one.codes[row]]}" for what, one in labels.items() if one.codes[row] >= 0)
    name = f"job {prepared.workload.job_id[row]}"
    return f"{name} ({said})" if said else name
