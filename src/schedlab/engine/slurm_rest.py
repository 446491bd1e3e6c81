"""When Slurm's backfill passes rest: after a pass that has changed nothing, the next one waits for the next change.

A pass in which jobs have started is followed by another one, and so is one that reserves nodes that are idle, or idle
in part: they are marked as planned, which is a change to Slurm. Where several jobs wait, there is a change in every
minute or in every pass as a rule: the main pass notes that it passes over those behind the first of a partition, and
the backfill pass that it reserves behind other reservations. A single job that is to start on nodes that others hold
completely changes nothing, and neither do jobs at limits.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.hetjobs import is_component
from schedlab.engine.needs import UNKNOWN, Needs, is_ready
from schedlab.engine.node_state import PICKED, Nodes
from schedlab.engine.outages import have_closures
from schedlab.engine.profile import Profile, free_at
from schedlab.engine.queue import NONE
from schedlab.engine.queue_list import QueueList
from schedlab.engine.rules import Rules
from schedlab.engine.slurm_plan import expect_ends
from schedlab.engine.slurm_search import planned_slot
from schedlab.engine.slurm_timing import STEPS, Passes, is_minor, is_never_looked_at, is_young
from schedlab.engine.state import FREE, NOW, State, by_itself_within_limits
from schedlab.engine.turns import entry_of, option_of, turns_of
from schedlab.kernels import inlined, inner_kernel


@inner_kernel
def changes_nothing(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    queue: QueueList,
    passes: Passes,
    needs: Needs | None,
    rules: Rules,
) -> bool:
    """Return whether a backfill pass changes nothing, unless it starts a job; asked before the pass.

    Tasks of workflows with one place in the queue, which Slurm does not know, keep the passes going.
    """
    alone = NONE
    for i in range(queue.length[0]):
        job = queue.order[i]
        if not is_ready(needs, job):
            return False
        if by_itself_within_limits(jobs, state, job):
            if alone != NONE:
                return False
            alone = job
    if alone == NONE:
        return True
    if is_component(state.hets, alone) or have_closures(state.nodes, state.clock[NOW]):
        return False
    return _waits_for_busy_nodes(jobs, seen, state, queue, passes, rules, alone)


@inner_kernel
def _waits_for_busy_nodes(
    jobs: NDArray[Any], seen: NDArray[Any], state: State, queue: QueueList, passes: Passes, rules: Rules, job: int
) -> bool:
    """Return whether all that a pass reserves for the only job of the queue is held by others until then."""
    now = state.clock[NOW]
    if rules.reserve == 0 or is_young(seen, rules, job, now) or is_minor(queue.score, rules, job):
        return True
    expect_ends(state, passes, rules)
    passes.counters[STEPS] = 0
    for turn in range(turns_of(state.site, state, job)):
        if is_never_looked_at(passes.reserving, entry_of(state.site, job, turn)):
            continue
        option = option_of(state.site, state, job, turn)
        begins = planned_slot(passes, jobs, state, rules, job, option, now)
        if begins == now:
            return False
        if UNKNOWN != begins <= now + rules.horizon and not _are_busy(
            state.nodes, passes.profile, jobs, state, job, begins
        ):
            return False
    return True


@inlined
def _are_busy(nodes: Nodes | None, profile: Profile, jobs: NDArray[Any], state: State, job: int, begins: int) -> bool:
    """Return whether others hold the nodes that were chosen last; of processors, those that become free go first."""
    if nodes is not None:
        idle = False
        for i in range(nodes.counters[PICKED]):
            idle = idle or nodes.now.free[nodes.notes[i].picked].cores > 0
        return not idle
    return jobs[job].processors <= free_at(profile, begins) - state.clock[FREE]
