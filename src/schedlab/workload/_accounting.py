"""The common part of the readers of accounting logs: parsing text in columns, and building a workload from records."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.streams import read_whole, workload_name
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.links import FIELDS_OF_NAMES
from schedlab.workload.resources import Resources
from schedlab.workload.workload import FIELDS, Workload

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Kind = TypeVar("Kind", bound=np.generic)

DURATION = r"^(?:(?P<days>\d+)-)?(?:(?P<hours>\d+):)?(?P<minutes>\d+):(?P<seconds>\d+(?:\.\d+)?)$"
DURATION_PARTS = {"days": 86400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}
MEMORY = r"(?i)^(?P<number>\d+(?:\.\d+)?)(?P<unit>[kmgtp]?b?)(?P<per>[nc]?)$"
KILOBYTES = {"b": 1 / 1024, "k": 1.0, "m": 1024.0, "g": 1024.0**2, "t": 1024.0**3, "p": 1024.0**4}
MOST_KILOBYTES = 2.0**53
"""No memory of any machine: what is beyond was never a request, and would not be a whole number of 64 bits."""

NAMED_FIELDS = {"User": "user_id", "Group": "group_id", "Queue": "queue_id", "Partition": "partition_id"}
"""Fields whose numbers represent names, with their labels in the header."""


def read_text(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file without a byte order mark.

    Raises
    ------
    InputError
        If it cannot be read, or is empty.
    """
    text = read_whole(path).removeprefix(b"\xef\xbb\xbf")
    if not text or text.isspace():
        raise InputError(f"{os.fspath(path)}: the file is empty")
    return text


def split_text(
    text: bytes, *, delimiter: str, columns: int, include: Sequence[int], nulls: Sequence[str], quoted: bool = False
) -> pa.Table:
    """Split lines into columns of text, named by their position; unless `quoted`, quotes are ordinary characters.

    Raises
    ------
    pyarrow.ArrowInvalid
        If a line has a different number of columns.
    """
    import pyarrow as pa
    from pyarrow import csv

    names = [str(column) for column in range(columns)]
    wanted = [str(column) for column in include]
    try:
        text.decode()
        encoding = "utf8"
    except UnicodeDecodeError:
        encoding = "latin-1"
    return csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(column_names=names, encoding=encoding),
        parse_options=csv.ParseOptions(
            delimiter=delimiter, quote_char='"' if quoted else False, newlines_in_values=quoted
        ),
        convert_options=csv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(wanted, pa.string()),
            null_values=list(nulls),
            strings_can_be_null=True,
        ),
    )


def split_lines(text: bytes) -> pa.ChunkedArray:
    """Split a text into lines, including empty ones, so that positions are line numbers."""
    import pyarrow as pa

    try:
        lines = text.decode()
    except UnicodeDecodeError:
        lines = text.decode("latin-1")
    return pa.chunked_array([pa.array(lines.split("\n"), pa.string())])


def whole_numbers(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Return a column of digits as numbers, -1 where it is null; raise ArrowInvalid for anything else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers: NDArray[np.int64] = pc.fill_null(column.cast(pa.int64()), UNKNOWN).to_numpy()
    return numbers


def durations(column: pa.ChunkedArray) -> NDArray[np.float64]:
    """Return texts like 1-02:03:04, 02:03:04 or 03:04.5 as seconds; NaN for null and anything else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def seconds(texts: pa.Array) -> NDArray[np.float64]:
        parts = pc.extract_regex(texts, DURATION)
        total = np.zeros(len(texts))
        for part, worth in DURATION_PARTS.items():
            digits = pc.struct_field(parts, part)
            number = pc.if_else(pc.equal(digits, ""), "0", digits).cast(pa.float64())
            total += worth * number.to_numpy(zero_copy_only=False)
        return total

    return by_distinct(column, seconds)


def kilobytes(column: pa.ChunkedArray) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Return amounts of memory like 4G, 512kb or 2000Mc in kilobytes, and the scope of each: "", "n" or "c".

    Numbers without a unit are megabytes, as in Slurm. Null and invalid texts become NaN, and what no machine has.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    def amounts(texts: pa.Array) -> NDArray[np.float64]:
        parts = pc.extract_regex(texts, MEMORY)
        units = pc.utf8_lower(pc.struct_field(parts, "unit")).to_pylist()
        numbers = pc.struct_field(parts, "number").cast(pa.float64()).to_numpy(zero_copy_only=False)
        amount = np.asarray(numbers * np.array([KILOBYTES[(unit or "m")[0]] for unit in units], dtype=np.float64))
        return np.where(amount < MOST_KILOBYTES, amount, np.nan)

    def per(texts: pa.Array) -> NDArray[np.str_]:
        found = pc.struct_field(pc.extract_regex(texts, MEMORY), "per")
        return np.array([str(one or "").lower() for one in found.to_pylist()], dtype="U1")

    return by_distinct(column, amounts), by_distinct(column, per)


def by_distinct(column: pa.ChunkedArray, function: Callable[[pa.Array], NDArray[Kind]]) -> NDArray[Kind]:
    """Apply a function of an array of texts to a column, once per distinct text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = column.combine_chunks().dictionary_encode()
    texts = pa.concat_arrays([encoded.dictionary, pa.array([None], pa.string())])
    values: NDArray[Kind] = function(texts)[pc.fill_null(encoded.indices, len(texts) - 1).to_numpy()]
    return values


def per_processor(amount: NDArray[np.float64], processors: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the amount per processor, -1 where the amount or the number of processors is unknown."""
    known = np.isfinite(amount) & (processors > 0)
    return np.where(known, np.nan_to_num(amount) / np.maximum(processors, 1), UNKNOWN)


def workload_of_records(
    records: pd.DataFrame, path: str | os.PathLike[str], notes: Sequence[str], cores_per_node: int | None = None
) -> Workload:
    """Build a workload from the records of an accounting log.

    Parameters
    ----------
    records
        One row per job: SWF fields by name, except the submit and wait times; `submit` and `start` as Unix times (-1
        unknown, but every job has a submit time); names of users, groups, queues and partitions in the columns of their
        numbers, any hashable value in `executable_id`; null is unknown. Columns of `Resources` by name.
    path
        The file, for the name of the workload.
    notes
        Notes of the reader about the file, which are kept in the header.
    cores_per_node
        As in `Workload`.

    Returns
    -------
    Workload
        In order of submission; second 0 is the first one. Names are numbered from 1 by first appearance, and the header
        lists them.
    """
    records = records.sort_values("submit", kind="stable", ignore_index=True)
    submit, start = (records[name].to_numpy(dtype=np.int64) for name in ("submit", "start"))
    columns = {field: records[field].to_numpy() for field in FIELDS if field in records and field not in _LABELLED}
    for field in {"used_memory", "requested_memory"} & set(columns):
        columns[field] = np.rint(columns[field])  # fractions: no digits of the file are lost
    columns["submit_time"] = submit - submit[0]
    columns["wait_time"] = np.where(start >= submit, start - submit, UNKNOWN)
    told = list(notes)
    if early := int(np.count_nonzero((start >= 0) & (start < submit))):
        told.append(f"start before submission, wait unknown: {early:,}")
    told += _occupy_what_was_given(columns)
    header = [" Version: 2.2", f" MaxJobs: {len(records)}"]
    for field in _LABELLED:
        if field in records:
            columns[field], names = _numbered(records[field])
            header += _header_of_names(field, names)
    return Workload.from_columns(
        columns,
        name=workload_name(path).removesuffix(".txt"),
        start_time=int(submit[0]),
        header=(*header, *(f" Note: {note}" for note in told)),
        cores_per_node=cores_per_node,
        resources=Resources.from_frame(records),
    )


def since_eligible(records: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the records with `submit` at the time at which a job became eligible, and notes.

    Slurm's Eligible is when the jobs that it depends on had ended (so that it is unknown until then), the moment of
    `--begin`, or else the submission. Before it, a job waits for nothing that a scheduler decides.

    Parameters
    ----------
    records
        One row per job, with `submit`, `start` and, if it is known, `eligible`, as Unix times (-1 unknown); components
        of a heterogeneous job, named by `het_job`, become eligible together.
    """
    if "eligible" not in records:
        return records, []
    eligible, submit, start = (records[name] for name in ("eligible", "submit", "start"))
    if "het_job" in records:
        eligible = eligible.groupby(records["het_job"]).transform("max").where(records["het_job"].notna(), eligible)
    later = eligible > submit
    wrong = later & (start >= 0) & (eligible > start)
    used = later & ~wrong
    notes = [f"eligible after their submission, counted as submitted then: {int(used.sum()):,}"] if used.any() else []
    if wrong.any():
        notes.append(f"eligible after their start, counted as submitted at their submission: {int(wrong.sum()):,}")
    return records.assign(submit=submit.where(~used, eligible)), notes


def numbered_names(resources: Resources) -> tuple[dict[str, NDArray[np.int64]], list[str]]:
    """Return the fields of SWF for partition, account and QOS, and header lines with the names.

    Examples
    --------
    >>> columns, header = numbered_names(Resources.of(2, partition=["gpu", None]))
    >>> columns["partition_id"].tolist(), header
    ([1, -1], [' MaxPartitions: 1', ' Partition: 1 gpu'])
    """
    columns: dict[str, NDArray[np.int64]] = {}
    header: list[str] = []
    for name, field in FIELDS_OF_NAMES.items():
        labels = getattr(resources, name)
        if labels.names:
            columns[field] = np.where(labels.codes >= 0, labels.codes + 1, UNKNOWN)
            header += _header_of_names(field, labels.names)
    return columns, header


_LABELLED = (*NAMED_FIELDS.values(), "executable_id")


def _occupy_what_was_given(columns: dict[str, Any]) -> list[str]:
    """Set requested processors to the allocated ones where known, since jobs may occupy whole nodes, for example."""
    given, asked = columns["allocated_processors"], columns["requested_processors"]
    other = (given > 0) & (asked > 0) & (given != asked)
    columns["requested_processors"] = np.where(given > 0, given, asked)
    count = int(np.count_nonzero(other))
    return [f"given other processors than asked for, counted as given: {count:,}"] if count else []


def _numbered(names: pd.Series[Any]) -> tuple[NDArray[np.int64], list[Any]]:
    """Number names from 1 by first appearance, -1 for null."""
    import pandas as pd

    codes, distinct = pd.factorize(names)
    return np.where(codes >= 0, codes + 1, UNKNOWN).astype(np.int64), list(distinct)


def _header_of_names(field: str, names: Sequence[Any]) -> list[str]:
    """Return header lines that list numbers with their names."""
    for label, named in NAMED_FIELDS.items():
        if field == named and names:
            return [f" Max{label}s: {len(names)}", *(f" {label}: {i} {name}" for i, name in enumerate(names, start=1))]
    return []
