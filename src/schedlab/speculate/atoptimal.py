"""ATOptimal: the sequence of least mean makespan, with small jobs taking a share zeta of the machine.

Dynamic program over states (p, m, k): run times up to point p have been excluded by m requests whose indices sum to k,
so that together they took S = m v_0 + k d. m is only kept if it matters: if the number of requests is limited, or if
v_0 is above 0 and not a multiple of the grid's width d; otherwise k counts v_0 / d more per request.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import duration_text
from schedlab.errors import InputError
from schedlab.kernels import bare_kernel
from schedlab.speculate.costs import RequestLimits
from schedlab.speculate.point_distributions import DiscreteDistribution
from schedlab.speculate.sequences import ROUNDING, NoSequenceError, RequestSequence, check_share
from schedlab.speculate.toptimal import OptimalSequence

Values = NDArray[np.float64]

MOST_REQUESTS = 12
"""Maximum requests on a grid not beginning at a multiple of its width, without a limit; known optima have fewer."""

MOST_STATES = 60_000_000
"""Maximum number of states of a table: more would take over 700 MB, and minutes."""


class _Table(NamedTuple):
    """The grid, and the layout of the states. Point 0 is the beginning, point p is index p - 1 of the grid."""

    start: float
    """The first point, v_0."""
    width: float
    known: Values
    """P(X <= v) by point."""
    time: Values
    """E[X; X <= v] by point."""
    nearest: NDArray[np.int64]
    """The first point that a request may cover, by the previous point."""
    most: NDArray[np.int64]
    """The largest k by point."""
    offset: NDArray[np.int64]
    """The first state by point; the states of a point are sorted by m, then by k."""
    rows: int
    """The number of values of m."""
    step: int
    """By how much a request increases m: 0 if it is not kept."""
    shift: int
    """By how much a request increases k, besides its index."""


def atoptimal(grid: DiscreteDistribution, zeta: float, limits: RequestLimits | None = None) -> OptimalSequence:
    """Return the sequence whose mean makespan is least; on ties, one with the fewest requests.

    Parameters
    ----------
    grid
        An equally spaced distribution, such as one from `discretise`.
    zeta
        Share of the machine that a steady stream of small jobs takes, in [0, 1).
    limits
        The allowed requests.

    Raises
    ------
    InputError
        If the distribution is not equally spaced, zeta is out of range, the limits allow no sequence, or the table of
        states would be too large.

    References
    ----------
    Gainaru, Pallez, Sun and Raghavan, ICPP 2019, theorem 2; the objective is the corrected one of `evaluate_requests`.

    Examples
    --------
    >>> from schedlab.speculate.discretise import discretise
    >>> from schedlab.speculate.distributions import RunTimeDistribution
    >>> best = atoptimal(discretise(RunTimeDistribution.parse("truncnorm(0h,20h,mu=8h,sigma=2h)"), 46), 0.5)
    >>> [round(request / 3600, 2) for request in best.sequence.requests], round(best.cost / 3600, 6)
    ([13.04, 20.0], 17.026639)
    """
    check_share(zeta)
    table = _layout(grid, limits or RequestLimits())
    value = np.empty(table.offset[-1])
    count = np.empty(table.offset[-1], dtype=np.int16)
    _fill(zeta, table, value, count)
    least, _, p = _choose(0, 0, 0, zeta, table, value, count)
    if math.isinf(least):
        raise NoSequenceError(
            f"no sequence of the requests that are allowed covers the longest run, {duration_text(grid.high)}"
        )
    path, m, k = [p], 0, 0
    while p < len(grid.points):
        m, k = m + table.step, k + p - 1 + table.shift
        p = _choose(p, m, k, zeta, table, value, count)[2]
        path.append(p)
    return OptimalSequence(RequestSequence.plain(grid.points[np.array(path) - 1]), float(least))


def _layout(grid: DiscreteDistribution, limits: RequestLimits) -> _Table:
    """Compute the set of states, and their positions in the tables of values."""
    points = grid.points
    n = len(points) - 1
    steps = np.diff(points)
    if n < 1 or steps.max() > steps.min() * (1 + 1e-6):
        raise InputError("zeta above 0 needs a distribution on equally spaced points; cut it into intervals first")
    width = float(points[-1] - points[0]) / n
    shift = round(float(points[0]) / width)
    number = limits.number
    # Far from 0, counting requests takes fewer states than counting steps from 0.
    if number is None and (shift > n or abs(points[0] / width - shift) > 1e-9):
        number = MOST_REQUESTS
    index = np.arange(n + 1)
    if number is None:
        rows, step = 1, 0
        most = index * (index + 1) // 2 + shift * (index + 1)
    else:
        rows, step, shift = min(number, n + 1), 1, 0
        most = np.minimum(index * (index + 1) // 2, index * (rows - 1))
    # The beginning has no state, nor has the end, where there is no decision left.
    offset = np.concatenate([[0, 0], np.cumsum(rows * (most + 1))])[: n + 2]
    if offset[-1] > MOST_STATES:
        raise InputError(f"with zeta above 0, {n} intervals take too much memory; 200 are enough")
    most = np.concatenate([[0], most])
    nearest = _nearest(points, limits)
    return _Table(
        float(points[0]), width, grid.cumulative, grid.cumulative_mean, nearest, most, offset, rows, step, shift
    )


def _nearest(points: Values, limits: RequestLimits) -> NDArray[np.int64]:
    """Return, for the beginning and each point, the first point that the next request may cover."""
    slack = ROUNDING * points[-1]
    if limits.longest < points[-1] - slack:
        raise InputError(
            f"requests of at most {duration_text(limits.longest)} do not cover the longest run, "
            f"{duration_text(points[-1])}; cut the distribution there, or let zeta be 0 and take checkpoints"
        )
    least = np.concatenate([[limits.shortest], np.maximum(points + limits.increment, limits.shortest)])
    allowed = np.searchsorted(points, least - slack) + 1
    # The next request covers a later point, and no request has length 0.
    later = np.arange(len(points) + 1) + 1
    later[0] += points[0] == 0
    return np.asarray(np.maximum(allowed, later))


@bare_kernel
def _fill(zeta: float, table: _Table, value: Values, count: NDArray[np.int16]) -> None:
    """Fill the tables of least remaining cost and number of requests, from the longest run downwards."""
    for p in range(len(table.known) - 2, 0, -1):
        for m in range(table.step, table.rows):
            most = table.most[p]
            if table.step:
                most = min(most, m * (p - 1))
            state = table.offset[p] + m * (table.most[p] + 1)
            for k in range(p - 1 + table.shift, most + 1):
                least, number, _ = _choose(p, m, k, zeta, table, value, count)
                value[state + k] = least
                count[state + k] = number


@bare_kernel
def _choose(
    p: int, m: int, k: int, zeta: float, table: _Table, value: Values, count: NDArray[np.int16]
) -> tuple[float, int, int]:
    """Return the least remaining cost of a state, its number of requests, and the point covered by the next one."""
    end = len(table.known) - 1
    lost = m * table.start + k * table.width
    best, fewest, chosen = np.inf, 0, end
    for j in range(table.nearest[p], end + 1):
        if j < end and m + table.step == table.rows:
            continue
        request = table.start + (j - 1) * table.width
        # Runs up to `turn` end so early that no small job waits at the end of the request.
        empty = (1 - zeta) * request - zeta * lost
        turn = min(max(int(np.floor((empty - table.start) / table.width)) + 1, p), j)
        cost = (lost + request) * (table.known[turn] - table.known[p])
        cost += (lost * (table.known[j] - table.known[turn]) + table.time[j] - table.time[turn]) / (1 - zeta)
        number = 1
        if j < end:
            state = table.offset[j] + (m + table.step) * (table.most[j] + 1) + k + j - 1 + table.shift
            cost += value[state]
            number += count[state]
        if cost < best * (1 - ROUNDING) or (cost <= best * (1 + ROUNDING) and number < fewest):
            best, fewest, chosen = cost, number, j
    return best, fewest, chosen
