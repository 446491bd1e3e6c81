"""The arguments in a scheduler text: NAME(key=value,...), numbers and durations.

A class declares with `argument` the meaning of its fields in a text; parser, catalogue and shell completion use this.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, field, fields
from decimal import Decimal
from typing import Any

from schedlab.durations import is_duration, parse_duration, parse_time_limit
from schedlab.errors import InputError
from schedlab.wording import did_you_mean

UNITS = {"": 1, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400}
"""Units of durations, in seconds."""

_ARGUMENT = "argument"


@dataclass(frozen=True, slots=True)
class Argument:
    """The meaning of an argument, and the format of its value.

    Parameters
    ----------
    meaning
        In one sentence, with its unit.
    read
        Function of the name of the argument and the text that returns the value.
    write
        Function that returns the canonical text of a value.
    words
        The values, if there are only a few.
    synonym
        Its name in Slurm's configuration; empty if there is no equivalent.
    read_synonym
        As `read`, for the value of the synonym, which may have another unit.
    """

    meaning: str
    read: Callable[[str, str], Any]
    write: Callable[[Any], str]
    words: tuple[str, ...]
    synonym: str = ""
    read_synonym: Callable[[str, str], Any] | None = None


def argument(
    meaning: str,
    read: Callable[[str, str], Any] = lambda _, text: text,
    write: Callable[[Any], str] = str,
    *,
    words: Iterable[str] = (),
    synonym: str = "",
    read_synonym: Callable[[str, str], Any] | None = None,
    **of_field: Any,
) -> Any:
    """Return a field of a dataclass that is an argument of its text; for the parameters, see `Argument` and `field`."""
    told = Argument(meaning, read, write, tuple(words), synonym, read_synonym)
    return field(metadata={_ARGUMENT: told}, **of_field)


def arguments(cls: type) -> dict[str, tuple[Argument, Any]]:
    """Return the arguments of a class by name, each with its default value."""
    return {one.name: (one.metadata[_ARGUMENT], default_of(one)) for one in fields(cls) if _ARGUMENT in one.metadata}


def default_of(one: Field[Any]) -> Any:
    """Return the default value of a field."""
    return one.default if one.default_factory is MISSING else one.default_factory()


def read_arguments(cls: type, text: str) -> dict[str, Any]:
    """Return the values in a text NAME(key=value,...), by the names of the fields of a class.

    Raises
    ------
    InputError
        If an argument is unknown or given twice, or a value cannot be read.
    """
    known = arguments(cls)
    synonyms = {one.synonym.lower(): name for name, (one, _) in known.items() if one.synonym}
    values: dict[str, Any] = {}
    for key, value in arguments_of(text, known, synonyms)[1].items():
        name = synonyms.get(key, key)
        one = known[name][0]
        if name in values:
            raise InputError(f"{name}= and {one.synonym}= are the same option: remove one of them")
        values[name] = (one.read_synonym if key in synonyms and one.read_synonym else one.read)(key, value)
    return values


def written_arguments(holder: Any) -> str:
    """Return the arguments that are not the defaults, as text; empty if there are none."""
    shown = []
    for name, (one, default) in arguments(type(holder)).items():
        if (value := getattr(holder, name)) != default:
            shown.append(f"{name}={one.write(value)}")
    return ",".join(shown)


_IN_OTHER_UNITS = re.compile(r"[0-9.]+\s*w|[0-9]+-[0-9:]+|[0-9]+:[0-9:]+")
_NUMBER = re.compile(r"([0-9]{1,16}(?:\.[0-9]{1,20})?)\s*(s|min|m|h|d|)")


def arguments_of(text: str, keys: Iterable[str], synonyms: Iterable[str] = ()) -> tuple[str, dict[str, str]]:
    """Return the name, in lower case, and the arguments as texts; synonyms are other keys, in lower case.

    Raises
    ------
    InputError
        If the brackets are not closed, or an argument is unknown or given twice.

    Examples
    --------
    >>> arguments_of(" Slurm( depth=50, interval = 30 )", ["interval", "depth"])
    ('slurm', {'depth': '50', 'interval': '30'})
    """
    name, bracket, rest = text.strip().partition("(")
    name = name.strip().lower()
    if bracket and not rest.rstrip().endswith(")"):
        raise InputError(f"{text.strip()!r}: the bracket is not closed")
    arguments: dict[str, str] = {}
    known, others = list(keys), list(synonyms)
    for part in filter(None, (piece.strip() for piece in rest.rstrip().removesuffix(")").split(","))):
        key, _, value = (piece.strip().lower() for piece in part.partition("="))
        if key not in (*known, *others) or not value:
            near = "" if key in known else did_you_mean(key, [*known, *others])
            told = " ".join(f"{one}=" for one in known)
            raise InputError(f"{name}: unknown argument {part!r}; known are {told}{near}")
        if key in arguments:
            raise InputError(f"{name}: {key}= is given twice")
        arguments[key] = value
    return name, arguments


def number(name: str, text: str, *, low: float = 0, high: float = math.inf) -> float:
    """Return a number, or a duration in seconds, within bounds.

    Examples
    --------
    >>> number("window", "1d"), number("age", "0.5"), number("window", "1-12:00:00")
    (86400, 0.5, 129600)
    """
    match = _NUMBER.fullmatch(text)
    if match:
        value = float(match[1]) * UNITS[match[2]]
    else:
        value = parse_duration(text) if _IN_OTHER_UNITS.fullmatch(text) and is_duration(text) else math.nan
    if not low <= value <= high:
        limits = f"at least {low:g}" if high == math.inf else f"from {low:g} to {high:.15g}"
        raise InputError(f"{name}={text}: give a number, {limits}; a duration may have a unit (s, min, h, d, w)")
    return int(value) if value == int(value) else value


def in_minutes(name: str, text: str) -> int:
    """Return the seconds of a time in the format of Slurm's configuration: a plain number is minutes.

    Examples
    --------
    >>> in_minutes("bf_window", "1440"), in_minutes("PriorityMaxAge", "7-0")
    (86400, 604800)
    """
    return parse_time_limit(text)


def plain(value: float) -> str:
    """Return a number as text for `number`: all digits, no exponent.

    Examples
    --------
    >>> plain(1000.0), plain(0.00001)
    ('1000', '0.00001')
    """
    return format(Decimal(repr(float(value))).normalize(), "f")


def whole(name: str, text: str, *, low: int = 0, high: int = 10**15) -> int:
    """Return a whole number, or a duration in whole seconds, within bounds."""
    value = number(name, text, low=low, high=high)
    if not isinstance(value, int):
        raise InputError(f"{name}={text} is not a whole number")
    return value
