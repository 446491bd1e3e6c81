"""The arrays of a simulation: walked in a fixed order, and copied so that arrays that were shared stay shared."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Record = TypeVar("Record", bound=tuple[Any, ...])


def arrays_of(part: Any, name: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the mutable arrays of nested named tuples, each once, with their paths.

    An array that appears under several names is yielded under the first of them. Read-only arrays never change.
    """
    seen: set[int] = set()
    for path, array in _walk(part, name):
        if isinstance(array, np.ndarray) and array.flags.writeable and id(array) not in seen:
            seen.add(id(array))
            yield path, array


def digest_of_fixed(part: Any) -> str:
    """Return the SHA-256 of what never changes: which parts there are, read-only arrays of whole numbers, and numbers.

    Numbers with a fraction are left out, whose last bit may differ on another machine.
    """
    digest = hashlib.sha256()
    for path, value in _walk(part, ""):
        if isinstance(value, np.ndarray):
            digest.update(f"{path} {value.dtype} {value.shape}\n".encode())
            if not value.flags.writeable and value.dtype.kind in "biuV":
                digest.update(np.ascontiguousarray(value).data)
        elif not isinstance(value, float):
            digest.update(f"{path} {value}\n".encode())
    return digest.hexdigest()


def _walk(part: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield every array, number and absent part of nested tuples with its path; kernels are no part of a state."""
    if isinstance(part, tuple):
        fields = getattr(part, "_fields", range(len(part)))
        for field, value in zip(fields, part, strict=True):
            yield from _walk(value, f"{name}.{field}" if name else str(field))
    elif part is None or isinstance(part, np.ndarray | np.generic | int | float | str):
        yield name, part
    elif not callable(part):
        raise TypeError(f"{name}: a state is made of arrays and numbers, and cannot save a {type(part).__name__}")


def copied(part: Record) -> Record:
    """Return nested tuples with copies of the mutable arrays; the others are shared."""
    copy: Record = _copied(part, {})
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
