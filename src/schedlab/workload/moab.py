"""Read the workload events of Moab: one event per line, fixed columns separated by blanks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload._accounting import read_text, split_lines, workload_of_records
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.origin import names_its_file
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

EVENT = r"(?i)^\s*\S+\s+\S+\s+job\s+\S+\s+(?P<event>jobend|jobcancel)\s"
WHOLE, TEXT = "whole", "text"
COLUMNS = {
    4: ("identifier", TEXT),
    5: ("event", TEXT),
    7: ("tasks_requested", WHOLE),
    8: ("user_id", TEXT),
    9: ("group", TEXT),
    10: ("requested_time", WHOLE),
    11: ("state", TEXT),
    12: ("queue_id", TEXT),
    13: ("submit", WHOLE),
    15: ("start", WHOLE),
    16: ("end", WHOLE),
    25: ("tasks", WHOLE),
    29: ("account", TEXT),
    30: ("executable_id", TEXT),
    34: ("partition_id", TEXT),
    35: ("per_task", WHOLE),
}
"""Columns that are used, counted from 1, as in Moab 6 and later."""

NULLS = ("-", "NONE", "[NONE]")
COMPLETED, FAILED, CANCELLED = 1, 0, 5


@names_its_file("moab")
@explained
def read_moab(path: str | os.PathLike[str]) -> Workload:
    """Read a log of Moab's workload events, plain or gzip-compressed.

    A job is its event JOBEND or, if it has none, JOBCANCEL; other events are ignored. Processors are tasks times
    processors per task. The status is that of the job's state: Completed, Removed (5, cancelled) or anything else.

    Parameters
    ----------
    path
        The file; the files of several days may be concatenated.

    Raises
    ------
    InputError
        If the file cannot be read, is empty, has no job that ended, or a line is truncated or has text where a number
        belongs. The message names the line.

    References
    ----------
    Adaptive Computing, "Moab Workload Manager administrator guide", workload event format.
    """
    events, others = _events(path)
    final = events["event"].str.upper() == "JOBEND"
    jobs = events.assign(final=final).sort_values("final", kind="stable")
    jobs = jobs.drop_duplicates(["identifier", "submit"], keep="last").sort_index()
    start, end = jobs["start"].to_numpy(), jobs["end"].to_numpy()
    ran = (start > 0) & (end >= start) & jobs["final"].to_numpy()
    per_task = np.maximum(jobs["per_task"].to_numpy(), 1)
    number = jobs["identifier"].str.extract(r"^(?:.*\.)?(\d{1,18})$", expand=False)
    records = jobs[["submit", "user_id", "queue_id", "executable_id", "partition_id"]].assign(
        job_id=np.arange(1, len(jobs) + 1) if number.isna().any() else number.astype("int64"),
        start=np.where(ran, start, UNKNOWN),
        run_time=np.where(ran, end - start, UNKNOWN),
        requested_time=jobs["requested_time"].where(jobs["requested_time"] > 0, UNKNOWN),
        allocated_processors=np.where(ran, jobs["tasks"] * per_task, UNKNOWN),
        requested_processors=jobs["tasks_requested"].clip(lower=1) * per_task,
        status=_status(jobs["state"], ran),
        group_id=jobs["account"].fillna(jobs["group"]),
        queue_id=jobs["queue_id"].str.extract(r"^\[?([^\]:]*)", expand=False),
    )
    told = [f"events other than JOBEND and JOBCANCEL left out: {others:,}"] if others else []
    if again := len(events) - len(jobs):
        told.append(f"in the file more than once, counted once: {again:,}")
    return workload_of_records(records, path, told)


def _status(state: pd.Series[str], ran: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return SWF's status by the state of the job; jobs that never ran were cancelled."""
    word = state.fillna("").str.lower()
    return np.select([(word == "removed") | ~ran, word == "completed"], [CANCELLED, COMPLETED], FAILED)


def _events(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, int]:
    """Return the last events of jobs, indexed by line, and the number of other lines."""
    import pandas as pd
    import pyarrow.compute as pc

    lines = split_lines(read_text(path))
    chosen = pc.match_substring_regex(lines, EVENT).to_numpy()
    if not chosen.any():
        raise InputError(f"{os.fspath(path)}: no event JOBEND, so no job has ended")
    last = max(COLUMNS)
    cells = [line.split(None, last)[:last] for line in lines.filter(chosen).to_pylist()]
    number = pd.Index(np.flatnonzero(chosen) + 1)
    read = {
        name: _column([row[place - 1] if len(row) >= place else "-" for row in cells], number, place, name, kind, path)
        for place, (name, kind) in COLUMNS.items()
    }
    events = pd.DataFrame(read)
    return events, int(pc.sum(pc.match_substring_regex(lines, r"\S")).as_py()) - len(events)


def _column(cells: list[str], lines: pd.Index[int], place: int, name: str, kind: str, path: Any) -> pd.Series[Any]:
    """Return a column as text or whole numbers, -1 where it is unknown."""
    import pandas as pd

    texts = pd.Series(cells, index=lines)
    texts = texts.mask(texts.isin(NULLS))
    if kind == TEXT:
        return texts
    numbers = pd.to_numeric(texts, errors="coerce")
    numbers = numbers.where(numbers.abs() < 2**53)
    bad = numbers.isna() & (texts.notna() | (name in ("submit", "per_task")))
    if bad.any():
        row = int(np.argmax(bad))
        what = (
            "is missing; the line is truncated" if cells[row] == "-" else f"is {shown(cells[row])}, not a whole number"
        )
        raise InputError(
            f"{os.fspath(path)}, line {lines[row]}: column {place} ({name.replace('_', ' ')}) {what}",
            line=int(lines[row]),
        )
    return numbers.fillna(UNKNOWN).astype(np.int64)
