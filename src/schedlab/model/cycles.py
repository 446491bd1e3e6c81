"""Daily and weekly cycles of arrivals: how busy each hour is, and a clock that runs faster in busy hours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError

HOUR = 3_600
HOURS = {"day": 24, "week": 168}
EPOCH_WEEKDAY = 3
"""1 January 1970 was a Thursday."""

FEWEST_PERIODS = 2
"""Days or weeks that a log must last so that a cycle can be told from what happened once."""


@explained
@dataclass(frozen=True)
class ArrivalCycle:
    """How many jobs arrive in each hour of the day (24 values) or of the week (168), relative to the mean.

    Second 0 is midnight in UTC, of a Monday for a week, where the log said when it began; else the log's own second 0.

    Parameters
    ----------
    intensity
        One value above 0 per hour, with a mean of 1.

    Examples
    --------
    >>> cycle = ArrivalCycle((0.5,) * 12 + (1.5,) * 12)
    >>> cycle.at([0, 13 * 3600]).tolist()
    [0.5, 1.5]
    >>> cycle.elapsed([12 * 3600, 24 * 3600]).tolist()
    [21600.0, 86400.0]
    """

    intensity: tuple[float, ...]

    def __post_init__(self) -> None:
        values = np.array(self.intensity, dtype=np.float64)
        if len(values) not in HOURS.values() or not (np.isfinite(values).all() and (values > 0).all()):
            raise InputError("a cycle needs 24 or 168 hourly intensities above 0")
        if abs(values.mean() - 1) > 1e-6:
            raise InputError(f"the hourly intensities of a cycle must have a mean of 1, not {values.mean():.6g}")

    @classmethod
    @explained
    def of(cls, submit_time: NDArray[np.int64], kind: Literal["day", "week"], start_time: int | None) -> ArrivalCycle:
        """Return the cycle of some submissions.

        Parameters
        ----------
        submit_time
            Seconds, ascending.
        kind
            What repeats: "day" or "week".
        start_time
            Unix epoch of second 0, or None if unknown.

        Raises
        ------
        InputError
            If they last for less than two such periods.
        """
        hours = (submit_time + clock_offset(start_time)) // HOUR
        first, last = int(hours[0]), int(hours[-1])
        periods = (last + 1 - first) / HOURS[kind]
        if periods < FEWEST_PERIODS:
            raise InputError(
                f"a cycle by the {kind} needs a log of {FEWEST_PERIODS} {kind}s or more, but this one covers "
                f"{periods:.2g}: fit without a cycle"
            )
        seen = np.bincount(np.arange(first, last + 1) % HOURS[kind], minlength=HOURS[kind])
        # Half a job more: an hour without jobs is one with few.
        rate = (np.bincount(hours % HOURS[kind], minlength=HOURS[kind]) + 0.5) / seen
        return cls(tuple((rate / rate.mean()).tolist()))

    def at(self, second: ArrayLike) -> NDArray[np.float64]:
        """Return the intensity at some seconds."""
        hour = np.floor_divide(np.asarray(second, dtype=np.float64), HOUR).astype(np.int64)
        return np.array(self.intensity)[hour % len(self.intensity)]

    def elapsed(self, second: ArrayLike) -> NDArray[np.float64]:
        """Return what a clock shows that runs as fast as jobs arrive; after a whole period it is right again."""
        whole, rest = np.divmod(np.asarray(second, dtype=np.float64), self._period)
        return whole * self._period + np.interp(rest, self._edges, self._elapsed_at_edges)

    def second(self, elapsed: ArrayLike) -> NDArray[np.float64]:
        """Return the second at which that clock shows something: the inverse of `elapsed`."""
        whole, rest = np.divmod(np.asarray(elapsed, dtype=np.float64), self._period)
        return whole * self._period + np.interp(rest, self._elapsed_at_edges, self._edges)

    @property
    def _period(self) -> int:
        return HOUR * len(self.intensity)

    @property
    def _edges(self) -> NDArray[np.float64]:
        return np.arange(0.0, self._period + HOUR, HOUR)

    @property
    def _elapsed_at_edges(self) -> NDArray[np.float64]:
        elapsed = np.concatenate(([0.0], HOUR * np.cumsum(self.intensity)))
        elapsed[-1] = self._period
        return elapsed


def clock_offset(start_time: int | None) -> int:
    """Return what turns the seconds of a log into those since midnight, UTC, of a Monday."""
    return 0 if start_time is None else (start_time + EPOCH_WEEKDAY * 24 * HOUR) % (7 * 24 * HOUR)
