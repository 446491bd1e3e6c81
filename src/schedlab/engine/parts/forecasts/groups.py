"""Groups of jobs with attributes in common, from all jobs to the narrowest, and the shares of their requests used.

Two means of the shares of each group are kept, and the distribution where the score needs it: shares are rounded up to
a power of the square root of two, and the runs of each are counted. The distribution of a group is shrunk towards that
of the next wider group in the same way as its mean.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, Scratch
from schedlab.engine.queue.statistics import FIRST_QUANTILE, GEOMETRIC_MEAN, INDEX, MEAN, WEIGHT
from schedlab.kernels import by_address, inlined, inner_kernel
from schedlab.scheduler.formula import LEAST, QUANTILES
from schedlab.scheduler.predictor import GroupMean

BINS = 41
"""The number of bins of shares; their upper bounds are the square roots of 1, 1/2, 1/4 and so on, down to 2^-20."""

GEOMETRIC, ARITHMETIC = range(2)

LEVELS = np.array(QUANTILES)


@by_address
class Groups(NamedTuple):
    """What is known of each group: the decayed number of its runs (`weight`), and the decayed sums of their shares.

    A run's share is its run time over its request; `total` has the sum of the logarithms of the shares, and that of the
    shares themselves. `bins` has the decayed number of runs by share, `table` a row of statistics for each job; both
    are empty if they are not used, and `scratch` is for them. `group` has one row per job: the number of the group of
    all jobs first, and that of the narrowest last; the last group has no job. `parameters` are the shrinkage, the
    decay, and which of the two means is predicted.
    """

    group: ByPart[NDArray[np.int64]]
    weight: ByPart[NDArray[np.float64]]
    total: ByPart[NDArray[np.float64]]
    parameters: Fixed[NDArray[np.float64]]
    bins: ByPart[NDArray[np.float64]]
    table: ByPart[NDArray[np.float64]]
    scratch: Scratch[NDArray[np.float64]]


def new_groups(choice: GroupMean, attributes: NDArray[np.int64], table: NDArray[np.float64] | None = None) -> Groups:
    """Return groups that have seen no run yet.

    Parameters
    ----------
    choice
        How they are averaged.
    attributes
        A row per job: its attributes, in the order of `choice.attributes`.
    table
        A row per job, for its statistics; None if they are not used.
    """
    group = _numbered(attributes)
    known = int(group.max(initial=0)) + 2
    mean = GEOMETRIC if choice.mean == "geometric" else ARITHMETIC
    return Groups(
        group,
        np.zeros(known),
        np.zeros((known, 2)),
        np.array([choice.shrink, choice.decay, mean], np.float64),
        np.zeros((0 if table is None else known, BINS)),
        np.empty((0, FIRST_QUANTILE + len(QUANTILES))) if table is None else table,
        np.empty(BINS),
    )


def _numbered(attributes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the groups of each job: of all jobs, of those that share the first attribute, the first two and so on."""
    jobs, depth = attributes.shape
    number = np.zeros((jobs, depth + 1), np.int64)
    known = 1
    for level in range(depth if jobs else 0):
        value = np.unique(attributes[:, level], return_inverse=True)[1]
        pair = number[:, level] * (int(value.max()) + 1) + value
        number[:, level + 1] = known + np.unique(pair, return_inverse=True)[1]
        known = int(number.max()) + 1
    return number


@inner_kernel
def learn_share(groups: Groups, job: int, run_time: int, request: int) -> None:
    """Learn from a run of a job, given its run time and its request in seconds."""
    decay = groups.parameters[1]
    share = max(run_time, 1) / request
    logarithm = math.log(share)
    for level in range(groups.group.shape[1]):
        group = groups.group[job, level]
        groups.weight[group] = groups.weight[group] * decay + 1
        groups.total[group, GEOMETRIC] = groups.total[group, GEOMETRIC] * decay + logarithm
        groups.total[group, ARITHMETIC] = groups.total[group, ARITHMETIC] * decay + share
        if groups.bins.shape[0] > 0:
            for place in range(BINS):
                groups.bins[group, place] *= decay
            groups.bins[group, _bin(share)] += 1


@inlined
def _bin(share: float) -> int:
    """Return the bin of a share, which is at most 2^(-bin / 2)."""
    # A share of 1/2 must not miss its bin by a rounding error.
    return min(max(math.floor(-2 * np.log2(share) + 1e-9), 0), BINS - 1)


@inlined
def expected_share(groups: Groups, job: int) -> float:
    """Return the share of its request that a job is expected to use; 1 before any run."""
    return _mean_share(groups, job, int(groups.parameters[2]))


@inner_kernel
def _mean_share(groups: Groups, job: int, mean: int) -> float:
    """Return the geometric or the arithmetic mean of the shares, each group's shrunk towards that of the wider one."""
    expected = 0.0 if mean == GEOMETRIC else 1.0
    for level in range(groups.group.shape[1]):
        expected = drawn(groups, groups.group[job, level], mean, expected)
    return math.exp(expected) if mean == GEOMETRIC else expected


@inlined
def drawn(groups: Groups, group: int, mean: int, wider: float) -> float:
    """Return the estimate of a group, shrunk towards that of the wider one, which it equals before any run."""
    weight, shrink = groups.weight[group], groups.parameters[0]
    return (groups.total[group, mean] + shrink * wider) / (weight + shrink) if weight > 0 else wider


@inner_kernel
def expect(groups: Groups, job: int, request: int) -> None:
    """Fill the statistics of a job that requests some seconds, see `schedlab.scheduler.formula.STATISTICS`."""
    found = groups.table[job]
    found[MEAN] = _seconds(_mean_share(groups, job, ARITHMETIC), request)
    found[GEOMETRIC_MEAN] = _seconds(_mean_share(groups, job, GEOMETRIC), request)
    chance = groups.scratch
    _distribution(groups, job, chance)
    cumulated = work = gain = 0.0
    found[INDEX] = np.inf
    quantile = 0
    for place in range(BINS - 1, -1, -1):
        seconds = _seconds(2.0 ** (-place / 2), request)
        cumulated += chance[place]
        work += chance[place] * seconds
        gain += chance[place] / max(seconds, LEAST)
        if gain > 0:
            found[INDEX] = min(found[INDEX], (work + (1 - cumulated) * seconds) / gain)
        while quantile < LEVELS.shape[0] and (cumulated >= LEVELS[quantile] - 1e-9 or place == 0):
            found[FIRST_QUANTILE + quantile] = seconds
            quantile += 1
    found[WEIGHT] = gain


@inner_kernel
def _distribution(groups: Groups, job: int, chance: NDArray[np.float64]) -> None:
    """Fill the distribution of shares, each group's shrunk towards the wider one's; at the request before any run."""
    shrink = groups.parameters[0]
    for place in range(BINS):
        chance[place] = 0.0
    chance[0] = 1.0
    for level in range(groups.group.shape[1]):
        group = groups.group[job, level]
        weight = groups.weight[group]
        if weight > 0:
            for place in range(BINS):
                chance[place] = (groups.bins[group, place] + shrink * chance[place]) / (weight + shrink)


@inlined
def _seconds(share: float, request: int) -> float:
    """Return a share of a request, between 1 s and the request."""
    return max(1.0, min(request * share, float(request)))
