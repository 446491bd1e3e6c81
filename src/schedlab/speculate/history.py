"""Requests from past runs: their distribution, and the practice of requesting the maximum of the last few."""

from __future__ import annotations

import csv
import io
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.documents import read_text
from schedlab.durations import duration_text, is_duration, parse_duration
from schedlab.errors import InputError
from schedlab.speculate.costs import AffineCost
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.fits import FAMILIES_TO_FIT, best_fit, fit_distribution
from schedlab.speculate.point_distributions import DiscreteDistribution, InterpolatedDistribution, checked_runs
from schedlab.speculate.sequences import RETRY_FACTOR, Evaluation, attempt, check_objective

FEWEST_RUNS = 10
"""With fewer runs, a distribution from runs is unreliable."""

DISTRIBUTIONS_OF_RUNS = ("empirical", "interpolated", "best", *FAMILIES_TO_FIT)

HISTORIES = 2_000
"""Equally likely values of the maximum that the mean is computed from."""

SHORTEST_REQUEST = 1.0
"""Seconds requested if all of the last runs were shorter."""


def distribution_of_runs(
    runs: ArrayLike, distribution: str = "empirical", *, cut: float | None = None
) -> RunTimeDistribution:
    """Return the run-time distribution of an application, given past runs.

    Parameters
    ----------
    runs
        Past run times in seconds.
    distribution
        "empirical" (the past runs only), "interpolated" (linear between the runs), "best" (the family with the lowest
        AIC), or the name of a family.
    cut
        Longest run to use, in seconds: longer ones are ignored, and a fitted distribution ends there.

    Raises
    ------
    InputError
        If there is no run, or all are equal, or the distribution is unknown or cannot be fitted.

    Examples
    --------
    >>> distribution_of_runs([3600, 5400, 7200, 7200]).text
    'discrete(1h:0.25,1.5h:0.25,2h:0.5)'
    """
    if distribution not in DISTRIBUTIONS_OF_RUNS:
        raise InputError(f"unknown distribution of runs {distribution!r}; known are {', '.join(DISTRIBUTIONS_OF_RUNS)}")
    values = runs_up_to(runs, cut)
    if len(values) == 1:
        within = "" if cut is None else f" within the cut, {duration_text(cut)}"
        raise InputError(
            f"there is only one run{within}, of {duration_text(float(values[0]))}: a distribution needs two or more"
        )
    if values.min() == values.max():
        raise InputError(
            f"all {len(values)} runs take the same time, {duration_text(float(values[0]))}: "
            f"a request of that length is all they need"
        )
    if distribution == "empirical":
        return DiscreteDistribution.of_runs(values)
    if distribution == "interpolated":
        return InterpolatedDistribution.of_runs(values)
    return (
        best_fit(values, cut=cut) if distribution == "best" else fit_distribution(values, distribution, cut=cut)
    ).distribution


def runs_up_to(runs: ArrayLike, cut: float | None) -> NDArray[np.float64]:
    """Return the runs that are at most as long as the cut.

    Raises
    ------
    InputError
        If there is none.
    """
    values = checked_runs(runs)
    if cut is None:
        return values
    if not (values <= cut).any():
        raise InputError(f"all runs are longer than the cut, {duration_text(cut)}; choose a later one")
    return values[values <= cut]


@explained
def evaluate_last_maximum(
    distribution: RunTimeDistribution,
    last: int = 10,
    *,
    zeta: float = 0.0,
    cost: AffineCost | None = None,
    factor: float = RETRY_FACTOR,
) -> Evaluation:
    """Return the cost of requesting the maximum of the last runs, and more after each failure.

    Parameters
    ----------
    distribution
        The run-time distribution; past runs and the next one are independent.
    last
        Number of runs of which the maximum is requested.
    zeta, cost
        As for `evaluate_requests`.
    factor
        The ratio of a request to the failed one before it, also beyond the longest run.

    Raises
    ------
    InputError
        If `last` is below 1, or the factor is not above 1.

    Notes
    -----
    The maximum has the distribution function F(x)^last; the mean is taken over 2,000 of its quantiles.

    References
    ----------
    Gainaru, Pallez, Sun and Raghavan, ICPP 2019, section 5 ("neuroscience"); the factor is that of the authors'
    program.

    Examples
    --------
    >>> distribution = RunTimeDistribution.parse("truncnorm(0h,20h,mu=8h,sigma=2h)")
    >>> round(evaluate_last_maximum(distribution, 10).makespan / 3600, 2)
    12.46
    """
    if last < 1:
        raise InputError(f"the maximum of the last {last} runs: there must be at least one")
    if not factor > 1:
        raise InputError(f"a request that was not enough is followed by one {factor:g} times as long; take more than 1")
    model = cost or AffineCost()
    check_objective(zeta, model)
    share = ((np.arange(HISTORIES) + 0.5) / HISTORIES) ** (1 / last)
    request = np.maximum(distribution.quantile(share), SHORTEST_REQUEST)
    below, lost = np.full(HISTORIES, -1.0), np.zeros(HISTORIES)
    totals = np.zeros((4, HISTORIES))
    while (below < distribution.high).any():
        totals += attempt(distribution, below, request, request, 0.0, lost, zeta)
        below, lost, request = request, lost + request, factor * request
    makespan, attempts, requested, used = (float(mean) for mean in totals.mean(axis=1))
    return Evaluation.of(model, zeta, makespan, attempts, requested, used)


@explained
def read_runs(path: str | PathLike[str], column: str | None = None) -> NDArray[np.float64]:
    """Read past run times from a CSV file.

    Parameters
    ----------
    path
        The file: run times in seconds or with a suffix, one per line; or a table with a header line.
    column
        Name of the column; not needed if there is only one.

    Raises
    ------
    InputError
        If the file cannot be read, has no such column or no run, or a value is not a duration of 0 or more.
    """
    lines = io.StringIO(read_text(path, "file of runs"), newline="")
    try:
        rows = [(number, row) for number, row in enumerate(csv.reader(lines), start=1) if any(map(str.strip, row))]
    except csv.Error:
        raise InputError(f"{path}: the runs are not CSV") from None
    if not rows:
        raise InputError(f"{path}: there are no runs: a distribution needs past run times")
    place, rows = _column(path, rows, column)
    runs = []
    for number, row in rows:
        try:
            run = parse_duration(row[place] if place < len(row) else "")
        except InputError as error:
            raise InputError(f"{path}, line {number}: {error}") from None
        if not 0 <= run < np.inf:
            raise InputError(f"{path}, line {number}: a run takes {run:g} s; it must be finite, 0 or more")
        runs.append(run)
    if not runs:
        raise InputError(f"{path}: there are no runs: a distribution needs past run times")
    return np.array(runs)


def _column(
    path: Any, rows: list[tuple[int, list[str]]], column: str | None
) -> tuple[int, list[tuple[int, list[str]]]]:
    """Return the position of the column of run times, and the rows without the header line, if any."""
    line, cells = rows[0]
    names = [name.strip() for name in cells]
    if column is not None:
        if column not in names:
            raise InputError(f"{path}: there is no column {column!r}; there are {', '.join(names)}")
        if names.count(column) > 1:
            raise InputError(f"{path}, line {line}: {names.count(column)} columns are called {column!r}; rename one")
        return names.index(column), rows[1:]
    named = not any(map(is_duration, names))
    if len(names) > 1 and not named:
        raise InputError(
            f"{path}, line {line}: there are {len(names)} columns without names; write one run time per line, or put a "
            "line of names first and name that of the run times (column=)"
        )
    if len(names) > 1:
        last = next((name for name in reversed(names) if name), "NAME")
        raise InputError(f"{path}: there are {len(names)} columns; name that of the run times, as in column={last}")
    return 0, rows[1:] if named else rows
