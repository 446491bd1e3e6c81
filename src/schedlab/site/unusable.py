"""Which waiting some nodes cannot shorten: that of jobs that cannot run on them, and why they cannot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.features import nodes_with
from schedlab.engine.machine.fitting import room_on_nodes
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.machine.requests import unchecked_inputs
from schedlab.schedule.schedule import Schedule
from schedlab.workload.resources import Labels, Resources

TELLING, MOSTLY = 0.1, 0.5
"""Shares of the waiting from which on a reason is named why nodes are of little use, and is said to decide."""

PARTITION, CONSTRAINT, NODE_LIST = "partition", "constraint", "node list"
SIZES: Final = ("GPUs", "memory", "cores")
TOGETHER = "size"
REASONS: Final = (PARTITION, CONSTRAINT, NODE_LIST, *SIZES, TOGETHER)

WORDS: Final = {
    PARTITION: "their partition{names}",
    CONSTRAINT: "their constraint (feature{names})",
    NODE_LIST: "the nodes that they name",
    "GPUs": "their GPUs",
    "memory": "their memory",
    "cores": "their cores",
    TOGETHER: "their size",
}
"""Why jobs cannot use nodes, in words."""

LEAST = 0.005
"""Share of the waiting of a reason that is told."""

MOST_NAMES = 2


@dataclass(frozen=True, slots=True)
class Unusable:
    """The waiting of jobs that cannot run on some nodes.

    Parameters
    ----------
    share
        Of all waiting.
    reasons
        The same by reason, the largest first: "partition", "constraint", "node list", or what a node has too little
        of: "GPUs", "memory", "cores", or several of these ("size").
    names
        The partitions and constraints of these jobs, those with most waiting first, by reason.
    """

    share: float
    reasons: Mapping[str, float]
    names: Mapping[str, tuple[str, ...]]

    def text(self, them: str) -> str:
        """Say how much of the waiting that is, and why.

        Examples
        --------
        >>> Unusable(0.84, {"constraint": 0.84}, {"constraint": ("ib",)}).text("them")
        '84% of all waiting is that of jobs that cannot use them, because of their constraint (feature ib)'
        """
        told = [(self._why(one), part) for one, part in self.reasons.items() if part >= LEAST]
        text = f"{self.share:.0%} of all waiting is that of jobs that cannot use {them}"
        if len(told) == 1:
            return f"{text}, because of {told[0][0]}"
        listed = [f"{part:.0%} because of {why}" for why, part in told]
        return f"{text}: {', '.join(listed[:-1])} and {listed[-1]}" if listed else text

    def _why(self, reason: str) -> str:
        names = self.names.get(reason, ())[:MOST_NAMES]
        shown = (" " if reason == CONSTRAINT else ": ") + " or ".join(names)
        return WORDS[reason].format(names=shown if names else "")


def unusable(
    schedules: Sequence[Schedule],
    cluster: Cluster,
    placement: str | None,
    nodes: Collection[str],
    mine: NDArray[np.bool_] | None = None,
) -> Unusable:
    """Return how much of the waiting is that of jobs that can run on none of some nodes, be these empty.

    Parameters
    ----------
    schedules
        In which they wait: of copies of the same jobs, of whose waits means are told.
    cluster
        With the nodes.
    placement
        The rule for the choice of nodes.
    nodes
        Their names.
    mine
        The jobs that count; None: all.
    """
    jobs = schedules[0].workload
    waits = np.mean([one.wait_time for one in schedules], axis=0)
    waits = waits if mine is None else waits * mine
    inputs = unchecked_inputs(jobs, cluster, placement)
    asked = jobs.resources or Resources.of(len(jobs))
    why = _reasons(asked, inputs, cluster, frozenset(nodes))
    total = max(float(waits.sum()), 1.0)
    sums = {name: float(waits[why.codes == code].sum()) for code, name in enumerate(why.names)}
    reasons = dict(sorted(((one, part / total) for one, part in sums.items() if part), key=lambda each: -each[1]))
    columns = {PARTITION: asked.partition, CONSTRAINT: asked.constraint}
    names = {
        one: _names(column, np.where(why.codes == why.names.index(one), waits, 0.0))
        for one, column in columns.items()
        if one in reasons
    }
    return Unusable(sum(reasons.values()), reasons, names)


def _names(column: Labels, waits: NDArray[np.float64]) -> tuple[str, ...]:
    """Return the labels of jobs that wait, those with most waiting first."""
    known = column.codes >= 0
    sums = np.bincount(column.codes[known], weights=waits[known], minlength=len(column.names))
    return tuple(column.names[code] for code in np.argsort(-sums, kind="stable").tolist() if sums[code] > 0)


def _reasons(asked: Resources, inputs: NodeInputs, cluster: Cluster, nodes: frozenset[str]) -> Labels:
    """Return why each job can run on none of some nodes; no label: it can."""
    there = np.isin(np.array(inputs.names), list(nodes))
    requests = range(len(inputs.nodes))
    fits = np.array([bool(room_on_nodes(inputs, one)[there].any()) for one in requests])
    may_use = np.asarray(inputs.allowed[inputs.eligible][:, there].any(axis=1))
    features = [group.features for group in cluster.groups if nodes.intersection(group.names)]
    open_to = [_holds(cluster, text, nodes) for text in (*asked.partition.names, "")]
    meets = [bool(nodes_with(text, features).any()) for text in asked.constraint.names]
    size = np.array([REASONS.index(_short_of(inputs, one, there)) for one in requests])
    barred = (
        ~np.array(open_to, dtype=np.bool_)[asked.partition.codes],
        ~np.array([*meets, True], dtype=np.bool_)[asked.constraint.codes],
        ~may_use[inputs.shape],
    )
    why = np.select(barred, [REASONS.index(one) for one in (PARTITION, CONSTRAINT, NODE_LIST)], size[inputs.shape])
    return Labels(np.where(fits[inputs.shape], -1, why).astype(np.int64), REASONS)


def _holds(cluster: Cluster, text: str, nodes: frozenset[str]) -> bool:
    """Return whether one of the partitions that a job names, or else the default one, has one of some nodes."""
    wanted = {name.strip().lower() for name in text.split(",")}
    named = [one for one in cluster.partitions if (one.name.lower() in wanted if text else one.default)]
    return not cluster.partitions or any(nodes.intersection(cluster.nodes_of(one)) for one in named)


def _short_of(inputs: NodeInputs, request: int, there: NDArray[np.bool_]) -> str:
    """Return what nodes have too little of for a request, were it allowed to use them."""
    allowed = inputs._replace(allowed=np.ones_like(inputs.allowed))
    return next((what for what in SIZES if room_on_nodes(allowed, request, what)[there].any()), TOGETHER)
