"""What schedlab raises when it cannot go on.

    SchedlabError
    ├── InputError        the user's file, workload or option is wrong: what, where, what to do
    │   └── InputErrors   several things are wrong: a line for each
    └── OutputError       a result could not be written

Every message is one sentence for a person; the command line prints it and exits with 1. What a file holds may be
pages long: messages of an InputError are cut to a bounded length.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from numbers import Real
from typing import Any

from schedlab.wording import LONGEST_MESSAGE, bounded, count_of


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


class InputErrors(InputError):
    """Several things are wrong; the message has a line for each, as many as a message may be long.

    Parameters
    ----------
    parts
        One sentence for each.

    Examples
    --------
    >>> print(InputErrors(["a.conf:3: no cores", "a.conf:7: no name"]))
    2 errors:
      a.conf:3: no cores
      a.conf:7: no name
    """

    def __init__(self, parts: Iterable[str]) -> None:
        self.parts = tuple(parts)
        room, told = LONGEST_MESSAGE - 60, [f"{count_of(len(self.parts), 'error')}:"]
        for place, part in enumerate(map(str.strip, self.parts)):
            room -= len(part) + 3
            if room < 0 and place:
                told.append(f"  and {len(self.parts) - place:,} more")
                break
            told.append(f"  {part}")
        super().__init__("\n".join(told))


class _Noting(AbstractContextManager[None, bool]):
    """Keeps an InputError that happens within, by its message."""

    def __init__(self, found: dict[str, InputError], where: str) -> None:
        self.found, self.where = found, f"{where}: " if where else ""

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, InputError):
            return False
        for part in error.parts if isinstance(error, InputErrors) else (str(error),):
            told = f"{self.where}{part}"
            self.found.setdefault(told, InputError(told, row=error.row, line=error.line))
        return True


class Faults:
    """Collects what is wrong, so that all of it is told at once.

    Examples
    --------
    >>> faults = Faults()
    >>> for text in ("one", "2", "three"):
    ...     with faults.noted():
    ...         if not text.isdecimal():
    ...             raise InputError(f"{text} is not a number")
    >>> faults.check()
    Traceback (most recent call last):
        ...
    schedlab.errors.InputErrors: 2 errors:
      one is not a number
      three is not a number
    """

    def __init__(self) -> None:
        self._found: dict[str, InputError] = {}

    def noted(self, where: str = "") -> AbstractContextManager[None, bool]:
        """Note an InputError that happens within, and go on; a place, if one is given, stands in front of it."""
        return _Noting(self._found, where)

    def check(self) -> None:
        """Raise what was noted, if anything was.

        Raises
        ------
        InputError
            The one that was noted, or `InputErrors` with all of them.
        """
        if len(self._found) == 1:
            raise next(iter(self._found.values())) from None
        if self._found:
            raise InputErrors(self._found)


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
    except InputErrors as errors:
        raise InputErrors(f"{where}: {part}" for part in errors.parts) from None
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


def checked_text(name: str, value: Any) -> str:
    """Return a text, or raise InputError."""
    if not isinstance(value, str):
        raise InputError(f"{name}={value!r} is not a text")
    return value


def check_positive(name: str, value: Any) -> None:
    """Raise InputError if something is not a number above 0."""
    if not isinstance(value, Real) or not float(value) > 0:
        raise InputError(f"{name}={value!r} is not a number above 0")
