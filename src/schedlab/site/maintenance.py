"""When to drain for a maintenance: possible begins side by side, and what each costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from schedlab.arguments import explained
from schedlab.durations import WEEK
from schedlab.errors import InputError
from schedlab.site.copies import in_copies
from schedlab.site.effects import Effect, effects
from schedlab.site.maintenance_costs import Chance, MaintenanceCost, MaintenancePayer, chance_between, cost_of, payers
from schedlab.site.maintenance_plan import MaintenancePlan, PossibleBegin, possible_begins
from schedlab.site.omissions import Omissions, omissions_of
from schedlab.site.refusals import Refusals, refusals
from schedlab.site.samples import SiteSample
from schedlab.site.standing import Standing
from schedlab.site.sweep import Sweep, VariantFailure
from schedlab.site.variants import Variant
from schedlab.wording import count_of

LEAD = WEEK
"""Seconds of the log that are replayed before the first announcement, so that the queue is there."""

STRIDE = 4
"""Of the begins, those of every so many are simulated first."""

MEASURES = ("drained", "put_off", "moved", "moved_hours", "earlier", "mean_wait", "p95_wait", "outlasting")


@dataclass(frozen=True, slots=True)
class MaintenanceSlot:
    """A begin of a maintenance, or an hour of the week at which it could begin.

    Parameters
    ----------
    name
        Such as "Tuesday 2026-06-09 06:00", or "Tuesday 06:00" if several weeks were compared.
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


class BeginsLeftOut(NamedTuple):
    """Begins that are not compared.

    Parameters
    ----------
    too_early
        Begins of the window that would have been announced before the log begins.
    interrupted
        Begins that were not simulated as the user interrupted it.
    shortened
        Whether the notice is shorter than a week as the log is short.
    """

    too_early: int = 0
    interrupted: int = 0
    shortened: bool = False


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
    copies
        Copies of these on which begins were simulated; numbers are means over them.
    span, dated
        Seconds between the first and the last submission of the log, and whether it has dates.
    whole
        Whether all nodes are closed.
    longest
        Seconds of the longest time limit of its jobs: announced so long before, no job still runs at the begin.
    slots
        The begins, by hour of the week or by date, those with the fewest core-hours that idle before them first.
    payers
        Groups of jobs that the best of them moves, those that pay most first.
    chance
        Differences of core-hours that are chance.
    left_out
        Begins that are not compared.
    failures
        Begins that could not be simulated.
    effects
        Of the first of the best begins on groups of jobs, as a what-if has them.
    refusals
        The submissions that sbatch would refuse with it; None: nothing is known of that.
    """

    site: str
    plan: MaintenancePlan
    nodes: tuple[str, ...]
    cores: int
    standing: Standing
    omissions: Omissions
    sample: SiteSample
    copies: int
    span: int
    dated: bool
    whole: bool
    longest: int
    slots: tuple[MaintenanceSlot, ...]
    payers: tuple[MaintenancePayer, ...]
    chance: Chance
    left_out: BeginsLeftOut
    failures: tuple[VariantFailure, ...] = ()
    effects: tuple[Effect, ...] = ()
    refusals: Refusals | None = None

    @property
    def best(self) -> MaintenanceSlot:
        """The begin with the fewest core-hours that idle before it."""
        return self.slots[0]

    @property
    def still_running(self) -> int:
        """Jobs that still run at the best begin, on any nodes: the most of its weeks."""
        return round(max(one.outlasting for one in self.best.costs))

    @property
    def tells_days(self) -> bool:
        """Whether the log has each day of the week, so that it can tell for which to drain."""
        return self.span >= WEEK

    @property
    def closed(self) -> float:
        """Core-hours of the maintenance itself."""
        return self.cores * self.plan.seconds / 3600

    def variant(self, cost: MaintenanceCost) -> Variant:
        """Return the variant of the site that has a maintenance with one of the begins."""
        return variant_of(self.plan, cost.begin, self.nodes)

    def sentences(self) -> list[str]:
        """Return the answer in plain sentences; the first one has all that a reader needs who reads no further."""
        from schedlab.site.maintenance_text import sentences_of

        return sentences_of(self)

    def payers_of(self, kind: str) -> list[MaintenancePayer]:
        """Return the groups of one kind, those that pay most first."""
        return [one for one in self.payers if one.kind == kind]

    def to_document(self) -> dict[str, Any]:
        """Return the answer as numbers and texts, for JSON."""
        return {
            "site": self.site,
            "calibration": self.standing.to_document(),
            "sentences": self.sentences(),
            "maintenance": asdict(self.plan) | {"nodes": list(self.nodes), "cores": self.cores, "closed": self.closed},
            "jobs": self.sample.text,
            "copies": self.copies,
            "begins": [one.to_document() for one in self.slots],
            "chance_between_weeks": self.chance.weeks,
            "chance_between_copies": self.chance.copies,
            "left_out": self.left_out._asdict(),
            "payers": [asdict(one) for one in self.payers],
            "effects": [one.to_document() for one in self.effects],
            "refused": None if self.refusals is None else asdict(self.refusals),
            "omissions": self.omissions.to_document(),
            "failures": [{"begin": one.variant.name, "reason": one.reason} for one in self.failures],
        }

    def __str__(self) -> str:
        from schedlab.site.maintenance_text import maintenance_text

        return maintenance_text(self)

    def __repr__(self) -> str:
        return f"Maintenance({self.site}: {self.best.name} of {count_of(len(self.slots), 'begin')})"


def variant_of(plan: MaintenancePlan, begin: PossibleBegin, nodes: tuple[str, ...]) -> Variant:
    """Return the site with a maintenance that begins at a second."""
    return Variant(begin.name, node_events=plan.events(begin.second, nodes))


@explained
def maintenance(
    sweep: Sweep,
    plan: MaintenancePlan,
    *,
    copies: int | None = None,
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
    copies
        Of the jobs, some seconds earlier or later, on which each begin is simulated; as for `what_if`.
    workers, progress
        As for `Sweep.run`.

    Returns
    -------
    Maintenance
        The begins, those of one hour of the week together. Jobs are replayed from a week before the first announcement.
        If the user interrupts it, the begins that have been simulated until then.

    Raises
    ------
    InputError
        If the sweep is without nodes, the site lacks one that is to be closed, the log is too short, or no begin could
        be simulated.
    """
    if not sweep.nodes:
        raise InputError("a maintenance closes nodes: ask for it without --processors-only (nodes=True)")
    nodes = plan.nodes_of(sweep.site)
    begins, too_early = possible_begins(plan, sweep.jobs)
    announced = plan.announced(sweep.jobs)
    variants = {one: variant_of(announced, one, nodes) for one in begins}
    samples = samples_of(sweep, plan, begins, copies)
    sweep.run([], samples, workers=workers, progress=progress)  # first, as no begin can be compared without it
    with suppress(KeyboardInterrupt):
        sweep.run(_spread(list(variants.values())), samples, workers=workers, progress=progress)
    costs = {}
    for begin, variant in variants.items():
        if pairs := sweep.pairs(variant, samples):
            costs[begin] = cost_of(begin, pairs, announced.told, announced.seconds)
    failed = {key[0]: one for key, one in sweep.failures.items() if key[0] in variants.values()}
    failures = tuple(failed.values())
    if failures and not costs:
        raise InputError(f"no begin of the maintenance could be simulated: {failures[0].reason}")
    if not costs:
        raise KeyboardInterrupt
    slots = _slots(costs)
    moving = [pair for one in slots[0].costs for pair in sweep.pairs(variants[one.begin], samples)]
    first = sweep.pairs(variants[slots[0].costs[0].begin], samples)
    return Maintenance(
        sweep.site.name,
        announced,
        nodes,
        _cores(sweep, nodes),
        sweep.standing,
        omissions_of(sweep.site, sweep.site.replayable().notes(), nodes=True),
        samples[0].original,
        len(samples),
        int(np.ptp(sweep.jobs.submit_time)),
        sweep.jobs.start_time is not None,
        len(nodes) == len(sweep.site.cluster.nodes),
        int(sweep.jobs.requested_time.max()),
        slots,
        tuple(payers(moving, len(samples))),
        _chance(slots),
        BeginsLeftOut(
            too_early, len(begins) - len(costs) - len(failures), plan.notice is None and announced.told < WEEK
        ),
        failures,
        tuple(effects(first)),
        refusals(first),
    )


def _spread(variants: list[Variant]) -> list[Variant]:
    """Return begins in an order in which the first few are from all of the window, for who does not wait for all."""
    return [one for first in range(STRIDE) for one in variants[first::STRIDE]]


def _slots(costs: Mapping[PossibleBegin, MaintenanceCost]) -> tuple[MaintenanceSlot, ...]:
    """Return begins of one hour of the week together or, if there is only one of each, each by its date."""
    of_week: dict[str, list[MaintenanceCost]] = {}
    for begin, cost in costs.items():
        of_week.setdefault(begin.slot, []).append(cost)
    if len(of_week) == len(costs):
        found = [MaintenanceSlot(begin.name, (cost,)) for begin, cost in costs.items()]
    else:
        found = [MaintenanceSlot(name, tuple(mine)) for name, mine in of_week.items()]
    return tuple(sorted(found, key=lambda one: (one.drained, one.mean("moved_hours"))))


def _chance(slots: Sequence[MaintenanceSlot]) -> Chance:
    """Return which differences between begins are chance: as weeks differ, and as copies of the same weeks do."""
    return Chance(
        chance_between([[cost.drained for cost in one.costs] for one in slots]),
        chance_between([np.mean([cost.in_copies for cost in one.costs], axis=0).tolist() for one in slots]),
    )


def samples_of(
    sweep: Sweep, plan: MaintenancePlan, begins: Sequence[PossibleBegin], copies: int | None
) -> list[SiteSample]:
    """Return the copies of the jobs on which each begin is simulated: from a week before the first announcement on."""
    begin = min(one.second for one in begins) - plan.announced(sweep.jobs).told - LEAD
    submit = sweep.jobs.submit_time
    first, length = int(submit.min()), int(np.ptp(submit))
    return in_copies(sweep, [SiteSample(max(0.0, (begin - first) / length))], copies, len(begins))


def _cores(sweep: Sweep, nodes: Sequence[str]) -> int:
    closed = frozenset(nodes)
    return sum(group.cores * len(closed.intersection(group.names)) for group in sweep.site.cluster.groups)
