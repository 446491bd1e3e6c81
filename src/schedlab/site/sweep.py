"""Many variants of a site, run on several processes; each answer is kept beside the site, so that none is run twice."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from schedlab.arguments import explained
from schedlab.atomic import make_directory
from schedlab.campaign.run.executors import local_workers, usable_cores
from schedlab.energy.power import Power
from schedlab.energy.power_file import power_sha256, read_power
from schedlab.errors import InputError
from schedlab.site.answers import FORMAT, VariantAnswer, read_answer, work_of, write_answer, write_same
from schedlab.site.changes import check_questions
from schedlab.site.copies import at_other_seconds, shift_of, with_pass_time
from schedlab.site.energy_beside import IDLE_POWER, in_time_until
from schedlab.site.no_effect import changes_nothing
from schedlab.site.other_events import check_events
from schedlab.site.samples import THE_LOG, SiteSample
from schedlab.site.site import Site, fingerprint, read
from schedlab.site.slurm_defaults import site_under
from schedlab.site.standing import read_records, standing_of
from schedlab.site.variant_task import VariantTask, check_cap, same_work_task, variant_task
from schedlab.site.variants import AS_IT_IS, Variant, compared_with, distinct
from schedlab.workload.workload import Workload

LATER = ("slurm", "rules", "checkpoints", "cap", "nodes_off")
"""What variants of older versions do not have: it is no part of the name of an answer where it is not used."""

ANSWERS = "what-if"
"""The directory within that of a site where answers are kept."""


@dataclass(frozen=True, slots=True)
class VariantFailure:
    """A variant that could not be run on a sample, and why."""

    variant: Variant
    sample: SiteSample
    reason: str


class Paired(NamedTuple):
    """The same jobs, with the same work, at the site as it is and in a variant."""

    base: VariantAnswer
    other: VariantAnswer

    @property
    def base_name(self) -> str:
        """What the site as it is is called here: its name says where it has less work, or another load."""
        base = compared_with(self.other.variant)
        told = ["same work"] if self.other.work else []
        told += [f"load {base.load:g}"] if base.load != 1 else []
        told += ["same node events"] if base.node_events is not None else []
        told += [] if base.own_events else ["without the site's node events"]
        return ", ".join([AS_IT_IS, *told])


class _Task(NamedTuple):
    """A simulation: of a variant or, for the sake of comparing with it, of the site as it is with the work done there.

    `work` is a digest of that work, see `VariantAnswer.work`.
    """

    variant: Variant
    sample: SiteSample
    work: str = ""


class _Twin(NamedTuple):
    """The twin that variants are made of: the directory of the site, its fingerprint, the version, with nodes?

    `power` is the file of a power model, or empty.
    """

    directory: str
    digest: str
    slurm: str
    nodes: bool
    power: str = ""


@explained
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
    anyway
        Whether a twin answers that its last calibration found not good enough.
    slurm
        The version of Slurm whose rules hold at the site as it is, where they differ; empty: its own.
    power
        The file of a power model: answers then have the energy of both sides, its cost and its CO2.

    Raises
    ------
    InputError
        If it is not a site with jobs, or its twin is not good enough; or the power model cannot be read.
    """

    def __init__(
        self,
        directory: str | PathLike[str],
        *,
        nodes: bool = True,
        answers: str | PathLike[str] | None = None,
        anyway: bool = False,
        slurm: str = "",
        power: str | PathLike[str] | None = None,
    ) -> None:
        self.directory, self.nodes, self.slurm = Path(directory), nodes, slurm
        self.site = site_under(read(self.directory), slurm)
        self.power_file = "" if power is None else str(Path(power).absolute())
        self.power = read_power(power, self.site.cluster) if power is not None else None
        self._power = "" if power is None else power_sha256(power)
        self.jobs = self.site.replayable().jobs
        self._site = fingerprint(self.directory)
        self.standing = standing_of(read_records(self.directory), self._site, self.jobs, nodes=nodes)
        self.standing.check(anyway=anyway)
        self.failures: dict[tuple[Variant, SiteSample], VariantFailure] = {}
        self.answers = make_directory(self.directory / ANSWERS if answers is None else answers)
        self._samples: dict[SiteSample, Workload] = {}

    def run(
        self,
        variants: Iterable[Variant],
        samples: Sequence[SiteSample] = (THE_LOG,),
        *,
        compare: bool = True,
        workers: int | None = None,
        progress: Callable[[int, int, int], None] | None = None,
    ) -> int:
        """Run what has no answer yet, the site as it is included; return how many simulations that took.

        Where a variant leaves jobs out or kills them, the site as it is also runs with the work that is left, and where
        it has another load and more, with that load. One that changes nothing is not simulated: its answer is that of
        the site as it is.

        Parameters
        ----------
        variants
            What to run. Those that fail are in `failures` afterwards.
        samples
            On which jobs.
        compare
            Whether the site as it is runs, too.
        workers
            Processes; None: one for each core; 1: this one.
        progress
            Called with the numbers of simulations that are done, that failed, and of all.

        Raises
        ------
        InputError
            If two variants have one name, a change names what the site does not have, a cap lacks its power model, or
            a stored answer is damaged.
        """
        wanted = list(variants)
        distinct(wanted)
        check_questions(self.site, dict.fromkeys(one.changes for one in wanted))
        check_events(self.site, wanted, nodes=self.nodes)
        for variant in wanted:
            check_cap(variant.cap, self.power, nodes=self.nodes)
        # Variants come first: only they tell with which work the site as it is has to run besides.
        bases = dict.fromkeys([*map(compared_with, wanted), Variant(AS_IT_IS)]) if compare else ()
        tasks = [_Task(one, sample) for one in (*wanted, *bases) for sample in samples]
        paths = {self._path(task): task for task in tasks}
        for task in tasks:
            paths |= {self._path(one): one for one in self._following(task)}
        missing = [task for path, task in paths.items() if not path.is_file()]
        asked = {task.variant for task in missing} if compare else set()
        idle = [one for one in wanted if one in asked and changes_nothing(self.site, one)]
        same = [task for task in missing if task.variant in idle and not task.work]
        left = deque(task for task in missing if task not in same)
        done = there = len(paths) - len(missing)
        for task, reason in chain(self._carried_out(left, workers), self._taken_over(same)):
            done += 1
            if reason is not None:
                why = f"the site as it is, with the work that is left: {reason}" if task.work else reason
                self.failures[task.variant, task.sample] = VariantFailure(task.variant, task.sample, why)
            for one in self._following(task):
                if (path := self._path(one)) not in paths:
                    paths[path] = one
                    left.append(one)
            if progress is not None:
                progress(done - len(self.failures), len(self.failures), len(paths))
        return done - there - len(same)

    def _following(self, task: _Task) -> list[_Task]:
        """Return the simulation of the site as it is that a comparison with a variant needs, if it is a special one."""
        path = self._path(task)
        if task.work or not path.is_file():
            return []
        work = work_of(path)
        return [task._replace(work=work)] if work else []

    def _carried_out(self, left: deque[_Task], workers: int | None) -> Iterator[tuple[_Task, str | None]]:
        """Run tasks, also those that are added meanwhile; give each with what is wrong, if anything is."""
        if not left:
            return
        if workers == 1:
            while left:
                task = left.popleft()
                yield task, _run(*self._arguments(task))
            return
        size = min(workers or usable_cores(), max(len(left), 2))
        with local_workers(size) as pool:
            # What is not compiled yet, the first ones compile side by side; the others find it on the disk.
            submit = pool.executor.submit
            begun = [left.popleft() for _ in range(min(len(left), size))]
            running = {submit(_run, *self._arguments(task)): task for task in begun}
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), _reason(future)
                running |= {submit(_run, *self._arguments(task)): task for task in left}
                left.clear()

    def _taken_over(self, same: Iterable[_Task]) -> Iterator[tuple[_Task, str | None]]:
        """Answer variants that change nothing as the site as it is has been answered; give each as `_carried_out`."""
        for task in same:
            as_it_is = self._path(_Task(Variant(AS_IT_IS), task.sample))
            yield task, _run(*self._arguments(task), simulated=str(as_it_is) if as_it_is.is_file() else "")

    def _arguments(self, task: _Task) -> tuple[_Twin, str, _Task]:
        twin = _Twin(str(self.directory), self._site, self.slurm, self.nodes, self.power_file)
        return twin, str(self._path(task)), task

    def answer(self, variant: Variant, sample: SiteSample = THE_LOG) -> VariantAnswer | None:
        """Return the answer of a variant; None: there is none. Its energy is that of `pair`.

        Raises
        ------
        InputError
            If it is damaged.
        """
        pair = self.pair(variant, sample) if self.power is not None else None
        return self._answer(_Task(variant, sample), variant) if pair is None else pair.other

    def pair(self, variant: Variant, sample: SiteSample = THE_LOG) -> Paired | None:
        """Return the answer of a variant beside that of the site as it is, of the same jobs and the same work.

        It is None if one of them is not there. Their energy is that of the same time. Errors as for `answer`.
        """
        other = self._answer(_Task(variant, sample), variant)
        if other is None:
            return None
        as_it_is = compared_with(variant)
        base = self._answer(_Task(variant if other.work else as_it_is, sample, other.work), as_it_is)
        return None if base is None else Paired(base, self._in_time_of(base, other))

    def pairs(self, variant: Variant, samples: Sequence[SiteSample]) -> list[Paired]:
        """Return the pairs of a variant on samples, such as the copies of one; none, if one of them is not there."""
        found = [pair for sample in samples if (pair := self.pair(variant, sample)) is not None]
        return found if len(found) == len(samples) else []

    def sample(self, sample: SiteSample) -> Workload:
        """Return the jobs of a sample."""
        if sample not in self._samples:
            self._samples[sample] = sample.of(self.jobs)
        return self._samples[sample]

    def _in_time_of(self, base: VariantAnswer, other: VariantAnswer) -> VariantAnswer:
        """Return an answer with its energy over the time of the site as it is, unless that switches nodes off."""
        if self.power is None or "boots" in base.metrics:
            return other
        power = self.power.on_clock(self.jobs.start_time)
        ends, until = (int(one.schedule.end_time.max()) for one in (other, base))
        return replace(other, metrics=in_time_until(other.metrics, ends, until, power))

    def _answer(self, task: _Task, variant: Variant) -> VariantAnswer | None:
        path = self._path(task)
        return read_answer(path, variant, task.sample, self.sample(task.sample)) if path.is_file() else None

    def _path(self, task: _Task) -> Path:
        from schedlab import __version__

        # What the site as it is does with the same work is the same, whichever variants leave this work.
        load = {"load": task.variant.load} if task.variant.load != 1 else {}
        what = {"work": task.work} | load if task.work else asdict(task.variant)
        what.pop("name", None)
        if task.work and (base := compared_with(task.variant)) != Variant(AS_IT_IS, load=base.load):
            what["base"] = base.text
            what["nodes_off"] = base.nodes_off
        # What came later is left out where it is not used: answers that are there stay valid.
        what = {name: value for name, value in what.items() if value or name not in LATER}
        what |= {"power": [self._power, IDLE_POWER]} if self._power else {}
        whose = f"{self._site} {self.slurm}" if self.slurm else self._site
        key = json.dumps([__version__, FORMAT, whose, self.nodes, what, asdict(task.sample)], sort_keys=True)
        return self.answers / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"


def _reason(future: Future[str | None]) -> str | None:
    """Return why a simulation failed; None: it did not."""
    try:
        return future.result()
    except Exception as error:
        return f"the process that simulated it has died ({type(error).__name__})"


@lru_cache(maxsize=1)
def _unchanged_site(twin: _Twin) -> tuple[Site, Workload]:
    """Return a site and its jobs that can be replayed, once for all variants that a process runs of it."""
    site = site_under(read(twin.directory), twin.slurm)
    if fingerprint(twin.directory) != twin.digest:
        raise InputError(f"{twin.directory} has changed since its variants were planned; run them again")
    return site, site.replayable().jobs


def task_of(sweep: Sweep, variant: Variant, sample: SiteSample, *, same_work: bool = False) -> VariantTask:
    """Return what a sweep simulates of a variant, or of the site as it is with the work that the variant does."""
    task = _Task(variant, sample, "same" if same_work else "")
    return _of_task(sweep.site, sweep.sample(sample), task, sweep.power)


def _of_task(site: Site, jobs: Workload, task: _Task, power: Power | None) -> VariantTask:
    """Return what is simulated of the jobs of a sample, with all else at the seconds of its copy."""
    copy = task.sample.copy
    site, variant = at_other_seconds(site, task.variant, copy)
    found = variant_task(site, jobs, variant, None if power is None else power.shifted(shift_of(copy)))
    found = same_work_task(site, jobs, variant, found) if task.work else found
    return replace(found, scheduler=with_pass_time(found.scheduler, copy))


def _run(twin: _Twin, path: str, task: _Task, simulated: str = "") -> str | None:
    """Simulate a variant in a worker and write the answer; return what is wrong, if anything is.

    If another answer is of the same simulation, it is the file `simulated`, and nothing is simulated.
    """
    try:
        site, jobs = _unchanged_site(twin)
        power = read_power(twin.power, site.cluster) if twin.power else None
        found = _of_task(site, task.sample.of(jobs), task, power)
        if simulated:
            write_same(path, found, simulated)
        else:
            write_answer(path, found, nodes=twin.nodes)
    except InputError as error:
        return str(error)
    return None
