"""The view of a compiled pass: what `schedlab.scheduling.PassView` says, in Numba's Python.

A handle has the simulation in `world` and other columns in `columns`. What takes more than a few instructions is done
by kernels that are compiled once for all passes, and called where they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedlab.engine.jobs.calendar import BLOCK, NEVER, USED
from schedlab.engine.jobs.clock import FREE, NOW, STARTED
from schedlab.engine.passes.conservative_plan import NEXT_START
from schedlab.engine.passes.own_pass import (
    cancel_reservation,
    earliest_start,
    fits_beside_plan,
    is_allowed,
    reserve_earliest,
    start_beside_plan,
)
from schedlab.engine.passes.own_plan import ACTIONS, LISTED, REFUSED
from schedlab.kernels import call_at, with_methods

KERNELS = (is_allowed, fits_beside_plan, earliest_start, reserve_earliest, cancel_reservation, start_beside_plan)
"""Their addresses stand in `Plan.own`, from ACTIONS on."""

_ALLOWED, _FITS, _EARLIEST, _RESERVE, _CANCEL, _START = range(ACTIONS, ACTIONS + len(KERNELS))

# What `ended` remembers: how many starts it has seen, how many of their runs go on, and how often it was asked; then
# the jobs of these runs, and by job when it was last seen to run, and whether it is among them.
TOLD_STARTS, KNOWN_RUNS, ASKED, TOLD_SIZE = 0, 1, 2, 3


@with_methods
class CompiledView:
    """What a compiled pass sees and does; each method is compiled as a function."""

    world: Any
    columns: Any

    @property
    def now(self) -> int:
        return self.world.state.clock[NOW]

    @property
    def size(self) -> int:
        return self.world.rules.processors

    @property
    def free(self) -> int:
        return self.world.state.clock[FREE]

    @property
    def waiting(self) -> Any:
        return self.world.plan.list.spare[: self.world.plan.own[LISTED]]

    @property
    def running(self) -> Any:
        running, count = self.world.state.running, 0
        jobs = np.empty(running.counts[running.order[: running.status[USED]]].sum(), dtype=np.int64)
        for place in range(running.status[USED] - 1, -1, -1):
            block = running.order[place]
            for i in range(running.counts[block] - 1, -1, -1):
                jobs[count] = running.records[block * BLOCK + i].job
                count += 1
        return jobs

    @property
    def submit(self) -> Any:
        return self.world.jobs.submit

    @property
    def processors(self) -> Any:
        return self.world.jobs.processors

    @property
    def request(self) -> Any:
        return self.world.state.request

    @property
    def predicted(self) -> Any:
        return self.world.jobs.estimate

    @property
    def user(self) -> Any:
        return self.columns.user_id

    @property
    def start_time(self) -> Any:
        return self.world.state.start

    def column(self, name: str) -> Any:
        return getattr(self.columns, name)

    def ended(self) -> Any:
        told, state = self.columns._told, self.world.state
        last, running = state.clock[STARTED], state.completions
        parts = told[TOLD_SIZE:].reshape((3, len(state.start)))
        known, marks, is_known = parts[0], parts[1], parts[2]
        count = told[KNOWN_RUNS]
        for i in range(told[TOLD_STARTS], last):
            job = state.begun[i]
            if is_known[job] == 0:  # else it runs again
                known[count] = job
                is_known[job] = 1
                count += 1
        told[ASKED] += 1
        for place in range(running.status[USED]):
            block = running.order[place]
            for i in range(running.counts[block]):
                marks[running.records[block * BLOCK + i].job] = told[ASKED]
        jobs, over, left = np.empty(count, dtype=np.int64), 0, 0
        for i in range(count):
            job = known[i]
            if marks[job] == told[ASKED]:
                known[left] = job
                left += 1
                continue
            is_known[job] = 0
            if state.start[job] >= 0:  # the others wait for another run
                jobs[over] = job
                over += 1
        told[TOLD_STARTS], told[KNOWN_RUNS] = last, left
        found = np.sort(jobs[:over])
        return found, self.world.jobs.duration[found]

    def allowed(self, job: int) -> bool:
        return call_at(self.world.plan.own[_ALLOWED], (self.world, self.known(job))) != 0

    def fits(self, job: int) -> bool:
        number = self.known(job)
        if self.world.jobs[number].processors > self.world.state.clock[FREE]:
            return False
        return call_at(self.world.plan.own[_FITS], (self.world, number)) != 0

    def earliest(self, job: int) -> int | None:
        begins = call_at(self.world.plan.own[_EARLIEST], (self.world, self.known(job)))
        return None if begins == NEVER else begins

    def reserve(self, job: int) -> int | None:
        begins = call_at(self.world.plan.own[_RESERVE], (self.world, self.known(job)))
        return None if begins == NEVER else begins

    def cancel(self, job: int) -> None:
        call_at(self.world.plan.own[_CANCEL], (self.world, self.known(job)))

    def start(self, job: int) -> None:
        number = self.known(job)
        if call_at(self.world.plan.own[_START], (self.world, number)) == 0:
            self.world.plan.own[REFUSED] = number
            raise ValueError("this job cannot start")

    def wake_at(self, second: int) -> None:
        if second <= self.world.state.clock[NOW]:
            raise ValueError("not after the present second")
        counters = self.world.plan.counters
        counters[NEXT_START] = min(counters[NEXT_START], second)

    def known(self, job: int) -> int:
        """Return the number of a job that there is; others would be read from anywhere."""
        if job < 0 or job >= self.world.jobs.shape[0]:
            self.world.plan.own[REFUSED] = job
            raise IndexError("there is no such job")
        return np.int64(job)  # type: ignore[return-value]
