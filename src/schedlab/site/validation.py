"""A site's twin held against the real Slurm under the site's own configuration, in skipped time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.site.importing import import_site
from schedlab.slurm.ensemble import EnsembleComparison
from schedlab.slurm.jobs import JobList, from_workload, read_events
from schedlab.slurm.replay import run_phases
from schedlab.slurm.results import SlurmRun
from schedlab.slurm.validation import model_phases, of_rows, rules_run_by
from schedlab.workload.workload import Workload


@dataclass(frozen=True, slots=True)
class SiteValidation:
    """A site on the real Slurm and in the model.

    Parameters
    ----------
    scheduler
        Of the model: what the site's slurm.conf says, as a text.
    comparison
        Of the jobs that all runs on the real Slurm started, and that the model can run.
    runs
        On the real Slurm, with what it rejected.
    left_out
        Jobs that are not compared, in sentences.
    """

    scheduler: str
    comparison: EnsembleComparison
    runs: tuple[SlurmRun, ...]
    left_out: tuple[str, ...]


@explained
def validate(
    conf: str | PathLike[str], jobs: str | PathLike[str], *, phases: int = 5, seed: int = 1, **options: Any
) -> SiteValidation:
    """Run a site's jobs on an unmodified slurmctld with the site's slurm.conf, and on the site's twin, and compare.

    Parameters
    ----------
    conf
        A directory with slurm.conf and what belongs to it.
    jobs
        A log that schedlab reads, such as what sacct printed; or an events file of UB CCR's Slurm simulator.
    phases
        Runs of each.
    seed
        Of the phases.
    **options
        Of `schedlab.slurm.run`: mode, progress, directory, and slurm, whose rules the twin then follows.

    Raises
    ------
    InputError
        If a file cannot be read, there is no such Slurm, fewer than two phases are asked for, or a job is an array.
    """
    if phases < 2:
        raise InputError("one run has no distance to others: give two phases or more")
    site = import_site(conf, jobs, slurm=rules_run_by(options.get("slurm")))
    assert site.jobs is not None
    timeless = site.jobs.replace(start_time=None)  # both clocks then show the same minute
    given = _job_list(jobs, timeless)
    runs = run_phases(given, conf=conf, phases=phases, seed=seed, **options)
    kept = site.replayable()
    rows = common_rows(runs, kept.rows)
    # Jobs that Slurm ends run on beyond their limits there, which the workload does not say.
    same = timeless.replace(run_time=np.array([job.run_time for job in given.jobs]))[rows]
    models = model_phases(same, site.scheduler, phases=phases, seed=seed, cluster=site.cluster)
    started = len(common_rows(runs, np.arange(len(timeless))))
    left_out = [f"{len(timeless) - started} not started in every run"] if started < len(timeless) else []
    if len(rows) < started:
        left_out += kept.notes()
    real = tuple(_of_rows(run, rows) for run in runs)
    return SiteValidation(
        site.scheduler.text, EnsembleComparison(real, {"model": tuple(models)}), tuple(runs), tuple(left_out)
    )


def _job_list(jobs: str | PathLike[str], workload: Workload) -> JobList:
    if fspath(jobs).endswith((".events", ".events.gz")):
        return read_events(jobs)  # with the very options of sbatch
    return from_workload(workload, users=True, resources=True)


def common_rows(runs: Sequence[SlurmRun], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the rows, among some, that every run has started.

    Raises
    ------
    InputError
        If a row is an array of several tasks.
    """
    for run in runs:
        own = run.records["row"].to_numpy()
        if len(np.unique(own)) < len(own):
            raise InputError(f"{run.schedule.workload.name}: an array must be given as its single tasks")
        rows = rows[np.isin(rows, own)]
    return rows


def _of_rows(run: SlurmRun, rows: NDArray[np.intp]) -> Schedule:
    """Return what a run has done with the jobs of some rows."""
    return of_rows(run.schedule, np.flatnonzero(np.isin(run.records["row"].to_numpy(), rows)))
