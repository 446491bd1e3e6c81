"""Whether the components of a heterogeneous job fit together, now or beside the reservation of a blocked head."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.hetjobs import HetJobs, is_component, mark_chosen, processors_together, unmark
from schedlab.engine.node_choice import choose
from schedlab.engine.node_pass import fits, fits_beside, fits_open, note_beside
from schedlab.engine.node_state import BESIDE, Nodes
from schedlab.engine.queue import NONE
from schedlab.engine.retries import Retries
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import Site
from schedlab.engine.state import FREE, NOW, State, begin
from schedlab.engine.waiting import Orders, Waiting, leave
from schedlab.kernels import inlined, inner_kernel

AT_ONCE = 1 << 62
"""The begin of a reservation that is none."""


@inner_kernel
def fit_together(hets: HetJobs, jobs: NDArray[Any], state: State, job: int, shadow: int, extra: int) -> bool:
    """Return whether a job and the components that wait with it fit now, on different nodes.

    Parameters
    ----------
    hets, jobs, state, job
        The job is any of the components.
    shadow, extra
        The reservation beside which they have to fit: its begin, and the processors that may be used beyond it;
        AT_ONCE if there is none.
    """
    if processors_together(hets, jobs, job) > state.clock[FREE]:
        return False
    found = True
    for part in range(hets.first[job], hets.end[job]):
        if hets.waits[part] and found:
            found = fits_apart(jobs, state, part, shadow)
            if state.clock[NOW] + jobs[part].estimate > shadow:
                extra -= jobs[part].processors
            if found:
                mark_chosen(hets, state.nodes)
    unmark(hets, state.nodes)
    return found and extra >= 0


@inner_kernel
def fits_apart(jobs: NDArray[Any], state: State, job: int, shadow: int) -> bool:
    """Return whether a component fits beside the marked nodes, and choose its nodes."""
    ends = state.clock[NOW] + jobs[job].estimate
    return _fits(state.site, state.nodes, job, state.clock[NOW], ends, shadow)


@inner_kernel
def _fits(site: Site | None, nodes: Any, job: int, now: int, ends: int, shadow: int) -> bool:
    if site is not None:
        return fits_open(site, nodes, job, now, ends)
    if ends <= shadow:
        return fits(nodes, job)
    return _fits_beside(nodes, job)


@inner_kernel
def _fits_beside(nodes: Nodes | None, job: int) -> bool:
    # Not by what is remembered of requests beside the reservation: marks do not change that.
    if nodes is not None:
        return choose(nodes, BESIDE, nodes.machine.shape[nodes.machine.options[job]])
    return True


@inlined
def fits_with_others(
    hets: HetJobs | None, jobs: NDArray[Any], state: State, job: int, shadow: int, extra: int, head: int
) -> bool:
    """Return whether a job fits beside the reservation of a blocked head, with the components that wait with it.

    Without a head (NONE), it is `AT_ONCE`.
    """
    if hets is not None and is_component(hets, job):
        # Beside its own reservation, the head could seem to fit: it would get other nodes.
        own = head != NONE and hets.first[job] == hets.first[head]
        return not own and fit_together(hets, jobs, state, job, shadow, extra)
    return fits_beside(state.nodes, job, state.clock[NOW] + jobs[job].estimate <= shadow)


@inner_kernel
def start_together(
    hets: HetJobs | None,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    rules: Rules,
    job: int,
    beside: bool,
    shadow: int,
    extra: int,
) -> int:
    """Start all components of a job that wait, which fit together; return the extra processors that are left.

    Parameters
    ----------
    beside
        Whether they start beside the reservation of a blocked head; otherwise `shadow` does not matter.
    """
    if hets is None:
        return extra
    now = state.clock[NOW]
    for part in range(hets.first[job], hets.end[job]):
        if hets.waits[part]:
            fits_apart(jobs, state, part, shadow if beside else AT_ONCE)  # this chooses its nodes
            begin(jobs, state, part)
            mark_chosen(hets, state.nodes)
            state.backfilled[part] = beside
            if beside and now + jobs[part].estimate > shadow:
                extra -= jobs[part].processors
            leave(jobs, seen, state, waiting, orders, retries, rules, now, part)
    unmark(hets, state.nodes)
    if beside:
        for part in range(hets.first[job], hets.end[job]):
            if state.start[part] == now:
                note_beside(state.nodes, part, now + jobs[part].estimate <= shadow)
    return extra
