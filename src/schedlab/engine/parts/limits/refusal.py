"""Why jobs can never run on a cluster, in words."""

from __future__ import annotations

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.engine.machine.fitting import short_of
from schedlab.engine.machine.numbers import UNLIMITED, NodeInputs
from schedlab.engine.machine.requests import node_inputs, unchecked_inputs
from schedlab.errors import InputError
from schedlab.wording import count_of
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

LACKING = {
    "GPUs": "no nodes that it may use have as many GPUs of the type that it asks for",
    "memory": "no node that it may use has as much memory as it asks for",
    "cores": "no nodes that it may use have as many cores as it asks for",
    "nodes that it may use": "the nodes that it may use are too few or too small",
}
"""The same for `Resources`, by what the nodes have too little of."""

SUBMISSION = "its array has more elements, or its heterogeneous job more components, than may be submitted"

ALONE = "alone it is beyond a limit of its account or QOS"


def in_words(workload: Workload, cluster: Cluster, never: Labels) -> list[str]:
    """Return for each job why it can never run on a cluster, "" if it can.

    Slurm's reason stands in brackets; for resources, what the nodes have too little of is named.

    Parameters
    ----------
    never
        The reasons, see `schedlab.engine.parts.limits.machine_inputs.never_runs`.

    Examples
    --------
    >>> from schedlab.engine.parts.limits.machine_inputs import never_runs
    >>> site = Cluster.from_dict({"groups": [{"nodes": "n1", "cores": 4, "memory": "1 GiB"}]})
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0], run_time=[9, 9], requested_processors=[1, 1],
    ...                                   requested_memory=[4_194_304, 1_024]))
    >>> in_words(jobs, site, never_runs(jobs, site))[0].partition(": ")[2]
    'up to 4 GiB per task, 1 GiB on the largest node (Resources)'
    """
    found = []
    for reason in (*never.names, ""):
        why = REASONS.get(reason, SUBMISSION if "Submit" in reason else ALONE)
        found.append(f"{why} ({reason})" if reason else "")
    told = [found[code] for code in never.codes.tolist()]
    rows = np.flatnonzero(np.array([*never.names, ""])[never.codes] == "Resources")
    if rows.size:
        inputs = unchecked_inputs(workload[rows], cluster, None)
        lacking = short_of(inputs)
        words = LACKING | {"memory": f"{LACKING['memory']}: {_memory(inputs, lacking)}"}
        for row, request in zip(rows.tolist(), inputs.shape.tolist(), strict=True):
            told[row] = f"{words.get(lacking[request], REASONS['Resources'])} (Resources)"
    return told


def why_left_out(workload: Workload, cluster: Cluster, never: Labels) -> list[str]:
    """Return sentences about the jobs that can never run on a cluster, one for each reason, with their numbers.

    `never` is as in `in_words`.
    """
    out: dict[str, list[int]] = {}
    for number, why in zip(workload.job_id.tolist(), in_words(workload, cluster, never), strict=True):
        if why:
            out.setdefault(why, []).append(number)
    sentences = []
    for why, jobs in out.items():
        named = ", ".join(map(str, jobs[:5])) + (", ..." if len(jobs) > 5 else "")
        verb = "is" if len(jobs) == 1 else "are"
        sentences.append(f"{count_of(len(jobs), 'job')} can never run and {verb} left out ({why}): {named}")
    return sentences


def _memory(inputs: NodeInputs, lacking: list[str]) -> str:
    """Return how much memory is asked for at most, by requests that are short of it, and how much the largest node
    has."""
    short = np.array(lacking) == "memory"
    per_task, per_node = (int(column[short].max(initial=0)) for column in (inputs.task_memory, inputs.node_memory))
    amounts = {"task": per_task, "node": per_node}
    asked = [f"{_amount(amount)} per {what}" for what, amount in amounts.items() if amount]
    there = _amount(int(inputs.memory[inputs.memory < UNLIMITED].max(initial=0)))
    return f"up to {' and '.join(asked)}, {there} on the largest node"


def _amount(mebibytes: int) -> str:
    return f"{mebibytes:,} MiB" if mebibytes < 1024 else f"{mebibytes / 1024:,.6g} GiB"


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
