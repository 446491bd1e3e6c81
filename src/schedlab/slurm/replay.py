"""Run a workload on the real Slurm, in skipped time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from schedlab.arguments import explained
from schedlab.cluster.slurm_releases import SlurmRelease
from schedlab.errors import InputError
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.scheduler import Scheduler, as_scheduler
from schedlab.scheduler.slurm_rules import named_version, naming_version, version_of
from schedlab.slurm.components import number_of
from schedlab.slurm.configuration import Configuration, site_configuration
from schedlab.slurm.deployment import Deployment
from schedlab.slurm.installation import find_slurm
from schedlab.slurm.jobs import BatchJob, Command, JobList, fractions, from_workload
from schedlab.slurm.laboratory import EPOCH, Laboratory, Mode
from schedlab.slurm.patience import EndlessRunError, latest_second, say_who_is_left
from schedlab.slurm.rehearsal import Rehearsal, installed
from schedlab.slurm.releases import name_of
from schedlab.slurm.results import SlurmRun, collect
from schedlab.slurm.translation import Translation, has_aware_workflows, orders_that_change, translate
from schedlab.workload.workload import Workload

Progress = Callable[[int, float], None]

_PENDING = "%i|%u|%r|%Q|%P|%S"


@explained
def run(
    jobs: Workload | JobList,
    scheduler: str | Scheduler | None = None,
    *,
    conf: str | PathLike[str] | Configuration | None = None,
    processors: int | None = None,
    cores_per_node: int | None = None,
    phase: float = 0.2,
    jitter: int | None = None,
    backfill_phase: float | None = None,
    mode: Mode = "frozen",
    commands: Sequence[Command] = (),
    deployment: Deployment | None = None,
    observe: float | None = None,
    prepare: Callable[[Laboratory], None] | None = None,
    progress: Progress | None = None,
    directory: str | PathLike[str] | None = None,
    until: float | None = None,
    slurm: str | None = None,
) -> SlurmRun:
    """Run jobs on an unmodified slurmctld, in skipped time.

    Parameters
    ----------
    jobs
        A workload, or a list of jobs with options of sbatch.
    scheduler
        How Slurm is to be configured, as a scheduler text such as `multifactor(age=1000)+slurm(interval=60)`. A
        policy that Slurm does not have, such as `saf+slurm`, is set as priorities, as an administrator would deploy
        it. Default: `fcfs+slurm`. Not together with conf, which says all of it.
    conf
        Directory with a site's slurm.conf, or a configuration.
    processors, cores_per_node
        The machine, where there is no conf; None takes the workload's.
    phase
        Seconds, also fractions: how slurmctld's loops lie to the jobs.
    jitter
        Seed of the fractions of a second at which jobs really come, in the order of the workload; None: all at full
        seconds.
    backfill_phase
        How much of the interval between two backfill passes is over when the first job comes, from 0 to 1. None: the
        cluster is idle, and the first pass comes with the first job.
    mode
        "frozen": equal input, equal result to the bit. "hybrid": Slurm's own computing takes time.
    commands
        What else happens: nodes that go down, jobs that are cancelled, reservations.
    deployment
        A policy as it would be deployed in production, see `deploy`: its files are installed, and its daemon runs.
    observe
        Virtual seconds between looks at the queue: `run.observations` then holds `queue` (reason and priority of every
        waiting job), `priority` (factors of each job at the first look) and `diagnostics` (counters of sdiag).
    prepare
        Called with the laboratory before the first submission.
    progress
        Called with the number of open jobs and the virtual second.
    directory
        Where the laboratory's files are kept. None: they are removed.
    until
        The second of the workload's clock at which a run that has not ended is given up. None: thirty days and ten
        times the sum of all run times behind the last submission.
    slurm
        Which Slurm: a version such as "24.11", or the root of an unpacked one. None: the version of the scheduler
        text, else see `find_slurm`.

    Returns
    -------
    SlurmRun
        The schedule, and what Slurm itself recorded.

    Raises
    ------
    InputError
        If there is no such Slurm, no compiler, or slurmctld refuses the configuration.
    EndlessRunError
        If jobs still wait or run at that second, such as those that preempt each other for ever; it has what has run
        until then.

    References
    ----------
    The page on the clock says why it may jump.
    """
    installation = find_slurm(slurm or named_version(as_scheduler(scheduler or "fcfs+slurm")))
    if conf is not None and not isinstance(conf, Configuration):
        conf = site_configuration(conf, name_of(installation.version))
    task = _task(jobs, scheduler, conf, processors, cores_per_node)
    rules = version_of(SlurmRelease.given(name_of(installation.version)))
    name, configuration = naming_version(task.name, rules), task.configuration
    if deployment is not None:
        if task.policy is not None:
            raise InputError(f"{name}: the deployment of {deployment.policy} sets the order: give fcfs+slurm or conf")
        name, configuration = f"{deployment.policy} as {deployment.way}", installed(configuration, deployment)
    workload, origin = task.jobs.workload, task.jobs.origin
    observations: dict[str, list[dict[str, Any]]] = {"queue": [], "priority": [], "diagnostics": []}
    with Laboratory(
        configuration,
        mode=mode,
        phase=phase,
        users=task.jobs.users,
        origin=origin,
        directory=None if directory is None else Path(directory),
        installation=installation,
        epoch=EPOCH + task.jobs.origin % 86400
        if workload.start_time is None
        else workload.start_time + task.jobs.origin,
    ) as laboratory:
        laboratory.add(_at_fractions(task.jobs, jitter), task.options(laboratory))
        for command in (*task.jobs.commands, *commands):
            laboratory.at(command.second, lambda words=command.words: _do(laboratory, words))  # type: ignore[misc]
        if orders_that_change(task.policy):
            first = -(-task.jobs.origin // task.period) * task.period  # priorities are computed at multiples
            laboratory.every(task.period, lambda: task.refresh(laboratory), first=first)
        if observe is not None:
            laboratory.every(observe, lambda: _look(laboratory, observations))
        if backfill_phase is not None:
            _set_backfill_phase(laboratory, task, backfill_phase)
        if prepare is not None:
            prepare(laboratory)
        begin = time.monotonic()
        last = latest_second(task.jobs.with_commands(commands)) if until is None else until
        with nullcontext() if deployment is None else Rehearsal(laboratory, deployment).attended():
            ended = laboratory.run(progress, last)
        size = processors or workload.processors or sum(node.cpus for node in laboratory.nodes)
        said = None if ended else say_who_is_left(laboratory, task.jobs, last)
        found = collect(laboratory, task.jobs, name, size, observations, time.monotonic() - begin)
        if said is not None:
            raise EndlessRunError(said, found)
        return found


@explained
def run_phases(
    jobs: Workload | JobList, scheduler: str | Scheduler | None = None, *, phases: int, seed: int = 1, **options: Any
) -> list[SlurmRun]:
    """Run jobs several times, with slurmctld's loops at other points each time.

    Real clusters differ in that too: it is the spread that two runs of one workload have on real hardware.

    Parameters
    ----------
    jobs, scheduler, **options
        As for `run`.
    phases
        How many runs.
    seed
        Of the phases, which are drawn between 0 and 300 s, the longest of Slurm's own periods; of the fractions of a
        second at which jobs come; and of the phase of the backfill passes, which on a busy cluster can be any.
    """
    place = options.pop("directory", None)
    runs = []
    for number, drawn in enumerate(drawn_phases(phases, seed), 1):
        directory = None if place is None else Path(place) / f"phase-{number}"
        runs.append(run(jobs, scheduler, **drawn | {"directory": directory} | options))
    return runs


def drawn_phases(phases: int, seed: int) -> list[dict[str, Any]]:
    """Return the options of `run` that differ between phases: how slurmctld's loops lie, and the seed of fractions."""
    drawn = np.random.default_rng(seed).uniform(0, 300, phases).round(3)
    shares = np.random.default_rng([seed, 1]).uniform(0, 1, phases).round(3)
    return [
        {"phase": phase, "jitter": seed * 1000 + number, "backfill_phase": share}
        for number, (phase, share) in enumerate(zip(drawn.tolist(), shares.tolist(), strict=True), 1)
    ]


def _at_fractions(jobs: JobList, jitter: int | None) -> Sequence[BatchJob]:
    """Return the jobs, each at a fraction of its second."""
    if jitter is None:
        return jobs.jobs
    submit = np.array([job.submit for job in jobs.jobs], dtype=np.int64)
    drawn = fractions(submit, np.random.default_rng(jitter))
    return [replace(job, submit=job.submit + part) for job, part in zip(jobs.jobs, drawn.tolist(), strict=True)]


class _Task(Translation):
    """A translation that knows how its order comes to the laboratory."""

    name: str = ""
    period: int = 30

    def options(self, laboratory: Laboratory) -> Callable[[int, BatchJob], Sequence[str]] | None:
        """Return what gives each job its priority, None if Slurm does so itself."""
        if self.policy is None:
            return None
        fixed = None if orders_that_change(self.policy) else self.priorities(0)

        def priority(row: int, job: BatchJob) -> list[str]:
            values = self.priorities(int(laboratory.now())) if fixed is None else fixed
            return [f"--priority={values[row]}"]

        return priority

    def refresh(self, laboratory: Laboratory) -> None:
        """Recompute and set the priorities of all waiting jobs."""
        values = self.priorities(int(laboratory.now()))
        rows = {number: row for row, number in laboratory.numbers.items()}
        waiting = laboratory.command(["squeue", "-h", "-t", "PD", "-o", "%i"]).stdout.split()
        lines = [
            f"update jobid={number} priority={values[rows[number_of(number)]]}"
            for number in waiting
            if number_of(number) in rows
        ]
        if lines:
            laboratory.command(["scontrol"], stdin="\n".join([*lines, "quit", ""]))


def _task(
    jobs: Workload | JobList,
    scheduler: str | Scheduler | None,
    conf: Configuration | None,
    processors: int | None,
    cores_per_node: int | None,
) -> _Task:
    if conf is not None:
        if scheduler is not None:
            raise InputError("give a scheduler or conf, not both: a site's slurm.conf defines its scheduler")
        configuration = conf
        if isinstance(jobs, Workload):
            if has_aware_workflows(jobs):
                raise InputError(
                    f"{jobs.name}: a workflow that is submitted aware keeps one place in the queue for all its tasks, "
                    "which a site's own priorities cannot give; submit it as pilot or chained, or give a scheduler"
                )
            jobs = from_workload(jobs, users=configuration.accounts is not None, resources=True)
        task = _Task(configuration, jobs, None)
        object.__setattr__(task, "name", f"slurm({Path(configuration.source).name})")
        return task
    chosen = as_scheduler("fcfs+slurm" if scheduler is None else scheduler)
    workload = jobs if isinstance(jobs, Workload) else jobs.workload
    translation = translate(workload, chosen, processors=processors, cores_per_node=cores_per_node)
    own = translation.jobs if isinstance(jobs, Workload) else jobs
    task = _Task(translation.configuration, own, translation.policy, translation.prepared)
    object.__setattr__(task, "name", chosen.text)
    if isinstance(chosen.policy, Multifactor):
        object.__setattr__(task, "period", chosen.policy.period)
    elif isinstance(chosen.backfill, Slurm):
        object.__setattr__(task, "period", max(1, chosen.backfill.interval))
    return task


def _set_backfill_phase(laboratory: Laboratory, task: _Task, share: float) -> None:
    """Have slurmctld notice a change so long before the first job: it then passes at once, and again each interval."""
    given = re.search(r"\bbf_interval=(\d+)", task.configuration.value("SchedulerParameters") or "")
    interval = min(int(given[1]) if given else 30, 60)
    first = min(job.submit for job in task.jobs.jobs)
    change = ("scontrol", "update", f"nodename={laboratory.nodes[0].name}", "comment=passes begin")
    laboratory.at(first - share * interval, lambda: _do(laboratory, change))


def _do(laboratory: Laboratory, words: Sequence[str]) -> None:
    answer = laboratory.command(words)
    if answer.returncode:
        said = " ".join((answer.stderr or answer.stdout).split())
        raise InputError(f"at second {laboratory.now():.0f}, {' '.join(words)}: {said}")


def _look(laboratory: Laboratory, observations: dict[str, list[dict[str, Any]]]) -> None:
    second = round(laboratory.now())
    rows = {str(number): row for row, number in laboratory.numbers.items()}
    seen = {observation["job_id"] for observation in observations["priority"]}
    fresh = False
    for line in laboratory.command(["squeue", "-h", "-t", "PD", "-o", _PENDING]).stdout.splitlines():
        shown, user, reason, priority, partition, expected = line.split("|")
        number = str(number_of(shown))
        found = {"second": second, "row": rows.get(number, -1), "job_id": number, "user": user, "reason": reason}
        observations["queue"].append(
            found | {"priority": int(priority), "partition": partition, "expected_start": expected}
        )
        fresh = fresh or number not in seen
    if fresh:
        for line in laboratory.command(["sprio", "-h", "-o", "%i|%Y|%S|%A|%F|%J|%P|%Q|%N|%T"]).stdout.splitlines():
            shown, *values = (value.strip() for value in line.split("|"))
            number = str(number_of(shown))
            if number not in seen:
                names = ("priority", "site", "age", "fairshare", "size", "partition", "qos", "nice", "tres")
                observations["priority"].append(
                    {"second": second, "job_id": number, **dict(zip(names, values, strict=True))}
                )
    found = {"second": second}
    for line in laboratory.command(["sdiag"]).stdout.splitlines():
        key, _, value = line.strip().partition(":")
        if value.strip().isdigit():
            found[key] = int(value)
    observations["diagnostics"].append(found)
