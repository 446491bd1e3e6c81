"""Variants of a site side by side: a metric of each, and how sure its distance to the site as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from schedlab.campaign.results.statistics import LARGER_IS_BETTER, quantity
from schedlab.energy.measures import words_of
from schedlab.errors import InputError
from schedlab.schedule.columns import in_columns, waits_in_column
from schedlab.site.affected import (
    Affected,
    affected,
    affected_text,
    sentences,
)
from schedlab.site.answers import VariantAnswer
from schedlab.site.changes import changed
from schedlab.site.checkpoint_effects import checkpoint_effect
from schedlab.site.effect_bounds import effect_bounds
from schedlab.site.effect_texts import effects_text
from schedlab.site.effects import effects
from schedlab.site.energy_effects import energy_effect, energy_heads, energy_texts
from schedlab.site.far_longer import far_longer
from schedlab.site.grounds import Grounds, changes_passes, grounds_of
from schedlab.site.headline import (
    EACH,
    details_of_answer,
    lead_of,
)
from schedlab.site.lost_work import LostWork, lost_work
from schedlab.site.ranked_variant import RankedVariant, differences_of
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Paired, Sweep, VariantFailure
from schedlab.site.variant_task import policy_notes, under_policy
from schedlab.site.variants import AS_IT_IS, POLICY, Variant, compared_with
from schedlab.wording import table

SHOWN = ("mean_wait", "p95_wait", "utilisation")
"""Metrics that tables of variants have whatever the ranking is by."""

IN_TABLES = (*SHOWN, "energy_kwh", "energy_cost", "energy_co2_kg")
"""Those, and what they have besides where a power model is known."""


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
        return waits_in_column([wait for one in self.ranked for wait in (one.mean_wait, one.mean_wait_before)])

    @property
    def has_winner(self) -> bool:
        """Whether the best one is better than the site as it is, and surely shortens the mean wait."""
        first = self.ranked[0] is self.best or self.best.variant.load != 1  # that is beside the site at its load
        return first and self.best.can_be_chosen and self.best.difference[2] == "wins"

    @property
    def best(self) -> RankedVariant:
        """The first of them that changes something; if none does, the first."""
        return next((one for one in self.changed if not one.unchanged), self.changed[0])

    @property
    def order(self) -> str:
        """How they are ordered, in words: they are the best first only where the log tells that one is better."""
        if self.has_winner:
            return "The best first"
        if not all(one.same_work for one in self.ranked):
            return "Those that leave least work undone first; none is known to be better"
        return f"In the order of their {words_of(self.metric)} in the replay, which may be chance"

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
    def energy_heads(self) -> tuple[str, ...]:
        """What columns of energy and boots are called; none, if neither is known."""
        return energy_heads([one.energy for one in self.changed])

    @property
    def lead(self) -> list[str]:
        """What the answer begins with: what would change, how sure that is, who pays, what is left out."""
        return lead_of(self)

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences; the first one has what would change."""
        return list(dict.fromkeys([*self.lead, *details_of_answer(self)]))  # what several variants share is said once

    def __str__(self) -> str:
        own = [] if self.metric in IN_TABLES else [words_of(self.metric)]
        head = ["variant", *own, "mean wait", "as it is, same work", "difference of mean wait", "95 % interval", ""]
        less = any(not one.same_work for one in self.ranked)
        head += [*(["killed at new limit", "work lost"] if less else []), "p95 wait", "longest wait", "utilisation"]
        head += self.energy_heads
        rows: list[list[str | float]] = []
        waits = self.mean_waits
        for number, (one, difference) in enumerate(zip(self.ranked, differences_of(self.ranked), strict=True)):
            value = [quantity(self.metric, one.value)] if own else []
            mean, before = waits[2 * number : 2 * number + 2]
            same = compared_with(one.variant).load == one.variant.load
            row: list[str | float] = [one.variant.name, *value, mean, before if same else "-", *difference]
            row += [*one.killed_texts] if less else []
            row += [one.p95_wait, one.far.longest, f"{one.utilisation:.1%}"]
            rows.append([*row, *energy_texts(one.energy, self.energy_heads)])
        text = [*self.sentences(), "", table(head, in_columns(rows))]
        for one in self.changed[:EACH]:
            if one.affected and not one.same_as:
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
    ranked, first, schedules = [], {}, {}
    for variant in (Variant(AS_IT_IS), *variants):
        if pairs := sweep.pairs(variant, samples):
            ranked.append(_ranked(sweep, variant, pairs, metric))
            schedules[variant] = _schedules_of(pairs)
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
    ranked = _alike(ranked, schedules)
    others = [one for one in ranked if one.variant.name != AS_IT_IS]
    best = next((one for one in others if not one.unchanged), others[0])
    copies = first[best.variant]
    notes = [one for one in best.notes if one != best.policy_text]
    grounds = grounds_of(sweep, copies[0], [*notes, *_left_out(others, variants), *best.lost_text], copies)
    if not any(one.kind == "all" and one.excludes_none for one in best.effects):
        grounds = replace(grounds, decisive=None)  # nothing is decided
    grounds = replace(grounds, passes=any(changes_passes(one.variant) for one in ranked if not one.why_unchanged))
    originals = tuple(dict.fromkeys(one.original for one in samples))
    failures = tuple({(one.variant, one.sample.original): one for one in sweep.failures.values()}.values())
    return VariantRanking(metric, originals, len(copies), tuple(ranked), failures, grounds)


def _left_out(ranked: Sequence[RankedVariant], variants: Sequence[Variant]) -> list[str]:
    """Say which jobs each variant cuts, kills, splits or leaves out; by its name, if there are several."""
    names = {one.variant: f"{one.variant.name}: " if len(variants) > 1 else "" for one in ranked}
    return [f"{names[one.variant]}{text}" for one in ranked for text in sentences(one.affected)]


def _nothing(sweep: Sweep) -> InputError:
    """Return why there is nothing to rank."""
    for one in sweep.failures.values():
        return InputError(f"{one.variant.name} on {one.sample.text} could not be run: {one.reason}")
    return InputError("no variant has been run: run them with Sweep.run first")


def _ranked(sweep: Sweep, variant: Variant, pairs: Sequence[Paired], metric: str) -> RankedVariant:
    answers = [other for _, other in pairs]
    means = {name: float(np.mean([one.metric(name) for one in answers])) for name in (metric, *SHOWN)}
    originals = [one for one in answers if one.sample == one.sample.original]  # copies have the same jobs
    base = compared_with(variant)
    today = [one for pair in pairs if (one := sweep.answer(base, pair.other.sample)) is not None]
    found = affected(
        [one.jobs for one in originals],
        answers[0].schedule.processors,
        [(one.fate, one.undone) for one in originals],
        [one.cores for one in today if one.sample == one.sample.original],
    )
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
        _lost(answers),
        _lost([base for base, _ in pairs]),
        far_longer(pairs, today),
        effect_bounds(sweep, variant, pairs),
        energy_effect(pairs, "" if sweep.power is None else sweep.power.currency),
        checkpoint_effect(pairs),
    )


def _lost(answers: Sequence[VariantAnswer]) -> LostWork:
    return lost_work([one.schedule for one in answers], [one.cores[one.rows] for one in answers])


def _notes(sweep: Sweep, variant: Variant, answers: Sequence[VariantAnswer]) -> tuple[str, ...]:
    """Return what was left out or has no effect, and what the policy stands for: in the words of now."""
    told = dict.fromkeys(note for one in answers for note in one.notes)
    if not variant.policy:
        return tuple(told)
    there = changed(sweep.site, variant.changes) if variant.changes else sweep.site
    kept = (note for note in told if not note.startswith(f"{POLICY}={variant.policy} "))
    return (*kept, *policy_notes(there, variant, under_policy(there, variant)))


def _schedules_of(pairs: Sequence[Paired]) -> bytes:
    """Return what only those variants have alike under which the same jobs start and end at the same seconds."""
    found = hashlib.sha256()
    for _, other in pairs:
        for seconds in (other.rows, other.schedule.start_time, other.schedule.end_time):
            found.update(np.ascontiguousarray(seconds, dtype=np.int64).tobytes() + b"|")
    return found.digest()


def _alike(ranked: Sequence[RankedVariant], schedules: Mapping[Variant, bytes]) -> list[RankedVariant]:
    """Return variants in their order; those with the schedules of one before, and the same done to jobs, name it."""
    names: dict[tuple[bytes, tuple[Affected, ...]], str] = {}
    found = []
    for one in ranked:
        name = ""
        if one.variant.name != AS_IT_IS and not one.unchanged:
            name = names.setdefault((schedules[one.variant], one.affected), one.variant.name)
        found.append(replace(one, same_as=name) if name not in ("", one.variant.name) else one)
    return found


def _same(base: VariantAnswer, other: VariantAnswer) -> bool:
    """Whether all work is done, and all jobs start and end at the same seconds as at the site as it is."""
    mine, theirs = base.schedule, other.schedule
    return not other.work and all(
        np.array_equal(getattr(mine, name), getattr(theirs, name)) for name in ("start_time", "end_time")
    )
