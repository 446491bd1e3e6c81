"""A simulation that begins in the middle, with jobs that run and jobs that wait; and run times that are learned later.

Jobs that have ended are not part of it. The jobs that run are started in the seconds in which they started in reality,
and no scheduling pass is made before the present second: its pass is the first one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.decisions.agent import AgentPlayer
from schedlab.engine.decisions.by_hand import start_on_nodes
from schedlab.engine.decisions.starts import Starts
from schedlab.engine.driver import Driver
from schedlab.engine.jobs.calendar import NEVER, add, discard
from schedlab.engine.jobs.clock import (
    ARRIVED,
    CHANGES,
    COMPLETED,
    CORRECTED,
    ENTERING,
    LEFT,
    NOW,
    STAGE,
    TICK,
    WATCHED,
)
from schedlab.engine.jobs.state import UNKNOWN
from schedlab.engine.loop import ASK, LET_IN, LET_TIME_PASS
from schedlab.engine.machine.state import order_of
from schedlab.engine.parts.priority.shares import weighed
from schedlab.engine.parts.retries.kernels import longest_of_run
from schedlab.engine.prepared import Prepared
from schedlab.engine.slurm.state import FULL_DUE, LOOK_AGAIN, MAIN_DUE, Passes
from schedlab.engine.steps.priority_factors import priorities_of
from schedlab.errors import InputError
from schedlab.kernels import bare_kernel, inlined, settled
from schedlab.permutations import inverse
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    from schedlab.engine.parts.priority.associations import Associations
    from schedlab.engine.world import World
    from schedlab.schedule.placement import Placement


def check_state(workload: Workload, start_time: NDArray[np.int64], now: int) -> None:
    """Raise InputError if jobs cannot be in this state at a second: rows of the workload, -1 for those that wait."""
    if start_time.shape != (len(workload),):
        raise InputError(f"start_time has shape {start_time.shape}: give one second per job, -1 for those that wait")
    runs = start_time >= 0
    for bad, what in (
        (workload.submit_time > now, f"is submitted after second {now}"),
        (start_time > now, f"starts after second {now}"),
        (runs & (start_time < workload.submit_time), "starts before it is submitted"),
        (runs & (start_time + workload.run_time <= now), f"has ended by second {now}: leave it out"),
    ):
        if bool(bad.any()):
            row = int(np.argmax(bad))
            raise InputError(f"job {workload.job_id[row]} {what}", row=row)


class Seen(NamedTuple):
    """What was seen of a state besides the starts of its jobs; None: nothing.

    Parameters
    ----------
    placement
        The nodes of each job, in the workload's order; none of those that wait.
    priority
        float64, in the workload's order: the priorities of waiting jobs, NaN where they are unknown.
    usage
        The decayed usage of users in accounts, in processor-seconds, as `sshare` has it.
    """

    placement: Placement | None = None
    priority: NDArray[np.float64] | None = None
    usage: Mapping[tuple[str, str], float] | None = None


def bring_to(driver: Driver, start: NDArray[np.int64], now: int, seen: Seen) -> None:
    """Bring a simulation before its first event into a state; the pass of the present second is still to come.

    Parameters
    ----------
    driver
        The simulation, which returns before its passes.
    start
        int64 seconds, in order of submission: when each job started, -1 for those that wait.
    now
        The present second.
    seen
        What else is known of it.

    Raises
    ------
    InputError
        If the jobs that run do not fit the machine together and their nodes are unknown, or if an agent or a pass in
        Python schedules.
    """
    if driver.player is not None:
        who = "an agent" if isinstance(driver.player, AgentPlayer) else "a pass in Python"
        raise InputError(f"{who} that schedules cannot begin in the middle: it has seen nothing of the past")
    running = np.flatnonzero(start >= 0)
    placed = None if seen.placement is None else _Placed(driver.prepared, seen.placement)
    starts, place = Starts(), settled(start_on_nodes)
    for job in running[np.argsort(start[running], kind="stable")].tolist():
        _let_submit(driver, int(start[job]))
        if placed is not None:
            place(driver.world, job, *placed.of(job))
            continue
        if not starts.possible(driver.world, np.array([job]))[0]:
            raise InputError(
                f"job {_name(driver.prepared, job)} cannot run since second {start[job]}: it does not fit beside the "
                "other running jobs, or a limit forbids it"
            )
        starts.start(driver.world, job)
    _let_submit(driver, now)
    clock = driver.world.state.clock
    clock[COMPLETED] = clock[ARRIVED] = clock[ENTERING] = clock[CHANGES] = 0
    clock[LEFT], clock[STAGE] = UNKNOWN, LET_IN
    _let_passes_be_due(driver.world.plan, now)
    clock[CORRECTED] = 1  # a pass follows, in which a plan with reservations begins with the running jobs
    if driver.world.priority is not None:
        _order_as_seen(driver, now, seen)


class _Placed:
    """The nodes of running jobs, as the engine numbers jobs and nodes."""

    def __init__(self, prepared: Prepared, placement: Placement) -> None:
        inputs = prepared.nodes
        if inputs is None:
            raise InputError("the machine has no nodes on which jobs could be placed")
        place = {inputs.names[row]: number for number, row in enumerate(order_of(inputs).tolist())}
        if unknown := [name for name in placement.nodes if name not in place]:
            raise InputError(f"the cluster has no node {unknown[0]}")
        self._number = np.array([place[name] for name in placement.nodes], dtype=np.int64)
        self._rows = np.arange(len(prepared.jobs)) if prepared.order is None else prepared.order
        self._placement = placement

    def of(self, job: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the nodes of a job, and the cores that it holds on each."""
        placement, row = self._placement, self._rows[job]
        part = slice(int(placement.offsets[row]), int(placement.offsets[row + 1]))
        return self._number[placement.node[part]], np.ascontiguousarray(placement.held_cores[part])


def _order_as_seen(driver: Driver, now: int, seen: Seen) -> None:
    """Let usage and priorities be what was seen, and the order of the queue be computed with them in the next pass.

    What the model lacks of the priority of a job (a nice value, a factor of the site) is added for good.
    """
    priority, prepared = driver.world.priority, driver.prepared
    priority.last[0] = (now // priority.period - 1) * priority.period
    if seen.usage is not None and prepared.associations is not None:
        priority.shares.usage[:] = _usage_of(prepared.associations, seen.usage)
        priority.shares.recent[:] = 0.0
        weighed(priority.shares)
    found = None if seen.priority is None else priorities_of(prepared, driver.world, now)
    if found is not None and seen.priority is not None:
        jobs = found.row if prepared.order is None else inverse(prepared.order)[found.row]
        lacking = seen.priority[found.row] - found.priority
        priority.beside[jobs] = np.where(np.isnan(lacking), 0.0, lacking)


def _usage_of(who: Associations, usage: Mapping[tuple[str, str], float]) -> NDArray[np.float64]:
    """Return the usage of each association: that of users, and of accounts all that of the users below."""
    found = np.array([usage.get((user, account), 0.0) if user else 0.0 for user, account, _ in who.names])
    for one in range(len(found) - 1, 0, -1):  # parents precede
        found[who.parent[one]] += found[one]
    return found


def _let_submit(driver: Driver, second: int) -> None:
    """Advance to a second: jobs are submitted, and no pass is made."""
    clock = driver.world.state.clock
    while driver.advance(second) == ASK:
        _let_passes_be_due(driver.world.plan, NEVER)
        clock[STAGE] = LET_TIME_PASS
    clock[NOW] = second


def _let_passes_be_due(plan: object, second: int) -> None:
    """Let Slurm's passes be due from a second on; one that is skipped would be due for ever."""
    if isinstance(plan, Passes):
        plan.counters[[MAIN_DUE, FULL_DUE, LOOK_AGAIN]] = second


def _name(prepared: Prepared, job: int) -> int:
    return int(prepared.column("job_id")[job])


def let_last(world: World, who: NDArray[np.int64], seconds: NDArray[np.int64]) -> None:
    """Let jobs that have not ended run for so many seconds in all; those that run end after the present second.

    Raises
    ------
    InputError
        If passes may resize jobs.
    """
    if world.malleable is not None:
        raise InputError("run times of malleable jobs are those of their sizes: give others as alternatives")
    _let_last(world, who, seconds)


@bare_kernel
def _let_last(world: World, who: NDArray[np.int64], seconds: NDArray[np.int64]) -> None:
    for i in range(who.shape[0]):
        job, duration = who[i], seconds[i]
        if world.retries is not None:
            world.retries.work[job] = duration
            if world.state.start[job] >= 0:
                duration = min(duration, longest_of_run(world.retries, job))
        world.jobs[job].duration = duration
        if world.state.start[job] >= 0:
            _end_later(world, job)


@inlined
def _end_later(world: World, job: int) -> None:
    """Move the end of a running job to where its run time says."""
    clock, state, start = world.state.clock, world.state, world.state.start[job]
    processors, expected = world.jobs[job].processors, world.state.start[job] + world.jobs[job].estimate
    discard(state.completions, state.noticed[job], job)
    state.noticed[job] = start + world.jobs[job].duration + clock[TICK]
    add(state.completions, state.noticed[job], job, processors)
    if clock[WATCHED]:
        discard(state.alarms, expected, job)
        if clock[NOW] < expected < state.noticed[job]:
            add(state.alarms, expected, job, processors)
