"""What an agent that starts jobs observes of a simulation; the documentation of environments gives the formulas.

The compiled environments compute the same numbers (`schedlab.gym.stepping`); a test checks that they are equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER, SOONEST
from schedlab.engine.jobs.clock import FREE, NOW, SUBMITTED
from schedlab.engine.parts.dependencies.kernels import has_no_parent_left
from schedlab.engine.parts.outages.kernels import NEXT
from schedlab.engine.parts.requeues.kernels import HELD
from schedlab.engine.world import World
from schedlab.scheduler.agent_network import CONTEXT, JOB_FEATURES, LONG_WAIT, PROCESSORS, REQUEST, WAIT


def in_view(world: World, jobs: NDArray[np.int64], slots: int) -> NDArray[np.int64]:
    """Return the first waiting jobs in order of submission, at most `slots` of them."""
    submit = world.seen["submit"][jobs]
    visible: NDArray[np.int64] = jobs[np.lexsort((jobs, submit))][:slots]
    return visible


def nothing_to_come(world: World) -> bool:
    """Return whether nothing more happens by itself, so that waiting would never end.

    That is, whether no job runs or may begin again later, no node event is left, and no submission but of jobs that
    wait for others, which do not enter the queue with it.
    """
    state, outages = world.state, world.outages
    if outages is not None and outages.counters[NEXT] < len(outages.second):
        return False
    if world.requeues is not None and world.requeues.counters[HELD] > 0:
        return False
    if state.completions.status[SOONEST] != NEVER:
        return False
    return not any(
        has_no_parent_left(world.dependencies, job) for job in range(state.clock[SUBMITTED], len(world.jobs))
    )


def closed_to_all(world: World) -> NDArray[np.bool_] | None:
    """Return on which nodes no run may begin, None if that cannot be."""
    return None if world.outages is None else world.outages.closed > 0


def free_processors(world: World) -> int:
    """Return the processors that are free, on nodes that are open."""
    free, closed = int(world.state.clock[FREE]), closed_to_all(world)
    if closed is not None and world.nodes is not None:
        free -= int(world.nodes.now.free["cores"][closed].sum())
    return free


def jobs_shown(world: World, visible: NDArray[np.int64], processors: int, longest: int) -> NDArray[np.float32]:
    """Return the features of the visible jobs, float32 of shape (visible jobs, 8): their waits and their requests."""
    seen, now = world.seen, world.state.clock[NOW]
    shown = np.zeros((len(visible), len(JOB_FEATURES)), dtype=np.float32)
    shown[:, WAIT] = np.minimum((now - seen["submit"][visible]) / LONG_WAIT, 1.0)
    shown[:, REQUEST] = np.minimum(seen["estimate"][visible] / longest, 1)
    shown[:, PROCESSORS] = world.jobs["processors"][visible] / processors
    return shown


def summary_shown(world: World, waiting: NDArray[np.int64], processors: int, slots: int) -> NDArray[np.float32]:
    """Return the features of the machine and of all waiting jobs together, float32 of shape (6,)."""
    clock, seen, count = world.state.clock, world.seen, len(waiting)
    widths: NDArray[Any] = world.jobs["processors"][waiting]
    width = float(widths.sum()) / processors
    area = float(np.dot(widths.astype(np.float64), seen["estimate"][waiting])) / (float(processors) * LONG_WAIT)
    waited = float((clock[NOW] - seen["submit"][waiting]).sum()) / (max(count, 1) * LONG_WAIT)
    end = int(world.state.running.status[SOONEST])
    summary = np.empty(CONTEXT, dtype=np.float32)
    summary[0] = free_processors(world) / processors
    summary[1] = count / (count + slots)
    summary[2] = width / (1.0 + width)
    summary[3] = area / (1.0 + area)
    summary[4] = waited / (1.0 + waited)
    summary[5] = 1.0 if end == NEVER else min(max(end - int(clock[NOW]), 0) / LONG_WAIT, 1.0)
    return summary
