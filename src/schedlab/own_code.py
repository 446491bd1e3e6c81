"""The code of a user's own classes and functions: its files, and a digest that tells whether it has changed."""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
import sys
import sysconfig
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import packages_distributions, version
from pathlib import Path
from types import ModuleType

from schedlab.errors import InputError
from schedlab.imports import searched_first, told_failure

DIGITS = 16
"""Hexadecimal digits of a digest."""


def files_of(name: str) -> list[Path]:
    """Return the files of what MODULE:NAME names: its module, and the modules beside it that this one uses.

    Modules beside it are those below the directory from which it is imported; what is installed has a version instead.

    Raises
    ------
    InputError
        If the module cannot be imported.
    """
    module = name.partition(":")[0]
    try:
        first = importlib.import_module(module)
    except Exception as error:
        raise InputError(f"{name}: {told_failure(error)}") from error
    file = _file(first)
    if file is None:
        return []
    home, rest, found = _root(name, file), [first], {file: None}
    around = [sys.modules[module[:place]] for place, sign in enumerate(module) if sign == "."]
    for package in around:
        if (place := _file(package)) is not None:
            found[place] = None
    while rest:
        for used in _used_by(rest.pop()):
            file = _file(used)
            if file is not None and file not in found and file.is_relative_to(home) and not is_installed(file):
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


class OwnCode:
    """Which modules of the user's own a campaign has, and where they lie.

    Workers import them from there, whatever their own directories have: a process that reads this (`pickle`) has
    imported them before it reads what was pickled behind it.

    Parameters
    ----------
    digests
        Of what MODULE:NAME names, by that text.
    places
        The directory of each module.
    """

    def __init__(self, digests: Mapping[str, str], places: Mapping[str, str]) -> None:
        self.digests, self.places = dict(digests), dict(places)

    @classmethod
    def of(cls, digests: Mapping[str, str]) -> OwnCode:
        """Return the places of what has been imported here; what is installed has none."""
        modules = dict.fromkeys(name.partition(":")[0] for name in digests)
        files = {module: _file(importlib.import_module(module)) for module in modules}
        own = {module: file for module, file in files.items() if file is not None and not is_installed(file)}
        return cls(digests, {module: str(_root(module, file)) for module, file in own.items()})

    def __reduce__(self) -> tuple[object, tuple[dict[str, str], dict[str, str]]]:
        return _imported, (self.digests, self.places)

    def check(self) -> None:
        """Raise InputError if the code that is imported here is not that of the campaign."""
        for name, digest in self.digests.items():
            if digest_of_code(name) != digest:
                where = getattr(sys.modules[name.partition(":")[0]], "__file__", None)
                raise InputError(f"{name}: a worker has other code than the campaign was begun with: {where}")


def _imported(digests: Mapping[str, str], places: Mapping[str, str]) -> OwnCode:
    """Import modules from their places; where these are missing, as on another host, Python looks for them itself."""
    for module, place in places.items():
        with searched_first(place), suppress(ImportError):  # whoever needs it says so
            importlib.import_module(module)
    return OwnCode(digests, places)


def libraries_of(names: Collection[str]) -> dict[str, str]:
    """Return the versions of the installed packages that the files of several MODULE:NAME import, by their names.

    Examples
    --------
    >>> libraries_of([]), libraries_of(["fractions:Fraction"])  # Python's own modules have no version of their own
    ({}, {})
    """
    files = {file for name in names for file in files_of(name)}
    used = [used for file in files for used in _names_imported(_tree(file), None)]
    modules = {module.partition(".")[0] for module in (*used, *(name.partition(":")[0] for name in names))}
    packages = packages_distributions() if modules else {}
    return {name: version(name) for name in sorted({name for module in modules for name in packages.get(module, ())})}


def is_installed(file: Path) -> bool:
    """Return whether a file belongs to Python or to what was installed, and so has a version."""
    return any(file.is_relative_to(place) for place in {*sysconfig.get_paths().values()})


def module_paths(name: str) -> dict[Path, Path]:
    """Return the files of MODULE:NAME, each with its place below the directory from which it is imported.

    Examples
    --------
    >>> [place.as_posix() for place in module_paths("fractions:Fraction").values()][0]
    'fractions.py'
    """
    files = files_of(name)
    return {file: file.relative_to(_root(name, files[0])) for file in files}


def _root(name: str, first: Path) -> Path:
    """Return the directory from which MODULE:NAME with this first file is imported."""
    return first.parents[name.partition(":")[0].count(".") + (first.name == "__init__.py")]


def _file(module: ModuleType) -> Path | None:
    """Return the file of a module written in Python, None for any other."""
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if isinstance(file, str) and file.endswith(".py") else None


def _used_by(module: ModuleType) -> Iterable[ModuleType]:
    """Yield the modules that the statements of a module import, as far as they have been imported."""
    names = _names_imported(_tree(_file(module)), module.__package__ or "")
    yield from (sys.modules[name] for name in names if name in sys.modules)


def _tree(file: Path | None) -> ast.Module:
    """Return the statements of a file, none if it cannot be read."""
    try:
        return ast.parse("" if file is None else file.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ast.parse("")


def _names_imported(tree: ast.Module, package: str | None) -> Iterator[str]:
    """Yield the names of all that the statements of a module of a package import, or may; no relative ones for None."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not (node.level and package is None):
            within = f"{'.' * node.level}{node.module or ''}"
            around = package if node.level else None
            source = importlib.util.resolve_name(within, around) if around != "" else (node.module or "")
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)
