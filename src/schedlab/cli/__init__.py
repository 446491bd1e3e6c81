"""The command line: one verb per task, nothing but parsing and printing."""

import os

__all__ = ["main"]


def main() -> None:
    """Run the command line; exit code 0 is done, 1 wrong input or output, 2 wrong usage."""
    # Parallelism is over simulations. Threads of NumPy's linear algebra would only spin, on every core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from schedlab.cli.app import main as run  # the program imports its verbs, which are modules of this package

    run()
