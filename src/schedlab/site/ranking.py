"""Variants of a site side by side: a metric of each, and how sure its distance to the site as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from schedlab.campaign.results.statistics import LARGER_IS_BETTER, quantity
from schedlab.errors import InputError
from schedlab.site.affected import (
    Affected,
    affected,
    affected_text,
    lost_texts,
    sentences,
    today_text,
    whose_lost,
)
from schedlab.site.answers import VariantAnswer
from schedlab.site.changes import changed
from schedlab.site.effect_bounds import EffectBounds, effect_bounds
from schedlab.site.effect_texts import difference_text, effects_text
from schedlab.site.effects import Effect, effects
from schedlab.site.far_longer import FarLonger, far_longer
from schedlab.site.grounds import Grounds, changes_passes, grounds_of
from schedlab.site.headline import (
    EACH,
    NEGLIGIBLE,
    NO_EFFECT,
    NOT_SIMULATED,
    OTHER_LOAD,
    details_of_answer,
    lead_of,
)
from schedlab.site.lost_work import LostWork, lost_work
from schedlab.site.lost_work import sentences as lost_sentences
from schedlab.site.no_effect import why_unchanged
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Paired, Sweep, VariantFailure
from schedlab.site.undecided import SOME_PAY, UNDECIDED
from schedlab.site.variant_task import policy_notes, under_policy
from schedlab.site.variants import AS_IT_IS, POLICY, Variant, compared_with
from schedlab.site.wait_text import wait_text, waits_texts
from schedlab.site.who_pays import some_pay
from schedlab.wording import table

SHOWN = ("mean_wait", "p95_wait", "utilisation")
"""Metrics that tables of variants have whatever the ranking is by."""


@dataclass(frozen=True, slots=True)
class RankedVariant:
    """A variant among others.

    Parameters
    ----------
    variant
        Which.
    value, mean_wait, p95_wait, utilisation
        The metric that the ranking is by, and others; means over the samples, in seconds where they are times.
    effects
        On groups of jobs; none of the site as it is.
    notes
        What was left out, or has no effect, in sentences.
    affected
        Groups of jobs that ask for less, are killed, run in pieces or cannot run.
    mean_wait_before
        Of the site as it is, with the same jobs and the same work; means over the samples, in seconds.
    unchanged
        Whether every job starts and ends as at the site as it is.
    lost, lost_before
        Work that is lost on the way, in the variant and at the site as it is.
    far
        Jobs that wait by far longer.
    bounds
        What bounds its effect, or makes it dangerous.
    """

    variant: Variant
    value: float
    mean_wait: float
    p95_wait: float
    utilisation: float
    effects: tuple[Effect, ...]
    notes: tuple[str, ...]
    affected: tuple[Affected, ...]
    mean_wait_before: float
    unchanged: bool
    lost: LostWork
    lost_before: LostWork
    far: FarLonger
    bounds: EffectBounds

    @property
    def difference(self) -> tuple[str, str, str]:
        """Difference of the mean wait, its interval, and what that means, as texts of a table."""
        effect = next((one for one in self.effects if one.kind == "all"), None)
        if effect is None:
            return "-", "-", ""
        if self.unchanged:
            return "none", "-", NOT_SIMULATED if self.unsimulated else NO_EFFECT
        if effect.negligible:
            return "below 1 s", "-", NEGLIGIBLE
        change, interval, verdict = difference_text(effect)
        return change, interval, OTHER_LOAD if self.only_load else verdict or (SOME_PAY if self.harms else UNDECIDED)

    @property
    def harms(self) -> bool:
        """Whether groups surely wait longer and none less, and jobs by far in each copy, though the mean is open."""
        return some_pay(self.effects) and self.far.jobs > 0 and not self.far.shorter

    @property
    def _of_changes(self) -> tuple[str, bool]:
        """Why its changes change nothing, and whether they are not simulated; another version has other rules, too."""
        if not self.unchanged or self.variant.slurm:
            return "", False
        return why_unchanged(self.variant.changes, self.notes)

    @property
    def why_unchanged(self) -> str:
        """Why it changes nothing, in words; empty: it does, or nothing is known of that."""
        return self._of_changes[0]

    @property
    def unsimulated(self) -> bool:
        """Whether it changes nothing because what it changes is not simulated."""
        return self._of_changes[1]

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        return asdict(self) | {"effects": [one.to_document() for one in self.effects]}

    @property
    def every(self) -> Affected | None:
        """What becomes of all jobs before they are scheduled; None: nothing."""
        return next((one for one in self.affected if one.kind == "all"), None)

    @property
    def killed(self) -> int:
        """Jobs that are killed at a new limit."""
        return 0 if self.every is None else self.every.killed

    @property
    def same_work(self) -> bool:
        """Whether it does all the work that the site as it is does."""
        return (self.every is None or self.every.same_work) and not self.lost.exceeds(self.lost_before)

    @property
    def only_load(self) -> bool:
        """Whether nothing is changed but how often jobs come."""
        return compared_with(self.variant).load != self.variant.load

    @property
    def can_be_chosen(self) -> bool:
        """Whether it is ranked: less work is no merit, and how often jobs come is no choice."""
        return self.same_work and not self.only_load

    @property
    def undone(self) -> float:
        """The share of the work that it does not do."""
        less = 0.0 if self.every is None or not self.every.hours else self.every.undone_hours / self.every.hours
        return less + max(self.lost.share - self.lost_before.share, 0.0)

    @property
    def in_vain(self) -> float:
        """The share of the work that comes to nothing: what it does not do, and what killed jobs run until then."""
        every = self.every
        return self.undone + (0.0 if every is None or not every.hours else every.killed_hours / every.hours)

    @property
    def killed_texts(self) -> tuple[str, str]:
        """Jobs that are killed at a new limit, and the share of the work that comes to nothing, as texts of a table."""
        if self.same_work:
            return f"{self.killed:,}" if self.killed else "-", "-"
        today = self.every is not None and self.every.lost_today_hours
        lost = f"{self.in_vain:.1%}" + (f" (today {today_text(self.every)})" if self.every and today else "")
        return f"{self.killed:,}" if self.killed else "-", lost

    @property
    def lost_work_texts(self) -> list[str]:
        """What it does to jobs and how much work comes to nothing; then how much does so today, how, and whose."""
        every = self.every
        if every is None or every.same_work:
            return [f"does {self.undone:.1%} less work than today"]
        whose = whose_lost(self.affected)
        return [*lost_texts(every), *([f"it is work {whose}"] if whose else [])]

    @property
    def lost_text(self) -> list[str]:
        """What is lost on the way, in words."""
        return [] if self.variant.name == AS_IT_IS else lost_sentences(self.lost_before, self.lost, self.variant.name)

    @property
    def policy_text(self) -> str:
        """What a policy of the variant stands for, in words."""
        return next((note for note in self.notes if note.startswith(f"{POLICY}={self.variant.policy} ")), "")


@dataclass(frozen=True, slots=True)
class VariantRanking:
    """Variants of a site, the best first, the site as it is among them; those that are not ranked stand behind them.

    Parameters
    ----------
    metric
        What they are ranked by.
    samples
        The jobs that they were replayed on.
    copies
        Copies of each sample, which differ by seconds.
    ranked
        Those that could be run on all samples.
    failures
        The others.
    grounds
        What the answer stands on, for the best variant.
    """

    metric: str
    samples: tuple[SiteSample, ...]
    copies: int
    ranked: tuple[RankedVariant, ...]
    failures: tuple[VariantFailure, ...]
    grounds: Grounds

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Those that could be run, the best first, without the site as it is."""
        return tuple(one.variant for one in self.ranked if one.variant.name != AS_IT_IS)

    @property
    def changed(self) -> tuple[RankedVariant, ...]:
        """Those that could be run, the best first, without the site as it is."""
        return tuple(one for one in self.ranked if one.variant.name != AS_IT_IS)

    @property
    def today(self) -> float:
        """The mean wait of the site as it is."""
        return next(one for one in self.ranked if one.variant.name == AS_IT_IS).mean_wait

    @property
    def mean_waits(self) -> list[str]:
        """Of each, and behind it that of the site as it is with the same work, as texts in one unit."""
        return waits_texts(*(wait for one in self.ranked for wait in (one.mean_wait, one.mean_wait_before)))

    @property
    def has_winner(self) -> bool:
        """Whether the best one is better than the site as it is, and surely shortens the mean wait."""
        first = self.ranked[0] is self.best or self.best.variant.load != 1  # that is beside the site at its load
        return first and self.best.can_be_chosen and self.best.difference[2] == "wins"

    @property
    def best(self) -> RankedVariant:
        """The first of them that changes something; if none does, the first."""
        return next((one for one in self.changed if not one.unchanged), self.changed[0])

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        return {
            "calibration": self.grounds.standing.to_document(),
            "sentences": self.sentences(),
            "metric": self.metric,
            "samples": [one.text for one in self.samples],
            "copies": self.copies,
            "variants": [one.to_document() for one in self.ranked],
            "failures": [asdict(one) for one in self.failures],
        } | self.grounds.to_document()

    @property
    def lead(self) -> list[str]:
        """What the answer begins with: what would change, how sure that is, who pays, what is left out."""
        return lead_of(self)

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences; the first one has what would change."""
        return [*self.lead, *details_of_answer(self)]

    def __str__(self) -> str:
        own = [] if self.metric in SHOWN else [self.metric.replace("_", " ")]
        head = ["variant", *own, "mean wait", "as it is, same work", "difference of mean wait", "95 % interval", ""]
        less = any(not one.same_work for one in self.ranked)
        head += [*(["jobs killed", "work lost"] if less else []), "p95 wait", "longest wait", "utilisation"]
        rows = []
        for number, one in enumerate(self.ranked):
            value = [quantity(self.metric, one.value)] if own else []
            mean, before = self.mean_waits[2 * number : 2 * number + 2]
            same = compared_with(one.variant).load == one.variant.load
            row = [one.variant.name, *value, mean, before if same else "-", *one.difference]
            row += [*one.killed_texts] if less else []
            rows.append([*row, wait_text(one.p95_wait), wait_text(one.far.longest), f"{one.utilisation:.1%}"])
        text = [*self.sentences(), "", table(head, rows)]
        for one in self.changed[:EACH]:
            if one.affected:
                text += ["", f"{one.variant.name}: whose jobs it changes", "", affected_text(one.affected)]
        if self.best.effects and not self.best.unchanged:
            text += ["", f"{self.best.variant.name}: who wins, and who pays", "", effects_text(self.best.effects)]
        if self.grounds.omissions.parts():
            text += ["", str(self.grounds.omissions)]
        return "\n".join(text)


def rank_variants(
    sweep: Sweep, variants: Sequence[Variant], samples: Sequence[SiteSample], metric: str = "mean_wait"
) -> VariantRanking:
    """Return how variants that were run compare; what `Sweep.run` has not run is left out.

    Parameters
    ----------
    sweep, variants, metric
        Where they were run, which, and the ranking metric.
    samples
        On which jobs; of each the same copies.

    Raises
    ------
    InputError
        If there is no such metric, or no variant could be run.
    """
    ranked, first = [], {}
    for variant in (Variant(AS_IT_IS), *variants):
        if pairs := sweep.pairs(variant, samples):
            ranked.append(_ranked(sweep, variant, pairs, metric))
            first[variant] = [pair for pair in pairs if pair.other.sample.original == samples[0].original]
    if Variant(AS_IT_IS) not in first or len(first) < 2:
        raise _nothing(sweep)
    sign = -1 if metric in LARGER_IS_BETTER else 1
    # Of those that do less work, the one that does most of it stands first, whatever its waits are; waits at another
    # load are no better or worse than those of today.
    ranked.sort(
        key=lambda one: (
            not one.can_be_chosen,
            0.0 if one.same_work else one.undone,
            abs(one.variant.load - 1) if one.only_load else one.variant.load != 1,
            sign * one.value,
        )
    )
    others = [one for one in ranked if one.variant.name != AS_IT_IS]
    best = next((one for one in others if not one.unchanged), others[0])
    copies = first[best.variant]
    notes = [one for one in best.notes if one != best.policy_text]
    grounds = grounds_of(sweep, copies[0], [*notes, *sentences(best.affected), *best.lost_text], copies)
    if not any(one.kind == "all" and one.excludes_none for one in best.effects):
        grounds = replace(grounds, decisive=None)  # nothing is decided
    grounds = replace(grounds, passes=any(changes_passes(one.variant) for one in ranked if not one.why_unchanged))
    originals = tuple(dict.fromkeys(one.original for one in samples))
    failures = tuple({(one.variant, one.sample.original): one for one in sweep.failures.values()}.values())
    return VariantRanking(metric, originals, len(copies), tuple(ranked), failures, grounds)


def _nothing(sweep: Sweep) -> InputError:
    """Return why there is nothing to rank."""
    for one in sweep.failures.values():
        return InputError(f"{one.variant.name} on {one.sample.text} could not be run: {one.reason}")
    return InputError("no variant has been run: run them with Sweep.run first")


def _ranked(sweep: Sweep, variant: Variant, pairs: Sequence[Paired], metric: str) -> RankedVariant:
    answers = [other for _, other in pairs]
    means = {name: float(np.mean([one.metric(name) for one in answers])) for name in (metric, *SHOWN)}
    originals = [one for one in answers if one.sample == one.sample.original]  # copies have the same jobs
    found = affected(
        [one.jobs for one in originals],
        answers[0].schedule.processors,
        [(one.fate, one.undone) for one in originals],
    )
    base = compared_with(variant)
    today = [one for pair in pairs if (one := sweep.answer(base, pair.other.sample)) is not None]
    return RankedVariant(
        variant,
        means[metric],
        means["mean_wait"],
        means["p95_wait"],
        means["utilisation"],
        () if variant.name == AS_IT_IS else tuple(effects(pairs, today)),
        _notes(sweep, variant, answers),
        found,
        float(np.mean([base.metric("mean_wait") for base, _ in pairs])),
        variant.name != AS_IT_IS and all(_same(*pair) for pair in pairs),
        lost_work([one.schedule for one in answers]),
        lost_work([base.schedule for base, _ in pairs]),
        far_longer(pairs, today),
        effect_bounds(sweep, variant, pairs),
    )


def _notes(sweep: Sweep, variant: Variant, answers: Sequence[VariantAnswer]) -> tuple[str, ...]:
    """Return what was left out or has no effect, and what the policy stands for: in the words of now."""
    told = dict.fromkeys(note for one in answers for note in one.notes)
    if not variant.policy:
        return tuple(told)
    there = changed(sweep.site, variant.changes) if variant.changes else sweep.site
    kept = (note for note in told if not note.startswith(f"{POLICY}={variant.policy} "))
    return (*kept, *policy_notes(there, variant, under_policy(there, variant)))


def _same(base: VariantAnswer, other: VariantAnswer) -> bool:
    """Whether all work is done, and all jobs start and end at the same seconds as at the site as it is."""
    mine, theirs = base.schedule, other.schedule
    return not other.work and all(
        np.array_equal(getattr(mine, name), getattr(theirs, name)) for name in ("start_time", "end_time")
    )
