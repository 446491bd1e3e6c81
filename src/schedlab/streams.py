"""Files as streams of bytes, plain or gzip-compressed, with one-sentence errors."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.documents import DEEPEST, PIECE
from schedlab.errors import InputError

GZIP_MAGIC = b"\x1f\x8b"

RATIO = 200
SMALL = 1 << 28
"""Maximum size of what a compressed file holds, in bytes, or in multiples of its size; logs compress to a tenth."""

LARGEST_JSON = 400 << 20
"""Bytes of JSON that a compressed file may hold: joined, they are in memory twice."""

LARGEST_OF_DEVICE = 1 << 24
BUFFER = 1 << 18


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
            if raw.peek(2)[:2] == GZIP_MAGIC:
                largest = max(SMALL, RATIO * os.fstat(raw.fileno()).st_size)
                stream: IO[bytes] = cast(IO[bytes], gzip.GzipFile(fileobj=raw))
                yield _bounded(stream, largest, f"{path}: the compressed file holds more than {RATIO} times its size")
            elif _is_device(raw):
                yield _bounded(raw, LARGEST_OF_DEVICE, f"{path}: this is a device without an end, not a file")
            else:
                yield raw
    except FileNotFoundError:
        raise InputError(f"{path}: the file does not exist") from None
    except IsADirectoryError:
        raise InputError(f"{path}: this is a directory, not a file") from None
    except EOFError:
        raise InputError(f"{path}: the compressed file is truncated; copy or download it again") from None
    except (gzip.BadGzipFile, zlib.error):
        raise InputError(f"{path}: the compressed file is damaged; copy or download it again") from None
    except ValueError as error:
        if isinstance(error, InputError) or "null" not in str(error):
            raise
        raise InputError(f"{path!r}: the file cannot be read ({error})") from None
    except OSError as error:
        raise InputError(f"{path}: the file cannot be read ({error.strerror or error})") from None


def read_whole(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file, decompressed.

    Raises
    ------
    InputError
        As `open_input`, or if it takes more than a quarter of the machine's memory; of JSON, if it is nested deeper
        than any document, or if a compressed file holds more than `LARGEST_JSON`.
    """
    largest = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4
    pieces: list[bytes] = []
    size, document = 0, False
    with open_input(path) as stream:
        while piece := stream.read(PIECE):
            document = document if pieces else piece.lstrip()[:1] in (b"{", b"[")
            pieces.append(piece)
            size += len(piece)
            if document and len(piece) == PIECE and b'"' not in piece and _opened(piece) > DEEPEST:
                raise InputError(f"{os.fspath(path)}: this is JSON that is nested more than {DEEPEST} levels deep")
            if document and size > LARGEST_JSON and _is_compressed(path):
                raise InputError(
                    f"{os.fspath(path)}: the compressed file holds more than {LARGEST_JSON >> 20:,} MiB of JSON; "
                    "decompress it, or cut it into parts"
                )
            if size > largest:
                raise InputError(
                    f"{os.fspath(path)}: the file holds more than {largest >> 20:,} MiB, a quarter of this machine's "
                    "memory; cut it into parts"
                )
    return b"".join(pieces)


def _opened(piece: bytes) -> int:
    """Return how many more brackets are opened than closed."""
    return piece.count(b"[") + piece.count(b"{") - piece.count(b"]") - piece.count(b"}")


def _is_compressed(path: str | os.PathLike[str]) -> bool:
    with open(path, "rb") as raw:
        return raw.read(2) == GZIP_MAGIC


class _Counted(io.RawIOBase):
    """A stream that raises InputError once more than a given number of bytes was read."""

    def __init__(self, stream: IO[bytes], largest: int, message: str) -> None:
        self._stream, self._rest, self._message = stream, largest, message

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        self._rest -= len(data)
        if self._rest < 0:
            raise InputError(self._message)
        buffer[: len(data)] = data
        return len(data)


def _bounded(stream: IO[bytes], largest: int, message: str) -> IO[bytes]:
    return io.BufferedReader(_Counted(stream, largest, message), BUFFER)


def _is_device(stream: IO[bytes]) -> bool:
    return stat.S_ISCHR(os.fstat(stream.fileno()).st_mode) and not stream.isatty()


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


@explained
def file_sha256(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's content, in hexadecimal digits.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from None
