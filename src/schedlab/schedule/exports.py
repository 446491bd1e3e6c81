"""Schedules as files: Parquet (the canonical form, read back by `read_schedule`), evalys' CSV, and SWF."""

from __future__ import annotations

import io
import json
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.atomic import atomic_path
from schedlab.errors import InputError
from schedlab.schedule.allocation import allocate
from schedlab.schedule.provenance import provenance
from schedlab.schedule.schedule import COLUMNS, Schedule
from schedlab.workload.links import link_columns, link_facts, read_links
from schedlab.workload.tables import UNITS
from schedlab.workload.workload import FIELDS, UNKNOWN, Workload

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".parquet", ".csv", ".swf", ".swf.gz")
SCHEMA_VERSION = 1
"""Of the Parquet form; it grows when a column changes its meaning, not when one is added."""

_UNITS = {
    **UNITS,
    **dict.fromkeys(("start_time", "end_time", "recorded_wait_time", "predicted_run_time", "eligible_time"), "s"),
    "bounded_slowdown": "1",
}

_WORKLOAD_ATTRIBUTES = ("name", "processors", "start_time", "header", "requests_enforced", "rounded")


def save_schedule(schedule: Schedule, path: str | PathLike[str]) -> None:
    """Write a schedule in the format that the suffix names: `.parquet`, `.csv`, `.swf` or `.swf.gz`.

    Raises
    ------
    InputError
        If the suffix is none of these.
    OutputError
        If the file cannot be written; nothing half-written is left.
    """
    check_schedule_suffix(path)
    name = Path(path).name
    if name.endswith(".parquet"):
        content = parquet_of(schedule)
        with atomic_path(path) as temporary:
            temporary.write_bytes(content)
    elif name.endswith(".csv"):
        write_evalys_csv(schedule, path)
    else:
        write_schedule_swf(schedule, path)


def check_schedule_suffix(path: str | PathLike[str]) -> None:
    """Raise InputError if the suffix is none of a schedule's."""
    if not Path(path).name.endswith(SUFFIXES):
        raise InputError(f"{path}: unknown suffix; a schedule is saved as .parquet, .csv, .swf or .swf.gz")


def parquet_of(schedule: Schedule) -> bytes:
    """Return the canonical form: the columns of `Schedule.columns`, with units, attributes and provenance.

    Notes
    -----
    The file's metadata holds, under the key `schedlab`, a JSON object with `schema_version`, `provenance` (see
    `schedlab.schedule.provenance.provenance`) and `workload` (its attributes); each column's metadata holds its
    `unit`, where it has one. A field that is unknown for every job has no column. Dependencies, workflows and laws of
    the workload are kept as in `schedlab.workload.tables.write_table`.
    """
    import pyarrow as pa
    import pyarrow.parquet

    attributes = {name: getattr(schedule.workload, name) for name in _WORKLOAD_ATTRIBUTES}
    links = link_facts(schedule.workload)
    facts = {"schema_version": SCHEMA_VERSION, "provenance": provenance(schedule), "workload": attributes} | links
    columns = {name: pa.array(values) for name, values in schedule.columns().items()} | link_columns(schedule.workload)
    fields = [
        pa.field(name, values.type, metadata=_UNITS.get(name) and {"unit": _UNITS[name]})
        for name, values in columns.items()
    ]
    schema = pa.schema(fields, metadata={"schedlab": json.dumps(facts, default=_as_json)})
    stream = io.BytesIO()
    pyarrow.parquet.write_table(pa.table(list(columns.values()), schema=schema), stream, compression="zstd")
    return stream.getvalue()


def _as_json(value: Any) -> Any:
    """Return what JSON can hold: numbers for NumPy's scalars and arrays, text for anything else."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


def read_schedule(path: str | PathLike[str]) -> Schedule:
    """Read a schedule that was saved as `.parquet`.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        If there is no such file, or if it is not a schedule that this version can read.
    """
    import pyarrow as pa
    import pyarrow.parquet

    try:
        table = pyarrow.parquet.read_table(path)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, pa.ArrowException):
        raise InputError(f"{path}: this is not, or no longer, a Parquet file; write it again") from None
    facts = _checked_facts(table, path)
    try:
        return _schedule(table, facts)
    except (LookupError, TypeError, ValueError):
        raise InputError(f"{path}: the schedule or its metadata are damaged; write it again") from None


def _checked_facts(table: pa.Table, path: str | PathLike[str]) -> dict[str, Any]:
    """Return the metadata of a schedule's table, or raise InputError if it is not one that can be read."""
    try:
        facts = json.loads((table.schema.metadata or {}).get(b"schedlab", b"{}"))
    except ValueError:
        raise InputError(f"{path}: the metadata of the schedule are damaged; write it again") from None
    if not isinstance(facts, dict) or "provenance" not in facts:
        raise InputError(f"{path}: this Parquet file is not a schedule; make one with schedlab simulate -o")
    found = facts.get("schema_version")
    if found != SCHEMA_VERSION:
        raise InputError(
            f"{path}: version {found} of the schema, but schedlab {version('schedlab')} reads version "
            f"{SCHEMA_VERSION}; use the schedlab that wrote it"
        )
    missing = {"job_id", *COLUMNS} - set(table.column_names)
    if missing:
        raise InputError(f"{path}: the schedule has no column {min(missing)}; save it again")
    return facts


def _schedule(table: pa.Table, facts: dict[str, Any]) -> Schedule:
    """Return the schedule that a table and its metadata hold."""
    table, links = read_links(table, facts)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    own = {name: columns[name] for name in COLUMNS}
    # The column wait_time is the one of the schedule; the workload's own has another name.
    recorded = {name: columns[name] for name in FIELDS if name in columns and name != "wait_time"}
    if "recorded_wait_time" in columns:
        recorded["wait_time"] = columns["recorded_wait_time"]
    attributes = dict(facts["workload"])
    attributes["header"] = tuple(attributes["header"])
    told = facts["provenance"]
    return Schedule(
        Workload.from_columns(recorded, **attributes, **links),
        **own,
        scheduler=told["scheduler"],
        processors=told["processors"],
        events=told["events"],
        specification=told["specification"],
        eligible_time=columns.get("eligible_time"),
    )


def write_evalys_csv(schedule: Schedule, path: str | PathLike[str]) -> None:
    """Write the columns that evalys' `JobSet` reads, under the names that it and Batsim give them.

    Parameters
    ----------
    schedule
        What to write.
    path
        The file.

    Raises
    ------
    InputError
        If the jobs use more processors at once than the machine has: they cannot be placed.

    Notes
    -----
    Times are seconds on the workload's clock. `requested_time` is -1 where unknown; `success` is 0 and `final_state`
    COMPLETED_WALLTIME_REACHED for a job that was killed at its request; `stretch` is turnaround over execution time,
    empty for a job of 0 seconds; `allocated_resources` are those of `schedlab.schedule.allocation.allocate`, as in
    ``0-3 7 9-12``.
    """
    import pyarrow as pa
    import pyarrow.csv

    jobs, run = schedule.workload, schedule.run_time
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = schedule.turnaround_time / run
    states = pa.array(["COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED"])
    columns = {
        "jobID": jobs.job_id,
        "workload_name": pa.array([jobs.name]).take(pa.array(np.zeros(len(jobs), dtype=np.int64))),
        "submission_time": jobs.submit_time,
        "requested_number_of_resources": jobs.job_processors,
        "requested_time": jobs.requested_time,
        "success": (~schedule.killed).astype(np.int64),
        "final_state": states.take(pa.array(schedule.killed.astype(np.int64))),
        "starting_time": schedule.start_time,
        "execution_time": run,
        "finish_time": schedule.end_time,
        "waiting_time": schedule.wait_time,
        "turnaround_time": schedule.turnaround_time,
        "stretch": pa.array(stretch, mask=run == 0),
        "allocated_resources": allocate(schedule).texts(),
    }
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        # The header is written here because pyarrow would put its names in quotes.
        file.write(",".join(columns).encode() + b"\n")
        pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(include_header=False))


def write_schedule_swf(schedule: Schedule, path: str | PathLike[str]) -> None:
    """Write the schedule as a trace in SWF, as if it had been recorded.

    Parameters
    ----------
    schedule
        What to write.
    path
        The file, `.swf` or `.swf.gz`.

    Notes
    -----
    The wait is the simulated one, the run time what really ran, the allocated processors those that the job needed,
    and MaxProcs the machine of the simulation. A killed job has status 0 (failed), as in the logs of the Parallel
    Workloads Archive; any other job keeps its status, and is 1 (completed) if that was unknown. A note in the header
    names the scheduler. Dependencies and workflows are left out: the waits already hold what came of them.
    """
    from schedlab.workload.swf import write_swf

    jobs = schedule.workload
    status = np.where(schedule.killed, 0, np.where(jobs.status == UNKNOWN, 1, jobs.status))
    note = f" Note: waits simulated by schedlab {version('schedlab')}, scheduler {schedule.scheduler}"
    simulated = jobs.replace(
        wait_time=schedule.wait_time,
        run_time=schedule.run_time,
        allocated_processors=jobs.job_processors,
        status=status,
        processors=schedule.processors,
        header=(*jobs.header, note),
        dependencies=None,
        workflows=None,
    )
    write_swf(simulated, path)
