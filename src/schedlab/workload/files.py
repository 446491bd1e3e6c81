"""Read and write workload files of any known format, chosen by the name's suffix."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from schedlab.errors import InputError
from schedlab.workload.batsim import read_batsim, write_batsim
from schedlab.workload.swf import read_swf, write_swf
from schedlab.workload.tables import read_table, write_table
from schedlab.workload.workload import Workload

BATSIM_SUFFIXES = (".json", ".json.gz")
TABLE_SUFFIXES = (".csv", ".csv.gz", ".parquet")
SWF_SUFFIXES = (".swf", ".swf.gz")


def read_workload(path: str | os.PathLike[str], processors: int | None = None) -> Workload:
    """Read a workload from a file.

    Parameters
    ----------
    path
        Batsim JSON (.json, .json.gz), a table (.csv, .csv.gz, .parquet) or, with any other name, SWF.
    processors
        Size of the machine, if it is not the one that the file gives.

    Raises
    ------
    InputError
        If the file cannot be read; see `read_swf`, `read_batsim` and `read_table`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.json"
    >>> jobs = Workload.from_columns({"submit_time": [5], "run_time": [60], "requested_processors": [2]})
    >>> write_workload(jobs, path)
    >>> read_workload(path, processors=8)
    <Workload one: 1 jobs, 8 processors>
    """
    name = os.fspath(path)
    if name.endswith(TABLE_SUFFIXES):
        return read_table(path, processors)
    workload = read_batsim(path) if name.endswith(BATSIM_SUFFIXES) else read_swf(path)
    return workload if processors is None else workload.replace(processors=processors)


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


def write_workload(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write a workload to a file, in the format that its suffix names (see `read_workload`); SWF without one.

    Raises
    ------
    InputError
        If the suffix is unknown, or if the format cannot hold the workload.
    OutputError
        If the file cannot be written; nothing half-written is left.
    """
    name = os.fspath(path)
    if name.endswith(TABLE_SUFFIXES):
        write_table(workload, path)
    elif name.endswith(BATSIM_SUFFIXES):
        write_batsim(workload, path)
    elif name.endswith(SWF_SUFFIXES) or not Path(name).suffix:
        write_swf(workload, path)
    else:
        known = ", ".join(SWF_SUFFIXES + BATSIM_SUFFIXES + TABLE_SUFFIXES)
        raise InputError(f"{name}: the name says no known format; end it with one of {known}")
