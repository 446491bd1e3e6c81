"""When nodes were out of service, maintained or reserved, and what share of the machine was in service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.schedule.placement import RESERVED
from schedlab.schedule.window import Window

if TYPE_CHECKING:
    from schedlab.schedule.placement import Placement
    from schedlab.schedule.schedule import Schedule

AVAILABILITY = "availability"


def availability(schedule: Schedule, window: Window) -> dict[str, float]:
    """Return the share of the machine's core-seconds in the window on nodes in service; none where that is not known.

    A node is not in service while it is down, drained or in maintenance, whether jobs still run there or not.

    Examples
    --------
    >>> import schedlab as sl
    >>> machine = sl.Cluster.of_nodes([sl.cluster.NodeGroup.of("n[1-2]", cores=4)])
    >>> jobs = sl.Workload.from_columns(dict(submit_time=[0], run_time=[100],
    ...     requested_time=[100], requested_processors=[1]))
    >>> events = sl.cluster.NodeEvents((sl.cluster.NodeEvent(50, "drain", ("n2",)),))
    >>> sl.simulate(jobs, "fcfs", cluster=machine, node_events=events).metrics()["availability"]
    0.75
    """
    where = schedule.placement
    if where is None or where.closures is None:
        return {}
    node, begin, end = _out_of_service(where)
    lost = (window.overlap(begin, end) * where.cores[node].astype(np.float64)).sum()
    return {AVAILABILITY: 1.0 - float(lost) / (float(where.cores.sum()) * window.length)}


def _out_of_service(where: Placement) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the node, begin and end of each span in which a node was not in service, none of which overlap."""
    assert where.closures is not None
    spans = where.closures[where.closures["kind"] != RESERVED]
    merged: list[list[int]] = []
    for node, begin, end in np.sort(spans[["node", "begin", "end"]]).tolist():
        if merged and merged[-1][0] == node and begin <= merged[-1][2]:
            merged[-1][2] = max(merged[-1][2], end)
        else:
            merged.append([node, begin, end])
    columns = np.array(merged, dtype=np.int64).reshape(-1, 3).T
    return columns[0], columns[1], columns[2]
