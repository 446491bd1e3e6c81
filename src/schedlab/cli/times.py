"""Times that options give: all of them have a unit, so that no number is hours to one and seconds to another."""

from __future__ import annotations

from typing import overload

from schedlab.durations import LONGEST, parse_duration_with_unit
from schedlab.errors import located


def time_of(option: str, text: str) -> float:
    """Return the seconds of a time that an option gives; "inf" is one, too.

    Raises
    ------
    InputError
        If it is no time, or lacks its unit; with the name of the option.
    """
    with located(option):
        return parse_duration_with_unit(text)


@overload
def seconds_of(option: str, text: str) -> int: ...
@overload
def seconds_of(option: str, text: None) -> None: ...
@overload
def seconds_of(option: str, text: str | None) -> int | None: ...
def seconds_of(option: str, text: str | None) -> int | None:
    """Return the whole seconds of a time that an option gives, bounded; None: it is not given."""
    return None if text is None else int(min(time_of(option, text), LONGEST))
