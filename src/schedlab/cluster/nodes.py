"""Nodes of a cluster, in groups of nodes that are alike, the partitions that they form, and their switches."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from schedlab.arguments import explained
from schedlab.cluster.hostlist import host_list, host_names
from schedlab.cluster.preemption import check_mode
from schedlab.errors import InputError, whole_number
from schedlab.wording import shown

LARGEST = 1 << 40
"""Of any number about a node: more is a mistake, and sums over a cluster stay within 64 bits."""

_NAME = re.compile(r"[^\s,\[\]]+")


def check_number(what: str, value: int | None, least: int = 0) -> None:
    """Raise InputError if a number about nodes is out of range; None is none."""
    if value is not None and not least <= whole_number(what, value) <= LARGEST:
        raise InputError(f"{what} must be {least} or more, not {value}")


def check_name(what: str, name: str) -> None:
    """Raise InputError if a name cannot stand in a host list."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            f"{shown(name)} cannot be the name of {what}: it is empty, or has a blank, a comma or a bracket"
        )


@explained
@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Nodes that are alike but for their names.

    Parameters
    ----------
    names
        One per node.
    cores
        Schedulable processors of each node: what the site counts as a CPU.
    memory
        MiB of each node, or None if memory is not counted.
    gpus
        GPUs of each node as pairs of type and count; the type "" is a GPU of no named type.
    features
        What jobs may ask for by name.
    weight
        Nodes of lower weight are taken first under the placement rule "weight".
    sockets
        Of each node.
    switch
        The leaf switch that connects the nodes, "" if the topology is not known.
    threads
        How many of the processors share one core.

    Raises
    ------
    InputError
        If a number is out of range, or a name is not one or occurs twice.

    Examples
    --------
    >>> NodeGroup(("n1", "n2"), cores=64, memory=256_000, gpus=(("a100", 4),)).gpu_count
    4
    >>> NodeGroup.of("n[1-2]", cores=64, memory=256_000, gpus={"a100": 4}).names
    ('n1', 'n2')
    """

    names: tuple[str, ...]
    cores: int
    memory: int | None = None
    gpus: tuple[tuple[str, int], ...] = ()
    features: frozenset[str] = frozenset()
    weight: int = 1
    sockets: int = 1
    switch: str = ""
    threads: int = 1

    def __post_init__(self) -> None:
        given: object = self.names
        if isinstance(given, str):
            raise InputError(f"names={given!r} is one text: use NodeGroup.of({given!r}, cores=...)")
        if not self.names:
            raise InputError("a group of nodes is empty")
        for name in self.names:
            check_name("a node", name)
        if len(set(self.names)) < len(self.names):
            raise InputError(f"node {_repeated(self.names)} occurs twice in its group")
        where = f"nodes {host_list(self.names)}"
        if whole_number(f"{where}: cores", self.cores) < 1:
            raise InputError(f"{where} have no cores: {self.cores}")
        check_number(f"{where}: cores", self.cores, 1)
        check_number(f"{where}: memory", self.memory, 1)
        check_number(f"{where}: weight", self.weight)
        check_number(f"{where}: sockets", self.sockets, 1)
        check_number(f"{where}: threads", self.threads, 1)
        types = [kind for kind, _ in self.gpus]
        if len(set(types)) < len(types):
            raise InputError(f"{where}: GPUs of type {_repeated(types)!r} are given twice")
        for kind, count in self.gpus:
            check_number(f"{where}: the number of GPUs{f' of type {kind}' if kind else ''}", count, 1)

    @classmethod
    @explained
    def of(
        cls,
        names: str | Iterable[str],
        *,
        cores: int,
        memory: int | None = None,
        gpus: int | Mapping[str, int] = 0,
        features: Iterable[str] = (),
        weight: int = 1,
        sockets: int = 1,
        switch: str = "",
        threads: int = 1,
    ) -> NodeGroup:
        """Return a group from a host list such as "n[01-20]" or names, and GPUs as a number or by type."""
        nodes = host_names(names) if isinstance(names, str) else names
        kinds = gpus if isinstance(gpus, Mapping) else {"": gpus} if gpus else {}
        return cls(
            tuple(nodes), cores, memory, tuple(kinds.items()), frozenset(features), weight, sockets, switch, threads
        )

    @property
    def gpu_count(self) -> int:
        """GPUs of each node, of all types."""
        return sum(count for _, count in self.gpus)

    @property
    def hosts(self) -> str:
        """Its names as a host list."""
        return host_list(self.names)


@dataclass(frozen=True, slots=True)
class Partition:
    """A set of nodes with rules for the jobs that may run there.

    Parameters
    ----------
    name
        What jobs ask for.
    nodes
        Names of its nodes; they may belong to several partitions. Empty: all nodes.
    default
        Whether jobs that name no partition go there.
    priority_tier
        Jobs of a higher tier come before all jobs of lower ones, whatever their priority.
    max_time, default_time
        Seconds; None: no limit, and the limit where a job gives no time.
    overtime
        Seconds that its jobs may run beyond their requests; None: as many as the scheduler says.
    min_nodes, max_nodes
        How many nodes a job may use; None: as many as there are.
    memory_per_core, memory_per_node
        MiB that a job gets that asks for no memory; None: none is counted for it.
    memory_per_gpu
        MiB that a job that asks for no memory gets for each of its GPUs, instead; None: GPUs do not count.
    whole_memory
        Whether a job that asks for no memory, and is given none by these, holds all memory of its nodes; of nodes with
        unequal memory, the least of them on each.
    exclusive
        Whether every job gets whole nodes.
    allow_accounts, allow_qos, deny_accounts, deny_qos
        Who may use it; an empty allow list admits everybody.
    up
        Whether jobs start there.
    max_memory_per_core, max_memory_per_node
        MiB: a job that asks for more memory of a core gets more cores, and one that asks for more of a node does not
        run there; None: no limit.
    max_cores_per_node
        How many cores of each node its jobs may hold together; None: all. Jobs that get whole nodes get only those that
        have no more.
    priority_factor
        What the partition contributes to multifactor priorities, before its weight.
    allow_groups
        Groups of users who may use it; empty: everybody.
    exclusive_user
        Whether only jobs of one user share a node; kept, but not simulated.
    least_loaded
        Whether its jobs get the least loaded nodes, under the placement rules "switches" and "consecutive".
    qos
        The QOS whose limits hold for all its jobs, "" for none.
    preempt_mode, grace_time
        What becomes of its jobs that give way to others, "" for what the cluster says; and the seconds that they may
        still run then.
    billing, billing_largest
        Weights of what jobs hold, in the use that counts for fair share and limits: pairs of resource (cpu, node, mem
        in MiB, gres/gpu, gres/gpu:TYPE) and weight; none: the cores. And whether the largest weighted resource is
        billed rather than the sum.

    Raises
    ------
    InputError
        If a number is out of range, or two contradict each other.

    Examples
    --------
    >>> Partition.of("gpu", "g[1-4]", max_time=86_400).nodes
    ('g1', 'g2', 'g3', 'g4')
    """

    name: str
    nodes: tuple[str, ...] = ()
    default: bool = False
    priority_tier: int = 1
    max_time: int | None = None
    default_time: int | None = None
    min_nodes: int = 1
    max_nodes: int | None = None
    memory_per_core: int | None = None
    memory_per_node: int | None = None
    exclusive: bool = False
    allow_accounts: frozenset[str] = frozenset()
    allow_qos: frozenset[str] = frozenset()
    deny_accounts: frozenset[str] = frozenset()
    deny_qos: frozenset[str] = frozenset()
    up: bool = True
    max_memory_per_core: int | None = None
    max_memory_per_node: int | None = None
    max_cores_per_node: int | None = None
    priority_factor: int = 1
    allow_groups: frozenset[str] = frozenset()
    exclusive_user: bool = False
    qos: str = ""
    preempt_mode: str = ""
    grace_time: int = 0
    billing: tuple[tuple[str, float], ...] = ()
    billing_largest: bool = False
    least_loaded: bool = False
    overtime: int | None = None
    memory_per_gpu: int | None = None
    whole_memory: bool = False

    def __post_init__(self) -> None:
        check_name("a partition", self.name)
        for name, weight in self.billing:
            if not 0 <= weight < math.inf:
                raise InputError(
                    f"partition {self.name}: billing of {name} is {weight}: must be a number of at least 0"
                )
        if self.preempt_mode:
            check_mode(f"partition {self.name}: preempt_mode", self.preempt_mode)
        if len(set(self.nodes)) < len(self.nodes):
            raise InputError(f"partition {self.name}: node {_repeated(self.nodes)} is named twice")
        for field in ("priority_tier", "priority_factor", "max_time", "default_time", "min_nodes", "max_nodes"):
            check_number(f"partition {self.name}: {field}", getattr(self, field))
        for field in ("memory_per_core", "memory_per_node", "memory_per_gpu"):
            check_number(f"partition {self.name}: {field}", getattr(self, field))
        for field in ("max_memory_per_core", "max_memory_per_node"):
            check_number(f"partition {self.name}: {field}", getattr(self, field))
        check_number(f"partition {self.name}: max_cores_per_node", self.max_cores_per_node, 1)
        check_number(f"partition {self.name}: grace_time", self.grace_time)
        check_number(f"partition {self.name}: overtime", self.overtime)
        if self.max_nodes is not None and self.max_nodes < self.min_nodes:
            raise InputError(
                f"partition {self.name}: max_nodes={self.max_nodes} is less than min_nodes={self.min_nodes}"
            )
        if self.memory_per_core is not None and self.memory_per_node is not None:
            raise InputError(f"partition {self.name}: give memory_per_core or memory_per_node, not both")

    @classmethod
    @explained
    def of(cls, name: str, nodes: str | Iterable[str] = (), **rules: object) -> Partition:
        """Return a partition of the nodes in a host list such as "n[01-20]"; rules are the other parameters."""
        names = tuple(host_names(nodes) if isinstance(nodes, str) else nodes)
        return cls(name, names, **rules)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch, and the one above it; nodes name the leaf switch that connects them.

    Parameters
    ----------
    name
        Of the switch.
    parent
        The switch above it, "" at the top.
    """

    name: str
    parent: str = ""


def _repeated(names: Iterable[str]) -> str:
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
