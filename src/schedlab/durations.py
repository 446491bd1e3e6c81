"""Durations as people, Slurm and pandas write them: 90s, 15m, 8h, 2d, 1w, 1-12:00:00, 0 days 01:00:00; else seconds."""

from __future__ import annotations

import math
import re

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.wording import shown

__all__ = ["DAY", "HOUR", "WEEK", "parse_duration"]

HOUR, DAY, WEEK = 3_600, 86_400, 604_800
"""Seconds."""

UNITS = {"w": WEEK, "d": DAY, "day": DAY, "days": DAY, "h": HOUR, "m": 60, "min": 60, "s": 1, "": 1}
"""Seconds by suffix."""

LONGEST = 1e15
"""Seconds of the longest duration, 30 million years: beyond, clocks in whole seconds and powers of times overflow."""

_DURATION = re.compile(
    r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(?P<unit>min|days?|[smhdw]|)", re.IGNORECASE
)
_CLOCK = re.compile(r"(?:(?P<d>\d+)(?:-|\s+days?,?\s+))?(?P<h>\d+):(?P<m>[0-5]?\d):(?P<s>[0-5]?\d(?:\.\d+)?)")
_DAYS = re.compile(r"(?P<d>\d+)-(?P<h>\d+)(?::(?P<m>[0-5]?\d))?")
"""Slurm's D-HH:MM:SS, HH:MM:SS, D-HH and D-HH:MM. Its MM:SS is refused: others read it as hours and minutes. Those of
Python and pandas have the days in words, `1 day, 2:00:00` and `0 days 01:00:00.5`."""

_LIMIT = re.compile(r"(?:(\d{1,9})-)?(\d{1,12})(?::(\d{1,9}))?(?::(\d{1,9}))?")


@explained
def parse_duration(text: str) -> float:
    """Read a duration, in seconds; "inf" is one too.

    Raises
    ------
    InputError
        If the text is not a number with one of the suffixes s, m, min, h, d, w, nor a time of Slurm or pandas with days
        or with seconds, or if it is beyond `LONGEST`.

    Examples
    --------
    >>> [parse_duration(text) for text in ("1.5h", "15 min", "42", "1-12:00:00", "0 days 01:00:00")]
    [5400.0, 900.0, 42.0, 129600.0, 3600.0]
    """
    seconds = _seconds(text)
    if seconds is None:
        raise InputError(
            f"{shown(text.strip())} is not a duration: write for example 90s, 15m, 8h, 2d, 1w or 1-12:00:00"
        )
    if LONGEST < abs(seconds) < math.inf:
        raise InputError(f"{shown(text.strip())} is too long; a duration is at most {LONGEST:g} s")
    return seconds


@explained
def parse_duration_with_unit(text: str) -> float:
    """Read a duration that a person gives, in seconds: a bare number is refused, as one means minutes or days by it.

    Raises
    ------
    InputError
        If it is no duration, or a number other than 0 without its unit.

    Examples
    --------
    >>> [parse_duration_with_unit(text) for text in ("1.5h", "14d", "0", "0-12:00:00")]
    [5400.0, 1209600.0, 0.0, 43200.0]
    >>> parse_duration_with_unit("14")
    Traceback (most recent call last):
    ...
    schedlab.errors.InputError: '14' is a time without its unit: write 14d, 14h, 14m or 14s
    """
    seconds, bare = parse_duration(text), text.strip()
    number = _DURATION.fullmatch(bare)
    if number is not None and not number["unit"] and seconds:
        raise InputError(f"{shown(bare)} is a time without its unit: write {bare}d, {bare}h, {bare}m or {bare}s")
    return seconds


def is_duration(text: str) -> bool:
    """Return whether a text is written like a duration, even if out of range."""
    return _seconds(text) is not None


def _seconds(text: str) -> float | None:
    if text.strip().lower() == "inf":
        return math.inf
    match = _DURATION.fullmatch(text.strip())
    if match is None:
        clock = _CLOCK.fullmatch(text.strip()) or _DAYS.fullmatch(text.strip())
        return (
            None if clock is None else sum(UNITS[unit] * float(part or 0) for unit, part in clock.groupdict().items())
        )
    number, size = float(match["number"]), UNITS[match["unit"].lower()]
    # To the nanosecond: 16.6h are 59760 s, not 59760.00000000001.
    return number if size == 1 else round(number * size, 9)


def duration_text(seconds: float) -> str:
    """Return a text that `parse_duration` reads as exactly these seconds, in the largest unit that makes it short.

    Examples
    --------
    >>> duration_text(28_800), duration_text(38_880), duration_text(90), duration_text(0.5), duration_text(864_600)
    ('8h', '10.8h', '1.5m', '0.5s', '14410m')
    """
    for unit in "dhm":
        value = seconds / UNITS[unit]
        text = f"{value:.4g}{unit}" if value < 10_000 else f"{value:.0f}{unit}"
        if seconds >= UNITS[unit] * (2 if unit == "d" else 1) and _seconds(text) == seconds:
            return text
    return f"{repr(float(seconds)).removesuffix('.0')}s"


def time_limit_text(seconds: int) -> str:
    """Return a time limit as Slurm writes it.

    Examples
    --------
    >>> time_limit_text(864_600)
    '10-00:10:00'
    """
    days, rest = divmod(seconds, DAY)
    return f"{days}-{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"


def parse_time_limit(text: str) -> int:
    """Read a time limit as Slurm's options and files have it, in seconds: a plain number is minutes.

    Raises
    ------
    InputError
        If it is not such a limit.

    Examples
    --------
    >>> [parse_time_limit(text) for text in ("90", "2:30", "1:00:00", "1-12", "1-0:30:0")]
    [5400, 150, 3600, 129600, 88200]
    """
    matched = _LIMIT.fullmatch(text.strip())
    if matched is None:
        raise InputError(f"{shown(text)} is not a time limit such as 90 (minutes), 2:30, 1:00:00 or 1-12:00:00")
    days, *parts = matched.groups()
    values = [int(part) for part in parts if part is not None]
    if days is not None:
        hours, minutes, seconds = [*values, 0, 0][:3]
        return int(days) * 86_400 + hours * 3_600 + minutes * 60 + seconds
    if len(values) < 3:
        return values[0] * 60 + (values[1] if len(values) == 2 else 0)
    return values[0] * 3_600 + values[1] * 60 + values[2]
