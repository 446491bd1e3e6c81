"""Hold schedlab's model of Slurm against the real one: the same jobs and configuration, several phases of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.scheduler import Scheduler, as_scheduler
from schedlab.slurm.ensemble import EnsembleComparison
from schedlab.slurm.jobs import fractions, minutes
from schedlab.slurm.replay import run_phases
from schedlab.slurm.translation import node_size
from schedlab.workload.workload import Workload


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
        Of `schedlab.slurm.run`: processors, mode, progress, directory.

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
    chosen = as_scheduler(scheduler)
    timeless = jobs.replace(start_time=None)  # both clocks then show the same minute
    runs = run_phases(timeless, chosen, phases=phases, seed=seed, cores_per_node=cores_per_node, **options)
    cores = node_size(timeless, chosen, options.get("processors"), cores_per_node)
    models = model_phases(timeless, chosen, phases=phases, seed=seed, cores_per_node=cores)
    return EnsembleComparison(tuple(run.schedule for run in runs), {"model": tuple(models)})


def model_phases(
    jobs: Workload,
    scheduler: str | Scheduler,
    *,
    phases: int,
    seed: int = 1,
    cores_per_node: int = 1,
    cluster: Cluster | None = None,
) -> list[Schedule]:
    """Return simulations of jobs that come at another fraction of a second each time.

    slurmctld looks for work once a second. So a submission within a second is seen in the same one or in the next,
    whether its fraction lies before that of the loop or behind it. Jobs that come in one second keep their order.

    Parameters
    ----------
    jobs
        Their requests are rounded up to whole minutes, as Slurm does.
    scheduler
        With Slurm's passes.
    phases, seed
        How many, and the seed of the fractions.
    cores_per_node
        Where jobs share nodes of several cores, reservations hold whole ones.
    cluster
        The machine, if it is one of nodes.

    Returns
    -------
    list of Schedule
        With the times of submission as they were.
    """
    chosen = as_scheduler(scheduler)
    passes = chosen.backfill
    if cluster is None and isinstance(passes, Slurm) and not passes.node and cores_per_node > 1:
        chosen = Scheduler(chosen.policy, replace(passes, shared=cores_per_node), runtimes=chosen.runtimes)
    rng = np.random.default_rng(seed)
    requests = np.array([60 * minutes(seconds) for seconds in jobs.requested_time.tolist()], dtype=np.int64)
    rounded = jobs.replace(requested_time=requests)
    found = []
    for _ in range(phases):
        late = fractions(jobs.submit_time, rng) > rng.uniform()
        seen = simulate(rounded.replace(submit_time=jobs.submit_time + late), chosen, cluster=cluster)
        found.append(replace(seen, workload=rounded))
    return found
