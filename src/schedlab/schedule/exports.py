"""Schedules as files: Parquet (the canonical form, read back by `read_schedule`), evalys' CSV, and SWF."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from schedlab.arguments import explained
from schedlab.atomic import atomic_path
from schedlab.documents import checked
from schedlab.errors import InputError
from schedlab.parquet import read_parquet
from schedlab.schedule.allocation import allocate, lowest_free
from schedlab.schedule.placement import StoredNodes, placement_columns, placement_facts, read_placement
from schedlab.schedule.provenance import provenance
from schedlab.schedule.runs import (
    pause_columns,
    read_pauses,
    read_runs,
    read_sizes,
    run_columns,
    size_columns,
)
from schedlab.schedule.schedule import COLUMNS, WAITED_FOR, Schedule
from schedlab.schedule.stretches import by_stretch
from schedlab.scheduler.slurm_rules import naming_version
from schedlab.scheduler.slurm_versions import OF_0_1
from schedlab.wording import shown
from schedlab.workload.cancelling import CANCELLED
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.links import link_columns, link_facts, read_links
from schedlab.workload.origin import ORIGIN
from schedlab.workload.tables import UNITS, StoredAttributes
from schedlab.workload.workload import FIELDS, Workload

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".parquet", ".csv", ".swf", ".swf.gz")
SCHEMA_VERSION = 1
"""Of the Parquet form; it grows when a column changes its meaning, not when one is added."""

_UNITS = {
    **UNITS,
    **dict.fromkeys(("start_time", "end_time", "recorded_wait_time", "predicted_run_time", "eligible_time"), "s"),
    "boot_wait": "s",
    "bounded_slowdown": "1",
}

LATEST = 2**53

_WORKLOAD_ATTRIBUTES = ("name", "processors", "start_time", "header", "requests_enforced", "rounded")


OPTIONAL = ("eligible_time", "alternative")
"""Columns of decisions that not every schedule has."""


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
    `unit`, where it has one. A field that is unknown for every job has no column. Dependencies, workflows and
    distributions of the workload are kept as in `schedlab.workload.tables.write_table`; the nodes of each job as lists,
    and what the nodes are under `nodes`. Where jobs ran several times, columns `runs:...` list each run,
    where runs may be suspended, columns `pauses:...` each suspension, and of malleable jobs `sizes:...` each size.
    """
    import pyarrow as pa
    import pyarrow.parquet

    attributes = {name: getattr(schedule.workload, name) for name in _WORKLOAD_ATTRIBUTES}
    links = link_facts(schedule.workload)
    facts = {"schema_version": SCHEMA_VERSION, "provenance": provenance(schedule), "workload": attributes} | links
    facts |= placement_facts(schedule.placement)
    columns = {name: pa.array(values) for name, values in schedule.columns().items()} | link_columns(schedule.workload)
    placed = placement_columns(schedule.placement)
    columns |= placed if schedule.runs is None else run_columns(schedule.runs, len(schedule), placed)
    columns |= pause_columns(schedule.pauses, len(schedule)) | size_columns(schedule.sizes, len(schedule))
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


@explained
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

    table, facts = read_parquet(path, "schedule")
    told = _checked_facts(table, facts, path)
    try:
        return _schedule(table, facts, told)
    except InputError as error:
        raise InputError(f"{path}: {error}; write it again") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, pa.ArrowException) as error:
        raise InputError(f"{path}: the schedule or its metadata is damaged ({error}); write it again") from None


class StoredProvenance(BaseModel):
    """What the metadata of a schedule say of its simulation."""

    model_config = ConfigDict(extra="ignore", strict=True)

    scheduler: str
    processors: Annotated[int, Field(ge=1, lt=2**63)]
    events: Literal["batched", "pyss", "sc17"]
    specification: dict[str, Any]
    origin: dict[str, Any] | None = None


class StoredFacts(BaseModel):
    """What the metadata of a schedule say."""

    model_config = ConfigDict(extra="ignore", strict=True)

    schema_version: int
    provenance: StoredProvenance
    workload: StoredAttributes
    nodes: StoredNodes | None = None


FACTS = TypeAdapter(StoredFacts)


def _checked_facts(table: pa.Table, facts: dict[str, Any], path: str | PathLike[str]) -> StoredFacts:
    """Return the metadata of a schedule's table, or raise InputError if it is not one that can be read."""
    if "provenance" not in facts:
        raise InputError(
            f"{path}: this Parquet file is not a schedule: write one with Schedule.save or schedlab simulate"
        )
    found = facts.get("schema_version")
    if found != SCHEMA_VERSION:
        raise InputError(
            f"{path}: version {shown(found)} of the schema, but schedlab {version('schedlab')} reads version "
            f"{SCHEMA_VERSION}: use the version of schedlab that wrote it"
        )
    missing = {"job_id", *COLUMNS} - set(table.column_names)
    if missing:
        raise InputError(f"{path}: the schedule has no column {min(missing)}; save it again")
    return checked(FACTS, facts, f"{path}: the metadata of the schedule are damaged", "write it again")


def _schedule(table: pa.Table, facts: dict[str, Any], told: StoredFacts) -> Schedule:
    """Return the schedule that a table and its metadata hold."""
    table, links = read_links(table, facts)
    columns = {name: table[name] for name in table.column_names}
    own = {
        name: _own_column(name, columns[name])
        for name in (*COLUMNS, "eligible_time", "alternative", "cancelled", "boot_wait")
        if name in columns
    }
    # The column wait_time is the one of the schedule; the workload's own has another name.
    recorded = {name: columns[name].to_numpy() for name in FIELDS if name in columns and name != "wait_time"}
    if "recorded_wait_time" in columns:
        recorded["wait_time"] = columns["recorded_wait_time"].to_numpy()
    attributes = told.workload.model_dump(include=set(_WORKLOAD_ATTRIBUTES))
    attributes["header"] = tuple(attributes["header"])
    origin = ORIGIN.validate_python(told.provenance.origin)
    workload = Workload.from_columns(recorded, **attributes, origin=origin, **links)
    _refuse_impossible(workload, own)
    runs, placed = read_runs(table)
    return Schedule(
        workload,
        **own,
        scheduler=naming_version(told.provenance.scheduler, OF_0_1),
        processors=told.provenance.processors,
        events=told.provenance.events,
        specification=told.provenance.specification,
        runs=runs,
        placement=read_placement(placed, told.nodes),
        waited_for={
            name.removeprefix(WAITED_FOR): _own_column(name, column)
            for name, column in columns.items()
            if name.startswith(WAITED_FOR)
        }
        or None,
        pauses=read_pauses(table),
        sizes=read_sizes(table),
    )


def _own_column(name: str, column: pa.ChunkedArray) -> NDArray[Any]:
    """Return a column of the schedule, once known to be of its kind, without empty cells and far from overflow."""
    import pyarrow as pa

    kind = column.type
    flag = name in ("backfilled", "killed", "cancelled")
    time = name in ("start_time", "end_time")
    right = pa.types.is_boolean(kind) if flag else pa.types.is_integer(kind) or (time and pa.types.is_floating(kind))
    if not right or column.null_count:
        raise ValueError(f"the column {name} has the type {kind}, or empty cells")
    values = column.to_numpy()
    if not flag and not (np.abs(values.astype(np.float64)) < LATEST).all():
        raise ValueError(f"the column {name} holds numbers beyond 53 bits")
    return np.asarray(values if flag or values.dtype.kind == "f" else values.astype(np.int64))


def _refuse_impossible(workload: Workload, own: Mapping[str, NDArray[Any]]) -> None:
    """Raise ValueError if a job ends before it starts, starts before it is submitted, or has no processors."""
    row_of = {
        "ends before it starts": own["end_time"] < own["start_time"],
        "starts before it is submitted": own["start_time"] < workload.submit_time,
        "has no processors": workload.job_processors < 1,
        "is submitted beyond what 53 bits can tell": np.abs(workload.submit_time) >= LATEST,
    }
    for what, bad in row_of.items():
        if bad.any():
            raise ValueError(f"the job in row {int(np.argmax(bad))} {what}")


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
    COMPLETED_WALLTIME_REACHED for a job that was killed at its request, and 0 and REJECTED for one that was cancelled
    while it waited; `stretch` is turnaround over execution time,
    empty for a job of 0 seconds; `allocated_resources` are those of `schedlab.schedule.allocation.allocate`, as in
    ``0-3 7 9-12``. Where runs may be suspended, these are the cores of nodes, on the job's last nodes. `metadata`, a
    column of Batsim's files, has the `schedlab.schedule.provenance.provenance` as JSON in the first row, without the
    time of writing: the same schedule gives the same bytes.
    """
    import pyarrow as pa
    import pyarrow.csv

    jobs, run = schedule.workload, schedule.run_time
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = schedule.turnaround_time / run
    states = pa.array(["COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "REJECTED"])
    state = schedule.killed.astype(np.int64)
    if schedule.cancelled is not None:
        state = np.where(schedule.cancelled, 2, state)
    columns = {
        "jobID": jobs.job_id,
        "workload_name": pa.array([jobs.name]).take(pa.array(np.zeros(len(jobs), dtype=np.int64))),
        "submission_time": jobs.submit_time,
        "requested_number_of_resources": jobs.job_processors,
        "requested_time": jobs.requested_time,
        "success": (state == 0).astype(np.int64),
        "final_state": states.take(pa.array(state)),
        "starting_time": schedule.start_time,
        "execution_time": run,
        "finish_time": schedule.end_time,
        "waiting_time": schedule.wait_time,
        "turnaround_time": schedule.turnaround_time,
        "stretch": pa.array(stretch, mask=run == 0),
        "allocated_resources": _resources(schedule),
        "metadata": [_metadata(schedule), *[""] * (len(jobs) - 1)][: len(jobs)],
    }
    table = pa.table({name: pa.array(values) for name, values in columns.items()})
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        # The header is written here because pyarrow would put its names in quotes.
        file.write(",".join(columns).encode() + b"\n")
        pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(include_header=False))


def _metadata(schedule: Schedule) -> str:
    facts = {name: value for name, value in provenance(schedule).items() if name != "utc_time"}
    return json.dumps(facts, default=_as_json)


def _resources(schedule: Schedule) -> list[str]:
    """Return the processors of each job; those of a suspended or resized one are those of its last stretch."""
    stretched = by_stretch(schedule)
    if (sizes := schedule.sizes) is not None:
        machine = lowest_free(sizes["start"], sizes["end"], sizes["processors"], schedule.processors)
        of_jobs = dict(zip(sizes["job"].tolist(), machine.texts(), strict=True))
        return [of_jobs.get(job, "") for job in range(len(schedule))]
    if stretched is schedule or stretched.placement is None or stretched.runs is None:
        return allocate(schedule).texts()
    runs = stretched.runs
    texts = stretched.placement.rows(runs["start"], runs["end"], "cores").texts()
    last = dict(zip(runs["job"].tolist(), texts, strict=True))
    return [last[job] for job in range(len(schedule))]


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
    Workloads Archive, one that was cancelled while it waited status 5 and a run time of 0; any other job keeps its
    status, and is 1 (completed) if that was unknown, or if it was cancelled in the log and has run here. Notes in the
    header name the scheduler, the file from which the jobs were read with its SHA-256, and the rules that cleaned them.
    Dependencies and workflows are left out: the waits already hold what came of them.
    """
    from schedlab.workload.swf import write_swf

    jobs = schedule.workload
    status = np.where(schedule.killed, 0, np.where(jobs.status == UNKNOWN, 1, jobs.status))
    if schedule.cancelled is not None:
        ran = ~schedule.cancelled & (status == CANCELLED) & (jobs["patience"] > 0)
        status = np.where(schedule.cancelled, CANCELLED, np.where(ran, 1, status))
    notes = [f"waits simulated by schedlab {version('schedlab')}, scheduler {schedule.scheduler}"]
    notes += [] if jobs.origin is None else jobs.origin.lines()
    simulated = jobs.replace(
        wait_time=schedule.wait_time,
        run_time=schedule.run_time,
        allocated_processors=jobs.job_processors,
        status=status,
        processors=schedule.processors,
        header=(*jobs.header, *(f" Note: {note}" for note in notes)),
        dependencies=None,
        workflows=None,
    )
    write_swf(simulated, path)
