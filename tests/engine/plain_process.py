"""A test module run as a program of its own, with the kernels as plain Python: no time goes into compiling them."""

from __future__ import annotations

import os
import subprocess
import sys


def number_printed(module: str, argument: str) -> int:
    """Run a test module with an argument, and return the number that it prints; nothing may differ there."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", module, argument],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout)
