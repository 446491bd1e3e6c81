"""Starts in Slurm's passes: of one job, or of all components of a heterogeneous one."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.het_pass import AT_ONCE, fit_together, fits_apart
from schedlab.engine.hetjobs import HetJobs, all_startable, mark_chosen, unmark
from schedlab.engine.preemption import call_off, make_way_for_component
from schedlab.engine.preemption_state import gives_way
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import open_partitions
from schedlab.engine.slurm_timing import Passes, look_again
from schedlab.engine.state import FREE, State, begin, within_limits
from schedlab.engine.waiting import Waiting, depart_with_rivals
from schedlab.kernels import inlined, inner_kernel


@inlined
def start(jobs: NDArray[Any], state: State, waiting: Waiting, passes: Passes, rules: Rules, job: int) -> None:
    """Start a job now; this is a change that triggers a backfill pass."""
    begin(jobs, state, job)
    depart_with_rivals(state, waiting, rules, job)
    look_again(passes, state, rules)


@inner_kernel
def start_components(
    hets: HetJobs | None,
    jobs: NDArray[Any],
    state: State,
    waiting: Waiting,
    passes: Passes,
    rules: Rules,
    job: int,
    backfilled: bool,
) -> int:
    """Start all components of a job that wait, which fit together; return how many."""
    if hets is None:
        return 0
    started = 0
    for part in range(hets.first[job], hets.end[job]):
        if hets.waits[part]:
            fits_apart(jobs, state, part, AT_ONCE)  # this chooses its nodes
            start(jobs, state, waiting, passes, rules, part)
            mark_chosen(hets, state.nodes)
            state.backfilled[part] = backfilled
            started += 1
    unmark(hets, state.nodes)
    return started


@inner_kernel
def start_planned(
    hets: HetJobs | None, jobs: NDArray[Any], state: State, waiting: Waiting, passes: Passes, rules: Rules, job: int
) -> int:
    """Start a heterogeneous job if all its components could start by the plan of this pass; return how many do.

    They get the nodes that are free now, whatever has been reserved on them; so does Slurm.
    """
    if hets is not None and all_startable(hets, job) and within_limits(jobs, state, job):
        open_partitions(state.site)
        if gives_way(state.site):
            return _start_in_turn(hets, jobs, state, waiting, passes, rules, job)
        if fit_together(hets, jobs, state, job, AT_ONCE, state.clock[FREE]):
            return start_components(hets, jobs, state, waiting, passes, rules, job, True)
    return 0


@inner_kernel
def _start_in_turn(
    hets: HetJobs, jobs: NDArray[Any], state: State, waiting: Waiting, passes: Passes, rules: Rules, job: int
) -> int:
    """Start components as they were planned, one after the other, where runs may be preempted; return how many do.

    The first that has no room preempts others, if that makes room, and then none of them starts: those that have are
    requeued, as in Slurm, and the job is not tried again in this pass.
    """
    first, begun = hets.first[job], 0
    count, missing = hets.startable[first], False
    while begun < count and not missing:
        part = hets.planned[first + begun]
        missing = not fits_apart(jobs, state, part, AT_ONCE)  # this chooses its nodes
        if missing:
            make_way_for_component(state.site, jobs, state, part)
        else:
            start(jobs, state, waiting, passes, rules, part)
            mark_chosen(hets, state.nodes)
            state.backfilled[part] = True
            begun += 1
    unmark(hets, state.nodes)
    if missing:
        hets.startable[first] = 0
        for i in range(begun):
            call_off(state.site, jobs, state, hets.planned[first + i])
        return 0
    return begun


@inner_kernel
def start_all_planned(
    hets: HetJobs | None, jobs: NDArray[Any], state: State, waiting: Waiting, passes: Passes, rules: Rules, most: int
) -> None:
    """At the end of a backfill pass, start the heterogeneous jobs all of whose components could start by its plan."""
    if hets is None:
        return
    queue, place = waiting.queue, 0
    while place < queue.length[0] and most > 0:
        before = queue.length[0]
        most -= start_planned(hets, jobs, state, waiting, passes, rules, queue.order[place])
        place = place + 1 if queue.length[0] == before else 0  # those that were called off have left it, too
