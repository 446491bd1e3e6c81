"""Read a campaign from its file, TOML or Python; errors name the field and the line."""

from __future__ import annotations

import os
import runpy
import tomllib
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from schedlab.campaign.definition import Campaign, scheduler_texts_in
from schedlab.documents import LARGEST_TOML, parse_toml, read_text
from schedlab.errors import InputError
from schedlab.imports import check_imports
from schedlab.wording import shown

CLOSERS = ("", "]", "}", "}]", "]}", "]}]")
"""What may be missing at the end of a prefix of a TOML file that stops within arrays and tables."""

SHOWN_PROBLEMS = 8
SEARCHED_LINES = 400
"""Of one table, to find the line of a value."""

MESSAGES = {
    "extra_forbidden": "unknown field",
    "missing": "this field is missing",
    "model_type": "input should be a table",
    "tuple_type": "input should be a list",
}
"""What is said of errors that pydantic tells in words of Python."""


def read_campaign(path: str | os.PathLike[str]) -> Campaign:
    """Read a campaign file.

    Parameters
    ----------
    path
        TOML with the fields of `Campaign`, or a Python file (.py) that sets `campaign` to a `Campaign`.

    Raises
    ------
    InputError
        If the file cannot be read, or if a field is wrong; the message names the field and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "c.toml"
    >>> _ = path.write_text('''
    ... name = "small"
    ... schedulers = ["easy"]
    ... [[workloads]]
    ... generate = "lublin"
    ... jobs = "many"
    ... processors = 64
    ... ''')
    >>> try:
    ...     read_campaign(path)
    ... except InputError as error:
    ...     print(str(error).removeprefix(str(path)))
    , line 6: workloads[0].jobs: input should be a valid integer, unable to parse string as an integer (it is 'many')
    """
    file = Path(path)
    text = read_text(file, "campaign", largest=LARGEST_TOML)
    if file.suffix == ".py":
        return _run_python(file)
    fields = parse_toml(text, str(file))
    check_imports(scheduler_texts_in(fields), str(file))
    try:
        return Campaign.model_validate(fields)
    except ValidationError as error:
        raise InputError("; ".join(_sentences(error, file, text))) from None
    except RecursionError:
        raise InputError(f"{file}: a formula is nested too deeply") from None


def _run_python(file: Path) -> Campaign:
    try:
        campaign = runpy.run_path(str(file)).get("campaign")
    except ValidationError as error:
        raise InputError("; ".join(_sentences(error, file, None))) from None
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{file}: running it failed: {type(error).__name__}: {error}") from error
    if not isinstance(campaign, Campaign):
        raise InputError(f"{file}: it must set campaign = schedlab.Campaign(...)")
    return campaign


def _sentences(error: ValidationError, file: Path, text: str | None) -> list[str]:
    """Return what is wrong, field by field; the file's name stands before the first only."""
    sentences: list[str] = []
    problems = error.errors(include_url=False)
    document = {} if text is None else tomllib.loads(text)
    # Which fields an entry may have depends on its generator: if that is unknown, nothing else is worth a word.
    unknown = {problem["loc"][:-1] for problem in problems if problem["loc"][-1:] == ("generate",)}
    for number, problem in enumerate(problems):
        if len(sentences) == SHOWN_PROBLEMS:
            sentences.append(f"and {len(problems) - number:,} more")
            break
        entry, field_of_it = problem["loc"][:3], problem["loc"][3:]  # workloads, its position, its kind
        if entry in unknown and field_of_it != ("generate",):
            continue
        # The names of alternatives, such as "<trace>", are no steps that a user knows.
        location = [step for step in problem["loc"] if not str(step).startswith("<")]
        path = location if text is None else _path_in(location, document)
        found = line_of(text, path) if text is not None and path else None
        line = f", line {found}" if found else ""
        field = _shown(location, path, missing=text is not None and problem["type"] == "missing")
        where = f"{file if not sentences else ''}{line}".removeprefix(", ")
        sentences.append(f"{where}: {field}{_message(problem)}" if where else f"{field}{_message(problem)}")
    return sentences


def _message(problem: Any) -> str:
    kind = problem["type"]
    text = MESSAGES.get(kind, problem["msg"]).removeprefix("Value error, ")
    text = text[:1].lower() + text[1:]
    given = problem.get("input")
    is_shown = isinstance(given, str | int | float) and kind not in ("value_error", "missing", "extra_forbidden")
    return f"{text} (it is {shown(given)})" if is_shown else text


def _path_in(location: Sequence[int | str], value: Any) -> tuple[int | str, ...]:
    """Return the part of a location that a value has: no missing fields, and no position where a list is optional."""
    path = []
    for step in location:
        if isinstance(value, str):
            break
        try:
            value = value[step]
        except (LookupError, TypeError):
            continue
        path.append(step)
    return tuple(path)


def _shown(location: Sequence[int | str], path: Sequence[int | str], *, missing: bool) -> str:
    """Return a path as one writes it: workloads[0].windows.length, with a colon behind it."""
    steps = [*path, location[-1]] if missing else path
    if not steps:
        return ""
    written = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return f"{written.removeprefix('.')}: "


def line_of(text: str, path: Sequence[int | str]) -> int | None:
    """Return the line of a TOML text on which a value stands, counted from 1; None if that takes too long to find.

    It is the end of the shortest beginning of the text that is TOML and has the value.

    Parameters
    ----------
    text
        Valid TOML.
    path
        Keys and positions that lead to the value.

    Examples
    --------
    >>> line_of('a = 1\\nb = [\\n  1,\\n  "x",\\n]\\n', ["b", 1])
    4
    """
    lines = text.splitlines(keepends=True)
    # A table is complete where the next one begins: halving finds the table, and then its lines are tried in turn.
    tables = [0, *(number for number, line in enumerate(lines) if line.startswith("[")), len(lines)]
    if len(lines) > SEARCHED_LINES * len(tables):
        return None
    last = bisect_left(range(len(tables)), True, key=lambda place: _has(lines, tables[place], path))
    if not 0 < last < len(tables):
        return None
    first = tables[last - 1] + 1
    tried = range(first, min(tables[last], first + SEARCHED_LINES) + 1)
    return next((number for number in tried if _has(lines, number, path)), None)


def _has(lines: Sequence[str], number: int, path: Sequence[int | str]) -> bool:
    """Return whether so many lines of a TOML text, closed in some way, are TOML and have a value."""
    for closer in CLOSERS:
        try:
            value: Any = tomllib.loads("".join(lines[:number]) + closer)
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        return len(_path_in(path, value)) == len(path)
    return False
