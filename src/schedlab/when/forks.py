"""Forks of a simulation: the same state with other run times and other arrivals, until the jobs have started."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.campaign.run.executors import usable_cores
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.durations import WEEK
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.scheduler.scheduler import Scheduler
from schedlab.when.arrivals import PastArrivals
from schedlab.when.run_times import RunTimes
from schedlab.when.state import MachineState

WEEKS = 9
"""Weeks after which a fork is cut: a job that has not started by then is taken to start at its end."""

LOOKS = (*(int(600 * 1.08**step) for step in range(90)), WEEK)
"""Seconds of a week after which a fork is asked whether all jobs have started; they change no result."""


class Twin(NamedTuple):
    """The scheduler and the machine that forks are simulated with.

    Parameters
    ----------
    scheduler
        A scheduler text or a `Scheduler`.
    processors, cluster
        The machine: a number of processors, or a cluster. None: what the log says.
    node_events
        What happens to the nodes of the cluster: those that are out of service, reservations, maintenance.
    """

    scheduler: str | Scheduler = "fcfs+easy"
    processors: int | None = None
    cluster: Cluster | None = None
    node_events: NodeEvents | None = None


def simulation_of(twin: Twin, state: MachineState) -> Simulation:
    """Return the simulation that begins in a state."""
    machine: dict[str, Any] = twin._asdict()
    seen: dict[str, Any] = {"placement": state.placement, "priority": state.priority, "usage": state.usage}
    return Simulation.from_state(state.jobs, state.start_time, state.now, **seen, **machine)


def fork_waits(
    twin: Twin,
    state: MachineState,
    who: NDArray[np.int64],
    run_times: RunTimes,
    arrivals: PastArrivals | None,
    forks: int,
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Return how long jobs still wait in forks of a simulation: int64 seconds of shape (forks, jobs).

    Parameters
    ----------
    twin, state
        The scheduler, the machine and what is on it.
    who
        The rows of the jobs, which wait.
    run_times
        The distributions of run times.
    arrivals
        Where further jobs come from; None: there are none.
    forks
        How many.
    rng
        Randomness.

    Notes
    -----
    Forks run side by side, a thread for each core: kernels leave the interpreter free. All that is drawn is drawn
    before, so that threads change no result.
    """
    drawing = _Drawing(state, run_times, arrivals, forks, rng)
    base, waits = simulation_of(twin, state), np.full((forks, len(who)), WEEKS * WEEK, dtype=np.int64)

    def simulate(fork: int, branch: Simulation, coming: Coming) -> None:
        one = branch.fork()
        one.set_run_times(np.arange(len(state.jobs)), drawing.lasts[fork])
        drawing.let_last(one, coming, fork)
        started = _run(one, who, drawing, fork)
        waits[fork, started >= 0] = started[started >= 0] - state.now

    with ThreadPoolExecutor(min(forks, usable_cores())) as threads:
        begun = []
        for back in np.unique(drawing.back[0]).tolist():
            branch = base.fork()
            coming = drawing.submit(branch, 0, back)
            of_branch = np.flatnonzero(drawing.back[0] == back).tolist()
            begun += [threads.submit(simulate, fork, branch, coming) for fork in of_branch]
        try:
            for one in begun:
                one.result()
        finally:
            threads.shutdown(cancel_futures=True)
    return waits


def _run(one: Simulation, who: NDArray[np.int64], drawing: _Drawing, fork: int) -> NDArray[np.int64]:
    """Run a fork until the jobs have started, or for all weeks; return their starts, -1 for those that have none."""
    now = drawing.state.now
    for week in range(WEEKS):
        if week:
            drawing.let_last(one, drawing.submit(one, week, int(drawing.back[week][fork])), fork)
        for look in LOOKS:
            one.run(until=now + week * WEEK + look)
            started = one.start_time[who]
            if bool((started >= 0).all()):
                return started
    return started


class Coming(NamedTuple):
    """Jobs that were submitted to a fork: the rows of those whose run times are drawn, and these by fork."""

    rows: NDArray[np.intp]
    lasts: NDArray[np.int64]


class _Drawing:
    """What is drawn for the forks: run times of the jobs that are there, and weeks of arrivals with theirs."""

    def __init__(
        self,
        state: MachineState,
        run_times: RunTimes,
        arrivals: PastArrivals | None,
        forks: int,
        rng: np.random.Generator,
    ) -> None:
        jobs = state.jobs
        self.state, self.arrivals, self._run_times, self._forks = state, arrivals, run_times, forks
        self.lasts = run_times.draw(jobs.user_id, jobs.requested_time, state.elapsed, forks, rng)
        self.back = [np.zeros(forks, dtype=np.int64)] * WEEKS
        if arrivals is not None:
            self.back = [arrivals.draw_weeks(forks, week, rng) for week in range(WEEKS)]
        self._seed = int(rng.integers(1 << 62))
        self._made: dict[tuple[int, int], Any] = {}

    def submit(self, one: Simulation, week: int, back: int) -> Coming:
        """Submit the jobs of a week to a fork; return those whose run times are not known."""
        jobs, unknown, lasts = self._week(week, back)
        rows = one.submit(jobs) if len(jobs) else np.arange(0)
        return Coming(rows[unknown], lasts)

    def _week(self, week: int, back: int) -> Any:
        if (week, back) not in self._made:
            if self.arrivals is None:
                jobs, known = self.state.jobs[:0], np.zeros(0, dtype=np.bool_)
            else:
                jobs, known = self.arrivals.of(week, back)
            open_ = jobs[~known]
            rng = np.random.default_rng([self._seed, week, back])
            none = np.full(len(open_), -1)
            lasts = self._run_times.draw(open_.user_id, open_.requested_time, none, self._forks, rng)
            self._made[week, back] = jobs, np.flatnonzero(~known), lasts
        return self._made[week, back]

    def let_last(self, one: Simulation, coming: Coming, fork: int) -> None:
        """Give the submitted jobs of unknown run times those that were drawn."""
        if len(coming.rows):
            one.set_run_times(coming.rows, coming.lasts[fork])


def refuse_running(state: MachineState, who: NDArray[np.int64]) -> None:
    """Raise InputError if one of the jobs does not wait."""
    runs = state.start_time[who] >= 0
    if bool(runs.any()):
        row = int(who[np.argmax(runs)])
        raise InputError(f"job {state.jobs.job_id[row]} does not wait: it started at second {state.start_time[row]}")
