"""Associations as numbers, for the engine and its reference: a tree of accounts and users with their shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import ROOT, Accounting
from schedlab.cluster.membership import Membership, membership
from schedlab.engine.parts.limits.tres import Billing
from schedlab.workload.columns import distinct
from schedlab.workload.workload import Workload

PARENT = -1.0
"""The shares of an association that takes the shares of its parent."""

UNKNOWN_USER = "(unknown)"
"""The user of jobs that name no user."""

Case = tuple[str, str, str]
"""User, account and partition."""


class Associations(NamedTuple):
    """The accounts and users that share the machine.

    Parameters
    ----------
    names
        Names of the associations: user, account and partition, "" where there is none.
    parent
        int64, one per association: its parent, which precedes it; -1 for the root, which comes first. An association
        below an account without shares of its own is attached to the nearest account above that has some.
    shares
        float64: relative to its siblings; `PARENT` if it takes those of its parent.
    user
        bool: whether it is a user in an account; otherwise it is an account.
    of_job
        int64, one per job in order of submission: the association that its usage is charged to.
    rate
        The usage of jobs per second.
    """

    names: tuple[Case, ...]
    parent: NDArray[np.int64]
    shares: NDArray[np.float64]
    user: NDArray[np.bool_]
    of_job: NDArray[np.int64]
    rate: Billing


def associations(
    workload: Workload, cluster: Cluster | None, order: NDArray[np.intp] | None, billing: Billing
) -> Associations:
    """Return the associations: the tree of a cluster's accounts, or all users of the jobs with equal shares.

    A user unknown to the cluster is added to the account that the job names, and an unknown account is added below the
    root. Each gets one share, as `sacctmgr add` does it.

    Parameters
    ----------
    workload
        The jobs.
    cluster
        A cluster with accounts; None if the machine has no accounts.
    order
        The rows of the workload in order of submission; None if they are sorted already.
    billing
        The usage of jobs per second, in order of submission, such as the processors that they hold.
    """
    if cluster is None or cluster.accounting is None:
        users, user = np.unique(workload.user_id, return_inverse=True)
        side_by_side = np.zeros(1 + len(users), dtype=np.int64)
        side_by_side[0] = -1
        leaves = np.arange(1 + len(users)) > 0
        names = (("", ROOT, ""), *((str(one), ROOT, "") for one in users.tolist()))
        of_job = _ordered(1 + user.ravel(), order)
        return Associations(names, side_by_side, np.ones(1 + len(users)), leaves, of_job, billing)
    who = membership(workload, cluster)
    factors = {qos.name: qos.usage_factor for qos in cluster.accounting.qos}
    factor = np.array([*(factors.get(name, 1.0) for name in who.qos.names), 1.0])[who.qos.codes]
    tree, of_job = _tree(cluster.accounting, who)
    return Associations(
        tuple(tree.names),
        np.array(tree.parent, dtype=np.int64),
        np.array(tree.shares),
        np.array([bool(user) for user, *_ in tree.names]),
        _ordered(of_job, order),
        billing.times(_ordered(factor, order)),
    )


def unknown_users(workload: Workload, cluster: Cluster) -> list[tuple[str, str]]:
    """Return the users and accounts of jobs that are not among a cluster's accounts, sorted."""
    if cluster.accounting is None:
        return []
    cases, _ = _cases(membership(workload, cluster))
    known = {(one.user, one.account) for one in cluster.accounting.users}
    return sorted({(user, account) for user, account, _ in cases} - known)


def _ordered(values: NDArray, order: NDArray[np.intp] | None) -> NDArray:  # type: ignore[type-arg]
    return values if order is None else values[order]


def _cases(who: Membership) -> tuple[list[Case], NDArray[np.intp]]:
    """Return the distinct memberships of jobs, and the index of each job's."""
    columns = (who.user, who.account, who.partition)
    first, case = distinct(*(column.codes for column in columns))
    user, account, partition = (column.select(first).texts() for column in columns)
    return [
        (one or UNKNOWN_USER, name or ROOT, text) for one, name, text in zip(user, account, partition, strict=True)
    ], case


class _Tree:
    """A tree that grows from the root, each association after its parent."""

    def __init__(self) -> None:
        self.names: list[Case] = [("", ROOT, "")]
        self.parent = [-1]
        self.shares = [1.0]

    def add(self, above: int, name: Case, shares: int | None) -> int:
        """Add an association; return the parent for the associations below it."""
        self.names.append(name)
        self.parent.append(above)
        self.shares.append(PARENT if shares is None else float(shares))
        return above if shares is None else len(self.parent) - 1


def _tree(accounting: Accounting, who: Membership) -> tuple[_Tree, NDArray[np.int64]]:
    """Return the tree, depth first and users before accounts as Slurm lists it, and the association of each job."""
    cases, case = _cases(who)
    listed = {(one.user, one.account, one.partition) for one in accounting.users}
    found = [accounting.user(*one) for one in cases]
    wanted = [(*case[:2], one.partition if one else "") for case, one in zip(cases, found, strict=True)]
    strangers = sorted(set(wanted) - listed)
    tree = _Tree()
    users: dict[str, list[tuple[Case, int | None]]] = {}
    for one in accounting.users:
        users.setdefault(one.account, []).append(((one.user, one.account, one.partition), one.shares))
    for key in strangers:
        users.setdefault(key[1], []).append((key, 1))
    below: dict[str, list[tuple[str, int | None]]] = {}
    for account in accounting.accounts:
        below.setdefault(account.parent, []).append((account.name, account.shares))
    new = {account for _, account, _ in strangers} - {account.name for account in accounting.accounts}
    below.setdefault(ROOT, []).extend((name, 1) for name in sorted(new))

    def grow(account: str, place: int) -> None:
        for key, shares in users.get(account, ()):
            tree.add(place, key, shares)
        for name, shares in below.get(account, ()):
            grow(name, tree.add(place, ("", name, ""), shares))

    grow(ROOT, 0)
    place = {name: number for number, name in enumerate(tree.names)}
    return tree, np.array([place[key] for key in wanted], dtype=np.int64)[case]
