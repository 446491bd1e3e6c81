"""Which files of a run directory are schedlab's: known by their names, and never reached through a symbolic link.

People keep notes beside their results, and a run directory may have come from elsewhere. So nothing is read, moved or
removed in it but what has a name that only schedlab gives, in a directory that is one; all else is left alone.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

DETAILS = ("workflows", "distributions")
"""Parts that hold what is kept of experiments beside their results, and tables of `campaign sql`."""

PARTS = {
    "results": ".parquet",
    "failed": ".json",
    "schedules": ".parquet",
    **dict.fromkeys(DETAILS, ".parquet"),
    "inflight": "journals",
    "corrupt": "anything",
    "slurm": "anything",
}
"""What each part holds: stored files with a suffix, journals, or anything."""

SHOWN_STRANGERS = 5

STORED = re.compile(r"[0-9a-f]{32}-(?P<checksum>[0-9a-f]{16})(?P<suffix>\.parquet|\.json)")
"""A file of results, failures, schedules or details: what it is of, and the checksum of its content."""

HALF_WRITTEN = re.compile(rf"\.[0-9a-f]{{8}}-{STORED.pattern}")
"""What such a file is called until it is complete."""

JOURNAL = re.compile(r"[0-9a-f]{32}\.[^/]+\.\d+\.[0-9a-f]{8}")
"""Says which task a process is at: batch, host, process and a random number."""

JOURNAL_TEXT = re.compile(rb"[0-9a-f]{32}\n")
"""What it begins with, once the process has begun with a task."""


def is_directory(path: Path) -> bool:
    """Return whether a path is a directory itself, and not a link to one."""
    return stat.S_ISDIR(_mode(path))


def is_file(path: Path) -> bool:
    """Return whether a path is a regular file itself, and not a link to one."""
    return stat.S_ISREG(_mode(path))


def _mode(path: Path) -> int:
    """Return the kind of what is at a path, links not followed; 0 if there is nothing."""
    try:
        return os.lstat(path).st_mode
    except (OSError, ValueError):
        return 0


def members(directory: Path) -> list[Path]:
    """Return what is in a directory, by name; nothing if it is not one, or a link to one.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    return sorted(directory.iterdir()) if is_directory(directory) else []


def own_files(run: Path, part: str, suffix: str = "") -> list[Path]:
    """Return the complete files of a part of a run directory that schedlab wrote, by name.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    found = members(run / part)
    if PARTS[part] == "journals":
        return [path for path in found if is_journal(path)]
    if PARTS[part] == "anything":
        return [path for path in found if path.name.endswith(suffix) and is_file(path)]
    return [path for path in found if is_stored(path, suffix)]


def is_stored(path: Path, suffix: str = "") -> bool:
    """Return whether a file has the name of a stored one; its content may still be harmed."""
    return STORED.fullmatch(path.name) is not None and path.name.endswith(suffix) and is_file(path)


def is_half_written(path: Path) -> bool:
    """Return whether a file is what a process has left that died while it wrote."""
    return HALF_WRITTEN.fullmatch(path.name) is not None and is_file(path)


def is_journal(path: Path) -> bool:
    """Return whether a file says which task a process is at, by its name and its first line."""
    if JOURNAL.fullmatch(path.name) is None or not is_file(path):
        return False
    try:
        with open(path, "rb") as stream:
            head = stream.read(33)
    except OSError:
        return False
    return not head or JOURNAL_TEXT.match(head) is not None


def modified(path: Path) -> float:
    """Return when a file was last written, in seconds; 0 if it has gone: a reader may just have moved it aside."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def strangers(run: Path) -> list[str]:
    """Return what stands in the parts of a run directory that schedlab did not put there.

    Returns
    -------
    list of str
        Paths within the run directory, by name. A part that is a file or a link is one of them.
    """
    found = []
    for part, kind in PARTS.items():
        place = run / part
        if not os.path.lexists(place):
            continue
        if not is_directory(place):
            found.append(f"{part} ({'a symbolic link' if place.is_symlink() else 'not a directory'})")
        elif kind != "anything":
            own = set(own_files(run, part, "" if kind == "journals" else kind))
            found += [f"{part}/{path.name}" for path in members(place) if path not in own and not is_half_written(path)]
    return found
