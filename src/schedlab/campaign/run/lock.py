"""One process at a time: a lock file that says who holds it, and that a dead holder does not keep.

The file appears by linking, which fails if it is there, also on network file systems. Its holder touches it from time
to time: a process on the same host asks the operating system whether the holder lives, and from another host one sees
that it fell silent.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from schedlab.documents import parse_json
from schedlab.errors import InputError, OutputError

HEARTBEAT = 15.0
"""Seconds between two touches."""

SILENCE = 20 * HEARTBEAT
"""Seconds without a touch after which a holder on another host counts as dead. A loaded host is slow, not dead."""

FIELDS = {"host": str, "pid": int, "started": str, "token": str}
"""What the file holds."""

BEGINNING = b'{"host": '

LONGEST = 4096
"""Bytes; a lock has about 150."""


class Lock:
    """Holds a lock file while in its context.

    Parameters
    ----------
    path
        Of the file.
    what
        What is locked, for the message to those who come second.

    Raises
    ------
    InputError
        On entering, if another process holds it; the message names host and process.
    OutputError
        If the file cannot be made.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "lock.json"
    >>> with Lock(path, "the directory"):
    ...     print(path.exists())
    True
    >>> path.exists()
    False
    """

    def __init__(self, path: str | os.PathLike[str], what: str | None = None) -> None:
        self.path = Path(path)
        self.what = what or str(self.path.parent)
        self._mine = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "started": _start_of(os.getpid()),
            "token": secrets.token_hex(8),
        }
        self._released = threading.Event()
        self.taken_over: dict[str, Any] | None = None
        """The dead holder that the lock was taken from."""

    def __enter__(self) -> Lock:
        while not self._make():
            holder = self.holder()
            if holder is None:
                continue
            if not holder and not self._is_harmed():
                raise InputError(
                    f"{self.what} cannot be locked: {self.path} was not written by schedlab; move it elsewhere"
                )
            if self.is_alive(holder):
                if not holder:
                    raise InputError(
                        f"{self.what} is locked by {self.path}, which cannot be read: remove it if no process works "
                        f"there (it expires after {SILENCE / 60:g} minutes)"
                    )
                raise InputError(
                    f"{self.what} is in use by process {holder.get('pid')} on {holder.get('host')}: "
                    "wait until it has finished, or stop it"
                )
            self._take_over(holder)
        threading.Thread(target=self._beat, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._released.set()
        if self.held():
            with suppress(OSError):
                self.path.unlink()

    def held(self) -> bool:
        """Whether this process still holds it: another one may have taken it over while this host slept."""
        holder = self.holder()
        return holder is not None and holder.get("token") == self._mine["token"]

    def _make(self) -> bool:
        """Make the file, complete at once: written under another name, then linked, which fails if it is there."""
        temporary = self.path.with_name(f".{self._mine['token']}-{self.path.name}")
        try:
            temporary.write_text(json.dumps(self._mine), encoding="utf-8")
            try:
                os.link(temporary, self.path)
            finally:
                temporary.unlink()
        except FileExistsError:
            return False
        except OSError as error:
            raise OutputError(f"cannot lock {self.what}: {error.strerror or error}") from error
        return True

    def holder(self) -> dict[str, Any] | None:
        """Return what the file says, nothing if it is not a lock; None if it has just gone."""
        content = self._content()
        if content is None:
            return None
        try:
            holder = parse_json(content)
        except ValueError:
            holder = None
        return holder if _is_lock(holder) else {}

    def _content(self) -> bytes | None:
        """Return the beginning of the file, longer than any lock; None if it has just gone."""
        try:
            if not stat.S_ISREG(os.lstat(self.path).st_mode):
                return b"not a file"
            with open(self.path, "rb") as stream:
                return stream.read(LONGEST)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise OutputError(f"cannot read {self.path}: {error.strerror or error}") from error

    def _is_harmed(self) -> bool:
        """Whether it may be the rest of a lock, of which a failing disk has kept a part; nothing else is removed."""
        content = self._content()
        return content is None or not content.strip(b"\0 ") or content.startswith(BEGINNING[: len(content)])

    def is_alive(self, holder: dict[str, Any]) -> bool:
        """Whether a holder still lives, as far as one can tell from this host."""
        if holder.get("host") == self._mine["host"]:
            started = _start_of(int(holder.get("pid", -1)))
            return started is not None and started == holder.get("started")
        try:
            return time.time() - self.path.stat().st_mtime < SILENCE
        except FileNotFoundError:
            return False

    def _take_over(self, holder: dict[str, Any]) -> None:
        """Remove the lock of a dead holder.

        Between a look at the file and its removal, another process may remove it and make a new one. So the removal of
        this holder's lock is locked itself: the second one finds another holder.
        """
        removal = Lock(self.path.with_name(f".{holder.get('token')}-removal-{self.path.name}"), self.what)
        try:
            with removal:
                found = self.holder()
                same = found is not None and found.get("token") == holder.get("token")
                if same and (found or self._is_harmed()):
                    self.path.unlink()
                    self.taken_over = holder
        except InputError:
            time.sleep(0.01)

    def _beat(self) -> None:
        while not self._released.wait(HEARTBEAT):
            # A file system that is away for a while is not a reason to stop.
            with suppress(OSError):
                if self.held():
                    os.utime(self.path)


def _is_lock(holder: Any) -> bool:
    """Return whether a value has the fields of a lock; its token becomes part of a file name."""
    if not isinstance(holder, dict) or {name: type(holder.get(name)) for name in FIELDS} != FIELDS:
        return False
    return bool(holder["token"].isalnum() and len(holder["token"]) <= 64)


def _start_of(pid: int) -> str | None:
    """Return what tells a process from an earlier one of the same number; None if there is no such process."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return None
    except OSError:
        return "unknown"
    else:
        # The name, in brackets, may hold blanks; the start, in ticks since boot, is the 22nd field; Z is a zombie.
        fields = status.rpartition(")")[2].split()
        return None if fields[0] in "ZX" else f"{_boot()} {fields[19]}"
    # There is no /proc: ask whether anybody has the number.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return "unknown"


def _boot() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    return ""
