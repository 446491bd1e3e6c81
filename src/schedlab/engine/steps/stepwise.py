"""A simulation in steps: run until a second, inspect, start jobs by hand, add jobs, save, load, fork."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.engine.driver import Driver
from schedlab.engine.jobs.clock import ARRIVED, BLAMED, COMPLETED, ENTERING, NOW, STAGE, SUBMITTED
from schedlab.engine.loop import ASK, LET_TIME_PASS, SCHEDULE
from schedlab.engine.passes.conservative_plan import Plan
from schedlab.engine.prepared import Events
from schedlab.engine.simulation import schedule_of
from schedlab.engine.steps.copies import copied
from schedlab.engine.steps.growth import grown, moves_of
from schedlab.engine.steps.observable import ObservableState, Progress, Told, put_together
from schedlab.engine.steps.resumed import Seen, bring_to, check_state, let_last
from schedlab.errors import InputError, check_type
from schedlab.schedule.placement import Placement
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.scheduler import Scheduler, as_scheduler
from schedlab.speculate.requests import Requests, requests_joined
from schedlab.workload.joining import joined
from schedlab.workload.workload import NO_WORKLOAD, Workload

BY_HAND = "by hand"
"""The scheduler text of a schedule without a scheduler."""


class Simulation(ObservableState):
    """A simulation in steps: the same event loop as `simulate`, with the same results.

    Jobs are named by their rows in `workload`, which grows when jobs are submitted.

    Parameters
    ----------
    workload, processors, events, in_order, requests, cluster, node_events
        As for `simulate`; the event order "sc17" cannot be run in steps.
    scheduler
        A scheduler text or a `Scheduler`. None: jobs only start by hand.

    Raises
    ------
    InputError
        As `simulate`.

    Notes
    -----
    A *decision* is a second in which, after the scheduling passes, a visible job that would fit the free processors
    still waits. `start` is possible at decisions only. Without a scheduler, all starts take place there; with one, a
    job is started there against the scheduler's decision, such as a backfilled job under "fcfs".

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> simulation = Simulation(jobs, "fcfs")
    >>> simulation.next_decision(), simulation.now, simulation.waiting.tolist(), simulation.startable.tolist()
    (True, 2, [1, 2], [2])
    >>> simulation.start(2)
    >>> simulation.run()
    True
    >>> simulation.schedule().start_time.tolist()
    [0, 10, 2]
    """

    def __init__(
        self,
        workload: Workload,
        scheduler: str | Scheduler | None = "fcfs+easy",
        *,
        processors: int | None = None,
        events: Events = "batched",
        in_order: int = 0,
        requests: Requests | None = None,
        cluster: Cluster | None = None,
        node_events: NodeEvents | None = None,
    ) -> None:
        chosen = None if scheduler is None else as_scheduler(scheduler)
        self._told = Told(chosen, processors, events, in_order, requests, cluster, node_events)
        self._at = Progress()
        self._observers: list[Callable[[Simulation], object]] = []
        self._stand(*put_together(workload, self._told, open_ended=False))

    @classmethod
    def from_state(
        cls,
        workload: Workload,
        start_time: ArrayLike,
        now: int,
        *,
        placement: Placement | None = None,
        priority: NDArray[np.float64] | None = None,
        usage: Mapping[tuple[str, str], float] | None = None,
        **machine: Any,
    ) -> Simulation:
        """Return a simulation that begins in the middle: some jobs run, others wait, and those that ended are absent.

        The first step makes the scheduling pass of the present second. A scheduler that learns or counts past usage
        knows of no other jobs; under conservative backfilling, all reservations are made then.

        Parameters
        ----------
        workload
            The jobs that run or wait; a job that runs lasts beyond the present second.
        start_time
            int64 seconds per row: when it started; -1 if it waits.
        now
            The present second.
        placement
            The nodes of each running job. None: those that placement gives them without the jobs that have ended.
        priority
            float64 per row: the priorities that waiting jobs are seen to have now, NaN where they are unknown.
        usage
            Processor-seconds that users in accounts have used, decayed, as `sshare` tells them.
        **machine
            The arguments of `Simulation`.

        Raises
        ------
        InputError
            As `simulate`, or if the jobs cannot be in this state.

        Examples
        --------
        >>> jobs = Workload.from_columns(dict(submit_time=[0, 1], run_time=[10, 5], requested_time=[10, 5],
        ...                                   requested_processors=[3, 4]), processors=4)
        >>> simulation = Simulation.from_state(jobs, [0, -1], 4)
        >>> simulation.run()
        True
        >>> simulation.start_time.tolist()
        [0, 10]
        """
        simulation, begun = cls(workload, **machine), np.asarray(start_time, dtype=np.int64)
        check_state(workload, begun, now)
        simulation._watch(True)
        bring_to(simulation._driver, begun[simulation._row], now, Seen(placement, priority, usage))
        simulation._watch(False)
        simulation._at = Progress(until=now)
        return simulation

    def set_run_times(self, jobs: ArrayLike, seconds: ArrayLike) -> None:
        """Let jobs that have not ended run for other times than those of the workload.

        Parameters
        ----------
        jobs
            Their rows in `workload`.
        seconds
            How long each runs in all; a job that runs already ends after the present second.

        Raises
        ------
        InputError
            If a job has ended, or would end in the past, or if passes resize jobs, whose run times are those of sizes.
        """
        rows, lasts = np.atleast_1d(jobs).astype(np.int64), np.atleast_1d(seconds).astype(np.int64)
        start, runs = self.start_time[rows], np.isin(rows, self.running)
        late = runs & (start + lasts <= self.now) | ~runs & ((start >= 0) | (lasts < 0))
        if bool(late.any()):
            row = int(rows[np.argmax(late)])
            raise InputError(
                f"job {self.workload.job_id[row]} (row {row}) has ended, or would end in the past", row=row
            )
        let_last(self._world, self._number[rows].astype(np.int64), lasts)

    def observe(self, observer: Callable[[Simulation], object]) -> None:
        """Register a function to call with the simulation after the scheduling passes of each second, while it runs.

        It may inspect everything and, if waiting jobs fit, start them.

        Raises
        ------
        InputError
            If it is not a function.
        """
        if not callable(observer):
            raise InputError(f"{observer!r} is not a function: an observer is called with the simulation")
        self._observers.append(observer)

    def run(self, until: int | None = None) -> bool:
        """Run to the end, or up to and including a second; return whether all jobs have ended.

        Without a scheduler, jobs are only started by observers.

        Raises
        ------
        InputError
            If that second is in the past, a score is not a number, or a predictor in Python fails.
        """
        latest = self._latest(until)
        if self._observers or self._told.scheduler is None:
            while self._next_pass(latest):
                self._at.deciding = True
                for observer in self._observers:
                    observer(self)
        else:
            self._leave_decision()
            self._watch(False)
            self._driver.run(latest)
        self._leave_decision()
        if until is not None:
            self._at.until = latest
        return self.ended

    def next_decision(self, until: int | None = None) -> bool:
        """Run to the next decision; return False if none is left, or none up to and including a second.

        If a job was started at the present decision and another one still fits, the next decision is in the same
        second. A decision without a start is over.

        Raises
        ------
        InputError
            As `run`.
        """
        latest = self._latest(until)
        if not (self._at.deciding and self._at.started and len(self._fitting())):
            while self._next_pass(latest):
                if len(self._fitting()):
                    break
            else:
                if until is not None:
                    self._at.until = latest
                return False
        self._at.deciding, self._at.started = True, False
        return True

    def start(self, job: int) -> None:
        """Start a waiting job now.

        Under conservative backfilling, all reservations are then made again.

        Parameters
        ----------
        job
            Its row in `workload`.

        Raises
        ------
        InputError
            If the simulation is not at a decision, or if the job does not wait, is not seen by the scheduler, or does
            not fit.
        """
        number = self._startable_number(job)
        world, clock, at = self._world, self._clock, self._at
        self._starts.start(world, number)
        self._forget_queue()
        at.started, at.by_hand = True, at.by_hand + 1
        if isinstance(world.plan, Plan) and clock[BLAMED] < 0:
            clock[COMPLETED] = clock[ARRIVED] = clock[ENTERING] = 0
            clock[STAGE] = SCHEDULE
            self._watch(False)
            self._driver.run(int(clock[NOW]) - 1)  # the pass, without the events that follow
        if clock[BLAMED] >= 0:
            self._driver.blame()

    def submit(self, jobs: Workload, *, requests: Requests | None = None) -> NDArray[np.intp]:
        """Add jobs, which are submitted at their submit times.

        Parameters
        ----------
        jobs
            Their submit times must not be in the past; those of the present second get their own event. Dependencies
            among them, workflows and run-time distributions are added with them.
        requests
            Their requests, if the simulation has `requests` too; run-time distributions and applications are numbered
            as there.

        Returns
        -------
        numpy.ndarray
            Their rows in `workload`.

        Raises
        ------
        InputError
            If a job is submitted in the past, or cannot be simulated.

        Notes
        -----
        The placement rule `fgd` takes its typical requests from all jobs that are known: it may place jobs that come
        before the added ones otherwise than if all had been known from the beginning.

        All arrays are copied, which takes time in proportion to the jobs of the simulation: add many jobs at once.
        """
        check_type(jobs, Workload, NO_WORKLOAD)
        late = jobs.submit_time < self.now
        if len(jobs) and bool(late.any()):
            row = int(np.argmax(late))
            raise InputError(
                f"job {jobs.job_id[row]} would be submitted at second {jobs.submit_time[row]}, but second {self.now} "
                "has come",
                row=row,
            )
        before = len(self._row)
        if not len(jobs):
            return np.arange(0)
        told = self._told
        if (told.requests is None) != (requests is None):
            raise InputError(
                "give requests for all jobs of a simulation or for none, both at its beginning and in submit()"
            )
        if told.requests is not None and requests is not None:
            told = told._replace(requests=requests_joined(told.requests, requests))
        old, number, former = self._world, self._number, self._prepared
        made = put_together(joined(self._given, jobs), told, open_ended=True)
        self._told = told
        self._at.open_ended = True
        before_growth = self._driver
        self._stand(*made)
        moved = np.empty(before, dtype=np.intp)
        moved[number] = self._number[:before]
        moves = moves_of(former, self._prepared, moved, int(old.state.clock[SUBMITTED]))
        self._driver = Driver(self._prepared, grown(old, self._world, moves))
        self._driver.take_over(before_growth)
        return np.arange(before, len(self._row))

    def schedule(self) -> Schedule:
        """Return the schedule, as `simulate` does.

        Raises
        ------
        InputError
            If not all jobs have ended.
        """
        if not self.ended:
            raise InputError(f"no schedule yet: some jobs have not ended: {self!r}")
        schedule = schedule_of(self._prepared, self._world, self._first_estimate)
        if self._told.scheduler is None or self._at.by_hand:
            named = BY_HAND if self._told.scheduler is None else f"{self._told.scheduler.text} and {BY_HAND}"
            specification = {**schedule.specification, "started_by_hand": self._at.by_hand}
            schedule = replace(schedule, scheduler=named, specification=specification)
        return schedule

    def fork(self) -> Simulation:
        """Return an independent copy of the simulation in its present state.

        Observers stay with this one. A predictor or a pass in Python is copied.
        """
        other = Simulation.__new__(Simulation)
        other._told, other._at, other._observers = self._told, replace(self._at), []
        prepared, world = copied((self._prepared, self._world))
        other._stand(prepared, world, self._first_estimate)
        other._driver.take_over(self._driver)
        return other

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the simulation to a file, which `load` can resume; see `schedlab.engine.steps.saved`.

        Raises
        ------
        InputError
            If its scheduler asks functions or predictors in Python: their state cannot be written.
        OutputError
            If the file cannot be written; nothing half-written is left.
        """
        from schedlab.engine.steps.saved import save_simulation

        save_simulation(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], workload: Workload | None = None) -> Simulation:
        """Read a simulation that `save` has written; it continues exactly as if it had never been interrupted.

        Checksums tell damaged files, but the numbers in a file are believed: load only files from people you trust.

        Parameters
        ----------
        path
            The file.
        workload
            The workload that it must match, or `workload` of the simulation; None takes the one in the file.

        Raises
        ------
        InputError
            If the file is damaged, incomplete, of another version of schedlab or of another workload.
        """
        from schedlab.engine.steps.saved import load_simulation

        return load_simulation(path, workload)

    def _watch(self, observed: bool) -> None:
        world = self._driver.world
        if world.rules.observed != observed:
            self._driver.world = world._replace(rules=world.rules._replace(observed=observed))

    def _leave_decision(self) -> None:
        self._at.deciding = self._at.started = False
        self._forget_queue()

    def _next_pass(self, latest: int) -> bool:
        """Run until the passes of the next second with a pass are done; return False if there is none."""
        self._leave_decision()
        self._watch(True)
        if self._driver.advance(latest) != ASK:
            return False
        while True:
            if self._told.scheduler is None:
                self._clock[STAGE] = LET_TIME_PASS
            if self._driver.advance(int(self._clock[NOW])) != ASK:
                return True
