"""Honest statistics of a campaign: schedulers compared pair by pair, over instances that both have seen.

An *instance* is what every scheduler of a campaign sees alike: a workload at a load, a repetition, a window. Two
schedulers are compared by their differences and ratios on the same instances, and how sure one can be of the mean
is said by a bootstrap over the instances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.schedule.summary import duration, durations
from schedlab.wording import count_of

if TYPE_CHECKING:
    import pandas as pd

INSTANCE = ("workload", "load", "repetition", "window")
"""The columns of a results frame that name an instance."""

METRIC = "mean_bounded_slowdown"
"""What is compared unless one says otherwise."""

LARGER_IS_BETTER = frozenset({"utilisation", "throughput", "fairness"})
"""The metrics of which more is better; of all others, less is, but for those without a better end."""

NO_BETTER_END = frozenset({"jobs", "backfilled_share", "cancelled_jobs"})
"""Metrics of which neither more nor less is better."""

FEWEST_PAIRS = 6
"""Below, not even a unanimous sign test reaches 5 % (2 / 2^5 = 6.25 %), and no interval is given."""

MIXED = "mixed"
"""The verdict where ratios of pairs and the mean contradict each other."""

RESAMPLES = 5_000

THOUSANDTH = 0.001
"""Below, a difference of slowdowns is written as none with three digits."""

DRAWS_AT_ONCE = 1_000_000
"""Bootstrap draws that are in memory together."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Paired:
    """A scheduler against a baseline, over the instances of which both have a value of a metric.

    Parameters
    ----------
    metric, scheduler, baseline
        What is compared.
    pairs
        Number of instances of which both have a value.
    missing
        Number of instances of which only one of them has: a task failed, or has not been run yet.
    mean, median, baseline_mean, baseline_median
        Over the pairs; NaN if there are none.
    difference
        Mean of scheduler minus baseline; NaN if there are no pairs.
    ratio
        Geometric mean of scheduler over baseline; None where a value is not positive.
    difference_interval, ratio_interval
        Bootstrap intervals at the level, None with fewer than `FEWEST_PAIRS` pairs.
    not_positive
        Number of pairs in which a value is 0 or below, so that there is no ratio.
    wins, ties, losses
        Pairs in which the scheduler is better, equal, worse.
    level
        Of the intervals.
    whole, baseline_whole
        The metric over all jobs at once, where the pairs are the weeks of one log; None where they are instances of
        their own.
    """

    metric: str
    scheduler: str
    baseline: str
    pairs: int
    missing: int
    mean: float
    baseline_mean: float
    median: float
    baseline_median: float
    difference: float
    difference_interval: Interval | None
    ratio: float | None
    ratio_interval: Interval | None
    not_positive: int
    wins: int
    ties: int
    losses: int
    level: float
    whole: float | None = None
    baseline_whole: float | None = None

    def on_the_whole(self, values: Mapping[str, float]) -> Paired:
        """Return the same with the metric over all jobs at once, by scheduler; as it is where that is not known."""
        return replace(self, whole=values.get(self.scheduler), baseline_whole=values.get(self.baseline))

    @property
    def mean_change(self) -> float:
        """By how much the mean differs: over all jobs where that is known, else over the pairs."""
        if self.whole is None or self.baseline_whole is None:
            return self.difference
        return self.whole - self.baseline_whole

    @property
    def verdict(self) -> str:
        """What the interval of the ratio says (without a ratio, that of the difference).

        "better", "worse", "equal" if no pair differs, "cannot be told apart" if the interval contains no difference,
        "mixed" if it is better by the interval, but worse over all jobs (or, where that is not known, in the mean of
        the pairs), or the other way round, or "not enough data".
        """
        interval, none = (self.difference_interval, 0.0) if self.ratio is None else (self.ratio_interval, 1.0)
        if interval is None:
            return "not enough data"
        if self.ties == self.pairs:
            return "equal"
        if interval[0] <= none <= interval[1]:
            return "cannot be told apart"
        if (interval[0] > none and self.mean_change < 0) or (interval[1] < none and self.mean_change > 0):
            return MIXED
        return "better" if (interval[0] > none) == (self.metric in LARGER_IS_BETTER) else "worse"

    def __str__(self) -> str:
        if self.pairs < FEWEST_PAIRS:
            return f"not enough data: {count_of(self.pairs, 'pair')}, an interval needs {FEWEST_PAIRS}"
        difference = f"mean difference {signed(self.metric, self.difference)}"
        difference += f" {interval_text(self.difference_interval, self.metric)}"
        if self.ratio is None:
            ratio = f"no ratio, {count_of(self.not_positive, 'pair')} with a value of 0 or less"
        else:
            ratio = f"ratio {self.ratio:.3f} {interval_text(self.ratio_interval)}"
        return f"{self.verdict}: {ratio}; {difference}; better in {self.wins} of {count_of(self.pairs, 'pair')}"


@explained
def paired(
    frame: pd.DataFrame,
    metric: str,
    scheduler: str,
    baseline: str,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Paired:
    """Compare a scheduler with a baseline, pair by pair.

    Parameters
    ----------
    frame
        A results frame: one row per instance and scheduler, the columns `INSTANCE`, `scheduler` and metrics.
    metric
        A column of it; rows in which it is NaN count as missing.
    scheduler, baseline
        Scheduler texts that occur in it.
    level
        Of the confidence intervals.
    resamples
        Of the bootstrap.
    seed
        Of the bootstrap; the order of the rows changes nothing.

    Raises
    ------
    InputError
        If the frame has no such metric or scheduler, two results of one task, or the level is not within 0 and 1.

    Notes
    -----
    The intervals are bias-corrected and accelerated (BCa) bootstrap intervals of the mean of the differences and of
    the mean of the logarithms of the ratios. Instances are drawn within their workload, so that each workload keeps its
    weight, if every workload has at least `FEWEST_PAIRS` pairs; otherwise among all, because resampling two or
    three values pretends a certainty that they do not give. An interval speaks of further instances of the same
    kind, not of other machines, and each of several intervals holds by itself.

    References
    ----------
    Efron, "Better bootstrap confidence intervals", Journal of the American Statistical Association 82 (1987).

    Examples
    --------
    >>> import pandas as pd
    >>> slowdowns = {"fcfs": [4, 9, 8, 6, 5, 7], "easy": [2, 3, 4, 3, 3, 2]}
    >>> rows = [("kth", 1.0, 0, window, text, float(value)) for text, values in slowdowns.items()
    ...         for window, value in enumerate(values)]
    >>> frame = pd.DataFrame(rows, columns=[*INSTANCE, "scheduler", METRIC])
    >>> result = paired(frame, METRIC, "easy", "fcfs")
    >>> result.wins, result.verdict, round(result.difference, 2)
    (6, 'better', -3.67)
    >>> print(paired(frame[frame.window < 3], METRIC, "easy", "fcfs"))
    not enough data: 3 pairs, an interval needs 6
    """
    values, workloads = by_instance(frame, metric)
    return compare_columns(values, workloads, metric, scheduler, baseline, level, resamples, seed)


def by_instance(frame: pd.DataFrame, metric: str) -> tuple[pd.DataFrame, NDArray[np.str_]]:
    """Return a metric with one row per instance and one column per scheduler, and the workload of each row.

    Rows and columns are sorted, so that what is computed from them does not depend on the order of the results.

    Raises
    ------
    InputError
        If there are no results or no such metric, or two results of one task.
    """
    if frame.empty:
        raise InputError("not enough data: the campaign has no results yet")
    known = [name for name in frame.select_dtypes("number").columns if name not in INSTANCE]
    if metric not in known:
        near = get_close_matches(metric, known, 1)
        hint = f"do you mean {near[0]}?" if near else f"there are {', '.join(known)}"
        raise InputError(f"the results have no metric {metric!r}; {hint}")
    # Not an index: a load may be NaN, "as it is".
    instances = frame.groupby(list(INSTANCE), dropna=False).ngroup()
    keyed = frame.assign(instance=instances).sort_values(["instance", "scheduler"])
    twice = keyed[keyed.duplicated(["instance", "scheduler"])]
    if len(twice):
        first = twice.iloc[0]
        where = ", ".join(f"{name} {first[name]}" for name in INSTANCE)
        raise InputError(f"{first.scheduler} has two results for {where}")
    values = keyed.pivot(index="instance", columns="scheduler", values=metric).astype(np.float64)
    return values, keyed.groupby("instance")["workload"].first().to_numpy(dtype=str)


def compare_columns(
    values: pd.DataFrame,
    workloads: NDArray[np.str_],
    metric: str,
    scheduler: str,
    baseline: str,
    level: float,
    resamples: int,
    seed: int,
) -> Paired:
    """Compare two columns of a table that `by_instance` made."""
    if not 0 < level < 1:
        raise InputError(f"the confidence level is {level}; it must be between 0 and 1, such as 0.95")
    for text in (scheduler, baseline):
        if text not in values.columns:
            raise InputError(f"no result of {text}; results exist for {', '.join(values.columns)}")
    both = values[[scheduler, baseline]].to_numpy()
    unknown = np.isnan(both)
    present = ~unknown.any(axis=1)
    ours, theirs = both[present].T
    difference = ours - theirs
    not_positive = int(np.count_nonzero((ours <= 0) | (theirs <= 0)))
    samples = [difference]
    if len(difference) and not not_positive:
        samples.append(np.log(ours) - np.log(theirs))
    intervals: list[Interval | None] = [None, None]
    if len(difference) >= FEWEST_PAIRS:
        strata = _strata(workloads[present])
        intervals = [*_bootstrap(np.column_stack(samples), strata, level, resamples, seed), None]
    gain = difference if metric in LARGER_IS_BETTER else -difference
    return Paired(
        metric=metric,
        scheduler=scheduler,
        baseline=baseline,
        pairs=len(difference),
        missing=int(np.count_nonzero(unknown.any(axis=1) & ~unknown.all(axis=1))),
        mean=statistic_of(np.mean, ours),
        baseline_mean=statistic_of(np.mean, theirs),
        median=statistic_of(np.median, ours),
        baseline_median=statistic_of(np.median, theirs),
        difference=statistic_of(np.mean, difference),
        difference_interval=intervals[0],
        ratio=math.exp(samples[1].mean()) if len(samples) > 1 else None,
        ratio_interval=_exponential(intervals[1]),
        not_positive=not_positive,
        wins=int(np.count_nonzero(gain > 0)),
        ties=int(np.count_nonzero(gain == 0)),
        losses=int(np.count_nonzero(gain < 0)),
        level=level,
    )


def statistic_of(statistic: Callable[[NDArray[np.float64]], np.floating[Any]], values: NDArray[np.float64]) -> float:
    """Return a statistic, NaN of nothing."""
    return float(statistic(values)) if len(values) else math.nan


def _exponential(interval: Interval | None) -> Interval | None:
    return None if interval is None else (math.exp(interval[0]), math.exp(interval[1]))


def _strata(workloads: NDArray[np.str_]) -> NDArray[np.intp]:
    """Return within which group each pair is resampled: its workload, if all of them have enough pairs."""
    _, stratum, sizes = np.unique(workloads, return_inverse=True, return_counts=True)
    return stratum if sizes.min() >= FEWEST_PAIRS else np.zeros(len(stratum), dtype=np.intp)


def _bootstrap(
    samples: NDArray[np.float64], strata: NDArray[np.intp], level: float, resamples: int, seed: int
) -> list[Interval]:
    """Return the BCa interval of the mean of each column, its rows resampled within their strata."""
    rng = np.random.default_rng(seed)
    totals = np.zeros((resamples, samples.shape[1]))
    influence = np.empty_like(samples)
    for stratum in np.unique(strata):
        members = samples[strata == stratum]
        influence[strata == stratum] = members - members.mean(axis=0)
        # Contiguous columns: seven times as fast as to gather rows.
        columns = np.ascontiguousarray(members.T)
        step = max(1, DRAWS_AT_ONCE // len(members))
        for begin in range(0, resamples, step):
            drawn = rng.integers(0, len(members), (min(step, resamples - begin), len(members)))
            for i, column in enumerate(columns):
                totals[begin : begin + step, i] += column[drawn].sum(axis=1)
    means, found = totals / len(samples), samples.mean(axis=0)
    return [_bca(means[:, i], float(found[i]), influence[:, i], level) for i in range(samples.shape[1])]


def _bca(means: NDArray[np.float64], found: float, influence: NDArray[np.float64], level: float) -> Interval:
    """Return the interval that resampled means give for the mean found, given the influence of each value on it."""
    from scipy.stats import norm

    most = np.abs(influence).max()
    if not most:
        return found, found
    pull = influence / most
    acceleration = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
    below = (np.count_nonzero(means < found) + 0.5 * np.count_nonzero(means == found)) / len(means)
    # Where all lie on one side, as if half of one lay on the other: the quantile stays finite.
    bias = norm.ppf(np.clip(below, 0.5 / len(means), 1 - 0.5 / len(means)))
    shifted = bias + norm.ppf([(1 - level) / 2, (1 + level) / 2])
    low, high = np.quantile(means, norm.cdf(bias + shifted / (1 - acceleration * shifted)))
    return float(low), float(high)


def quantity(metric: str, value: float, like: Sequence[float] | None = None) -> str:
    """Return a value of a metric for a person: durations with a unit, other numbers with three or more digits.

    The unit is that of durations `like` it, if they are given: one for a column of a table.

    Examples
    --------
    >>> quantity("mean_wait", 7200), quantity("mean_bounded_slowdown", 12.3456), quantity("throughput", 12345.6)
    ('2 h', '12.3', '12,346')
    >>> signed("mean_bounded_slowdown", 0.0000262)
    '+0.000'
    """
    if math.isnan(value):
        return "-"
    if any(name in metric for name in ("wait", "run_time", "turnaround", "makespan")):
        text = duration(abs(value)) if like is None else durations([abs(value)], like)[0]
        return f"{'-' if value < 0 else ''}{text}"
    if "slowdown" in metric and 0 < abs(value) < THOUSANDTH:
        return f"{value:.3f}"  # a ratio to run times; no one reads powers of ten there
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"


def signed(metric: str, value: float, like: Sequence[float] | None = None) -> str:
    """Return a difference of a metric, with its sign, see `quantity`.

    Examples
    --------
    >>> signed("mean_wait", 90), signed("mean_bounded_slowdown", -2)
    ('+90 s', '-2')
    """
    return f"{'+' if value > 0 else ''}{quantity(metric, value, like)}"


def _ratio_text(value: float) -> str:
    texts = (f"{value:.{digits}f}" for digits in range(3, 9))
    return next((text for text in texts if float(text) != 1 or value == 1), f"{value:.3f}")


@explained
def interval_text(interval: Interval | None, metric: str | None = None, like: Sequence[float] | None = None) -> str:
    """Return an interval of differences of a metric, or of ratios if none is named; "-" if there is none.

    An end that is not 1 is not written as 1: which side it is on decides. Durations are in the unit of others
    `like` them, in seconds, if these are given.

    Examples
    --------
    >>> interval_text((0.81, 1.02)), interval_text((-120, 30), "mean_wait"), interval_text(None)
    ('[0.810, 1.020]', '[-2 min, +30 s]', '-')
    >>> interval_text((1.00021, 1.04)), interval_text((0.5, 1.0))
    ('[1.0002, 1.040]', '[0.500, 1.000]')
    """
    if interval is None:
        return "-"
    texts = [signed(metric, value, like) if metric else _ratio_text(value) for value in interval]
    return f"[{texts[0]}, {texts[1]}]"
