"""Which classes files may name: a file never imports, unless the user allows that name.

To import a module is to run it. A scheduler text that a user types may name a class as MODULE:CLASS. The same text in a
file that is read - a campaign, a run directory, a model, a schedule - may have come from elsewhere, so that its names
are refused unless the user allows them: one by one (`--allow-import MODULE:CLASS`), or all of a module. Allowed modules
are looked for where Python finds installed ones, not in the current directory.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from schedlab.errors import InputError, checked_text
from schedlab.naming import split_name
from schedlab.wording import shown

__all__ = ["allow_imports"]

_ALLOWED: ContextVar[frozenset[str]] = ContextVar("allowed", default=frozenset())

_NAME = re.compile(r"(?P<at>@\s*)?(?P<module>[^\W\d][\w.]*)\s*:\s*(?P<name>[^\W\d][\w.]*)")
_AGENT = re.compile(r"\s*@\s*agent\s*:")
"""At the beginning of a scheduler text: a file of numbers follows, and no class."""

_BACKFILLING = ("easy",)
"""Followed by a colon and an order of candidates, which is a name and not a class."""


@contextmanager
def allow_imports(*names: str) -> Iterator[None]:
    """Allow files that are read in this context to name these classes.

    Parameters
    ----------
    *names
        As "module:Class", or "module" for all that it has; several between commas or blanks.

    Raises
    ------
    InputError
        If a name is not of that form.

    Examples
    --------
    >>> with allow_imports("fractions:Fraction"):
    ...     check_imports(["easy@fractions:Fraction"], "a.toml")
    """
    apart = [one for name in names for one in re.split(r"[,\s]+", checked_text("name", name)) if one]
    for name in apart:
        if not re.fullmatch(r"[^\W\d][\w.]*(:[^\W\d]\w*)?", name):
            raise InputError(f"{shown(name)} is not a class that can be imported; write MODULE:CLASS, or MODULE")
    before = _ALLOWED.set(_ALLOWED.get() | frozenset(apart))
    try:
        yield
    finally:
        _ALLOWED.reset(before)


def named_classes(text: str) -> list[str]:
    """Return the classes that a scheduler text names, wherever it may name one.

    Examples
    --------
    >>> named_classes("fcfs+easy:saf@mine.models:Last"), named_classes('"p*q"+easy@ave2')
    (['mine.models:Last'], [])
    >>> named_classes("today=mine:score+easy:mine:other")
    ['mine:score', 'mine:other']
    """
    _, text = split_name(text)
    agent = _AGENT.match(text)
    found, place = [], agent.end() if agent else 0
    while match := _NAME.search(text, place):
        order = match["module"].lower() in _BACKFILLING and not match["at"]
        place = match.start("name") if order else match.end()
        if not order:
            found.append(f"{match['module']}:{match['name']}")
    return found


def load_named(text: str, what: str) -> Any:
    """Return what a text MODULE:NAME, which the user typed or allowed, names: of the current directory, or installed.

    Parameters
    ----------
    text
        The text.
    what
        What it should be, for the message.

    Raises
    ------
    InputError
        If the text is not of that form, or there is no such thing.
    """
    source = text.strip()
    if not re.fullmatch(r"[^\W\d][\w.]*:[^\W\d]\w*", source):
        raise InputError(f"{what} {shown(source)}: must be written MODULE:NAME")
    module, _, name = source.partition(":")
    here = os.getcwd()
    try:
        with searched_first(here):
            return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise InputError(f"{what} {source}: {told_failure(error)}") from error
        raise InputError(
            f"{what} {source}: there is no {error.name}.py in the current directory, {here}, and no such package is "
            "installed"
        ) from error
    except Exception as error:
        raise InputError(f"{what} {source}: {told_failure(error)}") from error


@contextmanager
def searched_first(directory: str) -> Iterator[None]:
    """Let Python look for modules in a directory before all other places."""
    sys.path.insert(0, directory)
    try:
        yield
    finally:
        sys.path.remove(directory)


def told_failure(error: Exception) -> str:
    """Return what an import raised, and at which line of which file, if a module was found and failed.

    Examples
    --------
    >>> told_failure(ModuleNotFoundError("No module named 'mine'"))
    "ModuleNotFoundError: No module named 'mine'"
    """
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError):  # it names its file and line itself, and no line has been run
        return f"in {error.filename}, line {error.lineno}, {type(error).__name__}: {error.msg}"
    run = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<frozen ")]
    if not run or run[-1].filename in (__file__, importlib.__file__):
        return said
    line = f" ({shown(run[-1].line)[1:-1]})" if run[-1].line else ""
    return f"in {run[-1].filename}, line {run[-1].lineno}{line}, {said}"


def check_imports(texts: Iterable[str], source: str) -> None:
    """Raise InputError unless the user allows what scheduler texts in a file would import.

    Parameters
    ----------
    texts
        Scheduler texts.
    source
        The file, for the message.

    Raises
    ------
    InputError
        If a class is named that is not allowed, or whose module is not installed.
    """
    names = list(dict.fromkeys(name for text in texts for name in named_classes(text)))
    allowed = _ALLOWED.get()
    if missing := [shown(name)[1:-1] for name in names if not allowed & {name, name.partition(":")[0]}]:
        raise InputError(
            f"{source} names {', '.join(missing)}, and files do not import code on their own: if you trust it, "
            f'write with sl.imports.allow_imports("{",".join(missing)}"): around what reads it'
        )
    for name in names:
        _import_installed(name.partition(":")[0], source)


def _import_installed(module: str, source: str) -> None:
    """Import a module from where installed ones are, so that the current directory is not asked for it later."""
    if module in sys.modules:
        return
    before = sys.path[:]
    chosen = {os.path.realpath(place) for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place}
    here = os.path.realpath(os.curdir)
    sys.path[:] = [place for place in before if os.path.realpath(place or os.curdir) != here or here in chosen]
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise InputError(_found_but_fails(module, source, error)) from error
        hint = ""
        if Path(*module.split(".")).with_suffix(".py").exists():
            hint = "; to take the one in the current directory, set PYTHONPATH=."
        raise InputError(f"{source}: the module {module} cannot be imported ({error}){hint}") from None
    except Exception as error:
        raise InputError(_found_but_fails(module, source, error)) from error
    finally:
        sys.path[:] = before


def _found_but_fails(module: str, source: str, error: Exception) -> str:
    return f"{source}: the module {module} was found, but itself cannot be imported: {told_failure(error)}"
