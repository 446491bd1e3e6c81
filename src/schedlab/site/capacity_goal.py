"""What more nodes are to bring: a value of a metric, of all jobs or of a group, and how sure a change of it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.campaign.results.statistics import LARGER_IS_BETTER, Interval, quantity
from schedlab.durations import parse_duration_with_unit
from schedlab.errors import InputError, located
from schedlab.schedule.metrics import MEASURES, job_measures, metric_names, schedule_metrics
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.window import measured_window
from schedlab.site.answers import VariantAnswer
from schedlab.site.effects import blocks_of, group_name, groups_of
from schedlab.site.intervals import of_waits, spread_of
from schedlab.site.quantile_intervals import quantile_interval
from schedlab.site.sweep import Paired
from schedlab.wording import did_you_mean, shown
from schedlab.workload.workload import Workload

KINDS = ("partition", "QOS", "account", "user", "size", "GPU")
"""Kinds of groups of which a metric may be."""

TIMES = ("wait", "run_time", "turnaround", "makespan", "time_lost", "suspended_time")
"""Parts of the names of metrics in seconds."""

SHARES: dict[str, float | None] = {"mean": None, "median": 0.5, "p95": 0.95, "p99": 0.99}
"""Statistics of which an interval is computed, and the share of jobs below a quantile; of the largest, none can be."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A value of a metric that is to be reached.

    Parameters
    ----------
    metric
        Which: one of those in the reference of metrics.
    value
        To be reached: at most that, or at least where more is better; seconds where it is a time.
    kind, group
        The jobs that it is of, such as "partition" and "gpu"; empty: all.

    Examples
    --------
    >>> goal = Goal.parse("p95_wait=4h", "partition gpu")
    >>> goal.aim, goal.value, goal.reached(14_000.0)
    ('p95 wait of partition gpu at most 4 h', 14400.0, True)
    """

    metric: str
    value: float
    kind: str = ""
    group: str = ""

    @classmethod
    @explained
    def parse(cls, text: str, of: str = "") -> Goal:
        """Read a goal.

        Parameters
        ----------
        text
            METRIC=VALUE, such as p95_wait=4h or utilisation=0.8.
        of
            The jobs that it is of: a kind and a name, such as "partition gpu"; empty: all.

        Raises
        ------
        InputError
            If it is not written like that, or there is no such metric or kind.
        """
        metric, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not value:
            raise InputError(f"goal {shown(text)}: must be written METRIC=VALUE, such as p95_wait=4h")
        if metric not in metric_names():
            near = did_you_mean(metric, metric_names())
            raise InputError(
                f"goal {shown(text)}: unknown metric {shown(metric)}{near}; the reference of metrics names all"
            )
        kind, _, group = of.strip().partition(" ")
        kinds = {one.lower(): one for one in KINDS}
        if of and (kind.lower() not in kinds or not group.strip()):
            raise InputError(
                f"jobs {shown(of)}: must be a kind ({', '.join(KINDS)}) and a name, such as 'partition gpu'"
            )
        if of and metric.partition("_")[2] not in MEASURES:
            raise InputError(
                f"{metric} is of the whole site: a group of jobs has metrics such as mean_wait or p95_wait"
            )
        with located(f"goal {shown(text)}"):
            return cls(metric, _number(metric, value), kinds.get(kind.lower(), ""), group.strip())

    @property
    def text(self) -> str:
        """The metric in words, and whose it is."""
        of = f" of {group_name(self.kind, self.group)}" if self.kind else ""
        return f"{self.metric.replace('_', ' ')}{of}"

    @property
    def is_time(self) -> bool:
        """Whether it is in seconds."""
        return _is_time(self.metric)

    def in_words(self, value: float) -> str:
        """Return a value of the metric as text."""
        return f"{value:.1%}" if self.metric == "utilisation" else quantity(self.metric, value)

    @property
    def aim(self) -> str:
        """What is to be reached, in words."""
        bound = "at least" if self.metric in LARGER_IS_BETTER else "at most"
        return f"{self.text} {bound} {self.in_words(self.value)}"

    def reached(self, value: float) -> bool:
        """Return whether a value is as good as the goal, or better."""
        return value >= self.value if self.metric in LARGER_IS_BETTER else value <= self.value

    def rows(self, jobs: Workload, processors: int) -> NDArray[np.bool_]:
        """Return which jobs it is of; size classes are those of a machine.

        Raises
        ------
        InputError
            If there are none.
        """
        if not self.kind:
            return np.ones(len(jobs), dtype=np.bool_)
        labels = next(labels for kind, labels in groups_of(jobs, processors) if kind == self.kind)
        if self.group not in labels.names:
            near = did_you_mean(self.group, labels.names)
            raise InputError(f"no job belongs to {group_name(self.kind, self.group)}{near}")
        found: NDArray[np.bool_] = labels.codes == labels.names.index(self.group)
        if not found.any():
            raise InputError(f"no job belongs to {group_name(self.kind, self.group)} in this part of the log")
        return found

    def of(self, answer: VariantAnswer, mine: NDArray[np.bool_]) -> float:
        """Return the value of an answer, of those jobs of its sample that it is of."""
        if not self.kind:
            return answer.metric(self.metric)
        window = measured_window(answer.schedule)
        rows = window.rows[mine[answer.rows][window.rows]]
        return schedule_metrics(answer.schedule, window=replace(window, rows=rows))[self.metric]

    def changes(self, copies: Sequence[Paired], mine: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return by how much the metric changes in each copy."""
        return np.array([self.of(other, mine) - self.of(base, mine) for base, other in copies])

    def interval(self, copies: Sequence[Paired], mine: NDArray[np.bool_]) -> Interval | None:
        """Return the interval of the change of the metric at a level of 95 %; None: there is none.

        Parameters
        ----------
        copies
            The site as it is and the variant on each copy of the same jobs.
        mine
            Those jobs that it is of.

        Notes
        -----
        Jobs are paired, and cut into blocks by submission. The interval of a mean is that of what-if
        (`schedlab.site.intervals.spread_of`), that of a quantile a bootstrap over the blocks
        (`schedlab.site.quantile_intervals.quantile_interval`). Neither says that the metric falls by more than it is.
        """
        statistic, _, measure = self.metric.partition("_")
        if measure not in MEASURES or statistic not in SHARES:
            return None
        first = copies[0].base
        rows = np.flatnonzero(mine[first.rows])
        before, after = (
            np.array([_values(one.schedule, measure)[rows] for one in side]) for side in zip(*copies, strict=True)
        )
        block, share = blocks_of(first.schedule.workload.submit_time[rows]), SHARES[statistic]
        if share is not None:
            found, today = quantile_interval(before, after, block, share), np.quantile(before, share, axis=1).mean()
        else:
            spread, today = spread_of(after - before, block), before.mean()
            found = None if spread is None else spread.interval
        return None if found is None else of_waits(found, float(today))


def _values(schedule: Schedule, measure: str) -> NDArray[np.float64]:
    return np.asarray(job_measures(schedule)[measure], dtype=np.float64)


def _is_time(metric: str) -> bool:
    return any(word in metric for word in TIMES)


def _number(metric: str, text: str) -> float:
    if _is_time(metric):
        return parse_duration_with_unit(text)
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise InputError(f"{shown(text)} is not a number") from None
