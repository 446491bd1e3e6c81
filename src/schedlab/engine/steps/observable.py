"""The state of a simulation in steps: its arguments, and everything that can be observed."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.assembly import assemble
from schedlab.engine.decisions.starts import Starts, waiting_jobs
from schedlab.engine.driver import Driver
from schedlab.engine.jobs.calendar import NEVER, SOONEST, Calendar, next_place, record_at, soonest_place
from schedlab.engine.jobs.clock import FREE, NOW, SUBMITTED, WAITING
from schedlab.engine.prepared import Events, Prepared, prepare
from schedlab.engine.steps.priority_factors import Priorities, priorities_of
from schedlab.engine.world import World
from schedlab.errors import InputError
from schedlab.kernels import bare_kernel, settled
from schedlab.permutations import inverse
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import Requests
from schedlab.workload.workload import Workload


class Told(NamedTuple):
    """The arguments of a simulation, besides the workload."""

    scheduler: Scheduler | None
    processors: int | None
    events: Events
    in_order: int
    requests: Requests | None
    cluster: Cluster | None = None
    node_events: NodeEvents | None = None


@dataclass(slots=True)
class Progress:
    """The progress of a simulation, besides its arrays.

    Parameters
    ----------
    until
        The second to which it was run.
    deciding
        Whether it is at a decision.
    started
        Whether a job has been started by hand at this decision.
    by_hand
        How many jobs have been started by hand so far.
    open_ended
        Whether jobs have been added.
    """

    until: int = 0
    deciding: bool = False
    started: bool = False
    by_hand: int = 0
    open_ended: bool = False


class Reservation(NamedTuple):
    """When a waiting job is expected to fit, and how many extra processors are expected then."""

    start: int
    extra: int


@explained
class ObservableState:
    """The observable state of a `schedlab.engine.steps.stepwise.Simulation`."""

    _told: Told
    _at: Progress

    def __init_subclass__(cls) -> None:
        explained(cls)

    def _stand(self, prepared: Prepared, world: World, first_estimate: NDArray[np.int64]) -> None:
        """Set the world as the state of the simulation."""
        self._prepared = prepared
        self._first_estimate = first_estimate
        self._driver = Driver(prepared, world)
        self._starts = Starts()
        self._expected_room = settled(_expected_room)
        self._forget_queue()
        self._assumed: NDArray[np.int64] | None = None  # the run times of reservations, where these stand still
        self._row = np.arange(len(prepared.jobs)) if prepared.order is None else prepared.order
        self._number = inverse(self._row)

    def _forget_queue(self) -> None:
        """Forget who waits and who could be started, which is found when it is asked: something has changed."""
        self._waits: NDArray[np.int64] | None = None
        self._fit: NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        clock = self._world.state.clock
        running = len(self.running)
        return (
            f"<Simulation {self.workload.name}: second {self.now}, {running} jobs run, {clock[WAITING]} wait, "
            f"{len(self._prepared.jobs) - clock[SUBMITTED]} are to come>"
        )

    @property
    def _world(self) -> World:
        return self._driver.world

    @property
    def _clock(self) -> NDArray[np.int64]:
        return self._world.state.clock

    @property
    def workload(self) -> Workload:
        """All jobs, with those that were added at the end; of moldable jobs, a row for each alternative."""
        return self._prepared.workload

    @property
    def _given(self) -> Workload:
        """The jobs with their alternatives, in one row each."""
        return self._prepared.workload if self._prepared.spread is None else self._prepared.spread.given

    @property
    def scheduler(self) -> Scheduler | None:
        """The scheduler; None if jobs are only started by hand."""
        return self._told.scheduler

    @property
    def processors(self) -> int:
        """Size of the machine."""
        return self._prepared.processors

    @property
    def now(self) -> int:
        """The present second of the simulation; all events up to and including it have been processed."""
        return max(int(self._clock[NOW]), self._at.until)

    @property
    def free(self) -> int:
        """Free processors, as the scheduler sees them."""
        return int(self._clock[FREE])

    @property
    def waiting(self) -> NDArray[np.intp]:
        """Rows of the jobs in the queue, in the order in which they entered it."""
        return self._row[self._waiting()]

    @property
    def running(self) -> NDArray[np.intp]:
        """Rows of the running jobs, in the order of their starts."""
        state = self._world.state
        jobs = state.completions.members()["job"]
        return self._row[jobs[np.lexsort((jobs, state.start[jobs]))]]

    @property
    def startable(self) -> NDArray[np.intp]:
        """Rows of the waiting jobs that could be started now, in the order in which they entered the queue."""
        return self._row[self._fitting()]

    @property
    def start_time(self) -> NDArray[np.int64]:
        """int64 seconds: when each job started its last run; -1 before, and while it waits for another run."""
        state = self._world.state
        stood = 0 if self._world.preemption is None else self._world.preemption.stood
        return self._prepared.in_workload_order(state.start - stood)

    @property
    def expected_run_time(self) -> NDArray[np.int64]:
        """int64 seconds: the run time that reservations assume for each job at present; read-only."""
        if self._assumed is not None:
            return self._assumed
        world, assumed = self._world, self._world.jobs["estimate"][self._number]
        assumed.flags.writeable = False
        if all(part is None for part in (world.forecasts, world.retries, world.preemption, world.malleable)):
            self._assumed = assumed  # nothing changes them
        return assumed

    @property
    def ended(self) -> bool:
        """Whether all jobs have ended."""
        state = self._world.state
        nobody = int(self._clock[WAITING]) == 0 and state.completions.status[SOONEST] == NEVER
        held = self._world.dependencies is not None and not bool(self._world.dependencies.ready.all())
        return nobody and int(self._clock[SUBMITTED]) == len(self._prepared.jobs) and not held

    def _latest(self, until: int | None) -> int:
        if until is None:
            return NEVER
        try:
            latest = operator.index(until)
        except TypeError:
            raise InputError(f"until={until!r} is not a whole second") from None
        if latest < self.now:
            raise InputError(f"second {latest} is in the past: the simulation is at second {self.now}")
        return min(latest, NEVER - 1)

    def _waiting(self) -> NDArray[np.int64]:
        """Return the jobs in the queue, by entry."""
        if self._waits is None:
            self._waits = waiting_jobs(self._world)
        return self._waits

    def _fitting(self) -> NDArray[np.int64]:
        """Return the visible jobs that are ready and fit, by entry."""
        if self._fit is None:
            self._fit = self._starts.all_possible(self._world)
        return self._fit

    def _startable_number(self, job: int) -> int:
        """Return the number of a job that can be started now, or raise InputError."""
        try:
            row = operator.index(job)
        except TypeError:
            raise InputError(f"{job!r} is not the row number of a job in the workload") from None
        if not 0 <= row < len(self._row):
            raise InputError(f"row {row} does not exist: rows go from 0 to {len(self._row) - 1}")
        if not self._at.deciding:
            raise InputError("jobs can be started only at a decision: call next_decision() first")
        number, world = int(self._number[row]), self._world
        if number in self._fitting():
            return number
        name = f"job {self.workload.job_id[row]} (row {row})"
        if number not in self._waiting():
            raise InputError(f"{name} is not waiting at second {self.now}", row=row)
        if number not in world.waiting.queue.members():
            raise InputError(f"{name} is beyond the window of {world.rules.window} jobs that can be started", row=row)
        if world.dependencies is not None and not world.dependencies.ready[number]:
            raise InputError(f"{name} depends on jobs that have not ended", row=row)
        if (needed := int(world.jobs[number]["processors"])) > self.free:
            raise InputError(f"{name} needs {needed} processors, but {self.free} are free", row=row)
        raise InputError(f"{name} does not fit on the free nodes", row=row)

    def priorities(self) -> Priorities:
        """Return the multifactor priorities of the waiting jobs with their factors, as Slurm's `sprio` does.

        Raises
        ------
        InputError
            If the policy is not multifactor.

        Examples
        --------
        >>> from schedlab.engine.steps.stepwise import Simulation
        >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[9000] * 3, requested_time=[9000] * 3,
        ...                                   requested_processors=[4, 1, 3], user_id=[7, 7, 8]), processors=4)
        >>> simulation = Simulation(jobs, "multifactor(age=1000,size=500,fairshare=2000)+slurm")
        >>> _ = simulation.run(until=7200)
        >>> print(simulation.priorities())
        second 7,200; priorities were computed at second 7,200
        job  user  priority  age  fairshare  size  partition  qos  tres
        ---  ----  --------  ---  ---------  ----  ---------  ---  ----
        3       8      2386   12       2000   375          0    0     0
        2       7      1136   12       1000   125          0    0     0
        """
        found = priorities_of(self._prepared, self._world, self.now)
        if found is None:
            raise InputError(f"{self.scheduler or 'starts by hand'}: only multifactor(...) has priority factors")
        return found

    def reservation(self, job: int) -> Reservation:
        """Return when a waiting job is expected to fit, given the running jobs, and the extra processors then.

        Another job does not delay it if it ends by then or needs no more than the extra processors (EASY). Nodes are
        ignored: on a cluster of nodes, the job may have to wait longer.

        Parameters
        ----------
        job
            Its row in `workload`.

        Raises
        ------
        InputError
            If it is not waiting.
        """
        row = operator.index(job)
        if not (0 <= row < len(self._number) and self._number[row] in self._waiting()):
            raise InputError(f"row {job} is not waiting; the rows of the waiting jobs are in .waiting")
        needed = int(self._world.jobs["processors"][self._number[row]])
        return Reservation(*self._expected_room(self._world.state.running, self.now, self.free, needed))


@bare_kernel
def _expected_room(running: Calendar, now: int, free: int, needed: int) -> tuple[int, int]:
    """Return when so many processors are expected to be free, and how many more then."""
    second, place = now, soonest_place(running)
    while place >= 0:
        due = record_at(running, place)
        if free >= needed and due.end > second:
            break
        second = max(now, due.end)
        free += due.processors
        place = next_place(running, place)
    return second, free - needed


def put_together(workload: Workload, told: Told, *, open_ended: bool) -> tuple[Prepared, World, NDArray[np.int64]]:
    """Return a simulation before its first event, and the run times that its reservations assume at first.

    Requests, limits and users get numbers by the jobs alone, whatever numbers the names of these had in the workload:
    a file has the names in another order.
    """
    if told.events == "sc17":
        raise InputError("the event order sc17 cannot be run step by step: use simulate, or another event order")
    if isinstance(workload, Workload) and workload.resources is not None:
        workload = workload.replace(resources=workload.resources.in_order())
    prepared = prepare(
        workload,
        "fcfs" if told.scheduler is None else told.scheduler,
        processors=told.processors,
        events=told.events,
        in_order=told.in_order,
        requests=told.requests,
        cluster=told.cluster,
        node_events=told.node_events,
    )
    world = assemble(prepared, open_ended=open_ended)
    return prepared, world, prepared.jobs["estimate"].copy()
