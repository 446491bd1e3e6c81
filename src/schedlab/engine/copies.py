"""The arrays of a simulation: walked in a fixed order, and copied so that arrays that were shared stay shared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Parts = TypeVar("Parts", bound=tuple[Any, ...])


def arrays_of(part: Any, name: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the mutable arrays of nested named tuples, each once, with their paths.

    An array that appears under several names is yielded under the first of them. Read-only arrays never change.
    """
    seen: set[int] = set()
    for path, array in _walk(part, name):
        if id(array) not in seen:
            seen.add(id(array))
            yield path, array


def _walk(part: Any, name: str) -> Iterator[tuple[str, NDArray[Any]]]:
    if isinstance(part, np.ndarray):
        if part.flags.writeable:
            yield name, part
    elif hasattr(part, "_fields"):
        for field, value in zip(part._fields, part, strict=True):
            yield from _walk(value, f"{name}.{field}" if name else field)


def copied(parts: Parts) -> Parts:
    """Return nested tuples with copies of the mutable arrays; the others are shared."""
    copy: Parts = _copied(parts, {})
    return copy


def _copied(part: Any, made: dict[int, NDArray[Any]]) -> Any:
    if isinstance(part, np.ndarray):
        if not part.flags.writeable:
            return part
        if id(part) not in made:
            made[id(part)] = part.copy()
        return made[id(part)]
    if isinstance(part, tuple):
        values = (_copied(value, made) for value in part)
        return type(part)(*values) if hasattr(part, "_fields") else tuple(values)
    return part
