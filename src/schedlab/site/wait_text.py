"""Waits and their changes as texts: one unit for what stands together, and nothing below a second."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from statistics import median

from schedlab.schedule.summary import LEAST_OF_UNIT, duration, in_column, three_digits
from schedlab.site.intervals import Interval

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


MOST_DIGITS = 6
"""Digits behind the point of waits that differ by little, less one."""


def wait_text(seconds: float) -> str:
    """Return a wait as text; a simulation has whole seconds, so that a mean below one is next to nothing.

    Examples
    --------
    >>> wait_text(5400), wait_text(0.095), wait_text(0)
    ('90 min', '<1 s', '0 s')
    """
    seconds = round(seconds, 6) + 0.0  # a difference of equal sums may be a rounding error
    return "<1 s" if 0 < seconds < 1 else duration(seconds)


def waits_texts(*seconds: float) -> list[str]:
    """Return waits that are to be compared as texts, in the unit of the largest if the others have at least one of it.

    Examples
    --------
    >>> waits_texts(181_440, 164_520), waits_texts(174_528, 80_640), waits_texts(28_800, 60), waits_texts(0, 0.1)
    (['2.1 d', '1.9 d'], ['2.02 d', '22.4 h'], ['8 h', '60 s'], ['0 s', '<1 s'])

    Two that differ have as many digits as it takes to see that.

    >>> waits_texts(259_200, 259_000), waits_texts(36_005, 36_001)
    (['3.000 d', '2.998 d'], ['10.001 h', '10.000 h'])
    """
    most = max(seconds, default=0.0)
    size, unit = next(((size, unit) for size, unit in _UNITS if most >= 2 * size), _UNITS[-1])
    if most < 1 or any(one < max(size, most / 10) for one in seconds):
        return [wait_text(one) for one in seconds]
    texts = [f"{three_digits(one / size)} {unit}" for one in seconds]
    if len(seconds) == 2 and texts[0] == texts[1] and abs(seconds[0] - seconds[1]) >= 1:
        for digits in range(1, MOST_DIGITS):
            texts = [f"{one / size:,.{digits}f} {unit}" for one in seconds]
            if texts[0] != texts[1]:
                break
    return texts


Change = tuple[float, Interval | None]
"""Seconds by which a wait changes, and the interval around them; None: there is none."""


def changes_in_columns(changes: Sequence[Change], like: Sequence[Change] | None = None) -> list[tuple[str, str]]:
    """Return changes and the intervals around them as texts of two columns of a table, all in one unit.

    It is the largest of which the median of those `like` them, by default the same, has two, where an interval counts
    by its larger end. What has less than a hundredth of it has a smaller unit.

    Examples
    --------
    >>> changes_in_columns([(-3_157.0, (-7_200.0, 60.0)), (1_482.0, (-7_920.0, 23_040.0)), (90.0, None)])
    [('-0.877 h', '-2 to +0.02 h'), ('+0.412 h', '-2.2 to +6.4 h'), ('+0.03 h', '-')]
    >>> changes_in_columns([(-18_000.0, (-36_000.0, -9_000.0)), (5.0, (-40.0, 300.0)), (0.1, (-0.3, 0.2))])
    [('-5 h', '-10 to -2.5 h'), ('+5 s', '-0.01 to +0.08 h'), ('<1 s', 'within 1 s')]
    """
    sizes = [
        abs(change) if interval is None else max(map(abs, interval))
        for change, interval in (changes if like is None else like)
    ]
    size, unit = _unit_of_size(median([one for one in sizes if one >= 1] or [0.0]))
    return [
        (_in_unit(change, size, unit), "-" if interval is None else _interval_in_unit(interval, size, unit))
        for change, interval in changes
    ]


def _in_unit(seconds: float, size: int, unit: str) -> str:
    if abs(seconds) < max(LEAST_OF_UNIT * size, 1):
        return signed(seconds)
    return f"{'-' if seconds < 0 else '+'}{in_column(abs(seconds) / size)} {unit}"


def _interval_in_unit(interval: Interval, size: int, unit: str) -> str:
    if max(map(abs, interval)) < max(LEAST_OF_UNIT * size, 1):
        return signed_interval(interval)
    return f"{_both_ends(_numbers(interval, size, unit))} {unit}"


def signed(seconds: float) -> str:
    """Return a change as text.

    Examples
    --------
    >>> signed(-90), signed(5), signed(-0.07)
    ('-90 s', '+5 s', '<1 s')
    """
    return wait_text(abs(seconds)) if abs(seconds) < 1 else ("-" if seconds < 0 else "+") + duration(abs(seconds))


def signed_interval(interval: Interval) -> str:
    """Return an interval of changes as text, both ends in the unit of the larger one.

    Examples
    --------
    >>> signed_interval((-57.9, 9288.0)), signed_interval((-0.243, 0.1)), signed_interval((3600.0, 5400.0))
    ('-0.02 to +2.58 h', 'within 1 s', '+60 to +90 min')
    """
    if max(map(abs, interval)) < 1:
        return "within 1 s"
    numbers, unit = _in_one_unit(interval)
    return f"{_both_ends(numbers)} {unit}"


def _both_ends(numbers: Sequence[str]) -> str:
    low, high = (number if number == "0" or number.startswith("-") else f"+{number}" for number in numbers)
    return f"{low} to {high}"


def signed_with_interval(seconds: float, interval: Interval) -> tuple[str, str]:
    """Return a change and the interval around it as texts, in one unit unless the change is too small for it.

    Examples
    --------
    >>> signed_with_interval(-5376, (-15120, 4356)), signed_with_interval(5, (-15120, 4356))
    (('-1.49 h', '-4.2 to +1.21 h'), ('+5 s', '-4.2 to +1.21 h'))
    >>> signed_with_interval(-90, (-100, -80)), signed_with_interval(0.2, (-0.1, 0.4))
    (('-90 s', '-100 to -80 s'), ('<1 s', 'within 1 s'))
    """
    size, unit = _unit_of(interval)
    if abs(seconds) < max(size / 100, 1):
        return signed(seconds), signed_interval(interval)
    return f"{'-' if seconds < 0 else '+'}{three_digits(abs(seconds) / size)} {unit}", signed_interval(interval)


def between(interval: Interval) -> str:
    """Return an interval of changes of waits in words.

    Examples
    --------
    >>> between((-60.0, 150.0)), between((60.0, 120.0)), between((-7200.0, -5400.0))
    ('1 min shorter and 2.5 min longer', '1 to 2 min longer', '1.5 to 2 h shorter')
    >>> between((-7201.0, -7200.0)), between((-0.05, 1.4)), between((-3600.0, 0.0)), between((0.0, 0.0))
    ('2 h shorter', '<1 s shorter and 1 s longer', '60 min shorter and no change', 'no change')
    """
    numbers, unit = _in_one_unit(interval)
    low, high = (
        "<1" if unit == "s" and 0 < abs(one) < 1 else number.lstrip("-")
        for one, number in zip(interval, numbers, strict=True)
    )
    if interval[0] <= 0 <= interval[1]:
        ends = (
            f"{low} {unit} shorter" if interval[0] else "no change",
            f"{high} {unit} longer" if interval[1] else "no change",
        )
        return " and ".join(dict.fromkeys(ends))
    near, far = (high, low) if interval[0] < 0 else (low, high)
    return f"{near if near == far else f'{near} to {far}'} {unit} {'shorter' if interval[0] < 0 else 'longer'}"


def among(interval: Interval) -> str:
    """Return the range of several changes of waits in words.

    Examples
    --------
    >>> among((-60.0, 150.0)), among((60.0, 120.0)), among((-4044.0, 0.0))
    ('between 1 min shorter and 2.5 min longer', '1 to 2 min longer', 'between 67.4 min shorter and no change')
    """
    apart = interval[0] <= 0 <= interval[1] and interval[0] != interval[1]
    return f"between {between(interval)}" if apart else between(interval)


def _unit_of(interval: Interval) -> tuple[int, str]:
    """Return the largest unit of which the larger end has two, in seconds, and its name."""
    return _unit_of_size(max(map(abs, interval)))


def _unit_of_size(seconds: float) -> tuple[int, str]:
    return next(((size, unit) for size, unit in _UNITS if seconds >= 2 * size), _UNITS[-1])


def _in_one_unit(interval: Interval) -> tuple[list[str], str]:
    """Return numbers with three digits of the larger one, and their unit."""
    size, unit = _unit_of(interval)
    return _numbers(interval, size, unit), unit


def _numbers(interval: Interval, size: int, unit: str) -> list[str]:
    """Return both ends in a unit, with three digits of the larger one, and at most two behind the point."""
    digits = 0 if unit == "s" else min(max(2 - floor(log10(max(map(abs, interval)) / size)), 0), 2)
    return [_trimmed(f"{one / size + 0.0:,.{digits}f}") for one in interval]


def _trimmed(text: str) -> str:
    """Return a number without zeros behind its point, and without the sign of a zero."""
    found = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if not found.strip("-0.") else found
