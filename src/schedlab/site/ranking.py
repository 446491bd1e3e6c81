"""Variants of a site side by side: a metric of each, and how sure its distance to the site as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from schedlab.campaign.results.statistics import LARGER_IS_BETTER, quantity
from schedlab.schedule.summary import duration
from schedlab.site.effects import Effect, difference_text, effects, effects_text
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Sweep, VariantFailure
from schedlab.site.variants import AS_IT_IS, Variant
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
    """

    variant: Variant
    value: float
    mean_wait: float
    p95_wait: float
    utilisation: float
    effects: tuple[Effect, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VariantRanking:
    """Variants of a site, the best first, the site as it is among them.

    Parameters
    ----------
    metric
        What they are ranked by.
    samples
        The jobs that they were replayed on.
    ranked
        Those that could be run on all samples.
    failures
        The others.
    """

    metric: str
    samples: tuple[SiteSample, ...]
    ranked: tuple[RankedVariant, ...]
    failures: tuple[VariantFailure, ...]

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Those that could be run, the best first, without the site as it is."""
        return tuple(one.variant for one in self.ranked if one.variant.name != AS_IT_IS)

    @property
    def best(self) -> RankedVariant:
        """The first of them that is not the site as it is; the site, if nothing else could be run."""
        return next((one for one in self.ranked if one.variant.name != AS_IT_IS), self.ranked[0])

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        return {
            "metric": self.metric,
            "samples": [one.text for one in self.samples],
            "variants": [asdict(one) for one in self.ranked],
            "failures": [asdict(one) for one in self.failures],
        }

    def __str__(self) -> str:
        own = [] if self.metric in SHOWN else [self.metric.replace("_", " ")]
        head = ["variant", *own, "mean wait", "p95 wait", "utilisation", "difference of mean wait", "95 % interval", ""]
        rows = []
        for one in self.ranked:
            every = next((found for found in one.effects if found.kind == "all"), None)
            value = [quantity(self.metric, one.value)] if own else []
            row = [one.variant.name, *value, duration(one.mean_wait), duration(one.p95_wait)]
            rows.append([*row, f"{one.utilisation:.1%}", *(difference_text(every) if every else ("-", "-", ""))])
        text = [table(head, rows)]
        if self.best.effects:
            text += ["", f"{self.best.variant.name}: who wins, and who pays", "", effects_text(self.best.effects)]
        return "\n".join(text)


def rank_variants(
    sweep: Sweep, variants: Sequence[Variant], samples: Sequence[SiteSample], metric: str = "mean_wait"
) -> VariantRanking:
    """Return how variants that were run compare; what `Sweep.run` has not run is left out.

    Raises
    ------
    InputError
        If there is no such metric, or the site as it is has not been run.
    """
    base = Variant(AS_IT_IS)
    ranked = []
    for variant in (base, *variants):
        pairs = [(sweep.answer(base, sample), sweep.answer(variant, sample)) for sample in samples]
        there = [(first, other) for first, other in pairs if first is not None and other is not None]
        if len(there) < len(pairs):
            continue
        means = {name: float(np.mean([other.metric(name) for _, other in there])) for name in (metric, *SHOWN)}
        notes = tuple(dict.fromkeys(note for _, other in there for note in other.notes))
        found = () if variant is base else tuple(effects(there))
        ranked.append(
            RankedVariant(
                variant, means[metric], means["mean_wait"], means["p95_wait"], means["utilisation"], found, notes
            )
        )
    sign = -1 if metric in LARGER_IS_BETTER else 1
    ranked.sort(key=lambda one: sign * one.value)
    return VariantRanking(metric, tuple(samples), tuple(ranked), tuple(sweep.failures.values()))
