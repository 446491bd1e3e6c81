"""The error messages for jobs that can never run on a cluster."""

from __future__ import annotations

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.engine.node_requests import node_inputs
from schedlab.errors import InputError
from schedlab.workload.resources import Labels
from schedlab.workload.workload import Workload

REASONS = {
    "PartitionName": "the cluster has no partition of that name",
    "PartitionDown": "its partitions are down",
    "AccountNotAllowed": "its partitions do not admit its account",
    "QOSNotAllowed": "its partitions do not admit its QOS",
    "PartitionTimeLimit": "it asks for more time than its partitions allow",
    "PartitionNodeLimit": "it asks for more or fewer nodes than its partitions allow",
    "MaxMemPerLimit": "it asks for more memory of a node than its partitions allow",
    "Licenses": "the cluster has not the licences that it asks for",
    "Resources": "no partition that admits it has the nodes that it asks for",
}
"""Why a job can never start, Slurm's reason and a description."""

SUBMISSION = "its array has more elements, or its heterogeneous job more components, than may be submitted"

ALONE = "alone it is beyond a limit of its account or QOS"


def refuse(workload: Workload, cluster: Cluster, never: Labels) -> None:
    """Raise InputError for the first job that can never run."""
    bad = never.codes >= 0
    if bad.any():
        row = int(np.argmax(bad))
        reason = never.names[never.codes[row]]
        if reason in ("Resources", "PartitionName"):
            _say_what_is_not_there(workload, cluster, row)
        beyond = SUBMISSION if "Submit" in reason else ALONE
        why = REASONS.get(reason, beyond)
        raise InputError(
            f"job {workload.job_id[row]} can never run: {why} ({reason}): drop it or give another cluster", row=row
        )


def _say_what_is_not_there(workload: Workload, cluster: Cluster, row: int) -> None:
    """Raise InputError with the unknown partition that a job names, or with what the nodes of its partitions lack."""
    try:
        node_inputs(workload[row : row + 1], cluster, None, None)
    except InputError as error:
        raise InputError(str(error), row=row) from None
