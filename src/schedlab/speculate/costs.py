"""The cost of requests, limits on them, and the cost of checkpoints."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from schedlab.arguments import explained
from schedlab.durations import duration_text
from schedlab.errors import InputError

CheckpointMode = Literal["never", "always", "adaptive"]
CHECKPOINT_MODES = ("never", "always", "adaptive")


@explained
@dataclass(frozen=True, slots=True)
class AffineCost:
    """The cost of an attempt: alpha times the time requested, plus beta times the time used, plus gamma.

    Parameters
    ----------
    alpha
        Cost per requested second. Clouds bill this, with beta = 0: the cost is then the makespan in seconds.
    beta
        Cost per used second. (1, 1, 0) models a machine where a job waits for as long as its request, and then runs.
    gamma
        Cost per attempt, in seconds: starting up, waiting in the queue again.

    Raises
    ------
    InputError
        If one is negative or not finite, or if time costs nothing.
    """

    alpha: float = 1.0
    beta: float = 0.0
    gamma: float = 0.0

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "gamma"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"cost: {name} is {value:g}; it must be finite, 0 or more")
        if not self.alpha and not self.beta:
            raise InputError("cost: alpha and beta are both 0, so that time costs nothing; let one be above 0")

    @property
    def is_makespan(self) -> bool:
        """Whether the cost is the requested time, as in TOptimal."""
        return (self.alpha, self.beta, self.gamma) == (1, 0, 0)

    @property
    def text(self) -> str:
        """The three numbers."""
        return f"{self.alpha:g},{self.beta:g},{self.gamma:g}"


@explained
@dataclass(frozen=True, slots=True)
class RequestLimits:
    """The requests that a site allows.

    Parameters
    ----------
    number
        Maximum number of requests; None for any number.
    shortest, longest
        Length of a single request, in seconds.
    increment
        The least increase of the covered run time from one request to the next, in seconds.

    Raises
    ------
    InputError
        If a limit is out of range, or the two lengths contradict each other.
    """

    number: int | None = None
    shortest: float = 0.0
    longest: float = math.inf
    increment: float = 0.0

    def __post_init__(self) -> None:
        if self.number is not None and self.number < 1:
            raise InputError(f"at most {self.number} requests: there must be at least one")
        for name in ("shortest", "increment"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"limits of requests: {name} is {value:g} s; it must be finite, 0 or more")
        if not self.longest >= self.shortest or not self.longest > 0:
            raise InputError(
                f"limits of requests: the shortest is {duration_text(self.shortest)} "
                f"and the longest {self.longest:g} s, so that none is allowed"
            )


@explained
@dataclass(frozen=True, slots=True)
class Checkpointing:
    """Whether failed attempts keep their progress, and the cost of that.

    Parameters
    ----------
    mode
        "never"; "always", at the end of every request but the last; or "adaptive", where it is worthwhile.
    cost
        Seconds to write a checkpoint, at the end of the request.
    restart
        Seconds to read it, at the beginning of each later request.

    Raises
    ------
    InputError
        If the mode is unknown, or a time is negative or not finite.
    """

    mode: CheckpointMode = "never"
    cost: float = 0.0
    restart: float = 0.0

    def __post_init__(self) -> None:
        if self.mode not in CHECKPOINT_MODES:
            raise InputError(f"unknown checkpointing {self.mode!r}; known are {', '.join(CHECKPOINT_MODES)}")
        for name, what in (("cost", "writing"), ("restart", "reading")):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise InputError(f"{what} a checkpoint takes {value:g} s; it must be finite, 0 or more")
