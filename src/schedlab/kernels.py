"""How schedlab compiles its kernels: one decorator, and a compilation cache that is safe on clusters.

Compiled code is kept in a node-local directory that belongs to the user, because concurrent first compilations into
a cache on a shared file system have crashed workers. `SCHEDLAB_CACHE=off` switches the cache off;
`SCHEDLAB_CACHE=/some/directory`, or Numba's own `NUMBA_CACHE_DIR`, chooses another place.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def cache_directory() -> str | None:
    """Return the directory for compiled code, or None if nothing is to be kept.

    A directory that someone else could write to is refused: loading compiled code means running it.
    """
    chosen = os.environ.get("SCHEDLAB_CACHE", "")
    if chosen.lower() in {"off", "0", "none"}:
        return None
    if chosen:
        return chosen
    if numba.config.CACHE_DIR:
        return str(numba.config.CACHE_DIR)
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
    return str(directory)


_CACHE = cache_directory()


def kernel(function: Function) -> Function:
    """Compile a function of arrays with Numba, cached on disk, with NumPy's rules for division by zero."""
    before = numba.config.CACHE_DIR
    # Numba asks for the directory while it decorates; the setting of the user's own kernels is left alone.
    numba.config.CACHE_DIR = _CACHE or before
    try:
        compiled = numba.njit(function, cache=_CACHE is not None, error_model="numpy")
    finally:
        numba.config.CACHE_DIR = before
    return cast(Function, compiled)
