"""When to drain for a maintenance: possible begins side by side, and what each costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from schedlab.durations import WEEK
from schedlab.errors import InputError
from schedlab.schedule.summary import duration
from schedlab.site.effects import signed
from schedlab.site.maintenance_costs import MaintenanceCost, MaintenancePayer, chance_between_weeks, cost_of, payers
from schedlab.site.maintenance_plan import MaintenancePlan, PossibleBegin, possible_begins
from schedlab.site.omissions import Omissions, omissions_of
from schedlab.site.samples import SiteSample
from schedlab.site.standing import Standing
from schedlab.site.sweep import Paired, Sweep, VariantFailure
from schedlab.site.variants import Variant
from schedlab.wording import count_of, table

BEST, WORST = 8, 2
"""Hours of the week that tables in the terminal show."""

LEAD = WEEK
"""Seconds of the log that are replayed before the first announcement, so that the queue is there."""

MEASURES = ("drained", "put_off", "moved", "moved_hours", "earlier", "mean_wait", "p95_wait", "outlasting")


@dataclass(frozen=True, slots=True)
class MaintenanceSlot:
    """An hour of the week at which a maintenance could begin.

    Parameters
    ----------
    name
        Such as "Tuesday 06:00".
    costs
        Of its begins in the log, one for each week.
    """

    name: str
    costs: tuple[MaintenanceCost, ...]

    def mean(self, measure: str) -> float:
        """Return the mean of a field of `MaintenanceCost` over the weeks."""
        return float(np.mean([getattr(one, measure) for one in self.costs]))

    @property
    def drained(self) -> float:
        """Core-hours that idle before the begin, a mean over the weeks."""
        return self.mean("drained")

    @property
    def range(self) -> tuple[float, float]:
        """The fewest and the most core-hours that idle before the begin, of all weeks."""
        values = [one.drained for one in self.costs]
        return min(values), max(values)

    @property
    def delay(self) -> float:
        """Seconds by which jobs that are moved start later, on average."""
        moved = self.mean("moved")
        return 3600 * self.mean("moved_hours") / moved if moved else 0.0

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        begins = [asdict(one) | {"begin": one.begin.name, "second": one.begin.second} for one in self.costs]
        return {"begin": self.name, "mean": {name: self.mean(name) for name in MEASURES}, "weeks": begins}


@dataclass(frozen=True, slots=True, repr=False)
class Maintenance:
    """When to drain for a maintenance.

    Parameters
    ----------
    site
        Its name.
    plan
        What was asked.
    nodes
        Which are closed.
    cores
        How many these have.
    standing
        How good the twin is known to be.
    omissions
        What the answer leaves out.
    sample
        Which jobs are replayed.
    slots
        The hours of the week, those with the fewest core-hours that idle before the begin first.
    payers
        Groups of jobs that the best of them moves, those that pay most first.
    chance
        Core-hours: differences below it are chance between weeks; None: there are too few weeks.
    failures
        Begins that could not be simulated.
    """

    site: str
    plan: MaintenancePlan
    nodes: tuple[str, ...]
    cores: int
    standing: Standing
    omissions: Omissions
    sample: SiteSample
    slots: tuple[MaintenanceSlot, ...]
    payers: tuple[MaintenancePayer, ...]
    chance: float | None
    failures: tuple[VariantFailure, ...] = ()

    @property
    def best(self) -> MaintenanceSlot:
        """The hour of the week with the fewest core-hours that idle before the begin."""
        return self.slots[0]

    @property
    def closed(self) -> float:
        """Core-hours of the maintenance itself."""
        return self.cores * self.plan.seconds / 3600

    def variant(self, cost: MaintenanceCost) -> Variant:
        """Return the variant of the site that has a maintenance with one of the begins."""
        return variant_of(self.plan, cost.begin, self.nodes)

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences; the first one has all that a reader needs who reads no further."""
        return [self._first(), *self._certainty(), *self.standing.details(), *self._who_pays(), *self._assumed()]

    def _first(self) -> str:
        best, worst = self.best, self.slots[-1]
        told = f"drain for {best.name}"
        if self.chance is not None and self._near() == len(self.slots) - 1:
            told = f"no begin is surely better than another; the cheapest in this log is {best.name}"
        parts = [
            f"{told}: {_hours(best.drained)} idle before it, beyond the {self.closed:,.0f} of the "
            f"maintenance itself, and {self._moved(best)}"
        ]
        if len(self.slots) > 1:
            times = worst.drained / best.drained if best.drained >= 1 else 0.0
            size = f"{times:.1f} times as many" if times >= 1.05 else _hours(worst.drained)
            parts.append(f"the worst begin, {worst.name}, lets {size} idle and moves {worst.mean('moved'):,.0f}")
        parts.append(self._chance())
        return f"According to {self.standing.clause}, {'; '.join(parts)}."

    def _moved(self, slot: MaintenanceSlot) -> str:
        number = round(slot.mean("moved"))
        if not number:
            return "no job starts later"
        return f"{count_of(number, 'job')} start{'s' * (number == 1)} later, by {duration(slot.delay)} on average"

    def _chance(self) -> str:
        if self.chance is None:
            return "how much of that is chance cannot be told from a single week"
        return f"differences below {_hours(self.chance)} are chance between weeks"

    def _near(self) -> int:
        """Return how many other begins differ from the best by no more than chance."""
        return sum(one.drained - self.best.drained < (self.chance or 0.0) for one in self.slots[1:])

    def _certainty(self) -> Iterator[str]:
        best, weeks = self.best, len(self.best.costs)
        if weeks > 1:
            low, high = best.range
            yield f"In {weeks:,} weeks of the log, {low:,.0f} to {high:,.0f} core-hours idled before {best.name}."
        if self.chance is not None and 0 < self._near() < len(self.slots) - 1:
            yield (
                f"{self._near():,} of the {len(self.slots) - 1:,} other begins cannot be told from it: any of them is "
                "as good a choice."
            )
        least = min(self.slots, key=lambda one: one.mean("moved_hours"))
        if least is not best:
            yield (
                f"Fewest hours of waiting are added at {least.name}: {least.mean('moved_hours'):,.0f} h in all, and "
                f"{best.mean('moved_hours'):,.0f} h at {best.name}; {_hours(least.drained)} idle before it."
            )
        outlasting = max(one.outlasting for one in best.costs)
        if outlasting:
            yield (
                f"Up to {count_of(outlasting, 'job')} that began before the announcement would still run when it "
                "begins: announce it earlier, or end them."
            )
        for one in self.failures:
            yield f"{one.variant.name} could not be simulated: {one.reason}."

    def _who_pays(self) -> Iterator[str]:
        for kind in ("user", "account", "partition"):
            found = self.payers_of(kind)
            if len(found) > 1:
                told = ", ".join(f"{one.group} ({one.share:.0%})" for one in found[:3])
                yield f"Of the hours that jobs start later at {self.best.name}, by {kind}: {told}."

    def _assumed(self) -> Iterator[str]:
        yield (
            f"The last {duration(self.plan.window)} of the log stand for the time to come: users submit what and when "
            f"they did, with the time limits that they gave, although the maintenance is announced "
            f"{duration(self.plan.notice)} before; jobs that ask for less than what is left until it may run. "
            "Times of day are UTC."
        )

    def payers_of(self, kind: str) -> list[MaintenancePayer]:
        """Return the groups of one kind, those that pay most first."""
        return [one for one in self.payers if one.kind == kind]

    def to_document(self) -> dict[str, Any]:
        """Return the answer as numbers and texts, for JSON."""
        return {
            "site": self.site,
            "calibration": self.standing.to_document(),
            "answer": self.sentences(),
            "maintenance": asdict(self.plan) | {"nodes": list(self.nodes), "cores": self.cores, "closed": self.closed},
            "jobs": self.sample.text,
            "begins": [one.to_document() for one in self.slots],
            "chance_between_weeks": self.chance,
            "payers": [asdict(one) for one in self.payers],
            "omissions": self.omissions.to_document(),
            "failures": [{"begin": one.variant.name, "reason": one.reason} for one in self.failures],
        }

    def __str__(self) -> str:
        shown = self.slots if len(self.slots) <= BEST + WORST else (*self.slots[:BEST], *self.slots[-WORST:])
        left = len(self.slots) - len(shown)
        note = [f"{left:,} begins between the best {BEST} and the worst {WORST} are not shown."] if left else []
        return "\n".join([*self.sentences(), "", table(HEAD, map(row_of, shown)), *note])

    def __repr__(self) -> str:
        return f"Maintenance({self.site}: {self.best.name} of {count_of(len(self.slots), 'begin')})"


HEAD = (
    "begin",
    "core-hours idle before",
    "fewest - most",
    "put off meanwhile",
    "jobs later",
    "by, mean",
    "hours in all",
    "mean wait",
    "p95 wait",
)


def row_of(slot: MaintenanceSlot) -> list[str]:
    """Return an hour of the week as a row of the table with `HEAD`."""
    numbers = [f"{slot.drained:,.0f}", " - ".join(f"{value:,.0f}" for value in slot.range)]
    numbers += [f"{slot.mean('put_off'):,.0f}", f"{slot.mean('moved'):,.0f}", duration(slot.delay)]
    numbers += [f"{slot.mean('moved_hours'):,.0f}", signed(slot.mean("mean_wait")), signed(slot.mean("p95_wait"))]
    return [slot.name, *numbers]


def _hours(core_hours: float) -> str:
    return f"{core_hours:,.0f} core-hours"


def variant_of(plan: MaintenancePlan, begin: PossibleBegin, nodes: tuple[str, ...]) -> Variant:
    """Return the site with a maintenance that begins at a second."""
    return Variant(begin.name, node_events=plan.events(begin.second, nodes))


def maintenance(
    sweep: Sweep,
    plan: MaintenancePlan,
    *,
    workers: int | None = None,
    progress: Callable[[int, int, int], None] | None = None,
) -> Maintenance:
    """Simulate a maintenance with every possible begin, and return what each costs.

    Parameters
    ----------
    sweep
        Of the site, on nodes; it keeps the simulations.
    plan
        The maintenance, and where it could begin.
    workers, progress
        As for `Sweep.run`.

    Returns
    -------
    Maintenance
        The begins, those of one hour of the week together. Jobs are replayed from a week before the first announcement.

    Raises
    ------
    InputError
        If the sweep is without nodes, the site lacks one that is to be closed, the log is too short, or no begin could
        be simulated.
    """
    if not sweep.nodes:
        raise InputError("a maintenance closes nodes: ask for it without --processors-only (nodes=True)")
    nodes = plan.nodes_of(sweep.site)
    begins = possible_begins(plan, sweep.jobs)
    sample = _sample(sweep, min(one.second for one in begins) - plan.notice - LEAD)
    variants = {one: variant_of(plan, one, nodes) for one in begins}
    sweep.run(variants.values(), [sample], workers=workers, progress=progress)
    costs: dict[str, list[MaintenanceCost]] = {}
    for begin, variant in variants.items():
        if (pair := sweep.pair(variant, sample)) is not None:
            costs.setdefault(begin.slot, []).append(cost_of(begin, pair, plan.notice, plan.seconds))
    failures = tuple(one for key, one in sweep.failures.items() if key[0] in variants.values())
    if not costs:
        raise InputError(f"no begin of the maintenance could be simulated: {failures[0].reason}")
    slots = [MaintenanceSlot(name, tuple(found)) for name, found in costs.items()]
    slots.sort(key=lambda one: (one.drained, one.mean("moved_hours")))
    kept = sweep.site.replayable()
    return Maintenance(
        sweep.site.name,
        plan,
        nodes,
        _cores(sweep, nodes),
        sweep.standing,
        omissions_of(sweep.site, kept.notes(), nodes=True),
        sample,
        tuple(slots),
        tuple(payers(_pairs(sweep, [variants[one.begin] for one in slots[0].costs], sample))),
        chance_between_weeks([[cost.drained for cost in one.costs] for one in slots]),
        failures,
    )


def _pairs(sweep: Sweep, variants: Sequence[Variant], sample: SiteSample) -> Iterator[Paired]:
    for one in variants:
        if (pair := sweep.pair(one, sample)) is not None:
            yield pair


def _sample(sweep: Sweep, begin: int) -> SiteSample:
    """Return the jobs from a second on."""
    submit = sweep.jobs.submit_time
    first, length = int(submit.min()), int(np.ptp(submit))
    return SiteSample(max(0.0, (begin - first) / length))


def _cores(sweep: Sweep, nodes: Sequence[str]) -> int:
    closed = frozenset(nodes)
    return sum(group.cores * len(closed.intersection(group.names)) for group in sweep.site.cluster.groups)
