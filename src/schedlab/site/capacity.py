"""How many nodes, and of which kind, a site needs until its jobs wait less: the smallest number that reaches a goal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from schedlab.arguments import explained
from schedlab.campaign.results.statistics import LARGER_IS_BETTER
from schedlab.errors import InputError
from schedlab.schedule.reasons import LIMITS
from schedlab.site.answers import VariantAnswer
from schedlab.site.capacity_found import HOUR, Capacity, CapacityStep, KindCapacity
from schedlab.site.capacity_goal import Goal
from schedlab.site.copies import in_copies
from schedlab.site.effects import effects
from schedlab.site.grounds import grounds_of
from schedlab.site.intervals import between_copies
from schedlab.site.more_nodes import NodeKind, check_kind, more_nodes, node_kinds
from schedlab.site.samples import THE_LOG, SiteSample
from schedlab.site.sweep import Paired, Sweep
from schedlab.site.unusable import Unusable, unusable
from schedlab.site.variants import AS_IT_IS, Variant
from schedlab.wording import count_of

MOST_TRIED = 2
"""Numbers of a kind that are tried at most, for each power of two up to the largest one: doubling, then halving."""

Progress = Callable[[int, int, int], None]
"""Called with the numbers of simulations that are done, that failed, and of all."""

MORE_WORK = 1.1
"""Factor of the work that is offered, to see whether the goal still holds if shorter waits bring more."""


def next_number(tried: Mapping[int, bool], most: int) -> int | None:
    """Return how many nodes to try next: twice as many until the goal is reached, then halfway; None: no more.

    Parameters
    ----------
    tried
        Whether each number that was tried reaches the goal.
    most
        The largest number.

    Examples
    --------
    >>> next_number({}, 64), next_number({1: False, 2: False}, 64), next_number({2: False, 4: True}, 64)
    (1, 4, 3)
    >>> next_number({64: False}, 64), next_number({3: False, 4: True}, 64), next_number({1: True}, 64)
    (None, None, None)
    """
    enough = [number for number, reached in tried.items() if reached]
    if not enough:
        last = max(tried, default=0)
        return None if last >= most else min(max(2 * last, 1), most)
    high = min(enough)
    low = max((number for number in tried if number < high), default=0)
    return None if high - low <= 1 else (low + high) // 2


class _Search:
    """The search for all kinds at once, so that processes have enough to do.

    Parameters
    ----------
    samples
        The copies of the jobs on which numbers are tried.
    deciding
        Those on which the numbers are run that decide, `samples` or more copies.
    """

    def __init__(
        self,
        sweep: Sweep,
        goal: Goal,
        samples: Sequence[SiteSample],
        deciding: Sequence[SiteSample],
        most: int,
        workers: int | None,
        progress: Progress | None,
    ) -> None:
        self.sweep, self.goal, self.samples, self.deciding, self.most = sweep, goal, samples, deciding, most
        self.workers, self.progress = workers, progress
        self.mine = goal.rows(sweep.sample(samples[0]), sweep.site.cluster.processors)
        self.tried: dict[NodeKind, dict[int, CapacityStep]] = {}
        self.failed: dict[NodeKind, str] = {}
        self.done = 0

    def run(
        self, variants: Sequence[Variant], samples: Sequence[SiteSample], later: int = 0, *, compare: bool = True
    ) -> None:
        """Run variants; `later` simulations may follow, which progress counts with those before."""
        ended = self.done

        def advance(done: int, failed: int, total: int) -> None:
            self.done = ended + done + failed
            if self.progress is not None:
                self.progress(ended + done, failed, ended + total + later)

        self.sweep.run(variants, samples, compare=compare, workers=self.workers, progress=advance)

    def _answers(self, variant: Variant) -> list[VariantAnswer]:
        """Return the answers of a variant on all copies; none, if one of them is not there."""
        found = [one for sample in self.deciding if (one := self.sweep.answer(variant, sample)) is not None]
        return found if len(found) == len(self.deciding) else []

    def pairs(self, variant: Variant) -> list[Paired]:
        return self.sweep.pairs(variant, self.deciding)

    def as_it_is(self, kinds: int) -> list[Paired]:
        self.run([], self.deciding, kinds * self._left(0))
        if found := self.pairs(Variant(AS_IT_IS)):
            return found
        reasons = dict.fromkeys(one.reason for one in self.sweep.failures.values())
        raise InputError(f"the site as it is could not be run: {'; '.join(reasons)}")

    def value(self, answers: Iterable[VariantAnswer]) -> float:
        """Return the metric, a mean over copies."""
        return float(np.mean([self.goal.of(one, self.mine) for one in answers]))

    def search(self, kinds: Sequence[NodeKind]) -> None:
        """Try numbers of nodes of all kinds until each is decided."""
        self.tried = {kind: {} for kind in kinds}
        while batch := {kind: number for kind in kinds if (number := self._next(kind)) is not None}:
            self._try(batch, self.samples, sum(self._left(number) for number in batch.values()))
        while len(self.deciding) > len(self.samples) and (
            batch := {kind: number for kind in kinds if (number := self._undecided(kind)) is not None}
        ):
            self._try(batch, self.deciding)

    def _try(self, batch: Mapping[NodeKind, int], samples: Sequence[SiteSample], later: int = 0) -> None:
        variants = {kind: self.variant(kind, number) for kind, number in batch.items()}
        self.run(list(variants.values()), samples, later)
        for kind, variant in variants.items():
            if copies := self.sweep.pairs(variant, samples):
                self.tried[kind][batch[kind]] = self._step(batch[kind], variant, copies)
            else:
                failures = (self.sweep.failures.get((variant, one)) for one in samples)
                self.failed[kind] = next(one.reason for one in failures if one is not None)

    def _left(self, number: int) -> int:
        """Return how many numbers above one may follow, if none of them is enough."""
        return len(self.samples) * ((self.most // max(number, 1)).bit_length() - (number > 0))

    def _undecided(self, kind: NodeKind) -> int | None:
        """Return the number of a kind that decides if it was not run on all copies; None: it was, or cannot be.

        A number that misses the goal there no longer decides; the next larger one does that reached it.
        """
        step = self._decisive(kind)
        return None if step is None or step.runs == len(self.deciding) or kind in self.failed else step.nodes

    def _decisive(self, kind: NodeKind) -> CapacityStep | None:
        steps = [step for _, step in sorted(self.tried[kind].items())]
        return next((one for one in steps if self.goal.reached(one.value)), steps[-1] if steps else None)

    def _next(self, kind: NodeKind) -> int | None:
        if kind in self.failed:
            return None
        reached = {number: self.goal.reached(step.value) for number, step in self.tried[kind].items()}
        return next_number(reached, self.most)

    def variant(self, kind: NodeKind, number: int, load: float = 1.0) -> Variant:
        name = f"{number:,} more like {kind.name}{f', load {load:g}' if load != 1 else ''}"
        return Variant(name, more_nodes(self.sweep.site, kind, number), load=load)

    def _step(self, number: int, variant: Variant, copies: Sequence[Paired]) -> CapacityStep:
        answers = [one.other for one in copies]
        both = [(base.schedule, other.schedule) for base, other in copies]
        mean_wait = _mean(answers, "mean_wait")
        changes = self.goal.changes(copies, self.mine)
        return CapacityStep(
            number,
            variant,
            self.value(answers),
            self.value(one.base for one in copies),
            float(changes.mean()),
            self.goal.interval(copies, self.mine),
            between_copies(changes),
            len(copies),
            mean_wait,
            _mean(answers, "utilisation"),
            float(np.mean([(before.wait_time - after.wait_time).sum() for before, after in both])) / HOUR,
            tuple(effects(copies)),
            all(np.array_equal(before.start_time, after.start_time) for before, after in both),
            _mean(answers, LIMITS) / max(mean_wait, 1.0),
        )

    def found(self, prices: Mapping[NodeKind, float | None]) -> list[KindCapacity]:
        """Return what was found of each kind, after a last look at those that reach the goal with more work."""
        needed = {
            kind: min((number for number, step in tried.items() if self.goal.reached(step.value)), default=None)
            for kind, tried in self.tried.items()
        }
        busier = {kind: self.variant(kind, number, MORE_WORK) for kind, number in needed.items() if number is not None}
        self.run(list(busier.values()), self.deciding, compare=False)
        with_more = {
            kind: self.value(answers) for kind, variant in busier.items() if (answers := self._answers(variant))
        }
        return [
            KindCapacity(
                kind,
                prices[kind],
                tuple(step for _, step in sorted(tried.items())),
                needed[kind],
                with_more.get(kind),
                self._unusable(kind),
                self.failed.get(kind, ""),
            )
            for kind, tried in self.tried.items()
        ]

    def _unusable(self, kind: NodeKind) -> Unusable:
        """Return the waiting, at the site as it is, of jobs that cannot run on nodes of a kind."""
        base = self.pairs(Variant(AS_IT_IS))[0].base
        site, mine = self.sweep.site, self.mine[base.rows]
        return unusable(base.schedule, site.cluster, site.scheduler.placement, kind.nodes, mine)


@explained
def capacity(
    directory: str | PathLike[str],
    goal: Goal,
    nodes: Sequence[str] = (),
    *,
    partitions: Sequence[str] = (),
    most: int = 64,
    prices: Mapping[str, float] | float | None = None,
    currency: str = "",
    sample: SiteSample = THE_LOG,
    copies: int | None = None,
    anyway: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    told: Callable[[str], None] | None = None,
) -> Capacity:
    """Return how many nodes of which kind a site needs until a metric reaches a goal.

    Nodes of each kind are added to the partitions that hold all of its kind: 1, 2, 4 and so on until the goal is
    reached, then numbers in between.

    Parameters
    ----------
    directory
        Of a site with jobs and nodes; it keeps the simulations.
    goal
        To be reached.
    nodes
        The kinds, see `schedlab.site.more_nodes.node_kinds`; empty: all.
    partitions
        That new nodes join; empty: those that hold all nodes of the kind.
    most
        Nodes to try of each kind.
    prices
        Of a node-hour: one for all kinds, or by host list as in `nodes` ("": all others).
    currency
        Of prices.
    sample
        The jobs.
    copies
        Of these, some seconds earlier or later, on which both sides are simulated; as for `what_if`. If it is not given
        and there are many numbers to try, they are tried on one, and those that decide are run on several.
    anyway
        Whether a twin answers that its last calibration found not good enough.
    workers, progress
        As for `Sweep.run`.
    told
        Called with what will be simulated, in words, before it is.

    Raises
    ------
    InputError
        If there are no such nodes, partitions or jobs, or the twin is not good enough.
    """
    if most < 1:
        raise InputError(f"at most {most} nodes: must be 1 or more")
    sweep = Sweep(directory, anyway=anyway)
    kinds = node_kinds(sweep.site, nodes, partitions)
    priced = _priced(sweep, kinds, prices)
    samples = in_copies(sweep, [sample], copies, len(kinds) * MOST_TRIED * most.bit_length())
    deciding = in_copies(sweep, [sample], copies, len(kinds))
    search = _Search(sweep, goal, samples, deciding, most, workers, progress)
    if told is not None:
        told(_plan(len(kinds), most, len(samples), len(deciding)))
    base = search.as_it_is(len(kinds))
    answers = [one.other for one in base]
    before = search.value(answers)
    found: list[KindCapacity] = []
    if not goal.reached(before):
        for kind in kinds:
            check_kind(sweep.site, kind)
        search.search(kinds)
        found = sorted(search.found(priced), key=_order(goal))
    shown = found[0].decisive if found else None
    pairs = base if shown is None else search.pairs(shown.variant) or sweep.pairs(shown.variant, samples)
    return Capacity(
        sweep,
        goal,
        sample,
        len(deciding),
        most,
        before,
        _mean(answers, "mean_wait"),
        _mean(answers, "utilisation"),
        int(search.mine.sum()),
        tuple(found),
        grounds_of(sweep, pairs[0], [], pairs),
        currency,
    )


def _plan(kinds: int, most: int, copies: int, deciding: int) -> str:
    """Say what will be simulated, and how often.

    Examples
    --------
    >>> _plan(1, 64, 1, 3)
    '1, 2, 4 and more nodes, up to 64, of 1 kind are tried until the goal is reached, on one copy of the ...'
    """
    text = f"1, 2, 4 and more nodes, up to {most:,}, of {count_of(kinds, 'kind')} are tried until the goal is reached, "
    text += "on one copy of the log" if copies == 1 else f"on {copies} copies of the log"
    if deciding > copies:
        return f"{text}; the number that decides is run on {deciding}, and with a tenth more work"
    return f"{text}; the number that decides is also run with a tenth more work"


def _mean(answers: Sequence[VariantAnswer], metric: str) -> float:
    """Return a metric, a mean over copies; 0 where it is not known."""
    return float(np.mean([one.metrics.get(metric, 0.0) for one in answers]))


def _order(goal: Goal) -> Callable[[KindCapacity], tuple[Any, ...]]:
    """Return the order of kinds: those that reach the goal by cost and number, the others by how near they come."""
    sign = -1 if goal.metric in LARGER_IS_BETTER else 1

    def key(one: KindCapacity) -> tuple[Any, ...]:
        if one.needed is not None:
            cost = one.cost(one.needed)
            return 0, float("inf") if cost is None else cost, one.needed
        step = one.decisive
        return 1, float("inf") if step is None else sign * step.value, 0

    return key


def _priced(
    sweep: Sweep, kinds: Sequence[NodeKind], prices: Mapping[str, float] | float | None
) -> dict[NodeKind, float | None]:
    if not isinstance(prices, Mapping):
        return dict.fromkeys(kinds, prices)
    found: dict[NodeKind, float | None] = dict.fromkeys(kinds, prices.get(""))
    for name, price in prices.items():
        if not name:
            continue
        kind = node_kinds(sweep.site, [name], kinds[0].partitions if len(kinds) == 1 else ())[0]
        same = [one for one in kinds if set(one.lines) & set(kind.lines)]
        if not same:
            raise InputError(f"a price of {name} is given, but no such nodes are added")
        found[same[0]] = price
    return found
