"""Jobs that wait by far longer in a variant of a site, whatever the size of their group: few of them pay a lot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.membership import users_of
from schedlab.durations import DAY
from schedlab.site.answers import VariantAnswer
from schedlab.site.coverage import listed
from schedlab.site.effects import group_name
from schedlab.site.sweep import Paired
from schedlab.site.wait_text import signed, wait_text, waits_texts
from schedlab.wording import count_of
from schedlab.workload.resources import Labels

FAR = DAY
"""Seconds of more waiting, in each copy, from which on a job waits by far longer."""

LITTLE = 0.02
"""Share by which a percentile becomes longer at least, and the longest wait changes, to be told."""

MOST_USERS = 3


@dataclass(frozen=True, slots=True)
class FarLonger:
    """Jobs that wait a day or more longer in each copy, and those that wait as much less.

    Parameters
    ----------
    jobs, shorter
        How many there are of each.
    users
        Of the first: the user, how many jobs, and the mean of their changes in seconds; who waits longest comes first.
    longest_before, longest
        The longest waits at the site as it is and in the variant, means over the copies, in seconds.
    p95
        The 95th percentiles at the site as it is and in the variant, means over the copies, in seconds, if they become
        longer and the mean waits shorter in each copy.
    longest_today
        The longest wait at the site as it is with all its work; None: that is `longest_before`.
    copies
        On which both sides were simulated.
    winners
        As `users`, of the jobs that wait as much less; who gains most comes first.
    """

    jobs: int
    shorter: int
    users: tuple[tuple[str, int, float], ...]
    longest_before: float
    longest: float
    p95: tuple[float, float] | None = None
    longest_today: float | None = None
    copies: int = 1
    winners: tuple[tuple[str, int, float], ...] = ()

    def sentences(self, name: str, *, who: bool = True, shorter: bool = True) -> list[str]:
        """Say which jobs these are under a variant, if there are some, and where most gain and the slowest lose.

        Without `who`, the first are told elsewhere; only if the mean wait is surely `shorter` does most gain.
        """
        return [*self._longest(name, who=who), *(self._slowest(name) if shorter else [])]

    def _slowest(self, name: str) -> list[str]:
        """Say that the mean becomes shorter and the 95th percentile longer, if that is so in each copy."""
        if self.p95 is None:
            return []
        before, after = waits_texts(*self.p95)
        each = f",{self._in_each}" if self._in_each else ""
        return [
            f"Under {name}, the mean wait becomes shorter and its 95th percentile longer, from {before} to "
            f"{after}{each}.",
            "Of the jobs that wait longest, some wait longer still, as others go before them.",
        ]

    @property
    def _in_each(self) -> str:
        return " in each copy" if self.copies > 1 else ""

    @property
    def clause(self) -> str:
        """Which jobs wait by far longer, in words; empty: none does."""
        if not self.jobs:
            return ""
        wait = "waits" if self.jobs == 1 else "wait"
        return f"{count_of(self.jobs, 'job')} {wait} a day or more longer{self._in_each}{_whose(self.users)}"

    def _longest(self, name: str, *, who: bool) -> list[str]:
        if not self.jobs:
            return []
        if who:
            fewer = f"{self.shorter:,}" if self.shorter else "none"
            less = f"{self.clause}, and {fewer} a day or more less{_whose(self.winners)}"
        else:
            jobs = count_of(self.shorter, "job") if self.shorter else "no job"
            gain = "gain" if self.shorter > 1 else "gains"
            less = f"{jobs} {gain} a day or more{self._in_each}{_whose(self.winners)}"
        return [f"Under {name}, {less}{self._longest_changes}."]

    @property
    def _longest_changes(self) -> str:
        """How the longest wait changes, in words that end a sentence; empty: it does by little."""
        before = self.longest_before if self.longest_today is None else self.longest_today
        if abs(self.longest - before) < LITTLE * before:
            return ""
        texts = waits_texts(before, self.longest)
        without = f" ({wait_text(self.longest_before)} without the work that is not run)"
        return f"; the longest wait goes from {texts[0]}{without * (self.longest_today is not None)} to {texts[1]}"


def _whose(users: Sequence[tuple[str, int, float]]) -> str:
    """Name the first users whose jobs these are, and how many jobs of how many hours; empty: none is known."""
    shown = users[:MOST_USERS]
    named = listed(
        [
            f"{group_name('user', user)} ({count_of(jobs, 'job')}, {signed(mean)}{' each' if jobs > 1 else ''})"
            for user, jobs, mean in shown
        ]
    )
    theirs = f"{sum(jobs for _, jobs, _ in shown):,} of them " if len(users) > MOST_USERS else ""
    return f", {theirs}of {named}" if named else ""


def far_longer(copies: Sequence[Paired], today: Sequence[VariantAnswer] = ()) -> FarLonger:
    """Return which jobs wait by far longer in a variant than at the site as it is.

    Parameters
    ----------
    copies
        Of the same jobs, see `Sweep.pair`.
    today
        Of each copy, the answer of the site as it is with all its work; none: that is the one of the pair.
    """
    before, after = (np.array([side.schedule.wait_time for side in sides]) for sides in zip(*copies, strict=True))
    change = after - before
    far, gains = np.flatnonzero(change.min(axis=0) >= FAR), np.flatnonzero(change.max(axis=0) <= -FAR)
    users = users_of(copies[0].base.schedule.workload)
    longest = float(before.max(axis=1).mean())
    now = float(np.mean([one.schedule.wait_time.max() for one in today])) if today else longest
    return FarLonger(
        len(far),
        len(gains),
        _by_user(users, change, far),
        longest,
        float(after.max(axis=1).mean()),
        _opposite(before, after),
        None if now == longest else now,
        len(copies),
        _by_user(users, change, gains),
    )


def _by_user(users: Labels, change: NDArray[np.int64], jobs: NDArray[np.intp]) -> tuple[tuple[str, int, float], ...]:
    """Return whose jobs these are, how many of each user, and their mean change; the largest sum comes first."""
    codes, place = np.unique(users.codes[jobs], return_inverse=True)
    sums = np.bincount(place, weights=change[:, jobs].mean(axis=0), minlength=len(codes))
    found = [
        (users.names[code], int(number), float(total / number))
        for code, number, total in zip(codes.tolist(), np.bincount(place, minlength=len(codes)), sums, strict=True)
        if code >= 0
    ]
    return tuple(sorted(found, key=lambda one: -one[1] * abs(one[2])))


def _opposite(before: NDArray[np.int64], after: NDArray[np.int64]) -> tuple[float, float] | None:
    """Return the 95th percentiles if they become longer, and the means shorter, in each copy (a row)."""
    low, high = (np.quantile(waits, 0.95, axis=1) for waits in (before, after))
    if (after.mean(axis=1) >= before.mean(axis=1)).any() or (high <= (1 + LITTLE) * low).any():
        return None
    return float(low.mean()), float(high.mean())
