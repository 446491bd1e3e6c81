"""The shares and usage of accounts and users: Fair Tree, and Slurm's earlier fair-share factor."""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass
class Shares:
    """A tree of associations, each with its decayed usage.

    Parameters
    ----------
    parent, shares, user
        As of `schedlab.engine.parts.priority.associations.Associations`, which explains negative shares.
    fair_tree
        Whether users are ranked; otherwise their factor is 2^(-usage/shares/dampening).
    """

    parent: list[int]
    shares: list[float]
    user: list[bool]
    fair_tree: bool
    dampening: float = 1
    usage: list[float] = field(init=False)
    children: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        everybody = range(len(self.parent))
        self.usage = [0.0 for _ in everybody]
        self.children = [[one for one in everybody if self.parent[one] == account] for account in everybody]

    def use(self, recent: dict[int, float], decay: float, kept: float) -> None:
        """Decay usage over a period, add the usage of users in it, and decay it over idle periods."""
        for one in range(len(self.usage)):
            new = sum(recent.get(user, 0.0) for user in self.below(one))
            self.usage[one] = (self.usage[one] * decay + new) * kept

    def below(self, one: int) -> list[int]:
        """Return the users in an account and in those below it; or the user itself."""
        return [one] if self.user[one] else [user for child in self.children[one] for user in self.below(child)]

    def factors(self) -> dict[int, float]:
        """Return the factor of each user."""
        return self.ranked() if self.fair_tree else self.weighed()

    def level(self, one: int) -> float:
        """Return shares by usage; zero shares rank lowest, and zero usage highest."""
        if self.shares[one] < 0:
            return math.inf if self.user[one] else 2.0**32 - 2
        if self.shares[one] == 0:
            return 0.0
        return self.shares[one] / self.usage[one] if self.usage[one] > 0 else math.inf

    def ranked(self) -> dict[int, float]:
        """Return ranks divided by the number of users; the tree is walked depth-first, the best level first."""
        count = sum(self.user)
        place: dict[int, int] = {}

        def visit(account: int, *, tied: bool) -> None:
            before = None
            for one in sorted(self.children[account], key=lambda one: (-self.level(one), not self.user[one])):
                same = tied if before is None else self.level(before) == self.level(one)
                if self.user[one]:
                    place[one] = list(place.values())[-1] if same and place else count - len(place)
                else:
                    visit(one, tied=same)
                before = one

        visit(0, tied=False)
        return {one: rank / count for one, rank in place.items()}

    def weighed(self) -> dict[int, float]:
        """Return 2^(-usage/shares): the usage includes a user's even part of the account's usage."""
        effective, share = {0: 1.0}, {0: 1.0}

        def visit(account: int) -> None:
            shared = sum(max(0.0, self.shares[one]) for one in self.children[account])
            for one in self.children[account]:
                used = self.usage[one] / self.usage[0] if self.usage[0] > 0 else 0.0
                if self.shares[one] < 0:
                    effective[one], share[one] = effective[account], share[account]
                else:
                    part = self.shares[one] / shared if shared > 0 else 0.0
                    effective[one] = used if account == 0 else used + (effective[account] - used) * part
                    share[one] = share[account] * part
                visit(one)

        visit(0)
        return {
            one: 2.0 ** (-effective[one] / share[one] / self.dampening) if share[one] > 0 else 0.0
            for one in range(len(self.user))
            if self.user[one]
        }
