"""The machine: a number of identical processors, or nodes with partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from schedlab.arguments import explained
from schedlab.cluster.limits import Accounting
from schedlab.cluster.nodes import NodeGroup, Partition, Switch, check_name, check_number
from schedlab.cluster.peaks import peak
from schedlab.cluster.power_saving import PowerSaving
from schedlab.cluster.preemption import Preemption
from schedlab.display import as_html
from schedlab.errors import InputError, whole_number
from schedlab.wording import did_you_mean
from schedlab.workload.workload import Workload

ONE_NODE = "machine"
"""The node that a number of processors is, where limits hold its jobs back."""

POWER_LICENSE = "power_watts"
"""The licence of which jobs hold as many as they draw watts beyond the idle machine, if its power is capped."""


@dataclass(frozen=True, slots=True)
class IgnoredLine:
    """What a file says that is not used.

    Parameters
    ----------
    where
        File and line.
    text
        The line, or the part of it that is not used.
    reason
        Why.
    by_slurm
        Whether Slurm does not use it either.
    """

    where: str
    text: str
    reason: str
    by_slurm: bool = False

    def __str__(self) -> str:
        return f"{self.where}: {self.text} ({self.reason})"


@explained
@dataclass(frozen=True, slots=True, repr=False)
class Cluster:
    """A space-shared machine: identical processors, or nodes.

    Parameters
    ----------
    processors
        How many there are, at least 1; with nodes, the cores of all.
    groups
        Its nodes; empty: any processors are as good as others.
    partitions
        Sets of nodes with rules of their own; empty: one that everybody may use.
    name
        In messages and tables.
    switches
        How the leaf switches of the nodes are connected; empty: not known.
    licenses
        Licences that jobs may hold, as pairs of name and count.
    accounting
        Accounts, users and QOS with their limits; None: not known.
    preemption
        Which jobs may take the place of others that run; None: none.
    ignored
        What the files that it was read from say besides.
    power_saving
        When idle nodes are switched off; None: never.
    power_steps
        Pairs of a second of the log and how many of the licence `power_watts` there are from then on, in ascending
        order; before the first, and without any, as many as `licenses` says. No job starts that would be beyond it
        while it is expected to run.

    Raises
    ------
    InputError
        If two nodes or partitions have one name, a partition names an unknown node, two partitions are the default,
        or switches do not form a tree.

    Examples
    --------
    >>> Cluster(256).processors
    256
    >>> print(Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=64, memory=256_000)], [Partition("batch", default=True)]))
    cluster: 2 nodes, 128 cores, 500 GiB of memory
    <BLANKLINE>
    nodes   count  cores  memory (MiB)  weight
    n[1-2]      2     64       256,000       1
    <BLANKLINE>
    partition  default  nodes  cores  tier  max time
    batch      yes          2    128     1  unlimited
    """

    processors: int
    groups: tuple[NodeGroup, ...] = ()
    partitions: tuple[Partition, ...] = ()
    name: str = "cluster"
    switches: tuple[Switch, ...] = ()
    licenses: tuple[tuple[str, int], ...] = ()
    accounting: Accounting | None = None
    preemption: Preemption | None = None
    ignored: tuple[IgnoredLine, ...] = field(default=(), compare=False)
    power_saving: PowerSaving | None = None
    power_steps: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        if whole_number("processors", self.processors) < 1:
            raise InputError(f"a machine needs at least 1 processor, not {self.processors}")
        for name, count in self.licenses:
            check_number(f"licences of {name}", count, 1)
        self._check_power_steps()
        if not self.groups:
            if self.partitions or self.switches:
                raise InputError(f"{self.name}: partitions and switches need nodes, and the cluster has none")
            if self.power_saving is not None:
                raise InputError(f"{self.name}: power_saving is about nodes, and the cluster has none")
            if self.preemption is not None:
                raise InputError(f"{self.name}: jobs give way to others on nodes, and the cluster has none")
            return
        cores = sum(len(group.names) * group.cores for group in self.groups)
        if cores != self.processors:
            raise InputError(f"{self.name}: the nodes have {cores:,} cores in all, not {self.processors:,}")
        self._check_names()
        self._check_switches()

    def _check_power_steps(self) -> None:
        seconds = [whole_number("power_steps", second) for second, _ in self.power_steps]
        for _, watts in self.power_steps:
            check_number("power_steps", watts, 0)
        if seconds != sorted(set(seconds)):
            raise InputError("power_steps: the seconds do not ascend")
        if seconds and POWER_LICENSE not in dict(self.licenses):
            raise InputError(f"power_steps: the cluster has no licences {POWER_LICENSE} that could change")

    def _check_names(self) -> None:
        _refuse_repeated(self.nodes, "node {} is defined twice")
        known = set(self.nodes)
        _refuse_repeated((partition.name for partition in self.partitions), "partition {} is defined twice")
        for partition in self.partitions:
            strange = next((name for name in partition.nodes if name not in known), None)
            if strange is not None:
                raise InputError(f"partition {partition.name} names node {strange}, which is not in the cluster")
            if partition.min_nodes > (len(partition.nodes) or len(known)):
                raise InputError(f"partition {partition.name} has fewer nodes than its min_nodes={partition.min_nodes}")
        defaults = [partition.name for partition in self.partitions if partition.default]
        if len(defaults) > 1:
            raise InputError(f"partitions {defaults[0]} and {defaults[1]} are both the default; only one can be")

    def _check_switches(self) -> None:
        parents = {switch.name: switch.parent for switch in self.switches}
        _refuse_repeated((switch.name for switch in self.switches), "switch {} is defined twice")
        for name, parent in parents.items():
            check_name("a switch", name)
            if parent and parent not in parents:
                raise InputError(f"switch {name} is below switch {parent}, which is not in the cluster")
            above, steps = parent, 0
            while above:
                above, steps = parents[above], steps + 1
                if steps > len(parents):
                    raise InputError(f"switch {name} is above itself; switches must form a tree")
        for group in self.groups:
            if group.switch and parents and group.switch not in parents:
                raise InputError(f"nodes {group.hosts} are at switch {group.switch}, which is not in the cluster")

    @classmethod
    @explained
    def of_nodes(
        cls,
        groups: NodeGroup | Iterable[NodeGroup],
        partitions: Partition | Iterable[Partition] = (),
        *,
        name: str = "cluster",
        switches: Iterable[Switch] = (),
        licenses: Mapping[str, int] | None = None,
        accounting: Accounting | None = None,
        preemption: Preemption | None = None,
        ignored: Iterable[IgnoredLine] = (),
    ) -> Cluster:
        """Return a cluster of nodes; its processors are their cores.

        Raises
        ------
        InputError
            If there is no node, or as for `Cluster`.
        """
        groups = (groups,) if isinstance(groups, NodeGroup) else tuple(groups)
        partitions = (partitions,) if isinstance(partitions, Partition) else tuple(partitions)
        if not groups:
            raise InputError(f"{name}: the cluster has no nodes")
        processors = sum(len(group.names) * group.cores for group in groups)
        return cls(
            processors,
            groups,
            tuple(partitions),
            name,
            tuple(switches),
            tuple((licenses or {}).items()),
            accounting,
            preemption,
            tuple(ignored),
        )

    @classmethod
    @explained
    def for_workload(cls, workload: Workload, processors: int | None = None) -> Cluster:
        """Return the machine that a workload asks for, or the one given instead.

        Raises
        ------
        InputError
            If neither says how large the machine is, or if a job is wider than the machine.
        """
        size = workload.processors if processors is None else processors
        if size is None:
            most = _most_at_once(workload)
            hint = f"; the log has had {most:,} in use at once" if most else ""
            raise InputError(
                f"{workload.name}: the number of processors of the machine is unknown: give it (processors=){hint}"
            )
        cluster = cls(int(size))
        cluster.check(workload)
        return cluster

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of all nodes, in order."""
        return tuple(name for group in self.groups for name in group.names)

    @property
    def memory(self) -> int | None:
        """MiB of all nodes whose memory is counted, None if there are none."""
        parts = [len(group.names) * group.memory for group in self.groups if group.memory is not None]
        return sum(parts) if parts else None

    @property
    def gpus(self) -> dict[str, int]:
        """GPUs of all nodes by type."""
        counts: Counter[str] = Counter()
        for group in self.groups:
            for kind, count in group.gpus:
                counts[kind] += count * len(group.names)
        return dict(counts)

    @property
    def default_partition(self) -> Partition | None:
        """Where jobs go that name no partition, None if there is no such partition."""
        return next((partition for partition in self.partitions if partition.default), None)

    def partition(self, name: str) -> Partition:
        """Return a partition by its name.

        Raises
        ------
        InputError
            If there is none of that name.
        """
        for partition in self.partitions:
            if partition.name == name:
                return partition
        names = [partition.name for partition in self.partitions]
        known = f"its partitions are {', '.join(names)}" if names else "it has no partitions"
        raise InputError(f"{self.name} has no partition {name!r}{did_you_mean(name, names)}; {known}")

    def nodes_of(self, partition: Partition) -> tuple[str, ...]:
        """Return the names of a partition's nodes."""
        return partition.nodes or self.nodes

    def check(self, workload: Workload) -> None:
        """Raise InputError if some job can never run here."""
        too_wide = np.flatnonzero(workload.job_processors > self.processors)
        if too_wide.size:
            row = int(too_wide[0])
            raise InputError(
                f"job {workload.job_id[row]} needs {workload.job_processors[row]} processors but the machine has "
                f"{self.processors}: drop it (jobs[jobs.job_processors <= {self.processors}]) or give a larger machine "
                "(processors=)",
                row=row,
            )

    def to_dict(self) -> dict[str, Any]:
        """Return it as the document that `write_cluster` writes; `from_dict` reads it back."""
        from schedlab.cluster.cluster_file import document_of

        return document_of(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Cluster:
        """Return the cluster that a document describes.

        Raises
        ------
        InputError
            If a field is missing, unknown or wrong; the message names it.

        Examples
        --------
        >>> Cluster.from_dict({"groups": [{"nodes": "n[1-4]", "cores": 16}]})
        Cluster(cluster: 4 nodes, 64 cores)
        """
        from schedlab.cluster.cluster_file import cluster_of

        return cluster_of(document, "cluster")

    def summary(self) -> str:
        """Return what it has, in one line."""
        from schedlab.cluster.tables import resources_text

        return f"{self.name}: {resources_text(self)}"

    def __repr__(self) -> str:
        return f"Cluster({self.summary()})" if self.groups else f"Cluster({self.processors})"

    def __str__(self) -> str:
        from schedlab.cluster.tables import cluster_text

        return cluster_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def _refuse_repeated(names: Iterable[str], message: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(message.format(name))
        seen.add(name)


def _most_at_once(workload: Workload) -> int:
    """Return how many processors were in use at once, as far as starts and run times are recorded; 0: none is."""
    there = (workload.wait_time >= 0) & (workload.run_time > 0)
    start = (workload.submit_time + workload.wait_time)[there]
    machine, held = np.zeros(len(start), dtype=np.int64), workload.job_processors[there].astype(np.float64)
    most, _ = peak(held, start, start + workload.run_time[there], machine, np.zeros(1))
    return int(most[0])
