"""The command line: one verb per task, nothing but parsing and printing."""

import gc
import os

__all__ = ["main"]


def main() -> None:
    """Run the command line; exit code 0 is done, 1 wrong input or output, 2 wrong usage."""
    # Parallelism is over simulations. Threads of NumPy's linear algebra would only spin, on every core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Most of what a short process makes are modules, which stay: looking for cycles in them took a sixth of its time.
    gc.set_threshold(100_000)
    from schedlab.cli.app import main as run  # the program imports its verbs, which are modules of this package

    run()
