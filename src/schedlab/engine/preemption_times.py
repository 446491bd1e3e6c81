"""When something is due because of preemption: jobs may begin again, and exemptions of runs end."""

from __future__ import annotations

from schedlab.engine.calendar import NEVER
from schedlab.engine.preemption_state import (
    AWAKE,
    RETURNED,
    Preemption,
    next_end_of_exemption,
    next_return,
    next_to_return,
    returns_by,
)
from schedlab.engine.site_state import Site
from schedlab.engine.state import ENTERING, ENTRIES, NOW, WAITING, State
from schedlab.kernels import inlined, inner_kernel


@inlined
def next_turn(site: Site | None, state: State) -> int:
    """Return when a job may begin again, or an exemption ends while jobs wait; NEVER if neither."""
    if site is not None:
        return _next_turn(site.preemption, site, state)
    return NEVER


@inlined
def _next_turn(preemption: Preemption | None, site: Site, state: State) -> int:
    if preemption is not None:
        return min(next_return(preemption), _next_awakening(preemption, site, state))
    return NEVER


@inlined
def _next_awakening(preemption: Preemption, site: Site, state: State) -> int:
    if state.clock[WAITING] > 0:
        return next_end_of_exemption(preemption, site, state.nodes, state.start, state.running, state.clock[NOW])
    return NEVER


@inlined
def look_ahead(site: Site | None, state: State, now: int) -> None:
    """Record, before the clock moves to a second, whether an exemption of a run ends then."""
    if site is not None:
        _look_ahead(site.preemption, site, state, now)


@inlined
def _look_ahead(preemption: Preemption | None, site: Site, state: State, now: int) -> None:
    if preemption is not None:
        preemption.counters[AWAKE] = _next_awakening(preemption, site, state) == now


@inlined
def let_return(site: Site | None, state: State, keeps_submit: bool) -> None:
    """Put the jobs that may begin again into the queue."""
    if site is not None:
        _let_return(site.preemption, state, keeps_submit)


@inner_kernel
def _let_return(preemption: Preemption | None, state: State, keeps_submit: bool) -> None:
    if preemption is not None:
        clock = state.clock
        preemption.counters[RETURNED] = 0
        while returns_by(preemption, clock[NOW]):
            job = next_to_return(preemption)
            state.entering[clock[ENTERING]] = job
            clock[ENTERING] += 1
            if not keeps_submit:
                state.entered[job] = clock[ENTRIES]
                clock[ENTRIES] += 1
