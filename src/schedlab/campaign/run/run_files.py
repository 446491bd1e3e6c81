"""Read and write the files of a run directory: names end with checksums, and nothing foreign is touched."""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.campaign.run.own_files import (
    DETAILS,
    SHOWN_STRANGERS,
    is_directory,
    is_half_written,
    is_journal,
    members,
    own_files,
    strangers,
)
from schedlab.errors import InputError, OutputError

CHECKSUM_DIGITS = 16

LARGEST = 1 << 30
"""Bytes of a file: the schedule of ten million jobs takes a third of it."""


@explained
class RunFiles:
    """The files of a run directory.

    Parameters
    ----------
    path
        Of the directory.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def store(self, part: str, stem: str, suffix: str, content: bytes) -> Path:
        """Write a file whose name ends with the checksum of its content.

        Raises
        ------
        OutputError
            If it cannot be written; nothing half-written is left.
        """
        target = self.path / part / f"{stem}-{_checksum(content)}{suffix}"
        self.refuse_link(part)
        self.refuse_link(f"{part}/{target.name}")
        with atomic_path(target) as temporary, open(temporary, "wb") as stream:
            stream.write(content)
            stream.flush()
            # A rename may reach the disk before the content does, and power may fail between them.
            os.fsync(stream.fileno())
        return target

    def ensure(self, part: str) -> None:
        """Make a part of the directory, unless it is there.

        Raises
        ------
        OutputError
            If that is not possible, or if it is a symbolic link.
        """
        self.refuse_link(part)
        try:
            (self.path / part).mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(
                f"cannot create the run directory {self.path / part}: {error.strerror or error}"
            ) from error

    def refuse_link(self, name: str) -> None:
        """Raise OutputError if a place that is to be written to is a symbolic link: what it leads to is not ours."""
        if (self.path / name).is_symlink():
            raise OutputError(
                f"{self.path / name} is a symbolic link, which schedlab does not follow within a run directory: remove "
                "the link, or move the whole run directory to its target"
            )

    def sweep(self) -> None:
        """Remove what processes that are gone have left: notes of what they were at, and half-written files.

        Only files go that have the name and the form that schedlab gave them; see `left_alone` for the others.
        """
        for part in ("results", "failed", "schedules", "inflight", *DETAILS):
            for path in members(self.path / part):
                if is_half_written(path) or (part == "inflight" and is_journal(path)):
                    with suppress(OSError):
                        path.unlink()

    @property
    def left_alone(self) -> str:
        """A sentence that names what schedlab did not write and leaves alone; empty if there is nothing."""
        found = strangers(self.path)
        if not found:
            return ""
        more = f" and {len(found) - SHOWN_STRANGERS:,} more" if len(found) > SHOWN_STRANGERS else ""
        return f"not written by schedlab and left alone in {self.path}: {', '.join(found[:SHOWN_STRANGERS])}{more}"

    def files(self, part: str, suffix: str = "") -> list[Path]:
        """Return the files of a part of the directory by name, but for those that schedlab did not write."""
        try:
            return own_files(self.path, part, suffix)
        except OSError as error:
            raise InputError(f"cannot read {self.path / part}: {error.strerror or error}") from None

    def contents(self, part: str, suffix: str) -> Iterator[tuple[Path, bytes]]:
        """Yield the files of a part that are unharmed with their contents; others are moved aside."""
        for path in self.files(part, suffix):
            content = self.read(path)
            if content is not None:
                yield path, content

    def read(self, path: Path) -> bytes | None:
        """Return the content of a file whose name ends with its checksum; None if it has gone, or was moved aside."""
        try:
            if path.stat().st_size > LARGEST:
                self.set_aside(path)
                return None
            content = path.read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            return None
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from None
        if path.stem.rpartition("-")[2] == _checksum(content):
            return content
        self.set_aside(path)
        return None

    def set_aside(self, path: Path) -> None:
        """Move a stored file that does not hold what it should to `corrupt/`, where nothing is overwritten."""
        aside = self.path / "corrupt"
        # A directory that one may only read is left as it is; the file is not used either way.
        with suppress(OSError):
            aside.mkdir(exist_ok=True)
            if is_directory(aside):
                free = (aside / f"{path.name}{number}" for number in itertools.chain([""], itertools.count(2)))
                os.replace(path, next(place for place in free if not os.path.lexists(place)))


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:CHECKSUM_DIGITS]
