"""Compiled code on disk: named by the text of its sources, so that touching or moving a file loses nothing.

Numba keeps an index of each function, numbers its files, and trusts the time stamp of the function's own file. That is
wrong three ways here: kernels are compiled together with those of other files; two processes that compile two
signatures of one function at once give both the same number, and one finds the code of the other; and each checkout,
clone or edit of a page would compile everything again. Here each signature has a file of its own, in a directory that
is named by a digest of all sources that kernels can depend on, and by the pipeline.

It is node-local and belongs to the user, because concurrent first compilations into a cache on a shared file system
have crashed workers. `SCHEDLAB_CACHE=off` switches the cache off; `SCHEDLAB_CACHE=/some/directory`, or Numba's own
`NUMBA_CACHE_DIR`, chooses another place.
"""

from __future__ import annotations

import ast
import hashlib
import os
import pickle
import re
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.serialize import dumps

from schedlab.atomic import atomic_path
from schedlab.errors import OutputError
from schedlab.kernels.beside import load
from schedlab.kernels.numba_versions import config, pipeline

_DECORATORS = frozenset(
    {"kernel", "bare_kernel", "inner_kernel", "inlined", "compiled_beside", "operation", "chosen", "NamedTuple"}
)
"""What makes a function, or a record, part of compiled code."""

_COMPILER = re.compile(r"^(?:from|import) (?:numba|llvmlite)", re.MULTILINE)


def cache_directory() -> str | None:
    """Return the directory for compiled code, or None if nothing is to be kept."""
    chosen = os.environ.get("SCHEDLAB_CACHE", "")
    if chosen.lower() in {"off", "0", "none"}:
        return None
    base = chosen or config.CACHE_DIR or _private_directory()
    if base is None:
        return None
    digest = digest_of_sources(Path(__file__).parents[1], Path(base))
    return str(Path(base) / (digest if pipeline().own else f"{digest}-plain"))


def why_not_kept(directory: str | None) -> str | None:
    """Return why compiled code is not kept in a directory, None if it is."""
    if directory is None:
        return "SCHEDLAB_CACHE is off, or others may write to its usual place"
    try:
        Path(directory).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return f"{directory} cannot be made ({error.strerror}); set SCHEDLAB_CACHE to another directory"
    return None if os.access(directory, os.W_OK) else f"nobody may write to {directory}"


def _private_directory() -> Path | None:
    """Return a node-local directory of this user; None if someone else could write to it.

    Loading compiled code means running it.
    """
    local = os.environ.get("SLURM_TMPDIR") or tempfile.gettempdir()
    user = os.getuid() if hasattr(os, "getuid") else "user"
    directory = Path(local) / f"schedlab-kernels-{user}"
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        facts = directory.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(facts.st_mode):
        return None
    if hasattr(os, "getuid") and (facts.st_uid != os.getuid() or facts.st_mode & 0o022):
        return None
    return directory


def digest_of_sources(package: Path, memo: Path) -> str:
    """Return a digest of the texts of all modules that compiled code comes from: see `sources_of_kernels`.

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
    for name in sorted(sources_of_kernels(texts)):
        digest.update(f"{name}\n{texts[name]}\n".encode())
    found = digest.hexdigest()[:16]
    with suppress(OSError, OutputError):
        memo.mkdir(parents=True, exist_ok=True)
        with atomic_path(remembered) as temporary:
            temporary.write_text(found, encoding="ascii")
    return found


def _module(file: Path, package: Path) -> str:
    return ".".join((package.name, *file.relative_to(package).with_suffix("").parts)).removesuffix(".__init__")


def sources_of_kernels(texts: Mapping[str, str]) -> set[str]:
    """Return the modules whose text decides about compiled code.

    Those that extend Numba or hold kernels, and those of every name that a kernel, or a constant beside it, uses.

    Examples
    --------
    >>> kernel = "from p.b import X\\nfrom p.c import z\\n@kernel\\ndef f(n):\\n    return n + X"
    >>> texts = {"p.a": kernel, "p.b": "X = 1", "p.c": "z = 2", "p.d": "from p.a import f"}
    >>> sorted(sources_of_kernels(texts))
    ['p.a', 'p.b']
    """
    found: set[str] = set()
    left = [name for name, text in texts.items() if _COMPILER.search(text) or _holds_kernels(text)]
    while left:
        name = left.pop()
        if name in found or name not in texts:
            continue
        found.add(name)
        tree = ast.parse(texts[name])
        whole = _COMPILER.search(texts[name]) is not None
        counting = (part for part in tree.body if whole or _counts(part))
        used = {node.id for part in counting for node in ast.walk(part) if isinstance(node, ast.Name)}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if (alias.asname or alias.name) in used:
                        left += [node.module, f"{node.module}.{alias.name}"]
    return found


def _holds_kernels(text: str) -> bool:
    return "for_python(" in text or any(f"@{name}" in text for name in _DECORATORS)


def _counts(part: ast.stmt) -> bool:
    """Return whether a statement of a module is a kernel, a record of one, or a constant."""
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        names = {node.id for one in part.decorator_list for node in ast.walk(one) if isinstance(node, ast.Name)}
        if isinstance(part, ast.ClassDef):
            names |= {base.id for base in part.bases if isinstance(base, ast.Name)}
        return bool(names & _DECORATORS)
    return isinstance(part, ast.Assign | ast.AnnAssign | ast.If)


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
        self.enable()

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code; where the directory cannot be made, every process compiles for itself."""
        with suppress(OSError):
            super().save_overload(sig, data)


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

        def reduce(self, compiled: Any) -> Any:
            called = dict.fromkeys(compiled.library._linking_libraries)
            parts = [one.part for one in called if hasattr(one, "part")]
            return [(part.name, part.code) for part in parts], super().reduce(compiled)

        def rebuild(self, target_context: Any, kept: Any) -> Any:
            parts, compiled = kept
            for name, code in parts:
                load(name, code)
            return super().rebuild(target_context, compiled)

    return Kept


class _Files:
    """A file for each signature of a function."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._name = re.sub(r"[^\w.]", "", name)

    def _path(self, key: Any) -> Path:
        what = [numba.__version__, sys.version_info[:2], int(config.OPT), str(key[0]), *key[1:]]
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
            temporary.write_bytes(dumps((key, data)))

    def flush(self) -> None:
        """Forget everything that was kept of this function."""
        for file in self._directory.glob(f"{self._name}-*.kernel"):
            file.unlink(missing_ok=True)
