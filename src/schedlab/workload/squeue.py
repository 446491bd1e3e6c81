"""Read the queue of a moment, as `squeue` or `scontrol show job` print it: text, or JSON."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.streams import read_whole
from schedlab.workload._accounting import since_eligible, workload_of_records
from schedlab.workload._het_records import HetJobs, with_het_jobs
from schedlab.workload._queue_json import rows_of_json
from schedlab.workload._queue_text import BEGIN_TIME, rows_of_squeue
from schedlab.workload._queue_waiting import one_row_per_task, waiting_of
from schedlab.workload._scontrol import is_scontrol, rows_of_scontrol
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.origin import names_its_file
from schedlab.workload.sbatch import notes_on_gres
from schedlab.workload.slurm_json import jobs_of
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

RUNNING = ("RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STOPPED", "R", "S", "CG", "CF")
NOT_KEPT = ("state", "reason", "dependency", "priority", "tells_why", "task_text", "task", "request", "on")
"""Columns of records that say what a job waits for, and its request as a whole."""
WAITING = ("PENDING", "PD", "REQUEUED", "REQUEUE_HOLD", "RQ", "RH", "SPECIAL_EXIT", "SE")


@names_its_file("squeue")
@explained
def read_squeue(path: str | os.PathLike[str], *, timezone: str = "UTC", het_jobs: HetJobs = "joined") -> Workload:
    """Read the jobs that a queue has at a moment, plain or gzip-compressed.

    All jobs are pending or running, so their run times are unknown (-1). To simulate from this moment, assume run
    times, as in `jobs.replace(run_time=jobs.requested_time)`. The tasks of an array that wait are a job each, with the
    array's limit on running tasks. Jobs that wait for others have `dependencies`, jobs that became or become eligible
    after their submission (`--begin`) count as submitted then. Jobs that no scheduler would start are left out: those
    that are held, and those that wait for what is held, has failed, or is not in the file. `Workload.header` counts
    all of them.

    Parameters
    ----------
    path
        The text of `squeue --format="%i|%u|...` with its header and "|" between the columns, that of `scontrol show
        job` (with `--oneliner`, too), or the output of `squeue --json` or `scontrol show job --json`. Jobs that have
        ended are ignored.
    timezone
        Zone of the times in text.
    het_jobs
        "components": those of heterogeneous jobs are rows of their own, with the name of their job in
        `resources.het_job`. "joined": they are joined to one job.

    Raises
    ------
    InputError
        If the file cannot be read, columns are truncated to a width, a needed one is missing, or a value is not valid.
        The message names the line, or the job.

    References
    ----------
    SchedMD, "squeue" and "scontrol", manual pages of Slurm.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "now.txt"
    >>> lines = ["JOBID|USER|PARTITION|STATE|SUBMIT_TIME|START_TIME|TIME_LIMIT|CPUS|NODES|MIN_MEMORY|REASON",
    ...          "7|ann|gpu|RUNNING|2026-04-01T10:00:00|2026-04-01T10:05:00|2:00:00|4|1|8G|None",
    ...          "8_[1-2%1]|bob|gpu|PENDING|2026-04-01T10:01:00|N/A|1-00:00:00|64|2|0|Resources"]
    >>> written = path.write_text("\\n".join(lines))
    >>> jobs = read_squeue(path)
    >>> jobs.wait_time.tolist(), jobs.requested_time.tolist(), jobs.resources.array_limit.tolist()
    ([300, -1, -1], [7200, 86400, 86400], [0, 1, 1])
    """
    return read_queue(path, timezone=timezone, het_jobs=het_jobs).jobs


class Queue(NamedTuple):
    """The jobs of a queue that run or can start, and what a workload does not tell of them.

    Parameters
    ----------
    jobs
        The jobs, as `read_squeue` returns them.
    records
        A row for each, with `start` (Unix time, -1 of those that wait), `state`, `reason`, `priority` (-1 if unknown)
        and `on`: where it runs, host lists with the cores that it holds on each node (0 if that is not told).
    left_out
        The records of those that wait for what no scheduler decides: held, or waiting for what will never be.
    """

    jobs: Workload
    records: pd.DataFrame
    left_out: pd.DataFrame


EMPTY = b"JOBID|USER|STATE|SUBMIT_TIME|START_TIME|TIME_LIMIT|CPUS|NODES\n1|-|PENDING|2000-01-01T00:00:00|N/A|1|1|1\n"
"""A queue of a job that there is not: what is left without it has the columns of any queue."""


def _nobody() -> Queue:
    """Return the queue of a cluster on which no job runs or waits."""
    table, _ = _table(queue_rows(EMPTY, "an empty queue"), "an empty queue", "components")
    found = _queue(table, "an empty queue", ["running: 0", "waiting: 0"], may_be_empty=True)
    return Queue(found.jobs[:0], found.records.iloc[:0], found.left_out.iloc[:0])


def read_queue(
    path: str | os.PathLike[str],
    *,
    timezone: str = "UTC",
    het_jobs: HetJobs = "components",
    may_be_empty: bool = False,
) -> Queue:
    """Read the jobs that a queue has at a moment, and where they run; parameters and errors as of `read_squeue`.

    One without jobs is refused, unless it may be empty.
    """
    name = os.fspath(path)
    rows = queue_rows(read_whole(path), name, timezone)
    living = [row for row in rows if row["state"] in (*RUNNING, *WAITING)]
    if not living and may_be_empty:
        return _nobody()
    if not living:
        raise InputError(f"{name}: no job is waiting or running")
    table, notes = _table(living, name, het_jobs)
    running = table["state"].isin(RUNNING)
    begin = int((~running & (table["reason"] == BEGIN_TIME)).sum())
    notes = [f"running: {int(running.sum()):,}", f"waiting: {int((~running).sum()):,}", "run times are unknown", *notes]
    if begin:
        notes.append(f"waiting for their begin time: {begin:,}")
    if ended := len(rows) - len(living):
        notes.append(f"ended, left out: {ended:,}")
    return _queue(table, path, notes, may_be_empty=may_be_empty)


def queue_rows(content: bytes, name: str, timezone: str = "UTC") -> list[dict[str, Any]]:
    """Return one record per job of a queue, in any of its forms: ended jobs, and records of several tasks, too.

    Parameters
    ----------
    content
        What squeue or scontrol printed.
    name
        The file, for messages.
    timezone
        Zone of the times in text.

    Raises
    ------
    InputError
        As `read_squeue`.
    """
    start = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] == b"{":
        return rows_of_json(jobs_of(start, name), name)
    if is_scontrol(start[:80].decode(errors="replace")):
        return rows_of_scontrol(content, name, timezone)
    return rows_of_squeue(content, name, timezone)


def _table(living: list[dict[str, Any]], name: str, het_jobs: HetJobs) -> tuple[pd.DataFrame, list[str]]:
    """Return one row per job, and notes: tasks of arrays apart, components of heterogeneous jobs as asked for."""
    import pandas as pd

    rows, notes = one_row_per_task(living, name)
    notes += notes_on_gres(row["request"] for row in rows)
    table = pd.DataFrame(rows)
    running = table["state"].isin(RUNNING)
    table["start"] = table["start"].where(running, UNKNOWN)
    table["run_time"] = table["end"] = table["status"] = UNKNOWN
    table["allocated_processors"] = table["requested_processors"].where(running, UNKNOWN)
    if het_jobs == "joined":
        table = _in_all(table)
    table, components = with_het_jobs(table, het_jobs)
    if len(silent := table[~running.reindex(table.index, fill_value=False) & ~table["tells_why"]]):
        notes.append(f"waiting without REASON and DEPENDENCY, so that they may be held or dependent: {len(silent):,}")
    return table.reset_index(drop=True), [*notes, *components]


def _in_all(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with what components of heterogeneous jobs ask for in all, as that is what can be added up."""
    component = table["identifier"].str.contains("+", regex=False)
    if not component.any():
        return table
    nodes = table["nodes"].clip(lower=1)
    gpus = np.maximum(
        table["gpus"], np.maximum(table["gpus_per_node"] * nodes, table["gpus_per_task"] * table["tasks"])
    )
    in_all = {"gpus": gpus, "tasks": table["requested_processors"].clip(lower=1), "gpus_per_node": 0}
    in_all |= {"gpus_per_task": 0, "cores_per_task": 1, "tasks_per_node": 0}
    return table.assign(**{name: table[name].where(~component, in_all[name]) for name in in_all if name in table})


def _queue(table: pd.DataFrame, path: str | os.PathLike[str], notes: list[str], *, may_be_empty: bool) -> Queue:
    """Return the jobs that can start, in order of submission, with what they wait for."""
    table, later = since_eligible(table)
    table = table.sort_values("submit", kind="stable", ignore_index=True)
    try:
        waiting = waiting_of(table, ~table["state"].isin(RUNNING).to_numpy())
        links = waiting.among(len(table))
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None
    notes += [*later, *waiting.notes]
    stay = np.flatnonzero(waiting.can_start)
    if not len(stay) and not may_be_empty:
        raise InputError(f"{os.fspath(path)}: none of its jobs can start ({'; '.join(waiting.notes)})")
    if (table["array_limit"] == 0).all():
        table = table.drop(columns=["array", "array_limit"])
    count = len(stay)  # without any, the columns come from those that cannot start
    kept = table.iloc[stay if count else slice(None)].reset_index(drop=True)
    jobs = workload_of_records(kept.drop(columns=[*NOT_KEPT]), path, notes)[:count]
    jobs = jobs if links is None else jobs.replace(dependencies=links.select(stay))
    return Queue(jobs, kept.iloc[:count], table.iloc[np.flatnonzero(~waiting.can_start)].reset_index(drop=True))
