"""Limits on jobs of all accounts: licences, and arrays with a limit on running elements; and all where no nodes are.

To the engine, both are limits like those of accounts: a job that would exceed one is passed over.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import ONE_NODE, POWER_LICENSE, Cluster
from schedlab.cluster.limit_kinds import LIMIT_KINDS
from schedlab.cluster.limits import Limits
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.parts.limits.numbers import CourseInputs
from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload.resources import CHECKPOINTS, Labels, Resources
from schedlab.workload.workload import Workload

LONG_AGO = np.iinfo(np.int64).min
"""Before all events."""

LICENSES, ARRAY, POWER = "Licenses", "JobArrayTaskLimit", "PowerCap"
"""The reason of a waiting job, as `squeue` shows it; there, a cap on power is a licence like others."""

HELD = ("licenses", "array", "array_limit")
"""The columns of what jobs hold."""

KEPT = (*HELD, *CHECKPOINTS, "account", "qos", "patience")
"""Where there are no nodes, all that is kept of what jobs ask for beside processors."""

_LICENSE = re.compile(r"([^\s:=*|,]+)(?:[:=*](\d{1,9}))?")


class Held(NamedTuple):
    """A limit on what jobs hold: its amount, the reason of waiting jobs, and how much each row holds."""

    most: int
    reason: str
    rows: NDArray[np.intp]
    amounts: NDArray[np.int64]


def licenses_of(text: str) -> dict[str, int]:
    """Return the licences that a text in the format of sbatch's option requests.

    Raises
    ------
    InputError
        If the text is not valid.

    Examples
    --------
    >>> licenses_of("matlab:2,ansys")
    {'matlab': 2, 'ansys': 1}
    """
    found: dict[str, int] = {}
    for word in text.split(","):
        matched = _LICENSE.fullmatch(word.strip())
        if matched is None:
            raise InputError(f"licenses={shown(text)}: give names and counts, such as matlab:2,ansys")
        found[matched[1]] = found.get(matched[1], 0) + int(matched[2] or 1)
    return found


def held_arrays(workload: Workload) -> list[Held]:
    """Return the arrays with a limit on elements that run at a time."""
    if workload.resources is None or not (workload.resources.array_limit > 0).any():
        return []
    array, limit = workload.resources.array.codes, workload.resources.array_limit
    found = []
    for number in np.unique(array[limit > 0]).tolist():
        rows = np.flatnonzero(array == number)
        if len(np.unique(limit[rows])) > 1:
            name, job = shown(workload.resources.array.names[number]), workload.job_id[rows[0]]
            raise InputError(f"array {name}: its elements name different limits, from job {job} on", row=int(rows[0]))
        found.append(Held(int(limit[rows[0]]), ARRAY, rows, np.ones(len(rows), dtype=np.int64)))
    return found


def held_licenses(workload: Workload, cluster: Cluster) -> list[Held]:
    """Return the licences of a cluster and which jobs hold them; an unknown name is a licence of which there are
    none."""
    if workload.resources is None:
        return []
    column = workload.resources.licenses
    asked = [licenses_of(name) for name in column.names]
    known = dict(cluster.licenses)
    found = []
    for name in dict.fromkeys([*known, *(name for one in asked for name in one)]):
        counts = np.array([*(one.get(name, 0) for one in asked), 0], dtype=np.int64)[column.codes]
        rows = np.flatnonzero(counts)
        if rows.size:
            reason = POWER if name == POWER_LICENSE else LICENSES
            found.append(Held(known.get(name, 0), reason, rows, counts[rows]))
    return found


def course_of(cluster: Cluster, reasons: tuple[str, ...], limit: NDArray[np.int64]) -> CourseInputs | None:
    """Return how the power cap changes among limits with these reasons; None if it does not, or no job counts."""
    if not cluster.power_steps or POWER not in reasons:
        return None
    number = reasons.index(POWER)
    steps = np.array([(LONG_AGO, limit[number]), *cluster.power_steps], dtype=np.int64)
    return CourseInputs(number, steps[:, 0].copy(), steps[:, 1].copy())


def beyond_licenses(workload: Workload, held: list[Held]) -> Labels:
    """Return for each job whether it requests more licences than there are, as the reason why it never runs."""
    bad = np.full(len(workload), -1, dtype=np.int64)
    for one in held:
        bad[one.rows[one.amounts > one.most]] = 0
    return Labels(bad, (LICENSES,))


def is_limited(cluster: Cluster | None) -> bool:
    """Return whether a QOS, an account or a user has a limit."""
    return any(one != Limits() for one in _limits_of(cluster))


def _limits_of(cluster: Cluster | None) -> list[Limits]:
    if cluster is None or cluster.accounting is None:
        return []
    who = cluster.accounting
    accounts, users = (one.limits for one in who.accounts), (one.limits for one in who.users)
    return [*(one.limits for one in who.qos), *accounts, *users]


def _are_of_nodes(limits: list[Limits]) -> bool:
    """Return whether some are on nodes, or on what only nodes have: memory, devices."""
    values = [(name, getattr(one, name)) for one in limits for name in LIMIT_KINDS]
    amounts = [(name, value) for name, value in values if isinstance(value, tuple) and value]
    resources = {resource for _, amount in amounts for resource, _ in amount}
    return bool(resources - {"cpu", "billing"}) or any(name == "max_tres_per_node" for name, _ in amounts)


def is_held_back(workload: Workload, cluster: Cluster | None) -> bool:
    """Return whether licences or arrays hold any job back; licences count only on clusters with licences or nodes."""
    asked = workload.resources
    if asked is None or not asked.is_held_back:
        return False
    licensed = cluster is not None and bool(cluster.licenses or cluster.groups)
    return bool((asked.array_limit > 0).any()) or licensed


def as_one_node(workload: Workload, machine: Cluster) -> tuple[Workload, Cluster]:
    """Return a number of processors as a cluster of one node, and its jobs with requests for processors only."""
    asked = workload.resources or Resources.of(len(workload))
    if bool((asked.het_job.codes >= 0).any()):
        raise InputError(
            f"{workload.name}: components of heterogeneous jobs get nodes of their own, so with licences or limits "
            "they need a cluster of nodes: give cluster="
        )
    if _are_of_nodes(_limits_of(machine)):
        raise InputError(f"{machine.name}: limits on nodes, or on memory and devices, need nodes: the cluster has none")
    kept = {name: getattr(asked, name) for name in KEPT}
    tasks = np.maximum(workload.job_processors, 1)
    jobs = workload.replace(resources=Resources.of(len(workload), tasks=tasks, **kept))
    group = NodeGroup.of([ONE_NODE], cores=machine.processors)
    licenses, accounting = dict(machine.licenses), machine.accounting
    node = Cluster.of_nodes([group], name=machine.name, licenses=licenses, accounting=accounting)
    return jobs, replace(node, power_steps=machine.power_steps)
