"""How good start forecasts were over a log: made at submissions, of jobs that did not start at once, and judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError, whole_number
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Conservative
from schedlab.scheduler.scheduler import Scheduler, as_scheduler
from schedlab.when.arrivals import PastArrivals
from schedlab.when.at_once import AT_ONCE, AtOnce, chance_at_once
from schedlab.when.baselines import binomial_bounds, last_week
from schedlab.when.forks import SEED, WEEKS, Forking, Twin, fork_waits, simulation_of
from schedlab.when.methods import (
    BOTH,
    CHOSEN,
    FORKED,
    LAST_WEEK,
    METHODS,
    PLAN,
    QBETS,
    QUEUE,
    RECALIBRATED,
    chosen,
    only,
    recalibrated,
    similar_waits,
    with_forks,
)
from schedlab.when.past_runs import PastRuns
from schedlab.when.queue_forest import PastQueues
from schedlab.when.queue_views import QueueJobs, QueueViews
from schedlab.when.recalibration import LEAD_NAMES, TAUS, WIDTH_NAMES, Outcomes
from schedlab.when.run_times import RunTimes, Sampling
from schedlab.when.scores import Score, score
from schedlab.when.start_forecast import twin_of
from schedlab.when.state import MachineState, state_at

JOBS, FORKS, FEW_FORKS = 600, 60, 20
"""Jobs of each half, and forks of each; few of them tell whether a job starts at once."""

FIRST = 0.12
"""The share of a log before the first forecast: there is little past to learn from."""

LAST_DAYS, LAST_PART = 10 * 86_400, 0.1
"""Seconds before the last submission in which no forecast is made, as the log does not show what comes behind it: of a
short log, this part of it."""


@dataclass(frozen=True, eq=False)
class Backtest:
    """Forecasts of a log and what came of them; the jobs of its second half are judged.

    Parameters
    ----------
    name, scheduler
        The log, and the scheduler of the forks.
    outcomes
        The forecasts by forks, with their outcomes.
    plan
        int64 seconds: what a plan with requested times said.
    view
        float64 of shape (jobs, columns): what each job saw of the queue.
    queue
        int64 seconds of shape (forks, jobs): what jobs waited that saw a similar queue before.
    job_id
        The jobs.
    judged_from
        The second from which on forecasts are judged; earlier ones serve to recalibrate.
    seed
        Of all randomness.
    left_out
        How many jobs were drawn and left out, because the state at their submission could not be simulated.
    baselines
        The quantiles 0.1 ... 0.9 of the jobs in seconds that operators could tell without any model, by name.
    at_once
        Forecasts of whether jobs of the second half start at once, with jobs that did.
    """

    name: str
    scheduler: str
    outcomes: Outcomes
    plan: NDArray[np.int64]
    view: NDArray[np.float64]
    queue: NDArray[np.int64]
    job_id: NDArray[np.int64]
    judged_from: int
    seed: int
    left_out: int = 0
    baselines: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    at_once: AtOnce | None = None

    def __len__(self) -> int:
        return len(self.job_id)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which forecasts are judged."""
        return np.asarray(self.outcomes.moment >= self.judged_from)

    @cached_property
    def past(self) -> PastQueues:
        """What the jobs saw of the queue, with quantiles of their forks, and how long they waited."""
        moment, waits = self.outcomes.moment, self.outcomes.waits
        return PastQueues(moment, with_forks(self.view, waits), self.outcomes.outcome)

    @cached_property
    def samples(self) -> dict[str, Outcomes]:
        """The forecasts of the methods that may answer, before they are recalibrated."""
        past, forks = self.past, self.outcomes
        both = similar_waits(past, past.view, past.moment, len(forks.waits))
        return {RECALIBRATED: forks, QUEUE: forks._replace(waits=self.queue), BOTH: forks._replace(waits=both)}

    @cached_property
    def recalibrated(self) -> dict[str, NDArray[np.float64]]:
        """The recalibrated quantiles 0.1 ... 0.9 of all forecasts by the methods that may answer."""
        return {method: recalibrated(one) for method, one in self.samples.items()}

    @cached_property
    def _chosen(self) -> NDArray[np.float64]:
        return chosen(self.recalibrated, self.outcomes)

    def quantiles(self, method: str) -> NDArray[np.float64]:
        """Return the quantiles 0.1 ... 0.9 of the judged jobs in seconds, of shape (jobs, 9), by one of the methods."""
        rows = np.flatnonzero(self.judged)
        if method == PLAN:
            return np.repeat(self.plan[rows, None].astype(np.float64), len(TAUS), axis=1)
        if method == FORKED:
            return np.asarray(np.quantile(self.outcomes.waits[:, rows], TAUS, axis=0, method="weibull").T)
        if method == CHOSEN:
            return self._chosen[rows]
        if method in self.baselines:
            return self.baselines[method][rows]
        if method not in METHODS:
            known = ", ".join(map(repr, self.methods))
            raise InputError(f"method {method!r} is unknown; known are {known}")
        return self.recalibrated[method][rows]

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that have a score."""
        return (PLAN, *self.baselines, FORKED, *METHODS, CHOSEN)

    def score(self, method: str) -> Score:
        """Return how good a method was."""
        rows = self.judged
        return score(self.outcomes.outcome[rows], self.quantiles(method), self.outcomes.moment[rows])

    def scores_by_class(self, method: str) -> dict[tuple[str, str], Score]:
        """Return how good a method was by class: of the lead that forks predict, and of the processors."""
        rows, quantiles = self.judged, self.quantiles(method)
        asked = only(self.outcomes, np.flatnonzero(rows))
        edges = np.quantile(self.outcomes.processors[~rows], [1 / 3, 2 / 3])
        lead, width = asked.lead(), asked.width(edges)
        found = {}
        for one, lead_name in enumerate(LEAD_NAMES):
            for other, width_name in enumerate(WIDTH_NAMES):
                of = (lead == one) & (width == other)
                if of.any():
                    found[lead_name, width_name] = score(asked.outcome[of], quantiles[of], asked.moment[of])
        return found


@explained
def backtest(
    log: Schedule,
    twin: Twin | None = None,
    *,
    jobs: int = JOBS,
    forks: int = FORKS,
    seed: int = SEED,
    arrivals: bool = True,
    sampling: Sampling | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Backtest:
    """Forecast the starts of jobs of a log at their submissions, each by what was known then, and judge them.

    Parameters
    ----------
    log
        The jobs with their starts and ends, of a simulation or as recorded.
    twin
        The scheduler and the machine of the forks, as for `forecast`.
    jobs
        How many jobs to draw from each half of the log, of those that did not start at once.
    forks, seed, arrivals, sampling
        As for `forecast`.
    progress
        Called with how many forecasts are done, and of how many.

    Raises
    ------
    InputError
        If less than ten jobs of a half had to wait, or as `forecast`.
    """
    if whole_number("jobs", jobs) < 10:
        raise InputError(f"jobs={jobs}: give at least 10 jobs of each half of the log")
    asked, options = twin or twin_of(log), sampling or Sampling()
    rng = np.random.default_rng(seed)
    rows, half = _drawn(log, jobs, rng)
    submit = log.workload.submit_time
    found, refused = [], []
    of_row = _Asking(log, asked, forks, seed, arrivals, options)
    for place, row in enumerate(rows.tolist()):
        try:
            found.append((row, *of_row.answers(row)))
        except InputError as error:  # without nodes of the log, running jobs may not fit
            refused.append(error)
            if 2 * len(refused) > max(10, len(rows)):
                raise
        if progress is not None:
            progress(place + 1, len(rows))
    rows = np.array([one[0] for one in found], dtype=np.intp)
    moment, outcome = submit[rows], np.asarray(log.start_time - submit, dtype=np.int64)[rows]
    waits = np.stack([one[1] for one in found], axis=1)
    outcomes = Outcomes(moment, waits, outcome, log.workload.job_processors[rows])
    view, queue = _by_queue(log, rows, forks, rng)
    text, plan = as_scheduler(asked.scheduler).text, np.array([one[2] for one in found], dtype=np.int64)
    told = (half, seed, len(refused), _baselines(log, rows), of_row.at_once(half, jobs))
    return Backtest(log.workload.name, text, outcomes, plan, view, queue, log.workload.job_id[rows], *told)


def _baselines(log: Schedule, rows: NDArray[np.intp]) -> dict[str, NDArray[np.float64]]:
    jobs = QueueJobs.of(log)
    return {LAST_WEEK: last_week(jobs, rows), QBETS: binomial_bounds(jobs, rows)}


class _Asking:
    """What is asked of each job at its submission."""

    def __init__(self, log: Schedule, twin: Twin, forks: int, seed: int, arrivals: bool, sampling: Sampling) -> None:
        self._log, self._twin, self._forks, self._seed = log, twin, forks, seed
        self._arrivals, self._sampling, self._past = arrivals, sampling, PastRuns.of(log)

    def answers(self, row: int) -> tuple[NDArray[np.int64], np.int64]:
        """Return the waits of a job in forks, and its wait by a plan with requested times."""
        log, now = self._log, int(self._log.workload.submit_time[row])
        state = state_at(log, now)
        who = np.flatnonzero(state.rows == row)
        weeks = PastArrivals(log, now) if self._arrivals else None
        own = np.random.default_rng([self._seed, now, row])
        run_times = RunTimes(self._past, now, self._sampling)
        waits = fork_waits(self._twin, state, who, run_times, weeks, Forking(self._forks), own)
        return waits[:, 0], planned_waits(self._twin, state, who)[0]

    def at_once(self, half: int, jobs: int) -> AtOnce | None:
        """Return whether jobs drawn of all of the second half start at once; None: no state can be simulated."""
        log, submit = self._log, self._log.workload.submit_time
        rng, found = np.random.default_rng([self._seed, half]), []
        asked = (submit >= half) & (submit < _last_moment(submit))
        kept = np.flatnonzero(asked if log.cancelled is None else asked & ~log.cancelled)
        for row in np.sort(rng.choice(kept, min(jobs, len(kept)), replace=False)).tolist():
            now = int(submit[row])
            try:
                found.append((now, self._chance(row, now, rng), int(log.start_time[row]) - now <= AT_ONCE))
            except InputError:  # without nodes of the log, running jobs may not fit
                continue
        if not found:
            return None
        moment, chance, came = zip(*found, strict=True)
        return AtOnce(np.array(moment, dtype=np.int64), np.array(chance), np.array(came))

    def _chance(self, row: int, now: int, rng: np.random.Generator) -> float:
        state = state_at(self._log, now)
        job = int(np.flatnonzero(state.rows == row)[0])
        run_times = RunTimes(self._past, now, self._sampling)
        return chance_at_once(self._twin, state, job, run_times, FEW_FORKS, rng)


def _by_queue(
    log: Schedule, rows: NDArray[np.intp], forks: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return what jobs see of the queue at their submission, and what others waited that saw a similar one before."""
    jobs = QueueJobs.of(log)
    views, moment = QueueViews(jobs), jobs.submit[rows]
    view = np.array([views.of(int(row), int(now)) for row, now in zip(rows, moment, strict=True)])
    past = PastQueues.of(jobs, rng, int(moment.max()))
    return view, similar_waits(past, view, moment, forks)


def _drawn(log: Schedule, jobs: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], int]:
    """Return the rows of the jobs, in order of submission, and the second that halves the log."""
    submit = log.workload.submit_time
    ordered = np.sort(submit)
    first, half = (int(ordered[int(share * len(ordered))]) for share in (FIRST, 0.5))
    waits = (log.start_time > submit) & (submit >= first) & (submit < _last_moment(submit))
    if log.cancelled is not None:
        waits &= ~log.cancelled
    found = []
    for part in (waits & (submit < half), waits & (submit >= half)):
        there = np.flatnonzero(part)
        if len(there) < 10:
            raise InputError(
                f"{log.workload.name}: {len(there)} jobs of a half of the log had to wait; a backtest needs 10 of each"
            )
        found.append(rng.choice(there, min(jobs, len(there)), replace=False))
    rows = np.concatenate(found)
    return rows[np.argsort(submit[rows], kind="stable")], half


def _last_moment(submit: NDArray[np.int64]) -> float:
    """Return the second from which on no forecast is made."""
    first, last = int(submit.min()), int(submit.max())
    return last - min(LAST_DAYS, LAST_PART * (last - first))


def planned_waits(twin: Twin, state: MachineState, who: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how long jobs wait by a plan with requested times and without further arrivals: int64 seconds.

    Each job in the order of the policy is planned at the earliest moment, delaying none before it: what Slurm's
    `squeue --start` says, if its plan reaches so far.
    """
    policy = as_scheduler(twin.scheduler).policy
    planning = twin._replace(scheduler=Scheduler(policy, Conservative()))
    lasting = replace(state.jobs, run_time=np.maximum(state.jobs.run_time, 1))
    simulation = simulation_of(planning, state._replace(jobs=lasting))
    simulation.run()
    waits = simulation.start_time[who] - state.now
    return np.asarray(np.minimum(waits, WEEKS * 7 * 86_400), dtype=np.int64)
