"""Runs begin, end, and are broken off: the state of the jobs, and the moments of the parts around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.calendar import add, discard, latest_place, pop, record_at, sooner_place
from schedlab.engine.jobs.clock import COMPLETED, FREE, NOW, STARTED, TICK, WATCHED
from schedlab.engine.moments import after_break_offs, before_break_off, must_break_off, run_begins, run_ends
from schedlab.engine.parts.outages.kernels import BROKE
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def begin(world: World, job: int) -> None:
    """Start a job now; on nodes, those that were chosen last."""
    clock = world.state.clock
    now = clock[NOW]
    processors = world.jobs[job].processors
    world.state.start[job] = now
    clock[FREE] -= processors
    run_begins(world, job)
    world.state.begun[clock[STARTED]] = job
    clock[STARTED] += 1
    begins = world.state.start[job]  # later, if its nodes have to boot
    world.state.noticed[job] = begins + world.jobs[job].duration + clock[TICK]
    add(world.state.completions, world.state.noticed[job], job, processors)
    add(world.state.running, begins + world.jobs[job].estimate, job, processors)
    if clock[WATCHED] and begins + world.jobs[job].estimate < world.state.noticed[job]:
        _watch(world, job)


@inner_kernel
def _watch(world: World, job: int) -> None:
    """Record when a job that starts now will outlive its estimate."""
    add(world.state.alarms, world.state.start[job] + world.jobs[job].estimate, job, world.jobs[job].processors)


@inlined
def complete(world: World) -> None:
    """Process the next completion and release its processors, unless the scheduler's view has done so already."""
    clock = world.state.clock
    job = pop(world.state.completions)
    world.state.ended[clock[COMPLETED]] = job
    clock[COMPLETED] += 1
    _give_back(world, job)


@inlined
def _give_back(world: World, job: int) -> None:
    if discard(world.state.running, world.state.start[job] + world.jobs[job].estimate, job):
        world.state.clock[FREE] += world.jobs[job].processors
        run_ends(world, job)


@inner_kernel
def break_off(world: World) -> None:
    """End the runs that cannot go on in this second, in the order of their starts."""
    if world.outages is not None:
        clock = world.state.clock
        world.outages.counters[BROKE] = clock[COMPLETED]
        _list_broken(world)
        for i in range(world.outages.counters[BROKE], clock[COMPLETED]):
            job = world.state.ended[i]
            before_break_off(world, job)
            discard(world.state.completions, world.state.noticed[job], job)
            world.jobs[job].duration = min(world.jobs[job].duration, clock[NOW] - world.state.start[job])
            if clock[WATCHED]:
                discard(world.state.alarms, world.state.start[job] + world.jobs[job].estimate, job)
            _give_back(world, job)
        after_break_offs(world)


@inner_kernel
def _list_broken(world: World) -> None:
    """Put the runs that cannot go on behind those that have ended, in the order of their starts: that of their numbers.

    The calendar has them by their ends.
    """
    clock, ended, completions = world.state.clock, world.state.ended, world.state.completions
    first = clock[COMPLETED]
    place = latest_place(completions)
    while place >= 0:
        job = record_at(completions, place).job
        place = sooner_place(completions, place)
        if must_break_off(world, job):
            k = clock[COMPLETED]
            while k > first and world.nodes.run[ended[k - 1]] > world.nodes.run[job]:
                ended[k] = ended[k - 1]
                k -= 1
            ended[k] = job
            clock[COMPLETED] += 1
