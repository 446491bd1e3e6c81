"""How many nodes reach a goal: every number of nodes of each kind that was tried, and what they cost and buy."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from schedlab.campaign.results.statistics import LARGER_IS_BETTER, Interval
from schedlab.schedule.summary import duration
from schedlab.site.capacity_goal import Goal
from schedlab.site.effects import Effect
from schedlab.site.far_longer import FarLonger
from schedlab.site.grounds import Grounds
from schedlab.site.more_nodes import NodeKind
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Sweep
from schedlab.site.unusable import Unusable
from schedlab.site.variants import Variant

HOUR, MONTH = 3600, 30 * 86_400

LEAST_SPAN = 28 * 86_400
"""Seconds of a log below which what it shows is not extrapolated to a month."""

SLACK = 0.01
"""Relative change of a metric that is not called one."""


@dataclass(frozen=True, slots=True)
class CapacityStep:
    """A number of new nodes of one kind, and what they bring.

    Parameters
    ----------
    nodes
        How many.
    variant
        The site with them.
    value, before, change, interval
        The metric, that of the site as it is on the same copies of the jobs, its change from that, and the 95 %
        interval of the change (None: there is none).
    copies, runs
        The smallest and the largest change among the copies of the jobs (None: there is one), and how many these are.
    mean_wait, utilisation
        In seconds, and of 1.
    saved, saved_in_log
        Hours that all jobs of the log together wait less, and how many of these lie before the last submission, while
        other jobs still come.
    effects
        On groups of jobs.
    unchanged
        Whether every job starts as before.
    at_limits
        Share of the waiting of all jobs that is at limits; 0 where it is not known.
    far
        Jobs that wait by far longer.
    """

    nodes: int
    variant: Variant
    value: float
    before: float
    change: float
    interval: Interval | None
    copies: Interval | None
    runs: int
    mean_wait: float
    utilisation: float
    saved: float
    saved_in_log: float
    effects: tuple[Effect, ...]
    unchanged: bool
    at_limits: float
    far: FarLonger

    @property
    def may_be_chance(self) -> bool:
        """Whether the interval of the change of the metric includes 0."""
        return self.interval is not None and self.interval[0] <= 0 <= self.interval[1]

    @property
    def saves_surely(self) -> bool:
        """Whether jobs surely wait less; without an interval, in this log."""
        every = next(one for one in self.effects if one.kind == "all")
        return every.difference < 0 and (every.interval is None or every.excludes_none)


@dataclass(frozen=True, slots=True)
class KindCapacity:
    """More nodes of one kind: all numbers that were tried.

    Parameters
    ----------
    kind
        Of nodes.
    price
        Of a node-hour; None: not given.
    steps
        By the number of nodes.
    needed
        The smallest number that reaches the goal; None: none that was tried does.
    with_more_work
        The metric with that number and a tenth more work; None: not known.
    unusable
        The waiting, at the site as it is, of jobs that cannot run on such nodes.
    failure
        Why a number could not be tried; empty: all could.
    instead
        What as many nodes of this kind, instead of the best one, do to the jobs of the goal; None: it is the best, or
        kinds are not compared at one number.
    """

    kind: NodeKind
    price: float | None
    steps: tuple[CapacityStep, ...]
    needed: int | None
    with_more_work: float | None
    unusable: Unusable
    failure: str = ""
    instead: Effect | None = None

    @property
    def decisive(self) -> CapacityStep | None:
        """The step with the needed number or, if none is enough, with the most."""
        return next((one for one in self.steps if one.nodes == self.needed), self.steps[-1] if self.steps else None)

    def cost(self, nodes: int) -> float | None:
        """Return what a number of nodes costs in 30 days."""
        return None if self.price is None else self.price * nodes * MONTH / HOUR


@dataclass(frozen=True, slots=True, eq=False)
class Capacity:
    """How many nodes of which kind reach a goal.

    Parameters
    ----------
    sweep
        Where the simulations are.
    goal
        To be reached.
    sample
        The jobs that were replayed.
    copies
        Copies of these on which both sides were simulated for the numbers that decide, which are means over them.
    most
        Nodes that were tried of each kind.
    add
        How many of each kind were asked for, to compare kinds; None: as many as the goal needs.
    until
        Seconds from the first submission to the last start at the site as it is: all waiting lies between them.
    before, mean_wait, utilisation
        The metric, the mean wait and the utilisation of the site as it is.
    jobs
        That the goal is of.
    kinds
        That were tried, those that reach the goal first, and of these the cheapest or fewest; none if it is reached
        already.
    grounds
        What the answer stands on.
    currency
        Of prices, empty if it is not known.
    """

    sweep: Sweep
    goal: Goal
    sample: SiteSample
    copies: int
    most: int
    add: int | None
    until: int
    before: float
    mean_wait: float
    utilisation: float
    jobs: int
    kinds: tuple[KindCapacity, ...]
    grounds: Grounds
    currency: str = ""

    @property
    def span(self) -> int:
        """How long the log is, in seconds."""
        return max(self.grounds.span, 1)

    @property
    def extrapolates(self) -> bool:
        """Whether the log is long enough to tell what nodes save in 30 days; else it is told until the last start."""
        return self.span >= LEAST_SPAN

    @property
    def period(self) -> str:
        """How long the time is of which hours that nodes save are told, in words."""
        return "30 days" if self.extrapolates else duration(self.until)

    def saved(self, step: CapacityStep) -> float:
        """Return the hours of waiting that a number of nodes saves, in 30 days or, of a short log, in the log."""
        return step.saved * MONTH / self.until if self.extrapolates else step.saved

    def cost_of_an_hour(self, one: KindCapacity, step: CapacityStep, *, in_log: bool = False) -> float | None:
        """Return what an hour of waiting that is saved costs; None: there is no price, or nothing is saved.

        The nodes are paid until the last job of the log has started or, of the hours `in_log`, until the last one is
        submitted: for as long as these hours are counted.
        """
        cost, saved, seconds = one.cost(step.nodes), step.saved, self.until
        if in_log:
            saved, seconds = step.saved_in_log, self.span
        return None if cost is None or saved <= 0 else cost * seconds / MONTH / saved

    @property
    def tried_once(self) -> bool:
        """Whether other numbers than those that decide were simulated on fewer copies."""
        return any(step.runs < self.copies for one in self.kinds for step in one.steps)

    @property
    def best(self) -> KindCapacity | None:
        """The kind that the answer begins with; None: no node is needed."""
        return self.kinds[0] if self.kinds else None

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences, the first for who reads no further."""
        from schedlab.site.capacity_text import sentences_of

        return sentences_of(self)

    def to_document(self) -> dict[str, Any]:
        """Return the answer as numbers and texts, for JSON."""
        return {
            "calibration": self.grounds.standing.to_document(),
            "sentences": self.sentences(),
            "goal": asdict(self.goal) | ({} if self.add is None else {"value": None}),
            "add": self.add,
            "sample": self.sample.text,
            "copies": self.copies,
            "most": self.most,
            "as_it_is": {"value": self.before, "mean_wait": self.mean_wait, "utilisation": self.utilisation},
            "span": self.span,
            "until": self.until,
            "currency": self.currency,
            "kinds": [self._of_kind(one) for one in self.kinds],
        } | self.grounds.to_document()

    def _of_kind(self, one: KindCapacity) -> dict[str, Any]:
        steps = [
            asdict(step)
            | {
                "effects": [effect.to_document() for effect in step.effects],
                "cost_a_month": one.cost(step.nodes),
                "saved_a_month": self.saved(step) if self.extrapolates else None,
            }
            for step in one.steps
        ]
        return (
            {"nodes": one.kind.lines, "partitions": one.kind.partitions, "price": one.price, "steps": steps}
            | {name: getattr(one, name) for name in ("needed", "with_more_work", "failure")}
            | {"unusable": asdict(one.unusable)}
            | {"instead_of_the_best": None if one.instead is None else one.instead.to_document()}
        )

    def __str__(self) -> str:
        from schedlab.site.capacity_table import capacity_text

        return capacity_text(self)


def not_monotone(goal: Goal, one: KindCapacity) -> tuple[CapacityStep, CapacityStep] | None:
    """Return two numbers of nodes of which the larger one is clearly worse; None: there are none."""
    sign = -1 if goal.metric in LARGER_IS_BETTER else 1
    for fewer, more in zip(one.steps, one.steps[1:], strict=False):
        if fewer.runs == more.runs and sign * (more.value - fewer.value) > SLACK * abs(fewer.value):
            return fewer, more
    return None
