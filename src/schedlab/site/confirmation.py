"""What the real Slurm says of variants of a site, beside the twin's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.schedule.columns import in_columns
from schedlab.schedule.summary import duration
from schedlab.site.coverage import MINUTE
from schedlab.site.effects import FEWEST_JOBS, group_name, groups_of
from schedlab.site.intervals import Interval
from schedlab.site.standing import ROUGH
from schedlab.site.sweep import VariantFailure
from schedlab.site.variants import Variant
from schedlab.site.wait_text import changes_in_columns, signed, signed_with_interval
from schedlab.wording import count_of, table
from schedlab.workload.workload import Workload

Waits = NDArray[np.float64]
"""Seconds that jobs wait, shape (phases, jobs)."""


@dataclass(frozen=True, slots=True)
class ConfirmedVariant:
    """A variant in the twin and on the real Slurm.

    Parameters
    ----------
    variant
        Which.
    twin, real
        Waits of the same jobs, in seconds, shape (phases, jobs).
    before
        The site as it is with the work that is left, if the variant does less; None: it does all of it.
    """

    variant: Variant
    twin: Waits
    real: Waits
    before: ConfirmedVariant | None = None


@dataclass(frozen=True, slots=True)
class MeanChange:
    """The mean wait of a group of jobs, at the site as it is and in a variant.

    Parameters
    ----------
    before, after
        Means over the phases, in seconds.
    lowest, highest
        Of the differences of the phases, in seconds.
    """

    before: float
    after: float
    lowest: float
    highest: float

    @classmethod
    @explained
    def of(cls, before: Waits, after: Waits) -> MeanChange:
        """Return that of some jobs, from their waits, in the phases that both have."""
        phases = min(len(before), len(after))
        first, second = before[:phases].mean(axis=1), after[:phases].mean(axis=1)
        changes = second - first
        return cls(float(first.mean()), float(second.mean()), float(changes.min()), float(changes.max()))

    @property
    def difference(self) -> float:
        """Seconds by which the mean wait changes."""
        return self.after - self.before

    @property
    def sign(self) -> int:
        """Whether all phases show shorter waits (-1) or longer ones (1); 0: they do not agree, or show less than a
        second."""
        if self.is_null:
            return 0
        return -1 if self.highest < 0 else 1 if self.lowest > 0 else 0

    @property
    def is_null(self) -> bool:
        """Whether no phase shows a difference of a second or more."""
        return max(abs(self.lowest), abs(self.highest)) < 1

    @property
    def among(self) -> Interval | None:
        """The smallest and the largest of all phases; None where all have the same."""
        return None if self.lowest == self.highest else (self.lowest, self.highest)

    def __str__(self) -> str:
        if self.among is None:
            return signed(self.difference) if self.difference else "none"
        change, among = signed_with_interval(self.difference, self.among)
        return f"{change} ({among})"


@dataclass(frozen=True, slots=True)
class ConfirmedEffect:
    """What a variant does to a group of jobs, in the twin and on the real Slurm.

    Parameters
    ----------
    variant
        Its name.
    kind, group
        "all", "partition", "QOS", "account", "user", "size" or "GPU", and which of them.
    jobs
        How many.
    twin, real
        Their mean waits.
    """

    variant: str
    kind: str
    group: str
    jobs: int
    twin: MeanChange
    real: MeanChange

    @property
    def verdict(self) -> str:
        """Whether both say "shorter", "longer" or "no effect", they "differ", or phases do not agree ("unsure")."""
        if self.twin.is_null and self.real.is_null:
            return "no effect"
        if not self.twin.sign or not self.real.sign:
            return "unsure"
        if self.twin.sign != self.real.sign:
            return "differ"
        return "both shorter" if self.real.sign < 0 else "both longer"

    @property
    def in_words(self) -> str:
        """What becomes of waits; where only one side tells, what each of them says."""
        if self.verdict != "unsure" or not (self.real.sign or self.twin.sign):
            return _WORDS[self.verdict]
        return f"Slurm: {_of_side(self.real)}; the twin: {_of_side(self.twin)}"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Variants of a site in the twin and on the real Slurm.

    Parameters
    ----------
    slurm
        The version.
    jobs
        Those that every run has started.
    processors
        Of the site.
    confirmed
        The site as it is, then the variants.
    failures
        Variants that the real Slurm cannot run, or does not.
    notes
        Jobs that are not compared, and why the runs ended early, if they did, in sentences.
    """

    slurm: str
    jobs: Workload
    processors: int
    confirmed: tuple[ConfirmedVariant, ...]
    failures: tuple[VariantFailure, ...]
    notes: tuple[str, ...]

    @property
    def phases(self) -> int:
        """Runs of each variant; the fewest, if the runs ended early."""
        return min(len(one.real) for one in self.confirmed)

    def effects(self) -> list[ConfirmedEffect]:
        """Return what each variant does to all jobs, and to groups of at least `FEWEST_JOBS`."""
        groups = dict(groups_of(self.jobs, self.processors))
        return [
            ConfirmedEffect(
                one.variant.name,
                kind,
                labels.names[number],
                len(mine),
                MeanChange.of(base.twin[:, mine], one.twin[:, mine]),
                MeanChange.of(base.real[:, mine], one.real[:, mine]),
            )
            for one in self.confirmed[1:]
            for base in [one.before or self.confirmed[0]]
            for kind, labels in groups.items()
            if kind == "all" or len(labels.names) > 1
            for number in np.argsort(-np.bincount(labels.codes[labels.codes >= 0]), kind="stable").tolist()
            if len(mine := np.flatnonzero(labels.codes == number)) >= (1 if kind == "all" else FEWEST_JOBS)
        ]

    @property
    def warning(self) -> list[str]:
        """Say that the twin and Slurm are far apart already on the site as it is, if they are."""
        base = self.confirmed[0]
        twin, real = float(base.twin.mean()), float(base.real.mean())
        return [_FAR_APART] if abs(twin - real) > max(ROUGH * real, MINUTE) else []

    def sentences(self) -> list[str]:
        """Say in words how the twin and the real Slurm compare; first, that they are far apart already as it is."""
        base = self.confirmed[0]
        twin, real = (float(waits.mean()) for waits in (base.twin, base.real))
        told = [
            *self.warning,
            f"{count_of(len(self.jobs), 'job')} in {count_of(self.phases, 'phase')} on slurmctld {self.slurm} and in "
            f"the twin. As it is, the site's mean wait is {duration(real)} on Slurm and {duration(twin)} in the twin"
            f"{f' ({twin / real - 1:+.0%})' if real else ''}.",
        ]
        less_work = {one.variant.name for one in self.confirmed if one.before is not None}
        for one in (effect for effect in self.effects() if effect.kind == "all"):
            less = " (compared without the work that it does not do)" if one.variant in less_work else ""
            told.append(f"{one.variant}{less}: {one.in_words}; Slurm {one.real}, twin {one.twin}.")
        told += [f"{one.variant.name} was not run on Slurm: {one.reason}." for one in self.failures]
        return told

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        return {
            "slurm": self.slurm,
            "jobs": len(self.jobs),
            "phases": self.phases,
            "mean_waits": {
                one.variant.name: {"twin": one.twin.mean(axis=1).tolist(), "slurm": one.real.mean(axis=1).tolist()}
                for one in self.confirmed
            },
            "effects": [asdict(one) | {"verdict": one.verdict} for one in self.effects()],
            "failures": [asdict(one) for one in self.failures],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        head = ["variant", "", "jobs", "as it is: Slurm", "twin", "difference: Slurm", "twin", ""]
        rows: list[list[str | float]] = []
        last = ""
        effects = [one for one in self.effects() if one.kind in ("all", "partition", "QOS")]
        for one, differences in zip(effects, differences_in_columns(effects), strict=True):
            name, last = ("" if one.variant == last else one.variant), one.variant
            whose = [name, group_name(one.kind, one.group), f"{one.jobs:,}"]
            rows.append([*whose, one.real.before, one.twin.before, *differences, one.verdict])
        told = table(head, in_columns(rows, together=(3, 4)))
        return "\n".join([*self.sentences(), "", told]) if rows else "\n".join(self.sentences())


@explained
def differences_in_columns(effects: Sequence[ConfirmedEffect]) -> list[tuple[str, str]]:
    """Return the differences on the real Slurm and in the twin as texts of two columns of a table, all in one unit.

    Parameters
    ----------
    effects
        Those of its rows.
    """
    sides = [[one.real for one in effects], [one.twin for one in effects]]
    changes = [[(one.difference, one.among) for one in side] for side in sides]
    texts = (changes_in_columns(side, like=[*changes[0], *changes[1]]) for side in changes)
    real, twin = ([change if among == "-" else f"{change} ({among})" for change, among in side] for side in texts)
    return list(zip(real, twin, strict=True))


def with_confirmation(document: dict[str, Any], confirmation: Confirmation | None, failed: str) -> dict[str, Any]:
    """Return the document of an answer with what the real Slurm says, or why it says nothing though it was asked."""
    if failed:
        return document | {"confirmation": None, "not_confirmed": failed}
    return document if confirmation is None else document | {"confirmation": confirmation.to_document()}


def confirmation_sentences(confirmation: Confirmation | None, failed: str) -> list[str]:
    """Say what the real Slurm says, or why it says nothing though it was asked; nothing if it was not."""
    if failed:
        return [f"The real Slurm was asked as well, and this answer is not confirmed by it: {failed}."]
    return [] if confirmation is None else confirmation.sentences()


def _of_side(change: MeanChange) -> str:
    """Say what the phases of one side tell."""
    if change.is_null:
        return "no effect"
    return {-1: "shorter in all phases", 1: "longer in all phases", 0: "its phases do not agree"}[change.sign]


_FAR_APART = (
    "The twin and Slurm are far apart on the site as it is already: do not trust the twin here, whatever its "
    "calibration says, and look for the cause first (an option that one of them takes otherwise)."
)

_WORDS = {
    "both shorter": "waits become shorter in both",
    "both longer": "waits become longer in both",
    "differ": "the twin and the real Slurm disagree: do not trust the twin here",
    "no effect": "no effect on either side",
    "unsure": "whether waits become shorter or longer cannot be told from these phases",
}
