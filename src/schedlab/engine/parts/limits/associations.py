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

from schedlab.cluster.limits import Accounting, Limits, Tres
from schedlab.cluster.membership import Membership
from schedlab.engine.machine.numbers import UNLIMITED
from schedlab.engine.parts.limits.reason_names import reason_of
from schedlab.engine.parts.limits.tres import of_each_node
from schedlab.workload.columns import distinct
from schedlab.workload.resources import Labels

JOBS = "jobs"
"""The amount per job under limits on the number of jobs: one."""

SAME_KIND = {"max_jobs_per_user": "max_jobs", "max_submit_per_user": "max_submit"}
"""A limit of a QOS, and the limit of an account that it replaces."""

_GROUPS = (("grp_jobs", "grp_jobs"), ("grp_tres", "grp_tres"), ("grp_tres_run_mins", "grp_tres_run_mins"))
_OF_QOS = {
    "grp_jobs": "",
    "max_jobs_per_account": "account",
    "max_jobs_per_user": "user",
    "grp_submit_jobs": "",
    "max_submit_per_account": "account",
    "max_submit_per_user": "user",
    "grp_tres": "",
    "grp_tres_run_mins": "",
    "max_tres_per_account": "account",
    "max_tres_per_user": "user",
    "max_tres_run_mins_per_account": "account",
    "max_tres_run_mins_per_user": "user",
}
"""Limits of a QOS on concurrent use, and the jobs that share each: all jobs, those of a user, those of an account."""

_OF_ACCOUNT = ("grp_jobs", "max_jobs", "grp_submit_jobs", "max_submit", "grp_tres", "grp_tres_run_mins")
_OF_EACH_USER = ("max_jobs", "max_submit")
"""Limits of an account on the jobs of each user."""

SUBMITTED = ("grp_submit_jobs", "max_submit", "max_submit_per_user", "max_submit_per_account")
"""Limits on jobs that run or wait."""

_MOST = ("max_tres_per_job", "grp_tres", "max_tres_per_user", "max_tres_per_account")
"""Limits that also say how many nodes a job may have that names no number."""

_PER_JOB = ("max_wall", "max_tres_per_job", "max_tres_per_node", "max_tres_mins_per_job", "min_tres_per_job")
_COUNTS = ("grp_jobs", "max_jobs", "max_jobs_per_user", "max_jobs_per_account", *SUBMITTED)


class Shared(NamedTuple):
    """A limit on what several jobs use at a time.

    Parameters
    ----------
    holder
        Its owner; together with kind and resource, it identifies the limit.
    kind
        A field of `Limits`.
    resource
        What it counts: "jobs", "cpu", "mem", ...
    most
        The amount; for a timed limit, amount times seconds.
    reason
        The reason of a job that would exceed it.
    """

    holder: tuple[str, ...]
    kind: str
    resource: str
    most: int
    reason: str

    @property
    def timed(self) -> bool:
        """Whether amounts count for every second that jobs are expected to run."""
        return "run_mins" in self.kind


class Single(NamedTuple):
    """A limit on the request of a single job: a job that exceeds it never runs."""

    kind: str
    resource: str
    most: int
    reason: str


class Under(NamedTuple):
    """The limits that a job is under."""

    shared: tuple[Shared, ...]
    single: tuple[Single, ...]


NOTHING = Under((), ())


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
    columns = (who.user, who.account, who.qos, partition_qos)
    first, case = distinct(*(column.codes for column in columns))
    rules = _Rules(accounting)
    names = zip(*(column.select(first).texts() for column in columns), strict=True)
    return [rules.under(*one) for one in names], case.astype(np.int64)


def most_nodes(accounting: Accounting, who: Membership, partition_qos: Labels) -> NDArray[np.int64]:
    """Return how many nodes each job may have under its limits, `UNLIMITED` without any; parameters as `limits_of`."""
    cases, case = limits_of(accounting, who, partition_qos)
    found = []
    for under in cases:
        every: list[Single | Shared] = [*under.single, *under.shared]
        bounds = [one.most for one in every if one.kind in _MOST and one.resource == "node"]
        found.append(min(bounds, default=UNLIMITED))
    return np.array(found, dtype=np.int64)[case]


class _Rules:
    """Finds the limits that apply to a job."""

    def __init__(self, accounting: Accounting) -> None:
        self.accounting = accounting
        self.qos = {qos.name: qos.limits for qos in accounting.qos}
        self.first = {qos.name for qos in accounting.qos if qos.over_partition}
        self.users = {(user.user, user.account): user.limits for user in reversed(accounting.users)}
        self.known = {account.name for account in accounting.accounts}

    def under(self, user: str, account: str, qos: str, partition_qos: str) -> Under:
        """Return the limits of a job, in the order in which they are checked."""
        shared: list[Shared] = []
        single: list[Single] = []
        taken: set[tuple[str, str]] = set()
        first = (qos, partition_qos) if qos in self.first else (partition_qos, qos)
        for name in dict.fromkeys(name for name in first if name in self.qos):
            own = self.qos[name]
            found = list(self._of_qos(name, own, user, account))
            shared += [one for one in found if (one.kind, one.resource) not in taken]
            alone = list(_singles(own, qos=True))
            single += [one for one in alone if (one.kind, one.resource) not in taken]
            taken |= {(one.kind, one.resource) for one in found} | {(one.kind, one.resource) for one in alone}
            taken |= {(SAME_KIND[one.kind], one.resource) for one in found if one.kind in SAME_KIND}
        shared += [one for one in self._of_accounts(user, account) if (one.kind, one.resource) not in taken]
        single += [one for one in self._singles_of_accounts(user, account) if (one.kind, one.resource) not in taken]
        return Under(tuple(sorted(shared, key=lambda one: one.kind not in _COUNTS)), tuple(single))

    def _of_qos(self, name: str, limits: Limits, user: str, account: str) -> Iterator[Shared]:
        whose = {"": (), "user": (user,), "account": (account,)}
        for kind, together in _OF_QOS.items():
            holder = ("qos", name, together, *whose[together])
            yield from _shared(holder, kind, limits, qos=True)

    def _levels(self, user: str, account: str) -> Iterator[tuple[tuple[str, ...], Limits]]:
        """Yield the association of the user, and the accounts up to the root."""
        if (user, account) in self.users:
            yield ("user", account, user), self.users[user, account]
        if account in self.known:
            for one in self.accounting.above(account):
                yield ("account", one.name), one.limits

    def _of_accounts(self, user: str, account: str) -> Iterator[Shared]:
        """Yield limits on all jobs of every level, and the first limit on the jobs of each user."""
        of_user: set[str] = set()
        for holder, limits in self._levels(user, account):
            for kind in _OF_ACCOUNT:
                whose = ("user", account, user) if kind in _OF_EACH_USER else holder
                found = [] if kind in of_user else list(_shared(whose, kind, limits, qos=False))
                if found and kind in _OF_EACH_USER:
                    of_user.add(kind)
                yield from found

    def _singles_of_accounts(self, user: str, account: str) -> Iterator[Single]:
        """Yield the first limit of each kind, from the user up to the root."""
        seen: set[tuple[str, str]] = set()
        for _, limits in self._levels(user, account):
            for one in _singles(limits, qos=False):
                if (one.kind, one.resource) not in seen:
                    seen.add((one.kind, one.resource))
                    yield one


def _shared(holder: tuple[str, ...], kind: str, limits: Limits, *, qos: bool) -> Iterator[Shared]:
    value = getattr(limits, kind)
    if kind in _COUNTS:
        if value is not None:
            yield Shared(holder, kind, JOBS, value, reason_of(kind, qos=qos))
        return
    for resource, most in value:
        amount = most * 60 + 59 if "run_mins" in kind else most  # Slurm counts full minutes
        yield Shared(holder, kind, resource, amount, reason_of(kind, resource, qos=qos))


def _singles(limits: Limits, *, qos: bool) -> Iterator[Single]:
    for kind in _PER_JOB:
        value: Tres | int | None = getattr(limits, kind)
        if kind == "max_wall":
            if isinstance(value, int):
                yield Single(kind, "", value, reason_of(kind, qos=qos))
            continue
        assert isinstance(value, tuple)
        for resource, most in value if qos or kind != "min_tres_per_job" else ():
            yield Single(kind, resource, most, reason_of(kind, resource, qos=qos))


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
        every: list[Single | Shared] = [*under.single, *under.shared]
        for one in every:
            used = _used_alone(one, amounts, request, rows)
            bad = used < one.most if one.kind == "min_tres_per_job" else used > one.most
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
            if one.kind == "max_wall":
                found[rows] = np.minimum(found[rows], one.most)
            elif one.kind == "max_tres_mins_per_job" and one.resource in amounts:
                amount = np.maximum(amounts[one.resource][rows], 0)
                bound = np.where(amount > 0, one.most // np.maximum(amount, 1) * 60, UNLIMITED)
                found[rows] = np.minimum(found[rows], bound)
    return found


def _used_alone(
    one: Single | Shared,
    amounts: Mapping[str, NDArray[np.int64]],
    request: NDArray[np.int64],
    rows: NDArray[np.intp],
) -> NDArray[np.int64]:
    """Return how much jobs use of a limit if no other job runs."""
    seconds = np.maximum(request[rows], 0)
    if one.kind == "max_wall":
        return seconds
    resource = of_each_node(one.resource) if one.kind == "max_tres_per_node" else one.resource
    amount = amounts[resource][rows] if resource in amounts else np.zeros(len(rows), dtype=np.int64)
    if one.kind == "max_tres_mins_per_job":
        return amount * (-(-seconds // 60))
    return amount * seconds if isinstance(one, Shared) and one.timed else amount
