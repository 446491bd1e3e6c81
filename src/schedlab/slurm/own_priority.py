"""Slurm's own priority beside a deployed policy: what goes on counting, what stops, and how much the policy weighs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

WEIGHT: Final = 1000
"""Points of priority between the first and the last job of a deployed policy, where nothing is known of the site."""

HIGHEST_WEIGHT: Final = 2**28
"""Slurm keeps a site factor in 32 bits, and adds other factors to it."""

FACTORS: Final = {
    "PriorityWeightAge": "how long a job has waited",
    "PriorityWeightFairshare": "what user and account have used of their share",
    "PriorityWeightQOS": "the QOS, which users may have paid for",
    "PriorityWeightPartition": "the partition",
    "PriorityWeightJobSize": "the size of a job",
    "PriorityWeightAssoc": "the association",
    "PriorityWeightTRES": "the resources of a job",
}
"""What Slurm's multifactor priority is the weighted sum of."""

WITHIN_TIERS: Final = {
    "PriorityWeightAge": "age",
    "PriorityWeightFairshare": "fair share",
    "PriorityWeightJobSize": "size",
    "PriorityWeightAssoc": "association",
}
"""Factors by which jobs of one QOS and partition differ."""


@dataclass(frozen=True, slots=True)
class OwnPriority:
    """What Slurm's own priority is made of at a site.

    Parameters
    ----------
    site
        Its name.
    basic
        Whether jobs go by submission alone (PriorityType=priority/basic).
    weights
        Points, or a text of points by resource, by parameter; those of `FACTORS` that are set.
    tiers
        Points of what is constant for a group of jobs, by group: QOS and partitions.
    """

    site: str
    basic: bool
    weights: Mapping[str, str]
    tiers: Mapping[str, float] = field(default_factory=dict)

    @property
    def step(self) -> float | None:
        """The smallest difference between two tiers, in points; None: there are no two."""
        points = sorted(set(self.tiers.values()))
        steps = [after - before for before, after in pairwise(points) if after - before >= 1]
        return min(steps, default=None)

    @property
    def within_tiers(self) -> dict[str, int]:
        """The most points by which jobs of one QOS and partition may differ, by what they go by; resources not counted.

        Examples
        --------
        >>> OwnPriority("lab", False, {"PriorityWeightAge": "500", "PriorityWeightQOS": "9"}).within_tiers
        {'age': 500}
        """
        points = ((word, self.weights.get(name, "")) for name, word in WITHIN_TIERS.items())
        return {word: int(text) for word, text in points if text.isdigit() and int(text)}

    @property
    def suggested_weight(self) -> int:
        """Points that keep the order of tiers; without tiers, as many as the age; without an age, `WEIGHT`.

        Examples
        --------
        >>> OwnPriority("lab", False, {}, {"QOS high": 3000, "QOS normal": 1000}).suggested_weight
        1999
        >>> OwnPriority("lab", False, {"PriorityWeightAge": "500"}).suggested_weight
        500
        """
        if self.step is not None:
            return max(1, min(int(self.step) - 1, HIGHEST_WEIGHT))
        age = self.weights.get("PriorityWeightAge", "")
        return min(int(age), HIGHEST_WEIGHT) if age.isdigit() and int(age) else WEIGHT


def counting(own: OwnPriority | None, weight: int) -> str:
    """Return what goes on counting beside a site factor, for the README."""
    first = (
        "**Age, fair share, QOS, partition and all other factors of Slurm's own priority go on counting.** The policy\n"
        f"is one more term of the sum: the job that it wants first gets {weight:,} points (`WEIGHT`), the one that it\n"
        "wants last gets none. So it decides between jobs whose own priorities are less than that many points apart;\n"
        "jobs that are further apart stay in Slurm's own order."
    )
    if own is None:
        return f"{first}\n\n{_CHOOSE}"
    text = [first, "", *_table(own)]
    if own.step is not None:
        below, passed = "below", "no job passes one of a higher tier by the policy alone"
        if weight >= own.step:
            below, passed = "not below", "**jobs may pass those of a higher tier**"
        text += ["", f"The smallest step between two tiers of QOS or partitions is {own.step:,.0f} points."]
        text += [f"WEIGHT is {below} it, so {passed}."]
    return "\n".join([*text, *_beside(own, weight)])


def _beside(own: OwnPriority, weight: int) -> list[str]:
    """Say how much a weight is beside what else decides between jobs of one tier, for the README."""
    factors, resources = own.within_tiers, own.weights.get("PriorityWeightTRES", "")
    most = sum(factors.values())
    if not most and not resources:
        return []
    named = ", ".join(f"{word} ({points:,})" for word, points in factors.items())
    parts = [f"up to {most:,} points apart by {named}"] if most else []
    parts += [f"as far as their resources say (PriorityWeightTRES, {resources})"] if resources else []
    far = f"Jobs of one QOS and partition may be {', and besides '.join(parts)};"
    if weight >= most:
        if resources:
            return ["", far, f"WEIGHT, {weight:,}, is no less than the first; resources may decide against the policy."]
        return ["", far, f"WEIGHT, {weight:,}, is no less, so the policy can decide against all of these together."]
    so = "the policy only decides between jobs that these leave close together, and may change little."
    of = "the first" if resources else "that"
    return ["", far, f"WEIGHT, {weight:,}, is {weight / most:.0%} of {of}: {so}"]


_CHOOSE = """\
How much that is depends on your weights: `scontrol show config | grep PriorityWeight`. Take a WEIGHT below the points
between two QOS or partitions that must keep their order (`sprio -l` shows points), and about as much as age or fair
share where the policy is to have as much to say as these. `schedlab deploy --site SITE` takes it from your
slurm.conf."""

_ABSOLUTE = """\
**An absolute priority overrides everything that Slurm's own priority is made of: age, fair share, QOS (which users may
have paid for), partition weights, size, nice.** A job of a user who has used ten times the share goes before others if
the policy wants it, and a job that waits does not rise unless the policy says so. Tiers of partitions (PriorityTier),
limits and reservations go on counting.

To keep the others, deploy within Slurm's own priority, which is the default: `schedlab deploy` without `--as`."""

_BASIC = """\
This site has PriorityType=priority/basic: jobs went by submission alone. **That order is replaced**, and waiting no
longer counts unless the policy says so."""


def not_counting(own: OwnPriority | None) -> str:
    """Return what stops counting under an absolute priority, for the README."""
    if own is None:
        return _ABSOLUTE
    return _BASIC if own.basic else "\n".join([_ABSOLUTE, "", f"What stops counting at {own.site}:", "", *_table(own)])


def _grouped(text: str) -> str:
    """Return points with commas, as all others are written; points by resource are a text."""
    return f"{int(text):,}" if text.isdigit() else text


def _table(own: OwnPriority) -> list[str]:
    rows = [
        f"| {name} | {_grouped(own.weights[name])} | {what} |" for name, what in FACTORS.items() if name in own.weights
    ]
    if not rows:
        return ["No PriorityWeight is set at this site: its own priorities are all equal, and ties go by submission."]
    by_points = sorted(own.tiers.items(), key=lambda one: -one[1])
    tiers = [f"| {name} | {points:,.0f} | all of its jobs |" for name, points in by_points]
    return ["| factor | points | goes by |", "|---|---|---|", *rows, *tiers]
