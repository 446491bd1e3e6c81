"""Forks of a simulation: the same state with other run times and other arrivals, until the jobs have started."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.campaign.run.executors import usable_cores
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.durations import WEEK
from schedlab.engine.steps.pace import backfill_interval, leave_reasons, let_passes_come, let_passes_reserve_for
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.scheduler.scheduler import Scheduler
from schedlab.when.arrivals import PastArrivals
from schedlab.when.run_times import RunTimes, Sampling
from schedlab.when.state import MachineState

WEEKS = 9
"""Weeks after which a fork is cut: a job that has not started by then is taken to start at its end."""

FORKS, FEWEST = 100, 10
"""How many forks there are, and how many are made whatever time they take: of nine, one is below the quantile 0.1."""

SEED = 1

PACE, LONGEST = 0.02, 600
"""The share of the time since the present second after which Slurm's next backfill pass comes in a fork, and the most
seconds until it: with fewer passes, holes that could be backfilled stay empty for so long that queues grow."""

RESERVED, FEW = 3_600_000, 10
"""Slurm's next backfill pass in a fork reserves for so many jobs, divided by the seconds since the present one, but for
a few at least: a thousand after an hour. Others can be backfilled as before, but nothing is kept for them. A pass takes
most of its time to plan jobs around the reservations of those before."""

LOOKS = (*(int(600 * 1.08**step) for step in range(90)), WEEK)
"""Seconds of a week after which a fork is asked whether all jobs have started; they change no result under other
schedulers, and under Slurm's its backfill passes come less often from one to the next."""


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


class Forking(NamedTuple):
    """How forks are made.

    Parameters
    ----------
    forks, seed, arrivals, sampling
        As for `forecast`.
    within
        Seconds after which no further fork is begun, beyond the first ten; None: all are made.
    pace
        Under Slurm's scheduler, backfill passes come after this share of the time that a fork has simulated, at most
        ten minutes, where that is longer than `bf_interval`, and reserve for fewer jobs: a thousand after an hour, a
        hundred after ten; 0: always after `bf_interval`, for as many jobs as in reality.
    """

    forks: int = FORKS
    seed: int = SEED
    arrivals: bool = True
    sampling: Sampling = Sampling()
    within: float | None = None
    pace: float = PACE


def fork_waits(
    twin: Twin,
    state: MachineState,
    who: NDArray[np.int64],
    run_times: RunTimes,
    arrivals: PastArrivals | None,
    how: Forking,
    rng: np.random.Generator,
    lasts: NDArray[np.int64] | None = None,
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
    how
        How many forks are made, and how; with a bound on time, there may be fewer.
    rng
        Randomness.
    lasts
        int64 seconds per fork: how long each of these jobs runs; None: that is drawn, too.

    Notes
    -----
    Forks run side by side, a thread for each core: kernels leave the interpreter free. All that is drawn is drawn
    before, so that threads change no result. A fork that has begun is finished, so that a bound on time prefers no
    short waits; the first pass, before which kernels may be compiled, does not count for it.
    """
    drawing = _Drawing(state, run_times, arrivals, how.forks, rng)
    if lasts is not None:
        drawing.lasts[:, who] = lasts[:, None]
    base, waits = simulation_of(twin, state), np.full((how.forks, len(who)), WEEKS * WEEK, dtype=np.int64)
    branches: dict[int, tuple[Simulation, Coming]] = {}
    made = np.zeros(how.forks, dtype=np.bool_)

    def branch(back: int) -> tuple[Simulation, Coming]:
        if back not in branches:
            of_week = base.fork()
            branches[back] = of_week, drawing.submit(of_week, 0, back)
        return branches[back]

    def simulate(fork: int, of_week: Simulation, coming: Coming) -> None:
        if fork >= FEWEST and time.monotonic() > until:
            return
        one = of_week.fork()
        one.set_run_times(np.arange(len(state.jobs)), drawing.lasts[fork])
        drawing.let_last(one, coming, fork)
        started = _run(one, who, drawing, fork, how.pace)
        waits[fork, started >= 0] = started[started >= 0] - state.now
        made[fork] = True

    weeks = drawing.back[0].tolist()
    branch(weeks[0])[0].fork().run(until=state.now)
    until = np.inf if how.within is None else time.monotonic() + how.within
    with ThreadPoolExecutor(min(how.forks, usable_cores())) as threads:
        begun = [threads.submit(simulate, fork, *branch(back)) for fork, back in enumerate(weeks)]
        try:
            for one in begun:
                one.result()
        finally:
            threads.shutdown(cancel_futures=True)
    return waits[made]


def _run(one: Simulation, who: NDArray[np.int64], drawing: _Drawing, fork: int, pace: float) -> NDArray[np.int64]:
    """Run a fork until the jobs have started, or for all weeks; return their starts, -1 for those that have none."""
    now, interval = drawing.state.now, backfill_interval(one)
    for week in range(WEEKS):
        if week:
            drawing.let_last(one, drawing.submit(one, week, int(drawing.back[week][fork])), fork)
        leave_reasons(one)
        for look in LOOKS:
            if interval and pace:
                _let_passes_be_fewer(one, interval, one.now - now, pace)
            one.run(until=now + week * WEEK + look)
            started = one.start_time[who]
            if bool((started >= 0).all()):
                return started
    return started


def _let_passes_be_fewer(one: Simulation, interval: int, since: int, pace: float) -> None:
    """Let backfill passes come less often, and reserve for fewer jobs, the more seconds there have been since now."""
    let_passes_come(one, max(interval, min(LONGEST, int(pace * since))))
    let_passes_reserve_for(one, max(FEW, RESERVED // max(1, since)))


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
