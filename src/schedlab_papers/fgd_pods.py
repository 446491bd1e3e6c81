"""ATC'23 (fragmentation gradient descent): its nodes and pods, the order of arrival, and the published results."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schedlab import Cluster, InputError, Workload, read_cluster
from schedlab.formats import read_openb

FOLDER = "modern/alibaba-openb-2023"
NODES = "openb_node_list_gpu_node.csv.gz"
PUBLISHED = "published-allo.csv.gz"
WHOLE = 1000
"""Thousandths of a GPU, as of a core."""

TUNED = 1.3
"""Pods arrive until they request this many times the GPUs of the cluster."""

LOADS = np.arange(131)
"""Arrived load in per cent of the cluster's GPUs."""


@dataclass(frozen=True, slots=True)
class PodList:
    """A list of pods of the paper.

    Parameters
    ----------
    name
        What it varies.
    workload
        Its name in the published results, and of its file.
    """

    name: str
    workload: str

    @property
    def file(self) -> str:
        """Where it is in the directory of traces."""
        return f"{FOLDER}/{self.workload}.csv.gz"


POD_LISTS = (
    PodList("default", "openb_pod_list_default"),
    PodList("cpu250", "openb_pod_list_cpu250"),
    PodList("gpuspec33", "openb_pod_list_gpuspec33"),
)
"""Those whose results are kept beside the traces: the list as it was; with more pods that use no GPU; and with models
of GPUs that a third of the pods ask for."""


@dataclass(frozen=True, slots=True)
class Machines:
    """The nodes of the paper.

    Parameters
    ----------
    cores, memory
        int64: thousandths of cores, and MiB.
    gpus
        int64, nodes by 8: thousandths of each GPU, 0 where a node has none.
    model
        int64: the model of each node's GPUs, as a number.
    models
        Their names.
    cluster
        The same as schedlab has it; a core of it is a thousandth of one.
    """

    cores: NDArray[np.int64]
    memory: NDArray[np.int64]
    gpus: NDArray[np.int64]
    model: NDArray[np.int64]
    models: tuple[str, ...]
    cluster: Cluster

    @property
    def all_gpus(self) -> int:
        """Thousandths of GPUs of all nodes."""
        return int(self.gpus.sum())


@dataclass(frozen=True, slots=True)
class Pods:
    """Pods, one per row.

    Parameters
    ----------
    cores, memory
        int64: thousandths of cores, and MiB.
    gpus, share
        int64: how many GPUs, and the thousandths of each.
    models
        bool, pods by models: which a pod may use.
    """

    cores: NDArray[np.int64]
    memory: NDArray[np.int64]
    gpus: NDArray[np.int64]
    share: NDArray[np.int64]
    models: NDArray[np.bool_]

    @property
    def load(self) -> NDArray[np.int64]:
        """The thousandths of GPUs that each pod asks for."""
        return self.gpus * self.share


def read_machines(traces: Path) -> Machines:
    """Return the 1,213 nodes with GPUs on which the authors simulate."""
    whole = read_cluster(traces / FOLDER / NODES)
    groups = [replace(group, cores=group.cores * WHOLE) for group in whole.groups]
    models = tuple(sorted({kind for group in groups for kind, _ in group.gpus}))
    counts = np.repeat([group.gpu_count for group in groups], [len(group.names) for group in groups])
    each = [(group.cores, group.memory or 0, models.index(group.gpus[0][0])) for group in groups for _ in group.names]
    cores, memory, model = np.array(each, dtype=np.int64).T
    gpus = np.where(np.arange(counts.max()) < counts[:, None], WHOLE, 0)
    return Machines(cores, memory, gpus, model, models, Cluster.of_nodes(groups, name=whole.name))


def read_pods(traces: Path, pods: PodList) -> Workload:
    """Return a list of pods; a processor is a thousandth of a core."""
    return read_openb(traces / pods.file, cores="milli")


def pods_of(jobs: Workload, machines: Machines) -> Pods:
    """Return what each pod of a workload asks for."""
    asked = jobs.resources
    assert asked is not None
    accepted = [
        {name for name in (kind or several or "|".join(machines.models)).split("|") if name}
        for kind, several in zip(asked.gpu_type.texts(), asked.constraint.texts(), strict=True)
    ]
    models = np.array([[model in names for model in machines.models] for names in accepted])
    share = np.where(asked.gpus > 0, asked.gpu_share, 0)
    return Pods(jobs.requested_processors, asked.memory_per_node, asked.gpus, share, models)


def arrivals(pods: Pods, machines: Machines, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw in which order pods arrive: all of them shuffled, then more, drawn with replacement, up to TUNED."""
    order = rng.permutation(len(pods.cores)).tolist()
    load, most = int(pods.load.sum()), TUNED * machines.all_gpus
    while load + int(pods.share[more := int(rng.integers(len(pods.cores)))]) <= most:
        order.append(more)
        load += int(pods.load[more])
    return np.array(order, dtype=np.intp)


def curve(load: NDArray[np.int64], placed: NDArray[np.bool_], all_gpus: int) -> NDArray[np.float64]:
    """Return the mean share of GPUs in use, in per cent, while the arrived load is each of LOADS per cent, rounded.

    `load` are the thousandths of GPUs of each pod in the order of arrival, `placed` says which found room.
    """
    arrived = np.rint(100 * np.cumsum(load) / all_gpus).astype(np.int64)
    used = 100 * np.cumsum(np.where(placed, load, 0)) / all_gpus
    count = np.bincount(arrived, minlength=len(LOADS))[: len(LOADS)]
    total = np.bincount(arrived, used, minlength=len(LOADS))[: len(LOADS)]
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def published(traces: Path) -> dict[tuple[str, str], NDArray[np.float64]]:
    """Return the authors' curves (runs by LOADS) by workload and policy, without the policy's number."""
    path = traces / FOLDER / PUBLISHED
    curves: dict[tuple[str, str], list[list[float]]] = {}
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream)
        try:
            for row in rows:
                key = row["workload"], row["sc_policy"].partition("-")[2]
                curves.setdefault(key, []).append([float(row[str(load)] or "nan") for load in LOADS])
        except (KeyError, ValueError) as error:
            raise InputError(f"{path}, line {rows.line_num}: not a table of published results ({error})") from None
    return {key: np.array(lines) for key, lines in curves.items()}
