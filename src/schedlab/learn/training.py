"""What a search learns from: windows of logs, and what a policy is worth on each of them.

The loss of a policy on a window is the logarithm of its metric over that of the baseline on the same jobs, so that the
mean loss is the logarithm of the geometric mean of the ratios, plus a penalty for waits that are too long.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import DAY
from schedlab.engine.many.simulate_many import simulate_many
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.groups import SIZE_CLASSES, USER_CLASSES, class_metrics
from schedlab.schedule.metrics import MEASURES
from schedlab.schedule.summary import duration
from schedlab.scheduler.compatible import check
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.sampling import windows
from schedlab.workload.workload import Workload

EASY = "fcfs+easy"
"""Whose longest wait the limit of waits refers to."""

STATE = 16
"""Jobs at the head of a window that only fill the machine, as in SC'17."""

FEWEST_JOBS = 50
"""A window with fewer jobs that count says nothing and is left out."""

SHORTEST_LIMIT = 3_600.0
"""Seconds: waits up to an hour are not penalised where hardly any job waits under EASY."""

BOUND = math.log(1_000)
"""The loss on one window lies within this and its negative: one window cannot decide alone."""

STATISTICS = ("mean", "median", "p95", "p99", "max")
OBJECTIVES = tuple(f"{statistic}_{measure}" for measure in MEASURES for statistic in STATISTICS)
"""The metrics that can be searched for: statistics of the jobs, less is better."""

Losses = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """Windows to train on, and what their metrics are compared with.

    Parameters
    ----------
    windows
        The workloads, those for validation last; the first `state` jobs of each only fill the machine.
    metric
        One of `OBJECTIVES`.
    rest
        What follows the policy in the scheduler text, such as "+easy".
    baseline
        Metric of the baseline on each window, positive.
    longest_wait
        Seconds, for each window, beyond which the longest wait is penalised; None if waits are not limited.
    state
        See `windows`.
    validation
        How many of the windows are not for training, but for a choice among what it has found.
    class_slowdown
        For each window and each class of jobs and users, the mean bounded slowdown above which it is penalised, NaN for
        classes without jobs; None: no limits.
    """

    windows: tuple[Workload, ...]
    metric: str
    rest: str
    baseline: NDArray[np.float64]
    longest_wait: NDArray[np.float64] | None
    state: int
    validation: int = 0
    class_slowdown: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Return the number of windows to train on."""
        return len(self.windows) - self.validation

    def losses(self, formula: str, numbers: Sequence[int]) -> Losses:
        """Return the loss of a policy on some of the windows, by their numbers; infinite if some job has no score.

        Notes
        -----
        If the longest wait is beyond the limit, the logarithm of their ratio is added: a wait of twice the limit costs
        as much as twice the metric. The loss does not jump where the limit is reached. The same holds for the class of
        jobs or users that is most beyond its limit.
        """
        losses = np.empty(len(numbers))
        for i, number in enumerate(numbers):
            try:
                scheduler = Scheduler.parse(f'"{formula}"{self.rest}')
                value, longest = measure(self.windows[number], scheduler, self.metric, self.state)
            except InputError:  # the baseline has run on these jobs: it is the formula that has no number for some job
                return np.full(len(numbers), np.inf)
            loss = math.log(value / self.baseline[number]) if value > 0 else -BOUND
            losses[i] = min(max(loss, -BOUND), BOUND)
            if self.longest_wait is not None and longest > self.longest_wait[number]:
                losses[i] += math.log(longest / self.longest_wait[number])
            if self.class_slowdown is not None:
                paid = slowdowns_by_class(self.windows[number], scheduler, self.state) / self.class_slowdown[number]
                losses[i] += math.log(max(1.0, float(np.nanmax(paid))))
        return losses


def prepare_training(
    parts: Sequence[Workload],
    *,
    metric: str = "mean_bounded_slowdown",
    baseline: str = "saf+easy",
    rest: str = "+easy",
    worst_wait: float | None = None,
    worst_class: float | None = None,
    state: int = STATE,
    validation: Sequence[Workload] = (),
) -> Training:
    """Simulate the baseline on windows, to compare policies with it.

    Parameters
    ----------
    parts
        Windows, see `usable_windows`.
    metric
        The metric to minimise, one of `OBJECTIVES`.
    baseline
        Scheduler text.
    rest
        What follows the policy in the scheduler text.
    worst_wait
        How many times as long as under fcfs+easy the longest wait may be, at most; None is no limit.
    worst_class
        How many times that of the baseline the mean bounded slowdown of a class of jobs or users may be, at most, see
        `schedlab.schedule.groups`; None is no limit.
    state
        Jobs at the head of each window that are not counted.
    validation
        More windows, for a choice among the policies found.

    Raises
    ------
    InputError
        If the metric cannot be searched for, if `rest` or the baseline does not fit, if the limit is not positive, or
        if the metric of the baseline is 0 on all windows to train on.

    Notes
    -----
    Windows on which the metric of the baseline is 0 have no ratio and are left out.
    """
    check_objective(metric)
    check_rest(rest)
    for what, factor in (("longest wait", worst_wait), ("slowdown of a class", worst_class)):
        if factor is not None and not 0 < factor < math.inf:
            raise InputError(f"the {what} must be limited by a positive factor, not {factor:g}")
    scheduler = runnable(baseline)
    everything = [*parts, *validation]
    values = np.array([measure(part, scheduler, metric, state)[0] for part in everything])
    kept = np.flatnonzero(values > 0).tolist()
    trained = int(np.count_nonzero(values[: len(parts)] > 0))
    if not trained:
        raise InputError(f"{metric} of {baseline} is 0 on all windows, so no policy can be better")
    chosen = tuple(everything[i] for i in kept)
    limit = None
    if worst_wait is not None:
        easy = Scheduler.parse(EASY)
        waits = np.array([measure(part, easy, metric, state)[1] for part in chosen])
        limit = worst_wait * np.maximum(waits, SHORTEST_LIMIT)
    slowdown = None
    if worst_class is not None:
        slowdown = worst_class * np.array([slowdowns_by_class(part, scheduler, state) for part in chosen])
    return Training(chosen, metric, rest, values[kept], limit, state, len(kept) - trained, slowdown)


def check_objective(metric: str) -> None:
    """Raise InputError unless a metric can be searched for."""
    if metric not in OBJECTIVES:
        near = get_close_matches(metric, OBJECTIVES, 1)
        hint = f"do you mean {near[0]}?" if near else f"take one of {', '.join(OBJECTIVES)}"
        raise InputError(f"{metric!r} is not a metric to search for: {hint}")


def check_rest(rest: str) -> None:
    """Raise InputError unless a text can follow a policy in a scheduler text."""
    if rest.strip()[:1] not in ("", "+", "@", ","):
        raise InputError(f"{rest!r} cannot follow a policy; write for example +easy")
    runnable(f'"p*q"{rest}')


def runnable(text: str) -> Scheduler:
    """Return a scheduler that can run in the default event order, as every simulation of a search does.

    Raises
    ------
    InputError
        If it cannot.
    """
    scheduler = Scheduler.parse(text)
    check(scheduler)
    return scheduler


def measure(workload: Workload, scheduler: Scheduler, metric: str, state: int) -> tuple[float, float]:
    """Return a metric and the longest wait (s) of the jobs after the first `state` ones.

    The metric is that of `Schedule.metrics`, without the time that all the others take.
    """
    names = [metric, "max_wait"]
    found = simulate_many(workload, scheduler, metrics=names, threads=1, in_order=state, uncounted=state)
    return float(found[0, 0, 0]), float(found[0, 0, 1])


def slowdowns_by_class(workload: Workload, scheduler: Scheduler, state: int) -> NDArray[np.float64]:
    """Return the mean bounded slowdown of each size class and each class of users, without the first `state` jobs.

    NaN stands for a class without jobs.
    """
    schedule = simulate(workload, scheduler, in_order=state)
    found = class_metrics(schedule, warm_up=state / len(workload))
    return np.array([found[f"mean_bounded_slowdown_{name}"] for name in (*SIZE_CLASSES, *USER_CLASSES)])


def usable_windows(workload: Workload, length: int = 15 * DAY, state: int = STATE) -> dict[int, Workload]:
    """Return the windows of a log by number, without those that have too few jobs to say anything.

    Raises
    ------
    InputError
        If there is none.
    """
    found = {
        number: part for number, part in enumerate(windows(workload, length, state)) if len(part) >= state + FEWEST_JOBS
    }
    if not found:
        raise InputError(
            f"{workload.name}: no window of {duration(length)} has {state + FEWEST_JOBS} jobs or more: "
            "use longer windows or another log"
        )
    return found
