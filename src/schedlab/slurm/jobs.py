"""What is submitted to a laboratory: jobs as sbatch takes them, and commands at given times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike

import numpy as np

from schedlab.errors import InputError
from schedlab.workload.event_lines import event_lines, workload_of_events
from schedlab.workload.workload import Workload


@dataclass(frozen=True, slots=True)
class Job:
    """A batch job.

    Parameters
    ----------
    submit
        Second on the workload's clock.
    run_time
        Seconds that it runs unless it is ended before; every run anew, if it is requeued.
    options
        Options of sbatch, such as `("-n", "4", "-t", "10")`. `%after(3,5)` stands for the Slurm job numbers of the
        jobs at these positions, joined by colons.
    user
        Whose job it is; None: the user of the laboratory.
    name
        In messages.
    """

    submit: float
    run_time: int
    options: tuple[str, ...]
    user: str | None = None
    name: str = "job"


@dataclass(frozen=True, slots=True)
class Command:
    """A command of Slurm at a moment: `Command(3600, ("scontrol", "update", "nodename=n1", "state=drain",
    "reason=x"))`.

    `%job(3)` stands for the Slurm job number of the job at position 3.
    """

    second: int
    words: tuple[str, ...]


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

    jobs: tuple[Job, ...]
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


def from_workload(
    workload: Workload, *, users: bool = False, options: Sequence[Sequence[str]] | None = None
) -> JobList:
    """Return the jobs of a workload, each with its processors and its request in whole minutes.

    Parameters
    ----------
    workload
        Sorted by submission or not; jobs keep their rows. Dependencies become `--dependency=afterany`.
    users
        Whether jobs belong to users `u<number>`, after SWF's user field.
    options
        Further options of sbatch for each job.

    Raises
    ------
    InputError
        If a job has no run time, request or processors, or its dependency has a delay.
    """
    if workload.workflows is not None and bool(workload.workflows.aware.any()):
        raise InputError(
            f"{workload.name}: a workflow that is submitted aware keeps one place in the queue for all its tasks, "
            "which stock Slurm cannot do; submit it as pilot or chained"
        )
    jobs = []
    for row, processors in enumerate(workload.job_processors.tolist()):
        run_time, request = int(workload.run_time[row]), int(workload.requested_time[row])
        if run_time < 0 or processors < 1 or request < 0:
            lacks = "run time" if run_time < 0 else "number of processors" if processors < 1 else "requested time"
            raise InputError(f"{workload.name}: job {workload.job_id[row]} has no {lacks}, which Slurm needs", row=row)
        words = ["-n", str(processors), "-t", str(minutes(request)), *_after(workload, row)]
        if options is not None:
            words += options[row]
        user = f"u{max(0, int(workload.user_id[row]))}" if users else None
        submit = int(workload.submit_time[row])
        jobs.append(Job(submit, run_time, tuple(words), user, f"{workload.job_id[row]}"))
    names = tuple(sorted({job.user for job in jobs if job.user is not None}))
    return JobList(tuple(jobs), workload, users=names)


def _after(workload: Workload, row: int) -> list[str]:
    after = workload.dependencies
    if after is None:
        return []
    chosen = slice(int(after.offsets[row]), int(after.offsets[row + 1]))
    parents = after.parents[chosen].tolist()
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


def read_events(path: str | PathLike[str]) -> JobList:
    """Read the events file of UB CCR's Slurm simulator: submissions with the options of sbatch.

    `-sim-walltime` is the run time: -1 runs until it is killed. Options are passed to sbatch as they are, but for the
    user. The workload is that of `schedlab.workload.event_lines.read_event_lines`.

    Raises
    ------
    InputError
        If a line is no event, or an option cannot be understood.
    """
    events = list(event_lines(path))
    workload = workload_of_events(events, path)
    jobs = tuple(Job(event.second, event.run_time, event.options, event.user, event.name) for event in events)
    return JobList(jobs, workload, users=tuple(sorted({job.user for job in jobs if job.user is not None})))
