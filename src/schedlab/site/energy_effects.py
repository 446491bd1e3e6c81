"""What a variant of a site saves in energy, money and CO2, and what its nodes that boot cost in waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.durations import DAY, HOUR
from schedlab.energy.switching_off import OF_BOOTS
from schedlab.energy.text import energy_text
from schedlab.schedule.summary import duration, three_digits
from schedlab.site.coverage import listed
from schedlab.site.wait_text import waits_texts
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.site.sweep import Paired

YEAR = 365 * DAY
NOTHING = 0.0005
"""A share of the energy that is told as none: it would be 0.0 %."""
COSTS = ("energy_cost", "energy_co2_kg")
TOLD = ("energy_kwh", "mean_power_kw", "seconds_above_cap", *COSTS, *OF_BOOTS, "mean_wait", "jobs")
"""Metrics of both sides that are kept."""


@dataclass(frozen=True, slots=True)
class EnergyEffect:
    """The energy of a site as it is and of a variant, and the boots of nodes in both; means over copies.

    Parameters
    ----------
    before, after
        Metrics by name, see `schedlab.energy.metrics`, with `boots`, `jobs_that_waited_for_a_boot` and
        `mean_boot_wait` (seconds); those that are known.
    currency
        Of costs.
    """

    before: Mapping[str, float]
    after: Mapping[str, float]
    currency: str = ""

    @property
    def kwh(self) -> float:
        """Energy that is saved; below 0 if the variant takes more. NaN without a power model."""
        return self._saved("energy_kwh")

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers, for JSON."""
        return asdict(self)

    def sentences(self, name: str) -> list[str]:
        """Return clauses: what is saved and what that costs in waits; what a year of it saves; who waits for boots."""
        if np.isnan(self.kwh):
            return self._boots(name)
        share = abs(self.kwh) / self.before["energy_kwh"] if self.before["energy_kwh"] else 0.0
        verb = "save" if self.kwh >= 0 else "take"
        more = "" if self.kwh >= 0 else " more"
        span = self._seconds()
        if share < NOTHING:
            told = [f"{name} would take as much energy in {duration(span)}{self._costs()}; {self._waits()}"]
        else:
            told = [f"{name} would {verb} {self._amounts(1.0, share)}{more} in {duration(span)}; {self._waits()}"]
            if DAY <= span < YEAR / 2:
                told.append(f"a year like that would {verb} {self._amounts(YEAR / span)}{more}")
        if "seconds_above_cap" in self.after:
            here, there = (duration(one["seconds_above_cap"]) for one in (self.before, self.after))
            told.append(f"the power is above the cap of its model for {there}, {here} as it is")
        return [*told, *self._boots(name)]

    @property
    def _has_boots(self) -> bool:
        return "boots" in self.after

    def _saved(self, name: str) -> float:
        return self.before.get(name, np.nan) - self.after.get(name, np.nan)

    def _seconds(self) -> float:
        """Return how long the site as it is was simulated."""
        power = self.before["mean_power_kw"]
        return self.before["energy_kwh"] / power * HOUR if power else 0.0

    def _amounts(self, factor: float, share: float | None = None) -> str:
        """Return what is saved, or taken more, times a factor."""
        of_all = "" if share is None else f" ({share:.1%})"
        parts = [f"{energy_text(abs(self.kwh) * factor)}{of_all}"]
        for name, unit in _units(self.currency):
            if name in self.after:
                saved = self._saved(name)
                less = "" if saved * self.kwh >= 0 else "-"  # at another price, less energy may cost more
                parts.append(f"{less}{three_digits(abs(saved) * factor)} {unit}")
        return listed(parts)

    def _costs(self) -> str:
        """Return what as much energy costs more or less, at other times."""
        parts = []
        for name, unit in _units(self.currency):
            saved, before = self._saved(name), self.before.get(name, 0.0)
            if before and abs(saved) >= NOTHING * before:
                parts.append(f"{three_digits(abs(saved))} {unit} {'less' if saved > 0 else 'more'}")
        return f", for {listed(parts)}" if parts else ""

    def _waits(self) -> str:
        """Return what it costs in waits: the boots that jobs wait for, or how the mean wait changes."""
        more = self.after.get("mean_boot_wait", 0.0) - self.before.get("mean_boot_wait", 0.0)
        if more > 0:
            return f"its boots cost {duration(more)} of wait in the mean"
        before, after = waits_texts(self.before["mean_wait"], self.after["mean_wait"])
        return f"the mean wait goes from {before} to {after}"

    def _boots(self, name: str) -> list[str]:
        booted = round(self.after.get("jobs_that_waited_for_a_boot", 0.0))
        if not self._has_boots:
            return []
        if not booted:
            return [f"no job waits for a node to boot under {name}"]
        jobs = count_of(round(self.after["jobs"]), "job")
        each = duration(self.after["mean_boot_wait"] * self.after["jobs"] / booted)
        times = "once" if self.after["boots"] == 1 else f"{self.after['boots']:,.0f} times"
        return [
            f"{booted:,} of {jobs} {'waits' if booted == 1 else 'wait'} for nodes to boot"
            f"{', each for ' if booted > 1 else ' for '}{each}{' in the mean' if booted > 1 else ''}; "
            f"nodes boot {times}"
        ]


def _units(currency: str) -> tuple[tuple[str, str], ...]:
    """Return what energy costs and emits, by metric, with the units."""
    return ("energy_cost", currency or "of money"), ("energy_co2_kg", "kg of CO2")


def energy_heads(effects: Sequence[EnergyEffect | None]) -> tuple[str, ...]:
    """Return what columns of energy and boots are called in a table of several; none, if nothing of it is known."""
    found = [one for one in effects if one is not None]
    names = {name for one in found for name in one.after}
    words = {"energy_kwh": "energy", "energy_cost": f"cost ({found[0].currency or 'money'})" if found else ""}
    words |= {"energy_co2_kg": "kg of CO2", "boots": "boots of nodes"}
    return tuple(word for name, word in words.items() if name in names)


def energy_texts(effect: EnergyEffect | None, heads: Sequence[str]) -> list[str]:
    """Return the texts of columns of energy and boots; "-" where nothing is known."""
    after: Mapping[str, float] = {} if effect is None else effect.after
    texts = {"cost": "energy_cost", "kg of CO2": "energy_co2_kg", "energy": "energy_kwh", "boots of nodes": "boots"}
    found = []
    for head in heads:
        value = after.get(texts[head.partition(" (")[0]])
        form = energy_text if head == "energy" else three_digits
        found.append("-" if value is None else form(value) if head != "boots of nodes" else f"{value:,.0f}")
    return found


def energy_effect(pairs: Sequence[Paired], currency: str) -> EnergyEffect | None:
    """Return the energy and the boots of the site as it is and of a variant; None: neither is known."""
    sides = []
    for answers in zip(*pairs, strict=True):
        names = [name for name in TOLD if all(name in one.metrics for one in answers)]
        sides.append({name: float(np.mean([one.metrics[name] for one in answers])) for name in names})
    before, after = sides
    if "energy_kwh" not in after and "boots" not in after:
        return None
    return EnergyEffect(before, after, currency)
