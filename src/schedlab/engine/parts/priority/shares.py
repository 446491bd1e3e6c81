"""The shares and the usage of accounts and users in a simulation: Fair Tree, and Slurm's earlier fair-share factor.

Associations form a tree, see `schedlab.engine.parts.priority.associations`; each stores the usage of all below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, PerAssociation, Scratch
from schedlab.engine.parts.priority.associations import PARENT, Associations
from schedlab.kernels import by_address, for_python, inlined, inner_kernel

BETWEEN = 2.0**32 - 2
"""Slurm's level of an account that has the shares of its parent: its members are compared with its siblings instead."""


@by_address
class Shares(NamedTuple):
    """Shares and usage; arrays have one entry per association.

    Parameters
    ----------
    fair_tree
        Whether users are ranked; otherwise their factor is 2^(-usage/shares/dampening).
    dampening
        See above.
    users
        How many there are.
    parent, shares, user
        As of `Associations`.
    among
        The sum of the shares below the same parent.
    first
        One entry more than associations: where in `order` its children begin.
    order
        Associations by parent; under Fair Tree, the most deserving first.
    usage, recent
        Processor-seconds: the decayed usage up to the last computation, and the usage since then.
    factor
        The fair-share factors of users.
    level
        Shares by usage; of the classic factor, the effective usage.
    part
        Of the classic factor: the share of the whole machine.
    place, tied
        The position of a tree walk in `order`, and whether the account is tied with the one before it.
    """

    fair_tree: Fixed[bool]
    dampening: Fixed[float]
    users: Fixed[int]
    parent: Fixed[NDArray[np.int64]]
    shares: Fixed[NDArray[np.float64]]
    user: Fixed[NDArray[np.bool_]]
    among: Fixed[NDArray[np.float64]]
    first: Fixed[NDArray[np.int64]]
    order: Fixed[NDArray[np.int64]]
    usage: PerAssociation[NDArray[np.float64]]
    recent: PerAssociation[NDArray[np.float64]]
    factor: PerAssociation[NDArray[np.float64]]
    level: Scratch[NDArray[np.float64]]
    part: Scratch[NDArray[np.float64]]
    place: Scratch[NDArray[np.int64]]
    tied: Scratch[NDArray[np.bool_]]


def new_shares(who: Associations, *, fair_tree: bool, dampening: float = 1.0) -> Shares:
    """Return the shares of associations that have not used anything yet, before factors are computed."""
    count = len(who.parent)
    below = np.bincount(who.parent[1:], minlength=count)
    own = np.maximum(who.shares, 0.0)
    sums = np.bincount(who.parent[1:], own[1:], minlength=count)
    return Shares(
        fair_tree,
        dampening,
        int(who.user.sum()),
        who.parent,
        who.shares,
        who.user,
        among=np.where(who.parent < 0, 1.0, sums[who.parent]),
        first=np.concatenate([[0], np.cumsum(below)]).astype(np.int64),
        order=1 + np.argsort(who.parent[1:], kind="stable"),
        usage=np.zeros(count),
        recent=np.zeros(count),
        factor=np.ones(count),
        level=np.zeros(count),
        part=np.ones(count),
        place=np.zeros(count, dtype=np.int64),
        tied=np.zeros(count, dtype=np.bool_),
    )


@inlined
def charge(shares: Shares, association: int, amount: float) -> None:
    """Charge an association, and all above it."""
    one = association
    while one >= 0:
        shares.recent[one] += amount
        one = shares.parent[one]


@inlined
def use(shares: Shares, decay: float, kept: float) -> None:
    """Decay usage over a period, add the recent usage, and decay it over the idle periods that follow."""
    for one in range(shares.usage.shape[0]):
        shares.usage[one] = (shares.usage[one] * decay + shares.recent[one]) * kept
        shares.recent[one] = 0.0


@inner_kernel
def weigh(shares: Shares) -> None:
    """Compute the factors from usage."""
    if shares.fair_tree:
        for one in range(1, shares.usage.shape[0]):
            shares.level[one] = _level(shares, one)
        for account in range(shares.usage.shape[0]):
            _sort(shares, account)
        _rank(shares)
    else:
        _weigh_parts(shares)


@inlined
def _level(shares: Shares, one: int) -> float:
    """Return shares by usage: the shares of the parent are the same for all that are compared."""
    if shares.shares[one] == PARENT:
        return np.inf if shares.user[one] else BETWEEN
    if shares.shares[one] == 0:
        return 0.0
    if shares.usage[one] == 0:
        return np.inf
    return shares.shares[one] / shares.usage[one]


@inlined
def _sort(shares: Shares, account: int) -> None:
    """Sort the children of an account by level, users first on ties; by insertion, as they are nearly sorted."""
    order = shares.order
    begin = shares.first[account]
    for i in range(begin + 1, shares.first[account + 1]):
        one = order[i]
        place = i
        while place > begin and _comes_before(shares, one, order[place - 1]):
            order[place] = order[place - 1]
            place -= 1
        order[place] = one


@inlined
def _comes_before(shares: Shares, one: int, other: int) -> bool:
    if shares.level[one] != shares.level[other]:
        return bool(shares.level[one] > shares.level[other])
    if shares.user[one] != shares.user[other]:
        return bool(shares.user[one])
    return one < other


@inlined
def _rank(shares: Shares) -> None:
    """Walk the tree depth-first: each user has the next rank, or the rank of the previous one on a tie.

    If an account ties with its predecessor, its first user ties with the previous user, as in Slurm.
    """
    shares.place[0], shares.tied[0] = shares.first[0], False
    account, rank, left = 0, shares.users, shares.users
    while account >= 0:
        place = shares.place[account]
        if place == shares.first[account + 1]:
            account = shares.parent[account]
            continue
        one = shares.order[place]
        shares.place[account] = place + 1
        if place == shares.first[account]:
            tied = shares.tied[account]
        else:
            tied = shares.level[one] == shares.level[shares.order[place - 1]]
        if shares.user[one]:
            if not tied:
                rank = left
            shares.factor[one] = rank / shares.users
            left -= 1
        else:
            shares.place[one], shares.tied[one] = shares.first[one], tied
            account = one


@inlined
def _weigh_parts(shares: Shares) -> None:
    """Give each user 2^(-usage/shares), where a part of the usage of others in the account counts as well."""
    usage, effective, part = shares.usage, shares.level, shares.part
    effective[0] = 1.0
    for one in range(1, usage.shape[0]):
        above = shares.parent[one]
        used = usage[one] / usage[0] if usage[0] > 0 else 0.0
        if shares.shares[one] == PARENT:
            effective[one], part[one] = effective[above], part[above]
        else:
            own = shares.shares[one] / shares.among[one] if shares.among[one] > 0 else 0.0
            effective[one] = used if above == 0 else used + (effective[above] - used) * own
            part[one] = part[above] * own
        shares.factor[one] = 2.0 ** (-effective[one] / part[one] / shares.dampening) if part[one] > 0 else 0.0


weighed = for_python(weigh)
