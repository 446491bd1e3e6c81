"""Compiled code on disk: named by the text of its sources, so that touching or moving a file loses nothing.

Numba keeps an index of each function, numbers its files, and trusts the time stamp of the function's own file. That is
wrong three ways here: kernels are compiled together with those of other files; two processes that compile two
signatures of one function at once give both the same number, and one finds the code of the other; and each checkout,
clone or edit of a page would compile everything again. Here each signature has a file of its own, in a directory that
is named by a digest of all sources that kernels can depend on.
"""

from __future__ import annotations

import hashlib
import pickle
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.serialize import dumps

from schedlab.atomic import atomic_path
from schedlab.errors import OutputError

_IMPORT = re.compile(r"^from ([\w.]+) import (\([^)]*\)|.*)", re.MULTILINE)
"""An import that happens as a module is loaded; what only types or single functions import stands further in."""


def digest_of_sources(package: Path, memo: Path) -> str:
    """Return a digest of the texts of all modules that hold kernels, and of all that these import.

    Parameters
    ----------
    package
        The directory of the package.
    memo
        A directory, where the digest is remembered as long as no file of the package is written again.
    """
    files = sorted(package.rglob("*.py"))
    stats = [(str(file), (facts := file.stat()).st_size, facts.st_mtime_ns) for file in files]
    remembered = memo / f"sources-{hashlib.sha256(repr(stats).encode()).hexdigest()[:16]}"
    with suppress(OSError):
        return remembered.read_text(encoding="ascii")
    texts = {_module(file, package): file.read_text(encoding="utf-8") for file in files}
    digest = hashlib.sha256()
    for name in sorted(with_what_they_import(_with_kernels(texts), texts)):
        digest.update(f"{name}\n{texts[name]}\n".encode())
    found = digest.hexdigest()[:16]
    with suppress(OSError, OutputError):
        memo.mkdir(parents=True, exist_ok=True)
        with atomic_path(remembered) as temporary:
            temporary.write_text(found, encoding="ascii")
    return found


def _module(file: Path, package: Path) -> str:
    return ".".join((package.name, *file.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")


def _with_kernels(texts: dict[str, str]) -> Iterator[str]:
    for name, text in texts.items():
        if re.search(r"^(?:from|import) (?:numba|llvmlite)|^from schedlab\.kernels import", text, re.MULTILINE):
            yield name


def with_what_they_import(names: Iterator[str], texts: dict[str, str]) -> set[str]:
    """Return some modules and all that are loaded with them, directly or not.

    Examples
    --------
    >>> texts = {"p.a": "from p.b import (\\n    X,\\n)", "p.b": "from p import c", "p.c": "", "p.d": ""}
    >>> sorted(with_what_they_import(iter(["p.a"]), texts))
    ['p.a', 'p.b', 'p.c']
    """
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        found.add(name)
        for source, imported in _IMPORT.findall(texts[name]):
            inside = (f"{source}.{word}" for word in re.findall(r"\w+", imported))
            left += [other for other in (source, *inside) if other in texts and other not in found]
    return found


class KernelCache(FunctionCache):
    """What Numba asks for the compiled code of a function.

    Parameters
    ----------
    function
        Of a module of this package.
    directory
        Of compiled code, for these sources.
    """

    def __init__(self, function: Callable[..., Any], directory: Path) -> None:
        self._name = repr(function)
        self._py_func = function
        self._impl = _of_directory(directory)(function)
        self._cache_path = str(directory)
        self._cache_file: Any = _Files(directory, f"{function.__module__}.{function.__qualname__}")
        self.enable()  # type: ignore[no-untyped-call]


def _of_directory(directory: Path) -> type[CompileResultCacheImpl]:
    """Return Numba's way to keep results of its compiler, with the place where."""

    class Locator(_CacheLocator):
        def get_cache_path(self) -> str:
            return str(directory)

        def get_source_stamp(self) -> str:
            return directory.name

        def get_disambiguator(self) -> str:
            return ""

        @classmethod
        def from_function(cls, _function: Any, _file: Any) -> Any:
            return cls()

    class Kept(CompileResultCacheImpl):
        _locator_classes = (Locator,)  # type: ignore[assignment]

    return Kept


class _Files:
    """A file for each signature of a function."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._name = re.sub(r"[^\w.]", "", name)

    def _path(self, key: Any) -> Path:
        what = [numba.__version__, sys.version_info[:2], str(key[0]), *key[1:]]
        return self._directory / f"{self._name}-{hashlib.sha256(repr(what).encode()).hexdigest()[:20]}.kernel"

    def load(self, key: Any) -> Any:
        """Return what was kept for a signature and a processor; None: nothing."""
        try:
            kept, data = pickle.loads(self._path(key).read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            return None
        return data if kept == key else None

    def save(self, key: Any, data: Any) -> None:
        """Keep something for a signature and a processor."""
        with suppress(OutputError), atomic_path(self._path(key)) as temporary:
            temporary.write_bytes(dumps((key, data)))  # type: ignore[no-untyped-call]

    def flush(self) -> None:
        """Forget everything that was kept of this function."""
        for file in self._directory.glob(f"{self._name}-*.kernel"):
            file.unlink(missing_ok=True)
