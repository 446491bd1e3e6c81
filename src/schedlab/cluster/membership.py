"""Whose jobs are: user, account, quality of service and partitions of each, with what applies where a job is silent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Accounting
from schedlab.workload.columns import distinct
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

USUAL_QOS = "normal"
"""The QOS of Slurm's jobs for which nothing else is said, where a site has it."""

_USER = re.compile(r" User: (\d+) (\S+)")


class Membership(NamedTuple):
    """Whose jobs are, one entry per job of each column.

    Parameters
    ----------
    user
        Names, or "user 7" where the workload gives no names; none if the user is unknown.
    account, qos, partition
        Names; none where nothing is said. A partition may be several between commas.
    """

    user: Labels
    account: Labels
    qos: Labels
    partition: Labels


def membership(workload: Workload, cluster: Cluster) -> Membership:
    """Return whose jobs are.

    A job that names no partition goes to the default one. One that names no account is of its user's default account,
    one that names no QOS has that of its user in the account and the partition, else of the account or the next one
    above it, else "normal" if there is such a QOS.

    Examples
    --------
    >>> from schedlab.cluster.limits import Account, Accounting, AccountUser, QosLimits
    >>> site = Cluster.from_dict({"groups": [{"nodes": "n1", "cores": 4}]})
    >>> who = Accounting((QosLimits("high"),), (Account("root", ""), Account("lab", qos=("high",), default_qos="high")),
    ...                  (AccountUser("ann", "lab", default=True),))
    >>> site = Cluster.of_nodes(site.groups, accounting=who)
    >>> jobs = Workload.from_columns(dict(submit_time=[0], run_time=[9], requested_processors=[1], user_id=[1]),
    ...                              header=(" User: 1 ann",))
    >>> found = membership(jobs, site)
    >>> found.user.texts(), found.account.texts(), found.qos.texts()
    (['ann'], ['lab'], ['high'])
    """
    resources = workload.resources or Resources.of(len(workload))
    user = users_of(workload)
    usual = cluster.default_partition
    partition = resources.partition
    if usual is not None:
        partition = _filled(partition, (), lambda: usual.name)
    if cluster.accounting is None:
        return Membership(user, resources.account, resources.qos, partition)
    who = _Defaults(cluster.accounting)
    account = _filled(resources.account, (user,), who.account)
    qos = _filled(resources.qos, (user, account, partition), who.qos)
    return Membership(user, account, qos, partition)


def user_names(header: Iterable[str]) -> dict[int, str]:
    """Return the names of users that the header of a workload tells, by number.

    Examples
    --------
    >>> user_names((" User: 1 ann", " MaxNodes: 4"))
    {1: 'ann'}
    """
    return {int(found[1]): found[2] for line in header if (found := _USER.fullmatch(line.rstrip()))}


def users_of(workload: Workload) -> Labels:
    """Return the users of jobs by name, as the header of the workload tells them."""
    names = user_names(workload.header)
    numbers, codes = np.unique(workload.user_id, return_inverse=True)
    known = [int(number) for number in numbers.tolist() if number >= 0]
    labels = Labels.of([names.get(number, f"user {number}") for number in known])
    of_number = np.concatenate([np.full(len(numbers) - len(known), -1), labels.codes]).astype(np.int64)
    return Labels(of_number[codes.ravel()], labels.names)


class _Defaults:
    """What applies to jobs that are silent."""

    def __init__(self, accounting: Accounting) -> None:
        self.accounting = accounting
        self.default = {user.user: user.account for user in reversed(accounting.users)}
        self.default |= {user.user: user.account for user in accounting.users if user.default}
        self.accounts = {account.name for account in accounting.accounts}
        self.usual = USUAL_QOS if any(qos.name == USUAL_QOS for qos in accounting.qos) else ""

    def account(self, user: str) -> str:
        return self.default.get(user, "")

    def qos(self, user: str, account: str, partition: str) -> str:
        one = self.accounting.user(user, account, partition)
        if one is not None and one.default_qos:
            return one.default_qos
        above = self.accounting.above(account) if account in self.accounts else ()
        return next((each.default_qos for each in above if each.default_qos), self.usual)


def _filled(column: Labels, keys: tuple[Labels, ...], usual: Callable[..., str]) -> Labels:
    """Return a column in which jobs without a name have the one that follows from the names in other columns."""
    silent = np.flatnonzero(column.codes < 0)
    if not silent.size:
        return column
    first, which = distinct(silent * 0, *(key.codes[silent] for key in keys))
    found = [usual(*names) for names in zip(*(key.select(silent[first]).texts() for key in keys), strict=True)]
    found = found if keys else [usual()]
    names = Labels.of([*column.names, *found])
    filled: NDArray[np.int64] = column.codes.copy()
    filled[silent] = names.codes[len(column.names) :][which]
    return Labels(filled, names.names)
