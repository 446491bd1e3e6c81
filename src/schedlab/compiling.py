"""Say that kernels are being compiled, which happens once and takes seconds, to a person who waits for it."""

from __future__ import annotations

import sys
from typing import Any

from numba.core import event

LONG = ("schedlab.engine.", "schedlab.learn.", "schedlab.gym.")
"""Modules whose kernels take more than a moment."""

MESSAGE = (
    "schedlab: compiling the simulator for this kind of simulation, once: about 10 s, on nodes 20 s "
    "(schedlab warm-up does it beforehand)"
)


class Notice(event.Listener):
    """Says it at the first long compilation of a process, on a terminal or in a notebook."""

    def __init__(self) -> None:
        self.said = False

    def on_start(self, event: Any) -> None:
        """See a compilation begin."""
        function = getattr((event.data or {}).get("dispatcher"), "py_func", None)
        if self.said or not str(getattr(function, "__module__", "")).startswith(LONG) or not _somebody_reads():
            return
        self.said = True
        print(MESSAGE, file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """See it end."""


def _somebody_reads() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def listen() -> None:
    """Begin to watch compilations; they are told once."""
    event.register("numba:compile", Notice())  # type: ignore[no-untyped-call]
