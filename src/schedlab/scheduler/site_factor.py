"""A policy as one term of Slurm's own priority: points by the rank of a job, as a deployment gives them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import DAY, HOUR
from schedlab.errors import InputError
from schedlab.scheduler.policy import ALIASES, POLICIES, FormulaPolicy, Policy

FIRST = 1_735_689_600
"""Unix time, of the year 2025, from which deployed policies rank submissions."""


def order_of(text: str) -> Policy:
    """Return the policy of a site factor: a name or a formula whose scores are fixed as a job is submitted.

    Raises
    ------
    InputError
        If there is no such policy, or its scores change while a job waits.

    Examples
    --------
    >>> order_of("saf").text, order_of("p*q^2").text
    ('saf', '"p*q^2"')
    """
    name = ALIASES.get(text.strip().lower(), text.strip().lower())
    policy = POLICIES[name]() if name in POLICIES else FormulaPolicy(text.strip().strip('"'))
    if policy.program is None or policy.changes_with_time or policy.program.uses_statistics:
        raise InputError(f"{policy.text} is not fixed as a job is submitted, so it cannot be a site factor")
    return policy


def points_of(
    policy: Policy, weight: float, p: NDArray[np.int64], q: NDArray[np.int64], r: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the points of jobs: `weight` of the one that a policy wants first, 0 of the one that it wants last.

    Parameters
    ----------
    policy
        With scores that are fixed at submission.
    weight
        Points between the first and the last job.
    p, q, r
        Requested time (s), processors, and submit time (s) from any origin.

    Examples
    --------
    Smallest area first: codes of 60 s on one processor and of 30 days on a million are the bounds.

    >>> p, q = np.array([60, 30 * 86_400]), np.array([1, 10**6])
    >>> points_of(order_of("saf"), 1000, p, q, np.array([0, 0])).tolist()
    [1000.0, 0.0]
    """
    low, high = codes_of(policy, 0)
    found = code(policy.scores(p, q, FIRST + r, np.zeros(len(p), dtype=np.int64)))
    return np.floor(weight * np.clip((high - found) / (high - low), 0, 1) + 0.5)


def codes_of(policy: Policy, origin: int) -> tuple[int, int]:
    """Return the smallest and the largest code of scores of jobs as a cluster sees them; see `code`.

    Jobs of a minute to a month on 1 to a million processors, submitted in the ten years from 2025, or after `origin`.
    """
    first = origin or FIRST
    grid = np.meshgrid([60, HOUR, DAY, 30 * DAY], [1, 64, 4096, 10**6], [first - origin, first - origin + 3650 * DAY])
    p, q, r = (axis.ravel().astype(np.int64) for axis in grid)
    codes = code(policy.scores(p, q, np.maximum(r, 1), np.zeros(len(p), dtype=np.int64)))
    low, high = int(codes.min()), int(codes.max())
    return low, max(high, low + 1)


def code(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return whole numbers that order as scores do, logarithmic in their size: exponent and mantissa.

    The same as `rank` of the templates.

    Examples
    --------
    >>> code(np.array([-2.0, 0.0, 1.0, 2.0, 3.0])).tolist()
    [-536870912, 0, 532676608, 536870912, 538968064]
    """
    mantissa, exponent = np.frexp(np.minimum(np.abs(scores), 1e37))
    size = np.clip(exponent + 126, 0, 253).astype(np.int64) * 4194304 + ((2 * mantissa - 1) * 4194304).astype(np.int64)
    return np.where(scores == 0, 0, np.sign(scores).astype(np.int64) * size)
