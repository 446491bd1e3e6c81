"""The moments of a simulation: what its parts do as time passes, in order, as plain code. Read this file first.

A part is what a simulation may have or lack: limits, dependencies, preemption ... Each has a package in
`schedlab.engine.parts`, nodes in `schedlab.engine.machine`. What it does when a run ends, a job enters the queue and so
on is listed here, moment by moment, in the order in which parts take their turn. A part that a simulation lacks is None
in its world, which is known when kernels are compiled: nothing is left of it. Some packages of `parts` have no lines of
their own: `schedlab.engine.parts` says whose they are.

The loop calls most moments once a second. Those of one run or one job are called by `schedlab.engine.runs` and
`schedlab.engine.passes.waiting`, those of Slurm's passes by `schedlab.engine.slurm.due_passes`; what starts jobs beside
the passes of the loop, such as speculation or a hand, calls `runs_have_begun`. Whether a job may start is asked in
`schedlab.engine.parts.admission`. What an event has changed, parts note in the clock (`schedlab.engine.jobs.clock`),
where passes read it. What else a pass asks a part in the midst of a decision, such as whether a node is shut, it
imports from there by name: `tests/test_architecture.py` lists from which, and what for. Parts import neither this
module nor what starts jobs or takes them out of the queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import NOW
from schedlab.engine.machine import nodes
from schedlab.engine.parts.cancellations import kernels as cancellations
from schedlab.engine.parts.dependencies import kernels as dependencies
from schedlab.engine.parts.forecasts import kernels as forecasts
from schedlab.engine.parts.heterogeneous import kernels as heterogeneous
from schedlab.engine.parts.heterogeneous import queue_order as components_in_order
from schedlab.engine.parts.limits import course
from schedlab.engine.parts.limits import state as limits
from schedlab.engine.parts.malleable import kernels as malleable
from schedlab.engine.parts.moldable import kernels as moldable
from schedlab.engine.parts.outages import kernels as outages
from schedlab.engine.parts.power_saving import kernels as power_saving
from schedlab.engine.parts.preemption import queue_order as preempting_first
from schedlab.engine.parts.preemption import state as preemption
from schedlab.engine.parts.priority import kernels as priority
from schedlab.engine.parts.requeues import kernels as requeues
from schedlab.engine.parts.reservations import kernels as reservations
from schedlab.engine.parts.retries import kernels as retries
from schedlab.engine.parts.submission_limits import kernels as submission_limits
from schedlab.engine.parts.suspension import kernels as suspension
from schedlab.engine.parts.switch_waits import kernels as switch_waits
from schedlab.engine.queue import entries
from schedlab.kernels import inlined

if TYPE_CHECKING:
    from schedlab.engine.world import World

# Between two events: when is the next one?


@inlined
def logs_are_full(world: World) -> bool:
    """Return whether a log may be too short for the next event; Python makes it longer then."""
    full = False
    if world.retries is not None:
        full = retries.lacks_runs(world.retries)
    if world.nodes is not None:
        full = full or nodes.lacks_places(world.nodes)
    if world.preemption is not None:
        full = full or preemption.lacks_pauses(world.preemption)
    if world.malleable is not None:
        full = full or malleable.lacks_stretches(world.malleable)
    if world.power_saving is not None:
        full = full or power_saving.lacks_sleeps(world.power_saving)
    return full


@inlined
def next_by_itself(world: World, second: int) -> int:
    """Return when something happens by itself, `second` at the latest.

    Outages and limits that change with time come last, as they see the seconds of all others: without anything else to
    come, they matter only while jobs wait. A new part goes before them.
    """
    if world.forecasts is not None:
        second = min(second, forecasts.next_expiry(world))
    if world.dependencies is not None:
        second = min(second, dependencies.next_release(world))
    if world.requeues is not None:
        second = min(second, requeues.next_return(world))
    if world.preemption is not None:
        second = min(second, preemption.next_end_of_exemption(world))
    if world.cancellations is not None:
        second = min(second, cancellations.next_cancellation(world))
    if world.outages is not None:
        second = min(second, outages.next_change(world, second))
    if world.limits is not None:
        second = course.next_step(world, second)
    return second


@inlined
def lose_patience(world: World, event: int) -> bool:
    """Return whether only passes have happened for long; `event` is the next second with anything else, or NEVER."""
    if world.heterogeneous is not None:
        return heterogeneous.lose_patience(world, event)
    return False


@inlined
def next_computation(world: World, second: int) -> int:
    """Return when the order of the queue is computed next without an event, `second` at the latest."""
    if world.priority is not None:
        second = min(second, priority.next_computation(world))
    return second


# The clock moves on: runs end, jobs are submitted, nodes change.


@inlined
def time_will_pass(world: World, now: int) -> None:
    """The next event is in second `now`; the clock shows the last one."""
    if world.submission_limits is not None:
        submission_limits.count_refused(world, now)
    if world.preemption is not None:
        preemption.note_end_of_exemption(world, now)


@inlined
def expectations_end(world: World, now: int) -> None:
    """Expected ends have passed, and are corrected."""
    if world.forecasts is not None:
        forecasts.correct_expired(world, now)


@inlined
def machine_changes(world: World, now: int) -> int:
    """Nodes leave, return, close or open, limits change; return what that changes: bits of `State.clock[CHANGES]`."""
    changes = 0
    if world.outages is not None:
        changes = outages.apply_changes(world, now)
    if world.limits is not None:
        changes |= course.take_steps(world, now)
    return changes


@inlined
def must_break_off(world: World, job: int) -> bool:
    """Return whether a run cannot go on: what it holds fails, or its reservation ends."""
    if world.outages is not None:
        return outages.holds_what_fails(world, job) or reservations.is_over(world, job, world.state.clock[NOW])
    return False


@inlined
def before_break_off(world: World, job: int) -> None:
    """A run is about to be broken off."""
    if world.preemption is not None:
        suspension.wake(world, job)


@inlined
def after_break_offs(world: World) -> None:
    """What could not go on in this second has given back what it held."""
    if world.outages is not None:
        outages.settle_failures(world)
        reservations.set_free(world, world.outages.bookings, world.state.clock[NOW])


@inlined
def run_ends(world: World, job: int) -> None:
    """A run gives back what it holds."""
    if world.nodes is not None:
        nodes.vacate(world.nodes, job)
    if world.power_saving is not None:
        power_saving.leave_nodes(world, job)
    if world.limits is not None:
        limits.charge(world.limits, job, -1, 0)


@inlined
def time_has_passed(world: World) -> None:
    """Runs have ended and jobs have been submitted in this second."""
    if world.preemption is not None:
        suspension.resume(world)
    if world.power_saving is not None:
        power_saving.put_behind_others(world)


# Jobs enter the queue.


@inlined
def runs_have_ended(world: World) -> None:
    """The runs in `State.ended` are over; some of their jobs come back."""
    if world.forecasts is not None:
        forecasts.learn_from_ends(world)
    if world.priority is not None:
        priority.note_usage(world)
    if world.retries is not None:
        retries.come_back(world)
    if world.requeues is not None:
        requeues.let_return(world)


@inlined
def next_cancelled(world: World) -> int:
    """Return a job that is cancelled now before it has started, a negative number if no other is."""
    if world.cancellations is not None:
        return cancellations.cancel_next(world)
    return -1


@inlined
def is_in_queue(world: World, job: int) -> bool:
    """Return whether a job that is cancelled is in the queue; one that waits for others will never enter it."""
    if world.dependencies is not None:
        return dependencies.stays(world, job)
    return True


@inlined
def job_is_over(world: World, job: int) -> None:
    """A job has ended for good; of a moldable one, the alternative that ran."""
    first = moldable.first_of(world.moldable, job)
    if world.submission_limits is not None:
        submission_limits.give_back(world, first)
    if world.dependencies is not None:
        dependencies.end_for_children(world, first)


@inlined
def jobs_are_submitted(world: World) -> None:
    """Jobs are submitted: refused, held, or let in at once."""
    if world.submission_limits is not None:
        submission_limits.accept(world)
    if world.dependencies is not None:
        dependencies.release(world)
    else:
        entries.enter_at_once(world)
    if world.cancellations is not None:
        cancellations.note_submissions(world)


@inlined
def jobs_ask(world: World) -> None:
    """The jobs in `State.entering` are about to enter the queue: their requests are settled."""
    if world.retries is not None:
        retries.ask_first(world)


@inlined
def jobs_enter(world: World) -> None:
    """The jobs in `State.entering` enter the queue, and predictors in Python have been asked about them."""
    if world.forecasts is not None:
        forecasts.predict_for_entries(world)


@inlined
def enters_queue(world: World, job: int) -> None:
    """A job enters the queue, in view of the scheduler or not."""
    if world.moldable is not None:
        moldable.note_waiting(world.moldable, job, True)
    if world.heterogeneous is not None:
        heterogeneous.note_entry(world.heterogeneous, job)


@inlined
def leaves_queue(world: World, job: int) -> None:
    """A job in view of the scheduler leaves the queue."""
    if world.moldable is not None:
        moldable.note_waiting(world.moldable, job, False)
    if world.heterogeneous is not None:
        heterogeneous.note_departure(world.heterogeneous, job)


@inlined
def moves_behind_view(world: World, job: int) -> None:
    """A waiting job is not among those that the scheduler sees."""
    if world.moldable is not None:
        moldable.note_hidden(world.moldable, job, True)


@inlined
def comes_into_view(world: World, job: int) -> None:
    """A waiting job comes among those that the scheduler sees."""
    if world.moldable is not None:
        moldable.note_hidden(world.moldable, job, False)


@inlined
def order_changes(world: World) -> bool:
    """Return whether the order of the queue has been computed afresh in this second."""
    if world.priority is not None:
        return priority.compute(world)
    return False


@inlined
def rank(world: World, job: int, score: float) -> float:
    """Return the score of a job in the queue, of which the policy gives it `score`; the lowest goes first."""
    if world.retries is not None:
        return retries.rank(world, job, score)
    return score


# Slurm's passes, between which the queue and requests are as jobs have brought them.


@inlined
def passes_begin(world: World) -> bool:
    """The passes of a second begin; return whether jobs wait for something that time alone brings."""
    waits = False
    if world.switch_waits is not None:
        waits = switch_waits.ask_for_few(world)
    if world.heterogeneous is not None:
        components_in_order.put_together(world)
    return waits


@inlined
def passes_end(world: World) -> None:
    """The passes of a second are over."""
    if world.switch_waits is not None:
        switch_waits.ask_for_any(world)
    if world.preemption is not None:
        preempting_first.put_back(world, world.waiting.queue)
    if world.heterogeneous is not None:
        components_in_order.go_back(world)


# Runs begin.


@inlined
def run_begins(world: World, job: int) -> None:
    """A run begins, on the nodes that were chosen last."""
    if world.cancellations is not None:
        cancellations.run_begins(world, job)
    if world.nodes is not None:
        nodes.occupy(world.nodes, job)
    if world.power_saving is not None:
        power_saving.boot(world, job)
    if world.limits is not None:
        limits.run_begins(world.limits, job, world.state.start[job])


@inlined
def runs_have_begun(world: World, before: int, speculative: bool) -> None:
    """Runs have begun since there were `before` of them, for the full request or speculatively."""
    if world.retries is not None:
        retries.note_runs(world, before, speculative)
    if world.forecasts is not None:
        forecasts.note_starts(world, before)
