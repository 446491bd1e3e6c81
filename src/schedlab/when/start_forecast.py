"""When waiting jobs will start: a distribution for each, from forks of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.errors import InputError, whole_number
from schedlab.schedule.recorded import recorded
from schedlab.schedule.schedule import Schedule
from schedlab.when.arrivals import NONE, PastArrivals
from schedlab.when.forks import FORKS, SEED, Forking, Twin, fork_waits, refuse_running
from schedlab.when.past_runs import PastRuns
from schedlab.when.run_times import RunTimes, Sampling
from schedlab.when.state import MachineState, state_at
from schedlab.wording import count_of
from schedlab.workload.workload import Workload


@dataclass(frozen=True, eq=False)
class StartForecast:
    """When jobs start, as a sample of their waits.

    Parameters
    ----------
    now
        The second in which was asked.
    jobs
        The jobs.
    waits
        int64 seconds of shape (forks, jobs): how long each waits from now on, in each fork of the simulation.
    forks, seed
        How many forks there were, and the seed of their randomness.
    weeks
        From how many past weeks further arrivals were drawn; 0: the log is shorter, or none was assumed.
    arrivals
        What was assumed of further jobs, in words.
    methods
        For each job, the method that answers, see `Backtest`; empty: forks, not recalibrated.
    left_out
        How many forks were not made, because the time for them was over.
    """

    now: int
    jobs: Workload
    waits: NDArray[np.int64]
    forks: int
    seed: int
    weeks: int
    arrivals: str = NONE
    methods: tuple[str, ...] = ()
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.jobs)

    @property
    def made_of(self) -> str:
        """How many simulations the forecast is made of, and of how many if time was short, as text."""
        if not self.left_out:
            return count_of(self.forks, "simulation")
        return f"{self.forks} of {self.forks + self.left_out} simulations (the time for them was over)"

    def quantiles(self, levels: ArrayLike = (0.1, 0.5, 0.9)) -> NDArray[np.float64]:
        """Return quantiles of the waits in seconds, of shape (jobs, levels), as r / (N + 1) ranks them."""
        return quantiles_of(self.waits, levels)

    def chance(self, seconds: float) -> NDArray[np.float64]:
        """Return for each job the share of forks in which it starts within so many seconds; 0: at once."""
        return np.asarray((self.waits <= seconds).mean(axis=0))

    def to_dicts(self) -> list[dict[str, float | int]]:
        """Return for each job its number, the quantiles of its start, and chances, as JSON would have them."""
        quantiles = self.quantiles() + self.now
        return [
            {
                "job": int(self.jobs.job_id[row]),
                **dict(zip(("start_10", "start_50", "start_90"), quantiles[row].tolist(), strict=True)),
                **{name: float(self.chance(seconds)[row]) for name, seconds in CHANCES.items()},
            }
            for row in range(len(self))
        ]


CHANCES = {"at_once": 0, "within_1_min": 60, "within_10_min": 600, "within_1_h": 3_600, "within_1_d": 86_400}
"""Which chances are told, by the seconds from now."""


def quantiles_of(waits: NDArray[np.int64], levels: ArrayLike) -> NDArray[np.float64]:
    """Return quantiles of a sample, of shape (jobs, levels): the r-th of N values is that of level r / (N + 1)."""
    found = np.quantile(waits, np.asarray(levels, dtype=np.float64), axis=0, method="weibull")
    return np.asarray(found.T)


def forecast(
    log: Schedule,
    now: int,
    twin: Twin | None = None,
    *,
    jobs: Sequence[int] | None = None,
    new: Workload | None = None,
    forks: int = FORKS,
    seed: int = SEED,
    arrivals: bool = True,
    sampling: Sampling | None = None,
) -> StartForecast:
    """Forecast when waiting jobs of a log will start, from what is known at a second of it.

    Parameters
    ----------
    log
        The jobs with their starts and ends. Nothing that lies behind `now` is used.
    now
        The second; the jobs that are submitted in it wait, and its scheduling pass is still to come.
    twin
        The scheduler and the machine; None: those of the log, if a simulation made it, and "fcfs+easy" otherwise.
    jobs
        Numbers (`job_id`) of waiting jobs. None: all, or only `new`, if there is any.
    new
        Jobs that are asked about and not in the log, as if they were submitted now.
    forks
        How many simulations are made.
    seed
        The seed of all randomness: the same seed gives the same numbers.
    arrivals
        Whether further jobs arrive, as those of past weeks.
    sampling
        How run times are drawn; None: as usual.

    Raises
    ------
    InputError
        If a job does not wait at that second, or if the state cannot be simulated.

    Examples
    --------
    One job holds the machine; the user's jobs have always used half of their requests.

    >>> from schedlab.engine.simulation import simulate
    >>> log = Workload.from_columns(dict(submit_time=[0, 60, 200, 210], run_time=[50, 50, 50, 50], user_id=[7] * 4,
    ...                                  requested_time=[100] * 4, requested_processors=[4] * 4), processors=4)
    >>> found = forecast(simulate(log), 210)
    >>> found.jobs.job_id.tolist(), bool((found.waits >= 1).all()), bool(np.median(found.waits) == 40)
    ([4], True, True)
    """
    state = state_at(log, whole_number("now", now))
    how = Forking(forks, seed, arrivals, sampling or Sampling())
    return forecast_of_state(state, twin or twin_of(log), log, how, jobs=jobs, new=new)


def forecast_of_state(
    state: MachineState,
    twin: Twin,
    log: Schedule | None,
    how: Forking,
    *,
    jobs: Sequence[int] | None = None,
    new: Workload | None = None,
    lasts: NDArray[np.int64] | None = None,
) -> StartForecast:
    """Forecast when waiting jobs of a state will start; parameters and errors as of `forecast`.

    Parameters
    ----------
    state, twin
        The jobs that run and wait, and what schedules them.
    log
        The past, of which run times and arrivals are drawn; None: nothing is known of it.
    how
        How many forks, and what is drawn for them.
    jobs, new
        Who is asked about.
    lasts
        int64 seconds per fork: how long each of these runs; None: that is drawn, too.
    """
    if whole_number("forks", how.forks) < 1:
        raise InputError(f"forks={how.forks}: give the number of simulations, at least 1")
    count = len(state.jobs)
    if new is not None:
        state = state.with_jobs(new)
    who = _asked(state, jobs, count if new is not None else None)
    refuse_running(state, who)
    past = recorded(state.jobs[:0]) if log is None else log
    weeks = PastArrivals(past, state.now) if how.arrivals else None
    run_times = RunTimes(PastRuns.of(past), state.now, how.sampling)
    rng = np.random.default_rng([how.seed, state.now])
    waits = fork_waits(twin, state, who, run_times, weeks, how, rng, lasts)
    told = (0, NONE) if weeks is None else (weeks.weeks, weeks.text)
    left_out = how.forks - len(waits)
    return StartForecast(state.now, state.jobs[who], waits, len(waits), how.seed, *told, left_out=left_out)


def twin_of(log: Schedule) -> Twin:
    """Return the scheduler and the machine of a schedule; those of a recorded log are "fcfs+easy" on its machine.

    Raises
    ------
    InputError
        If the schedule is one of a cluster of nodes, which it does not describe.
    """
    if log.placement is not None:
        raise InputError("the schedule is one of nodes: give scheduler and cluster, Twin(scheduler, cluster=...)")
    simulated = log.specification.get("requests_enforced") is not None
    return Twin(log.scheduler if simulated else "fcfs+easy", log.processors)


def _asked(state: MachineState, jobs: Sequence[int] | None, new: int | None) -> NDArray[np.int64]:
    """Return the rows of the jobs that are asked about."""
    if new is not None and jobs is None:
        return np.arange(new, len(state.jobs))
    if jobs is None:
        return state.waiting
    rows = []
    for job in jobs:
        found = np.flatnonzero(state.jobs.job_id == job)
        if not len(found):
            raise InputError(f"job {job} neither waits nor runs at second {state.now}")
        waits = found[state.start_time[found] < 0]  # tasks of an array have one number, and the first stands for all
        rows.append(int((waits if len(waits) else found)[0]))
    return np.array(rows, dtype=np.int64)
