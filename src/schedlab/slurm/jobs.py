"""What is submitted to a laboratory: jobs as sbatch takes them, and commands at given times."""

from __future__ import annotations

import gzip
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

import numpy as np

from schedlab.durations import parse_time_limit
from schedlab.errors import InputError
from schedlab.workload.workload import Workload

FOR_EVER = 10 * 365 * 86400
"""Seconds: the run time of a job that runs until it is killed."""


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
        """The full hour of the workload's clock before the first submission: rounding to minutes stays what it is."""
        return int(min((job.submit for job in self.jobs), default=0)) // 3600 * 3600

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


_EVENT = re.compile(r"-dt\s+(\S+)\s+-e\s+(\S+)\s*\|(.*)")


def read_events(path: str | PathLike[str]) -> JobList:
    """Read the events file of UB CCR's Slurm simulator: submissions with the options of sbatch.

    `-sim-walltime` is the run time: -1 runs until it is killed. Options are passed to sbatch as they are, but for the
    user.

    Raises
    ------
    InputError
        If a line is no event.
    """
    path = Path(path)
    data = path.read_bytes()
    jobs, rows = [], []
    for number, line in enumerate((gzip.decompress(data) if path.suffix == ".gz" else data).decode().splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            matched = _EVENT.match(line.strip())
            if matched is None or matched[2] != "submit_batch_job":
                raise InputError(
                    f"{path}:{number}: not an event of the form '-dt SECONDS -e submit_batch_job | OPTIONS'"
                )
            job, processors, request = _event(matched, f"{path}:{number}")
            jobs.append(job)
            rows.append((job.submit, processors, request, job.run_time))
    if not jobs:
        raise InputError(f"{path}: there is no event in it")
    table = np.array(rows, dtype=np.int64)
    submits, sizes, requests, run_times = table.T
    names = tuple(sorted({job.user for job in jobs if job.user is not None}))
    numbers = {name: number for number, name in enumerate(names, 1)}
    workload = Workload.from_columns(
        {
            "submit_time": submits,
            "run_time": np.minimum(run_times, np.where(requests > 0, requests, run_times)),
            "requested_processors": sizes,
            "requested_time": requests,
            "user_id": np.array([numbers.get(job.user or "", -1) for job in jobs]),
        },
        name=path.name.partition(".")[0],
        header=tuple(f" User: {number} {name}" for name, number in numbers.items()),
    )
    return JobList(tuple(jobs), workload, users=names)


def _event(matched: re.Match[str], where: str) -> tuple[Job, int, int]:
    words = shlex.split(matched[3])
    run_time, user, kept, name = FOR_EVER, None, [], "job"
    position = 0
    while position < len(words):
        word = words[position]
        if word == "-sim-walltime":
            position += 1
            value = round(float(words[position]))
            run_time = FOR_EVER if value < 0 else value
        elif word.startswith("--uid="):
            user = word.removeprefix("--uid=")
        elif word in ("-J", "--job-name"):
            position += 1
            name = words[position]
        elif word.endswith(".job"):
            pass
        else:
            kept.append(word)
        position += 1
    submit = round(float(matched[1]))
    return Job(submit, run_time, tuple(kept), user, name), _number(kept, "-n", 1), _request(kept, where)


def _number(words: list[str], option: str, default: int) -> int:
    return int(words[words.index(option) + 1]) if option in words else default


def _request(words: list[str], where: str) -> int:
    if "-t" not in words:
        return -1
    text = words[words.index("-t") + 1]
    try:
        return parse_time_limit(text)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
