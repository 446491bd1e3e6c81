"""Jobs that wait for few leaf switches (`--switches=COUNT[@TIME]`) as numbers, for the engine and its reference.

While such a job waits for them, it has a request of its own in Slurm's passes: the same, with no more than so many leaf
switches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.columns import distinct
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    from schedlab.engine.machine.numbers import NodeInputs
    from schedlab.engine.parts.limits.numbers import LimitInputs
    from schedlab.engine.parts.reservations.numbers import BookingInputs

ANY_NUMBER = 1 << 62
"""The most leaf switches of a request that may have any number."""


class SwitchWaitInputs(NamedTuple):
    """Which jobs wait for few leaf switches.

    Parameters
    ----------
    wait
        int64, one per job in order of submission: for how many seconds; 0: it does not.
    bound, free
        int64, one per option: the request while the job waits for few switches, and the one after that.
    """

    wait: NDArray[np.int64]
    bound: NDArray[np.int64]
    free: NDArray[np.int64]


def with_switch_waits(
    nodes: NodeInputs,
    limits: LimitInputs | None,
    bookings: BookingInputs | None,
    workload: Workload,
    scheduler: Scheduler,
    order: NDArray[np.intp] | None,
) -> NodeInputs:
    """Return the nodes with the requests of jobs that wait for few switches, if nodes are chosen by these.

    Jobs of advance reservations do not wait. `order` is the workload's order of submission; None if it is sorted.
    """
    asked, passes = workload.resources, scheduler.backfill
    if nodes.topology is None or asked is None or not isinstance(passes, Slurm) or not asked.switches.any():
        return nodes
    own = np.where(asked.switch_wait > 0, asked.switch_wait, passes.switch_wait)
    wait = np.where(asked.switches > 0, np.minimum(own, passes.switch_wait), 0)
    most = asked.switches
    if order is not None:
        wait, most = wait[order], most[order]
    if bookings is not None:
        wait = np.where(bookings.of_job < 0, wait, 0)
    counts = np.ones(len(wait), dtype=np.int64) if limits is None else np.diff(limits.option_offset)
    free, job = nodes.shape if limits is None else limits.option_shape, np.repeat(np.arange(len(wait)), counts)
    waits = np.flatnonzero(wait[job] > 0)
    if len(waits) == 0:
        return nodes
    first, which = distinct(free[waits], most[job[waits]])
    copied, bound = free[waits][first], free.copy()
    bound[waits] = len(nodes.nodes) + which
    leaves = np.concatenate([np.full(len(nodes.nodes), ANY_NUMBER), most[job[waits]][first]])
    more: dict[str, Any] = {
        name: np.concatenate([getattr(nodes, name), getattr(nodes, name)[copied]])
        for name in nodes.of_request
        if getattr(nodes, name) is not None
    }
    return nodes._replace(**more, most_leaves=leaves, switch_waits=SwitchWaitInputs(wait, bound, free.copy()))
