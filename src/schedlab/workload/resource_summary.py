"""A summary of the requests of a workload: by partition, account and QOS, nodes, memory, GPUs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.workload.distribution import Distribution
from schedlab.workload.resources import WHOLE, Resources

if TYPE_CHECKING:
    from schedlab.workload.workload import Workload

NAMED = 6
"""The number of names of a kind that are shown on the terminal."""


@dataclass(frozen=True, slots=True)
class ResourceSummary:
    """A summary of the requests of jobs.

    Parameters
    ----------
    partitions, accounts, qos, constraints, gpu_types
        Jobs by name, the most frequent first; jobs without one are not counted.
    nodes, memory_per_node, memory_per_core, gpus
        Distributions over the jobs that request some (None if no job does); memory in MiB, GPUs in all of a job.
    exclusive, shared_gpus
        How many jobs request exclusive nodes, or share one GPU.
    """

    partitions: dict[str, int]
    accounts: dict[str, int]
    qos: dict[str, int]
    constraints: dict[str, int]
    gpu_types: dict[str, int]
    nodes: Distribution | None
    memory_per_node: Distribution | None
    memory_per_core: Distribution | None
    gpus: Distribution | None
    exclusive: int
    shared_gpus: int

    @classmethod
    @explained
    def of(cls, resources: Resources) -> ResourceSummary:
        """Return the summary of some requests."""

        def asked(column: NDArray[Any]) -> Distribution | None:
            return Distribution.of(column[column > 0])

        return cls(
            partitions=resources.partition.counts(),
            accounts=resources.account.counts(),
            qos=resources.qos.counts(),
            constraints=resources.constraint.counts(),
            gpu_types=resources.gpu_type.counts(),
            nodes=asked(resources.nodes),
            memory_per_node=asked(resources.memory_per_node),
            memory_per_core=asked(resources.memory_per_core),
            gpus=asked(resources.gpus_in_all),
            exclusive=int(np.count_nonzero(resources.exclusive)),
            shared_gpus=int(np.count_nonzero(resources.gpu_share < WHOLE)),
        )

    def facts(self, jobs: int) -> dict[str, str]:
        """Return the facts, by topic."""
        kinds = {
            "partitions": self.partitions,
            "accounts": self.accounts,
            "QOS": self.qos,
            "constraints": self.constraints,
            "GPU types": self.gpu_types,
        }
        told = {kind: _shares(names, jobs) for kind, names in kinds.items() if names}
        alone = {"whole nodes": self.exclusive, "share of a GPU": self.shared_gpus}
        return told | {what: f"{count:,} jobs ({count / jobs:.1%})" for what, count in alone.items() if count}

    def distributions(self) -> dict[str, Distribution]:
        """Return the distributions that are known, by quantity."""
        known = {
            "nodes": self.nodes,
            "MiB per node": self.memory_per_node,
            "MiB per core": self.memory_per_core,
            "GPUs": self.gpus,
        }
        return {name: one for name, one in known.items() if one is not None}


def _shares(names: Mapping[str, int], jobs: int) -> str:
    """Return the most frequent names with their jobs."""
    told = [f"{name} {count:,} ({count / jobs:.1%})" for name, count in list(names.items())[:NAMED]]
    more = len(names) - NAMED
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")


def summary_of_resources(workload: Workload) -> ResourceSummary | None:
    """Return a summary of the requests of a workload's jobs, None if nothing is known.

    Examples
    --------
    >>> from schedlab.workload.workload import Workload
    >>> requests = Resources.of(3, gpus=[0, 2, 4], partition=["cpu", "gpu", "gpu"])
    >>> jobs = Workload.from_columns({"submit_time": [0, 1, 2]}, resources=requests)
    >>> summary = summary_of_resources(jobs)
    >>> summary.partitions, summary.gpus.median
    ({'gpu': 2, 'cpu': 1}, 3.0)
    """
    return None if workload.resources is None else ResourceSummary.of(workload.resources)
