"""The search for how many nodes reach a goal: which numbers of each kind are tried, and what each of them brings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from schedlab.errors import InputError
from schedlab.schedule.reasons import LIMITS
from schedlab.schedule.schedule import Schedule
from schedlab.site.answers import VariantAnswer
from schedlab.site.capacity_found import HOUR, CapacityStep, KindCapacity
from schedlab.site.capacity_goal import Goal
from schedlab.site.effects import Effect, effects
from schedlab.site.far_longer import far_longer
from schedlab.site.intervals import between_copies
from schedlab.site.log_end import waiting_after_the_log
from schedlab.site.more_nodes import NodeKind, more_nodes
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Paired, Sweep
from schedlab.site.unusable import Unusable, unusable
from schedlab.site.variants import AS_IT_IS, Variant

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


class CapacitySearch:
    """The search for all kinds at once, so that processes have enough to do.

    Parameters
    ----------
    samples
        The copies of the jobs on which numbers are tried.
    deciding
        Those on which the numbers are run that decide, `samples` or more copies.
    add
        The only number that is tried; None: as many as it takes, up to `most`.
    """

    def __init__(
        self,
        sweep: Sweep,
        goal: Goal,
        samples: Sequence[SiteSample],
        deciding: Sequence[SiteSample],
        most: int,
        add: int | None,
        workers: int | None,
        progress: Progress | None,
    ) -> None:
        self.sweep, self.goal, self.samples, self.deciding = sweep, goal, samples, deciding
        self.most, self.add = most, add
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
        if self.add is not None:
            return 0 if number else len(self.samples)
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
        if self.add is not None:
            return None if self.tried[kind] else self.add
        reached = {number: self.goal.reached(step.value) for number, step in self.tried[kind].items()}
        return next_number(reached, self.most)

    def variant(self, kind: NodeKind, number: int, load: float = 1.0) -> Variant:
        name = f"{number:,} more like {kind.name}{f', load {load:g}' if load != 1 else ''}"
        return Variant(name, more_nodes(self.sweep.site, kind, number), load=load)

    def _step(self, number: int, variant: Variant, copies: Sequence[Paired]) -> CapacityStep:
        answers = [one.other for one in copies]
        both = [(base.schedule, other.schedule) for base, other in copies]
        mean_wait = mean_of(answers, "mean_wait")
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
            mean_of(answers, "utilisation"),
            float(np.mean([(before.wait_time - after.wait_time).sum() for before, after in both])) / HOUR,
            float(np.mean([_in_log(before) - _in_log(after) for before, after in both])) / HOUR,
            tuple(effects(copies)),
            all(np.array_equal(before.start_time, after.start_time) for before, after in both),
            mean_of(answers, LIMITS) / max(mean_wait, 1.0),
            far_longer(copies),
        )

    def found(self, prices: Mapping[NodeKind, float | None]) -> list[KindCapacity]:
        """Return what was found of each kind, after a last look at those that reach the goal with more work."""
        needed = {kind: self._needed(tried.values()) for kind, tried in self.tried.items()}
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

    def _needed(self, steps: Iterable[CapacityStep]) -> int | None:
        """Return the smallest number that reaches the goal; None: none does, or there is no goal."""
        enough = [one.nodes for one in steps if self.add is None and self.goal.reached(one.value)]
        return min(enough, default=None)

    def beside_best(self, kinds: Sequence[KindCapacity]) -> list[KindCapacity]:
        """Return kinds with what each does instead of the first one, if one number of each was asked for."""
        if self.add is None or not kinds or kinds[0].decisive is None:
            return list(kinds)
        best = self.pairs(kinds[0].decisive.variant)
        return [kinds[0], *(replace(one, instead=self._instead(best, one)) for one in kinds[1:])]

    def _instead(self, best: Sequence[Paired], one: KindCapacity) -> Effect | None:
        if one.decisive is None:
            return None
        both = zip(best, self.pairs(one.decisive.variant), strict=True)
        mine = (self.goal.kind, self.goal.group) if self.goal.kind else ("all", "all jobs")
        found = effects([Paired(first.other, other.other) for first, other in both])
        return next((effect for effect in found if (effect.kind, effect.group) == mine), None)

    def _unusable(self, kind: NodeKind) -> Unusable:
        """Return the waiting, at the site as it is, of jobs that cannot run on nodes of a kind."""
        base = [one.base for one in self.pairs(Variant(AS_IT_IS))]
        site, mine = self.sweep.site, self.mine[base[0].rows]
        return unusable([one.schedule for one in base], site.cluster, site.scheduler.placement, kind.nodes, mine)


def _in_log(schedule: Schedule) -> float:
    """Return how many seconds all jobs together wait until the last submission."""
    return float(schedule.wait_time.sum()) - waiting_after_the_log(schedule)


def mean_of(answers: Sequence[VariantAnswer], metric: str) -> float:
    """Return a metric, a mean over copies; 0 where it is not known."""
    return float(np.mean([one.metrics.get(metric, 0.0) for one in answers]))
