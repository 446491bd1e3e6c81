"""When nodes were switched off and booted, from when they were in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from schedlab.schedule.placement import Placement

SLEEP = np.dtype([("node", "i8"), ("kind", "i1"), ("begin", "i8"), ("end", "i8")])
"""A span in which a node was off, or booted."""

# The kinds of spans.
OFF, BOOTING = range(2)


def sleeps_of(
    placement: Placement,
    used: tuple[NDArray[np.int64], NDArray[np.int64]],
    after: NDArray[np.int64],
    lasts: tuple[int, int],
    begin: int,
) -> NDArray[Any]:
    """Return when each node was off and when it booted, by node and time, until the last run has ended.

    Parameters
    ----------
    placement
        The nodes of each run.
    used
        int64 seconds of each run: from when until when it had its nodes, their boot included.
    after
        int64 seconds, one per node: for how long it had to be idle before it was switched off.
    lasts
        Seconds that it takes to switch a node off, and to boot it. A node that is being switched off is not off yet.
    begin
        The second from which on nodes without a run are idle.

    Examples
    --------
    A node is in use from 0 to 10 and from 100 on. It is switched off at 30, which takes 5 s, and boots for 20 s at 100.

    >>> from schedlab.schedule.placement import Placement
    >>> none = np.zeros(2, dtype=int)
    >>> where = Placement(("n1",), np.array([1]), np.array([0]), offsets=np.array([0, 1, 2]), node=none,
    ...                   held_cores=none + 1, held_gpus=none)
    >>> sleeps_of(where, (np.array([0, 100]), np.array([10, 130])), np.array([20]), (5, 20), 0).tolist()
    [(0, 0, 35, 100), (0, 1, 100, 120)]
    """
    shutdown, boot = lasts
    run = np.repeat(np.arange(len(placement)), np.diff(placement.offsets))
    order = np.lexsort((used[0][run], placement.node))
    node, first, last = placement.node[order], used[0][run][order], used[1][run][order]
    horizon = int(used[1].max(initial=begin))
    found: list[tuple[int, int, int, int]] = []
    for number in range(len(placement.nodes)):
        low, high = np.searchsorted(node, [number, number + 1])
        idle_from = begin
        for taken, left in zip(first[low:high].tolist(), last[low:high].tolist(), strict=True):
            off = idle_from + int(after[number])
            if taken > off:
                wakes = max(taken, off + shutdown)
                found += [(number, OFF, off + shutdown, wakes), (number, BOOTING, wakes, wakes + boot)]
            idle_from = max(idle_from, left)
        off = idle_from + int(after[number]) + shutdown
        if off < horizon:
            found.append((number, OFF, off, horizon))
    return np.array([one for one in found if one[3] > one[2]], dtype=SLEEP)
