"""Ctrl-C while a compiled simulation runs, which cannot be stopped: it is answered at once all the same."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

SOON = 0.5
"""Seconds after which a run that has not ended by itself is waited for in words."""

WAITING = "interrupted: waiting for the simulation under way (Ctrl-C again ends at once)"


@contextmanager
def answered_at_once(say: Callable[[str], None], end: Callable[[], None]) -> Iterator[None]:
    """Let a thread hear of SIGINT and SIGTERM, as the main one does not before its compiled code returns.

    Parameters
    ----------
    say
        Called with a text if the block has not ended soon after the first signal.
    end
        Called at the second one.
    """
    heard, told = os.pipe()
    os.set_blocking(told, False)
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    listener = Thread(target=_listen, args=(heard, say, end), daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        os.close(told)
        listener.join()
        os.close(heard)


def _listen(heard: int, say: Callable[[str], None], end: Callable[[], None]) -> None:
    if not _interrupted(heard):
        return
    if not select.select([heard], [], [], SOON)[0]:
        say(WAITING)
    if _interrupted(heard):
        end()


def _interrupted(heard: int) -> bool:
    """Wait for a signal that interrupts; return whether one came before the end of the block."""
    while number := os.read(heard, 1):
        if number[0] in (signal.SIGINT, signal.SIGTERM):
            return True
    return False
