"""What happens if users follow the advice to ask for less time: a log, replayed with shares of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import HOUR
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError, whole_number
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.retries import GROWTH
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import NO_DISTRIBUTION, Requests, no_distributions
from schedlab.when.past_runs import PastRuns, Runs
from schedlab.when.run_time_levels import levels_by, recalibrated
from schedlab.when.run_times import RunTimes, Sampling
from schedlab.wording import count_of, table
from schedlab.workload.workload import Workload

SHARES = (0.0, 0.1, 0.5, 1.0)
MINUTE = 60


class ShorterLimits(NamedTuple):
    """How long a time limit users are advised to ask for.

    Parameters
    ----------
    level
        The quantile of what the user's past runs with such a request have used of it, recalibrated by the last runs of
        all users: as many of these lay below it.
    margin
        The factor by which the limit is longer than that; it is rounded up to a minute.
    runs
        A user of fewer past runs gets no advice.
    """

    level: float = 0.99
    margin: float = 1.0
    runs: int = 10


@dataclass(frozen=True, slots=True)
class Followed:
    """How jobs fare if a share of the users follows the advice, as means over draws of these users.

    Parameters
    ----------
    share
        Of the users.
    jobs
        The share of the jobs that are theirs.
    shorter
        The share of their jobs whose limit is shorter than before.
    killed
        The share of these that are killed at it, though not before; they come back with the limit that they had.
    followers, others, everyone
        Mean seconds from submission to the result of the jobs of those that follow, of the others, and of all; NaN
        where there are none.
    followers_before, others_before
        The same of the same jobs if no user follows.
    spared
        The same of all jobs if those that are killed had kept their limits: what shorter limits do by themselves.
    """

    share: float
    jobs: float
    shorter: float
    killed: float
    followers: float
    others: float
    everyone: float
    followers_before: float
    others_before: float
    spared: float


@explained
def followed(
    jobs: Workload,
    scheduler: str | Scheduler = "fcfs+easy",
    *,
    limits: ShorterLimits = ShorterLimits(),  # noqa: B008
    processors: int | None = None,
    shares: Sequence[float] = SHARES,
    draws: int = 5,
    seed: int = 1,
) -> tuple[Followed, ...]:
    """Return how jobs fare if shares of the users follow the advice to ask for less time.

    Parameters
    ----------
    jobs
        A log; all jobs need users and requested times. A job that ran beyond its request is taken to have ended there.
    scheduler
        Who schedules in all replays.
    limits
        What is advised.
    processors
        The size of the machine; None: that of the log.
    shares
        Of users, each in [0, 1]. Who follows at a share does so at higher ones, too.
    draws
        How often the users that follow are drawn.
    seed
        The seed of these draws, and of those of levels of runs that were as long as earlier ones.

    Raises
    ------
    InputError
        If a job has no requested time, a share is none, or the log cannot be simulated.

    Notes
    -----
    The advice for a job is made of the runs that have ended by its submission if no user follows. A killed job comes
    back at once, and runs again from its beginning.

    Examples
    --------
    The machine is held for 100 s by a job that asks for that; the next one needs all of it. A user whose jobs take 10 s
    each asks for 200 s, and cannot be backfilled before the other; asking for a minute, it can.

    >>> log = Workload.from_columns(dict(submit_time=[0, 50, 1000, 1001, 1002], run_time=[10, 10, 100, 50, 10],
    ...     requested_time=[200, 200, 100, 50, 200], requested_processors=[1, 1, 3, 4, 1], user_id=[7, 7, 1, 2, 7]),
    ...     processors=4)
    >>> none, all_users = followed(log, shares=(0, 1), limits=ShorterLimits(runs=2))
    >>> none.everyone, all_users.everyone, all_users.shorter, all_users.killed
    (85.4, 55.8, 0.2, 0.0)
    """
    if bool((jobs.requested_time < 1).any()):
        row = int(np.argmax(jobs.requested_time < 1))
        raise InputError(f"job {jobs.job_id[row]} has no requested time: advice needs one of every job (clean the log)")
    for share in shares:
        if not 0 <= share <= 1:
            raise InputError(f"share {share}: give shares of users from 0 to 1")
    if whole_number("draws", draws) < 1:
        raise InputError(f"draws={draws}: give a number of draws, at least 1")
    jobs = jobs.replace(run_time=np.minimum(jobs.run_time, jobs.requested_time))
    before = simulate(jobs, scheduler, processors=processors)
    study = _Study(before, advised_limits(before, limits, seed), scheduler, processors)
    names, of_user = np.unique(jobs.user_id, return_inverse=True)
    drawn = np.random.default_rng(seed).random((draws, len(names)))[:, of_user]
    return tuple(_mean(share, [study.of(one < share) for one in drawn]) for share in shares)


def advised_limits(log: Schedule, limits: ShorterLimits, seed: int = 1) -> NDArray[np.int64]:
    """Return the limit in seconds that each job is advised to ask for, by what has ended when it is submitted."""
    jobs, runs, level = log.workload, Runs.of(log), np.array([limits.level])
    past, rng = PastRuns.grouped(runs), np.random.default_rng([seed, 1])
    columns = (jobs.user_id.tolist(), jobs.requested_time.tolist(), jobs.submit_time.tolist())
    lain = levels_by(jobs.submit_time, runs, past, Sampling(), rng)
    found = jobs.requested_time.copy()
    for row, (user, request, now, seen) in enumerate(zip(*columns, lain, strict=True)):
        if past.by_user.known((user,), now, 1)[0] >= limits.runs:
            known = RunTimes(past, now).of(user, request)
            seconds = float(known.quantile(recalibrated(level, seen), request, -1)[0])
            found[row] = min(request, int(np.ceil(seconds * limits.margin / MINUTE)) * MINUTE)
    return found


class _Study(NamedTuple):
    """A log if no user follows, what is advised, and who schedules it."""

    before: Schedule
    advised: NDArray[np.int64]
    scheduler: str | Scheduler
    processors: int | None

    def of(self, follows: NDArray[np.bool_]) -> tuple[float, ...]:
        """Return the figures of `Followed`, but for the share of users, if the users of some jobs follow."""
        jobs = self.before.workload
        shorter = follows & (self.advised < jobs.requested_time)
        killed = shorter & (jobs.run_time > self.advised)
        known, then = self.before.turnaround_time, self._turnaround(shorter)
        everyone = np.ones_like(follows)
        return (
            float(follows.mean()),
            _share(shorter, follows),
            _share(killed, shorter),
            *(_of(then, who) for who in (follows, ~follows, everyone)),
            *(_of(known, who) for who in (follows, ~follows)),
            _of(self._turnaround(shorter & ~killed), everyone),
        )

    def _turnaround(self, shorter: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the seconds until the result of each job, where some ask for what is advised."""
        if not shorter.any():
            return self.before.turnaround_time
        jobs = self.before.workload
        requests = _requests(np.where(shorter, self.advised, jobs.requested_time), jobs.requested_time)
        return simulate(jobs, self.scheduler, processors=self.processors, requests=requests).turnaround_time


def _requests(first: NDArray[np.int64], longest: NDArray[np.int64]) -> Requests:
    """Return the requests of jobs that ask for a first limit and, where that is shorter, for the longest one then."""
    count = 1 + (first < longest)
    offsets = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    lengths = np.repeat(longest, count)
    lengths[offsets[:-1]] = first
    none = np.full(len(first), NO_DISTRIBUTION)
    return Requests(offsets, lengths, longest, np.full(len(first), GROWTH), none, none, 0, no_distributions())


def _share(some: NDArray[np.bool_], of: NDArray[np.bool_]) -> float:
    return float(some.sum() / of.sum()) if of.any() else 0.0


def _of(seconds: NDArray[np.int64], who: NDArray[np.bool_]) -> float:
    return float(seconds[who].mean()) if who.any() else float("nan")


def _mean(share: float, figures: list[tuple[float, ...]]) -> Followed:
    columns = np.array(figures)
    known = ~np.isnan(columns)
    total = np.where(known, columns, 0).sum(axis=0)
    counts = known.sum(axis=0)
    means = [float(one / count) if count else float("nan") for one, count in zip(total, counts.tolist(), strict=True)]
    return Followed(share, *means)


def followed_text(found: Sequence[Followed], limits: ShorterLimits, draws: int) -> str:
    """Return the study as text: a sentence, a table of shares of users with hours until results, and what it assumes.

    Parameters
    ----------
    found
        As `followed` returns it, by growing shares.
    limits, draws
        As `followed` had them.
    """
    header = ["users that follow", "of the jobs", "shorter limits", "of these killed", "followers", "before", "others"]
    rows = [
        [f"{one.share:.0%}", f"{one.jobs:.0%}", f"{one.shorter:.0%}", f"{one.killed:.1%}", *map(_hours, _results(one))]
        for one in found
    ]
    last, factor = found[-1], "" if limits.margin == 1 else f", times {limits.margin:g}"
    return "\n".join(
        [
            f"If {last.share:.0%} of the users follow, results are there after {_hours(last.everyone)} h (mean of all "
            f"jobs), instead of {_hours(found[0].everyone)} h at {found[0].share:.0%}; after {_hours(last.spared)} h, "
            "if none of the jobs were killed at its shorter limit.",
            "",
            table([*header, "before", "all", "none killed"], rows),
            f"Advised is the {limits.level:.1%} quantile of what the user's past runs have used of such a request"
            f"{factor}, recalibrated by the last runs. Mean hours from submission to result, means of "
            f"{count_of(draws, 'draw')} of users.",
            "A job that is killed at its shorter limit comes back at once, with the limit that it had; none killed: "
            "all jobs, if these had kept theirs.",
        ]
    )


def _results(one: Followed) -> tuple[float, ...]:
    return one.followers, one.followers_before, one.others, one.others_before, one.everyone, one.spared


def _hours(seconds: float) -> str:
    return "-" if np.isnan(seconds) else f"{seconds / HOUR:.2f}"
