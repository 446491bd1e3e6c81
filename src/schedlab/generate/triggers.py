"""When something is submitted: triggers, which go off at some seconds of a period.

A trigger has no state. Asked for a period, it says at which seconds it goes off, in ascending order; a second that is
named twice counts twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError

Seconds = NDArray[np.int64]


class Trigger(Protocol):
    """What every trigger can do."""

    def times(self, begin: int, end: int, rng: np.random.Generator) -> Seconds:
        """Return the seconds from `begin` to `end`, both included, at which the trigger goes off."""
        ...


@dataclass(frozen=True, slots=True)
class Never:
    """Does not go off."""

    def times(self, begin: int, end: int, rng: np.random.Generator) -> Seconds:
        """Return no second."""
        return np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Alarms:
    """Goes off at given seconds, in ascending order.

    Raises
    ------
    InputError
        If a second is before the one in front of it, or before the period that is asked for.

    Examples
    --------
    >>> Alarms((5, 9, 9, 400)).times(0, 100, np.random.default_rng(1)).tolist()
    [5, 9, 9]
    """

    seconds: tuple[int, ...]

    def __post_init__(self) -> None:
        for before, after in zip(self.seconds, self.seconds[1:], strict=False):
            if after < before:
                raise InputError(f"alarms must be in ascending order, but {after} s follows {before} s")

    def times(self, begin: int, end: int, rng: np.random.Generator) -> Seconds:
        """Return the seconds of the alarms."""
        seconds = np.array(self.seconds, dtype=np.int64)
        if len(seconds) and seconds[0] < begin:
            raise InputError(f"an alarm is set for {seconds[0]} s, before the begin at {begin} s")
        return seconds[seconds <= end]


@dataclass(frozen=True, slots=True)
class ResetAlarm:
    """An alarm that is set again each time it goes off.

    Parameters
    ----------
    first
        When it goes off first.
    following
        From the second at which it went off and a source of randomness, the next second; None: it is not set again.

    Raises
    ------
    InputError
        If it is set for an earlier second.

    Examples
    --------
    >>> doubling = ResetAlarm(10, lambda second, rng: 2 * second)
    >>> doubling.times(0, 100, np.random.default_rng(1)).tolist()
    [10, 20, 40, 80]
    """

    first: int
    following: Callable[[int, np.random.Generator], int | None]

    def times(self, begin: int, end: int, rng: np.random.Generator) -> Seconds:
        """Return the seconds at which it goes off, one found from the other."""
        seconds: list[int] = []
        before, second = begin, int(self.first)
        while second <= end:
            if second < before:
                raise InputError(f"an alarm is set for {second} s, before {before} s")
            seconds.append(second)
            following = self.following(second, rng)
            if following is None:
                break
            before, second = second, int(following)
        return np.array(seconds, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Periodic:
    """Goes off at `first`, and then once in each `period` seconds.

    Examples
    --------
    >>> Periodic(60, first=30).times(100, 220, np.random.default_rng(1)).tolist()
    [150, 210]
    """

    period: int
    first: int = 0

    def __post_init__(self) -> None:
        if self.period < 1:
            raise InputError(f"a period must be 1 s or more, not {self.period} s")

    def times(self, begin: int, end: int, rng: np.random.Generator) -> Seconds:
        """Return all seconds of the period that are whole periods after `first`."""
        skipped = max(0, -(-(begin - self.first) // self.period))
        return np.arange(self.first + skipped * self.period, end + 1, self.period, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Random:
    """Goes off at random, with exponentially distributed times between two seconds (a Poisson process).

    Parameters
    ----------
    mean_gap
        Seconds between two, on average.

    Examples
    --------
    >>> seconds = Random(mean_gap=10).times(0, 100_000, np.random.default_rng(1))
    >>> 9_700 < len(seconds) < 10_300
    True
    """

    mean_gap: float

    def __post_init__(self) -> None:
        if not 0 < self.mean_gap < np.inf:
            raise InputError(f"the mean time between random triggers must be above 0 s, not {self.mean_gap} s")

    def times(self, begin: int, end: int, rng: np.random.Generator) -> Seconds:
        """Return a Poisson number of seconds, uniform over the period."""
        count = rng.poisson((end - begin) / self.mean_gap)
        return np.sort(rng.uniform(begin, end, count).astype(np.int64))


@dataclass(frozen=True, slots=True)
class Together:
    """Goes off whenever one of its triggers does.

    Examples
    --------
    >>> both = Together((Alarms((7,)), Periodic(10)))
    >>> both.times(0, 20, np.random.default_rng(1)).tolist()
    [0, 7, 10, 20]
    """

    triggers: tuple[Trigger, ...]

    def times(self, begin: int, end: int, rng: np.random.Generator) -> Seconds:
        """Return the seconds of all triggers, in order."""
        return np.sort(
            np.concatenate([Never().times(begin, end, rng)] + [t.times(begin, end, rng) for t in self.triggers])
        )
