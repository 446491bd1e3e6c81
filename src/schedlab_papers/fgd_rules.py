"""ATC'23: the six rules of placement as its simulator has them, and a simulator of pods that arrive and stay.

Scores are whole numbers from 0 to 100. The nodes are shuffled once, and of those with the highest score the first is
taken. A pod that finds no room is gone.

References
----------
Weng, Yang, Yu, Wang, Tang, Yang and Zhang, "Beware of fragmentation: scheduling GPU-sharing workloads with
fragmentation gradient descent", USENIX ATC 2023, section 6.1, and the program that its authors published with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab_papers.fgd_pods import WHOLE, Machines, Pods

MOST_CORES, MOST_GPUS = 128_000, 8_000
"""What the scores are parts of: the largest node."""

POPULAR = 0.95
"""Requests are typical that make up this share of the pods, the most frequent first."""

KINDS = 1 + 8
"""Kinds of pods by GPUs: a part of one, or a number of whole ones."""


class Free(NamedTuple):
    """What the nodes have free, as in `Machines`, and the kinds of pods that each has (nodes by KINDS)."""

    cores: NDArray[np.int64]
    memory: NDArray[np.int64]
    gpus: NDArray[np.int64]
    kinds: NDArray[np.bool_]

    def of(self, nodes: NDArray[np.intp]) -> Free:
        """Return the same of some nodes."""
        return Free(self.cores[nodes], self.memory[nodes], self.gpus[nodes], self.kinds[nodes])


class Pod(NamedTuple):
    """A pod, as in `Pods`."""

    cores: int
    memory: int
    gpus: int
    share: int
    models: NDArray[np.bool_]

    @property
    def shares(self) -> bool:
        """Whether it takes a part of a GPU."""
        return 0 < self.share < WHOLE

    @property
    def kind(self) -> int:
        """Its place among KINDS; it must have a GPU."""
        return 0 if self.shares else self.gpus


Score = Callable[[Pod, Free, NDArray[np.int64]], NDArray[np.int64]]
"""A rule: the pod, what the nodes with room have free, and the models of their GPUs; the scores of these nodes."""


def place(
    pods: Pods,
    order: NDArray[np.intp],
    machines: Machines,
    rule: str,
    rng: np.random.Generator,
    *,
    ties: Literal["first", "random"] = "first",
) -> NDArray[np.bool_]:
    """Let pods arrive in an order; return which found room.

    Of the nodes with the highest score, the "first" of an order drawn once is taken, or one at "random".
    """
    gradient = Gradient.of(pods, machines) if rule == "FGD" else None
    score = gradient.scores if gradient else RULES[rule]
    rank, drawn = rng.permutation(len(machines.cores)), ties == "random" or rule == "Random"
    free = _empty(machines)
    placed = np.zeros(len(order), dtype=np.bool_)
    for i, row in enumerate(order):
        pod = _pod(pods, row)
        nodes = np.flatnonzero(_room(pod, free, machines.model))
        if len(nodes) == 0:
            continue
        values = score(pod, free.of(nodes), machines.model[nodes])
        best = nodes[values == values.max()]
        node = int(rng.choice(best) if drawn else best[np.argmin(rank[best])])
        if pod.gpus > 0:
            device = gradient.device(pod, free, node, int(machines.model[node])) if gradient and pod.shares else -1
            _take_gpus(pod, free, node, device, rng if rule == "Random" else None)
        free.cores[node] -= pod.cores
        free.memory[node] -= pod.memory
        placed[i] = True
    return placed


def ever_fits(pods: Pods, machines: Machines) -> NDArray[np.bool_]:
    """Return which pods would find room on empty nodes."""
    free = _empty(machines)
    return np.array([_room(_pod(pods, row), free, machines.model).any() for row in range(len(pods.cores))])


def _pod(pods: Pods, row: int) -> Pod:
    return Pod(pods.cores[row], pods.memory[row], pods.gpus[row], pods.share[row], pods.models[row])


def _empty(machines: Machines) -> Free:
    kinds = np.zeros((len(machines.cores), KINDS), dtype=np.bool_)
    return Free(machines.cores.copy(), machines.memory.copy(), machines.gpus.copy(), kinds)


def _room(pod: Pod, free: Free, model: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which nodes have room for a pod."""
    room = (free.cores >= pod.cores) & (free.memory >= pod.memory)
    if pod.gpus > 0:
        room &= pod.models[model] & (np.count_nonzero(free.gpus >= pod.share, axis=1) >= pod.gpus)
    return room


def _take_gpus(pod: Pod, free: Free, node: int, device: int, rng: np.random.Generator | None) -> None:
    """Take the first whole GPUs, or a part of one: of that device, of any drawn at random, or of the fullest."""
    gpus = free.gpus[node]
    free.kinds[node, pod.kind] = True
    if not pod.shares:
        gpus[np.flatnonzero(gpus == WHOLE)[: pod.gpus]] = 0
        return
    suitable = np.flatnonzero(gpus >= pod.share)
    if rng is not None:
        device = int(rng.choice(suitable))
    elif device < 0:
        device = int(suitable[np.argmin(gpus[suitable])])
    gpus[device] -= pod.share


def at_random(pod: Pod, free: Free, model: NDArray[np.int64]) -> NDArray[np.int64]:
    """Any node."""
    return np.zeros(len(model), dtype=np.int64)


def dot_product(pod: Pod, free: Free, model: NDArray[np.int64]) -> NDArray[np.int64]:
    """The smaller the product of what is free and what is asked for, the better."""
    product = free.cores / MOST_CORES * (pod.cores / MOST_CORES)
    product = product + free.gpus.sum(axis=1) / MOST_GPUS * (pod.gpus * pod.share / MOST_GPUS)
    return np.asarray(100 * (1 - product / 2), dtype=np.int64)


def gpu_clustering(pod: Pod, free: Free, model: NDArray[np.int64]) -> NDArray[np.int64]:
    """Nodes that have pods of this kind alone, then beside others, then idle ones; of these the fullest."""
    if pod.gpus == 0:
        return at_random(pod, free, model)
    kinds = free.kinds.sum(axis=1)
    alike = free.kinds[:, pod.kind]
    base = np.select([alike & (kinds == 1), alike, kinds == 0], [75, 50, 25], 0)
    return np.asarray(base + 25 * (MOST_GPUS - free.gpus.sum(axis=1)) // MOST_GPUS)


def gpu_packing(pod: Pod, free: Free, model: NDArray[np.int64]) -> NDArray[np.int64]:
    """Parts of GPUs in use, then GPUs of nodes in use, then idle nodes."""
    if pod.gpus == 0:
        return at_random(pod, free, model)
    whole = np.count_nonzero(free.gpus == WHOLE, axis=1)
    here = np.count_nonzero(free.kinds, axis=1) > 0
    idle = np.maximum(33 - whole, whole)
    in_use = np.full(len(model), 50 - pod.gpus)
    if pod.shares:
        fullest = np.where(free.gpus >= pod.share, free.gpus, WHOLE).min(axis=1)
        parts = 100 - fullest * 100 // WHOLE // 10
        in_use = np.where(fullest < WHOLE, parts, in_use)
    return np.where(here, in_use, idle)


def best_fit(pod: Pod, free: Free, model: NDArray[np.int64]) -> NDArray[np.int64]:
    """The less is left of cores and GPUs, the better."""
    cores = (free.cores - pod.cores) / MOST_CORES
    gpus = (free.gpus.sum(axis=1) - pod.gpus * pod.share) / MOST_GPUS
    return np.asarray((1 - (cores + gpus) / 2) * 100, dtype=np.int64)


RULES: dict[str, Score] = {
    "Random": at_random,
    "DotProd": dot_product,
    "GpuClustering": gpu_clustering,
    "GpuPacking": gpu_packing,
    "BestFit": best_fit,
}
"""The rules whose scores need the node and the pod alone; the sixth is "FGD"."""

POLICIES = (*RULES, "FGD")
"""In the order of the paper."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """Fragmentation as sums of tables: a node's is what it has free less what typical pods could use of that.

    A pod that takes a part of a GPU can use GPUs with that part free, one that takes n whole ones all whole ones, if
    there are n: so usable thousandths are sums over the GPUs, and over typical pods by their cores.

    Parameters
    ----------
    cores
        float64: the distinct cores of typical pods, ascending.
    parts
        float64, models by cores by thousandths free: the share of typical pods that can use a GPU.
    wholes
        The same, by the number of whole GPUs, for pods of two and more.
    """

    cores: NDArray[np.int64]
    parts: NDArray[np.float64]
    wholes: NDArray[np.float64]

    @classmethod
    def of(cls, pods: Pods, machines: Machines) -> Gradient:
        """Return the tables for the typical pods of a list."""
        share, typical = typical_pods(pods)
        cores = np.unique(typical.cores)
        shape = len(machines.models), len(cores) + 1
        parts, wholes = np.zeros((*shape, WHOLE + 1)), np.zeros((*shape, 9))
        for i in range(len(share)):
            from_cores = int(np.searchsorted(cores, typical.cores[i])) + 1
            if typical.gpus[i] == 1:
                parts[typical.models[i], from_cores:, typical.share[i] :] += share[i]
            elif typical.gpus[i] > 1:
                wholes[typical.models[i], from_cores:, typical.gpus[i] :] += share[i]
        return cls(cores, parts, wholes)

    def useful(
        self, model: NDArray[np.int64], cores: NDArray[np.int64], gpus: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the thousandths of GPUs that typical pods could use, on average; of nodes by GPUs."""
        enough = np.searchsorted(self.cores, cores, side="right")
        each = (self.parts[model[:, None], enough[:, None], gpus] * gpus).sum(axis=1)
        whole = np.count_nonzero(gpus == WHOLE, axis=1)
        return np.asarray(each + self.wholes[model, enough, whole] * WHOLE * whole)

    def _useful_without(
        self, share: int, model: NDArray[np.int64], cores: NDArray[np.int64], gpus: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Return the same after a part of one GPU is taken, by the GPU."""
        enough, model = np.searchsorted(self.cores, cores, side="right")[:, None], model[:, None]
        left = np.maximum(gpus - share, 0)
        each = self.parts[model, enough, gpus] * gpus
        others = each.sum(axis=1)[:, None] - each
        whole = np.count_nonzero(gpus == WHOLE, axis=1)[:, None] - (gpus == WHOLE)
        return np.asarray(
            others + self.parts[model, enough, left] * left + self.wholes[model, enough, whole] * WHOLE * whole
        )

    def scores(self, pod: Pod, free: Free, model: NDArray[np.int64]) -> NDArray[np.int64]:
        """Score nodes: the less a pod increases their fragmentation, the better."""
        return np.asarray(self._by_device(pod, free, model).max(axis=1))

    def device(self, pod: Pod, free: Free, node: int, model: int) -> int:
        """Return the GPU of a node that a part is taken of; on ties, the first."""
        one = free.of(np.array([node]))
        return int(np.argmax(self._by_device(pod, one, np.array([model]))[0]))

    def _by_device(self, pod: Pod, free: Free, model: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the score of each node, by the GPU that a part is taken of; -1 where it has not that much."""
        before = free.gpus.sum(axis=1) - self.useful(model, free.cores, free.gpus)
        cores = free.cores - pod.cores
        if not pod.shares:
            gpus = free.gpus.copy()
            first = np.cumsum(gpus == WHOLE, axis=1) <= pod.gpus
            gpus[first & (gpus == WHOLE)] = 0
            return _squashed(before - (gpus.sum(axis=1) - self.useful(model, cores, gpus)))[:, None]
        after = (free.gpus.sum(axis=1) - pod.share)[:, None] - self._useful_without(pod.share, model, cores, free.gpus)
        return np.where(free.gpus >= pod.share, _squashed(before[:, None] - after), -1)


def typical_pods(pods: Pods) -> tuple[NDArray[np.float64], Pods]:
    """Return the most frequent distinct requests, up to POPULAR of the pods, and the share of each among them.

    Memory is no part of a request here. Of equally frequent requests, the larger ones come first.
    """
    table = np.column_stack([pods.cores, pods.share, pods.gpus, pods.models])
    distinct, counts = np.unique(table, axis=0, return_counts=True)
    order = np.lexsort((*distinct.T[::-1], counts))[::-1]
    distinct, counts = distinct[order], counts[order]
    needed = int(np.searchsorted(np.cumsum(counts), POPULAR * len(pods.cores))) + 1
    distinct, counts = distinct[:needed], counts[:needed]
    cores, share, gpus = distinct[:, :3].T
    found = Pods(cores, np.zeros_like(cores), gpus, share, distinct[:, 3:].astype(np.bool_))
    return counts / counts.sum(), found


def _squashed(decrease: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a decrease of fragmentation as a score from 0 to 100, as the authors' program does: by a sigmoid."""
    return (100 / (1 + np.exp(-decrease / WHOLE))).astype(np.int64)
