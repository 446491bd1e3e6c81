"""The instances of a campaign: each workload at each load, in each repetition and window; and their jobs.

Jobs are read or generated, users resampled, the load scaled, a window cut, in this order. What comes before the last
step is kept for the next instance: those of one workload follow each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from schedlab.campaign.definition.campaign import Campaign
from schedlab.campaign.sources.entry import Entry
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.machine import cluster_in, power_in
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvents
from schedlab.energy.accounting import account
from schedlab.energy.capping import capped
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.workload.sampling import cut_windows, rebase
from schedlab.workload.workload import Workload


@dataclass(frozen=True, slots=True)
class Window:
    """The sequence of a workload with a number; the rest as for `schedlab.campaign.sources.entry.Windows`."""

    length: int
    state: int
    number: int


@dataclass(frozen=True, slots=True)
class Instance:
    """The jobs that schedulers are compared on.

    Parameters
    ----------
    entry, item
        Where the jobs come from: what the campaign says, and what was found.
    repetition
        Number, from 0.
    seed
        Of the random generator that draws its jobs or its users; None if nothing is random.
    load
        Offered load that it is scaled to; None leaves it as it is.
    window
        What is cut out; None is all of it.
    """

    entry: Entry
    item: Input
    repetition: int = 0
    seed: int | None = None
    load: float | None = None
    window: Window | None = None

    @property
    def workload(self) -> str:
        """How results call the workload."""
        return self.item.workload

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
        """Return the identity key, as plain dictionaries and numbers."""
        return {
            "workload": self.workload,
            "source": self.entry.specification(self.item),
            "repetition": self.repetition,
            "seed": self.seed,
            "users": self.entry.users,
            "load": self.load,
            "window": None if self.window is None else asdict(self.window),
            **self.entry.machine_specification(self.item.machine),
        }

    def jobs(self) -> Workload:
        """Return the jobs.

        Raises
        ------
        InputError
            If a file has gone or changed, or if there is no such window.

        Examples
        --------
        >>> from schedlab.campaign.sources.model import ModelEntry
        >>> entry = ModelEntry(generate="lublin", jobs=50, processors=64, estimates="exact")
        >>> item = Input("small", 0, "", "", jobs=50, processors=64, windows=0)
        >>> Instance(entry, item, seed=7, load=0.5).jobs()
        <Workload small: 50 jobs, 64 processors>
        """
        jobs = self._cut()
        return (jobs if self.window is None else rebase(jobs)).replace(name=self.workload)

    def node_events(self, jobs: Workload) -> NodeEvents | None:
        """Return what happens to the nodes of the cluster while the jobs of this instance run; None if nothing does.

        Raises
        ------
        InputError
            If a file has gone or changed.
        """
        machine, cluster = self.item.machine, cluster_in(self.item.machine)
        if cluster is None:
            return None
        seeds = [self.seed or 0, *([] if self.window is None else [self.window.number])]
        return self.entry.events_on(cluster, machine, jobs, self._begin(), seeds)

    def under_cap(self, jobs: Workload) -> tuple[Workload, Cluster | None]:
        """Return the jobs of this instance and their cluster, under the power cap if there is one to be kept to.

        Raises
        ------
        InputError
            If a file has gone or changed, or a job could never start.
        """
        machine = self.item.machine
        power, cluster = power_in(machine), cluster_in(machine)
        if power is None or not self.entry.enforce_cap:
            return jobs, cluster
        shifted = power.shifted(-self._begin())
        return capped(jobs, shifted, cluster=cluster, processors=self.item.processors)

    def energy(self, schedule: Schedule) -> dict[str, float]:
        """Return the metrics of the energy of a schedule of these jobs, by name; none without a power model.

        Raises
        ------
        InputError
            If a file has gone or changed, or the model does not fit the machine or the log.
        """
        power = power_in(self.item.machine)
        return {} if power is None else account(schedule, power.shifted(-self._begin())).metrics()

    def _begin(self) -> int:
        """Return the second of the whole workload that is second 0 of these jobs."""
        return 0 if self.window is None else int(self._cut().submit_time.min())

    def _cut(self) -> Workload:
        """Return the jobs, on the clock of the whole workload."""
        parts = (self.entry, self.item, self.seed, self.load)
        if self.window is None:
            return _whole(*parts)
        sequences = _sequences(*parts, self.window.length, self.window.state)
        if self.window.number >= len(sequences):
            raise InputError(f"{self.workload}: has only {len(sequences)} windows: lower count")
        return sequences[self.window.number]


@lru_cache(maxsize=1)
def _sequences(
    entry: Entry, item: Input, seed: int | None, load: float | None, length: int, state: int
) -> tuple[Workload, ...]:
    return tuple(cut_windows(_whole(entry, item, seed, load), length, state))


@lru_cache(maxsize=1)
def _whole(entry: Entry, item: Input, seed: int | None, load: float | None) -> Workload:
    return entry.workload(item, seed, load)


def number_of_instances(campaign: Campaign, item: Input) -> int:
    """Return how many instances `instances_of` yields, without making them."""
    entry = campaign.workloads[item.entry]
    skipped = {number for number in entry.windows.skip if number < item.windows} if entry.windows else set()
    count = item.windows - len(skipped) if entry.windows else 1
    return _repetitions(campaign, entry) * (len(entry.load) or 1) * count


def instances_of(campaign: Campaign, item: Input) -> Iterator[Instance]:
    """Yield the instances of one workload: repetitions, their loads, their windows."""
    entry = campaign.workloads[item.entry]
    for repetition in range(_repetitions(campaign, entry)):
        seed = seed_of(campaign.seed, entry.seed_name(item), repetition) if entry.random else None
        for load in entry.load or (None,):
            for window in _windows(entry, item):
                yield Instance(entry, item, repetition, seed, load, window)


def _repetitions(campaign: Campaign, entry: Entry) -> int:
    return (entry.repetitions or campaign.repetitions) if entry.random else 1


def _windows(entry: Entry, item: Input) -> Iterator[Window | None]:
    if entry.windows is None:
        yield None
        return
    for number in range(item.windows):
        if number not in entry.windows.skip:
            yield Window(int(entry.windows.length), entry.windows.state, number)


def seed_of(seed: int, workload: str, repetition: int) -> int:
    """Return the seed of a repetition of a workload, the same whatever else is in the campaign.

    Examples
    --------
    >>> seed_of(1, "lublin", 0) != seed_of(1, "lublin", 1) != seed_of(2, "lublin", 1)
    True
    """
    digest = hashlib.sha256(f"{seed}/{workload}/{repetition}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
