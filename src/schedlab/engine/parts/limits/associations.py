"""Limits of accounts, users and QOS as numbers: which jobs each limit holds for, and how much of it they use.

Limits of one kind are searched in Slurm's order: QOS of the partition, QOS of the job (the other way round with
the flag OverPartQOS), user in the account, accounts up to the root; the first that sets it counts. Limits on all jobs
of an account (Grp...) hold at every level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.limit_kinds import (
    ACCOUNT,
    ALL,
    JOB,
    LEAST,
    LIMIT_KINDS,
    MINUTES,
    OF_NODE,
    SECONDS,
    TO_GO,
    TRES,
    USER,
    LimitKind,
)
from schedlab.cluster.limits import Accounting, Limits
from schedlab.cluster.membership import Membership
from schedlab.engine.machine.numbers import UNLIMITED
from schedlab.engine.parts.limits.tres import of_each_node
from schedlab.workload.columns import distinct
from schedlab.workload.resources import Labels

JOBS = "jobs"
"""The amount per job under limits on the number of jobs: one."""

Holder = tuple[str, ...]
"""Who has a limit: whether it is a user, an account or a QOS, and the names that tell which."""


class Bound(NamedTuple):
    """A limit that jobs are under.

    Parameters
    ----------
    holder
        Its owner; together with kind and resource, it identifies the limit.
    kind
        What it bounds, and whose jobs count together.
    resource
        What it counts: "jobs", "cpu", "mem", ...; "" for seconds.
    most
        The amount; for minutes to go, amount times seconds.
    reason
        The reason of a job that would exceed it.
    """

    holder: Holder
    kind: LimitKind
    resource: str
    most: int
    reason: str

    @property
    def measure(self) -> tuple[str, str, str]:
        """What it is a limit on; of several that are on the same, the first counts."""
        return (self.kind.amount, self.kind.together, self.resource)


class Under(NamedTuple):
    """The limits that a job is under: on what it uses together with others, and on its own request."""

    shared: tuple[Bound, ...]
    single: tuple[Bound, ...]

    @classmethod
    def of(cls, bounds: list[Bound]) -> Under:
        """Return limits in the order in which they are checked: those on the number of jobs before others."""
        shared = [one for one in bounds if one.kind.together != JOB]
        single = tuple(one for one in bounds if one.kind.together == JOB)
        return cls(tuple(sorted(shared, key=lambda one: not one.kind.counts_jobs)), single)


def limits_of(accounting: Accounting, who: Membership, partition_qos: Labels) -> tuple[list[Under], NDArray[np.int64]]:
    """Return the limits of jobs: each distinct case once, and the case of each job.

    Parameters
    ----------
    accounting
        The accounting of the site.
    who
        The users and accounts of the jobs.
    partition_qos
        The QOS of each job's partition, none if it has none.
    """
    columns = (who.user, who.account, who.partition, who.qos, partition_qos)
    first, case = distinct(*(column.codes for column in columns))
    rules = _Rules(accounting)
    names = zip(*(column.select(first).texts() for column in columns), strict=True)
    return [rules.under(*one) for one in names], case.astype(np.int64)


def most_nodes(accounting: Accounting, who: Membership, partition_qos: Labels) -> NDArray[np.int64]:
    """Return how many nodes each job may have under its limits, `UNLIMITED` without any; parameters as `limits_of`."""
    cases, case = limits_of(accounting, who, partition_qos)
    found = []
    for under in cases:
        every = (*under.single, *under.shared)
        bounds = [one.most for one in every if one.kind.amount == TRES and one.resource == "node"]
        found.append(min(bounds, default=UNLIMITED))
    return np.array(found, dtype=np.int64)[case]


class _Rules:
    """Finds the limits that apply to a job."""

    def __init__(self, accounting: Accounting) -> None:
        self.accounting = accounting
        self.qos = {qos.name: qos.limits for qos in accounting.qos}
        self.first = {qos.name for qos in accounting.qos if qos.over_partition}
        self.known = {account.name for account in accounting.accounts}

    def under(self, user: str, account: str, partition: str, qos: str, partition_qos: str) -> Under:
        """Return the limits of a job, in the order in which they are checked."""
        found: list[Bound] = []
        first = (qos, partition_qos) if qos in self.first else (partition_qos, qos)
        for name in dict.fromkeys(name for name in first if name in self.qos):
            found += _others(_of_qos(name, self.qos[name], user, account), found)
        found += _others(_of_accounts(self._levels(user, account, partition)), found)
        return Under.of(found)

    def _levels(self, user: str, account: str, partition: str) -> list[tuple[Holder, Limits]]:
        """Return the association of the user, without limits if there is none, and the accounts up to the root."""
        own = self.accounting.user(user, account, partition)
        above = self.accounting.above(account) if account in self.known else ()
        return [
            (("user", account, user, own.partition if own else ""), own.limits if own else Limits()),
            *((("account", one.name), one.limits) for one in above),
        ]


def _others(bounds: Iterable[Bound], before: list[Bound]) -> list[Bound]:
    """Return the limits that are on anything on which those before are not."""
    taken = {one.measure for one in before}
    return [one for one in bounds if one.measure not in taken]


def _of_qos(name: str, limits: Limits, user: str, account: str) -> Iterator[Bound]:
    whose = {USER: (user,), ACCOUNT: (account,)}
    for one in _set(limits, qos=True):
        together = one.kind.together
        yield one._replace(holder=("qos", name, together, *whose.get(together, ())))


def _of_accounts(levels: list[tuple[Holder, Limits]]) -> Iterator[Bound]:
    """Yield limits on all jobs of every level, and of any other kind the first, from the user up to the root."""
    seen: set[tuple[str, str, str]] = set()
    user, _ = levels[0]
    for holder, limits in levels:
        for one in _set(limits, qos=False):
            if one.kind.together == ALL:
                yield one._replace(holder=holder)
            elif one.measure not in seen:
                seen.add(one.measure)
                yield one._replace(holder=user)


def _set(limits: Limits, *, qos: bool) -> Iterator[Bound]:
    """Yield the limits that are set and simulated, of no holder yet."""
    for kind in LIMIT_KINDS.values():
        value = getattr(limits, kind.name) if kind.holds(qos=qos) else None
        if isinstance(value, int):
            yield Bound((), kind, JOBS if kind.counts_jobs else "", value, kind.reason(qos=qos))
        elif value is not None:
            for resource, most in value:
                amount = most * 60 + 59 if kind.amount == TO_GO else most  # Slurm counts full minutes
                yield Bound((), kind, resource, amount, kind.reason(resource, qos=qos))


def exceeded_alone(
    cases: Iterable[Under],
    case: NDArray[np.int64],
    amounts: Mapping[str, NDArray[np.int64]],
    request: NDArray[np.int64],
) -> Labels:
    """Return for each job the reason of the first limit that it exceeds by itself, none if it exceeds none.

    Parameters
    ----------
    cases, case
        What `limits_of` returned.
    amounts
        How much of each resource each job uses.
    request
        int64 seconds: the requested times; 0 or less if unknown.
    """
    found = np.full(len(case), -1, dtype=np.int64)
    names: dict[str, int] = {}
    for number, under in enumerate(cases):
        rows = np.flatnonzero(case == number)
        for one in (*under.single, *under.shared):
            used = _used_alone(one, amounts, request, rows)
            bad = used < one.most if one.kind.amount == LEAST else used > one.most
            hit = rows[bad & (found[rows] < 0)]
            if hit.size:
                found[hit] = names.setdefault(one.reason, len(names))
    return Labels(found, tuple(names))


def longest_alone(
    cases: Iterable[Under], case: NDArray[np.int64], amounts: Mapping[str, NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Return how many seconds each job may request under limits on single jobs; parameters as `exceeded_alone`."""
    found = np.full(len(case), UNLIMITED, dtype=np.int64)
    for number, under in enumerate(cases):
        rows = np.flatnonzero(case == number)
        for one in under.single:
            if one.kind.amount == SECONDS:
                found[rows] = np.minimum(found[rows], one.most)
            elif one.kind.amount == MINUTES and one.resource in amounts:
                amount = np.maximum(amounts[one.resource][rows], 0)
                bound = np.where(amount > 0, one.most // np.maximum(amount, 1) * 60, UNLIMITED)
                found[rows] = np.minimum(found[rows], bound)
    return found


def _used_alone(
    one: Bound,
    amounts: Mapping[str, NDArray[np.int64]],
    request: NDArray[np.int64],
    rows: NDArray[np.intp],
) -> NDArray[np.int64]:
    """Return how much jobs use of a limit if no other job runs."""
    seconds = np.maximum(request[rows], 0)
    if one.kind.amount == SECONDS:
        return seconds
    resource = of_each_node(one.resource) if one.kind.amount == OF_NODE else one.resource
    amount = amounts[resource][rows] if resource in amounts else np.zeros(len(rows), dtype=np.int64)
    if one.kind.amount == MINUTES:
        return amount * (-(-seconds // 60))
    return amount * seconds if one.kind.amount == TO_GO else amount
