"""What is submitted to a laboratory: jobs as sbatch takes them, and commands at given times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.membership import users_of
from schedlab.engine.parts.heterogeneous.numbers import owners_of, wait_together
from schedlab.errors import InputError
from schedlab.workload.event_lines import EventLine, event_lines, workload_of_events
from schedlab.workload.resources import LABELS, NUMBERS, WHOLE, Resources
from schedlab.workload.sbatch import between_colons
from schedlab.workload.workload import Workload

_OPTIONS = {
    "nodes": "--nodes={}",
    "tasks": "-n {}",
    "tasks_per_node": "--ntasks-per-node={}",
    "cores_per_task": "--cpus-per-task={}",
    "memory_per_node": "--mem={}M",
    "memory_per_core": "--mem-per-cpu={}M",
    "gpus": "--gpus={}",
    "gpus_per_node": "--gpus-per-node={}",
    "gpus_per_task": "--gpus-per-task={}",
    "constraint": "--constraint={}",
    "partition": "--partition={}",
    "account": "--account={}",
    "qos": "--qos={}",
    "licenses": "--licenses={}",
    "exclude": "--exclude={}",
    "nodelist": "--nodelist={}",
    "switches": "--switches={}",
}
"""What says to sbatch what a job asks for, by the column of its resources."""


@dataclass(frozen=True, slots=True)
class BatchJob:
    """A batch job.

    Parameters
    ----------
    submit
        Second on the workload's clock.
    run_time
        Seconds that it runs unless it is ended before; each run takes that long if it is requeued.
    options
        Options of sbatch, such as `("-n", "4", "-t", "10")`. `%after(3,5)` stands for the Slurm job numbers of the
        jobs at these positions, joined by colons.
    user
        Whose job it is; None: the user of the laboratory.
    name
        In messages.
    joins
        The position of the first component of its heterogeneous job, with which it is submitted, and ends; None: it is
        submitted by itself.
    """

    submit: float
    run_time: int
    options: tuple[str, ...]
    user: str | None = None
    name: str = "job"
    joins: int | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A command of Slurm at a moment: `Command(3600, ("scontrol", "update", "nodename=n1", "state=drain",
    "reason=x"))`.

    `%job(3)` stands for the Slurm job number of the job at position 3.
    """

    second: int
    words: tuple[str, ...]


@explained
@dataclass(frozen=True, slots=True)
class JobList:
    """All that happens to a laboratory from outside, and the workload that it comes from.

    Parameters
    ----------
    jobs
        In the order of the workload.
    workload
        The same jobs as schedlab knows them.
    commands
        What else is done, at what time.
    """

    jobs: tuple[BatchJob, ...]
    workload: Workload
    commands: tuple[Command, ...] = ()
    users: tuple[str, ...] = field(default=())

    @property
    def origin(self) -> int:
        """The full minute at least a minute before the first submission: rounding to minutes stays what it is."""
        return (int(min((job.submit for job in self.jobs), default=0)) // 60 - 1) * 60

    def with_commands(self, commands: Sequence[Command]) -> JobList:
        """Return the same jobs with further commands."""
        return replace(self, commands=(*self.commands, *commands))


def minutes(seconds: float) -> int:
    """Return a request in whole minutes, which is how Slurm counts limits; rounded up, at least one."""
    return max(1, -(-int(np.ceil(seconds)) // 60))


def fractions(submit: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return at which fraction of its second each job comes: drawn, but jobs of one second keep their order.

    Parameters
    ----------
    submit
        Seconds, one per job.
    rng
        Draws the fractions.

    Examples
    --------
    >>> drawn = fractions(np.array([5, 5, 5, 9]), np.random.default_rng(1))
    >>> bool(drawn[0] <= drawn[1] <= drawn[2])
    True
    """
    drawn = rng.uniform(0, 1, len(submit)).round(3)
    found = np.empty(len(submit))
    found[np.argsort(submit, kind="stable")] = drawn[np.lexsort((drawn, submit))]
    return found


@explained
def from_workload(
    workload: Workload,
    *,
    users: bool = False,
    resources: bool = False,
    options: Sequence[Sequence[str]] | None = None,
) -> JobList:
    """Return the jobs of a workload, each with its processors and its request in whole minutes.

    Parameters
    ----------
    workload
        Sorted by submission or not; jobs keep their rows. Dependencies become `--dependency=afterany`. The components
        of a heterogeneous job are submitted together, and run as long as the first. Jobs are cancelled when their
        patience is over, if they still wait then.
    users
        Whether jobs belong to users: those that the header names, else `u<number>`, after SWF's user field.
    resources
        Whether jobs ask for what `workload.resources` says: nodes, memory, GPUs, constraint, partition, account, QOS.
    options
        Further options of sbatch for each job.

    Raises
    ------
    InputError
        If a job has no run time, request or processors, its dependency has a delay, or it shares a GPU.
    """
    jobs = []
    owner = owners_of(workload)
    after = wait_together(workload)
    asked = _asked(workload, workload.resources) if resources and workload.resources is not None else None
    names = users_of(workload).texts() if users else []
    for row, processors in enumerate(workload.job_processors.tolist()):
        run_time, request = int(workload.run_time[row]), int(workload.requested_time[row])
        if run_time < 0 or processors < 1 or request < 0:
            lacks = "run time" if run_time < 0 else "number of processors" if processors < 1 else "requested time"
            raise InputError(f"{workload.name}: job {workload.job_id[row]} has no {lacks}, which Slurm needs", row=row)
        size = ["-n", str(processors)] if asked is None else asked[row]
        words = [*size, "-t", str(minutes(request)), *_after(after, row, owner)]
        if options is not None:
            words += options[row]
        user = _user(names[row]) if users else None
        submit = int(workload.submit_time[row])
        first = row if owner is None else int(owner[row])
        joins = None if first == row else first
        jobs.append(BatchJob(submit, run_time, tuple(words), user, f"{workload.job_id[row]}", joins))
    known = tuple(sorted({job.user for job in jobs if job.user is not None}))
    return JobList(tuple(jobs), workload, _cancellations(workload, owner), known)


def _cancellations(workload: Workload, owner: NDArray[np.int64] | None) -> tuple[Command, ...]:
    """Return what cancels jobs whose patience is over, if they still wait; a heterogeneous job is cancelled once."""
    patience = workload["patience"]
    rows = [row for row in np.flatnonzero(patience > 0).tolist() if owner is None or owner[row] == row]
    return tuple(
        Command(int(workload.submit_time[row] + patience[row]), ("scancel", "--state=PENDING", f"%job({row})"))
        for row in rows
    )


def _user(name: str) -> str:
    """Return who submits a job: by name, or by number where the workload gives none."""
    return "u" + name.removeprefix("user ") if name.startswith("user ") else name or "u0"


def _asked(workload: Workload, resources: Resources) -> list[list[str]]:
    """Return the options of sbatch for what each job asks for."""
    if bool((resources.gpu_share != WHOLE).any()):
        row = int(np.argmax(resources.gpu_share != WHOLE))
        raise InputError(
            f"{workload.name}: job {workload.job_id[row]} shares a GPU, which the laboratory does not support",
            row=row,
        )
    if bool((resources.array_limit > 0).any()):
        row = int(np.argmax(resources.array_limit > 0))
        raise InputError(
            f"{workload.name}: job {workload.job_id[row]} belongs to an array with a limit on running elements; the "
            "laboratory submits jobs one by one: remove the column array_limit",
            row=row,
        )
    kinds = [f"{kind}:" if kind else "" for kind in resources.gpu_type.texts()]
    found: list[list[str]] = [["--exclusive"] if alone else [] for alone in resources.exclusive.tolist()]
    for name, option in _OPTIONS.items():
        usual = {**NUMBERS, **dict.fromkeys(LABELS, "")}[name]
        column = getattr(resources, name)
        values = column.texts() if name in LABELS else column.tolist()
        for row, value in enumerate(values):
            if value != usual or name == "tasks":
                shown = f"{kinds[row]}{value}" if name.startswith("gpus") else value
                found[row] += option.format(shown).split(" ", 1)
    for row in np.flatnonzero((resources.switches > 0) & (resources.switch_wait > 0)).tolist():
        minutes, seconds = divmod(int(resources.switch_wait[row]), 60)
        found[row] = [f"{one}@{minutes}:{seconds:02d}" if one.startswith("--switches=") else one for one in found[row]]
    return found


def _after(workload: Workload, row: int, owner: NDArray[np.int64] | None) -> list[str]:
    """Return the option that names the parents of a job; a heterogeneous job says it, and is named, once."""
    after = workload.dependencies
    if after is None or (owner is not None and owner[row] != row):
        return []
    chosen = slice(int(after.offsets[row]), int(after.offsets[row + 1]))
    parents = after.parents[chosen].tolist() if owner is None else np.unique(owner[after.parents[chosen]]).tolist()
    if not parents:
        return []
    delay = int(after.delay[chosen].max())
    # Slurm has minutes there (after:JOB+5 counts from a start), and no delay behind an end.
    if delay:
        raise InputError(
            f"{workload.name}: job {workload.job_id[row]} waits {delay} s after the end of "
            f"another; Slurm knows no "
            "delay behind an end",
            row=row,
        )
    return [f"--dependency=afterany:%after({','.join(map(str, parents))})"]


@explained
def read_events(path: str | PathLike[str]) -> JobList:
    """Read the events file of UB CCR's Slurm simulator: submissions with the options of sbatch.

    `-sim-walltime` is the run time: -1 runs until it is killed. Options are passed to sbatch as they are, but for the
    user. The workload is that of `schedlab.workload.event_lines.read_event_lines`.

    Raises
    ------
    InputError
        If a line is no event, or an option cannot be understood.
    """
    parts: list[EventLine] = []
    jobs: list[BatchJob] = []
    for event in event_lines(path):
        first = len(jobs)
        requests = (event.request, *event.components)
        for request, options in zip(requests, between_colons(event.options), strict=True):
            joins = first if len(jobs) > first else None
            jobs.append(BatchJob(event.second, event.run_time, options, event.user, event.name, joins))
            parts.append(replace(event, request=request))
    first_ones = {job.joins for job in jobs if job.joins is not None}
    owner = [row if job.joins is None else job.joins for row, job in enumerate(jobs)]
    names = [str(first) if first in first_ones else None for first in owner]
    workload = workload_of_events(parts, path, het_jobs=names if first_ones else None)
    return JobList(tuple(jobs), workload, users=tuple(sorted({job.user for job in jobs if job.user is not None})))
