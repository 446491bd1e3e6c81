"""Whether jobs start within a minute of their submission: the chance by forks, and how well it tells them apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import WEEK
from schedlab.when.forks import Twin, simulation_of
from schedlab.when.run_times import RunTimes
from schedlab.when.scores import RESAMPLES
from schedlab.when.state import MachineState

AT_ONCE = 60
"""Seconds within which a start counts as at once."""


class AtOnce(NamedTuple):
    """Forecasts of whether jobs start within a minute of their submission, and what came of them.

    Parameters
    ----------
    moment
        int64 seconds: the submissions.
    chance
        The share of forks in which each starts so.
    came
        Whether it did.
    """

    moment: NDArray[np.int64]
    chance: NDArray[np.float64]
    came: NDArray[np.bool_]

    @property
    def auc(self) -> float:
        """How often, of a job that started at once and one that did not, the first had the higher chance.

        Equal chances count one half; NaN if all or none started at once. This is the area under the ROC curve.

        Examples
        --------
        >>> AtOnce(np.arange(4), np.array([1.0, 0.5, 0.5, 0.0]), np.array([True, True, False, False])).auc
        0.875
        """
        return auc(self.chance, self.came)

    def interval(self) -> tuple[float, float]:
        """Return a 95 % interval of the area, by resampling weeks with their jobs; NaN without jobs of both kinds."""
        weeks, place = np.unique(self.moment // WEEK, return_inverse=True)
        of_week = [np.flatnonzero(place == week) for week in range(len(weeks))]
        rng, found = np.random.default_rng(0), []
        for _ in range(RESAMPLES):
            rows = np.concatenate([of_week[week] for week in rng.integers(0, len(weeks), len(weeks))])
            found.append(auc(self.chance[rows], self.came[rows]))
        known = np.array(found)[~np.isnan(found)]
        if not len(known):
            return np.nan, np.nan
        low, high = np.quantile(known, [0.025, 0.975])
        return float(low), float(high)


def auc(chance: NDArray[np.float64], came: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve, by the ranks of the chances (Mann-Whitney)."""
    positive, negative = int(came.sum()), int((~came).sum())
    if not positive or not negative:
        return np.nan
    _, place, count = np.unique(chance, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place]
    return float((rank[came].sum() - positive * (positive + 1) / 2) / (positive * negative))


def chance_at_once(
    twin: Twin, state: MachineState, job: int, run_times: RunTimes, forks: int, rng: np.random.Generator
) -> float:
    """Return the share of forks in which a job that waits starts within a minute; no further job arrives in it.

    Parameters
    ----------
    twin, state
        The scheduler, the machine and what is on it.
    job
        The row of the job.
    run_times
        The distributions of run times.
    forks
        How many.
    rng
        Randomness.
    """
    jobs, base = state.jobs, simulation_of(twin, state)
    lasts = run_times.draw(jobs.user_id, jobs.requested_time, state.elapsed, forks, rng)
    started = 0
    for fork in range(forks):
        one = base.fork()
        one.set_run_times(np.arange(len(jobs)), lasts[fork])
        one.run(until=state.now + AT_ONCE)
        started += int(one.start_time[job] >= 0)
    return started / forks
