"""Preemption on a cluster as numbers, for the engine and its reference: which jobs may preempt which runs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import QosLimits
from schedlab.cluster.preemption import Preemption
from schedlab.scheduler.backfilling import WITHOUT_VERSION, Backfill, Slurm
from schedlab.workload.resources import Labels


class PreemptionInputs(NamedTuple):
    """Which jobs may preempt which runs, by classes: partitions, or QOS; the last class is of those without one.

    Parameters
    ----------
    may
        bool, classes by classes: whether a job of the first may take the place of a run of the second.
    ahead
        The same of QOS, whose jobs go before those whose runs they may preempt; of partitions, tiers say so.
    cancels
        bool, one per class: whether its preempted runs are cancelled instead of requeued.
    suspends
        bool, one per class: whether they are suspended instead.
    grace, exempt
        int64 seconds: how long its runs may continue when they are preempted, and how long after their start they are
        exempt.
    rank
        int64: among the runs that may be preempted, those of the lowest rank are preempted first.
    of_option
        int64, one per option of `LimitInputs`: the class of the job there.
    delay
        Seconds before a requeued job may begin.
    youngest
        Whether the runs that began last are preempted first, whatever their rank.
    reorder
        How often the order of the preempted runs is improved.
    """

    may: NDArray[np.bool_]
    ahead: NDArray[np.bool_]
    cancels: NDArray[np.bool_]
    suspends: NDArray[np.bool_]
    grace: NDArray[np.int64]
    exempt: NDArray[np.int64]
    rank: NDArray[np.int64]
    of_option: NDArray[np.int64]
    delay: int
    youngest: bool
    reorder: int


def layers_of(inputs: PreemptionInputs | None) -> int:
    """Return how many runs may hold the same core, while all but one are suspended: one for each tier."""
    return 1 if inputs is None or not inputs.suspends.any() else len(np.unique(inputs.rank))


def preempts(cluster: Cluster | None) -> bool:
    """Return whether a cluster has preemption."""
    return cluster is not None and bool(_classes(cluster)[0].any())


def suspends(cluster: Cluster | None) -> bool:
    """Return whether runs of any class are suspended where they give way."""
    if cluster is None:
        return False
    may, _, stands_still = _classes(cluster)[:3]
    return bool((may.any(axis=0) & stands_still).any())


def preemption_inputs(
    cluster: Cluster, qos: Labels, job: NDArray[np.int64], partition: NDArray[np.int64]
) -> PreemptionInputs | None:
    """Return which jobs may preempt which runs, None without preemption.

    Parameters
    ----------
    cluster
        The cluster.
    qos
        Of all jobs.
    job, partition
        int64, one per option: the job, and the position of the partition.
    """
    rule = cluster.preemption
    may, cancels, suspends, grace, exempt, rank = _classes(cluster)
    if rule is None or not may.any():
        return None
    of_option = partition
    if rule.by == "qos":
        assert cluster.accounting is not None
        place = {one.name: number for number, one in enumerate(cluster.accounting.qos)}
        known = np.array([place.get(name, len(place)) for name in qos.names], dtype=np.int64)
        codes = qos.codes[job]
        of_option = np.where(codes < 0, len(place), known[codes] if len(known) else len(place))
    of_option = of_option.astype(np.int64)
    ahead = may if rule.by == "qos" else np.zeros_like(may)
    options = rule.requeue_delay, rule.youngest_first, rule.reorder
    return PreemptionInputs(may, ahead, cancels, suspends, grace, exempt, rank, of_option, *options)


def by_version(inputs: PreemptionInputs, backfill: Backfill) -> PreemptionInputs:
    """Return which runs are exempt by the rules of a version of Slurm: with some, those that are suspended are not."""
    passes = backfill if isinstance(backfill, Slurm) else WITHOUT_VERSION
    if passes.follows("exempt_from_suspension"):
        return inputs
    return inputs._replace(exempt=np.where(inputs.suspends, 0, inputs.exempt))


class _Class(NamedTuple):
    """What holds of the runs of a partition or a QOS."""

    mode: str
    grace: int
    exempt: int
    rank: int


NO_CLASS = _Class("off", 0, 0, 0)
"""Of jobs without a QOS, or with an unknown one: it comes last."""


def _classes(cluster: Cluster) -> tuple[NDArray[Any], ...]:
    """Return which class may preempt which, and cancels, suspends, grace, exempt and rank of each class.

    Runs that are suspended have no grace time.
    """
    rule = cluster.preemption
    classes, pairs = list[_Class](), list[tuple[int, int]]()
    if rule is not None and rule.by == "partition":
        classes, pairs = _of_partitions(cluster, rule)
    elif rule is not None and cluster.accounting is not None:
        classes, pairs = _of_qos(cluster.accounting.qos, rule)
    modes, grace, exempt, rank = zip(*classes, NO_CLASS, strict=True)
    may = np.zeros((len(modes), len(modes)), dtype=np.bool_)
    for one, other in pairs:
        may[one, other] = modes[other] != "off"
    cancels, suspends = (np.array([mode == one for mode in modes]) for one in ("cancel", "suspend"))
    ends = ~suspends
    return may, cancels, suspends, np.array(grace) * ends, np.array(exempt), np.array(rank)


def _of_partitions(cluster: Cluster, rule: Preemption) -> tuple[list[_Class], list[tuple[int, int]]]:
    """Return the classes of partitions, and which preempt which: those of higher tiers, where they share nodes."""
    partitions = cluster.partitions
    nodes = [set(cluster.nodes_of(one)) for one in partitions]
    classes = [
        _Class(one.preempt_mode or rule.mode, one.grace_time, rule.exempt_time, one.priority_tier) for one in partitions
    ]
    return classes, [
        (i, j)
        for i, one in enumerate(partitions)
        for j, other in enumerate(partitions)
        if one.priority_tier > other.priority_tier and nodes[i] & nodes[j]
    ]


def _of_qos(found: tuple[QosLimits, ...], rule: Preemption) -> tuple[list[_Class], list[tuple[int, int]]]:
    """Return the classes of QOS, and which preempt which: as they say.

    One that names itself does not preempt its own jobs (Slurm would need PreemptMode=WITHIN).
    """
    place = {one.name: number for number, one in enumerate(found)}
    classes = [
        _Class(
            one.preempt_mode or rule.mode,
            one.grace_time,
            rule.exempt_time if one.exempt_time is None else one.exempt_time,
            one.priority,
        )
        for one in found
    ]
    return classes, [(i, place[name]) for i, one in enumerate(found) for name in one.preempts if name != one.name]
