"""A variant of a site among others: its metrics, what it does to whom, and what it loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from schedlab.site.affected import (
    Affected,
    lost_texts,
    today_text,
    whose_lost,
)
from schedlab.site.checkpoint_effects import CheckpointEffect
from schedlab.site.effect_bounds import EffectBounds
from schedlab.site.effect_texts import difference_texts
from schedlab.site.effects import Effect
from schedlab.site.energy_effects import EnergyEffect
from schedlab.site.far_longer import FarLonger
from schedlab.site.headline import (
    NEGLIGIBLE,
    NO_EFFECT,
    NOT_SIMULATED,
    OTHER_LOAD,
)
from schedlab.site.lost_work import LostWork
from schedlab.site.lost_work import sentences as lost_sentences
from schedlab.site.no_effect import why_unchanged
from schedlab.site.undecided import SOME_PAY, UNDECIDED
from schedlab.site.variants import AS_IT_IS, POLICY, Variant, compared_with
from schedlab.site.who_pays import some_pay


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
    energy
        Energy and boots of nodes; None: neither is known.
    checkpoints
        What checkpoints save and cost; None: its jobs write none.
    same_as
        A variant that stands before it, under which all jobs start and end at the same seconds; empty: there is none.
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
    energy: EnergyEffect | None = None
    checkpoints: CheckpointEffect | None = None
    same_as: str = ""

    @property
    def first_texts(self) -> list[str]:
        """What an answer says first of it: energy, or checkpoints; none of the site as it is."""
        if self.variant.name == AS_IT_IS:
            return []
        return [text for one in (self.energy, self.checkpoints) if one for text in one.sentences(self.variant.name)]

    @property
    def difference(self) -> tuple[str, str, str]:
        """Difference of the mean wait, its interval, and what that means, as texts of a table."""
        return differences_of([self])[0]

    @property
    def on_all(self) -> Effect | None:
        """Its effect on all jobs; None: it is the site as it is."""
        return next((one for one in self.effects if one.kind == "all"), None)

    @property
    def without_size(self) -> tuple[str, str, str] | None:
        """The texts of `difference` where it is no number; None: it is one."""
        if self.on_all is None:
            return "-", "-", ""
        if self.unchanged:
            return "none", "-", NOT_SIMULATED if self.unsimulated else NO_EFFECT
        return ("below 1 s", "-", NEGLIGIBLE) if self.on_all.negligible else None

    def verdict_on(self, effect: Effect) -> str:
        """What its effect on all jobs means, in the words of a table."""
        if self.only_load:
            return OTHER_LOAD
        return effect.verdict or (SOME_PAY if self.harms else UNDECIDED)

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
        lost = f"{self.in_vain:.1%}" + (f" (of it {today_text(self.every)} today, too)" if self.every and today else "")
        return f"{self.killed:,}" if self.killed else "-", lost

    @property
    def lost_work_texts(self) -> list[str]:
        """What it does to jobs and how much work comes to nothing; then how much does so today, how, and whose."""
        every = self.every
        if every is None or every.same_work:
            return [f"does {self.undone:.1%} less work than today"]
        return [*lost_texts(every), *self.whose_work_texts]

    @property
    def whose_work_texts(self) -> list[str]:
        """Of which users the work is that comes to nothing, or does so only now, if that is known."""
        whose = "" if self.same_work else whose_lost(self.affected)
        today = self.every is not None and self.every.lost_today_hours
        return [f"{'what is lost more than today' if today else 'it'} is work {whose}"] if whose else []

    @property
    def lost_text(self) -> list[str]:
        """What is lost on the way, in words."""
        return [] if self.variant.name == AS_IT_IS else lost_sentences(self.lost_before, self.lost, self.variant.name)

    @property
    def policy_text(self) -> str:
        """What a policy of the variant stands for, in words."""
        return next((note for note in self.notes if note.startswith(f"{POLICY}={self.variant.policy} ")), "")


def differences_of(variants: Sequence[RankedVariant]) -> list[tuple[str, str, str]]:
    """Return differences of the mean wait, intervals and what they mean, as texts of columns of which two have one
    unit."""
    sized = [(one, one.on_all) for one in variants if one.on_all is not None and one.without_size is None]
    texts = difference_texts([effect for _, effect in sized])
    told = iter(
        [
            (change, interval, one.verdict_on(effect))
            for (one, effect), (change, interval, _) in zip(sized, texts, strict=True)
        ]
    )
    return [one.without_size or next(told) for one in variants]
