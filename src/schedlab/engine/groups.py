"""Groups of jobs with attributes in common, from everybody to the narrowest, and what share of requests they use."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.kernels import inlined
from schedlab.scheduler.predictor import GroupMean


class Groups(NamedTuple):
    """What is known of groups: for each the decayed number of runs (`weight`), and the decayed sum of their shares.

    A run's share is its run time over its request; geometric means sum the logarithms. `group` has one line per job,
    and in it the number of everybody's group first and that of the narrowest last; the last group of all is of no job.
    `parameters` are the shrinkage, the decay, and 1 for geometric means.
    """

    group: NDArray[np.int64]
    weight: NDArray[np.float64]
    total: NDArray[np.float64]
    parameters: NDArray[np.float64]


def new_groups(choice: GroupMean, attributes: NDArray[np.int64]) -> Groups:
    """Return groups of which nothing is known yet.

    Parameters
    ----------
    choice
        How they are averaged.
    attributes
        A line per job: its attributes, in the order of `choice.attributes`.
    """
    group = _numbered(attributes)
    known = int(group.max(initial=0)) + 2
    parameters = np.array([choice.shrink, choice.decay, choice.mean == "geometric"], np.float64)
    return Groups(group, np.zeros(known), np.zeros(known), parameters)


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


@inlined
def learn_share(groups: Groups, job: int, run_time: int, request: int) -> None:
    """Take notice of a run of some seconds, of a job that had requested so many."""
    decay = groups.parameters[1]
    share = max(run_time, 1) / request
    if groups.parameters[2] == 1:
        share = math.log(share)
    for level in range(groups.group.shape[1]):
        group = groups.group[job, level]
        groups.weight[group] = groups.weight[group] * decay + 1
        groups.total[group] = groups.total[group] * decay + share


@inlined
def expected_share(groups: Groups, job: int) -> float:
    """Return the share of its request that a job is expected to use; 1 before anything is known."""
    shrink, geometric = groups.parameters[0], groups.parameters[2] == 1
    expected = 0.0 if geometric else 1.0
    for level in range(groups.group.shape[1]):
        group = groups.group[job, level]
        weight = groups.weight[group]
        if weight > 0:
            expected = (groups.total[group] + shrink * expected) / (weight + shrink)
    return math.exp(expected) if geometric else expected
