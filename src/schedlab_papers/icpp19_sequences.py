"""Table 1 of ICPP'19, the printed sequences and ours, and its Theorem 1 as printed and corrected."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.requests import DiscreteDistribution, RunTimeDistribution, discretise, evaluate_requests, optimal_requests
from schedlab_papers.reproduction import TextTable

HOUR = 3_600
NORMAL = "truncnorm(0h,20h,mu=8h,sigma=2h)"


@dataclass(frozen=True, slots=True)
class Printed:
    """A row of Table 1.

    Parameters
    ----------
    method
        Its name.
    zeta
        Work rate of the small jobs.
    points
        Intervals of the grid with which the printed sequence comes out.
    hours
        The sequence, as printed.
    """

    method: str
    zeta: float
    points: int
    hours: tuple[float, ...]


TABLE_1 = (
    Printed("TOptimal", 0.0, 200, (10.8, 13.4, 15.4, 17.1, 18.7, 20)),
    Printed("ATOptimal", 0.1, 46, (10.86, 13.91, 18.69, 20)),
    Printed("ATOptimal", 0.5, 46, (13.04, 20)),
    Printed("ATOptimal", 0.9, 46, (17.39, 20)),
)


def table_1() -> TextTable:
    """Return the sequences of Table 1 beside ours."""
    rows: list[tuple[str | float, ...]] = []
    for row in TABLE_1:
        plan = optimal_requests(NORMAL, zeta=row.zeta, points=row.points)
        ours = [request / HOUR for request in plan.sequence.requests]
        same = [cut(value) for value in ours] == list(row.hours)
        fine = optimal_requests(NORMAL, zeta=row.zeta, points=200).evaluation.makespan
        costs = (plan.grid_cost, plan.evaluation.makespan, fine)
        cells = (f"{row.method} {row.zeta:g}", row.points, _hours(row.hours), _hours(ours, 4), "yes" if same else "no")
        rows.append((*cells, *(cost / HOUR for cost in costs)))
    return TextTable(
        "ICPP'19, Table 1: sequences of requests in hours, truncated normal distribution (0 to 20 h, mu 8, sigma 2)",
        (
            "method, zeta",
            "points",
            "printed",
            "ours",
            "the same?",
            "E(T), grid",
            "E(T), distribution",
            "E(T), 200 points",
        ),
        tuple(rows),
        decimals=6,
        notes=(
            "The paper does not say how many points its grids have: with these every row comes out; it cuts the values "
            "of ATOptimal after two decimals.",
            "E(T), hours: on the grid, of the same sequence on the distribution itself, of the best of 200 points.",
        ),
    )


def cut(hours: float) -> float:
    """Return hours without what follows the second decimal.

    Examples
    --------
    >>> cut(10.8696)
    10.86
    """
    return math.floor(hours * 100 + 1e-6) / 100


def theorem_1() -> TextTable:
    """Return the expected makespan of a sequence by Theorem 1, as printed and corrected, and by a direct sum."""
    zeta, points, places = 0.5, 46, (30, 46)
    grid = discretise(RunTimeDistribution.parse(NORMAL), points)
    requests = grid.points[list(places)]
    values = {
        "minimum in x_m, as printed": theorem_sum(grid, places, zeta, printed=True),
        "maximum in x_m, corrected": theorem_sum(grid, places, zeta),
        "our evaluator": evaluate_requests(grid, requests, zeta=zeta).makespan,
        "direct sum over the run times": direct_sum(grid, requests, zeta),
    }
    return TextTable(
        f"ICPP'19, Theorem 1: E(T) in hours of the requests {_hours(requests / HOUR)} at zeta = 0.5, n = 46",
        ("formula", "E(T)"),
        tuple((name, value / HOUR) for name, value in values.items()),
        decimals=4,
        notes=(
            "With the minimum some run times count twice; a sum over a range that runs backwards is taken as 0.",
            "The printed sum also starts at m = 1, which loses the success of the first request; here it starts "
            "at 0 in both.",
        ),
    )


def theorem_sum(grid: DiscreteDistribution, places: Sequence[int], zeta: float, *, printed: bool = False) -> float:
    """Return the sum of Theorem 1 for requests at some places of an equally spaced grid.

    Parameters
    ----------
    grid
        From `discretise`.
    places
        Ascending; the last one is that of the last point.
    zeta
        Work rate of the small jobs.
    printed
        Whether x_m is found with the minimum, as the paper prints it, and not with the maximum.
    """
    v, f = grid.points, grid.masses
    step = v[1] - v[0]
    total, lost, before = 0.0, 0.0, 0
    for place in places:
        theta = (1 - zeta) * v[place] - zeta * lost
        turn = (min if printed else max)(before, math.floor((theta - v[0]) / step + 1e-9))
        turn = max(0, min(turn, place))
        early, late = slice(before + 1, turn + 1), slice(turn + 1, place + 1)
        total += v[before] * f[before + 1 :].sum() * (before > 0) + v[place] * f[early].sum()
        total += ((v[late] * f[late]).sum() + zeta * lost * f[late].sum()) / (1 - zeta)
        lost, before = lost + v[place], place
    return float(total)


def direct_sum(grid: DiscreteDistribution, requests: NDArray[np.float64], zeta: float) -> float:
    """Return the mean over the points of a grid of T = max(S + t, (S + X) / (1 - zeta))."""
    ends = np.cumsum(requests)
    which = np.searchsorted(requests, grid.points)
    lost = np.concatenate([[0.0], ends])[which]
    return float(grid.masses @ np.maximum(ends[which], (lost + grid.points) / (1 - zeta)))


def _hours(values: Iterable[float], decimals: int = 2) -> str:
    return " ".join(f"{value:.{decimals}f}".rstrip("0").rstrip(".") for value in values)
