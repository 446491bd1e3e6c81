"""Suspension: runs stand still while jobs of partitions of a higher tier use their cores.

To a job of a higher tier, the cores of such runs count as free: first those of the lowest tier alone, then those of
the next one too, and so on until it fits; the rule of placement then chooses among all nodes. To all other jobs, a run
holds what it holds, suspended or not. So more cores of a node may be held than there are: fewer than none are free
then, now and in all plans, and none but jobs of a higher tier start there. Memory and GPUs are never held twice.

After each such start, and after each end while any run is suspended, it is found out anew which runs go on: tier after
tier from the highest, those that run in the order of their starts, then those that are suspended, each if its cores are
free on all its nodes. A job's nodes decide, not its cores: which cores of a node a run has is not known.

References
----------
Slurm's select/cons_tres and its gang scheduler, version 22.05, observed (conformance/slurm-preemption.json).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER, add, discard, latest_place, record_at, sooner_place
from schedlab.engine.jobs.clock import COMPLETED, FREE, NOW, WATCHED
from schedlab.engine.machine.nodes import let_differ, note_change
from schedlab.engine.machine.numbers import ALONE, UNLIMITED
from schedlab.engine.machine.state import Nodes
from schedlab.engine.machine.timeline import lend
from schedlab.engine.parts.preemption.state import PAUSES, SUSPENDED, class_of_run
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

FAR = NEVER >> 1
"""When a suspended run would be over: later than anything that happens."""


@inlined
def resume(world: World) -> None:
    """After the ends of a second: resume the runs whose cores are free again."""
    if world.preemption.counters[SUSPENDED] > 0 and world.state.clock[COMPLETED] > 0:
        settle(world)


@inlined
def wake(world: World, job: int) -> None:
    """Resume a run that is broken off, if it was suspended."""
    if world.preemption.suspended[job]:
        go_on(world, job)


@inlined
def suspend_others(world: World) -> None:
    """After a start in place of others: suspend the runs that are in its way."""
    if world.preemption is not None:
        settle(world)


@inner_kernel
def settle(world: World) -> None:
    """Find out which runs go on, and suspend and resume them."""
    running, who, used = world.state.running, world.preemption.who, world.preemption.used
    used[:] = 0
    count = 0
    place = latest_place(running)
    while place >= 0:
        job = record_at(running, place).job
        place = sooner_place(running, place)
        its_class = class_of_run(world, job)
        if not world.preemption.suspends[its_class]:
            _use(world.nodes, used, job)
            continue
        k = count
        while k > 0 and _comes_before(world, job, who[k - 1]):
            who[k] = who[k - 1]
            k -= 1
        who[k] = job
        count += 1
    for i in range(count):
        job = who[i]
        if _is_free(world.nodes, used, job):
            _use(world.nodes, used, job)
            if world.preemption.suspended[job]:
                go_on(world, job)
        elif not world.preemption.suspended[job]:
            stand_still(world, job)


@inlined
def _comes_before(world: World, one: int, other: int) -> bool:
    of_one = world.preemption.rank[class_of_run(world, one)]
    of_other = world.preemption.rank[class_of_run(world, other)]
    if of_one != of_other:
        return of_one > of_other
    if world.preemption.suspended[one] != world.preemption.suspended[other]:
        return world.preemption.suspended[other]
    return world.nodes.run[one] < world.nodes.run[other]


@inlined
def cores_at(nodes: Nodes, entry: int) -> int:
    """Return the cores that a run holds at one place of the log."""
    held = nodes.places[entry]
    asked = nodes.machine.requests[held.request]
    return nodes.machine.nodes[held.node].cores if asked.exclusive > 0 else held.tasks * asked.task_cores


@inlined
def _use(nodes: Nodes, used: NDArray[np.int64], job: int) -> None:
    run = nodes.run[job]
    for entry in range(nodes.offsets[run], nodes.offsets[run + 1]):
        used[nodes.places[entry].node] += cores_at(nodes, entry)


@inlined
def _is_free(nodes: Nodes, used: NDArray[np.int64], job: int) -> bool:
    run, free = nodes.run[job], True
    for entry in range(nodes.offsets[run], nodes.offsets[run + 1]):
        node = nodes.places[entry].node
        free = free and used[node] + cores_at(nodes, entry) <= nodes.machine.nodes[node].cores
    return free


@inlined
def keeps_nothing(nodes: Nodes, entry: int) -> bool:
    """Return whether a suspended run keeps neither memory nor GPUs at one place of the log."""
    held = nodes.places[entry]
    asked, there = nodes.machine.requests[held.request], nodes.machine.nodes[held.node]
    if asked.exclusive > 0:
        return there.memory == UNLIMITED and held.bits == 0
    return asked.node_memory + held.tasks * asked.task_memory == 0 and held.bits == 0


@inlined
def runs_at(nodes: Nodes, entry: int) -> int:
    """Return what one run counts on a node, less what it counts there while it is suspended."""
    if not keeps_nothing(nodes, entry):
        return 0
    return ALONE if nodes.machine.requests[nodes.places[entry].request].exclusive > 0 else 1


@inner_kernel
def hide(nodes: Nodes, job: int, sign: int) -> None:
    """Release in the view what others may use while a run is suspended (sign 1), or take it again (sign -1)."""
    run, free = nodes.run[job], nodes.later.free
    for entry in range(nodes.offsets[run], nodes.offsets[run + 1]):
        node = nodes.places[entry].node
        let_differ(nodes, node)
        free[node].cores += sign * cores_at(nodes, entry)
        free[node].runs -= sign * runs_at(nodes, entry)


@inner_kernel
def hide_in_plan(nodes: Nodes, job: int, now: int, until: int, sign: int) -> None:
    """Release what others may use while a run is suspended in the plan and at present (sign 1), or take it again."""
    run, free = nodes.run[job], nodes.now.free
    for entry in range(nodes.offsets[run], nodes.offsets[run + 1]):
        node, cores, runs = nodes.places[entry].node, sign * cores_at(nodes, entry), sign * runs_at(nodes, entry)
        free[node].cores += cores
        free[node].runs -= runs
        lend(nodes.ahead, node, cores, runs, now, until)


@inlined
def may_suspend(world: World, option: int, job: int) -> bool:
    """Return whether a job in one of its partitions may suspend a run."""
    its_class = class_of_run(world, job)
    exempt = world.preemption.exempt[its_class]
    left_alone = exempt > 0 and world.state.clock[NOW] - world.state.start[job] <= exempt
    may = world.preemption.may[world.preemption.of_option[option], its_class]
    return world.preemption.suspends[its_class] and may and not left_alone


@inner_kernel
def next_tier(world: World, option: int, above: int) -> int:
    """Return the lowest tier above another one of runs that a job may suspend; NEVER if there is none."""
    running, lowest = world.state.running, NEVER
    place = latest_place(running)
    while place >= 0:
        job = record_at(running, place).job
        place = sooner_place(running, place)
        tier = world.preemption.rank[class_of_run(world, job)]
        if above < tier < lowest and may_suspend(world, option, job):
            lowest = tier
    return lowest


@inner_kernel
def list_tiers(world: World, option: int, least: int, most: int) -> int:
    """List the runs of tiers from one to another that a job may suspend; return how many there are."""
    running, count = world.state.running, 0
    place = latest_place(running)
    while place >= 0:
        job = record_at(running, place).job
        place = sooner_place(running, place)
        tier = world.preemption.rank[class_of_run(world, job)]
        if least <= tier <= most and may_suspend(world, option, job):
            world.preemption.lenders[count] = job
            count += 1
    return count


@inner_kernel
def hide_all(world: World, option: int, sign: int) -> None:
    """Release in the view what a job may use of all runs that it may suspend (sign 1), or take it again (sign -1)."""
    for i in range(list_tiers(world, option, -NEVER, NEVER)):
        hide(world.nodes, world.preemption.lenders[i], sign)


@inner_kernel
def stand_still(world: World, job: int) -> None:
    """Suspend a run. Its processors count as free, and the scheduler expects its end when it did before.

    A run that went on in this very second was suspended all the time.
    """
    counters, latest, now = world.preemption.counters, world.preemption.latest[job], world.state.clock[NOW]
    start, estimate = world.state.start[job], world.jobs[job].estimate
    discard(world.state.completions, world.state.noticed[job], job)
    add(world.state.completions, FAR, job, world.jobs[job].processors)
    if world.state.clock[WATCHED]:
        discard(world.state.alarms, start + estimate, job)
    world.state.clock[FREE] += world.jobs[job].processors
    world.preemption.suspended[job] = True
    counters[SUSPENDED] += 1
    if latest < 0 or world.preemption.pauses[latest].end != now:
        latest = counters[PAUSES]
        counters[PAUSES] += 1
        world.preemption.latest[job] = latest
        world.preemption.pauses[latest].job = job
        world.preemption.pauses[latest].start = now
    world.preemption.pauses[latest].end = now
    world.preemption.since[job] = now


@inner_kernel
def go_on(world: World, job: int) -> None:
    """Resume a run: it is as if it had begun so much later as it stood still."""
    now, processors = world.state.clock[NOW], world.jobs[job].processors
    stood, estimate = now - world.preemption.since[job], world.jobs[job].estimate
    discard(world.state.completions, FAR, job)
    discard(world.state.running, world.state.start[job] + estimate, job)
    world.state.start[job] += stood
    world.state.noticed[job] += stood
    add(world.state.completions, world.state.noticed[job], job, processors)
    add(world.state.running, world.state.start[job] + estimate, job, processors)
    if world.state.clock[WATCHED] and now < world.state.start[job] + estimate < world.state.noticed[job]:
        add(world.state.alarms, world.state.start[job] + estimate, job, processors)
    world.state.clock[FREE] -= processors
    world.preemption.stood[job] += stood
    world.preemption.suspended[job] = False
    world.preemption.counters[SUSPENDED] -= 1
    world.preemption.pauses[world.preemption.latest[job]].end = now
    note_change(world.nodes)
