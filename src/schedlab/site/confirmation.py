"""Variants of a site on the real Slurm: the twin's answer beside slurmctld's own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.node_events import NodeEvents
from schedlab.errors import InputError
from schedlab.schedule.summary import duration
from schedlab.site.effects import FEWEST_JOBS, groups_of, signed
from schedlab.site.samples import SiteSample
from schedlab.site.site import Site
from schedlab.site.sweep import VariantFailure, VariantTask, variant_task
from schedlab.site.validation import common_rows
from schedlab.site.variants import AS_IT_IS, Variant
from schedlab.slurm.deployment import deploy, usual_way
from schedlab.slurm.installation import installed_version
from schedlab.slurm.node_commands import carried_out, commands_of
from schedlab.slurm.replay import run_phases
from schedlab.slurm.results import SlurmRun
from schedlab.slurm.validation import model_phases
from schedlab.wording import count_of, table
from schedlab.workload.workload import Workload

Waits = NDArray[np.float64]
"""Seconds that jobs wait, shape (phases, jobs)."""


@dataclass(frozen=True, slots=True)
class ConfirmedVariant:
    """A variant in the twin and on the real Slurm.

    Parameters
    ----------
    variant
        Which.
    twin, real
        Waits of the same jobs, in seconds, shape (phases, jobs).
    """

    variant: Variant
    twin: Waits
    real: Waits


@dataclass(frozen=True, slots=True)
class MeanChange:
    """The mean wait of a group of jobs, at the site as it is and in a variant.

    Parameters
    ----------
    before, after
        Means over the phases, in seconds.
    lowest, highest
        Of the differences of the phases, in seconds.
    """

    before: float
    after: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, before: Waits, after: Waits) -> MeanChange:
        """Return that of some jobs, from their waits."""
        first, second = before.mean(axis=1), after.mean(axis=1)
        changes = second - first
        return cls(float(first.mean()), float(second.mean()), float(changes.min()), float(changes.max()))

    @property
    def difference(self) -> float:
        """Seconds by which the mean wait changes."""
        return self.after - self.before

    @property
    def sign(self) -> int:
        """Whether all phases show shorter waits (-1) or longer ones (1); 0: they do not agree."""
        return -1 if self.highest < 0 else 1 if self.lowest > 0 else 0

    def __str__(self) -> str:
        return f"{signed(self.difference)} ({signed(self.lowest)} to {signed(self.highest)})"


@dataclass(frozen=True, slots=True)
class ConfirmedEffect:
    """What a variant does to a group of jobs, in the twin and on the real Slurm.

    Parameters
    ----------
    variant
        Its name.
    kind, group
        "all", "partition", "QOS", "account", "user", "size" or "GPU", and which of them.
    jobs
        How many.
    twin, real
        Their mean waits.
    """

    variant: str
    kind: str
    group: str
    jobs: int
    twin: MeanChange
    real: MeanChange

    @property
    def verdict(self) -> str:
        """Whether both say "shorter" or "longer", they "differ", or the phases of one do not agree ("unsure")."""
        if not self.twin.sign or not self.real.sign:
            return "unsure"
        if self.twin.sign != self.real.sign:
            return "differ"
        return "both shorter" if self.real.sign < 0 else "both longer"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """Variants of a site in the twin and on the real Slurm.

    Parameters
    ----------
    slurm
        The version.
    jobs
        Those that every run has started.
    processors
        Of the site.
    confirmed
        The site as it is, then the variants.
    failures
        Variants that the real Slurm cannot run, or does not.
    notes
        Jobs that are not compared, in sentences.
    """

    slurm: str
    jobs: Workload
    processors: int
    confirmed: tuple[ConfirmedVariant, ...]
    failures: tuple[VariantFailure, ...]
    notes: tuple[str, ...]

    @property
    def phases(self) -> int:
        """Runs of each variant."""
        return len(self.confirmed[0].real)

    def effects(self) -> list[ConfirmedEffect]:
        """Return what each variant does to all jobs, and to groups of at least `FEWEST_JOBS`."""
        base, *others = self.confirmed
        groups = dict(groups_of(self.jobs, self.processors))
        return [
            ConfirmedEffect(
                one.variant.name,
                kind,
                labels.names[number],
                len(mine),
                MeanChange.of(base.twin[:, mine], one.twin[:, mine]),
                MeanChange.of(base.real[:, mine], one.real[:, mine]),
            )
            for one in others
            for kind, labels in groups.items()
            if kind == "all" or len(labels.names) > 1
            for number in np.argsort(-np.bincount(labels.codes[labels.codes >= 0]), kind="stable").tolist()
            if len(mine := np.flatnonzero(labels.codes == number)) >= (1 if kind == "all" else FEWEST_JOBS)
        ]

    def sentences(self) -> list[str]:
        """Say in words how the twin and the real Slurm compare."""
        base = self.confirmed[0]
        twin, real = (float(waits.mean()) for waits in (base.twin, base.real))
        told = [
            f"{count_of(len(self.jobs), 'job')} in {count_of(self.phases, 'phase')} on slurmctld {self.slurm} and in "
            f"the twin. As it is, the site's mean wait is {duration(real)} on Slurm and {duration(twin)} in the twin"
            f"{f' ({twin / real - 1:+.0%})' if real else ''}."
        ]
        for one in (effect for effect in self.effects() if effect.kind == "all"):
            told.append(f"{one.variant}: {_WORDS[one.verdict]}; Slurm {one.real}, twin {one.twin}.")
        told += [f"{one.variant.name} was not run on Slurm: {one.reason}." for one in self.failures]
        return told

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        return {
            "slurm": self.slurm,
            "jobs": len(self.jobs),
            "phases": self.phases,
            "mean_waits": {
                one.variant.name: {"twin": one.twin.mean(axis=1).tolist(), "slurm": one.real.mean(axis=1).tolist()}
                for one in self.confirmed
            },
            "effects": [asdict(one) | {"verdict": one.verdict} for one in self.effects()],
            "failures": [asdict(one) for one in self.failures],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        head = ["variant", "", "jobs", "as it is: Slurm", "twin", "difference: Slurm", "twin", ""]
        rows, last = [], ""
        for one in (one for one in self.effects() if one.kind in ("all", "partition", "QOS")):
            name, last = ("" if one.variant == last else one.variant), one.variant
            row = [name, one.group, f"{one.jobs:,}", duration(one.real.before), duration(one.twin.before)]
            rows.append([*row, str(one.real), str(one.twin), one.verdict])
        return "\n".join([*self.sentences(), "", table(head, rows)]) if rows else "\n".join(self.sentences())


_WORDS = {
    "both shorter": "waits become shorter in both",
    "both longer": "waits become longer in both",
    "differ": "the twin and the real Slurm disagree: do not trust the twin here",
    "unsure": "the phases do not agree whether waits become shorter or longer",
}


def confirm(
    site: Site,
    variants: Iterable[Variant],
    sample: SiteSample | None = None,
    *,
    phases: int = 5,
    seed: int = 1,
    nodes: bool = True,
    **options: Any,
) -> Confirmation:
    """Run a site as it is and variants of it on an unmodified slurmctld and in the twin, and compare.

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
    **options
        Of `schedlab.slurm.run`: mode, progress, directory.

    Raises
    ------
    InputError
        If there is no Slurm 22.05, it does not run the site as it is, or no job is started in all runs.
    """
    version, sample = installed_version(), sample or SiteSample()
    jobs = sample.of(site.replayable().jobs).replace(start_time=None)  # both clocks then show the same minute
    runs, failures = [], []
    for variant in (Variant(AS_IT_IS), *variants):
        try:
            task = variant_task(site, jobs, variant)
            runs.append((variant, task, _on_slurm(task, variant, nodes=nodes, phases=phases, seed=seed, **options)))
        except InputError as error:
            if not runs:
                raise
            failures.append(VariantFailure(variant, sample, str(error)))
    common = np.arange(len(jobs))
    started = [task.rows[common_rows(found, np.arange(len(task.jobs)))] for _, task, found in runs]
    for rows in started:
        common = np.intersect1d(common, rows)
    if not len(common):
        raise InputError(f"{jobs.name}: not one job was started in all runs on the real Slurm")
    confirmed = []
    for (variant, task, found), rows in zip(runs, started, strict=True):
        twin = _in_twin(task, np.searchsorted(task.rows, rows), phases, seed, nodes=nodes)
        real = [_waits(task.rows[run.records["row"].to_numpy()], run.schedule.wait_time, common) for run in found]
        waits = [_waits(rows, one, common) for one in twin]
        confirmed.append(ConfirmedVariant(variant, np.array(waits, dtype=float), np.array(real, dtype=float)))
    notes = _notes(len(jobs), len(common), [run for *_, found in runs for run in found])
    if left_out := _not_carried_out(site, nodes=nodes):
        notes.append(f"on neither side: {left_out}")
    return Confirmation(version, jobs[common], site.cluster.processors, tuple(confirmed), tuple(failures), tuple(notes))


def _on_slurm(task: VariantTask, variant: Variant, *, nodes: bool, **options: Any) -> list[SlurmRun]:
    """Run a variant in the laboratory, with the site's files as changed and what happened to its nodes."""
    if "+" in variant.policy:
        raise InputError(
            f"{variant.policy} is a whole scheduler, and Slurm has its own passes: give the policy alone, and change "
            "SchedulerParameters"
        )
    # The twin has the policy in place of all priorities, and so has Slurm.
    deployment = deploy(variant.policy, way=usual_way(variant.policy, within=False)) if variant.policy else None
    with tempfile.TemporaryDirectory(prefix="schedlab-") as name:
        for file, text in task.site.files.items():
            Path(name, file).write_text(text, encoding="utf-8")
        happening = _happening(task.site, nodes=nodes)
        begin = (int(task.jobs.submit_time.min()) // 60 - 1) * 60
        commands = [] if happening is None else commands_of(happening, begin)
        return run_phases(task.jobs, conf=name, deployment=deployment, commands=commands, **options)


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


def _in_twin(
    task: VariantTask, rows: NDArray[np.intp], phases: int, seed: int, *, nodes: bool
) -> list[NDArray[np.int64]]:
    """Return the waits of the jobs of some rows in the twin, phase by phase."""
    cluster = task.site.cluster
    jobs = task.jobs[rows].replace(processors=cluster.processors)
    scheduler = task.scheduler if nodes else replace(task.scheduler, placement=None)
    machine = cluster if nodes else None
    happening = _happening(task.site, nodes=nodes)
    found = model_phases(jobs, scheduler, phases=phases, seed=seed, cluster=machine, node_events=happening)
    return [one.wait_time for one in found]


def _waits(rows: NDArray[np.int64], waits: NDArray[np.int64], common: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the waits of some rows, in their order."""
    order = np.argsort(rows, kind="stable")
    return waits[order[np.searchsorted(rows[order], common)]]


def _notes(jobs: int, compared: int, runs: Sequence[SlurmRun]) -> list[str]:
    rejected = next((run.rejected for run in runs if run.rejected), {})
    notes = [f"{count_of(jobs - compared, 'job')} not compared: not started in every run"] if compared < jobs else []
    if rejected:
        reason = next(iter(rejected.values()))
        notes.append(f"Slurm rejected {count_of(len(rejected), 'job')}, such as: {reason}")
    return notes
