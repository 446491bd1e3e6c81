"""A simulation in which the engine advances the time, and a caller, such as an agent, makes the scheduling passes.

No job starts by itself. The simulation proposes what a pass without or with EASY backfilling would start next, one job
at a time, so that the caller decides about each start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.assembly import assemble
from schedlab.engine.decisions.by_hand import UNRESERVED, fit_beside, propose
from schedlab.engine.decisions.partitions import begins_anew, in_tiers
from schedlab.engine.decisions.starts import Starts
from schedlab.engine.driver import Driver
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import NOW, STAGE, STARTED
from schedlab.engine.jobs_that_never_start import refuse_left_over
from schedlab.engine.loop import ASK, LET_TIME_PASS, PAUSED
from schedlab.engine.prepared import prepare
from schedlab.engine.queue.operations import NONE
from schedlab.engine.simulation import schedule_of
from schedlab.engine.world import World
from schedlab.kernels import settled
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


class LedSimulation:
    """A simulation whose passes a caller makes; jobs are numbered by submission.

    Parameters
    ----------
    workload, cluster, node_events
        As for `simulate`; the cluster has nodes, and no job preempts others.

    Raises
    ------
    InputError
        As `simulate`.
    """

    def __init__(self, workload: Workload, cluster: Cluster, node_events: NodeEvents | None = None) -> None:
        self.prepared = prepare(workload, "fcfs", cluster=cluster, node_events=node_events)
        self._driver = Driver(self.prepared, assemble(self.prepared, observed=True))
        self._starts, self._propose, self._fit_beside = Starts(), settled(propose), settled(fit_beside)
        self._first_estimate = self.prepared.jobs["estimate"].copy()
        self._reserved = np.array([NONE, 0, 0])
        limits = self.world.limits
        partitions = 0 if limits is None else len(limits.blocked)  # those of reservations among them
        self._blocking = np.zeros(partitions + 1, dtype=np.int64)
        self._head = NONE  # the job that was proposed last, if it need not respect a reservation

    @property
    def world(self) -> World:
        """Its current state."""
        return self._driver.world

    @property
    def now(self) -> int:
        """The present second."""
        return int(self.world.state.clock[NOW])

    @property
    def waiting(self) -> NDArray[np.int64]:
        """The waiting jobs."""
        jobs: NDArray[np.int64] = self.world.waiting.queue.members()
        return jobs

    @property
    def all_started(self) -> bool:
        """Whether it is known that no job will start any more.

        Where runs may be broken off, any job that runs may have to start again; only the end of the simulation tells.
        """
        world = self.world
        return world.retries is None and int(world.state.clock[STARTED]) == len(world.jobs)

    @property
    def blocked(self) -> bool:
        """Whether the head of the present pass has a reservation, which other jobs may not delay."""
        return bool(self._reserved[0] != NONE)

    def proceed(self, until: int = NEVER) -> bool:
        """Advance until something changes for the waiting jobs, or until a second; return False at the end."""
        self._reserved[0], self._blocking[0] = NONE, 0
        reason, clock = self._driver.advance(until), self.world.state.clock
        if reason == ASK:
            clock[STAGE] = LET_TIME_PASS  # no further pass in this second
        elif reason == PAUSED:
            clock[NOW] = until
        return reason in (ASK, PAUSED)

    def proposal(self, order: NDArray[np.int64], *, easy: bool) -> int | None:
        """Return the job that a pass would start next, or None.

        If `blocked` is true afterwards, the job is to start before the head, whose reservation holds until time
        advances.

        Parameters
        ----------
        order
            int64: all waiting jobs, in the order of the pass; those of higher tiers go first.
        easy
            Whether jobs may start before a blocked head.
        """
        world = self.world
        order = np.ascontiguousarray(self.in_tiers(order), dtype=np.int64)
        job = int(self._propose(world, order, easy, self._reserved, self._blocking))
        self._head = NONE if self.blocked else job
        return None if job == NONE else job

    def in_tiers(self, order: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return jobs with those of partitions of higher tiers first, otherwise in the given order."""
        return in_tiers(self.world.limits, order)

    def possible(self, jobs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which waiting jobs are ready and fit now."""
        return self._starts.possible(self.world, jobs)

    def beside(self, jobs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which jobs may start now without delaying the reservation of the blocked head."""
        found = np.zeros(len(jobs), dtype=np.bool_)
        world, jobs = self.world, np.ascontiguousarray(jobs, dtype=np.int64)
        self._fit_beside(world, jobs, self._reserved, found)
        return found

    def start(self, job: int, *, beside: bool | None = None) -> None:
        """Start a job that fits.

        Parameters
        ----------
        job
            The job.
        beside
            Whether it starts alongside the reservation of the blocked head, on nodes that this leaves: it is
            backfilled. None: there is no reservation, and it is backfilled if an older job is blocked.
        """
        world, shadow = self.world, int(self._reserved[1]) if beside else UNRESERVED
        if not beside and job != self._head:
            self._blocking[0] = 0  # no pass is under way
        self._starts.start(world, job, shadow, self._blocking)
        limits, blocked = world.limits, bool(self._blocking[0] > 0)
        if limits is not None and begins_anew(limits, job, beside=bool(beside), blocked=blocked):
            self._blocking[0] = 0
        if beside is not None:
            world.state.backfilled[job] = beside
        if beside and self.now + world.jobs["estimate"][job] > shadow:
            self._reserved[2] -= world.jobs["processors"][job]

    def schedule(self) -> Schedule:
        """Return the schedule of a simulation that has ended."""
        return schedule_of(self.prepared, self.world, self._first_estimate)

    def refuse_left_over(self) -> None:
        """Raise InputError if the simulation has ended, and jobs have not started."""
        refuse_left_over(self.prepared, self.world.state.start, self.prepared.jobs["estimate"])
