"""The machine of a workload of a campaign: a cluster of nodes, what happens to its nodes, and what it draws."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from schedlab.campaign.sources.fields import LONGEST, Duration, Section, expanded, seconds
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.cluster_file import document_of
from schedlab.cluster.files import read_cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.documents import json_text
from schedlab.energy.power import Power
from schedlab.energy.power_file import power_sha256, read_power
from schedlab.errors import InputError
from schedlab.workload.workload import Workload

Delay = Annotated[int, BeforeValidator(seconds), Field(ge=0, le=LONGEST)]


class Failures(Section):
    """Random failures of nodes or of single GPUs, other ones in each repetition, see `NodeEvents.drawn`.

    Parameters
    ----------
    mtbf, mttr
        Mean durations from a return to the next failure of a node, and from a failure to the return; None: no node
        fails.
    gpu_mtbf, gpu_mttr
        The same of single GPUs.
    shape
        Of the Weibull distribution of the times between failures.
    """

    mtbf: Duration | None = None
    mttr: Duration | None = None
    gpu_mtbf: Duration | None = None
    gpu_mttr: Duration | None = None
    shape: Annotated[float, Field(gt=0, le=100, allow_inf_nan=False)] = 1.0

    @model_validator(mode="after")
    def _something_fails(self) -> Self:
        pairs = (("mtbf", "mttr"), ("gpu_mtbf", "gpu_mttr"))
        for pair in pairs:
            given = [name for name in pair if getattr(self, name) is not None]
            if len(given) == 1:
                raise ValueError(f"{pair[0]} and {pair[1]} go together: give both")
        if self.mtbf is None and self.gpu_mtbf is None:
            raise ValueError("give mtbf and mttr, gpu_mtbf and gpu_mttr, or all four: what fails how often")
        return self

    @property
    def given(self) -> dict[str, Any]:
        """The fields that have a value, by name."""
        return self.model_dump(exclude_none=True)


class MachineFiles(NamedTuple):
    """The files that describe a machine, and the fingerprints of what they say; empty without them."""

    cluster: str = ""
    cluster_sha256: str = ""
    node_events: str = ""
    node_events_sha256: str = ""
    power: str = ""
    power_sha256: str = ""


NO_MACHINE = MachineFiles()


class OnMachine(Section):
    """The fields of an entry that say on which cluster its jobs run; without `cluster`, on a number of processors.

    Parameters
    ----------
    cluster
        A file or directory that describes a cluster, see `schedlab.cluster.files.read_cluster`; relative to the
        campaign file.
    node_events
        A file of node events on the clock of the log, see `schedlab.cluster.node_events.NodeEvents.read`.
    failures
        Random failures of nodes or GPUs, from the first submission to the last; in addition to node_events, if both are
        given.
    interrupted
        What becomes of jobs on nodes that go down, see `NodeEvents`.
    requeue_delay
        Seconds before requeued jobs may begin again, see `NodeEvents`.
    power
        A power file, see `schedlab.energy.read_power`: results then have the energy of each schedule.
    enforce_cap
        Whether no job starts that would bring the power above the cap of that model.
    """

    cluster: str | None = None
    node_events: str | None = None
    failures: Failures | None = None
    interrupted: Literal["requeue", "lost"] = "requeue"
    requeue_delay: Delay = 0
    power: str | None = None
    enforce_cap: bool = False

    @model_validator(mode="after")
    def _nodes_of_a_cluster(self) -> Self:
        given = [name for name in ("node_events", "failures") if getattr(self, name) is not None]
        if self.cluster is None and given:
            raise ValueError(f"{given[0]} is about the nodes of a cluster: add cluster = FILE")
        if self.enforce_cap and self.power is None:
            raise ValueError("enforce_cap is about the cap of a power model: add power = FILE")
        if self.interrupted != "requeue" and not given:
            raise ValueError("interrupted is about nodes that go down: add node_events or failures")
        if self.requeue_delay and not given:
            raise ValueError("requeue_delay is about nodes that go down: add node_events or failures")
        if self.requeue_delay and self.interrupted == "lost":
            raise ValueError('requeue_delay is about jobs that are requeued, but interrupted = "lost": leave out one')
        return self

    def missing_files(self, base: Path) -> list[str]:
        """Return the files of the machine that are not there."""
        named = [name for name in (self.cluster, self.node_events, self.power) if name is not None]
        return [name for name in named if not (base / expanded(name)).exists()]

    def machine_files(self, base: Path) -> MachineFiles:
        """Read the files of the machine, and return them with the fingerprints of what they say.

        Raises
        ------
        InputError
            If one cannot be read, or if an event names a node that the cluster does not have.
        """
        found = NO_MACHINE if self.cluster is None else self._cluster_files(base, self.cluster)
        if self.power is None:
            return found
        path = str(base / expanded(self.power))
        read_power(path, cluster_in(found))
        return found._replace(power=path, power_sha256=power_sha256(path))

    def _cluster_files(self, base: Path, name: str) -> MachineFiles:
        path = str(base / expanded(name))
        cluster = read_cluster(path)
        found = MachineFiles(path, cluster_sha256(cluster))
        if self.node_events is None:
            return found
        place = str(base / expanded(self.node_events))
        events = NodeEvents.read(place)
        try:
            events.numbers(cluster.nodes)
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
        return found._replace(node_events=place, node_events_sha256=events_sha256(events))

    def machine_specification(self, files: MachineFiles) -> dict[str, Any]:
        """Return what a schedule and its energy depend on because of the machine; nothing without one."""
        used: dict[str, Any] = {}
        if self.cluster is not None:
            used["cluster"] = files.cluster_sha256
        if self.power is not None:
            used["power"] = files.power_sha256
        if self.enforce_cap:
            used["enforce_cap"] = True
        if self.node_events is not None:
            used["node_events"] = files.node_events_sha256
        if self.failures is not None:
            used["failures"] = self.failures.given
        if self.interrupted != "requeue":
            used["interrupted"] = self.interrupted
        if self.requeue_delay:
            used["requeue_delay"] = self.requeue_delay
        return {"machine": used} if used else {}

    def events_on(
        self, cluster: Cluster, files: MachineFiles, jobs: Workload, begin: int, seeds: list[int]
    ) -> NodeEvents | None:
        """Return what happens to the nodes while some jobs run; None if nothing does.

        Parameters
        ----------
        cluster, files
            The machine, and where it is described.
        jobs
            A workload or a window of it.
        begin
            The second of the whole workload that is second 0 of these jobs.
        seeds
            Of the random generator that draws failures.

        Raises
        ------
        InputError
            If a file has gone or changed.
        """
        events: list[NodeEvent] = []
        if files.node_events:
            events += _events(files.node_events, files.node_events_sha256).shifted(-begin).events
        if self.failures is not None and len(jobs):
            first, last = int(jobs.submit_time.min()), int(jobs.submit_time.max())
            rng = np.random.default_rng(seeds)
            events += NodeEvents.drawn(cluster, begin=first, until=last, rng=rng, **self.failures.given).events
        return NodeEvents(tuple(events), self.interrupted, self.requeue_delay) if events else None


def cluster_in(files: MachineFiles) -> Cluster | None:
    """Return the cluster of a machine; None if it is a number of processors.

    Raises
    ------
    InputError
        If the file has gone or changed.
    """
    return _cluster(files.cluster, files.cluster_sha256) if files.cluster else None


def cluster_sha256(cluster: Cluster) -> str:
    """Return the fingerprint of a cluster, the same for all files that describe it."""
    return hashlib.sha256(json_text(document_of(cluster)).encode()).hexdigest()


def events_sha256(events: NodeEvents) -> str:
    """Return the fingerprint of node events."""
    return hashlib.sha256(events.to_csv().encode()).hexdigest()


def power_in(files: MachineFiles) -> Power | None:
    """Return the power model of a machine; None if it has none.

    Raises
    ------
    InputError
        If a file has gone or changed.
    """
    return _power(files) if files.power else None


@lru_cache(maxsize=4)
def _power(files: MachineFiles) -> Power:
    _refuse_changed(files.power, power_sha256(files.power), files.power_sha256)
    return read_power(files.power, cluster_in(files))


@lru_cache(maxsize=4)
def _cluster(path: str, planned: str) -> Cluster:
    cluster = read_cluster(path)
    _refuse_changed(path, cluster_sha256(cluster), planned)
    return cluster


@lru_cache(maxsize=4)
def _events(path: str, planned: str) -> NodeEvents:
    events = NodeEvents.read(path)
    _refuse_changed(path, events_sha256(events), planned)
    return events


def _refuse_changed(path: str, now: str, planned: str) -> None:
    if now != planned:
        raise InputError(f"{path} has changed since the campaign was planned; run the campaign again")
