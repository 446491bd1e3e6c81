"""Values that change with time: the price of energy, its carbon intensity, a power cap."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.documents import read_text
from schedlab.errors import InputError
from schedlab.wording import shown

CLOCKS = ("second", "time")
"""The columns that say since when a value holds: seconds of the log, or dates."""

LATEST = 1 << 53


@explained
@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A value over time, which holds from each of its seconds on until the next.

    Parameters
    ----------
    times
        int64 seconds, ascending: since when each value holds.
    values
        float64, as many.
    end
        The second in which the last value ends.
    repeats
        Whether it begins again where it ends, and has done so before; else nothing is known beyond.
    dated
        Whether the seconds are Unix times rather than those of the log.
    name
        What messages call it.

    Raises
    ------
    InputError
        If the seconds do not ascend, or a value is not a number.

    Examples
    --------
    A tariff of two hours, the first one cheap, which repeats: half an hour of each costs (0.1 + 0.3) / 2 per kW.

    >>> tariff = Series(np.array([0, 3600]), np.array([0.1, 0.3]), 7200, repeats=True)
    >>> (tariff.integral(np.array([1800]), np.array([5400])) / 3600).round(6).tolist()
    [0.2]
    """

    times: NDArray[np.int64]
    values: NDArray[np.float64]
    end: int
    repeats: bool = False
    dated: bool = False
    name: str = "series"

    def __post_init__(self) -> None:
        if not len(self.times) or len(self.times) != len(self.values):
            raise InputError(f"{self.name}: needs one value for each of its seconds, and at least one")
        steps = np.diff(np.append(self.times, self.end))
        if (steps <= 0).any():
            late = int(np.append(self.times, self.end)[int(np.argmax(steps <= 0)) + 1])
            raise InputError(f"{self.name}: second {late} does not come after the one before it; seconds must ascend")
        if not np.isfinite(self.values).all():
            raise InputError(f"{self.name}: {self.values[~np.isfinite(self.values)][0]} is not a value")

    @classmethod
    @explained
    def flat(cls, value: float, name: str = "series") -> Series:
        """Return a value that never changes."""
        return cls(np.array([0]), np.array([float(value)]), 1, repeats=True, name=name)

    @classmethod
    @explained
    def read(cls, path: str | PathLike[str], *, repeats: bool = False) -> Series:
        """Read a CSV file with a column `second` or `time` and one of values.

        A last row without a value says when the series ends; without one, the last value lasts as long as the last but
        one.

        Parameters
        ----------
        path
            The file. `second` counts on the clock of the log, `time` is a date such as 2026-01-01T00:00, in UTC unless
            it says otherwise.
        repeats
            Whether the series begins again where it ends.

        Raises
        ------
        InputError
            If the file cannot be read; the message names the line.
        """
        return cls.from_csv(read_text(path, "series"), fspath(path), repeats=repeats)

    @classmethod
    @explained
    def from_csv(cls, text: str, source: str = "series", *, repeats: bool = False) -> Series:
        """Return the series of a text as `read` reads it.

        Examples
        --------
        >>> Series.from_csv("second,price\\n0,0.1\\n3600,0.3\\n").end
        7200
        >>> Series.from_csv("second,price\\n0,0.1\\n3600,0.3\\n86400,\\n").end
        86400
        """
        lines = csv.reader(io.StringIO(text), strict=True)
        try:
            header = [cell.strip() for cell in next(lines, [])]
            if len(header) != 2 or header[0] not in CLOCKS:
                raise InputError('the header must be "second" or "time", a comma, and the name of the values')
            rows: list[tuple[int, float]] = []
            for line in filter(None, lines):
                if rows and math.isnan(rows[-1][1]):
                    raise InputError("the row before it has no value: only the last may be without, and is the end")
                rows.append(_row(header[0], line))
                if len(rows) > 1 and rows[-1][0] <= rows[-2][0]:
                    raise InputError(f"its {header[0]} does not come after the one before it; they must ascend")
        except (InputError, csv.Error) as error:
            raise InputError(f"{source}, line {max(lines.line_num, 1)}: {error}") from None
        if len(rows) < 2:
            raise InputError(f"{source}: a series needs two rows or more; a flat figure is given as a number")
        end = rows.pop()[0] if math.isnan(rows[-1][1]) else 2 * rows[-1][0] - rows[-2][0]
        times = np.array([second for second, _ in rows], dtype=np.int64)
        return cls(times, np.array([value for _, value in rows]), end, repeats, header[0] == "time", source)

    def on_clock(self, start_time: int | None) -> Series:
        """Return it in the seconds of a log whose second 0 is a Unix time, None if that is not known.

        Raises
        ------
        InputError
            If it has dates, and the log has none.
        """
        if not self.dated:
            return self
        if start_time is None:
            raise InputError(
                f"{self.name}: its values have dates, and the log does not say at which date it begins: give a column "
                "second, counted on the clock of the log"
            )
        return replace(self, dated=False).shifted(-start_time)

    def shifted(self, seconds: int) -> Series:
        """Return it so many seconds later; with dates, as it is."""
        return self if self.dated else replace(self, times=self.times + seconds, end=self.end + seconds)

    def check_covers(self, begin: int, end: int) -> None:
        """Raise InputError if it does not say what holds in [begin, end)."""
        if not self.repeats and (begin < self.times[0] or end > self.end):
            raise InputError(
                f"{self.name}: its values are for seconds {self.times[0]:,} to {self.end:,}, and the schedule lasts "
                f"from second {begin:,} to {end:,}: add rows, or let the series repeat"
            )

    @property
    def is_flat(self) -> bool:
        """Whether its value never changes."""
        return self.repeats and bool((self.values == self.values[0]).all())

    def at(self, instants: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value at each instant."""
        _, inside = self._turns(instants)
        return self.values[np.searchsorted(self.times, inside, side="right") - 1]

    def changes(self, begin: int, end: int) -> NDArray[np.int64]:
        """Return the seconds after `begin` and before `end` at which a value begins, ascending."""
        if self.is_flat:
            return np.zeros(0, dtype=np.int64)
        period = self.end - int(self.times[0])
        turns = self._turns(np.array([begin, end]))[0] if self.repeats else np.zeros(2, dtype=np.int64)
        starts = (self.times + period * np.arange(turns[0], turns[1] + 1)[:, np.newaxis]).ravel()
        inside: NDArray[np.int64] = starts[(starts > begin) & (starts < end)]
        return inside

    def integral(self, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return value times seconds of each interval [begin, end)."""
        return self._until(ends) - self._until(begins)

    def _until(self, instants: NDArray[np.int64]) -> NDArray[np.float64]:
        turns, inside = self._turns(instants)
        edges = np.append(self.times, self.end)
        areas = np.concatenate([[0.0], np.cumsum(self.values * np.diff(edges))])
        until: NDArray[np.float64] = turns * areas[-1] + np.interp(inside, edges, areas)
        return until

    def _turns(self, instants: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how often it has repeated by each instant, and which second of its own that is."""
        first = int(self.times[0])
        if not self.repeats:
            return np.zeros(len(instants), dtype=np.int64), np.clip(instants, first, self.end)
        turns, inside = np.divmod(np.asarray(instants) - first, self.end - first)
        return turns, inside + first


def _row(clock: str, cells: list[str]) -> tuple[int, float]:
    if len(cells) != 2:
        raise InputError(f"the line has {len(cells)} cells, expected 2")
    return _second(clock, cells[0].strip()), _value(cells[1].strip())


def _second(clock: str, cell: str) -> int:
    try:
        if clock == "second":
            second = int(cell)
        else:
            moment = datetime.fromisoformat(cell)
            second = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        what = "a whole number of seconds" if clock == "second" else "a date such as 2026-01-01T00:00"
        raise InputError(f"{clock} {shown(cell)} is not {what}") from None
    if abs(second) > LATEST:
        raise InputError(f"{clock} {shown(cell)} is too large")
    return second


def _value(cell: str) -> float:
    """Return the number of a cell; NaN of one that is empty."""
    if not cell:
        return math.nan
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{shown(cell)} is not a number")
    return value


def as_series(given: Any, name: str) -> Series | None:
    """Return a series, or the one of a flat figure; None is none."""
    if given is None or isinstance(given, Series):
        return given
    if isinstance(given, bool) or not isinstance(given, int | float | np.number) or not math.isfinite(given):
        raise InputError(f"{name}={shown(given)}: give a number, or a series (Series.read)")
    return Series.flat(float(given), name)
