"""When Slurm's backfill passes rest: after a pass that has changed nothing, the next one waits for the next change.

A pass in which jobs have started is followed by another one, and so is one that reserves nodes on which nothing runs:
they are marked as planned, which is a change to Slurm. That the next pass removes the marks is one, too, also if it
makes no others and no job waits any longer. Where several jobs wait, there is a change in every minute or in every pass
as a rule: the main pass notes that it passes over those behind the first of a partition, and the backfill pass that it
reserves behind other reservations. A single job that is to start on nodes on each of which something runs changes
nothing, and neither do jobs at limits. Nor do several on nodes beside each other, but for the main passes of full
minutes.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.het_order import own_score
from schedlab.engine.hetjobs import is_component
from schedlab.engine.needs import UNKNOWN, Needs, is_ready
from schedlab.engine.node_state import PICKED, Nodes
from schedlab.engine.outages import have_closures
from schedlab.engine.profile import Profile, free_at
from schedlab.engine.queue_list import QueueList
from schedlab.engine.rivals import has_rivals
from schedlab.engine.rules import Rules
from schedlab.engine.slots import ends_exactly
from schedlab.engine.slurm_plan import expect_ends, is_full, reserve
from schedlab.engine.slurm_search import planned_slot
from schedlab.engine.slurm_timing import (
    ALONE,
    AWAKE,
    BEHIND,
    BESIDE,
    FEW,
    IDLE,
    PLANS,
    Passes,
    clear_steps,
    is_minor,
    is_never_looked_at,
    is_young,
    looks_at,
)
from schedlab.engine.state import FREE, NOW, State, by_itself_within_limits
from schedlab.engine.turns import entry_of, option_of, turns_of
from schedlab.kernels import inlined, inner_kernel

MOST = 8
"""Jobs among which passes may rest; of more, one is planned behind the reservation of another as a rule."""


@inner_kernel
def rest_after(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    queue: QueueList,
    passes: Passes,
    needs: Needs | None,
    rules: Rules,
) -> tuple[int, bool]:
    """Return how backfill passes rest after one, unless it starts a job, and whether few jobs wait; asked before it.

    Tasks of workflows with one place in the queue, which Slurm does not know, keep the passes going.
    """
    if rules.interval == 0:
        return AWAKE, False
    beside = ends_exactly(state.nodes, rules.interval) and not has_rivals(state.rivals)
    able, most = 0, min(MOST, rules.depth) if beside else 1
    for i in range(queue.length[0]):
        job = queue.order[i]
        if not is_ready(needs, job):
            return AWAKE, False
        if by_itself_within_limits(jobs, state, job):
            able += 1
            if able > most or is_component(state.hets, job):
                return AWAKE, False
    if able > 0 and (have_closures(state.nodes, state.clock[NOW]) or _changes(jobs, seen, state, queue, passes, rules)):
        return AWAKE, True
    return BESIDE if able > 1 else ALONE, True


@inlined
def note_idle(passes: Passes, jobs: NDArray[Any], state: State, job: int, begins: int) -> None:
    """Note whether nodes that are to be reserved are idle now, if few jobs wait."""
    if passes.counters[FEW]:
        busy = _are_busy(state.nodes, passes.profile, jobs, state, job, begins)
        passes.counters[IDLE] = max(passes.counters[IDLE], not busy)


@inner_kernel
def _changes(
    jobs: NDArray[Any], seen: NDArray[Any], state: State, queue: QueueList, passes: Passes, rules: Rules
) -> bool:
    """Return whether a pass reserves nodes that are idle now, or for a job that begins when a reservation ends."""
    now, reserved = state.clock[NOW], 0
    expect_ends(state, passes, rules)
    clear_steps(passes)
    for i in range(queue.length[0]):
        job = queue.order[i]
        if not by_itself_within_limits(jobs, state, job):
            continue
        quiet = (
            reserved >= rules.reserve
            or is_young(seen, rules, job, now)
            or is_minor(own_score(state.hets, queue, job), rules)
        )
        mine = 0
        for turn in range(turns_of(state.site, state, job)):
            entry = entry_of(state.site, job, turn)
            if (
                not looks_at(passes.planning, -1 - passes.counters[PLANS], entry)  # no pass has that number
                or quiet
                or (mine > 0 and rules.one_each)
                or is_never_looked_at(passes.reserving, entry)
            ):
                continue
            passes.counters[BEHIND] = 0
            begins = planned_slot(passes, jobs, state, rules, job, option_of(state.site, state, job, turn), now)
            if begins == now:
                return True
            if UNKNOWN != begins <= now + rules.horizon:
                busy = _are_busy(state.nodes, passes.profile, jobs, state, job, begins)
                if passes.counters[BEHIND] > 0 or not busy:
                    return True
                if is_full(passes, rules):
                    return False
                mine = 1
                reserve(state.nodes, passes, begins, begins + jobs[job].estimate, jobs[job].processors, now, rules)
        reserved += mine
    return False


@inlined
def _are_busy(nodes: Nodes | None, profile: Profile, jobs: NDArray[Any], state: State, job: int, begins: int) -> bool:
    """Return whether runs are on all nodes that were chosen last; of processors, those that become free go first."""
    if nodes is not None:
        idle = False
        for i in range(nodes.counters[PICKED]):
            node = nodes.notes[i].picked
            idle = idle or nodes.now.free[node].cores == nodes.machine.nodes[node].cores
        return not idle
    return jobs[job].processors <= free_at(profile, begins) - state.clock[FREE]
