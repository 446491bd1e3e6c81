"""Jobs that somebody else than the scheduler starts, at a decision of a simulation in steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import NEVER
from schedlab.engine.forecast import Forecasts
from schedlab.engine.loop import note_all_runs
from schedlab.engine.needs import Needs
from schedlab.engine.node_pass import fits
from schedlab.engine.pass_choice import after_pass
from schedlab.engine.plan import Plan
from schedlab.engine.queue import NONE
from schedlab.engine.queue_list import find_and_remove
from schedlab.engine.queue_pass import head_of
from schedlab.engine.retries import Retries
from schedlab.engine.rules import Rules
from schedlab.engine.slurm_timing import Passes, look_again
from schedlab.engine.state import CORRECTED, FREE, LEFT, NOW, STARTED, UNKNOWN, State, begin, within_limits
from schedlab.engine.waiting import Orders, Waiting, depart, leave
from schedlab.kernels import bare_kernel, chosen, kind_of, operation


@bare_kernel
def start_by_hand(
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    plan: Plan | Passes | None,
    forecasts: Forecasts | None,
    retries: Retries | None,
    needs: Needs | None,
    rules: Rules,
    job: int,
) -> None:
    """Start a visible job that is ready and fits, after the passes of this second.

    Under conservative backfilling, another pass has to follow: everything is planned afresh there.
    """
    clock = state.clock
    before = clock[STARTED]
    first = head_of(seen, state, waiting, needs, rules)
    fits(state.nodes, job)  # its nodes are those of the last choice
    begin(jobs, state, job)
    state.backfilled[job] = first not in (NONE, job) and jobs[first].processors > clock[FREE] + jobs[job].processors
    clock[LEFT] = UNKNOWN
    note_all_runs(jobs, state, forecasts, retries, before)
    leave_plan(plan, jobs, seen, state, waiting, orders, retries, rules, job)
    after_pass(plan, jobs, seen, state, waiting, orders, retries, rules)


@bare_kernel
def fit_on_nodes(jobs: NDArray[Any], state: State, rows: NDArray[np.int64], found: NDArray[np.bool_]) -> None:
    """Leave only those jobs marked that fit on the nodes now, within all limits."""
    for i in range(len(rows)):
        if found[i]:
            found[i] = within_limits(jobs, state, rows[i]) and fits(state.nodes, rows[i])


@operation
def leave_plan(
    plan: Any,
    jobs: NDArray[Any],
    seen: NDArray[Any],
    state: State,
    waiting: Waiting,
    orders: Orders,
    retries: Retries | None,
    rules: Rules,
    job: int,
) -> None:
    """Take a job that has started by hand out of the queues and out of what is planned."""
    raise NotImplementedError


@chosen(leave_plan)
def _leave_plan(
    plan: Any, jobs: Any, seen: Any, state: Any, waiting: Any, orders: Any, retries: Any, rules: Any, job: Any
) -> Any:
    def queues(plan, jobs, seen, state, waiting, orders, retries, rules, job):  # type: ignore[no-untyped-def]
        leave(jobs, seen, state, waiting, orders, retries, rules, state.clock[NOW], job)

    def reservations(plan, jobs, seen, state, waiting, orders, retries, rules, job):  # type: ignore[no-untyped-def]
        if plan.listed[job]:
            find_and_remove(plan.list, job)
            plan.listed[job] = False
        plan.reserved[job] = NEVER
        state.clock[CORRECTED] = 1
        leave(jobs, seen, state, waiting, orders, retries, rules, state.clock[NOW], job)

    def passes(plan, jobs, seen, state, waiting, orders, retries, rules, job):  # type: ignore[no-untyped-def]
        depart(state, waiting, rules, job)
        look_again(plan, state, rules)

    return {Plan: reservations, Passes: passes}.get(kind_of(plan), queues)
