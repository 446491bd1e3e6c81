"""A simulation that begins in the middle, with jobs that run and jobs that wait; and run times that are learned later.

Jobs that have ended are not part of it. The jobs that run are started in the seconds in which they started in reality,
and no scheduling pass is made before the present second: its pass is the first one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.decisions.agent import AgentPlayer
from schedlab.engine.decisions.agent_view import startable
from schedlab.engine.decisions.by_hand import NO_BLOCKED, UNRESERVED, start_by_hand
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
from schedlab.engine.prepared import Prepared
from schedlab.engine.slurm.state import FULL_DUE, LOOK_AGAIN, MAIN_DUE, Passes
from schedlab.errors import InputError
from schedlab.kernels import bare_kernel, inlined
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    from schedlab.engine.world import World


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


def bring_to(driver: Driver, start: NDArray[np.int64], now: int) -> None:
    """Bring a simulation before its first event into a state; the pass of the present second is still to come.

    Parameters
    ----------
    driver
        The simulation, which returns before its passes.
    start
        int64 seconds, in order of submission: when each job started, -1 for those that wait.
    now
        The present second.

    Raises
    ------
    InputError
        If the jobs that run do not fit the machine together, or if an agent or a pass in Python schedules.
    """
    if driver.player is not None:
        who = "an agent" if isinstance(driver.player, AgentPlayer) else "a pass in Python"
        raise InputError(f"{who} that schedules cannot begin in the middle: it has seen nothing of the past")
    running = np.flatnonzero(start >= 0)
    for job in running[np.argsort(start[running], kind="stable")].tolist():
        _let_submit(driver, int(start[job]))
        if not startable(driver.world, np.array([job]))[0]:
            raise InputError(
                f"job {_name(driver.prepared, job)} cannot run since second {start[job]}: it does not fit beside the "
                "other running jobs, or a limit forbids it"
            )
        start_by_hand(driver.world, job, UNRESERVED, NO_BLOCKED)
    _let_submit(driver, now)
    clock = driver.world.state.clock
    clock[COMPLETED] = clock[ARRIVED] = clock[ENTERING] = clock[CHANGES] = 0
    clock[LEFT], clock[STAGE] = UNKNOWN, LET_IN
    _let_passes_be_due(driver.world.plan, now)
    clock[CORRECTED] = 1  # a pass follows, in which a plan with reservations begins with the running jobs


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


@bare_kernel
def let_last(world: World, who: NDArray[np.int64], seconds: NDArray[np.int64]) -> None:
    """Let jobs that have not ended run for so many seconds in all; those that run end after the present second."""
    for i in range(who.shape[0]):
        job, duration = who[i], seconds[i]
        if world.retries is not None:
            world.retries.work[job] = duration
            if world.state.start[job] >= 0:
                duration = min(duration, world.retries.runs[world.retries.run[job]].request)
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
