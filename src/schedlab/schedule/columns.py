"""Waits and other durations in the columns of tables: those of a column in one unit."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from schedlab.schedule.summary import durations


def waits_in_column(seconds: Sequence[float], like: Sequence[float] | None = None) -> list[str]:
    """Return the waits of a column of a table in one unit, see `durations`; nothing below a second, and "-" if unknown.

    Examples
    --------
    >>> waits_in_column([7_200, 90_000, 0.3, float("nan")]), waits_in_column([90, 120], like=[7_200])
    (['2 h', '25 h', '<1 s', '-'], ['0.03 h', '0.03 h'])
    """
    known = [one for one in seconds if not isnan(one)]
    texts = iter(durations(known, None if like is None else [one for one in like if not isnan(one)]))
    told = ["-" if isnan(one) else next(texts) for one in seconds]
    return ["<1 s" if 0 < one < 1 else text for one, text in zip(seconds, told, strict=True)]


def in_columns(rows: Sequence[Sequence[str | float]], *, together: Sequence[int] = ()) -> list[list[str]]:
    """Return the rows of a table whose waits are numbers of seconds: as texts, those of a column in one unit.

    Parameters
    ----------
    rows
        Texts and waits.
    together
        The numbers of columns that are compared with each other, which have one unit.

    Examples
    --------
    >>> in_columns([["a", 90.0, 7_200.0], ["b", 86_400.0, 3_600.0]])
    [['a', '0.03 h', '120 min'], ['b', '24 h', '60 min']]
    >>> in_columns([["a", 90.0, 7_200.0], ["b", 3_600.0, 3_600.0]], together=(1, 2))
    [['a', '1.5 min', '120 min'], ['b', '60 min', '60 min']]
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    beside = [one for number in together for one in columns[number] if not isinstance(one, str)] if rows else []
    for number, column in enumerate(columns):
        waits = [float(one) for one in column if not isinstance(one, str)]
        texts = iter(waits_in_column(waits, beside if number in together else None))
        columns[number] = [one if isinstance(one, str) else next(texts) for one in column]
    return [[str(one) for one in row] for row in zip(*columns, strict=True)]
