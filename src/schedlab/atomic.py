"""Where results are written: directories are made, and files appear complete or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from schedlab.arguments import explained
from schedlab.errors import OutputError


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name in the same directory; rename it to `path` on success, remove it on failure.

    Parameters
    ----------
    path
        The file to be written; an existing one is replaced, and of a symbolic link, the file that it leads to.

    Yields
    ------
    pathlib.Path
        Where to write. It ends like `path`, so that libraries that look at the suffix do the right thing.

    Raises
    ------
    OutputError
        If the directory does not exist or is not writable, the disk is full, or any other OSError happens
        while the file is written.

    Examples
    --------
    >>> import tempfile
    >>> directory = Path(tempfile.mkdtemp())
    >>> with atomic_path(directory / "table.csv") as temporary:
    ...     written = temporary.write_text("job_id")
    >>> [file.name for file in directory.iterdir()]
    ['table.csv']
    """
    target = writable_target(path)
    temporary = target.with_name(f".{secrets.token_hex(4)}-{Path(path).name}")
    try:
        yield temporary
        os.replace(temporary, target)
    except OutputError:
        raise
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
        raise OutputError(f"cannot write {target}: {reason}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def writable_target(path: str | os.PathLike[str]) -> Path:
    """Return the file that writing to a path makes: the path itself, or what it leads to as a symbolic link.

    Raises
    ------
    OutputError
        If it is a directory, a device or a pipe, or if its directory does not exist or is not writable.
    """
    target = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)
    if not target.parent.is_dir():
        raise OutputError(f"cannot write {target}: the directory {target.parent} does not exist")
    if target.is_dir():
        raise OutputError(f"cannot write {target}: it is a directory")
    if target.exists() and not target.is_file():  # renaming a file to its name would remove it: root loses /dev/null
        raise OutputError(f"cannot write {target}: it is a device or a pipe, not a file")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(f"cannot write {target}: the directory {target.parent} is not writable")
    return target


@explained
def make_directory(path: str | os.PathLike[str]) -> Path:
    """Make a directory for results, unless it is there, and return it.

    Raises
    ------
    OutputError
        If that is not possible.
    """
    directory = Path(path)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot create the directory {directory}: {error.strerror or error}") from error
    return directory
