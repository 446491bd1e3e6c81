"""Nodes of a cluster, in groups of nodes that are alike."""

from __future__ import annotations

from dataclasses import dataclass


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

    Examples
    --------
    >>> NodeGroup(("n1", "n2"), cores=64, memory=256_000, gpus=(("a100", 4),)).gpu_count
    4
    """

    names: tuple[str, ...]
    cores: int
    memory: int | None = None
    gpus: tuple[tuple[str, int], ...] = ()
    features: frozenset[str] = frozenset()
    weight: int = 1
    sockets: int = 1
    switch: str = ""

    @property
    def gpu_count(self) -> int:
        """GPUs of each node, of all types."""
        return sum(count for _, count in self.gpus)


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
    min_nodes, max_nodes
        How many nodes a job may use; None: as many as there are.
    memory_per_core, memory_per_node
        MiB that a job gets that asks for no memory; None: none is counted for it.
    exclusive
        Whether every job gets whole nodes.
    allow_accounts, allow_qos, deny_accounts, deny_qos
        Who may use it; an empty allow list admits everybody.
    up
        Whether jobs start there.
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
