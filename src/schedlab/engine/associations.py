"""Associations as the engine and its twin take them: a tree of accounts and users with their shares, numbers only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import ROOT, Accounting
from schedlab.cluster.membership import Membership, membership
from schedlab.workload.columns import distinct
from schedlab.workload.workload import Workload

PARENT = -1.0
"""Shares of an association that has those of its parent."""

NOBODY = "(unknown)"
"""The user of jobs that name none."""

Case = tuple[str, str, str]
"""User, account and partition."""


class Associations(NamedTuple):
    """Who shares the machine with whom.

    Parameters
    ----------
    names
        Of associations: user, account and partition, "" where there is none.
    parent
        int64, one per association: the one above it, which comes before it; -1 for the root, which is the first. What
        is below an account without shares of its own is below the next one above that has some.
    shares
        float64: relative to the others below the same parent; `PARENT`: as the parent.
    user
        bool: whether it is a user in an account; else it is an account.
    of_job
        int64, one per job in order of submission: whose use it is.
    rate
        float64, one per job: what a second of it counts as use.
    """

    names: tuple[Case, ...]
    parent: NDArray[np.int64]
    shares: NDArray[np.float64]
    user: NDArray[np.bool_]
    of_job: NDArray[np.int64]
    rate: NDArray[np.float64]


def associations(
    workload: Workload, cluster: Cluster | None, order: NDArray[np.intp] | None, processors: NDArray[np.int64]
) -> Associations:
    """Return who shares a machine: the tree of a cluster's accounts, else all users of the jobs with equal shares.

    Users whom the cluster's accounts don't know are in the account that their jobs name, accounts that they don't know
    below the root, each with one share, as `sacctmgr add` makes them.

    Parameters
    ----------
    workload
        The jobs.
    cluster
        With accounts; None if the machine has none.
    order
        The rows of the workload in order of submission, None if they are in it.
    processors
        int64, one per job in order of submission: what it holds.
    """
    rate = processors.astype(np.float64)
    if cluster is None or cluster.accounting is None:
        users, user = np.unique(workload.user_id, return_inverse=True)
        side_by_side = np.zeros(1 + len(users), dtype=np.int64)
        side_by_side[0] = -1
        leaves = np.arange(1 + len(users)) > 0
        names = (("", ROOT, ""), *((str(one), ROOT, "") for one in users.tolist()))
        of_job = _ordered(1 + user.ravel(), order)
        return Associations(names, side_by_side, np.ones(1 + len(users)), leaves, of_job, rate)
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
        rate * _ordered(factor, order),
    )


def unknown_users(workload: Workload, cluster: Cluster) -> list[tuple[str, str]]:
    """Return the users and accounts of jobs that a cluster's accounts don't know, sorted."""
    if cluster.accounting is None:
        return []
    cases, _ = _cases(membership(workload, cluster))
    known = {(one.user, one.account) for one in cluster.accounting.users}
    return sorted({(user, account) for user, account, _ in cases} - known)


def _ordered(values: NDArray, order: NDArray[np.intp] | None) -> NDArray:  # type: ignore[type-arg]
    return values if order is None else values[order]


def _cases(who: Membership) -> tuple[list[Case], NDArray[np.intp]]:
    """Return whose jobs are, each distinct case once, and the case of each job."""
    columns = (who.user, who.account, who.partition)
    first, case = distinct(*(column.codes for column in columns))
    user, account, partition = (column.select(first).texts() for column in columns)
    return [(one or NOBODY, name or ROOT, text) for one, name, text in zip(user, account, partition, strict=True)], case


class _Tree:
    """A tree that grows from the root, each association behind the one above it."""

    def __init__(self) -> None:
        self.names: list[Case] = [("", ROOT, "")]
        self.parent = [-1]
        self.shares = [1.0]

    def add(self, above: int, name: Case, shares: int | None) -> int:
        """Add an association; return what those below it are below of."""
        self.names.append(name)
        self.parent.append(above)
        self.shares.append(PARENT if shares is None else float(shares))
        return above if shares is None else len(self.parent) - 1


def _tree(accounting: Accounting, who: Membership) -> tuple[_Tree, NDArray[np.int64]]:
    """Return the tree, depth first and users before accounts as Slurm lists it, and the association of each job."""
    cases, case = _cases(who)
    listed = {(one.user, one.account, one.partition) for one in accounting.users}
    wanted = [one if one in listed else (*one[:2], "") for one in cases]
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
