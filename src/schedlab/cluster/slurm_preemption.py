"""What a slurm.conf says of preemption."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from schedlab.cluster.cluster import Cluster, IgnoredLine
from schedlab.cluster.nodes import Partition
from schedlab.cluster.preemption import REQUEUE_DELAY, Basis, Mode, Preemption
from schedlab.cluster.slurm_nodes import words
from schedlab.durations import parse_time_limit
from schedlab.errors import InputError
from schedlab.wording import shown

_BY: dict[str, Basis] = {"partition_prio": "partition", "qos": "qos"}
_LONGEST_COUNT = 9
"""Digits of a number."""

_MODES: dict[str, Mode] = {"cancel": "cancel", "requeue": "requeue", "suspend": "suspend"}


def preemption_of(parameters: Mapping[str, str], where: str, ignored: list[IgnoredLine]) -> Preemption | None:
    """Return which jobs may take the place of others, None if none may; note in `ignored` what is not simulated.

    Examples
    --------
    >>> preemption_of({"preempttype": "preempt/qos", "preemptmode": "REQUEUE", "jobrequeue": "0"}, "slurm.conf", [])
    Preemption(by='qos', mode='cancel', exempt_time=0, requeue_delay=121, youngest_first=False, reorder=1)
    """
    kind = parameters.get("preempttype", "none").lower().removeprefix("preempt/")
    if kind == "none":
        return None
    text = parameters.get("preemptmode", "off")
    mode = next((_MODES[word] for word in words(text.lower()) if word in _MODES), None)
    if kind not in _BY or (mode is None and text.lower() != "off"):
        reason = "only preempt/partition_prio and preempt/qos with modes CANCEL, REQUEUE and SUSPEND are simulated"
        ignored.append(IgnoredLine(where, f"PreemptType=preempt/{kind} PreemptMode={text}", reason))
        return None
    if kind == "qos" and mode == "suspend":
        reason = "by QOS, Slurm 22.05 suspends no job; that jobs which share cores take turns is not simulated"
        ignored.append(IgnoredLine(where, f"PreemptType=preempt/qos PreemptMode={text}", reason))
        return None
    if mode == "requeue" and parameters.get("jobrequeue", "1") == "0":
        mode = "cancel"
    options = dict(word.partition("=")[::2] for word in words(parameters.get("schedulerparameters", "").lower()))
    newer = (word.partition("=")[::2] for word in words(parameters.get("preemptparameters", "").lower()))
    options |= {f"preempt_{name}": value for name, value in newer}  # where they stand since 23.02 or later
    exempt = parameters.get("preemptexempttime", "-1")
    return Preemption(
        _BY[kind],
        mode or "off",
        exempt_time=0 if exempt == "-1" else parse_time_limit(exempt),
        youngest_first="preempt_youngest_first" in options,
        reorder=_count("preempt_reorder_count", options.get("preempt_reorder_count", "1")),
        requeue_delay=_count("requeue_delay", options.get("requeue_delay", str(REQUEUE_DELAY - 1))) + 1,
    )


def as_if_unknown(cluster: Cluster) -> Cluster:
    """Return a cluster whose Slurm does not know requeue_delay, and so does not read it: those until 25.11."""
    if cluster.preemption is None:
        return cluster
    return replace(cluster, preemption=replace(cluster.preemption, requeue_delay=REQUEUE_DELAY))


def with_own_modes(
    partitions: Iterable[Partition], preemption: Preemption | None, where: str, ignored: list[IgnoredLine]
) -> list[Partition]:
    """Return partitions as Slurm takes their PreemptMode: jobs are suspended only where the cluster's mode says it too.

    In 22.05, jobs of other partitions with PreemptMode=SUSPEND do not give way.
    """
    found = []
    for one in partitions:
        if one.preempt_mode == "suspend" and preemption is not None and preemption.mode != "suspend":
            reason = "its jobs do not give way: Slurm suspends only where the cluster's PreemptMode is SUSPEND,GANG"
            ignored.append(IgnoredLine(where, f"PreemptMode=SUSPEND of partition {one.name}", reason))
            found.append(replace(one, preempt_mode="off"))
        else:
            found.append(one)
    return found


def _count(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > _LONGEST_COUNT:
        raise InputError(f"{name}={shown(text)} is not a whole number")
    return int(text)
