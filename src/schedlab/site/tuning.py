"""A search over parameters of a site: chosen on one part of its log, judged on the rest."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from schedlab.arguments import explained
from schedlab.campaign.results.statistics import LARGER_IS_BETTER, quantity
from schedlab.energy.measures import OF_ENERGY, words_of
from schedlab.errors import InputError
from schedlab.site.answers import check_metric
from schedlab.site.change_text import change_texts
from schedlab.site.copies import copies_of, usual_copies
from schedlab.site.coverage import listed
from schedlab.site.effect_bounds import effect_bounds
from schedlab.site.effect_texts import effects_text
from schedlab.site.effects import Effect, effects
from schedlab.site.energy_effects import EnergyEffect, energy_effect
from schedlab.site.grounds import Grounds, grounds_of
from schedlab.site.headline import copies_text, lead_sentences
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Sweep, VariantFailure
from schedlab.site.variants import AS_IT_IS, LOAD, Axes, Variant, at, grid
from schedlab.site.who_pays import payers_texts, winners_text
from schedlab.wording import count_of, table

CHOSEN_ON = 2 / 3
"""Part of the log that variants are chosen on."""

SHOWN_VALUES, MOST_REFUSED = 10, 5
"""Variants that the table in text has, and that a sentence names as not chosen."""

MOST_AT_ONCE = 200
"""Variants of a grid that is run whole; a larger one is searched axis by axis."""


@dataclass(frozen=True, slots=True)
class ParameterSearch:
    """What a search over parameters has found.

    Parameters
    ----------
    metric
        What was minimised.
    chosen_on, judged_on
        The parts of the log.
    best
        The best variant on the first part that does all the work; the site as it is, if no other is better.
    values
        The metric of each variant on the first part, the best first.
    before, after
        The metric of the site as it is and of the best variant on the second part, means over its copies.
    copies
        Copies of the second part, which differ by seconds.
    effects
        Of the best variant on the jobs of the second part; none, if it is the site as it is.
    failures
        Variants that could not be run.
    simulations
        How many were run now; the other answers were there.
    less_work
        Variants that leave jobs out or kill them, and cannot be chosen therefore.
    grounds
        What the answer stands on, on the second part.
    energy
        What the best variant saves on the second part in energy, money and CO2; None: there is no power model, or it is
        the site as it is.
    waits
        With a power model, the mean wait of each of `values`, in seconds.
    """

    metric: str
    chosen_on: SiteSample
    judged_on: SiteSample
    best: Variant
    values: tuple[tuple[Variant, float], ...]
    before: float
    after: float
    copies: int
    effects: tuple[Effect, ...]
    failures: tuple[VariantFailure, ...]
    simulations: int
    less_work: tuple[Variant, ...]
    grounds: Grounds
    energy: EnergyEffect | None = None
    waits: tuple[float, ...] = ()

    @property
    def beside(self) -> list[str]:
        """What stands beside the metric of each variant in a table: with a power model, the mean wait."""
        return ["mean wait"] if self.waits and self.metric != "mean_wait" else []

    def besides(self) -> list[list[str]]:
        """Return the texts of that, for each of `values`."""
        return [[quantity("mean_wait", wait)] if self.beside else [] for wait in self.waits or [0.0] * len(self.values)]

    @property
    def lead(self) -> list[str]:
        """What the answer begins with."""
        return lead_sentences(self.grounds, self._change(), payers_texts(self.effects) if self.effects else [])

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences."""
        told = [*self.lead, f"What follows is of {self.judged_on.text} alone.", *self.grounds.sentences()]
        told += [*([copies_text(self.copies)] if self.effects else []), *winners_text(self.effects)]
        if self.less_work:
            names = listed([one.name for one in self.less_work], MOST_REFUSED)
            told.append(f"Not chosen, as they leave jobs out or kill them: {names}.")
        return [*told, *(f"{one.variant.name} could not be run: {one.reason}." for one in self.failures)]

    def _change(self) -> list[str]:
        number, what = count_of(len(self.values) + len(self.less_work) - 1, "variant"), self._what
        place = f"by {what} on {self.chosen_on.text}, "
        if self.best.name == AS_IT_IS:
            none = f"{place}none of {number} is better than the site as it is"
            return [
                none,
                *self._nearest(),
                f"so there was nothing to judge on {self.judged_on.text}, the rest, of which the following is",
                f"there, the {what} is {quantity(self.metric, self.before)} as it is",
            ]
        every = next(one for one in self.effects if one.kind == "all")
        values = f"{quantity(self.metric, self.after)}, {quantity(self.metric, self.before)} as it is"
        energy = [] if self.energy is None else self.energy.sentences(self.best.name)
        of_waits = self.metric not in OF_ENERGY
        unsure = "" if every.excludes_none or not of_waits else "no variant is surely better than the site as it is: "
        return [
            f"{unsure}{place}the best of {number} is {self.best.name}",
            *(f"on {self.judged_on.text}, {text}" for text in energy[:1]),
            *energy[1:],
            *change_texts(f"on {self.judged_on.text}, which the search has not seen, it", every, advice=of_waits),
            f"there, the {what} is {values}",
        ]

    @property
    def _what(self) -> str:
        """What is minimised, in words."""
        return words_of(self.metric)

    def _nearest(self) -> list[str]:
        """Say by how little the nearest variant misses, of a single simulation each."""
        if len(self.values) < 2:
            return []
        (_, today), (nearest, value) = self.values[:2]
        told = f"{quantity(self.metric, value)} instead of {quantity(self.metric, today)}"
        return [f"the nearest, {nearest.name}, has {told}, simulated once each: how sure that is, site what-if tells"]

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON; values of the metric in its unit, seconds where they are times."""
        return {
            "calibration": self.grounds.standing.to_document(),
            "sentences": self.sentences(),
            "metric": self.metric,
            "chosen_on": self.chosen_on.text,
            "judged_on": self.judged_on.text,
            "best": asdict(self.best),
            "values": [{**asdict(one), "value": value} for one, value in self.values],
            "before": self.before,
            "after": self.after,
            "copies": self.copies,
            "effects": [one.to_document() for one in self.effects],
            **({} if self.energy is None else {"energy": self.energy.to_document()}),
            **({"mean_waits": list(self.waits)} if self.waits else {}),
            "less_work": [asdict(one) for one in self.less_work],
            "failures": [asdict(one) for one in self.failures],
        } | self.grounds.to_document()

    def __str__(self) -> str:
        shown = zip(self.values[:SHOWN_VALUES], self.besides(), strict=False)
        rows = [[variant.name, quantity(self.metric, value), *besides] for (variant, value), besides in shown]
        head = ["variant", f"{self._what} on {self.chosen_on.text}", *self.beside]
        text = [*self.sentences(), "", table(head, rows)]
        if self.effects:
            text += ["", f"{self.best.name} on {self.judged_on.text}: who wins, and who pays", ""]
            text.append(effects_text(self.effects))
        if self.grounds.omissions.parts():
            text += ["", str(self.grounds.omissions)]
        return "\n".join(text)


@explained
def search_parameters(
    sweep: Sweep,
    axes: Axes,
    metric: str = "mean_wait",
    *,
    workers: int | None = None,
    progress: Callable[[int, int, int], None] | None = None,
    requests: str = "cut",
    long: str = "killed",
) -> ParameterSearch:
    """Search for values of parameters that make a metric of a site small.

    A grid of up to `MOST_AT_ONCE` variants is run whole. A larger one is searched axis by axis: from the middle of each
    axis, all values of one axis are run while the others stay, the best is taken, and the next axis follows, until a
    round over all axes changes nothing. What has an answer already is not run again.

    Parameters
    ----------
    sweep
        Of the site.
    axes
        Values by what they are values of.
    metric
        One of those of `Schedule.metrics`, or of the energy if the sweep has a power model; where more is better, it is
        made large.
    workers, progress
        As for `Sweep.run`.
    requests, long
        Of all variants, unless they are axes; see `Variant`.

    Raises
    ------
    InputError
        If there is no such metric, or a value is not possible; or if loads are to be chosen.
    """
    check_metric(metric, sweep.power_file or None)
    if any(what.lower() == LOAD for what in axes):
        raise InputError("a site does not choose its load: schedlab site what-if --over load=... shows what others do")
    first, second = SiteSample(0, CHOSEN_ON), SiteSample(CHOSEN_ON, 1)
    sign = -1.0 if metric in LARGER_IS_BETTER else 1.0
    values: dict[Variant, float] = {}
    less_work: dict[Variant, None] = {}
    simulations = 0

    def look(variants: list[Variant]) -> None:
        nonlocal simulations
        simulations += sweep.run(variants, [first], workers=workers, progress=progress)
        for one in (Variant(AS_IT_IS), *variants):
            found = _metric(sweep, one, first, metric)
            if (answer := sweep.answer(one, first)) is not None and answer.work:
                less_work[one] = None
            values[one] = math.inf if found is None or one in less_work else sign * found

    usual = {"requests": requests, "long": long}
    size = math.prod(len(each) for each in axes.values())
    if size <= MOST_AT_ONCE:
        look(grid(axes, **usual))
    else:
        _by_axis(axes, look, values, usual)
    order = sorted(values, key=lambda one: (values[one], one.name != AS_IT_IS))
    best = order[0]
    chosen = [] if best.name == AS_IT_IS else [best]
    judged = copies_of([second], usual_copies(len(sweep.sample(second)), 1, 1) if chosen else 1)
    simulations += sweep.run(chosen, judged, workers=workers, progress=progress)
    pairs = [pair for one in judged if (pair := sweep.pair(best, one)) is not None]
    if len(pairs) < len(judged):
        reason = next(one.reason for one in sweep.failures.values() if one.sample.original == second)
        raise InputError(f"{best.name}: it could not be run on {second.text}: {reason}")
    bounds = effect_bounds(sweep, best, pairs)
    before, after = (float(np.mean([side.metric(metric) for side in sides])) for sides in zip(*pairs, strict=True))
    known = tuple((one, sign * values[one]) for one in order if math.isfinite(values[one]))
    waits = () if sweep.power is None else tuple(_metric(sweep, one, first, "mean_wait") or 0.0 for one, _ in known)
    return ParameterSearch(
        metric,
        first,
        second,
        best,
        known,
        before,
        after,
        len(pairs),
        tuple(effects(pairs)) if chosen else (),
        tuple(sweep.failures.values()),
        simulations,
        tuple(less_work),
        replace(grounds_of(sweep, pairs[0], pairs[0].other.notes, pairs), cautions=bounds.cautions),
        energy_effect(pairs, sweep.power.currency) if chosen and sweep.power is not None else None,
        waits,
    )


def _by_axis(
    axes: Axes, look: Callable[[list[Variant]], None], values: dict[Variant, float], usual: Mapping[str, str]
) -> None:
    """Take the best value of one axis after the other, until a round changes nothing."""
    point = {what: each[len(each) // 2] for what, each in axes.items()}
    unchanged = 0
    for what in itertools.cycle(axes):
        line = {value: at(point | {what: value}, usual) for value in axes[what]}
        look(list(line.values()))
        best = min(line, key=lambda value: values[line[value]])
        unchanged = unchanged + 1 if best == point[what] else 1
        point[what] = best
        if unchanged >= len(axes):
            return


def _metric(sweep: Sweep, variant: Variant, sample: SiteSample, metric: str) -> float | None:
    """Return the metric of a variant; None: it could not be run."""
    answer = sweep.answer(variant, sample)
    if answer is None:
        if variant.name == AS_IT_IS:
            raise InputError(sweep.failures[variant, sample].reason)
        return None
    return answer.metric(metric)
