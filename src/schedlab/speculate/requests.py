"""The requests of jobs with stochastic run times, in the engine's form."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.scheduler.retries import GROWTH
from schedlab.workload.workload import Workload

NO_DISTRIBUTION = -1

ENTRIES = 2_000
"""The number of entries of a table."""

LARGEST_ZETA = 0.95
"""The limit on a share of small jobs computed from the workload."""

LATEST = 2**61


class DistributionTables(NamedTuple):
    """Run-time distributions as tables: of distribution i, entry k belongs to second `begin[i] + k * step[i]`.

    `below` is the probability of a run time up to there, `part` the partial expectation of the run time up to there.
    """

    begin: NDArray[np.float64]
    step: NDArray[np.float64]
    below: NDArray[np.float64]
    part: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """The requests of the jobs of a workload, one entry per job in the workload's order unless stated otherwise.

    Parameters
    ----------
    offsets, lengths
        int64: job j requests `lengths[offsets[j]:offsets[j + 1]]` seconds, one after the other; at least one per job.
    most
        int64 seconds: the largest request of each job.
    growth
        float64: after the end of the sequence, the factor from one request to the next; 0: the job is abandoned.
    distribution
        int64: number of its distribution, -1 for none.
    application
        int64: number of its application, -1 for none.
    history
        If not 0, the first request of a job is the longest run time of this many last completed jobs of its
        application.
    distributions
        The distributions, as tables.
    """

    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    most: NDArray[np.int64]
    growth: NDArray[np.float64]
    distribution: NDArray[np.int64]
    application: NDArray[np.int64]
    history: int
    distributions: DistributionTables

    def within(self, longest: NDArray[np.int64]) -> Requests:
        """Return the requests where no job requests more than its longest, int64 seconds of at least 1."""
        lengths = np.minimum(self.lengths, np.repeat(longest, np.diff(self.offsets)))
        return replace(self, lengths=lengths, most=np.minimum(self.most, longest))

    def in_order(self, order: NDArray[np.intp]) -> Requests:
        """Return the requests with the jobs in another order."""
        count = np.diff(self.offsets)[order]
        offsets = np.concatenate([[0], np.cumsum(count)])
        rows = np.repeat(self.offsets[:-1][order] - offsets[:-1], count) + np.arange(offsets[-1])
        columns = {name: getattr(self, name)[order] for name in ("most", "growth", "distribution", "application")}
        return replace(self, offsets=offsets, lengths=self.lengths[rows], **columns)


def requests_joined(first: Requests, second: Requests) -> Requests:
    """Return the requests of two workloads, concatenated; distributions and history are those of the first."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(first, name), getattr(second, name)])
        for name in ("lengths", "most", "growth", "distribution", "application")
    }
    return replace(first, offsets=np.concatenate([first.offsets, first.offsets[-1] + second.offsets[1:]]), **columns)


def no_distributions() -> DistributionTables:
    """Return empty tables."""
    return DistributionTables(np.empty(0), np.empty(0), np.empty((0, 1)), np.empty((0, 1)))


def requests_of(workload: Workload, method: str | None, exhausted: float = GROWTH) -> Requests:
    """Return the requests of the jobs of a workload under a method.

    Parameters
    ----------
    workload
        Jobs with a run-time distribution use the method; others request their requested time, once.
    method
        "classic": the longest run time of the distribution. "neuroscience(k=10)": the longest of the last 10 jobs with
        the same distribution that were done, at first that of the distribution. "neuroscience(k=10,listed)": the
        longest of the 10 jobs with the same distribution before it in the workload, done or not; the first jobs wrap
        around to the last ones. "toptimal": the sequence of the least expected makespan of the job.
        "atoptimal(zeta=0.1)": the same beside a stream of small jobs that takes this share of the machine; "auto" uses
        the work of the jobs without a distribution. "given": the sequence that the workload has for the distribution.
        None: all jobs use their requested times.
    exhausted
        The factor from the last request of a job, when all have failed, to the next; 0: the job is abandoned.

    Raises
    ------
    InputError
        If no job has a distribution, a job without one has no requested time, or a sequence is not given.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[9, 9], requested_time=[-1, 12]))
    >>> jobs = jobs.replace(distribution=np.array([0, -1]), distributions=("uniform(0s,10s)",))
    >>> requests_of(jobs, "classic").lengths.tolist()
    [10, 12]
    """
    distribution = np.full(len(workload), NO_DISTRIBUTION) if workload.distribution is None else workload.distribution
    if method is not None and not np.any(distribution >= 0):
        raise InputError(
            f"{workload.name}: requests={method} is for jobs whose run times follow a distribution, and no job has "
            "one; give distributions (assign_distributions)"
        )
    asking = distribution >= 0 if method is not None else np.zeros(len(distribution), dtype=np.bool_)
    unknown = ~asking & (workload.requested_time < 1)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise InputError(f"job {workload.job_id[row]} has no requested time: clean the workload", row=row)
    zeta = _share_of_small_jobs(workload, distribution) if method == "atoptimal(zeta=auto)" else None
    sequences = (
        _given(workload) if method == "given" else [_sequence(text, method, zeta) for text in workload.distributions]
    )
    count = np.where(asking, np.array([len(one) for one in sequences] or [1])[distribution], 1)
    offsets = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    lengths = np.repeat(workload.requested_time, count)
    for number, sequence in enumerate(sequences):
        rows = np.flatnonzero(asking & (distribution == number))
        lengths[(offsets[rows][:, None] + np.arange(len(sequence)))] = sequence
    history = re.fullmatch(r"neuroscience\(k=([0-9]+)(,listed)?\)", method or "")
    if history and history[2]:
        for number in range(len(sequences)):
            rows = np.flatnonzero(asking & (distribution == number))
            if len(rows) > 1:
                lengths[offsets[rows]] = _longest_before(workload.run_time[rows], int(history[1]))
    return Requests(
        offsets=offsets,
        lengths=lengths,
        most=np.where(asking, LATEST, workload.requested_time),
        growth=np.where(asking, exhausted, 0.0),
        distribution=np.asarray(distribution, dtype=np.int64),
        application=np.where(asking, distribution, -1),
        history=int(history[1]) if history and not history[2] else 0,
        distributions=tables_of(workload.distributions),
    )


def _longest_before(run_time: NDArray[np.int64], last: int) -> NDArray[np.int64]:
    """Return, for each job of a list, the longest run time of the `last` jobs before it; the list wraps around.

    This mimics the history in the experiments of ICPP'19, which comes from additional jobs.
    """
    count = min(last, len(run_time) - 1)
    before = np.concatenate([run_time[-count:], run_time[:-1]])
    longest = np.lib.stride_tricks.sliding_window_view(before, count).max(axis=1)
    return np.asarray(np.maximum(longest, 1), dtype=np.int64)


def _share_of_small_jobs(workload: Workload, distribution: NDArray[np.int64]) -> float:
    """Return the share of the machine needed by jobs without a distribution, from the first to the last submission."""
    small = distribution < 0
    work = float(np.sum(workload.run_time[small] * workload.job_processors[small].astype(np.float64)))
    capacity = float((workload.processors or 1) * max(1, int(np.ptp(workload.submit_time))))
    return round(min(work / capacity, LARGEST_ZETA), 3) if workload.processors else 0.0


def _given(workload: Workload) -> list[tuple[int, ...]]:
    """Return the sequences that a workload has for its distributions."""
    from schedlab.speculate.sequences import RequestSequence

    texts = workload.sequences or ("",) * len(workload.distributions)
    for distribution, text in zip(workload.distributions, texts, strict=True):
        if not text:
            raise InputError(
                f"{workload.name}: requests=given, but none are given for {distribution:.60}; add requests = "
                '"..." to its table in the file of distributions'
            )
    return [_in_whole_seconds(RequestSequence.parse(text).requests) for text in texts]


def _in_whole_seconds(lengths: Iterable[float]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(max(1, math.ceil(length - 1e-6)) for length in lengths))


@lru_cache(maxsize=256)
def _sequence(distribution: str, method: str | None, zeta: float | None) -> tuple[int, ...]:
    """Return the requests of a method, in whole seconds, ascending; without one, the longest run time."""
    from schedlab.speculate.distributions import RunTimeDistribution
    from schedlab.speculate.plan import optimal_requests

    parsed = RunTimeDistribution.parse(distribution)
    if method is None or method == "classic" or method.startswith("neuroscience"):
        return _in_whole_seconds([parsed.high])
    match = re.fullmatch(r"atoptimal\(zeta=([0-9.e-]+)\)", method)
    share = zeta if zeta is not None else float(match[1]) if match else 0.0
    return _in_whole_seconds(optimal_requests(parsed, zeta=share).sequence.requests)


@lru_cache(maxsize=64)
def tables_of(distributions: tuple[str, ...]) -> DistributionTables:
    """Return distributions as tables at equally spaced seconds."""
    from schedlab.speculate.distributions import RunTimeDistribution

    if not distributions:
        return no_distributions()
    parsed = [RunTimeDistribution.parse(text) for text in distributions]
    begin = np.array([distribution.low for distribution in parsed])
    step = np.array([max(distribution.high - distribution.low, 1e-9) / ENTRIES for distribution in parsed])
    seconds = begin[:, None] + step[:, None] * np.arange(ENTRIES + 1)
    below = np.array([distribution.cdf(at) for distribution, at in zip(parsed, seconds, strict=True)])
    part = np.array([distribution.partial_mean(at) for distribution, at in zip(parsed, seconds, strict=True)])
    return DistributionTables(begin, step, below, part)
