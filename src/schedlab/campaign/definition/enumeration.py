"""The instances of a campaign, enumerated: each workload at each load, in each repetition and window."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.definition.inputs import entry_of
from schedlab.campaign.sources.entry import Entry, ModelEntry, StochasticEntry, TraceEntry
from schedlab.campaign.sources.experiment import ExperimentEntry
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.source import ExperimentSource, Model, Source, Stochastic, Trace

EXPERIMENTS = "experiment"
"""What the seeds of all experiments are made of, instead of the name of a workload."""


@dataclass(frozen=True, slots=True)
class Window:
    """The sequence of a workload with a number; the rest as for `schedlab.campaign.sources.entry.Windows`."""

    length: int
    state: int
    number: int


@dataclass(frozen=True, slots=True)
class Users:
    """Weeks of users drawn anew; parameters as for `schedlab.campaign.sources.entry.Resample`."""

    weeks: int | None
    profile: Literal["trace", "span"]


@dataclass(frozen=True, slots=True)
class Instance:
    """The jobs that schedulers are compared on.

    Parameters
    ----------
    workload
        How results call the source.
    source
        Where the jobs come from.
    repetition
        Number, from 0.
    seed
        Of the random generator that draws its jobs or its users; None if nothing is random.
    users
        How users are drawn anew.
    load
        Offered load that it is scaled to; None leaves it as it is.
    window
        What is cut out; None is all of it.
    """

    workload: str
    source: Source
    repetition: int = 0
    seed: int | None = None
    users: Users | None = None
    load: float | None = None
    window: Window | None = None

    @property
    def label(self) -> str:
        """What it is, in a few words for a person."""
        parts = [self.workload]
        if self.load is not None:
            parts.append(f"load {self.load:g}")
        if self.seed is not None:
            parts.append(f"repetition {self.repetition}")
        if self.window is not None:
            parts.append(f"window {self.window.number}")
        return ", ".join(parts)

    def specification(self) -> dict[str, Any]:
        """Return what makes it what it is, as plain dictionaries and numbers."""
        return {
            "workload": self.workload,
            "source": self.source.specification(),
            "repetition": self.repetition,
            "seed": self.seed,
            "users": None if self.users is None else asdict(self.users),
            "load": self.load,
            "window": None if self.window is None else asdict(self.window),
        }


def number_of_instances(campaign: Campaign, item: Input) -> int:
    """Return how many instances `instances_of` yields, without making them."""
    entry = entry_of(campaign, item)
    skipped = {number for number in entry.windows.skip if number < item.windows} if entry.windows else set()
    windows = item.windows - len(skipped) if entry.windows else 1
    return _repetitions(campaign, entry) * (len(entry.load) or 1) * windows


def _repetitions(campaign: Campaign, entry: Entry) -> int:
    random = not isinstance(entry, TraceEntry) or entry.resample is not None
    return (entry.repetitions or campaign.repetitions) if random else 1


def instances_of(campaign: Campaign, item: Input) -> Iterator[Instance]:
    """Yield the instances of one source: repetitions, their loads, their windows."""
    entry = entry_of(campaign, item)
    source = _source(entry, item)
    users = None
    if isinstance(entry, TraceEntry) and entry.resample is not None:
        users = Users(entry.resample.weeks, entry.resample.profile)
    random = users is not None or not isinstance(source, Trace)
    for repetition in range(_repetitions(campaign, entry)):
        # All experiments of a campaign draw the same ordinary jobs.
        drawn_as = EXPERIMENTS if isinstance(source, ExperimentSource) else item.workload
        seed = seed_of(campaign.seed, drawn_as, repetition) if random else None
        for load in entry.load or (None,):
            for window in _windows(entry, item):
                yield Instance(item.workload, source, repetition, seed, users, load, window)


def seed_of(seed: int, workload: str, repetition: int) -> int:
    """Return the seed of a repetition of a workload, the same whatever else is in the campaign.

    Examples
    --------
    >>> seed_of(1, "lublin", 0) != seed_of(1, "lublin", 1) != seed_of(2, "lublin", 1)
    True
    """
    digest = hashlib.sha256(f"{seed}/{workload}/{repetition}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _source(entry: Entry, item: Input) -> Source:
    if isinstance(entry, ExperimentEntry):
        return _experiment(entry, item)
    if isinstance(entry, StochasticEntry):
        return Stochastic(tuple(one.application() for one in entry.applications), entry.processors)
    if isinstance(entry, ModelEntry):
        return Model(entry.generate, entry.jobs, entry.processors, entry.estimates)
    assert isinstance(entry, TraceEntry)
    read_as = (entry.clean, entry.processors, entry.requests, item.laws, item.laws_sha256, entry.dependencies)
    return Trace(item.path, item.sha256, *read_as)


def _experiment(entry: ExperimentEntry, item: Input) -> ExperimentSource:
    presence, handling = list(entry.variants())[item.variant]
    shares = [table.share for table in entry.workflows]
    return ExperimentSource(
        label=item.label,
        model=item.path,
        model_sha256=item.sha256,
        workflows=tuple((path, sha256, share) for (path, sha256), share in zip(item.files, shares, strict=True)),
        workflow_policy=entry.workflow_policy,
        presence=presence,
        handling=handling,
        fill_wait=int(entry.fill_wait),
        preload=int(entry.preload),
        duration=int(entry.duration),
        drain=int(entry.drain),
        pressure=entry.pressure,
        counted=entry.counted,
        rules=entry.rules,
    )


def _windows(entry: Entry, item: Input) -> Iterator[Window | None]:
    if entry.windows is None:
        yield None
        return
    for number in range(item.windows):
        if number not in entry.windows.skip:
            yield Window(int(entry.windows.length), entry.windows.state, number)
