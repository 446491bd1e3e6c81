"""Longer time limits: that no recorded job asks for more than the limits of its day does not say that none would."""

from __future__ import annotations

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.wording import count_of
from schedlab.workload.workload import Workload


def longer_limit_text(cluster: Cluster, other: Cluster, jobs: Workload) -> str:
    """Say what a log cannot show of longer limits of partitions; empty: no limit is longer.

    Parameters
    ----------
    cluster, other
        As it is, and as changed.
    jobs
        Of the log.
    """
    today = {one.name: one.max_time for one in cluster.partitions}
    longer = [
        one.name
        for one in other.partitions
        if (now := today.get(one.name)) is not None and (one.max_time is None or one.max_time > now)
    ]
    if not longer:
        return ""
    at_limit = jobs.run_time >= jobs.requested_time
    hours = np.minimum(jobs.run_time, jobs.requested_time) * jobs.job_processors
    share = float(hours[at_limit].sum() / max(hours.sum(), 1))
    number = int(at_limit.sum())
    end = "ends at its own limit" if number == 1 else "end at their own limits"
    ended = f"; {count_of(number, 'job')} with {share:.0%} of the core-hours {end} today" if number else ""
    return (
        "no recorded job asks for more than the limits of today: what users would ask for beyond them is not "
        f"simulated{ended}"
    )
