"""While kernels are compiled, once and for seconds, a person who waits is told, and no garbage is collected."""

from __future__ import annotations

import gc
import sys
from typing import Any

from numba.core import event

from schedlab.kernels.numba_versions import Pipeline, pipeline

LONG = ("schedlab.engine.", "schedlab.learn.", "schedlab.gym.")
"""Modules whose kernels take more than a moment."""


def message(pipeline: Pipeline) -> str:
    """Return what is said before the first long compilation.

    Examples
    --------
    >>> "about a minute, by Numba's plain compiler: numba 1.0 is new" in message(Pipeline(False, "numba 1.0 is new"))
    True
    """
    how_long = "about 10 s" if pipeline.own else f"about a minute, by Numba's plain compiler: {pipeline.why}"
    return (
        f"schedlab: compiling the simulator for this kind of simulation, once: {how_long} "
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
        print(message(pipeline()), file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        """See it end."""


class WithoutCollection(event.Listener):
    """Pauses the collection of garbage: Numba makes objects by the million, and an eighth of the time went there."""

    def __init__(self) -> None:
        self.depth = 0
        self.paused = False

    def on_start(self, event: Any) -> None:
        """See a compilation begin, perhaps within another one."""
        self.depth += 1
        if self.depth == 1 and gc.isenabled():
            self.paused = True
            gc.disable()

    def on_end(self, event: Any) -> None:
        """See it end."""
        self.depth -= 1
        if self.depth == 0 and self.paused:
            self.paused = False
            gc.enable()


def _somebody_reads() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def listen() -> None:
    """Begin to watch compilations; they are told once."""
    for listener in (Notice(), WithoutCollection()):
        event.register("numba:compile", listener)
