"""What the end of a log does to waits: the queue drains when no other jobs come."""

from __future__ import annotations

import numpy as np

from schedlab.schedule.schedule import Schedule

AFTER, MOSTLY = 0.2, 0.5
"""Shares of all waiting after the last submission from which on it is said, and said to decide."""


def after_the_log(schedule: Schedule) -> float:
    """Return the share of all waiting that comes after the last submission, when no other jobs come.

    Examples
    --------
    Three jobs of an hour on one processor: the last one is submitted after 90 minutes, and waits until 120.

    >>> import schedlab as sl
    >>> columns = {"submit_time": [0, 0, 5400], "requested_processors": [1] * 3}
    >>> columns |= dict.fromkeys(("run_time", "requested_time"), [3600] * 3)
    >>> jobs = sl.Workload.from_columns(columns, processors=1)
    >>> after_the_log(sl.simulate(jobs, "fcfs"))  # 60 and 30 minutes
    0.3333333333333333
    """
    return waiting_after_the_log(schedule) / max(float(schedule.wait_time.sum()), 1.0)


def waiting_after_the_log(schedule: Schedule) -> float:
    """Return how many seconds all jobs together wait after the last submission."""
    last = schedule.workload.submit_time.max()
    return float(np.maximum(schedule.start_time - np.maximum(schedule.queued_since, last), 0).sum())


def log_end_clause(share: float) -> str:
    """Return what the first sentence of an answer says of it; empty: too little to be said there.

    Examples
    --------
    >>> log_end_clause(0.3), log_end_clause(0.76)
    ('', '76% of the waiting comes after the last submission, while the log only drains')
    """
    if share < MOSTLY:
        return ""
    return f"{share:.0%} of the waiting comes after the last submission, while the log only drains"


def log_end_sentences(share: float) -> list[str]:
    """Say that a part of the waiting is an effect of where the log ends, if it is a large one.

    Where the first sentences have said so, only what follows is left to be said.

    Examples
    --------
    >>> log_end_sentences(0.1)
    []
    """
    if share < AFTER:
        return []
    if log_end_clause(share):
        return ["At the site, what is waited after the last submission may be longer, as other jobs come."]
    return [
        f"{share:.0%} of the waiting in the twin comes after the last submission of the log, when no other jobs come.",
        "At the site, these waits may have been longer.",
    ]
