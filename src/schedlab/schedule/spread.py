"""How far jobs are spread over the leaf switches of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule

MEAN_SWITCHES = "mean_switches"


def mean_switches(schedule: Schedule, rows: NDArray[np.intp] | None = None) -> dict[str, float]:
    """Return the mean number of leaf switches of the jobs on several nodes, by its name.

    Of a job that ran several times, its last run counts. Empty if the switches of the nodes are not known, or no job
    that counts had several nodes.

    Parameters
    ----------
    schedule
        With or without nodes.
    rows
        Positions of the jobs that count; None: all.
    """
    placement = schedule.placement
    if placement is None or placement.switches is None:
        return {}
    number = np.unique(np.array(placement.switches), return_inverse=True)[1].ravel()
    nodes = np.diff(placement.offsets)
    pairs = np.unique(np.stack([np.repeat(np.arange(len(placement)), nodes), number[placement.node]]), axis=1)
    switches = np.bincount(pairs[0], minlength=len(placement))
    if schedule.runs is not None:
        last = np.zeros(len(schedule), dtype=np.intp)
        last[schedule.runs["job"]] = np.arange(len(schedule.runs))  # the last run of a job stands last
        nodes, switches = nodes[last], switches[last]
    if rows is not None:
        nodes, switches = nodes[rows], switches[rows]
    return {MEAN_SWITCHES: float(switches[nodes > 1].mean())} if (nodes > 1).any() else {}
