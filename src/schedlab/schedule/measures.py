"""The metrics of a small schedule in one kernel: NumPy's calls, a microsecond each, would take most of the time.

Sums are made in the order in which NumPy makes them, and percentiles with its formula, so that the results are those of
`schedlab.schedule.metrics`, bit for bit.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.kernels import kernel

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule

LARGEST = 4_096
"""Jobs of a schedule that is small: of a larger one, NumPy's calls take no time in comparison."""

MEASURED = ("wait", "turnaround", "slowdown", "bounded_slowdown", "per_processor_bounded_slowdown")
NAMES = (
    "jobs",
    *(f"{statistic}_{one}" for one in MEASURED for statistic in ("mean", "median", "p95", "p99", "max")),
    "utilisation",
    "makespan",
    "mean_queue_length",
    "max_queue_length",
    "throughput",
    "backfilled_share",
    "killed_jobs",
    "fairness",
)
"""The metrics that every schedule has, in the order of the results; `fairness` is NaN where it is not defined."""

DAY = 86_400
UNROLLED = 8
"""NumPy adds pairwise, with this many partial sums, in blocks of at most BLOCK numbers."""
BLOCK = 128
DEEPEST = 64


@kernel
def pairwise_sum(values: NDArray[np.float64], low: int, high: int) -> float:
    """Return the sum of `values[low:high]`, added up in NumPy's order: halves of halves, without calling itself."""
    if high - low <= BLOCK:
        return _block_sum(values, low, high)
    begins, ends = np.empty(DEEPEST, dtype=np.int64), np.empty(DEEPEST, dtype=np.int64)
    firsts, has_first = np.empty(DEEPEST), np.zeros(DEEPEST, dtype=np.bool_)
    begins[0], ends[0], top, total = low, high, 0, 0.0
    while top >= 0:
        n = ends[top] - begins[top]
        if n > BLOCK:  # the first half is next
            half = n // 2 - n // 2 % UNROLLED
            begins[top + 1], ends[top + 1] = begins[top], begins[top] + half
            top += 1
            has_first[top] = False
            continue
        total = _block_sum(values, begins[top], ends[top])
        top -= 1
        while top >= 0 and has_first[top]:
            total = firsts[top] + total
            has_first[top] = False
            top -= 1
        if top >= 0:  # this was a first half: the second one is next
            firsts[top], has_first[top] = total, True
            begins[top + 1], ends[top + 1] = ends[top + 1], ends[top]
            top += 1
            has_first[top] = False
    return float(total)


@kernel
def _block_sum(values: NDArray[np.float64], low: int, high: int) -> float:
    n = high - low
    if n < UNROLLED:
        total = 0.0
        for i in range(low, high):
            total += values[i]
        return float(total)
    a, b, c, d = values[low], values[low + 1], values[low + 2], values[low + 3]
    e, f, g, h = values[low + 4], values[low + 5], values[low + 6], values[low + 7]
    i = low + UNROLLED
    while i < high - n % UNROLLED:
        a, b, c, d = a + values[i], b + values[i + 1], c + values[i + 2], d + values[i + 3]
        e, f, g, h = e + values[i + 4], f + values[i + 5], g + values[i + 6], h + values[i + 7]
        i += UNROLLED
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    while i < high:
        total += values[i]
        i += 1
    return float(total)


@kernel
def _percentile(ascending: NDArray[np.float64], share: float) -> float:
    """Return a percentile, linear between the two nearest values (NumPy's usual one)."""
    place = (len(ascending) - 1) * share
    below = int(np.floor(place))
    rest = place - below
    first, second = ascending[below], ascending[min(below + 1, len(ascending) - 1)]
    difference = second - first
    return float(second - difference * (1 - rest) if rest >= 0.5 else first + difference * rest)


@kernel
def _fairness(user: NDArray[np.int64], slowdowns: NDArray[np.float64]) -> float:
    """Return Jain's index of the users' means, NaN with fewer than two users."""
    parties = np.unique(user)
    if np.count_nonzero(parties >= 0) < 2:
        return np.nan
    total, count = np.zeros(len(parties)), np.zeros(len(parties))
    place = np.searchsorted(parties, user)
    for i in range(len(user)):
        total[place[i]] += slowdowns[i]
        count[place[i]] += 1
    means = total / count
    whole = pairwise_sum(means, 0, len(means))
    return float(whole * whole / (len(means) * pairwise_sum(means * means, 0, len(means))))


@kernel
def measure(
    submit: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    processors: NDArray[np.int64],
    backfilled: NDArray[np.bool_],
    killed: NDArray[np.bool_],
    user: NDArray[np.int64],
    machine: int,
    tau: int,
    wanted: NDArray[np.bool_],
    results: NDArray[np.float64],
) -> None:
    """Take measures of a whole schedule, without warm-up and cool-down.

    Parameters
    ----------
    submit, start, end, processors, backfilled, killed, user
        One entry per job, in order of submission.
    machine
        Its size.
    tau
        Seconds: the bound of the bounded slowdown.
    wanted
        Which of `NAMES`.
    results
        Filled where wanted.
    """
    n = len(submit)
    if wanted[0]:
        results[0] = n
    values = np.empty(n)
    for kind in range(5):
        place = 1 + 5 * kind
        sums = wanted[place] or wanted[place + 4] or (kind == 3 and wanted[-1])
        sorts = wanted[place + 1] or wanted[place + 2] or wanted[place + 3]
        if not sums and not sorts:
            continue
        for i in range(n):
            wait, run = start[i] - submit[i], end[i] - start[i]
            if kind == 0:
                values[i] = wait
            elif kind == 1:
                values[i] = end[i] - submit[i]
            elif kind == 2:
                present = max(run, 1)
                values[i] = (wait + present) / present
            elif kind == 3:
                values[i] = max((wait + run) / max(run, tau), 1.0)
            else:
                values[i] = max((wait + run) / (max(run, tau) * float(processors[i])), 1.0)
        if sums:
            results[place] = pairwise_sum(values, 0, n) / n
            results[place + 4] = values.max()
        if kind == 3 and wanted[-1]:
            results[len(results) - 1] = _fairness(user, values)
        if sorts:
            values.sort()
            results[place + 1] = _percentile(values, 0.5)
            results[place + 2] = _percentile(values, 0.95)
            results[place + 3] = _percentile(values, 0.99)
    _measure_machine(submit, start, end, processors, backfilled, killed, machine, wanted, results)


@kernel
def _measure_machine(
    submit: NDArray[np.int64],
    start: NDArray[np.int64],
    end: NDArray[np.int64],
    processors: NDArray[np.int64],
    backfilled: NDArray[np.bool_],
    killed: NDArray[np.bool_],
    machine: int,
    wanted: NDArray[np.bool_],
    results: NDArray[np.float64],
) -> None:
    """Take the measures that are of the schedule as a whole."""
    n = len(submit)
    begin, over = submit[0], end.max()
    length = max(over - begin, 1)
    if wanted[26]:
        busy = np.empty(n)
        for i in range(n):
            busy[i] = (end[i] - start[i]) * float(processors[i])
        results[26] = pairwise_sum(busy, 0, n) / (float(machine) * float(length))
    results[27] = length
    if wanted[28]:
        waited = 0
        for i in range(n):
            waited += start[i] - submit[i]
        results[28] = waited / length
    if wanted[29]:
        starts = np.sort(start)
        most, begun = 0, 0
        for i in range(n):
            while begun < n and starts[begun] <= submit[i]:
                begun += 1
            if i + 1 == n or submit[i + 1] > submit[i]:
                most = max(most, i + 1 - begun)
        results[29] = most
    results[30] = n * DAY / length
    if wanted[31]:
        results[31] = np.count_nonzero(backfilled) / n
    if wanted[32]:
        results[32] = np.count_nonzero(killed)


def measure_small(schedule: Schedule, tau: int) -> dict[str, float] | None:
    """Return the metrics of a whole schedule; None if it is none of those that the kernel is for."""
    workload, submit = schedule.workload, schedule.workload.submit_time
    ordinary = schedule.runs is None and schedule.eligible_time is None and workload.workflows is None
    without_reasons = not schedule.waited_for and schedule.cancelled is None and schedule.sizes is None
    whole = isinstance(tau, int) and tau >= 1 and schedule.start_time.dtype == np.int64
    if not (0 < len(schedule) <= LARGEST and ordinary and without_reasons and whole) or bool(
        (submit[1:] < submit[:-1]).any()
    ):
        return None
    results = np.full(len(NAMES), np.nan)
    measure(
        submit.copy(),  # copies, which are contiguous and can be written to: the kernel is compiled once
        schedule.start_time.copy(),
        schedule.end_time.copy(),
        workload.job_processors.copy(),
        schedule.backfilled.copy(),
        schedule.killed.copy(),
        workload.user_id.copy(),
        schedule.processors,
        tau,
        _EVERYTHING,
        results,
    )
    return {name: value for name, value in zip(NAMES, results.tolist(), strict=True) if not isnan(value)}


_EVERYTHING = np.ones(len(NAMES), dtype=np.bool_)
