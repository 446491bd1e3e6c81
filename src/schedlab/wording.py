"""How numbers are said to a person."""

from __future__ import annotations


def count_of(number: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> count_of(1, "result"), count_of(1_200, "result")
    ('1 result', '1,200 results')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
