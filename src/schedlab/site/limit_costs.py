"""Which limits keep jobs waiting, for how long, and whose limits they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limit_kinds import LIMIT_KINDS
from schedlab.cluster.limits import Accounting, Limits
from schedlab.cluster.membership import membership
from schedlab.schedule.schedule import Schedule
from schedlab.site.causes import LIMITS, WaitCauses, kind_of
from schedlab.workload.columns import distinct

HOUR = 3600


@dataclass(frozen=True, slots=True)
class LimitCost:
    """What a limit cost.

    Parameters
    ----------
    reason
        In Slurm's word, such as "QOSMaxJobsPerUserLimit".
    limit
        The limits that can have caused it, such as "QOS normal: max_jobs_per_user=20"; "" if that is not known.
    jobs, users
        How many were held by it.
    hours
        That they were held, together.
    """

    reason: str
    limit: str
    jobs: int
    users: int
    hours: float


def limit_costs(schedule: Schedule, cluster: Cluster, causes: WaitCauses) -> tuple[LimitCost, ...]:
    """Return what each limit cost, the most hours first.

    Parameters
    ----------
    schedule
        Its jobs.
    cluster
        With accounts and QOS.
    causes
        What the jobs waited for.
    """
    who = membership(schedule.workload, cluster)
    totals: dict[tuple[str, str], list[tuple[np.ndarray, int]]] = {}
    for reason, seconds in causes.seconds.items():
        rows = np.flatnonzero(seconds) if kind_of(reason) == LIMITS else np.zeros(0, dtype=np.intp)
        if not rows.size:
            continue
        labels = [one.select(rows) for one in who]
        first, which = distinct(*(one.codes for one in labels))
        names = list(zip(*(one.select(first).texts() for one in labels), strict=True))
        for number, (user, account, qos, partition) in enumerate(names):
            mine = rows[which == number]
            holders = "; ".join(_holders(cluster, reason, user, account, qos, partition))
            totals.setdefault((reason, holders), []).append((mine, int(seconds[mine].sum())))
    found = []
    for (reason, limit), parts in totals.items():
        rows = np.concatenate([rows for rows, _ in parts])
        users = len(np.unique(schedule.workload.user_id[rows]))
        found.append(LimitCost(reason, limit, len(rows), users, sum(seconds for _, seconds in parts) / HOUR))
    return tuple(sorted(found, key=lambda one: (-one.hours, one.reason, one.limit)))


def _holders(cluster: Cluster, reason: str, user: str, account: str, qos: str, partition: str) -> Iterator[str]:
    """Yield the limits that can be the reason of a job, each with whose it is."""
    if cluster.accounting is None:
        return
    of_partitions = {one.name.lower(): one.qos for one in cluster.partitions}
    names = [of_partitions.get(one.strip().lower(), "") for one in partition.split(",")]
    for one in cluster.accounting.qos:
        if one.name == qos or one.name in names:
            what = f"QOS {one.name}" + (f" of partition {partition}" if one.name in names and one.name != qos else "")
            yield from (f"{what}: {text}" for text in _named(one.limits, reason, qos=True))
    for what, limits in _associations(cluster.accounting, user, account, partition):
        yield from (f"{what}: {text}" for text in _named(limits, reason, qos=False))


def _associations(accounting: Accounting, user: str, account: str, partition: str) -> Iterator[tuple[str, Limits]]:
    one = accounting.user(user, account, partition)
    if one is not None:
        yield f"user {user} in account {account}" + f" in partition {one.partition}" * bool(one.partition), one.limits
    if any(one.name == account for one in accounting.accounts):
        yield from ((f"account {one.name}", one.limits) for one in accounting.above(account))


def _named(limits: Limits, reason: str, *, qos: bool) -> Iterator[str]:
    """Yield the limits that give a reason, as NAME=VALUE."""
    for kind in LIMIT_KINDS.values():
        value = getattr(limits, kind.name) if kind.holds(qos=qos) else None
        for resource, amount in value if isinstance(value, tuple) else [("", value)]:
            if amount is not None and kind.reason(resource, qos=qos) == reason:
                yield f"{kind.name}={resource + '=' if resource else ''}{amount:,}"
