"""Jobs that can wait: each is held back, from its submission, until the cheapest or greenest time before its deadline.

This is decided when a job is submitted, from the series alone, as if it could start at once then: what is known on the
day before. The scheduler does with the jobs that are released what it always does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import parse_duration
from schedlab.energy.accounting import EnergyAccount, account
from schedlab.energy.power import Power
from schedlab.energy.series import Series
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload

By = Literal["price", "intensity"]

TOLERANCE = "tolerance"
"""The own column of jobs that says for how many seconds each may be held back."""

MOST_TIMES = 100_000
"""Moments at which a job might be released: more is a mistake in the series or the tolerance."""


@explained
def release_times(jobs: Workload, series: Series, tolerance: float | str) -> NDArray[np.int64]:
    """Return when each job is released: the second between submission and deadline from which its energy is cheapest.

    Of several such seconds it is the first. A job is taken to draw the same power for its whole requested time.

    Parameters
    ----------
    jobs
        The jobs. A column `tolerance` of theirs says for how many seconds each may be held back; NaN: not known.
    series
        The price or the intensity of energy.
    tolerance
        The same, for jobs without it: in seconds, or a duration such as "8h".

    Returns
    -------
    numpy.ndarray
        int64 seconds.

    Raises
    ------
    InputError
        If a tolerance is negative, or the series does not cover the time until the last deadline.

    Examples
    --------
    Energy is cheap from 100 to 200. A job of 50 s waits for that, or, if it may wait for 80 s only, begins 20 s before.

    >>> price = Series(np.array([0, 100, 200]), np.array([3.0, 1.0, 3.0]), 1_000)
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[50, 50], requested_time=[50, 50],
    ...                                   requested_processors=[1, 1])).with_columns(tolerance=[500, 80])
    >>> release_times(jobs, price, 0).tolist()
    [100, 80]
    """
    may_wait = _tolerances(jobs, tolerance)
    series = series.on_clock(jobs.start_time)
    release = jobs.submit_time.astype(np.int64).copy()
    waiting = np.flatnonzero(may_wait > 0)
    if not waiting.size or series.is_flat:
        return release
    length = np.maximum(jobs.requested_time if (jobs.requested_time > 0).any() else jobs.run_time, 1)
    last = release + may_wait
    series.check_covers(int(release[waiting].min()), int((last + length)[waiting].max()))
    changes = series.changes(int(release[waiting].min()) - 1, int((last + length)[waiting].max()) + 1)
    if len(changes) > MOST_TIMES * 100:
        raise InputError(f"{series.name}: it changes {len(changes):,} times while jobs wait; give longer steps")
    for row in waiting.tolist():
        release[row] = _cheapest(series, changes, int(release[row]), int(last[row]), int(length[row]))
    return release


def _cheapest(series: Series, changes: NDArray[np.int64], first: int, last: int, length: int) -> int:
    """Return the second in [first, last] from which a stretch costs least: one of those where it meets a change."""
    begins = changes[np.searchsorted(changes, first) : np.searchsorted(changes, last, side="right")]
    ends = changes[np.searchsorted(changes, first + length) : np.searchsorted(changes, last + length, side="right")]
    times = np.unique(np.concatenate([[first, last], begins, ends - length]))
    costs = series.integral(times, times + length)
    return int(times[np.argmax(costs <= costs.min() + 1e-9 * max(1.0, float(np.abs(costs).max())))])


def _tolerances(jobs: Workload, tolerance: float | str) -> NDArray[np.int64]:
    """Return for how many seconds each job may be held back."""
    usual = parse_duration(tolerance) if isinstance(tolerance, str) else tolerance
    if not 0 <= usual < 2**40:
        raise InputError(f"tolerance={tolerance}: jobs can be held back for 0 seconds or more")
    found = np.full(len(jobs), float(usual))
    if jobs.own is not None and TOLERANCE in jobs.own.columns:
        column = jobs.own.array(TOLERANCE)
        if column.dtype.kind not in "if":
            raise InputError(f"{jobs.name}: the column {TOLERANCE} holds texts: it must be a number of seconds")
        known = np.isfinite(column.astype(np.float64))
        found[known] = column[known]
    wrong = np.flatnonzero((found < 0) | (found >= 2**40))
    if wrong.size:
        row = int(wrong[0])
        raise InputError(f"job {jobs.job_id[row]} may wait for {found[row]:g} s: must be 0 or more", row=row)
    return found.astype(np.int64)


@explained
def tolerant(jobs: Workload, share: float, *, rng: np.random.Generator | int) -> Workload:
    """Return jobs of which only a share, drawn at random, may be held back: the others say that they may not.

    Parameters
    ----------
    jobs
        The jobs.
    share
        Of the jobs, 0 to 1.
    rng
        A generator, or a seed.

    Raises
    ------
    InputError
        If there is no such share.
    """
    if not 0 <= share <= 1:
        raise InputError(f"share={share}: must be a share of the jobs, from 0 to 1")
    drawn = np.random.default_rng(rng).random(len(jobs)) < share
    column = np.full(len(jobs), np.nan)
    if jobs.own is not None and TOLERANCE in jobs.own.columns:
        column = jobs.own.array(TOLERANCE).astype(np.float64)
    return jobs.with_columns(**{TOLERANCE: np.where(drawn, column, 0.0)})


@dataclass(frozen=True, slots=True, eq=False)
class Deferral:
    """Jobs that were held back, and what that cost and saved.

    Parameters
    ----------
    tolerance
        For how many seconds jobs might be held back.
    schedule
        What became of them; waits are counted from their own submissions.
    held_back
        int64 seconds for which each job was held back.
    account
        The energy of the schedule.
    """

    tolerance: int
    schedule: Schedule
    held_back: NDArray[np.int64]
    account: EnergyAccount

    def metrics(self) -> dict[str, float]:
        """Return its numbers by name: waits (seconds), how many jobs were held back, and those of its energy."""
        waits = self.schedule.metrics()
        return {
            "tolerance": float(self.tolerance),
            "held_back_jobs": float(np.count_nonzero(self.held_back)),
            "mean_held_back": float(self.held_back.mean()),
            **{name: waits[name] for name in ("mean_wait", "p95_wait", "max_wait", "makespan")},
            **self.account.metrics(),
        }


def undominated(found: Sequence[Deferral], wait: str, cost: str) -> list[bool]:
    """Return which of several are on the Pareto curve: no other has neither a longer wait nor a higher cost.

    Parameters
    ----------
    found
        The simulations.
    wait, cost
        Names of two of their metrics.
    """
    points = [(one.metrics()[wait], one.metrics()[cost]) for one in found]
    return [
        not any(other != point and other[0] <= point[0] and other[1] <= point[1] for other in points)
        for point in points
    ]


@explained
def defer(
    jobs: Workload,
    scheduler: str | Scheduler,
    power: Power,
    tolerances: Sequence[float | str],
    *,
    by: By = "price",
    progress: Callable[[int, int], None] | None = None,
    **simulation: Any,
) -> list[Deferral]:
    """Simulate jobs that may wait for cheap or green energy, once for each time that they may wait.

    Parameters
    ----------
    jobs
        The jobs, see `release_times`.
    scheduler
        A scheduler text or a `Scheduler`.
    power
        The power model, with the series.
    tolerances
        For how long jobs may be held back that do not say it themselves: seconds, or durations. 0: not at all.
    by
        "price" or "intensity": what is to be low.
    progress
        Called with the number of simulations that are done and of all.
    simulation
        What else `simulate` is to be given: processors, cluster, node_events, events.

    Raises
    ------
    InputError
        If the model lacks the series, or it is flat, or as `release_times` and `simulate`.

    Examples
    --------
    >>> from schedlab.energy.power import GroupPower
    >>> model = Power((GroupPower(0, 1000),), price=Series(np.array([0, 3600]), np.array([0.3, 0.1]), 86_400))
    >>> jobs = Workload.from_columns(dict(submit_time=[0], run_time=[3600], requested_time=[3600],
    ...                                   requested_processors=[1]))
    >>> [(one.tolerance, round(one.account.cost, 6), one.schedule.wait_time.tolist())
    ...  for one in defer(jobs, "easy", model, ["0s", "2h"], processors=1)]
    [(0, 0.3, [0]), (7200, 0.1, [3600])]
    """
    series = getattr(power, by, None)
    if series is None:
        raise InputError(f"the power model does not say the {by} of energy: jobs cannot wait for it to be low")
    if series.is_flat:
        raise InputError(f"the {by} of the power model never changes: there is nothing for jobs to wait for")
    found = []
    for done, tolerance in enumerate(tolerances, start=1):
        release = release_times(jobs, series, tolerance)
        schedule = replace(simulate(jobs.replace(submit_time=release), scheduler, **simulation), workload=jobs)
        seconds = int(parse_duration(tolerance) if isinstance(tolerance, str) else tolerance)
        found.append(Deferral(seconds, schedule, release - jobs.submit_time, account(schedule, power)))
        if progress is not None:
            progress(done, len(tolerances))
    return found
