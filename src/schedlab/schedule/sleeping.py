"""When nodes were switched off and booted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SLEEP = np.dtype([("node", "i8"), ("kind", "i1"), ("begin", "i8"), ("end", "i8")])
"""A span in which a node was off, or booted."""

# The kinds of spans.
OFF, BOOTING = range(2)


def sleeps_of(slept: NDArray[Any], asleep: NDArray[Any], lasts: tuple[int, int]) -> NDArray[Any]:
    """Return when each node was off and when it booted, by node and time.

    Parameters
    ----------
    slept
        Records of what was switched off and booted again: `node`, since when it was switched off (`off`, int64
        seconds), and when it began to boot (`woken`).
    asleep
        The same of nodes that have not been booted again; `woken` is when that is looked at.
    lasts
        Seconds that it takes to switch a node off, and to boot it. A node that is being switched off is not off yet.

    Examples
    --------
    A node is switched off at 30, which takes 5 s, and boots for 20 s at 100.

    >>> kind = np.dtype([("node", "i8"), ("off", "i8"), ("woken", "i8")])
    >>> sleeps_of(np.array([(0, 30, 100)], kind), np.array([], kind), (5, 20)).tolist()
    [(0, 0, 35, 100), (0, 1, 100, 120)]
    """
    shutdown, boot = lasts
    off = np.concatenate([slept, asleep])
    found = np.zeros(len(off) + len(slept), dtype=SLEEP)
    found["node"] = np.concatenate([off["node"], slept["node"]])
    found["kind"] = np.repeat([OFF, BOOTING], [len(off), len(slept)])
    found["begin"] = np.concatenate([off["off"] + shutdown, slept["woken"]])
    found["end"] = np.concatenate([off["woken"], slept["woken"] + boot])
    found = found[found["end"] > found["begin"]]
    return found[np.lexsort((found["begin"], found["node"]))]
