"""How many jobs wait over time, and how many of them in which state: step functions, their sums and their parts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from schedlab.schedule.timeline import Steps
from schedlab.site.fitting import StateSteps

NEVER = Steps(np.array([0], dtype=np.int64), np.zeros(1))
"""No job waits at any time."""


def waiting_in(waiting: Steps, states: StateSteps, which: Sequence[int]) -> Steps:
    """Return how many of the waiting jobs of a request are in some states over time.

    Examples
    --------
    Four jobs wait from second 0 to 20; for one of them there is room from second 10 on.

    >>> states = StateSteps(np.array([0, 10]), np.array([[0, 0.25], [1, 0.75]]))
    >>> waiting_in(Steps(np.array([0, 20]), np.array([4.0, 0.0])), states, [1])
    Steps(times=array([ 0, 10, 20]), values=array([4., 3., 0.]))
    """
    times = np.union1d(waiting.times, states.times[states.times > waiting.times[0]])
    times = times[times <= waiting.times[-1]]
    values = waiting.values[np.searchsorted(waiting.times, times, side="right") - 1]
    share = np.sum([states.share_at(state, times) for state in which], axis=0)
    return Steps(times, values * share)


def sum_of(functions: Sequence[Steps]) -> Steps:
    """Return the sum of step functions that are 0 at their ends.

    Examples
    --------
    >>> sum_of([Steps(np.array([0, 9]), np.array([1.0, 0.0])), Steps(np.array([4, 9]), np.array([2.0, 0.0]))])
    Steps(times=array([0, 4, 9]), values=array([1., 3., 0.]))
    """
    if not functions:
        return NEVER
    times = np.concatenate([one.times for one in functions])
    changes = np.concatenate([np.diff(one.values, prepend=0.0) for one in functions])
    order = np.argsort(times, kind="stable")
    last = np.append(times[order][1:] != times[order][:-1], True)
    # Rounded, because a sum of shares that come and go would not return to 0.
    return Steps(times[order][last], np.round(np.cumsum(changes[order])[last], 6))


def cut(function: Steps, end: int) -> Steps:
    """Return the part of a step function before a time, from which on it is 0.

    Examples
    --------
    >>> cut(Steps(np.array([0, 4, 9]), np.array([1.0, 3.0, 0.0])), 6)
    Steps(times=array([0, 4, 6]), values=array([1., 3., 0.]))
    """
    before = function.times < end
    if not before.any():
        return NEVER
    last = min(end, int(function.times[-1]))
    return Steps(np.append(function.times[before], last), np.append(function.values[before], 0.0))


def spans(waiting: Steps, some: Steps, *, above: float) -> NDArray[np.int64]:
    """Return begins and ends of the times in which jobs waited, of which more than a share were some."""
    times = np.union1d(waiting.times, some.times)
    queue, short = (
        np.where(times < one.times[0], 0, one.values[np.searchsorted(one.times, times, side="right") - 1])
        for one in (waiting, some)
    )
    inside = (queue > 0) & (short > above * queue)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]])))
    return times[edges].reshape(-1, 2)
