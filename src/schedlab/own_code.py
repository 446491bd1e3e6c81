"""The code of a user's own classes and functions: its files, and a digest that tells whether it has changed."""

from __future__ import annotations

import hashlib
import importlib
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from schedlab.errors import InputError

DIGITS = 16
"""Hexadecimal digits of a digest."""


def files_of(name: str) -> list[Path]:
    """Return the files of what MODULE:NAME names: its module, and the modules beside it that this one uses.

    Modules beside it are those below the same directory; what is installed elsewhere has a version instead.

    Raises
    ------
    InputError
        If the module cannot be imported.
    """
    try:
        first = importlib.import_module(name.partition(":")[0])
    except Exception as error:
        raise InputError(f"{name}: {type(error).__name__}: {error}") from error
    file = _file(first)
    if file is None:
        return []
    home, rest, found = file.parent, [first], {file: None}
    while rest:
        for used in _used_by(rest.pop()):
            file = _file(used)
            if file is not None and file not in found and file.is_relative_to(home) and not _is_installed(file):
                found[file] = None
                rest.append(used)
    return [next(iter(found)), *sorted(list(found)[1:])]


def digest_of_code(name: str) -> str:
    """Return a digest of the files of what MODULE:NAME names, wherever they lie.

    Raises
    ------
    InputError
        If the module cannot be imported, or a file cannot be read.
    """
    digest = hashlib.sha256()
    for file in files_of(name):
        try:
            digest.update(file.name.encode() + b"\n" + file.read_bytes())
        except OSError as error:
            raise InputError(f"{name}: {file} cannot be read: {error.strerror or error}") from None
    return digest.hexdigest()[:DIGITS]


def digests_of_code(names: Iterable[str]) -> dict[str, str]:
    """Return the digests of several, by name."""
    return {name: digest_of_code(name) for name in names}


def _is_installed(file: Path) -> bool:
    """Return whether a file belongs to Python or to what was installed, and so has a version."""
    return any(file.is_relative_to(place) for place in {*sysconfig.get_paths().values()})


def _file(module: ModuleType) -> Path | None:
    """Return the file of a module written in Python, None for any other."""
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if isinstance(file, str) and file.endswith(".py") else None


def _used_by(module: ModuleType) -> Iterable[ModuleType]:
    """Yield the modules that a module has imported, or whose classes and functions it has."""
    for value in list(vars(module).values()):
        used = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
        if used is not None:
            yield used
