"""The clock of a laboratory: the page that `clock.c` shares with us."""

from __future__ import annotations

import ctypes
import mmap
import struct
import threading
import time
from pathlib import Path

SECOND = 10**9
"""Nanoseconds in a second: the clock counts those."""

_OFFSET, _LIMIT, _HOLD, _ENABLED, _JUMPS, _SKIPPED, _LOOKS, _PEERS = 0, 8, 16, 20, 24, 32, 40, 48
_AT_LIMIT, _KICKS, _JUMPING = 52, 56, 60
_FUTEX = 202 if struct.calcsize("P") == 8 else 240
_DEAD = 5
"""Real seconds after which a jump will not end any more: the daemon died within it."""
_libc = ctypes.CDLL(None, use_errno=True)


class Clock:
    """Virtual time in nanoseconds, as the daemon sees it.

    Parameters
    ----------
    path
        File of the shared page; it is made.
    epoch
        Virtual time at the begin, in nanoseconds of the Unix epoch.
    frozen
        Whether time stands still while the daemon computes; otherwise it passes as real time does.
    """

    def __init__(self, path: Path, epoch: int, *, frozen: bool) -> None:
        self.frozen = frozen
        self.rescues = 0
        path.write_bytes(bytes(4096))
        with open(path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 4096)
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._word(_OFFSET, ctypes.c_int64).value = epoch if frozen else epoch - time.time_ns()
        self.limit(self.now())
        self._held_since: float | None = None
        self._word(_ENABLED, ctypes.c_int32).value = 1
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="clock-rescue", daemon=True).start()

    def now(self) -> int:
        """Return the virtual time."""
        offset = int(self._word(_OFFSET, ctypes.c_int64).value)
        return offset if self.frozen else time.time_ns() + offset

    def limit(self, instant: int) -> None:
        """Set the instant that no jump may pass."""
        self._word(_LIMIT, ctypes.c_int64).value = instant
        self._kick()

    def hold(self) -> None:
        """Forbid jumps: the laboratory is about to act. One that is under way is over when this returns."""
        self._held_since = time.monotonic()
        self._word(_HOLD, ctypes.c_int32).value = 1
        time.sleep(0)  # a switch of threads: the processor may not read the next word before it has written this one
        end = time.monotonic() + _DEAD
        while self._word(_JUMPING, ctypes.c_int32).value and time.monotonic() < end:
            time.sleep(0)

    def release(self) -> None:
        """Allow jumps again."""
        self._held_since = None
        self._word(_HOLD, ctypes.c_int32).value = 0
        self._kick()

    def _kick(self) -> None:
        """Wake the thread that jumps."""
        self._word(_KICKS, ctypes.c_int32).value += 1
        _libc.syscall(_FUTEX, ctypes.c_void_p(self._base + _KICKS), 1, 1, None, None, 0)

    @property
    def arrivals(self) -> int:
        """How often the daemon came to rest at the limit."""
        return int(self._word(_AT_LIMIT, ctypes.c_int32).value)

    def wait(self, arrivals: int, seconds: float) -> None:
        """Sleep until the daemon comes to rest once more, at most for some real seconds."""
        timeout = struct.pack("qq", int(seconds), int(seconds % 1 * SECOND))
        _libc.syscall(_FUTEX, ctypes.c_void_p(self._base + _AT_LIMIT), 0, arrivals, timeout, None, 0)

    def statistics(self) -> dict[str, float]:
        """Return jumps, seconds skipped, and how often the daemon was found at work."""
        counts = struct.unpack_from("qqq", self._map, _JUMPS)
        return {"jumps": counts[0], "skipped_seconds": counts[1] / SECOND, "looks": counts[2], "rescues": self.rescues}

    def close(self) -> None:
        """End the thread that watches for rescues."""
        self._closed.set()

    def _watch(self) -> None:
        """Let 20 ms pass if the laboratory has held the clock for long: a sleep within an answer would last for ever.

        With Slurm 22.05 this does not happen; a run in which it did is marked as failed.
        """
        while not self._closed.wait(0.5):
            since = self._held_since
            if since is not None and time.monotonic() - since > 10:
                self.rescues += 1
                self._held_since = time.monotonic()
                self.limit(self.now() + SECOND // 50)
                self._word(_HOLD, ctypes.c_int32).value = 0

    def _word(self, offset: int, kind: type[ctypes.c_int32] | type[ctypes.c_int64]) -> ctypes.c_int32 | ctypes.c_int64:
        return kind.from_address(self._base + offset)
