"""When something is due because runs were broken off: jobs may begin again, and exemptions of runs end."""

from __future__ import annotations

from schedlab.engine.calendar import NEVER
from schedlab.engine.preemption_state import (
    AWAKE,
    Preemption,
    next_end_of_exemption,
)
from schedlab.engine.returns import RETURNED, Returns, next_return, next_to_return, returns_by
from schedlab.engine.site_state import Site
from schedlab.engine.state import ENTERING, NOW, WAITING, State
from schedlab.engine.ties import number_entry
from schedlab.kernels import inlined, inner_kernel


@inlined
def next_turn(site: Site | None, state: State) -> int:
    """Return when a job may begin again, or an exemption ends while jobs wait; NEVER if neither."""
    if site is not None:
        return min(next_return(site.returns), _next_end(site.preemption, site, state))
    return NEVER


@inlined
def _next_end(preemption: Preemption | None, site: Site, state: State) -> int:
    if preemption is not None:
        return _next_awakening(preemption, site, state)
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
def let_return(site: Site | None, state: State, ties: int) -> None:
    """Put the jobs that may begin again into the queue."""
    if site is not None:
        _let_return(site.returns, state, ties)


@inner_kernel
def _let_return(returns: Returns | None, state: State, ties: int) -> None:
    if returns is not None:
        clock = state.clock
        returns.counters[RETURNED] = 0
        while returns_by(returns, clock[NOW]):
            job = next_to_return(returns)
            state.entering[clock[ENTERING]] = job
            clock[ENTERING] += 1
            number_entry(state, ties, job)
