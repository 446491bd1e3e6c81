"""Many variants of a site, run on several processes; each answer is kept beside the site, so that none is run twice."""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.atomic import atomic_path, make_directory
from schedlab.campaign.run.executors import local_workers, usable_cores
from schedlab.documents import parse_json
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.changes import changed
from schedlab.site.jobs import replay, replayable
from schedlab.site.samples import THE_LOG, SiteSample
from schedlab.site.site import CLUSTER, JOBS, MANIFEST, NODE_EVENTS, Site, read
from schedlab.site.variants import AS_IT_IS, Variant, distinct
from schedlab.site.what_if import replace_policy, without_effect
from schedlab.wording import did_you_mean, shown
from schedlab.workload.sampling import scale_load
from schedlab.workload.workload import Workload

ANSWERS = "what-if"
"""The directory within that of a site where answers are kept."""

_COLUMNS = ("row", "submit", "queued", "start", "end", "backfilled", "killed")


@dataclass(frozen=True, slots=True)
class VariantAnswer:
    """A variant on a sample of jobs.

    Parameters
    ----------
    variant, sample
        What was run.
    schedule
        Of the jobs that it can run.
    rows
        Their rows in the sample.
    metrics
        Of the schedule.
    notes
        What was left out, or has no effect, in sentences.
    """

    variant: Variant
    sample: SiteSample
    schedule: Schedule
    rows: NDArray[np.int64]
    metrics: Mapping[str, float]
    notes: tuple[str, ...]

    def metric(self, name: str) -> float:
        """Return a metric by its name.

        Raises
        ------
        InputError
            If there is none.
        """
        if name not in self.metrics:
            near = did_you_mean(name, self.metrics)
            raise InputError(f"unknown metric {shown(name)}{near}; schedlab list metrics prints all")
        return float(self.metrics[name])


@dataclass(frozen=True, slots=True)
class VariantFailure:
    """A variant that could not be run on a sample, and why."""

    variant: Variant
    sample: SiteSample
    reason: str


class Sweep:
    """Variants of a site, and the answers that are there.

    Parameters
    ----------
    directory
        Of the site.
    nodes
        Whether jobs get nodes; otherwise the cluster is a number of processors.
    answers
        Where answers are kept; by default, within the directory.

    Raises
    ------
    InputError
        If it is not a site with jobs.
    """

    def __init__(
        self, directory: str | PathLike[str], *, nodes: bool = True, answers: str | PathLike[str] | None = None
    ) -> None:
        self.directory, self.nodes = Path(directory), nodes
        self.site = read(self.directory)
        self.jobs = self.site.replayable().jobs
        self.failures: dict[tuple[Variant, SiteSample], VariantFailure] = {}
        self.answers = make_directory(self.directory / ANSWERS if answers is None else answers)
        self._site = _fingerprint(self.directory)

    def run(
        self,
        variants: Iterable[Variant],
        samples: Sequence[SiteSample] = (THE_LOG,),
        *,
        workers: int | None = None,
        progress: Callable[[int, int, int], None] | None = None,
    ) -> int:
        """Run what has no answer yet, the site as it is included; return how many simulations that took.

        Parameters
        ----------
        variants
            What to run. Those that fail are in `failures` afterwards.
        samples
            On which jobs.
        workers
            Processes; None: one for each core; 1: this one.
        progress
            Called with the numbers of simulations that are done, that failed, and of all.

        Raises
        ------
        InputError
            If two variants have one name.
        """
        wanted = list(variants)
        distinct(wanted)
        tasks = [(one, sample) for one in (Variant(AS_IT_IS), *wanted) for sample in samples]
        left = [task for task in tasks if not self._path(*task).is_file()]
        if not left:
            return 0
        done = len(tasks) - len(left)

        def told(task: tuple[Variant, SiteSample], reason: str | None) -> None:
            nonlocal done
            done += 1
            if reason is not None:
                self.failures[task] = VariantFailure(*task, reason)
            if progress is not None:
                progress(done - len(self.failures), len(self.failures), len(tasks))

        if workers == 1:
            for task in left:
                told(task, self._run(task))
            return len(left)
        with local_workers(min(workers or usable_cores(), len(left))) as pool:
            # The first alone: it compiles what is not compiled yet, and the others find it on the disk.
            for some in (left[:1], left[1:]):
                futures = {pool.executor.submit(_run, *self._arguments(task)): task for task in some}
                for future in as_completed(futures):
                    told(futures[future], _reason(future))
        return len(left)

    def _run(self, task: tuple[Variant, SiteSample]) -> str | None:
        return _run(*self._arguments(task))

    def _arguments(self, task: tuple[Variant, SiteSample]) -> tuple[str, str, bool, str, Variant, SiteSample]:
        return str(self.directory), self._site, self.nodes, str(self._path(*task)), *task

    def answer(self, variant: Variant, sample: SiteSample = THE_LOG) -> VariantAnswer | None:
        """Return the answer of a variant; None: there is none."""
        path = self._path(variant, sample)
        if not path.is_file():
            return None
        try:
            with np.load(path, allow_pickle=False) as found:
                told = parse_json(str(found["told"]))
                columns = {name: found[name] for name in _COLUMNS}
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError(f"{path}: the stored answer is damaged ({error}): remove the file and run again") from None
        jobs = sample.of(self.jobs)[columns["row"]].replace(submit_time=columns["submit"])
        schedule = Schedule(
            jobs,
            columns["start"],
            columns["end"],
            backfilled=columns["backfilled"],
            killed=columns["killed"],
            predicted_run_time=jobs.requested_time,
            corrections=np.zeros(len(jobs), dtype=np.int64),
            scheduler=variant.name,
            processors=told["processors"],
            eligible_time=columns["queued"],
        )
        return VariantAnswer(variant, sample, schedule, columns["row"], told["metrics"], tuple(told["notes"]))

    def _path(self, variant: Variant, sample: SiteSample) -> Path:
        from schedlab import __version__

        what = {name: value for name, value in asdict(variant).items() if name != "name"}
        key = json.dumps([__version__, self._site, self.nodes, what, asdict(sample)], sort_keys=True)
        return self.answers / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"


def _fingerprint(directory: Path) -> str:
    """Return a digest of what a site's answers depend on."""
    digest = hashlib.sha256()
    for name in (MANIFEST, CLUSTER, JOBS, NODE_EVENTS):
        if name != NODE_EVENTS or (directory / name).is_file():
            digest.update((directory / name).read_bytes())
    return digest.hexdigest()


def _reason(future: Future[str | None]) -> str | None:
    """Return why a simulation failed; None: it did not."""
    try:
        return future.result()
    except Exception as error:
        return f"the process that simulated it has died ({type(error).__name__})"


@lru_cache(maxsize=1)
def _unchanged_site(directory: str, fingerprint: str) -> Site:
    """Return a site, once for all variants that a process runs of it."""
    site = read(directory)
    if _fingerprint(Path(directory)) != fingerprint:
        raise InputError(f"{directory} has changed since its variants were planned; run them again")
    return site


def _run(directory: str, fingerprint: str, nodes: bool, path: str, variant: Variant, sample: SiteSample) -> str | None:
    """Simulate a variant in a worker and write the answer; return what is wrong, if anything is."""
    try:
        site = _unchanged_site(directory, fingerprint)
        found = simulate_variant(site, sample.of(site.replayable().jobs), variant, nodes=nodes)
    except InputError as error:
        return str(error)
    rows, schedule, notes = found
    told = {"metrics": schedule.metrics(), "notes": notes, "processors": schedule.processors}
    submit = schedule.workload.submit_time
    columns = (
        rows,
        submit,
        schedule.queued_since,
        schedule.start_time,
        schedule.end_time,
        schedule.backfilled,
        schedule.killed,
    )
    arrays: dict[str, Any] = {"told": np.array(json.dumps(told))}
    arrays |= {name: np.asarray(column) for name, column in zip(_COLUMNS, columns, strict=True)}
    with atomic_path(path) as temporary:
        np.savez_compressed(temporary, **arrays)
    return None


def simulate_variant(
    site: Site, jobs: Workload, variant: Variant, *, nodes: bool = True
) -> tuple[NDArray[np.int64], Schedule, list[str]]:
    """Return the rows of the jobs that a variant of a site can run, their schedule, and what to know about it.

    Raises
    ------
    InputError
        If a change cannot be made, or none of the jobs can run.
    """
    task = variant_task(site, jobs, variant)
    other = task.site
    found = replay(task.jobs, task.scheduler, other.cluster, nodes=nodes, node_events=other.node_events)
    return task.rows, found, task.notes


class VariantTask(NamedTuple):
    """What a variant of a site simulates.

    Parameters
    ----------
    site
        As changed.
    scheduler
        Of the variant.
    jobs
        Those that can run, at the variant's load.
    rows
        Of these among all jobs.
    notes
        What was left out, or has no effect, in sentences.
    """

    site: Site
    scheduler: Scheduler
    jobs: Workload
    rows: NDArray[np.int64]
    notes: list[str]


def variant_task(site: Site, jobs: Workload, variant: Variant) -> VariantTask:
    """Return what a variant of a site simulates.

    Raises
    ------
    InputError
        If a change cannot be made, or none of the jobs can run.
    """
    other = changed(site, variant.changes) if variant.changes else site
    kept = replayable(jobs, other.cluster, other.node_events)
    notes = [*without_effect(other, variant.changes), *kept.notes()]
    scheduler = other.scheduler
    if variant.policy:
        whole = "+" in variant.policy
        scheduler = Scheduler.parse(variant.policy) if whole else replace_policy(scheduler, variant.policy)
    if jobs.dependencies is not None and isinstance(scheduler.backfill, Slurm):
        # Jobs that wait for others are not planned: Slurm does not do so, and jobs of think times are not there yet.
        passes = replace(scheduler.backfill, wf_plan="ready")
        scheduler = replace(scheduler, backfill=passes)
    loaded = kept.jobs if variant.load == 1 else scale_load(kept.jobs, factor=variant.load)
    return VariantTask(other, scheduler, loaded, kept.rows.astype(np.int64), notes)
