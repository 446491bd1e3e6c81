"""Metrics of the time that jobs wait for each kind of reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.limit_kinds import SUBMISSION_REASONS

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule

KINDS = {
    "Resources": "mean_wait_for_resources",
    "Priority": "mean_wait_for_priority",
    "Dependency": "mean_wait_for_dependencies",
    "ReqNodeNotAvail": "mean_wait_for_nodes",
    "Reservation": "mean_wait_for_nodes",
}
"""Reasons that are not limits, and their metrics."""

LIMITS = "mean_wait_at_limits"
"""The metric of all other reasons: limits of accounts and QOS (on submitted jobs, too), licences, running elements of
arrays."""

OF_REASONS = (*dict.fromkeys(KINDS.values()), LIMITS)


def mean_waits_by_reason(waited_for: Mapping[str, NDArray[np.int64]], rows: NDArray[np.intp]) -> dict[str, float]:
    """Return for how many seconds jobs waited for each kind of reason, in the mean over all jobs that count.

    Parameters
    ----------
    waited_for
        Seconds of each job by reason, see `Schedule.waited_for`; empty if they are not known.
    rows
        Positions of the jobs that count.

    Examples
    --------
    >>> waited = {"Resources": np.array([60, 0]), "QOSMaxJobsPerUserLimit": np.array([0, 30])}
    >>> means = mean_waits_by_reason(waited, np.array([0, 1]))
    >>> means["mean_wait_for_resources"], means["mean_wait_at_limits"], means["mean_wait_for_priority"]
    (30.0, 15.0, 0.0)
    """
    means = dict.fromkeys(OF_REASONS, 0.0) if waited_for else {}
    for reason, seconds in waited_for.items():
        means[KINDS.get(reason, LIMITS)] += float(seconds[rows].mean())
    return means


def seconds_refused(schedule: Schedule) -> NDArray[np.int64]:
    """Return how long each job waits outside the queue, as its submission is refused: none, without such limits."""
    found = np.zeros(len(schedule), dtype=np.int64)
    for reason, seconds in (schedule.waited_for or {}).items():
        if reason in SUBMISSION_REASONS:
            found += seconds
    return found
