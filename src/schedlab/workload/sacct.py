"""Read the output of Slurm's `sacct`: `--parsable2`, whose header identifies the columns, or `--json`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.workload._accounting import (
    by_distinct,
    per_processor,
    since_eligible,
    whole_numbers,
    workload_of_records,
)
from schedlab.workload._het_records import HetJobs, with_het_jobs
from schedlab.workload._sacct_columns import SacctColumns
from schedlab.workload._sacct_resources import memory_of_request, requested
from schedlab.workload.cancelling import CANCELLED
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.origin import names_its_file
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

FAILED = 0
GOING_ON = ("PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING")
RESIZED = "RESIZING"
"""The state in which the record of a job stays that has become larger or smaller; a new record has the rest of it."""

STATUS = {"COMPLETED": 1, RESIZED: 1, "CANCELLED": CANCELLED, **dict.fromkeys(GOING_ON, UNKNOWN)}
"""SWF's status by Slurm's state; all other states are failures."""


@names_its_file("sacct")
@explained
def read_sacct(
    path: str | os.PathLike[str],
    *,
    timezone: str = "UTC",
    columns: Sequence[str] | None = None,
    het_jobs: HetJobs = "joined",
) -> Workload:
    """Read what `sacct --parsable2` or `sacct --json` prints, plain or gzip-compressed.

    The header identifies the columns; columns that are not needed are ignored and named in a note. JSON of Slurm 21.08
    and later is read as the same columns. A job that became eligible after its submission (dependencies, `--begin`)
    counts as submitted when it became eligible, if the column Eligible is there. Nodes, memory,
    GPUs, partitions, accounts, QOS and constraints become `Workload.resources`, and how long a job waited that was
    cancelled before it started, its `patience`. Records of steps are dropped, the
    components of a heterogeneous job are joined to one job unless `het_jobs` says otherwise, and each run of a requeued
    job is a job of its own, and so is each part of a resized one. Jobs that never started, and jobs that had not ended,
    have no run time (-1).
    `Workload.header` notes what was left out or is unknown.

    Parameters
    ----------
    path
        The file; several outputs of text may be concatenated.
    timezone
        Zone of times without one, such as "Europe/Stockholm". For an hour that a clock shows twice, the first is
        assumed.
    columns
        Names of the columns, separated by "|", of a file without a header (sacct --noheader). Without them, a file
        without a header must have the 26 columns that Open XDMoD requests.
    het_jobs
        "components": those of heterogeneous jobs are rows of their own, with the name of their job in
        `resources.het_job`. "joined": they are joined to one job.

    Raises
    ------
    InputError
        If the file cannot be read, is empty or truncated, lacks a needed column, mixes clusters, or holds an invalid
        value. The message names the line, or the job.

    References
    ----------
    SchedMD, "sacct", manual page of Slurm.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "april.txt"
    >>> lines = ["JobIDRaw|User|State|Submit|Start|End|TimelimitRaw|AllocCPUS",
    ...          "7|ann|COMPLETED|2026-04-01T10:00:00|2026-04-01T10:05:00|2026-04-01T11:05:00|120|4",
    ...          "8|bob|CANCELLED by 1001|2026-04-01T10:01:00|None|2026-04-01T10:02:00|60|0"]
    >>> written = path.write_text("\\n".join(lines))
    >>> jobs = read_sacct(path)
    >>> jobs.wait_time.tolist(), jobs.run_time.tolist(), jobs.requested_time.tolist(), jobs.status.tolist()
    ([300, -1], [3600, -1], [7200, 3600], [1, 5])
    """
    cells = SacctColumns.read(path, columns)
    told = cells.drop_steps()
    cells.check_cluster()
    records, more = _records(cells, timezone)
    once = _last_of_each(records)
    if again := len(records) - len(once):
        told.append(f"in the file more than once, counted once: {again:,}")
    jobs, components = with_het_jobs(once, het_jobs)
    jobs, later = since_eligible(jobs)
    jobs = jobs.assign(patience=_patience(jobs))
    told += [*components, *more, *_notes(jobs), *later]
    if cells.local_times:
        told.append(f"times without a zone taken as {timezone}")
    return workload_of_records(jobs, path, told, _whole_nodes(jobs))


def _records(columns: SacctColumns, timezone: str) -> tuple[pd.DataFrame, list[str]]:
    """Return one record per row (SWF fields, Unix times, names, resources, and the values for finding components and
    duplicates) and notes about the columns."""
    import pandas as pd
    import pyarrow.compute as pc

    submit, start, end = (columns.times(name, timezone) for name in ("Submit", "Start", "End"))
    columns.refuse("Submit", submit < 0, "but every job was submitted")
    allocated = columns.processors("allocated")
    status, ended = _states(columns, end)
    known = {
        "job_id": numbers_of_jobs(columns),
        "submit": submit,
        "eligible": columns.times("Eligible", timezone) if "Eligible" in columns else UNKNOWN,
        "start": start,
        "end": end,
        "ended": ended,
        "run_time": np.where(ended & (start >= 0), _elapsed(columns, start, end), UNKNOWN),
        "requested_time": _limits(columns),
        "allocated_processors": allocated,
        "requested_processors": columns.processors("requested"),
        "status": status,
        "resized": pc.fill_null(pc.starts_with(columns.table["State"], RESIZED), False).to_numpy(),
    }
    processors = np.where(allocated > 0, allocated, known["requested_processors"])
    resources, told = requested(columns, processors)
    known |= resources | _per_processor(columns, allocated, processors, resources["nodes"])
    names = {"user_id": "User", "group_id": columns.first("Account", "Group"), "partition_id": "Partition"}
    names |= {"queue_id": "QOS", "executable_id": "JobName"}
    known |= {field: columns.table[name].to_pandas() for field, name in names.items() if name and name in columns}
    known["identifier"] = columns.table[columns.first("JobID", "JobIDRaw")].to_pandas()
    return pd.DataFrame(known), told


def _patience(jobs: pd.DataFrame) -> pd.Series[int]:
    """Return how long jobs waited that were cancelled before they started, and 0 for others.

    One that never became eligible, as it depended on others, waited for nothing that a scheduler decides.
    """
    cancelled = (jobs["status"] == CANCELLED) & (jobs["start"] < 0) & jobs["ended"]
    if (jobs["eligible"] >= 0).any():
        cancelled &= (jobs["eligible"] >= 0) & (jobs["eligible"] <= jobs["end"])
    waited = (jobs["end"] - jobs["submit"]).clip(lower=1).where(cancelled, 0)
    together = jobs["het_job"].notna() if "het_job" in jobs else None
    if together is None or not together.any():
        return waited
    return waited.groupby(jobs["het_job"]).transform("min").where(together, waited).astype(np.int64)


def _states(columns: SacctColumns, end: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the status of each job, -1 before its end, and whether it has ended; a state may be CANCELLED by 1001."""

    def status(texts: pa.Array) -> NDArray[np.int64]:
        words = [str(text).split(" ", 1)[0] for text in texts.to_pylist()]
        return np.array([STATUS.get(word, FAILED) for word in words])

    found = by_distinct(columns.table["State"], status)
    ended = (end >= 0) & (found != UNKNOWN)
    return np.where(ended, found, UNKNOWN), ended


def numbers_of_jobs(columns: SacctColumns) -> NDArray[np.int64]:
    """Return Slurm's numbers if they are whole, as in JobIDRaw, otherwise numbers from 1."""
    import pyarrow.compute as pc

    identifiers = columns.table[columns.first("JobIDRaw", "JobID")]
    if pc.all(pc.match_substring_regex(identifiers, r"^\d{1,18}$")).as_py():
        return whole_numbers(identifiers)
    return np.arange(1, len(identifiers) + 1)


def _elapsed(columns: SacctColumns, start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[Any]:
    """Return how long each job ran, without the time that it was suspended."""
    if "ElapsedRaw" in columns:
        return columns.numbers("ElapsedRaw")
    if "Elapsed" in columns:
        return np.nan_to_num(columns.seconds("Elapsed"), nan=UNKNOWN)
    columns.refuse("End", (start >= 0) & (end >= 0) & (end < start), "before the start; add the column ElapsedRaw")
    return end - start


def _limits(columns: SacctColumns) -> NDArray[Any]:
    """Return the requested times in seconds, -1 without a limit."""
    if "TimelimitRaw" in columns:
        minutes = columns.numbers("TimelimitRaw")
        return np.where(minutes > 0, 60 * minutes, UNKNOWN)
    if "Timelimit" in columns:
        seconds = np.nan_to_num(columns.seconds("Timelimit"), nan=0.0)
        return np.where(seconds > 0, seconds, UNKNOWN)
    return np.full(len(columns.table), UNKNOWN)


def _per_processor(
    columns: SacctColumns, allocated: NDArray[np.int64], processors: NDArray[np.int64], nodes: NDArray[np.int64]
) -> dict[str, NDArray[Any]]:
    """Return memory and processor time per processor, if the file has them."""
    found: dict[str, NDArray[Any]] = {}
    if "TotalCPU" in columns:
        found["average_cpu_time"] = per_processor(columns.seconds("TotalCPU"), allocated)
    if "ReqMem" in columns:
        found["requested_memory"] = per_processor(memory_of_request(columns, nodes, processors), processors)
    return found


def _last_of_each(records: pd.DataFrame) -> pd.DataFrame:
    """Keep one record of a run in several outputs; job number and submit time identify it, as in Slurm's database."""
    if not records.duplicated(["identifier", "submit"]).any():
        return records
    final = records.sort_values("ended", kind="stable").drop_duplicates(["identifier", "submit"], keep="last")
    return final.sort_index()


def _whole_nodes(jobs: pd.DataFrame) -> int | None:
    """Return the processors of a node if all jobs hold whole nodes of one size."""
    ran = jobs[(jobs["run_time"] >= 0) & (jobs["nodes"] > 0) & (jobs["allocated_processors"] > 0)]
    if ran.empty or ran["nodes"].max() < 2:
        return None
    size = int(ran["allocated_processors"].iloc[0] // ran["nodes"].iloc[0])
    return size if size > 1 and bool((ran["allocated_processors"] == size * ran["nodes"]).all()) else None


def _notes(jobs: pd.DataFrame) -> list[str]:
    """Return notes about jobs with unknown values, and about those that were resized."""
    ran = jobs["run_time"] >= 0
    counts = {
        "parts of jobs before they were resized, each a job of its own": int((ran & jobs["resized"]).sum()),
        "never started": int((~ran & (jobs["start"] < 0)).sum()),
        "not ended, run time unknown": int((~ran & (jobs["start"] >= 0)).sum()),
        "without a time limit": int((ran & (jobs["requested_time"] < 0)).sum()),
        "array tasks that never started, counted as one job": int(
            (~ran & (jobs["start"] < 0) & jobs["identifier"].str.contains("[", regex=False, na=False)).sum()
        ),
    }
    return [f"{what}: {count:,}" for what, count in counts.items() if count]
