"""Run variants of a site on the real Slurm, for as long as there is time, and in the twin."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.node_events import NodeEvents
from schedlab.cluster.slurm_releases import SlurmRelease
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration
from schedlab.scheduler.slurm_rules import named_version, version_of
from schedlab.site.confirmation import Confirmation, ConfirmedVariant, Waits
from schedlab.site.coverage import MINUTE
from schedlab.site.headline import NOTHING_TO_TELL
from schedlab.site.ranking import VariantRanking
from schedlab.site.samples import SiteSample
from schedlab.site.site import Site
from schedlab.site.slurm_release import following
from schedlab.site.sweep import VariantFailure
from schedlab.site.untold_memory import as_assumed
from schedlab.site.validation import common_rows
from schedlab.site.variant_task import VariantTask, is_whole, same_work_task, variant_task
from schedlab.site.variants import AS_IT_IS, Variant, compared_with
from schedlab.slurm.deployment import deployed_as
from schedlab.slurm.installation import installed_version
from schedlab.slurm.node_commands import carried_out, commands_of
from schedlab.slurm.replay import drawn_phases, run
from schedlab.slurm.results import SlurmRun
from schedlab.slurm.validation import model_phases
from schedlab.wording import count_of
from schedlab.workload.workload import Workload


@dataclass(frozen=True, slots=True)
class ConfirmationProgress:
    """How far runs on the real Slurm are.

    Parameters
    ----------
    run, runs
        Which of how many runs, from 1 on.
    name
        Of the variant.
    done
        The share of the jobs of this run that have ended.
    elapsed, left
        Seconds since the first run began, and an estimate of those until the last one ends; None: too early to say.
    """

    run: int
    runs: int
    name: str
    done: float
    elapsed: float
    left: float | None


Told = Callable[[ConfirmationProgress], None]


class _TimeIsUp(Exception):
    """The bound on the time of all runs is reached, or no two runs will end within it: the message says which."""


EARLY = 0.1
"""Share of the jobs of a run that must have ended for an estimate: before, it is several times too long."""

TOO_LONG, SHORTER = 4.0, 0.8
"""How many times too long an estimate may be, as many jobs end late; and the length that a run surely has, in lengths
of the one before."""

NEARLY = 0.9
"""Share of the jobs of a run from which on it is not given up."""


@dataclass(slots=True)
class _Side:
    """A variant, or the site as it is, and its runs; `work` is a digest of what it does, see `VariantAnswer.work`."""

    variant: Variant
    task: VariantTask
    work: str = ""
    runs: list[SlurmRun] = field(default_factory=list)


@explained
def confirm(
    site: Site,
    variants: Iterable[Variant],
    sample: SiteSample | None = None,
    *,
    phases: int = 5,
    seed: int = 1,
    nodes: bool = True,
    seconds: float | None = None,
    progress: Told | None = None,
    slurm: str | None = None,
    **options: Any,
) -> Confirmation:
    """Run a site as it is and variants of it on an unmodified slurmctld and in the twin, and compare.

    All run in the first phase, then in the second, and so on. If the time is up, or the user interrupts it, what has
    run until then is compared, and a note says so.

    Parameters
    ----------
    site
        With jobs.
    variants
        Changes are made in its files; a policy is deployed as `schedlab.slurm.deploy` does it.
    sample
        Which jobs: a slice of a long log, as the real Slurm needs hours for weeks of a large site; None: all.
    phases, seed
        Runs of each, and the seed of the phases, which are the same for every variant.
    nodes
        Whether the twin has nodes; otherwise it is a number of processors.
    seconds
        Real time after which no run goes on; None: as long as it takes.
    progress
        Called while Slurm runs.
    slurm
        Which Slurm runs the site as it is and variants that name no version, such as "24.11"; None: the one whose rules
        the site follows if that is not 22.05, else see `schedlab.slurm.installation.find_slurm`.
    **options
        Of `schedlab.slurm.run`: mode, directory.

    Raises
    ------
    InputError
        If there is no such Slurm, it does not run the site as it is, no job is started in all runs, or the time is up
        before one variant has run.
    """
    wanted, sample = list(variants), sample or SiteSample()
    slurm = slurm or followed(site)
    versions = dict.fromkeys(installed_version(which) for which in (slurm, *(one.slurm or slurm for one in wanted)))
    jobs = sample.of(site.replayable().jobs).replace(start_time=None)  # both clocks then show the same minute
    site = site if followed(site) else following(site, version_of(SlurmRelease.given(next(iter(versions)))))
    sides, failures = _sides(site, jobs, wanted, sample)
    options["slurm"] = slurm
    stopped = _run_all(sides, failures, sample, phases, seed, _Clock(seconds, progress), nodes=nodes, **options)
    based = {side.work for side in sides if side.runs and side.variant.name == AS_IT_IS}
    complete = [side for side in sides if side.runs and side.work in based]
    if stopped and len(complete) < 2:
        raise InputError(stopped)
    found, common = _compared(complete, jobs, phases, seed, nodes=nodes)
    told = {AS_IT_IS, *(side.variant.name for side in complete), *(one.variant.name for one in failures)}
    left = [side.variant for side in sides if side.variant.name not in told]
    failures += [VariantFailure(one, sample, "the runs ended before it could be compared") for one in left]
    notes = _notes(len(jobs), len(common), [one for side in complete for one in side.runs])
    if left_out := _not_carried_out(site, nodes=nodes):
        notes.append(f"on neither side: {left_out}")
    notes += [stopped] if stopped else []
    return Confirmation(
        " and ".join(versions), jobs[common], site.cluster.processors, found, tuple(failures), tuple(notes)
    )


def worth_running(ranking: VariantRanking, number: int) -> list[Variant]:
    """Return the best variants that are worth real time: they change something in the twin, or are not simulated.

    Those whose change is negligible in the twin, or cannot be seen there, come behind all others.

    Raises
    ------
    InputError
        If there are none.
    """
    worth = [one for one in ranking.changed if one.unsimulated or not one.unchanged]
    if not worth:
        raise InputError("nothing was run on the real Slurm: in the twin, all jobs start and end as before")
    worth.sort(key=lambda one: one.difference[2] in NOTHING_TO_TELL)
    return [one.variant for one in worth[:number]]


def followed(site: Site) -> str | None:
    """Return the version of Slurm whose rules a site follows, None if that is not known."""
    return named_version(site.scheduler)


def _sides(
    site: Site, jobs: Workload, variants: Iterable[Variant], sample: SiteSample
) -> tuple[list[_Side], list[VariantFailure]]:
    """Return what is to be run: the site as it is, also with the work that variants leave, and the variants."""
    as_it_is = Variant(AS_IT_IS)
    sides = [_Side(as_it_is, variant_task(site, jobs, as_it_is))]
    failures: list[VariantFailure] = []
    works = {""}
    for variant in variants:
        try:
            task = variant_task(site, jobs, variant).checked_for_slurm()
        except InputError as error:
            failures.append(VariantFailure(variant, sample, str(error)))
            continue
        load = compared_with(variant).load
        if (work := task.adapted.work + (f" at {load:g}" if load != 1 else "")) not in works:
            works.add(work)
            sides.append(_Side(as_it_is, same_work_task(site, jobs, variant, task), work))
        sides.append(_Side(variant, task, work))
    return sides, failures


class _Clock:
    """The real time that runs take: it tells how far they are, and ends them when it is up."""

    def __init__(self, seconds: float | None, progress: Told | None) -> None:
        self.seconds, self.progress = seconds, progress
        self.begin = time.monotonic()
        self.lengths: list[float] = []

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.begin

    def of_run(self, number: int, runs: int, name: str, jobs: int) -> Callable[[int, float], None]:
        """Return what the laboratory calls with the number of open jobs and the virtual second."""
        begin = self.elapsed

        def tell(still_open: int, _: float) -> None:
            now = self.elapsed
            done = 1 - min(still_open, jobs) / max(jobs, 1)
            here = (now - begin) / done if done >= EARLY else 0.0
            self._check(now, begin, here, nearly=done >= NEARLY)
            if self.progress is None:
                return
            each = float(np.mean(self.lengths)) if self.lengths else here
            left = each * (runs - number) + max((here or each) - (now - begin), 0.0) if each else None
            self.progress(ConfirmationProgress(number, runs, name, done, now, left))

        return tell

    def _check(self, now: float, begin: float, here: float, *, nearly: bool) -> None:
        """End the runs if the time is up, or as soon as it is seen that no two of them end within it.

        `here` is an estimate of how long this run takes, 0 if it is too early for one.
        """
        if self.seconds is None:
            return
        if now >= self.seconds:
            raise _TimeIsUp("the time was up")
        if len(self.lengths) > 1 or nearly:
            return
        end = begin + SHORTER * self.lengths[0] if self.lengths else 2 * max(here / TOO_LONG, now)
        if end > self.seconds:
            enough = math.ceil(max(here, now, *self.lengths) * 3 / MINUTE)  # twice, and half as much again
            raise _TimeIsUp(
                f"no two runs would have ended within {duration(self.seconds)}, and a comparison needs two "
                f"(--confirm-for {enough}m may do): stopped"
            )

    def ended(self, begin: float) -> None:
        """Note that a run has ended that began at some second."""
        self.lengths.append(self.elapsed - begin)


def _run_all(
    sides: list[_Side],
    failures: list[VariantFailure],
    sample: SiteSample,
    phases: int,
    seed: int,
    clock: _Clock,
    *,
    nodes: bool,
    **options: Any,
) -> str:
    """Run all sides, phase by phase; return why it has ended early, or ""."""
    directory = options.pop("directory", None)
    refused: set[int] = set()
    turns = list(_turns(len(sides), drawn_phases(phases, seed)))
    done = 0
    try:
        for number, (place, phase, drawn) in enumerate(turns, 1):
            side = sides[place]
            if place in refused:
                continue
            begin = clock.elapsed
            told = clock.of_run(number, len(turns), side.variant.name, len(side.task.pieces.jobs))
            where = None if directory is None else Path(directory) / f"{place}-phase-{phase}"
            try:
                side.runs.append(_on_slurm(side, nodes=nodes, progress=told, directory=where, **drawn, **options))
            except InputError as error:
                if place == 0:
                    raise
                refused.add(place)
                side.runs.clear()
                failures.append(VariantFailure(side.variant, sample, str(error)))
            clock.ended(begin)
            done += 1
    except (KeyboardInterrupt, _TimeIsUp) as error:
        why = str(error) if isinstance(error, _TimeIsUp) else "interrupted"
        return (
            f"{why} after {duration(clock.elapsed)}: {done} of {count_of(len(turns), 'run')} on the real Slurm had "
            f"ended, and only these count{'' if done > 1 else '; take a smaller --part, or more time'}"
        )
    return ""


def _turns(sides: int, drawn: Sequence[dict[str, Any]]) -> Iterator[tuple[int, int, dict[str, Any]]]:
    for phase, options in enumerate(drawn, 1):
        for place in range(sides):
            yield place, phase, options


def _on_slurm(side: _Side, *, nodes: bool, **options: Any) -> SlurmRun:
    """Run a variant in the laboratory, with the site's files as changed and what happened to its nodes."""
    task, policy = side.task, side.variant.policy
    if policy and is_whole(policy):
        raise InputError(
            f"{policy} is a whole scheduler, and Slurm has its own passes: give the policy alone, and change "
            "SchedulerParameters"
        )
    deployment = deployed_as(policy, task.scheduler) if policy else None
    jobs = as_assumed(task.pieces.jobs, task.site)
    with tempfile.TemporaryDirectory(prefix="schedlab-") as name:
        for file, text in task.site.files.items():
            Path(name, file).write_text(text, encoding="utf-8")
        happening = _happening(task.site, nodes=nodes)
        begin = (int(jobs.submit_time.min()) // 60 - 1) * 60
        commands = [] if happening is None else commands_of(happening, begin)
        options["slurm"] = side.variant.slurm or options["slurm"]
        return run(jobs, conf=name, deployment=deployment, commands=commands, **options)


def _compared(
    sides: Sequence[_Side], jobs: Workload, phases: int, seed: int, *, nodes: bool
) -> tuple[tuple[ConfirmedVariant, ...], NDArray[np.int64]]:
    """Return the waits of the jobs that all runs of all sides have started, and the rows of these jobs."""
    started = [_started(side) for side in sides]
    common = np.arange(len(jobs))
    for side, pieces in zip(sides, started, strict=True):
        whole = np.bincount(side.task.pieces.of[pieces], minlength=len(side.task.rows))
        every = np.bincount(side.task.pieces.of, minlength=len(side.task.rows))
        common = np.intersect1d(common, side.task.rows[whole == every])
    if not len(common):
        raise InputError(f"{jobs.name}: not one job was started in all runs on the real Slurm")
    found: list[ConfirmedVariant] = []
    same_work: dict[str, ConfirmedVariant] = {}
    for side, pieces in zip(sides, started, strict=True):
        twin = [
            _waits(side.task, pieces, one, common)
            for one in _in_twin(side.task, pieces, min(phases, len(side.runs)), seed, nodes=nodes)
        ]
        real = [_waits(side.task, one.records["row"].to_numpy(), one.schedule, common) for one in side.runs]
        one = ConfirmedVariant(side.variant, np.array(twin), np.array(real), same_work.get(side.work))
        if side.work and side.variant.name == AS_IT_IS:
            same_work[side.work] = one
        else:
            found.append(one)
    return tuple(found), common


def _started(side: _Side) -> NDArray[np.intp]:
    """Return the rows of the pieces that every run of a side has started."""
    return common_rows(side.runs, np.arange(len(side.task.pieces.jobs)))


def _waits(task: VariantTask, rows: NDArray[np.int64], schedule: Schedule, common: NDArray[np.int64]) -> Waits:
    """Return the waits of whole jobs, from a schedule of the pieces of some rows."""
    every = np.bincount(task.pieces.of[rows], schedule.wait_time, minlength=len(task.rows))
    return every[np.searchsorted(task.rows, common)].astype(np.float64)


def _happening(site: Site, *, nodes: bool) -> NodeEvents | None:
    """Return what happened to the nodes of a site, as far as both sides know it; None without anything."""
    if site.node_events is None or not nodes:
        return None
    found = carried_out(site.node_events)
    return found if len(found) else None


def _not_carried_out(site: Site, *, nodes: bool) -> str:
    """Return which of the events of a site's nodes are on neither side, empty if there is none."""
    if site.node_events is None or not len(site.node_events):
        return ""
    if not nodes:
        return "what happened to the nodes, as the twin is a number of processors"
    left = [event.event for event in site.node_events if event not in carried_out(site.node_events).events]
    return f"{count_of(len(left), 'node event')} ({', '.join(sorted(set(left)))})" if left else ""


def _in_twin(task: VariantTask, rows: NDArray[np.intp], phases: int, seed: int, *, nodes: bool) -> list[Schedule]:
    """Return the schedules of the pieces of some rows in the twin, phase by phase."""
    cluster = task.site.cluster
    jobs = task.pieces.jobs[rows].replace(processors=cluster.processors)
    scheduler = task.scheduler if nodes else replace(task.scheduler, placement=None)
    machine = cluster if nodes else None
    happening = _happening(task.site, nodes=nodes)
    return model_phases(jobs, scheduler, phases=phases, seed=seed, cluster=machine, node_events=happening)


def _notes(jobs: int, compared: int, runs: Sequence[SlurmRun]) -> list[str]:
    rejected = next((run.rejected for run in runs if run.rejected), {})
    notes = [f"{count_of(jobs - compared, 'job')} not compared: not started in every run"] if compared < jobs else []
    if rejected:
        reason = next(iter(rejected.values()))
        notes.append(f"Slurm rejected {count_of(len(rejected), 'job')}, such as: {reason}")
    return notes
