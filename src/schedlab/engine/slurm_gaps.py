"""Speculative runs in the gaps that Slurm's backfill pass leaves."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from schedlab.engine.needs import Needs, is_ready
from schedlab.engine.outages import next_closing
from schedlab.engine.queue import NONE
from schedlab.engine.retries import Retries, is_better, run_speculatively, useful_share
from schedlab.engine.rules import Rules
from schedlab.engine.slots import book_run, gap_for, has_slot_now
from schedlab.engine.slurm_timing import BACKFILL, PLANS, Passes, look_again
from schedlab.engine.state import FREE, NOW, STARTED, WAITING, State, within_limits
from schedlab.engine.waiting import Waiting, depart
from schedlab.kernels import inner_kernel
from schedlab.speculate.requests import NO_DISTRIBUTION


@inner_kernel
def use_planned_gaps(
    jobs: NDArray[Any],
    state: State,
    waiting: Waiting,
    passes: Passes,
    needs: Needs | None,
    retries: Retries,
    rules: Rules,
) -> None:
    """Run jobs speculatively alongside the plan of the backfill pass, each at most until its own planned start."""
    clock, queue, profile = state.clock, waiting.queue, passes.profile
    now = clock[NOW]
    while passes.counters[BACKFILL] and clock[WAITING] > 0 and clock[FREE] > 0 and clock[STARTED] >= rules.in_order:
        best, most, most_length = NONE, rules.speculation, 0
        for i in range(queue.length[0]):
            job = queue.order[i]
            planned = passes.planned_in[job] == passes.counters[PLANS] and within_limits(jobs, state, job)
            if (
                retries.distribution[job] == NO_DISTRIBUTION
                or jobs[job].processors > clock[FREE]
                or not (planned and is_ready(needs, job))
            ):
                continue
            latest = min(passes.begins[job], next_closing(state.nodes))
            length = gap_for(state.nodes, profile, jobs, job, latest, now)
            if length > 0 and not has_slot_now(state.nodes, jobs, job, clock[FREE], now, now + length, 0):
                continue  # the plan counts on the end of a run that is still there
            share = useful_share(retries, job, jobs[job].processors, length, clock[FREE])
            if is_better(jobs, job, share, best, most):
                best, most, most_length = job, share, length
        if best == NONE:
            return
        has_slot_now(state.nodes, jobs, best, clock[FREE], now, now + most_length, 0)  # this chooses the nodes
        run_speculatively(jobs, state, retries, best, most_length)
        book_run(state.nodes, profile, best, jobs[best].processors, now, now + most_length, -1)
        depart(state, waiting, rules, best)
        look_again(passes, state, rules)
