"""What schedlab raises when it cannot go on.

    SchedlabError
    ├── InputError        the user's file, workload or option is wrong: what, where, what to do
    └── OutputError       a result could not be written

Every message is one sentence for a person; the command line prints it and exits with 1. What a file holds may be
pages long: messages of an InputError are cut to a bounded length.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any

from schedlab.wording import bounded


class SchedlabError(Exception):
    """The root of every error that schedlab raises on purpose."""


class InputError(SchedlabError, ValueError):
    """The input is wrong; the message says what, where and what to do.

    Parameters
    ----------
    message
        One sentence.
    row
        Position in the workload of the job that is to blame, where there is one; whoever knows the file
        turns it into a line number.
    line
        Line of the file that is to blame, from 1, where the reader knows it.
    """

    def __init__(self, message: str, *, row: int | None = None, line: int | None = None) -> None:
        super().__init__(bounded(message))
        self.row = row
        self.line = line


class OutputError(SchedlabError, OSError):
    """A result could not be written; nothing half-written is left behind."""


@contextmanager
def located(where: str) -> Iterator[None]:
    """Put a place, such as file and line, in front of the message of an InputError that happens within.

    Examples
    --------
    >>> with located("a.conf:3"):
    ...     raise InputError("no cores")
    Traceback (most recent call last):
        ...
    schedlab.errors.InputError: a.conf:3: no cores
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}", row=error.row, line=error.line) from None


def check_type(given: object, kind: type, advice: str) -> None:
    """Raise InputError if something is of another kind; the advice says where to get one.

    Examples
    --------
    >>> check_type("log.swf", dict, "make one with dict()")
    Traceback (most recent call last):
    schedlab.errors.InputError: a str is not a dict: make one with dict()
    """
    if not isinstance(given, kind):
        name = type(given).__name__
        article = "an" if name[0].lower() in "aeiou" else "a"
        raise InputError(f"{article} {name} is not a {kind.__name__.lower()}: {advice}")


def whole_number(name: str, value: Any) -> int:
    """Return a whole number, or raise InputError."""
    try:
        return operator.index(value)
    except TypeError:
        raise InputError(f"{name}={value!r} is not a whole number") from None


def check_positive(name: str, value: Any) -> None:
    """Raise InputError if something is not a number above 0."""
    if not isinstance(value, Real) or not float(value) > 0:
        raise InputError(f"{name}={value!r} is not a number above 0")
