"""Files as streams of bytes, plain or gzip-compressed, with one-sentence errors."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from schedlab.atomic import atomic_path
from schedlab.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def open_input(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for reading, and decompress it if its first two bytes, not its name, say that it is gzip.

    Raises
    ------
    InputError
        If the file cannot be opened or read, or if the compressed data are truncated or damaged; also while
        the stream is read.
    """
    path = os.fspath(path)
    try:
        with open(path, "rb") as raw:
            compressed = raw.peek(2)[:2] == GZIP_MAGIC
            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if compressed else raw
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: this is a directory, not a file") from None
    except EOFError:
        raise InputError(f"{path}: the compressed file is truncated; copy or download it again") from None
    except (gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path}: the compressed file is damaged; copy or download it again") from None
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read ({error.strerror or error})") from None


@contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing, compressed if its name ends with .gz; it appears when complete.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    with atomic_path(path) as temporary, open(temporary, "wb") as raw:
        if os.fspath(path).endswith(".gz"):
            # No name and no time in the gzip header: the same jobs give the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as stream:
                yield cast(IO[bytes], stream)
        else:
            yield raw


def workload_name(path: str | os.PathLike[str]) -> str:
    """Return what a workload is called: the file's name without the suffixes of formats."""
    return re.sub(r"(\.swf|\.json|\.csv|\.parquet)?(\.gz)?$", "", Path(path).name)
