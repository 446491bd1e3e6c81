"""The plan of Slurm's backfill pass: what running jobs leave free, and reservations on it. It lasts for one pass.

Running jobs hold their processors until they end, and a reservation holds those that it will use: where its begin is
rounded down, it takes, before its actual begin, only what the jobs that end until then do not hold themselves. Ends of
running jobs are grouped, the more coarsely the later they are, and a job that starts now must end before
reservations begin, not when they begin. Slurm 22.05 behaves this way (conformance/slurm-by-hand.json). With
`interval=0` the pass is the textbook one instead: exact ends, and a job may end when a reservation begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import NEVER, next_place, record_at
from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.parts.dependencies.kernels import NO_SECOND
from schedlab.engine.parts.preemption.in_plan import note_ends
from schedlab.engine.passes.plan_slots import changes_at, ends_exactly, keep_slot, note_group, plan_group, plan_nothing
from schedlab.engine.slurm.groups import begin_groups, leave_group, open_group
from schedlab.engine.slurm.plan_records import add_step, drop_step, is_step, place_of_step
from schedlab.engine.slurm.runs_on_cohorts import forget_cohorts
from schedlab.engine.slurm.state import (
    BACKFILL_PASSES,
    EMPTY_FIRST_RECORD,
    LISTED_AT,
    RECORDS,
    STEPS,
    STEPS_CHANGE,
    TWICE,
    Passes,
)
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.rules import Rules
    from schedlab.engine.world import World


@inner_kernel
def expect_ends(world: World) -> int:
    """Make a plan of the running jobs alone; return the first second in which one of them could be late.

    A late job holds its processors, and is expected to end in the next second.
    """
    running, now, strict = world.state.running, world.state.clock[NOW], 1 if world.rules.interval > 0 else 0
    plan_nothing(world, world.state.clock[FREE], strict)
    exactly, late, ends = ends_exactly(world), NEVER, NO_SECOND
    freed = together = 0
    world.plan.counters[LISTED_AT] = -1
    forget_cohorts(world)
    groups = world.plan.groups[0]
    begin_groups(groups, running, now)
    while groups.place >= 0:
        record = record_at(running, groups.place)
        groups.place = next_place(running, groups.place)
        end, overdue = max(record.end, now + strict), record.end <= now
        if overdue:
            late = now + 1
        elif late == NEVER:
            late = max(now + 1, end - 1) if exactly else end  # one that ends in the next second is by itself
        if overdue or exactly or not world.rules.grouped:
            closed = end != ends
        else:
            closed = open_group(groups, world.rules, end) or leave_group(groups, world.rules, end)
        if closed:
            _plan_group(world, freed, together, ends)
            freed = together = 0
        ends = end
        freed += record.processors
        note_group(world, together, record.job)
        together += 1
    _plan_group(world, freed, together, ends)
    return late


@inlined
def _plan_group(world: World, freed: int, together: int, ends: int) -> None:
    """Put a group of runs that are expected to end together into the plan; none if they hold no processors."""
    if freed > 0:
        plan_group(world, freed, together, ends)
        note_ends(world, world.plan.planned_end, together, ends)


@inlined
def plan_is_full(world: World) -> bool:
    """Return whether the plan has had as many records as it may have; a pass ends with the next reservation then."""
    return world.rules.plan_size > 0 and world.plan.counters[RECORDS] >= world.rules.plan_size


@inlined
def reserve(world: World, begins: int, ends: int, processors: int, now: int) -> None:
    """Reserve between two seconds that are rounded down; before the actual begin, jobs that end keep their resources.

    Where jobs share nodes, whole nodes are reserved: more than is free, if other jobs run there. Nothing is reserved
    from where the plan ends on, as for a job that waits for one with the longest limit that has just started.
    """
    counters = world.plan.counters
    if world.rules.shared > 0:
        processors = -(-processors // world.rules.shared) * world.rules.shared
    floor, ends = rounded(world.rules, begins, ends)
    if floor >= end_of_plan(world.rules, now):
        return
    floor, meets = max(now, floor), False
    if world.rules.plan_size > 0 or ends_exactly(world):
        if floor > now:
            meets = add_step(world.plan, floor)
            counters[STEPS_CHANGE] = min(counters[STEPS_CHANGE], floor)
        elif counters[EMPTY_FIRST_RECORD] == 0:
            counters[EMPTY_FIRST_RECORD] = 1
            counters[RECORDS] += 1
        if ends < end_of_plan(world.rules, now):
            meets = add_step(world.plan, ends) or meets
        else:
            counters[STEPS_CHANGE] = min(counters[STEPS_CHANGE], enters_plan(world.rules, ends))
    keep_slot(world, processors, floor, begins, ends)
    if (meets or counters[TWICE]) and ends_exactly(world):
        _join_records(world, floor, ends)


@inner_kernel
def _join_records(world: World, floor: int, ends: int) -> None:
    """Join the first two neighbouring records with the same reserved nodes at or within a reservation, if any.

    These are those beside its begin or its end; both if its length is rounded up, and then one of them remains.
    """
    counters, place = world.plan.counters, place_of_step(world.plan, floor)
    while place < counters[STEPS] and world.plan.steps[place] <= ends:
        edge = world.plan.steps[place] == floor or world.plan.steps[place] == ends
        if (edge or counters[TWICE]) and not changes_at(world, world.plan.steps[place]):
            drop_step(world.plan, place)
            if is_step(world.plan, ends) and not changes_at(world, ends):
                counters[TWICE] = 1
            return
        place += 1


@inlined
def rounded(rules: Rules, begins: int, ends: int) -> tuple[int, int]:
    """Return between which seconds a reservation stands in the plan."""
    floor, ends = rounded_down(rules, begins), rounded_down(rules, ends)
    return floor, max(ends, floor + rules.resolution) if rules.interval > 0 else ends


@inlined
def rounded_down(rules: Rules, second: int) -> int:
    """Return the last multiple of the resolution up to a second."""
    return second - (second - rules.origin) % rules.resolution


@inlined
def end_of_plan(rules: Rules, now: int) -> int:
    """Return where a plan ends, rounded down like all that stands in it; that of the textbook has no end."""
    return rounded_down(rules, now) + rules.horizon if rules.interval > 0 else NEVER


@inlined
def enters_plan(rules: Rules, second: int) -> int:
    """Return the first second whose plan ends behind another one, which is rounded down."""
    return rounded_down(rules, second - rules.horizon) + rules.resolution


@inlined
def changes_by_itself(rules: Rules, begins: int, now: int) -> int:
    """Return when a pass may decide otherwise of a planned job: when its reservation enters the plan, or begins."""
    if begins > now + rules.horizon:
        return begins - rules.horizon
    floor = rounded_down(rules, begins)
    return begins if floor < end_of_plan(rules, now) else enters_plan(rules, floor)


@inlined
def note(passes: Passes, job: int, begins: int, ends: int) -> None:
    passes.begins[job] = begins
    passes.planned_end[job] = ends
    passes.planned_in[job] = passes.counters[BACKFILL_PASSES]
