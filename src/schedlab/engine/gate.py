"""Submissions that limits on submitted jobs refuse, and that are made again as soon as these allow it.

A refused job has not been submitted to the scheduler: it is in no queue. To `schedlab.engine.needs`, being accepted is
one more thing that a job waits for. Some functions check whether there are partitions; others, which they call, whether
there are such limits: branches on an argument that is None are eliminated at compile time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import add
from schedlab.engine.gate_state import NO_JOB, NO_LIMIT, NO_PARENT, REFUSED, Gate
from schedlab.engine.needs import NO_WORKFLOW, Needs
from schedlab.engine.retries import Retries
from schedlab.engine.rivals import first_of
from schedlab.engine.site_state import Site
from schedlab.engine.state import ARRIVED, COMPLETED, NOW, SUBMITTED, State
from schedlab.engine.ties import number_submission
from schedlab.kernels import inlined, inner_kernel


@inlined
def accept(
    site: Site | None, jobs: NDArray[Any], seen: NDArray[Any], state: State, needs: Needs, retries: Retries | None
) -> None:
    """Accept submissions within the limits: those refused before in the order of their first attempts, then new ones.

    What has ended in this second no longer counts. To the scheduler, a job that was refused is submitted now.
    """
    if site is not None:
        _accept(site.gate, jobs, seen, state, needs, retries)


@inner_kernel
def _accept(
    gate: Gate | None, jobs: NDArray[Any], seen: NDArray[Any], state: State, needs: Needs, retries: Retries | None
) -> None:
    if gate is not None:
        clock = state.clock
        for i in range(clock[COMPLETED]):
            if retries is None or not retries.back[state.ended[i]]:
                _charge(gate, first_of(state.rivals, state.ended[i]), -1)
        more = _ask_refused(gate, jobs, seen, needs, state.entered, clock[NOW])
        for job in range(clock[SUBMITTED] - clock[ARRIVED], clock[SUBMITTED]):
            if not gate.leads[job]:
                continue
            if _lets_in(gate, needs, job):
                more = True
                one = job
                while one != NO_JOB:
                    needs.open[one] -= 1
                    one = gate.following[one]
            else:
                gate.refused[gate.counters[REFUSED]] = job
                gate.counters[REFUSED] += 1
        while more:  # what refuses a job may be another limit now, and a job that it names may have been accepted
            more = _ask_refused(gate, jobs, seen, needs, state.entered, clock[NOW])


@inner_kernel
def _ask_refused(
    gate: Gate, jobs: NDArray[Any], seen: NDArray[Any], needs: Needs, entered: NDArray[np.int64], now: int
) -> bool:
    """Make the submissions again that were refused; return whether any is accepted."""
    asked, kept = gate.counters[REFUSED], 0
    for i in range(asked):
        job = gate.refused[i]
        if _lets_in(gate, needs, job):
            _come_in(gate, jobs, seen, needs, entered, job, now)
        else:
            gate.refused[kept] = job
            kept += 1
    gate.counters[REFUSED] = kept
    return kept < asked


@inlined
def _charge(gate: Gate, job: int, sign: int) -> None:
    for i in range(gate.use_offset[job], gate.use_offset[job + 1]):
        gate.used[gate.use_limit[i]] += sign * gate.use_amount[i]


@inner_kernel
def _lets_in(gate: Gate, needs: Needs, job: int) -> bool:
    """Count a submission if it exceeds no limit; otherwise note the first that it exceeds.

    A job that depends on one that has not been accepted cannot name it, so it is not submitted.
    """
    one = job
    while one != NO_JOB:
        _charge(gate, one, 1)
        gate.accepted[one] = True
        one = gate.following[one]
    gate.exceeds[job] = _exceeded_by(gate, needs, job)
    if gate.exceeds[job] == NO_LIMIT:
        return True
    one = job
    while one != NO_JOB:
        _charge(gate, one, -1)
        gate.accepted[one] = False
        one = gate.following[one]
    return False


@inner_kernel
def _exceeded_by(gate: Gate, needs: Needs, job: int) -> int:
    """Return the first limit of a submission that is exceeded, or NO_PARENT, or NO_LIMIT; the submission counts."""
    one = job
    while one != NO_JOB:
        for i in range(needs.parent_offsets[one], needs.parent_offsets[one + 1]):
            if not gate.accepted[needs.parents[i]]:
                return NO_PARENT
        for i in range(gate.use_offset[one], gate.use_offset[one + 1]):
            if gate.used[gate.use_limit[i]] > gate.limit[gate.use_limit[i]]:
                return gate.use_limit[i]
        one = gate.following[one]
    return NO_LIMIT


@inlined
def _come_in(
    gate: Gate, jobs: NDArray[Any], seen: NDArray[Any], needs: Needs, entered: NDArray[np.int64], job: int, now: int
) -> None:
    """Let the jobs of a submission that was refused before be released, if they wait for nothing else."""
    one = job
    while one != NO_JOB:
        jobs[one].submit = now
        seen[one].submit = now
        if needs.workflow[one] == NO_WORKFLOW:  # its place in the queue is kept
            number_submission(entered, one, now)
        needs.open[one] -= 1
        if needs.open[one] == 0:
            add(needs.held, max(now, needs.earliest[one]), one, 0)
        one = gate.following[one]


@inlined
def count_refused(gate: Gate | None, needs: Needs | None, waited: NDArray[np.int64], before: int, now: int) -> None:
    """Count the seconds since the last event for refused jobs that wait for nothing else."""
    if gate is not None and needs is not None:
        for i in range(gate.counters[REFUSED]):
            one = gate.refused[i]
            limit = gate.exceeds[one]
            while one != NO_JOB and limit != NO_PARENT:
                if needs.open[one] == 1:
                    waited[one, gate.reason[limit]] += max(now - max(before, needs.earliest[one]), 0)
                one = gate.following[one]
