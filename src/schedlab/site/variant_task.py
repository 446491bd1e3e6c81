"""What a variant of a site simulates: a changed site, its scheduler, and jobs as they are submitted there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.energy.accounting import account
from schedlab.energy.capping import capped
from schedlab.energy.power import Power
from schedlab.energy.series import as_series
from schedlab.energy.switching_off import boots_of
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.timeline import Steps
from schedlab.scheduler.backfilling import NoBackfill, Slurm
from schedlab.scheduler.grammar import ORDERS
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.predictor import REQUESTED
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.slurm_rules import under_version
from schedlab.site.changes import changed
from schedlab.site.energy_beside import IDLE_POWER
from schedlab.site.jobs import left_out_texts, replay
from schedlab.site.no_effect import without_effect
from schedlab.site.nodes_off import boot_notes
from schedlab.site.other_events import outside, with_events
from schedlab.site.own_priority import own_priority
from schedlab.site.pieces import Pieces, folded
from schedlab.site.policy_text import beside_or_instead
from schedlab.site.site import Site
from schedlab.site.time_limits import UNTOUCHED, Adapted, Machine, adapted
from schedlab.site.variants import GIVEN, Cap, Variant, compared_with
from schedlab.workload.checkpoint_rules import with_checkpoints
from schedlab.workload.checkpoints import write_checkpoints
from schedlab.workload.sampling import scale_load
from schedlab.workload.workload import Workload

OF_QUEUES = ("mean_queue_length", "max_queue_length")
"""Metrics that are of the pieces of jobs, as they queue one after the other."""


@dataclass(frozen=True, slots=True)
class VariantTask:
    """What a variant of a site simulates.

    Parameters
    ----------
    site
        As changed.
    scheduler
        Of the variant.
    adapted
        Its jobs, and what becomes of the others.
    pieces
        These jobs as they are submitted.
    notes
        What was left out, or has no effect, in sentences.
    power
        What its nodes draw; None: not known.
    cap
        Watts above which no job starts, or "given", those of the power model; 0: no cap.
    """

    site: Site
    scheduler: Scheduler
    adapted: Adapted
    pieces: Pieces
    notes: tuple[str, ...] = ()
    power: Power | None = None
    cap: Cap = 0.0

    @property
    def rows(self) -> NDArray[np.int64]:
        """The rows of the jobs among all."""
        return self.adapted.rows

    def simulate(self, *, nodes: bool = True) -> tuple[Schedule, dict[str, float], Steps | None]:
        """Return the schedule of the jobs, one row for each, its metrics, and watts over time if a model says them."""
        jobs, cluster = self._under_cap(nodes=nodes)
        if cluster.power_saving is not None and not nodes:
            raise InputError("nodes that are switched off need nodes: leave out --processors-only")
        found = replay(jobs, self.scheduler, cluster, nodes=nodes, node_events=self.site.node_events)
        metrics, watts = found.metrics() | boots_of(found), None
        if self.power is not None:
            energy = account(found, self.power, cluster=self.site.cluster if nodes else None)
            metrics, watts = metrics | energy.metrics() | {IDLE_POWER: energy.idle / 1_000}, energy.power
        if len(self.pieces.of) == len(self.adapted.jobs):
            return found, metrics, watts
        whole = folded(found, self.adapted.jobs, self.pieces.of)
        of_jobs = whole.metrics()
        metrics = {name: value if name in OF_QUEUES else of_jobs[name] for name, value in metrics.items()}
        return whole, metrics, watts

    def checked_for_slurm(self) -> VariantTask:
        """Return it unless only the twin has what it changes, and no laboratory of the real Slurm.

        Raises
        ------
        InputError
            If it switches nodes off, has a cap of power, or jobs that write checkpoints.
        """
        there = {
            "switches no node off": self.site.cluster.power_saving is not None,
            "has no jobs that write checkpoints": write_checkpoints(self.adapted.jobs),
            "knows no cap of power": bool(self.cap),
        }
        for what in (what for what, asked in there.items() if asked):
            raise InputError(f"the laboratory of the real Slurm {what}")
        return self

    def _under_cap(self, *, nodes: bool) -> tuple[Workload, Cluster]:
        """Return jobs and machine; under a cap, jobs hold what they draw."""
        if not self.cap:
            return self.pieces.jobs, self.site.cluster
        check_cap(self.cap, self.power, nodes=nodes)
        assert self.power is not None
        return capped(self.pieces.jobs, with_cap(self.power, self.cap), cluster=self.site.cluster)


def with_cap(power: Power, cap: Cap) -> Power:
    """Return a power model under the cap of a variant; 0: under its own, if it has any."""
    return replace(power, cap=as_series(cap, "cap")) if cap and cap != GIVEN else power


def check_cap(cap: Cap, power: Power | None, *, nodes: bool) -> None:
    """Refuse a cap of power without a power model that has it, or without nodes; 0: there is none.

    Raises
    ------
    InputError
        With what it needs.
    """
    if cap and (power is None or not nodes):
        what = "a power model (--power FILE)" if power is None else "nodes: leave out --processors-only"
        raise InputError(f"a cap of {cap:g} W needs {what}" if cap != GIVEN else f"cap={GIVEN} needs {what}")
    if cap == GIVEN and power is not None and power.cap is None:
        raise InputError(f"cap={GIVEN}: the power model has no cap; write one into the power file, or name watts")


def site_of_variant(site: Site, variant: Variant) -> Site:
    """Return a site as a variant changes its configuration, without other node events."""
    if not variant.changes and not variant.nodes_off:
        return site
    return changed(site, variant.changes, nodes_off=variant.nodes_off)


def variant_task(site: Site, jobs: Workload, variant: Variant, power: Power | None = None) -> VariantTask:
    """Return what a variant of a site simulates, of jobs that can run at the site as it is, on nodes of a power model.

    Raises
    ------
    InputError
        If a change cannot be made, or none of the jobs can run.
    """
    alone = site_of_variant(site, variant)
    base = site_of_variant(site, compared_with(variant))
    other = with_events(alone, variant)
    if other.cluster.power_saving is not None and other.node_events is not None:
        raise InputError(
            "nodes that are switched off do not go with node events: leave out those of the site, on both sides, with "
            "--own-node-events drop"
        )
    scheduler = under_version(other.scheduler, variant.slurm, variant.rules)
    if variant.policy:
        scheduler = under_version(under_policy(other, variant), variant.slurm, variant.rules)
    here = Machine(site.cluster, site.scheduler, site.node_events)
    there = Machine(other.cluster, scheduler, other.node_events)
    found = adapted(jobs, here, there, variant.requests, variant.long)
    notes = [*left_out_texts(found.left_out), *outside(variant, jobs)]
    notes += [*policy_notes(other, variant, scheduler), *boot_notes(other)]
    if variant.checkpoints:
        found = found._replace(jobs=with_checkpoints(found.jobs, variant.checkpoints))
    if variant.load != 1:
        found = found._replace(jobs=scale_load(found.jobs, factor=variant.load))
    made = _task(other, scheduler, found, (*without_effect(base, alone, variant.changes), *notes))
    return replace(made, power=power, cap=variant.cap)


def same_work_task(site: Site, jobs: Workload, variant: Variant, task: VariantTask) -> VariantTask:
    """Return what the site as it is simulates for a fair comparison: the jobs of a variant, and the work done there.

    With another load than 1, they come as much faster as in the variant. `task` is that of the variant.
    """
    as_it_is, other = compared_with(variant), task.adapted
    load = as_it_is.load
    rows = other.rows
    none = np.zeros(len(rows), dtype=np.int64)
    same = other.same_work(jobs)
    own = Adapted(
        same if load == 1 else scale_load(same, factor=load),
        rows,
        none,
        np.full(len(jobs), UNTOUCHED, np.int8),
        none,
        {},
    )
    base = with_events(site_of_variant(site, as_it_is), as_it_is)
    return replace(_task(base, base.scheduler, own, ()), power=task.power)


def _task(site: Site, scheduler: Scheduler, found: Adapted, notes: tuple[str, ...]) -> VariantTask:
    pieces = found.pieces()
    if pieces.jobs.dependencies is not None and isinstance(scheduler.backfill, Slurm):
        # Jobs that wait for others are not planned: Slurm does not do so, and jobs of think times are not there yet.
        passes = replace(scheduler.backfill, wf_plan="ready")
        scheduler = replace(scheduler, backfill=passes)
    return VariantTask(site, scheduler, found, pieces, notes)


def under_policy(site: Site, variant: Variant) -> Scheduler:
    """Return the scheduler of a site under a policy: as one factor of its own priorities, or in their place.

    Raises
    ------
    InputError
        If it is to be a factor, and its scores are not fixed as a job is submitted.
    """
    own, text = site.scheduler.policy, variant.policy
    if variant.points == 0 or not isinstance(own, Multifactor) or is_whole(text):
        return with_policy(site.scheduler, text)
    if not is_fixed(text):
        if variant.points:
            raise InputError(
                f"policy={text} as one factor of {variant.points:,} points: its scores change while jobs wait, or "
                "depend on runs that have ended, which is simulated only in place of the own priorities (0 points)"
            )
        return with_policy(site.scheduler, text)
    points = variant.points or own_priority(site).suggested_weight
    factor = replace(own, site=float(points), order=Scheduler.parse(text).policy.text.strip('"'))
    return replace(site.scheduler, policy=factor)


def policy_notes(site: Site, variant: Variant, scheduler: Scheduler) -> list[str]:
    """Say whether the policy of a variant, with its scheduler, counts beside what its site has, or instead of it."""
    if not variant.policy:
        return []
    as_factor = is_whole(variant.policy) or is_fixed(variant.policy)
    told = beside_or_instead(variant, site.scheduler, scheduler, as_factor=as_factor)
    return [told] if told else []


def is_fixed(text: str) -> bool:
    """Return whether the scores of a policy are fixed as a job is submitted.

    Examples
    --------
    >>> is_fixed("saf"), is_fixed("wfp3"), is_fixed("eaf")
    (True, False, False)
    """
    scheduler = Scheduler.parse(text)
    program = scheduler.policy.program
    moves = scheduler.policy.changes_with_time or scheduler.ranking != REQUESTED
    return program is not None and not program.uses_statistics and not moves


def with_policy(scheduler: Scheduler, text: str) -> Scheduler:
    """Return a scheduler with the order of the queue that a text names, or the whole scheduler that it is.

    The names are those of `schedlab.slurm.deploy`: `eaf` orders the queue, and everything else stays.

    Examples
    --------
    >>> print(with_policy(Scheduler.parse("multifactor(age=5)+slurm(interval=60)"), "saf"))
    saf+slurm(interval=60)
    >>> print(with_policy(Scheduler.parse("fcfs+slurm,placement=switches"), "eaf"))
    saf@groups+slurm@requested,placement=switches
    >>> print(with_policy(Scheduler.parse("fcfs+slurm"), '"log(p*q)+r/43200"'))
    "log(p*q)+r/43200"+slurm
    >>> print(with_policy(Scheduler.parse("fcfs+slurm"), "saf+easy"))
    saf+easy
    """
    other = Scheduler.parse(text)
    if is_whole(text):
        return other
    ranking = None if other.ranking == REQUESTED else other.ranking
    return replace(scheduler, policy=other.policy, order_runtimes=ranking)


def is_whole(text: str) -> bool:
    """Return whether a text is a whole scheduler, not the order of a queue.

    Examples
    --------
    >>> is_whole("saf+easy"), is_whole('"log(p*q)+r/43200"'), is_whole("eaf")
    (True, False, False)
    """
    return text.strip().lower() not in ORDERS and not isinstance(Scheduler.parse(text).backfill, NoBackfill)
