"""Parts of a kernel that other processes optimise while Numba still works on the rest.

Of the seconds that a first simulation waits for, Numba, which is Python, takes half, and LLVM the other half after it.
A part is a kernel for kernels, with all that it calls. As soon as its LLVM code is known, a process of its own makes
machine code of it; a kernel that calls it finds it by its name once both are loaded.
"""

from __future__ import annotations

import functools
import os
import pickle
import platform
import subprocess
import sys
import tempfile
from contextlib import suppress
from multiprocessing.spawn import get_executable
from pathlib import Path
from typing import Any

from llvmlite.binding import parse_assembly
from numba.core.registry import cpu_target

from schedlab.kernels.numba_versions import config
from schedlab.kernels.optimise import Target, machine_code


def possible() -> bool:
    """Return whether there is a processor for another process, and a Python for it.

    `NUMBA_NUM_THREADS=1` says that all are busy. Elsewhere than on Linux's x86-64, nobody has tried yet whether LLVM
    finds a function of another library: where it does not, it ends the process.
    """
    tried = sys.platform == "linux" and platform.machine() == "x86_64"
    able = bool(get_executable()) and not getattr(sys, "frozen", False)
    return tried and able and config.NUMBA_NUM_THREADS > 1


def _codegen() -> Any:
    return cpu_target.target_context.codegen()


@functools.cache
def _target() -> Target:
    """Return for what Numba lets LLVM optimise in this process."""
    machine: dict[str, Any] = {"opt": int(config.OPT)}
    _codegen()._customize_tm_options(machine)
    tuning = {
        "speed_level": int(config.OPT),
        "loop_vectorization": bool(config.LOOP_VECTORIZE),
        "slp_vectorization": bool(config.SLP_VECTORIZE),
    }
    return Target(_codegen()._llvm_module.triple, machine, tuning)


class Part:
    """A part whose LLVM code another process gets at once.

    Parameters
    ----------
    name
        Of the function by which others call it, which is that of no other part.
    bitcode
        Its LLVM code, with that of all that it calls but for other parts.
    """

    def __init__(self, name: str, bitcode: bytes) -> None:
        self.name = name
        self._bitcode = bitcode
        self._process: subprocess.Popen[bytes] | None = None
        with suppress(OSError), tempfile.TemporaryFile() as given:
            pickle.dump((bitcode, *_target()), given)
            given.seek(0)
            self._process = subprocess.Popen(
                [get_executable(), "-P", "-S", str(Path(__file__).with_name("optimise.py"))],
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )

    @functools.cached_property
    def code(self) -> bytes:
        """Its machine code, once it is made; this process makes it where the other could not."""
        if self._process is not None:
            made, _ = self._process.communicate()
            if self._process.returncode == 0:
                return made
        return machine_code(self._bitcode, _target())


_loaded: set[str] = set()
"""Names of the parts that this process has."""


def load(name: str, code: bytes) -> None:
    """Take the machine code of a part into this process: behind that of parts that it calls, before its callers'."""
    if name not in _loaded:
        _loaded.add(name)
        nothing = parse_assembly(str(_codegen()._create_empty_module(name))).as_bitcode()
        _codegen().unserialize_library((name, "object", (code, nothing)))
