"""Documents of JSON and TOML that are read back: bounded in size, depth and digits, and checked as a whole.

Such a file may have been edited, cut short, or made by another program. Whatever it holds, reading it takes bounded
memory and ends with a checked value or with one sentence.
"""

from __future__ import annotations

import json
import os
import stat
import tomllib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from schedlab.errors import InputError
from schedlab.wording import shown

Value = TypeVar("Value")

LARGEST = 1 << 28
"""Bytes: the model of a machine with 100,000 users takes a fifth of it."""

PIECE = 1 << 20

DEEPEST = 64
"""Levels of brackets within brackets: what schedlab writes has less than ten."""

DIGITS = 40
"""Of a whole number: 64 bits need 20."""

CLOSERS = ("", "]", "}", "}]", "]}", "]}]")
"""What may be missing at the end of a prefix of a TOML file that stops within arrays and tables."""

SEARCHED_LINES = 400
"""Of one table, to find the line of a value."""


def read_bytes(path: str | os.PathLike[str], what: str, *, largest: int = LARGEST) -> bytes:
    """Return the content of a file.

    Parameters
    ----------
    path
        The file.
    what
        What it should be, for messages: "policy".
    largest
        Bytes that it may have.

    Raises
    ------
    InputError
        If it cannot be read, or is larger: an endless device, for example.
    """
    try:
        with open(path, "rb") as stream:
            content = read_up_to(stream, largest + 1)
    except OSError as error:
        raise InputError(f"{os.fspath(path)}: cannot read the {what}: {error.strerror or error}") from None
    except ValueError as error:  # a zero byte in the name
        raise InputError(f"{os.fspath(path)!r}: cannot read the {what}: {error}") from None
    if len(content) > largest:
        endless = "" if _is_regular(path) else " or has no end"
        raise InputError(f"{os.fspath(path)}: the {what} is larger than {largest >> 20:,} MiB{endless}")
    return content


def read_up_to(stream: IO[bytes], most: int) -> bytes:
    """Return up to a given number of bytes of a stream; memory is allocated only for what is there."""
    pieces = []
    while most > 0 and (piece := stream.read(min(most, PIECE))):
        pieces.append(piece)
        most -= len(piece)
    return b"".join(pieces)


def read_text(path: str | os.PathLike[str], what: str, *, largest: int = LARGEST) -> str:
    """Return the content of a file as text in UTF-8; parameters and errors as for `read_bytes`.

    Raises
    ------
    InputError
        Also if it is not such text.
    """
    try:
        return read_bytes(path, what, largest=largest).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{os.fspath(path)}: the {what} is not text in UTF-8") from None


def read_json(path: str | os.PathLike[str], what: str) -> Any:
    """Return the document that a file of JSON holds; parameters and errors as for `read_text` and `parse_json`."""
    try:
        text = read_bytes(path, what).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{os.fspath(path)} is not a {what}, or a damaged one: it is not text in UTF-8") from None
    try:
        return parse_json(text)
    except ValueError as error:
        raise InputError(f"{os.fspath(path)} is not a {what}, or a damaged one: {error}") from None


def parse_json(text: str | bytes) -> Any:
    """Return the value that a text of JSON holds.

    Raises
    ------
    ValueError
        If it is not JSON, is nested too deeply, or has a number of too many digits or half a character.

    Examples
    --------
    >>> parse_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    try:
        document = json.loads(text, parse_int=_whole)
    except RecursionError:
        raise ValueError(f"it is nested more than {DEEPEST} levels deep") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not JSON ({error.msg}, line {error.lineno})") from None
    except UnicodeDecodeError:
        raise ValueError("it is not text in UTF-8") from None
    _check(document)
    return document


def read_toml(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """Return the tables that a file of TOML holds; parameters and errors as for `read_text`."""
    return parse_toml(read_text(path, what, largest=LARGEST_TOML), os.fspath(path))


LARGEST_TOML = 1 << 24


def parse_toml(text: str, source: str) -> dict[str, Any]:
    """Return the tables that a text of TOML holds.

    Raises
    ------
    InputError
        If it is not TOML, is nested too deeply, or has a number of too many digits; it begins with the source.
    """
    try:
        document = tomllib.loads(text)
        _check(document)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{source}: not valid TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{source}: not valid TOML: it is nested more than {DEEPEST} levels deep") from None
    except ValueError as error:
        reason = "a number has too many digits" if "digits" in str(error) else str(error)
        raise InputError(f"{source}: not valid TOML: {reason}") from None
    return document


def checked(kind: TypeAdapter[Value], value: Any, source: str, remedy: str) -> Value:
    """Return a value, once it is known to be what it should be.

    Parameters
    ----------
    kind
        What it should be.
    value
        What a document holds.
    source
        Where it comes from; the message begins with it.
    remedy
        What to do if it is something else; the message ends with it.

    Raises
    ------
    InputError
        If it is something else; the message names the first place that is wrong.
    """
    try:
        return kind.validate_python(value)
    except ValidationError as error:
        raise InputError(f"{source}: {first_problem(error)}; {remedy}") from None
    except RecursionError:
        raise InputError(f"{source}: it is nested too deeply; {remedy}") from None


def first_problem(error: ValidationError) -> str:
    """Return what is wrong first, and where, in a few words."""
    problem = error.errors(include_url=False)[0]
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in problem["loc"])
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "missing":
        return f"{where.removeprefix('.')} is missing"
    given = "" if isinstance(problem["input"], dict | list) else f", not {shown(problem['input'])}"
    told = f"{message[:1].lower()}{message[1:]}{given if problem['type'] != 'value_error' else ''}"
    return f"{where.removeprefix('.')}: {told}" if where else told


def _whole(digits: str) -> int:
    if len(digits) > DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits)


def _check(document: Any) -> None:
    """Raise ValueError if a document is too deep to be walked, or if a text is one that cannot be written."""
    rest: list[tuple[Any, int]] = [(document, 0)]
    while rest:
        value, depth = rest.pop()
        if isinstance(value, str):
            _check_text(value)
            continue
        if isinstance(value, int) and value.bit_length() > DIGITS * 3.4:
            raise ValueError("a number has too many digits")
        if isinstance(value, dict):
            for key in value:
                _check_text(key)
            parts = list(value.values())
        elif isinstance(value, list):
            parts = value
        else:
            continue
        if depth > DEEPEST:
            raise ValueError(f"it is nested more than {DEEPEST} levels deep")
        rest += [(part, depth + 1) for part in parts if isinstance(part, str | list | dict | int)]


def _check_text(text: str) -> None:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError(f"the text {shown(text)} is not valid Unicode (it has a lone surrogate)")


def _is_regular(path: str | os.PathLike[str]) -> bool:
    return stat.S_ISREG(os.stat(Path(path)).st_mode)


def path_in(location: Sequence[int | str], value: Any) -> tuple[int | str, ...]:
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
    """Return whether the first lines of a TOML text, closed in some way, are TOML and have a value."""
    for closer in CLOSERS:
        try:
            value: Any = tomllib.loads("".join(lines[:number]) + closer)
        except (tomllib.TOMLDecodeError, RecursionError):
            continue
        return len(path_in(path, value)) == len(path)
    return False


def json_text(document: Mapping[str, Any]) -> str:
    """Return a document as JSON."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def toml_text(document: Mapping[str, Any]) -> str:
    """Return a document as TOML: values first, then one table for each of its parts.

    Examples
    --------
    >>> print(toml_text({"name": "a", "groups": [{"nodes": "n1", "gpus": {"a100": 2}}]}), end="")
    name = "a"
    <BLANKLINE>
    [[groups]]
    nodes = "n1"
    gpus = {"a100" = 2}
    """
    tables = {key: value for key, value in document.items() if isinstance(value, list)}
    lines = [f"{key} = {_toml(value)}" for key, value in document.items() if key not in tables]
    for key, parts in tables.items():
        for part in parts:
            lines += ["", f"[[{key}]]", *(f"{name} = {_toml(value)}" for name, value in part.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
