"""Values of JSON documents, checked, with errors that name the file and the element."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from schedlab.documents import parse_json as parse_json_value
from schedlab.errors import InputError

REQUEST_MARGIN = 60.0
"""Seconds that ScSF asks for beyond the run time where a description does not say what to ask for."""


def parse_json(text: str, source: str) -> dict[str, Any]:
    """Return the object that a text holds.

    Raises
    ------
    InputError
        If it is not JSON, or not an object.
    """
    try:
        document = parse_json_value(text)
    except ValueError as error:
        raise InputError(f"{source}: this is not JSON ({error})") from None
    if not isinstance(document, dict):
        raise InputError(f"{source}: a workflow must be a JSON object")
    return document


def member(values: Mapping[str, Any], key: str, kind: type, where: str) -> Any:
    """Return a member that must be there, of one kind (dict, list or str)."""
    words: dict[object, str] = {dict: "an object", list: "a list", str: "a text"}
    if key not in values:
        raise InputError(f"{where}: {key} is missing: add it, {words[kind]}")
    value = values[key]
    if not isinstance(value, kind):
        raise InputError(f"{where}: {key} must be {words[kind]}, not {str(value)[:40]!r}")
    return value


def objects(values: Mapping[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    """Return a list of objects that must be there."""
    found: list[dict[str, Any]] = member(values, key, list, where)
    for place, value in enumerate(found, 1):
        if not isinstance(value, dict):
            raise InputError(f"{where}, {key} {place}: must be an object, not {str(value)[:40]!r}")
    return found


def texts(values: Mapping[str, Any], key: str, where: str) -> list[str]:
    """Return a list of texts; empty if there is none."""
    found: list[str] = member(values, key, list, where) if values.get(key) is not None else []
    for value in found:
        if not isinstance(value, str):
            raise InputError(f"{where}: {key} must hold texts, not {str(value)[:40]!r}")
    return found


def number(values: Mapping[str, Any], keys: tuple[str, ...], where: str) -> float | None:
    """Return the number under the first of the keys that is there, or None."""
    for key in keys:
        value = values.get(key)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float) or not _fits(value):
            raise InputError(f"{where}: {key} must be a number, not {repr(value)[:40]}")
        return float(value)
    return None


def _fits(value: float) -> bool:
    """Return whether a number is finite, also as a float: whole numbers of JSON may have any number of digits."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def needed_number(values: Mapping[str, Any], keys: tuple[str, ...], where: str) -> float:
    """Return the number under the first of the keys that is there; one must be."""
    value = number(values, keys, where)
    if value is None:
        raise InputError(f"{where}: {keys[0]} is missing: add it, a number")
    return value


def whole_processors(value: float, where: str) -> int:
    """Return a number of processors, which must be whole and at least 1."""
    if value < 1 or value != int(value):
        raise InputError(f"{where}: {value:g} processors; must be a whole number of at least 1")
    return int(value)
