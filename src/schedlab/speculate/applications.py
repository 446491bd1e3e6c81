"""Applications of a log that would gain from sequences of requests: fitted to its first half, evaluated on its second.

An application is the set of jobs with the same user, executable or other fields. The jobs that were submitted before
the middle of the log, and had ended by then, give its run-time distribution and so its sequence; each later job is then
charged for this sequence and for its actual request, and the two sums are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.speculate.costs import AffineCost, RequestLimits
from schedlab.speculate.history import FEWEST_RUNS, distribution_of_runs
from schedlab.speculate.plan import optimal_requests
from schedlab.speculate.sequences import NoSequenceError, RequestSequence, costs_of_runs
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

Jobs = NDArray[np.intp]

KEYS = {
    "user": "user_id",
    "executable": "executable_id",
    "group": "group_id",
    "queue": "queue_id",
    "partition": "partition_id",
    "processors": "job_processors",
}
"""The fields that define an application, and their columns."""

FEWEST_JUDGED = 10
"""The fewest later jobs for which an interval is computed."""

RESAMPLES = 2_000
LEVEL = 0.95
HOUR = 3_600

GAINS, LOSES, EQUAL, OPEN = "gains", "loses", "no difference", "cannot be told"
JUDGED = (GAINS, LOSES, EQUAL, OPEN)
FEW_PAST, FEW_FUTURE, CONSTANT = "too few past runs", "too few later runs", "all past runs are equal"
NO_SEQUENCE = "no sequence within the limits"


@dataclass(frozen=True, slots=True)
class ApplicationGain:
    """The cost of an application with a sequence instead of the present requests.

    Parameters
    ----------
    key
        Its values of the fields, such as user and executable.
    past, future
        Number of its jobs before and after the middle.
    verdict
        "gains" or "loses" if the whole interval of the ratio lies below or above 1; "no difference" if all jobs cost
        the same; "cannot be told"; or why it was not evaluated: "too few past runs", "too few later runs", "all past
        runs are equal", "no sequence within the limits" (no allowed request covers the longest run).
    sequence
        The sequence fitted to the past runs; None if there is none.
    ratio
        Cost of the sequence over the cost of the present requests, both times processors, of the later jobs.
    low, high
        Bootstrap interval of the ratio.
    saved
        The present cost minus that of the sequence, in processor hours.
    """

    key: tuple[int, ...]
    past: int
    future: int
    verdict: str
    sequence: RequestSequence | None = None
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan
    saved: float = math.nan


@dataclass(frozen=True, slots=True)
class RequestGains:
    """All applications of a log, with the largest savings first.

    Parameters
    ----------
    workload
        Its name.
    by
        The fields that define an application.
    split
        Submit time, in seconds of the log, that divides past and future.
    left_out
        Number of jobs without a run time or a request, or for which the application is unknown.
    applications
        Evaluated ones first.
    """

    workload: str
    by: tuple[str, ...]
    split: int
    left_out: int
    applications: tuple[ApplicationGain, ...]

    def of(self, verdict: str) -> list[ApplicationGain]:
        """Return the applications with a verdict."""
        return [one for one in self.applications if one.verdict == verdict]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per application; durations in seconds, savings in processor hours."""
        import pandas as pd

        rows = [
            {
                **dict(zip(self.by, one.key, strict=True)),
                **{name: getattr(one, name) for name in ("past", "future", "verdict", "ratio", "low", "high", "saved")},
                "requests": list(one.sequence.requests) if one.sequence else None,
            }
            for one in self.applications
        ]
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        about = {"workload": self.workload, "by": list(self.by), "split": self.split, "left_out": self.left_out}
        return about | {"applications": self.to_frame().to_dict(orient="records")}


@explained
def request_gains(
    workload: Workload,
    by: Sequence[str] = ("user", "executable"),
    *,
    cost: AffineCost | None = None,
    limits: RequestLimits | None = None,
    distribution: str = "empirical",
    seed: int = 0,
) -> RequestGains:
    """Return which applications of a log would gain from sequences of requests.

    Parameters
    ----------
    workload
        Jobs with run times and requested times; requests filled in by cleaning would be mistaken for actual ones.
    by
        Names of `KEYS`: the fields that define an application.
    cost
        The cost of an attempt; by default the requested time. gamma represents waiting in the queue again, which is
        otherwise free.
    limits
        The allowed requests.
    distribution
        The distribution of past runs, as in `distribution_of_runs`.
    seed
        The seed of the bootstrap.

    Raises
    ------
    InputError
        If the log lacks a column that `by` needs, or no job has all of them, a run time and a request.

    Notes
    -----
    The interval is a 95 % bootstrap interval of the ratio of two sums over the same jobs, from 2,000 resamples of the
    later jobs. It treats jobs as independent, and each application by itself: among many that gain nothing, a few will
    appear to gain. A job that was killed at its request counts as if it had ended then.
    """
    columns = [_column(workload, name) for name in by]
    known = (workload.run_time > 0) & (workload.requested_time > 0)
    if not known.any():
        raise InputError(f"{workload.name}: no job has both a run time and a requested time")
    known &= np.all([column != UNKNOWN for column in columns], axis=0)
    if not known.any():
        raise InputError(f"{workload.name}: the log does not say the {' and '.join(by)} of any job with a request")
    jobs = np.flatnonzero(known)
    submit = workload.submit_time[jobs]
    split = int(submit.min() + submit.max()) // 2
    keys, members = np.unique(np.column_stack([column[jobs] for column in columns]), axis=0, return_inverse=True)
    order = np.argsort(members.ravel(), kind="stable")
    groups = np.split(jobs[order], np.cumsum(np.bincount(members.ravel()))[:-1])
    judge = _Judge(workload, split, cost or AffineCost(), limits or RequestLimits(), distribution, seed)
    found = [judge.gain(tuple(map(int, key)), group) for key, group in zip(keys, groups, strict=True)]
    found.sort(key=lambda one: (math.isnan(one.saved), -one.saved, -one.past, one.key))
    return RequestGains(workload.name, tuple(by), split, len(workload) - len(jobs), tuple(found))


def _column(workload: Workload, name: str) -> NDArray[np.int64]:
    """Return the column of a key."""
    if name not in KEYS:
        raise InputError(f"unknown key {name!r}; an application is made of {', '.join(KEYS)}")
    column: NDArray[np.int64] = getattr(workload, KEYS[name])
    if not (column != UNKNOWN).any():
        raise InputError(f"{workload.name}: the log does not say the {name} of any job; leave it out of by=")
    return column


@dataclass(frozen=True, slots=True)
class _Judge:
    """The settings common to all applications."""

    workload: Workload
    split: int
    cost: AffineCost
    limits: RequestLimits
    distribution: str
    seed: int

    def gain(self, key: tuple[int, ...], jobs: Jobs) -> ApplicationGain:
        """Fit a sequence to the past of an application, and evaluate it on the rest."""
        log = self.workload
        late = log.submit_time[jobs] >= self.split
        end = log.submit_time[jobs] + np.maximum(log.wait_time[jobs], 0) + log.run_time[jobs]
        past, future = jobs[~late & (end <= self.split)], jobs[late]
        runs = log.run_time[past]
        counts = len(past), len(future)
        if len(past) < FEWEST_RUNS:
            return ApplicationGain(key, *counts, FEW_PAST)
        if runs.min() == runs.max():
            return ApplicationGain(key, *counts, CONSTANT)
        distribution = distribution_of_runs(runs, self.distribution)
        try:
            sequence = optimal_requests(distribution, cost=self.cost, limits=self.limits).sequence
        except NoSequenceError:
            return ApplicationGain(key, *counts, NO_SEQUENCE)
        if len(future) < FEWEST_JUDGED:
            return ApplicationGain(key, *counts, FEW_FUTURE, sequence)
        ours, present = self.costs(future, sequence)
        ratio = float(ours.sum() / present.sum())
        low, high = self.interval(ours, present)
        verdict = GAINS if high < 1 else LOSES if low > 1 else EQUAL if low == high else OPEN
        saved = float((present - ours).sum()) / HOUR
        return ApplicationGain(key, *counts, verdict, sequence, ratio, low, high, saved)

    def costs(self, jobs: Jobs, sequence: RequestSequence) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the costs of jobs with a sequence, and with their actual requests, times processors."""
        log, cost = self.workload, self.cost
        run_time, requested = log.run_time[jobs], log.requested_time[jobs]
        size = np.maximum(log.job_processors[jobs], 1)
        present = cost.alpha * requested + cost.beta * np.minimum(run_time, requested) + cost.gamma
        return size * costs_of_runs(sequence, run_time, cost=cost), size * present

    def interval(self, ours: NDArray[np.float64], present: NDArray[np.float64]) -> tuple[float, float]:
        """Return the bootstrap interval of the ratio of the sums; each resampled job keeps both of its costs."""
        rng = np.random.default_rng(self.seed)
        # The number of times that each job is drawn.
        drawn = rng.multinomial(len(ours), np.full(len(ours), 1 / len(ours)), RESAMPLES)
        low, high = np.quantile((drawn @ ours) / (drawn @ present), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return float(low), float(high)
