"""Hold schedlab's model of Slurm against the real one: the same jobs and configuration, several phases of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.cluster.slurm_releases import SlurmRelease
from schedlab.engine.parts.heterogeneous.numbers import owners_of
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.measures import DAY
from schedlab.schedule.schedule import COLUMNS, Schedule
from schedlab.scheduler.backfilling import TICK, Slurm
from schedlab.scheduler.scheduler import Scheduler, as_scheduler
from schedlab.scheduler.slurm_rules import under_version, version_of
from schedlab.slurm.ensemble import EnsembleComparison
from schedlab.slurm.installation import find_slurm
from schedlab.slurm.jobs import fractions, minutes
from schedlab.slurm.releases import name_of
from schedlab.slurm.replay import run_phases
from schedlab.slurm.translation import node_size
from schedlab.workload.joining import joined
from schedlab.workload.resources import Labels
from schedlab.workload.workload import Workload

LOOK = 30
"""Seconds between slurmctld's looks at time limits: it ends a job at the first one after its limit."""

CLOCK = 300
"""Seconds between computations of priorities (PriorityCalcPeriod)."""


@explained
def validate(
    jobs: Workload,
    scheduler: str | Scheduler = "fcfs+slurm",
    *,
    phases: int = 5,
    seed: int = 1,
    cores_per_node: int | None = None,
    **options: Any,
) -> EnsembleComparison:
    """Run jobs on the real Slurm and on the model of it, and compare.

    Parameters
    ----------
    jobs
        With run times, requests and processors.
    scheduler
        As for `schedlab.slurm.run`.
    phases
        Runs of each.
    seed
        Of the phases.
    cores_per_node
        As for `schedlab.slurm.run`.
    **options
        Of `schedlab.slurm.run`: processors, mode, progress, directory, and slurm, whose rules the model then follows.

    Returns
    -------
    EnsembleComparison
        The runs on the real Slurm, and the group `model`.

    Raises
    ------
    InputError
        As `schedlab.slurm.run` does; also if there are fewer than two phases.
    """
    if phases < 2:
        raise InputError("one run has no distance to others: give two phases or more")
    chosen = by_rules_of(options.get("slurm"), as_scheduler(scheduler))
    timeless = jobs.replace(start_time=None)  # both clocks then show the same minute
    runs = run_phases(timeless, chosen, phases=phases, seed=seed, cores_per_node=cores_per_node, **options)
    cores = node_size(timeless, chosen, options.get("processors"), cores_per_node)
    models = model_phases(timeless, chosen, phases=phases, seed=seed, cores_per_node=cores)
    return EnsembleComparison(tuple(run.schedule for run in runs), {"model": tuple(models)})


def by_rules_of(slurm: str | None, scheduler: Scheduler) -> Scheduler:
    """Return a scheduler by the rules of the Slurm that is to run it, for `slurm` see `schedlab.slurm.run`.

    Raises
    ------
    InputError
        If it is not here.
    """
    passes = scheduler.backfill
    if not isinstance(passes, Slurm) or (slurm is None and passes.version):
        return scheduler
    return under_version(scheduler, rules_run_by(slurm))


def rules_run_by(slurm: str | None) -> str:
    """Return the version whose rules the Slurm follows that would run; errors as for `find_slurm`."""
    return version_of(SlurmRelease.given(name_of(find_slurm(slurm).version)))


@explained
def model_phases(
    jobs: Workload,
    scheduler: str | Scheduler,
    *,
    phases: int,
    seed: int = 1,
    cores_per_node: int = 1,
    cluster: Cluster | None = None,
    node_events: NodeEvents | None = None,
) -> list[Schedule]:
    """Return simulations of jobs that meet slurmctld's loops at other points each time.

    slurmctld looks for work once a second. So a submission within a second is seen in the same one or in the next,
    whether its fraction lies before that of the loop or behind it. Jobs that come in one second keep their order. When
    the first one comes, any part of the interval between two backfill passes may be over, and any second of that
    between two computations of priorities, and so of the full minutes of its main pass. Ends are noticed a second
    later. Jobs that run into their limits end at slurmctld's next look at these, up to half a minute later.

    Parameters
    ----------
    jobs
        Their requests are rounded up to whole minutes, as Slurm does.
    scheduler
        With Slurm's passes.
    phases, seed
        How many, and the seed of the fractions and of the loops.
    cores_per_node
        Where jobs share nodes of several cores, reservations hold whole ones.
    cluster
        The machine, if it is one of nodes.
    node_events
        What happens to its nodes, in the seconds of the jobs.

    Returns
    -------
    list of Schedule
        With the times of submission as they were.
    """
    chosen = as_scheduler(scheduler)
    passes = chosen.backfill
    if cluster is None and isinstance(passes, Slurm) and not passes.node and cores_per_node > 1:
        chosen = replace(chosen, backfill=replace(passes, shared=cores_per_node))
    rng, loops = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    requests = np.array([60 * minutes(seconds) for seconds in jobs.requested_time.tolist()], dtype=np.int64)
    rounded = jobs.replace(requested_time=requests)
    owner = owners_of(jobs)
    first = slice(None) if owner is None else owner  # components come together
    found = []
    for _ in range(phases):
        late = (fractions(jobs.submit_time, rng) > rng.uniform())[first]
        seen = rounded.replace(submit_time=jobs.submit_time + late)
        found.append(replace(_in_phase(seen, chosen, cluster, loops, node_events), workload=rounded))
    return found


def _in_phase(
    jobs: Workload,
    scheduler: Scheduler,
    cluster: Cluster | None,
    loops: np.random.Generator,
    node_events: NodeEvents | None,
) -> Schedule:
    """Return a simulation in which Slurm's loops are at some point when the first job comes."""
    passes = scheduler.backfill
    if not isinstance(passes, Slurm):
        return simulate(jobs, scheduler, cluster=cluster, node_events=node_events)
    killed = jobs.run_time > jobs.requested_time + passes.overtime
    if jobs.requests_enforced and killed.any():
        ends = jobs.requested_time + passes.overtime + loops.integers(0, LOOK, len(jobs))
        jobs = jobs.replace(run_time=np.where(killed, ends, jobs.run_time))
        passes = replace(passes, overtime=passes.overtime + LOOK)
    over = int(passes.interval * loops.uniform())
    shift = -(-over // 60) * 60 + int(loops.integers(CLOCK))
    # Slurm's loops begin at any second, but what it rounds is the time of day.
    origin = (passes.origin + shift - (jobs.start_time or 0)) % DAY
    scheduler = replace(scheduler, backfill=replace(passes, tick=TICK, origin=origin))
    # As in the laboratory, Slurm has noticed a change before: a job of no length.
    first = jobs[[int(np.argmin(jobs.submit_time))]]
    first = first.replace(run_time=np.zeros(1, dtype=np.int64), dependencies=None, workflows=None, alternatives=None)
    if first.resources is not None:
        first = first.replace(resources=replace(first.resources, het_job=Labels.of([None])))
    moved = joined(first.replace(submit_time=first.submit_time - over), jobs)
    later = None if node_events is None else node_events.shifted(shift)
    moved_on = moved.replace(submit_time=moved.submit_time + shift)
    seen = simulate(moved_on, scheduler, cluster=cluster, node_events=later)
    back = {name: getattr(seen, name) - shift for name in ("start_time", "end_time")}
    whole = replace(seen, workload=moved, **back)
    if seen.eligible_time is not None:
        whole = replace(whole, eligible_time=seen.eligible_time - shift)
    found = of_rows(whole, np.arange(1, len(moved)))
    return replace(found, killed=found.killed | killed) if jobs.requests_enforced else found


def of_rows(schedule: Schedule, rows: NDArray[np.intp]) -> Schedule:
    """Return what a schedule says of the jobs in some rows, without nodes and single runs."""
    columns = {name: getattr(schedule, name)[rows] for name in COLUMNS}
    if schedule.eligible_time is not None:
        columns["eligible_time"] = schedule.eligible_time[rows]
    workload = schedule.workload[rows]
    return replace(schedule, workload=workload, runs=None, placement=None, waited_for=None, **columns)
