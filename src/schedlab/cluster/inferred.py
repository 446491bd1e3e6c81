"""A cluster inferred from what jobs held of it at the same time: a lower bound of what is there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.holdings import Holdings
from schedlab.cluster.hostlist import name_order
from schedlab.cluster.node_lists import merged
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.cluster.peaks import peak

FULL, ALIKE = 3, 2
"""How many times a node must have been as full as ever, and how many nodes of a name, for that to be a size of them."""

SHARE = 0.5
"""The share of alike nodes that jobs of a partition must have run on for the partition to have all of them."""

_LAST_NUMBER = re.compile(r"\d+(?=\D*$)")
_FEATURE = re.compile(r"[^\s&|()\[\],]+")
_COUNT = re.compile(r"\*\d+")


class Inferred(NamedTuple):
    """A cluster, and how much of it was seen.

    Parameters
    ----------
    cluster
        Nodes, partitions and licences.
    lifted
        Nodes that were never seen as busy as others of their name, and got the size of these.
    runs
        How many runs of jobs tell of it.
    """

    cluster: Cluster
    lifted: tuple[str, ...]
    runs: int


def infer_cluster(held: Holdings) -> Inferred:
    """Return the cluster on which runs of jobs may have held what they did.

    A node has at least the cores that jobs held of it at the same time. Nodes whose names are the same up to the last
    number have one of the sizes at which several of them (`ALIKE`) were full several times (`FULL`), or the largest
    that was seen. Of those of one size, each has the most memory that was held of any of them (of any node, if none was
    held of these), each that has GPUs the most GPUs, and all have the features that jobs with constraints found on
    some. A partition has the nodes on which its jobs ran, and all of those that are alike if these are half of them
    (`SHARE`); its limit is the longest of its jobs. Of jobs on several nodes, one node holds the equal part or more,
    and nothing else is counted there meanwhile.

    Parameters
    ----------
    held
        At least one run.

    Examples
    --------
    >>> from schedlab.cluster.allocations import Allocations
    >>> when = np.array([0, 0, 50]), np.array([0, 10, 60]), np.array([100, 100, 100])
    >>> runs = Allocations(np.array([1, 2, 3]), *when, (("n1",), ("n1",), ("n2",)))
    >>> held = Holdings("lab", runs, {"cpu": np.array([4.0, 8.0, 4.0])}, ("batch",) * 3, ("",) * 3, np.full(3, 3600))
    >>> infer_cluster(held).cluster.summary()
    'lab: 2 nodes, 24 cores'
    """
    seen = _Seen.of(held)
    cores, lifted = _cores(seen)
    alike = [f"{_kind(name)} {count}" for name, count in zip(seen.names, cores, strict=True)]
    memory = _most_of_alike(seen.peak("mem")[0], alike)
    memory = np.where(memory > 0, memory, memory.max())
    gpus = {
        kind: _most_of_alike(seen.peak(kind)[0], alike, holders=True) for kind in held.amounts if "gres/gpu" in kind
    }
    features = _features(seen, alike)
    groups = [
        NodeGroup(
            (name,),
            cores=int(cores[node]),
            memory=int(memory[node]) or None,
            gpus=tuple((kind.partition(":")[2], int(most[node])) for kind, most in gpus.items() if most[node]),
            features=features[alike[node]],
        )
        for node, name in enumerate(seen.names)
    ]
    licenses = dict(_licenses(held))
    cluster = Cluster.of_nodes(merged(groups), _partitions(seen, alike), name=held.cluster, licenses=licenses)
    return Inferred(cluster, tuple(seen.names[node] for node in lifted), len(seen.start))


def _licenses(held: Holdings) -> Iterator[tuple[str, int]]:
    """Yield each licence, and the most of it that was held at the same time."""
    runs, place = held.allocations, np.zeros(len(held.limits), dtype=np.int64)
    for kind, amount in held.amounts.items():
        if kind.startswith("license/"):
            yield kind.partition("/")[2], int(peak(amount, runs.start, runs.end, place, np.zeros(1))[0][0])


class _Seen(NamedTuple):
    """Runs, and the parts that they held of single nodes: one entry for each node of each run.

    Parameters
    ----------
    held
        The runs.
    names
        All nodes, in order.
    start, end
        Of the runs.
    run, node
        Of each part: numbers of the run, and of the node.
    nodes
        How many nodes each run had.
    """

    held: Holdings
    names: list[str]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    run: NDArray[np.int64]
    node: NDArray[np.int64]
    nodes: NDArray[np.int64]

    @classmethod
    def of(cls, held: Holdings) -> _Seen:
        """Return the parts of runs."""
        runs = held.allocations
        names = sorted({name for nodes in runs.nodes for name in nodes}, key=name_order)
        number = {name: place for place, name in enumerate(names)}
        count = np.array([len(nodes) for nodes in runs.nodes], dtype=np.int64)
        node = np.array([number[name] for nodes in runs.nodes for name in nodes], dtype=np.int64)
        return cls(held, names, runs.start, runs.end, np.repeat(np.arange(len(count)), count), node, count)

    def peak(self, kind: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the most of a resource that was held of each node at the same time, and how many times it was reached.

        How a run on several nodes divides what it holds is not known: one of them holds the equal part or more, and
        that is not added to what others held there.
        """
        amounts = self.held.amounts.get(kind)
        if amounts is None:
            return np.zeros(len(self.names)), np.zeros(len(self.names), dtype=np.int64)
        part = np.ceil(amounts[self.run] / self.nodes[self.run])
        alone = self.nodes[self.run] == 1
        single = self.run[alone]
        least = np.zeros(len(self.names))
        np.maximum.at(least, self.node, part)
        most, times = peak(part[alone], self.start[single], self.end[single], self.node[alone], least)
        shared = self.node[~alone & (part == most[self.node])]
        return most, times + np.bincount(shared, minlength=len(self.names))


def _kind(name: str) -> str:
    """Return the name of a node without the last number in it."""
    return _LAST_NUMBER.sub("#", name)


def _cores(seen: _Seen) -> tuple[NDArray[np.int64], list[int]]:
    """Return the cores of each node, and which nodes got the size of others."""
    peak, times = seen.peak("cpu")
    cores = np.maximum(peak, 1).astype(np.int64)
    kinds: dict[str, list[int]] = defaultdict(list)
    for node, name in enumerate(seen.names):
        kinds[_kind(name)].append(node)
    sizes = cores.copy()
    for nodes in kinds.values():
        full, count = np.unique([cores[node] for node in nodes if times[node] >= FULL], return_counts=True)
        known = np.union1d(full[count >= ALIKE], [cores[nodes].max()])
        sizes[nodes] = known[np.searchsorted(known, cores[nodes])]
    return sizes, np.flatnonzero(sizes > cores).tolist()


def _most_of_alike(peak: NDArray[np.float64], alike: Sequence[str], *, holders: bool = False) -> NDArray[np.float64]:
    """Return the largest value of all nodes that are alike, or of those only that have any."""
    most: dict[str, float] = defaultdict(float)
    for kind, value in zip(alike, peak.tolist(), strict=True):
        most[kind] = max(most[kind], value)
    found = np.array([most[kind] for kind in alike])
    return np.where(peak > 0, found, 0) if holders else found


def _features(seen: _Seen, alike: Sequence[str]) -> Mapping[str, frozenset[str]]:
    """Return the features of nodes that are alike, by what jobs with constraints found there.

    Of alternatives, all are features of nodes that have none of them otherwise.
    """
    found: dict[str, frozenset[str]] = defaultdict(frozenset)
    several: list[tuple[str, frozenset[str]]] = []
    for run, node in zip(seen.run.tolist(), seen.node.tolist(), strict=True):
        if text := seen.held.constraints[run]:
            words = frozenset(_FEATURE.findall(_COUNT.sub("", text)))
            if re.search(r"[|\[]", text):
                several.append((alike[node], words))
            else:
                found[alike[node]] |= words
    for kind, words in several:
        if not found[kind] & words:
            found[kind] |= words
    return found


def _partitions(seen: _Seen, alike: Sequence[str]) -> Iterator[Partition]:
    """Yield the partitions in which jobs ran; one with all nodes if some job names none."""
    sizes: dict[str, int] = defaultdict(int)
    for kind in alike:
        sizes[kind] += 1
    of_node = np.array([seen.held.partitions[run] for run in range(len(seen.start))], dtype=object)
    for name in sorted(set(seen.held.partitions)):
        mine = of_node == name
        nodes = set(seen.node[mine[seen.run]].tolist())
        counts: dict[str, int] = defaultdict(int)
        for node in nodes:
            counts[alike[node]] += 1
        nodes |= {node for node, kind in enumerate(alike) if counts[kind] >= SHARE * sizes[kind]}
        limits = seen.held.limits[mine]
        longest = None if (limits <= 0).any() else int(limits.max())
        if not name or len(nodes) == len(seen.names):
            yield Partition(name or "all", default=not name, max_time=longest)
        else:
            yield Partition(name, tuple(seen.names[node] for node in sorted(nodes)), max_time=longest)
