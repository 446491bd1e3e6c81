"""Nodes that jobs name: which they get if these can hold them.

slurmctld 22.05 gives such a job these nodes, and others beside them only if it asks for more nodes or has too many
tasks for them. A job of fewer tasks than nodes is cut to the first ones by sbatch.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_names
from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload.columns import distinct
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload


def name_nodes(workload: Workload) -> bool:
    """Return whether any job names nodes."""
    return workload.resources is not None and bool((workload.resources.nodelist.codes >= 0).any())


def with_named_nodes(workload: Workload, cluster: Cluster) -> Workload:
    """Return jobs that ask for as many nodes as they name; those that need more than these name none.

    Raises
    ------
    InputError
        If a job names a node that is not in the cluster.
    """
    resources = workload.resources
    if resources is None or not name_nodes(workload):
        return workload
    cores = {name: group.cores for group in cluster.groups for name in group.names}
    columns = (resources.nodelist.codes, resources.nodes, resources.tasks, resources.cores_per_task)
    first, case = distinct(*columns, resources.tasks_per_node, workload.job_processors)
    texts, counts = [], []
    for row in first.tolist():
        try:
            names = _named(resources, int(workload.job_processors[row]), row, cores)
        except InputError as error:
            raise InputError(f"job {workload.job_id[row]}: {error}", row=row) from None
        texts.append(",".join(names))
        counts.append(len(names))
    labels, count = Labels.of(texts), np.array(counts, dtype=np.int64)[case]
    named, nodes = Labels(labels.codes[case], labels.names), np.where(count > 0, count, resources.nodes)
    return workload.replace(resources=_replaced(resources, {"nodelist": named, "nodes": nodes}))


def _named(resources: Resources, processors: int, row: int, cores: dict[str, int]) -> list[str]:
    """Return the nodes that a job gets because it names them, none if they cannot hold it."""
    code = resources.nodelist.codes[row]
    names = nodes_in(resources.nodelist.names[code], "nodelist", cores) if code >= 0 else []
    wanted, each = int(resources.nodes[row]), max(int(resources.cores_per_task[row]), 1)
    tasks, per_node = max(int(resources.tasks[row]), -(-processors // each)), int(resources.tasks_per_node[row])
    names = names[: wanted or tasks]
    room = sum(min(cores[name] // each, per_node or tasks) for name in names)
    return names if len(names) >= wanted and room >= tasks else []


def nodes_in(text: str, column: str, known: Any) -> list[str]:
    """Return the nodes in a host list, in its order, each once.

    Raises
    ------
    InputError
        If one is not known.
    """
    names = [*dict.fromkeys(host_names(text))]
    if unknown := next((name for name in names if name not in known), None):
        raise InputError(f"{column}={shown(text)}: the cluster has no node {shown(unknown)}")
    return names


def among_known(labels: Labels, known: Any, *, all_or_none: bool) -> tuple[Labels, NDArray[np.bool_]]:
    """Return host lists without nodes that are not known, and which have changed; none for what is no host list.

    Parameters
    ----------
    labels
        The host lists.
    known
        The names of nodes.
    all_or_none
        Whether a list with any unknown name is left out as a whole.
    """
    texts = []
    for text in labels.names:
        try:
            names = host_names(text)
        except InputError:
            texts.append("")
            continue
        kept = [name for name in names if name in known]
        texts.append(text if len(kept) == len(names) else "" if all_or_none else ",".join(kept))
    made = Labels.of([*texts, ""])
    changed = np.array([*(one != other for one, other in zip(texts, labels.names, strict=True)), False])
    return Labels(made.codes[labels.codes], made.names), changed[labels.codes]


def _replaced(resources: Resources, columns: dict[str, Any]) -> Resources:
    return Resources(**{one.name: columns.get(one.name, getattr(resources, one.name)) for one in fields(resources)})
