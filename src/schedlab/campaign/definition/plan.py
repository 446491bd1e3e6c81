"""The plan of a campaign: its instances and tasks, each with a name that is the hash of its specification."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.instances import Instance, instances_of, number_of_instances
from schedlab.campaign.sources.input import Input
from schedlab.errors import InputError
from schedlab.imports import named_classes
from schedlab.own_code import digests_of_code
from schedlab.scheduler.slurm_rules import naming_version
from schedlab.scheduler.slurm_versions import OF_0_1

ID_DIGITS = 32
"""Hexadecimal digits of the name of a task or a batch."""

BATCH_TASKS = 1_000
BATCH_JOBS = 5_000_000
"""Most tasks, and most jobs of all its simulations together, in a batch: some seconds of work."""

MOST_TASKS = 2_000_000
"""Tasks of a campaign: to name them takes a minute."""

BATCHES_PER_WORKER = 8
"""Minimum number of batches for each worker, so that none is idle at the end."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What all tasks of a campaign share: how they are simulated and measured."""

    events: Literal["batched", "pyss", "sc17"]
    warm_up: float
    cool_down: float
    tau: int
    engine: Literal["schedlab", "slurm"] = "schedlab"
    own: tuple[str, ...] = ()
    code: tuple[tuple[str, str], ...] = ()
    slurm: str | None = None

    def specification(self) -> dict[str, Any]:
        """Return them as plain values; schedlab's own engine and metrics go without saying.

        Of the code of the user's own, only that of metrics belongs to all tasks, and no version of Slurm does.
        """
        usual: dict[str, Any] = {"engine": "schedlab", "own": [], "code": {}}
        values = asdict(self) | {"own": list(self.own), "code": self.code_of(*self.own)}
        del values["slurm"]
        return {name: value for name, value in values.items() if name not in usual or value != usual[name]}

    def code_of(self, *texts: str) -> dict[str, str]:
        """Return the digests of the code that scheduler texts and metrics name, by its names."""
        named = {name for text in texts for name in named_classes(text)} if self.code else set()
        return {name: digest for name, digest in self.code if name in named}

    @classmethod
    def of(cls, campaign: Campaign, code: Mapping[str, str]) -> Settings:
        """Return those of a campaign, and of the code of the user's own that it names."""
        metrics = campaign.metrics
        fixed = campaign.events, metrics.warm_up, metrics.cool_down, metrics.tau, campaign.engine, metrics.own
        return cls(*fixed, tuple(sorted(code.items())), campaign.slurm)

    def versions_of(self, scheduler: str) -> dict[str, str]:
        """Return the version of Slurm that a scheduler text follows or is run by, if it is not said in the text.

        That of schedlab 0.1 goes without saying, so that tasks that it ran keep their names.
        """
        leaves_open = naming_version(scheduler, OF_0_1) != scheduler
        return {"slurm": self.slurm} if self.slurm and leaves_open and self.slurm != OF_0_1 else {}


@dataclass(frozen=True, slots=True)
class Task:
    """One simulation."""

    instance: Instance
    scheduler: str
    settings: Settings

    @property
    def name(self) -> str:
        """The hash of its specification."""
        return task_names(self.settings, self.instance, [self.scheduler])[0]

    @property
    def text(self) -> str:
        """The text of the scheduler, with the version of Slurm that the campaign says where it names none."""
        version = self.settings.slurm
        return naming_version(self.scheduler, version) if version else self.scheduler

    @property
    def label(self) -> str:
        """What it is, in a few words for a person."""
        return f"{self.instance.label}: {self.scheduler}"

    def specification(self) -> dict[str, Any]:
        """Return everything that its result depends on, but the version of schedlab."""
        told = {**self.instance.specification(), "scheduler": self.scheduler, **self.settings.specification()}
        code = self.settings.code_of(self.scheduler, *self.settings.own)
        return told | self.settings.versions_of(self.scheduler) | ({"code": code} if code else {})


@dataclass(frozen=True, slots=True)
class Batch:
    """Tasks that are run one after the other by one process and whose results are one file."""

    settings: Settings
    parts: tuple[tuple[Instance, tuple[str, ...]], ...]

    def tasks(self) -> Iterator[tuple[str, Task]]:
        """Yield the tasks with their names."""
        for instance, schedulers in self.parts:
            names = task_names(self.settings, instance, schedulers)
            for name, scheduler in zip(names, schedulers, strict=True):
                yield name, Task(instance, scheduler, self.settings)

    @property
    def name(self) -> str:
        """The hash of the names of its tasks."""
        return _digest(hashlib.sha256(" ".join(name for name, _ in self.tasks()).encode()))

    def without(self, names: set[str]) -> Batch | None:
        """Return the batch without some of its tasks; None if nothing is left."""
        return self._keep(lambda name: name not in names)

    def only(self, names: set[str]) -> Batch | None:
        """Return the batch with only some of its tasks; None if there are none."""
        return self._keep(lambda name: name in names)

    def _keep(self, wanted: Any) -> Batch | None:
        kept = [(task.instance, task.scheduler) for name, task in self.tasks() if wanted(name)]
        return Batch(self.settings, _grouped(kept)) if kept else None


def task_names(settings: Settings, instance: Instance, schedulers: Sequence[str]) -> list[str]:
    """Return the names of an instance's tasks: hashes of their specifications.

    Examples
    --------
    >>> from schedlab.campaign.sources.trace import TraceEntry
    >>> settings, log = Settings("batched", 0, 0, 10), TraceEntry(trace="x.swf")
    >>> def name(path, sha256):
    ...     return task_names(settings, Instance(log, Input("w", 0, path, sha256, 100, 8, 0)), ["fcfs"])[0]
    >>> a, b, c = name("here/x.swf", "ab12"), name("there/x.swf", "ab12"), name("here/x.swf", "cd34")
    >>> a == b, a == c, len(a)
    (True, False, 32)
    """
    codes = {scheduler: settings.code_of(scheduler) for scheduler in schedulers}
    common = hashlib.sha256(
        f"{_canonical(settings.specification())}\n{_canonical(instance.specification())}\n".encode()
    )
    names = []
    for scheduler in schedulers:
        digest = common.copy()
        digest.update(scheduler.encode())
        if versions := settings.versions_of(scheduler):
            digest.update(_canonical(versions).encode())
        if codes[scheduler]:
            digest.update(_canonical(codes[scheduler]).encode())
        names.append(_digest(digest))
    return names


def _canonical(document: Any) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _digest(digest: Any) -> str:
    return str(digest.hexdigest()[:ID_DIGITS])


def _grouped(pairs: list[tuple[Instance, str]]) -> tuple[tuple[Instance, tuple[str, ...]], ...]:
    """Return the schedulers of each instance; those of one instance stand beside each other."""
    parts: list[tuple[Instance, list[str]]] = []
    for instance, scheduler in pairs:
        if not parts or parts[-1][0] is not instance:
            parts.append((instance, []))
        parts[-1][1].append(scheduler)
    return tuple((instance, tuple(schedulers)) for instance, schedulers in parts)


@explained
class Plan:
    """All tasks of a campaign, in their order: instance after instance, each with all schedulers.

    Parameters
    ----------
    campaign
        The campaign.
    inputs
        Its sources, from `schedlab.campaign.definition.inputs.find_inputs`.
    code
        The digests of the code of the user's own that it names; None: of that code as it is now.
    schedulers
        Their canonical texts; None: those of the campaign. To make these is to import what they name.
    """

    def __init__(
        self,
        campaign: Campaign,
        inputs: Sequence[Input],
        code: Mapping[str, str] | None = None,
        schedulers: Sequence[str] | None = None,
    ) -> None:
        self.campaign = campaign
        self.inputs = list(inputs)
        self.code = digests_of_code(campaign.named_classes()) if code is None else dict(code)
        self.settings = Settings.of(campaign, self.code)
        self.schedulers = campaign.scheduler_texts() if schedulers is None else list(schedulers)
        tasks = sum(number_of_instances(campaign, item) for item in inputs) * len(self.schedulers)
        if tasks > MOST_TASKS:
            raise InputError(
                f"the campaign has {tasks:,} simulations, and {MOST_TASKS:,} is the maximum per campaign: "
                "lower repetitions, loads, windows or schedulers, or make several campaigns"
            )
        self.instances: list[Instance] = []
        jobs: list[int] = []
        for item in inputs:
            instances = list(instances_of(campaign, item))
            self.instances += instances
            jobs += [item.jobs // max(item.windows, 1)] * len(instances)
        self._jobs = np.array(jobs, dtype=np.int64)
        self.names = np.array(
            [name for instance in self.instances for name in task_names(self.settings, instance, self.schedulers)],
            dtype=f"S{ID_DIGITS}",
        )
        if not len(self.names):
            raise InputError("the campaign has no simulation: all its windows are skipped")
        self._order = np.argsort(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def positions(self, names: NDArray[np.bytes_]) -> NDArray[np.intp]:
        """Return the positions of those names that belong to the plan; an unknown name is left out."""
        names = np.asarray(names, dtype=self.names.dtype)
        found = np.searchsorted(self.names, names, sorter=self._order)
        found = self._order[np.minimum(found, len(self) - 1)]
        return np.asarray(found[self.names[found] == names])

    def task(self, position: int) -> tuple[str, Task]:
        """Return the name and the task at a position."""
        instance, scheduler = divmod(position, len(self.schedulers))
        name = self.names[position].decode()
        return name, Task(self.instances[instance], self.schedulers[scheduler], self.settings)

    def agrees(self, names: NDArray[np.bytes_], columns: Mapping[str, NDArray[Any]]) -> bool:
        """Return whether results say of their tasks what the plan says; tasks of other plans are passed over.

        Parameters
        ----------
        names
            Of the tasks.
        columns
            `scheduler`, `workload`, `load`, `repetition` and `window` of each.
        """
        found = np.searchsorted(self.names, names, sorter=self._order)
        found = self._order[np.minimum(found, len(self) - 1)]
        rows = np.flatnonzero(self.names[found] == names)
        instances, schedulers = np.divmod(found[rows], len(self.schedulers))
        told = columns["scheduler"][rows]
        if not all(self.schedulers[place] == text for place, text in zip(schedulers.tolist(), told, strict=True)):
            return False
        for name, of in _COORDINATES.items():
            planned = {place: of(self.instances[place]) for place in np.unique(instances).tolist()}
            for place, value in zip(instances.tolist(), columns[name][rows].tolist(), strict=True):
                if _known(planned[place]) != _known(value):
                    return False
        return True

    def find(self, prefix: str) -> Task:
        """Return the one task whose name begins so.

        Raises
        ------
        InputError
            If there is none, or more than one.
        """
        matches = np.flatnonzero(np.char.startswith(self.names, prefix.encode()))
        if len(matches) != 1:
            how_many = "no task" if not len(matches) else f"{len(matches)} tasks"
            where = "campaign search, or campaign results -o all.csv"
            raise InputError(f"the name of {how_many} begins with {prefix!r}; the names are in {where}")
        return self.task(int(matches[0]))[1]

    def cut(self, pending: NDArray[np.intp], workers: int, *, in_turn: bool = False) -> list[NDArray[np.intp]]:
        """Cut positions of tasks into batches of similar work.

        Parameters
        ----------
        pending
            Positions, ascending.
        workers
            How many there are to share the work.
        in_turn
            Whether a worker that has finished a batch takes the next one. Batches become smaller towards the end then,
            so that the last ones end at about the same time, whatever their tasks cost.
        """
        if not len(pending):
            return []
        jobs = self._jobs[pending // len(self.schedulers)] + 1
        before = np.concatenate([[0], np.cumsum(jobs)])
        share = BATCHES_PER_WORKER * workers
        cuts, first = [], 0
        while first < len(pending):
            left = first if in_turn else 0
            limit = max(1, min(BATCH_JOBS, int(before[-1] - before[left]) // share))
            tasks = max(1, min(BATCH_TASKS, (len(pending) - left) // share))
            last = int(np.searchsorted(before, before[first] + limit, "right")) - 1
            first += max(1, min(tasks, last - first))
            cuts.append(first)
        return np.split(pending, cuts[:-1])

    def batch(self, positions: NDArray[np.intp]) -> Batch:
        """Return the batch of the tasks at some positions."""
        instances, schedulers = np.divmod(positions, len(self.schedulers))
        pairs = [
            (self.instances[i], self.schedulers[s])
            for i, s in zip(instances.tolist(), schedulers.tolist(), strict=True)
        ]
        return Batch(self.settings, _grouped(pairs))


_COORDINATES: dict[str, Callable[[Instance], Any]] = {
    "workload": lambda instance: instance.workload,
    "load": lambda instance: math.nan if instance.load is None else instance.load,
    "repetition": lambda instance: instance.repetition,
    "window": lambda instance: -1 if instance.window is None else instance.window.number,
}
"""What results say of an instance."""


def _known(value: Any) -> Any:
    """Return a value, None for NaN."""
    return None if isinstance(value, float) and math.isnan(value) else value
