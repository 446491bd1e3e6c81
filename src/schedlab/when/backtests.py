"""How good start forecasts were over a log: made at submissions, of jobs that did not start at once, and judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError, whole_number
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Conservative
from schedlab.scheduler.scheduler import Scheduler, as_scheduler
from schedlab.when.arrivals import PastArrivals
from schedlab.when.forks import WEEKS, Twin, fork_waits, simulation_of
from schedlab.when.past_runs import PastRuns
from schedlab.when.recalibration import LEAD_NAMES, TAUS, WIDTH_NAMES, Outcomes, Recalibration
from schedlab.when.run_times import RunTimes, Sampling
from schedlab.when.scores import Score, score
from schedlab.when.start_forecast import SEED, twin_of
from schedlab.when.state import MachineState, state_at

JOBS, FORKS = 600, 60
FIRST = 0.12
"""The share of a log before the first forecast: there is little past to learn from."""

LAST_DAYS, LAST_PART = 10 * 86_400, 0.1
"""Seconds before the last submission in which no forecast is made, as the log does not show what comes behind it: of a
short log, this part of it."""

PLAN, FORKED, RECALIBRATED = "plan with requested times", "forks", "forks, recalibrated"
"""The forecasts that are judged: a conservative plan without further arrivals, as Slurm makes one; forks; and these
with quantiles recalibrated on what was known of earlier forecasts."""


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
    job_id
        The jobs.
    judged_from
        The second from which on forecasts are judged; earlier ones serve to recalibrate.
    seed
        Of all randomness.
    """

    name: str
    scheduler: str
    outcomes: Outcomes
    plan: NDArray[np.int64]
    job_id: NDArray[np.int64]
    judged_from: int
    seed: int

    def __len__(self) -> int:
        return len(self.job_id)

    @property
    def judged(self) -> NDArray[np.bool_]:
        """Which forecasts are judged."""
        return np.asarray(self.outcomes.moment >= self.judged_from)

    def quantiles(self, method: str) -> NDArray[np.float64]:
        """Return the quantiles 0.1 ... 0.9 of the judged jobs in seconds, of shape (jobs, 9), by one of the methods."""
        rows = np.flatnonzero(self.judged)
        if method == PLAN:
            return np.repeat(self.plan[rows, None].astype(np.float64), len(TAUS), axis=1)
        if method == FORKED:
            return np.asarray(np.quantile(self.outcomes.waits[:, rows], TAUS, axis=0, method="weibull").T)
        if method != RECALIBRATED:
            raise InputError(f"method {method!r} is unknown; known are {PLAN!r}, {FORKED!r} and {RECALIBRATED!r}")
        moment = self.outcomes.moment
        found = [
            Recalibration(self.outcomes, int(moment[row])).quantiles(_only(self.outcomes, np.array([row])))
            for row in rows.tolist()
        ]
        return np.concatenate(found)

    def score(self, method: str) -> Score:
        """Return how good a method was."""
        rows = self.judged
        return score(self.outcomes.outcome[rows], self.quantiles(method), self.outcomes.moment[rows])

    def scores_by_class(self, method: str) -> dict[tuple[str, str], Score]:
        """Return how good a method was by class: of the predicted lead, and of the processors."""
        rows, quantiles = self.judged, self.quantiles(method)
        chosen = _only(self.outcomes, np.flatnonzero(rows))
        edges = np.quantile(self.outcomes.processors[~rows], [1 / 3, 2 / 3])
        lead, width = chosen.lead(), chosen.width(edges)
        found = {}
        for one, lead_name in enumerate(LEAD_NAMES):
            for other, width_name in enumerate(WIDTH_NAMES):
                of = (lead == one) & (width == other)
                if of.any():
                    found[lead_name, width_name] = score(chosen.outcome[of], quantiles[of], chosen.moment[of])
        return found


def _only(outcomes: Outcomes, rows: NDArray[np.intp]) -> Outcomes:
    return Outcomes(outcomes.moment[rows], outcomes.waits[:, rows], outcomes.outcome[rows], outcomes.processors[rows])


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
    chosen, options = twin or twin_of(log), sampling or Sampling()
    rng = np.random.default_rng(seed)
    rows, half = _drawn(log, jobs, rng)
    submit = log.workload.submit_time
    past, waits = PastRuns.of(log), np.empty((forks, len(rows)), dtype=np.int64)
    plan = np.empty(len(rows), dtype=np.int64)
    for place, row in enumerate(rows.tolist()):
        now = int(submit[row])
        state = state_at(log, now)
        who = np.flatnonzero(state.rows == row)
        weeks = PastArrivals(log, now) if arrivals else None
        own = np.random.default_rng([seed, now, row])
        waits[:, place] = fork_waits(chosen, state, who, RunTimes(past, now, options), weeks, forks, own)[:, 0]
        plan[place] = planned_waits(chosen, state, who)[0]
        if progress is not None:
            progress(place + 1, len(rows))
    outcome = np.asarray(log.start_time - submit, dtype=np.int64)[rows]
    outcomes = Outcomes(submit[rows], waits, outcome, log.workload.job_processors[rows])
    text = as_scheduler(chosen.scheduler).text
    return Backtest(log.workload.name, text, outcomes, plan, log.workload.job_id[rows], half, seed)


def _drawn(log: Schedule, jobs: int, rng: np.random.Generator) -> tuple[NDArray[np.intp], int]:
    """Return the rows of the jobs, in order of submission, and the second that halves the log."""
    submit = log.workload.submit_time
    ordered = np.sort(submit)
    first, half = (int(ordered[int(share * len(ordered))]) for share in (FIRST, 0.5))
    last = ordered[-1] - min(LAST_DAYS, LAST_PART * (ordered[-1] - ordered[0]))
    waits = (log.start_time > submit) & (submit >= first) & (submit < last)
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
