"""Workloads from data frames, and columns of workloads by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError, check_type
from schedlab.wording import did_you_mean
from schedlab.workload.alternatives import COLUMN, Alternatives
from schedlab.workload.columns import UNKNOWN, check_kind
from schedlab.workload.job_requests import job_requests
from schedlab.workload.own_columns import OwnColumns
from schedlab.workload.resources import LABELS, NUMBERS, Resources
from schedlab.workload.workload import FIELDS, KEPT, Workload

if TYPE_CHECKING:
    import pandas as pd

DECIDED = (
    *("start_time", "end_time", "bounded_slowdown", "backfilled", "killed", "predicted_run_time", "corrections"),
    *("eligible_time", "attempts", "lost_time", "checkpoint_time", "suspended_time"),
    *("alternative", "cancelled"),
)
"""Columns of a schedule's frame that hold the scheduler's decisions."""


ATTRIBUTES = ("name", "processors", "start_time", "requests_enforced")
"""What a workload's frame says of it besides columns, in `attrs`."""


def frame_of(workload: Workload, columns: Mapping[str, Any]) -> pd.DataFrame:
    """Return a data frame with columns about the jobs of a workload, whose attributes it keeps in `attrs`."""
    import pandas as pd

    frame = pd.DataFrame(columns)
    frame.attrs["schedlab"] = {name: getattr(workload, name) for name in ATTRIBUTES}
    return frame


def workload_of(frame: pd.DataFrame, **attributes: Any) -> Workload:
    """Return the workload of a data frame with these attributes, see `Workload.from_frame`."""
    import pandas as pd

    check_type(frame, pd.DataFrame, "give a data frame, or a dictionary of columns to Workload.from_columns")
    named = [name for name in frame.index.names if name in KEPT and name not in frame.columns]
    frame = frame.reset_index(named) if named else frame
    told = {name: value for name, value in attributes.items() if value is not None}
    attributes = {**frame.attrs.get("schedlab", {}), **told}
    frame = _jobs_of_schedule(frame)
    for needed in ("submit_time", "run_time"):
        if needed not in frame.columns:
            raise InputError(f"the table has no column {needed}{_has(frame)}")
    if not {"requested_processors", "allocated_processors"} & set(frame.columns):
        raise InputError(f"the table has neither a column requested_processors nor allocated_processors{_has(frame)}")
    missing = frame["submit_time"].isna().to_numpy()
    if missing.any():
        row = int(np.argmax(missing))
        raise InputError(f"column submit_time, row {row}: missing value: fill it in or remove the job", row=row)
    resources = Resources.from_frame(frame)
    sizes = Alternatives.from_texts(frame[COLUMN].fillna("").astype(str)) if COLUMN in frame else None
    names = [name for name in frame.columns if name not in KEPT]
    own = OwnColumns.of({str(name): frame[name].to_numpy() for name in names}, KEPT) if names else None
    frame = frame.drop(columns=[name for name in frame.columns if name not in FIELDS])
    for label in frame.columns:
        check_kind(str(label), frame[label].dtype.kind)
    columns = {str(label): frame[label].fillna(UNKNOWN).to_numpy(copy=True) for label in frame.columns}
    for column in columns.values():
        column.flags.writeable = False
    return Workload.from_columns(columns, resources=resources, own=own, alternatives=sizes, **attributes)


def _has(frame: pd.DataFrame) -> str:
    """Say which columns a table has, and what to do if they have other names."""
    names = ", ".join(map(str, frame.columns)) or "none"
    return f"; its columns are {names}: rename them, or read a CSV file with a mapping of columns"


def column_of(workload: Workload, name: str) -> NDArray[Any]:
    """Return a field of SWF, a column of resources, or an own column; names are strings, "" for none.

    Raises
    ------
    InputError
        If there is no such column.
    """
    if name in FIELDS:
        column: NDArray[Any] = getattr(workload, name)
        return column
    if workload.own is not None and name in workload.own.columns:
        return workload.own.array(name)
    if name in (*NUMBERS, *LABELS):
        named = getattr(job_requests(workload), name)
        return np.array([*named.names, ""])[named.codes] if name in LABELS else np.asarray(named)
    known = [*FIELDS, *NUMBERS, *LABELS, *(() if workload.own is None else workload.own.columns)]
    near = did_you_mean(name, known)
    raise InputError(f"{workload.name}: unknown column {name!r}{near}; known are {', '.join(known)}")


def _jobs_of_schedule(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the jobs in the frame of a schedule (see `Schedule.columns`), and any other frame unchanged."""
    if not {"start_time", "end_time", "backfilled"} <= set(frame.columns):
        return frame
    decided = [name for name in frame.columns if name in (*DECIDED, "wait_time") or str(name).startswith("waited_for:")]
    return frame.drop(columns=decided).rename(columns={"recorded_wait_time": "wait_time"})
