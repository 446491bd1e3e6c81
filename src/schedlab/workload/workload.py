"""The jobs of a machine, one NumPy array per field of the Standard Workload Format (SWF)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from schedlab.display import MOST_JOBS, rich_display
from schedlab.errors import InputError, check_type, whole_number
from schedlab.workload.alternatives import COLUMN
from schedlab.workload.columns import FRACTIONAL_FIELDS, UNKNOWN, as_column, as_rows, size_of, take
from schedlab.workload.extras import DISTRIBUTIONS, NOTHING, PARTS, Extras, WithExtras
from schedlab.workload.job import Job, with_missing
from schedlab.workload.own_columns import OwnColumns
from schedlab.workload.resources import LABELS, NUMBERS

if TYPE_CHECKING:
    import pandas as pd

    from schedlab.workload.origin import Origin

FIELDS = (
    "job_id",
    "submit_time",
    "wait_time",
    "run_time",
    "allocated_processors",
    "average_cpu_time",
    "used_memory",
    "requested_processors",
    "requested_time",
    "requested_memory",
    "status",
    "user_id",
    "group_id",
    "executable_id",
    "queue_id",
    "partition_id",
    "preceding_job_id",
    "think_time",
)
"""The 18 fields of SWF in their order, with the standard's names in snake case."""

KEPT = (*FIELDS, *NUMBERS, *LABELS, COLUMN)
"""Columns of tables that are predefined; others are a user's own."""

NO_WORKLOAD = "read one with schedlab.read_workload, or make one of a table with Workload.from_frame"
"""Advice for whoever gives something else."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, weakref_slot=True)
class Workload(WithExtras):
    """Jobs in columns: immutable, one array per SWF field, -1 where a value is unknown.

    Build one with `read_swf`, `Workload.from_columns` or `Workload.from_frame`. Selecting, sorting and replacing return
    a new workload. Rows keep their order; they need not be sorted by submit time.

    Parameters
    ----------
    job_id, submit_time, ..., think_time
        Arrays of one length, in the order of `FIELDS`: int64 (seconds, processors, kilobytes, identifiers), but
        float64 for `average_cpu_time`.
    name
        The name of the workload in tables and messages.
    processors
        Size of the machine, or None if unknown.
    start_time
        Unix epoch of second 0, or None if unknown.
    header
        Comment lines of the file, without the leading ";".
    requests_enforced
        Whether the machine kills a job at the end of its requested time.
    rounded
        The number of values that were rounded to whole numbers when the workload was read.
    cores_per_node
        Processors of a node, or None if unknown.
    origin
        The file from which the jobs were read, and the rules that cleaned them, or None if unknown.
    extras
        Further attributes of jobs: dependencies, workflows, run-time distributions, requests for resources, own
        columns, alternatives. `replace`, `from_columns` and the properties give access to each by its name.

    References
    ----------
    Chapin et al., "Benchmarks and standards for the evaluation of parallel job schedulers", JSSPP 1999 (now 2.2).

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 5], run_time=[60, 30], requested_processors=[2, 1]),
    ...                              processors=4)
    >>> len(jobs), jobs.requested_time.tolist()
    (2, [-1, -1])
    >>> jobs[jobs.run_time > 40].job_id.tolist(), jobs[0].run_time, [job.run_time for job in jobs]
    ([1], 60, [60, 30])
    """

    job_id: NDArray[np.int64]
    submit_time: NDArray[np.int64]
    wait_time: NDArray[np.int64]
    run_time: NDArray[np.int64]
    allocated_processors: NDArray[np.int64]
    average_cpu_time: NDArray[np.float64]
    used_memory: NDArray[np.int64]
    requested_processors: NDArray[np.int64]
    requested_time: NDArray[np.int64]
    requested_memory: NDArray[np.int64]
    status: NDArray[np.int64]
    user_id: NDArray[np.int64]
    group_id: NDArray[np.int64]
    executable_id: NDArray[np.int64]
    queue_id: NDArray[np.int64]
    partition_id: NDArray[np.int64]
    preceding_job_id: NDArray[np.int64]
    think_time: NDArray[np.int64]
    name: str = "workload"
    processors: int | None = None
    start_time: int | None = None
    header: tuple[str, ...] = ()
    requests_enforced: bool = True
    rounded: int = 0
    cores_per_node: int | None = None
    origin: Origin | None = None
    extras: Extras = NOTHING

    def __post_init__(self) -> None:
        object.__setattr__(self, "processors", size_of("the machine", self.processors))
        object.__setattr__(self, "cores_per_node", size_of("a node", self.cores_per_node))
        if self.start_time is not None:
            object.__setattr__(self, "start_time", whole_number("start_time", self.start_time))
        check_type(self.name, str, "name a workload by a text")
        length = len(self.job_id)
        for field in FIELDS:
            column = getattr(self, field)
            if column.shape != (length,):
                raise InputError(f"{self.name}: column {field} has shape {column.shape}, expected ({length},)")
            view = column.view()
            view.flags.writeable = False
            object.__setattr__(self, field, view)
        try:
            self.extras.check(length)
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from None

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any], **attributes: Any) -> Workload:
        """Build a workload from some columns; the others are unknown and take no memory.

        Parameters
        ----------
        columns
            Array-likes by SWF field name. Fractions are rounded half up (and counted in `rounded`), except for
            `average_cpu_time`. Writable arrays are copied. Without `job_id` the jobs are
            numbered from 1.
        **attributes
            `name`, `processors`, `start_time`, `header`, `requests_enforced` and the other attributes.

        Raises
        ------
        InputError
            If a column is unknown, is not numeric, holds NaN or infinity, or has another length, or if the machine
            has no processors.
        """
        check_type(columns, Mapping, "give a dictionary of columns, or a data frame to Workload.from_frame")
        strangers = sorted(set(columns) - set(FIELDS))
        if strangers:
            raise InputError(f"unknown column {strangers[0]!r}; the columns of a workload are {', '.join(FIELDS)}")
        if not columns:
            raise InputError("a workload needs the columns submit_time, run_time and requested_processors")
        rounded = int(attributes.pop("rounded", 0))
        arrays: dict[str, Any] = {}
        for field, values in columns.items():
            arrays[field], fractions = as_column(field, values)
            rounded += fractions
        length = len(next(iter(arrays.values())))
        arrays.setdefault("job_id", np.arange(1, length + 1, dtype=np.int64))
        for field in FIELDS:
            if field not in arrays:
                kind = np.float64 if field in FRACTIONAL_FIELDS else np.int64
                arrays[field] = np.broadcast_to(kind(UNKNOWN), (length,))
        plain, extras = _split(attributes)
        jobs = cls(**arrays, rounded=rounded, **plain)
        return jobs.replace(**extras) if extras else jobs

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        *,
        processors: int | None = None,
        name: str | None = None,
        start_time: int | None = None,
        requests_enforced: bool | None = None,
    ) -> Workload:
        """Build a workload from a pandas data frame with SWF field names as columns.

        Parameters
        ----------
        frame
            At least `submit_time`, `run_time` and one of `requested_processors` and `allocated_processors`;
            missing values (NaN, NA) mean unknown, but every job needs its `submit_time`. Columns of `Resources` may
            follow, where missing values mean the default, and columns of your own (see `with_columns`). From the frame
            of a schedule, the jobs are used with the wait recorded in the log, without the scheduler's decisions.
        processors
            Size of the machine.
        name, start_time, requests_enforced
            As in `Workload`. None, also for `processors`: as in the workload that the frame was made of by `to_frame`
            (pandas keeps that in `frame.attrs`), or the default.

        Raises
        ------
        InputError
            If a needed column is missing, one has a name similar to another, a value is not a number, or a submit time
            is missing.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"submit_time": [0], "run_time": [9], "requested_processors": [1]})
        >>> len(Workload.from_frame(frame, processors=16))
        1
        """
        from schedlab.workload.frames import workload_of

        return workload_of(
            frame, processors=processors, name=name, start_time=start_time, requests_enforced=requests_enforced
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the jobs as a pandas data frame, one column per SWF field; unknown values are missing (NA).

        Columns in which every value is known have NumPy's types, the others pandas' nullable ones. The columns of
        `resources` and own ones follow, if there are any, with names as categories. Run-time distributions,
        dependencies and workflows are not included.
        """
        from schedlab.workload.frames import frame_of

        fields = {field: with_missing(field, getattr(self, field)) for field in FIELDS}
        return frame_of(self, fields | self.extra_columns())

    def extra_columns(self) -> dict[str, Any]:
        """Return the columns of `resources`, own ones and that of alternatives, as in `to_frame`."""
        resources = {} if self.resources is None else self.resources.columns()
        molded = {} if self.alternatives is None else {COLUMN: self.alternatives.texts()}
        return resources | ({} if self.own is None else self.own.frame_columns()) | molded

    def __len__(self) -> int:
        return len(self.job_id)

    @overload
    def __getitem__(self, rows: int) -> Job: ...

    @overload
    def __getitem__(self, rows: str) -> NDArray[Any]: ...

    @overload
    def __getitem__(self, rows: slice | NDArray[np.bool_] | NDArray[np.intp] | Sequence[int]) -> Workload: ...

    def __getitem__(self, rows: Any) -> Job | NDArray[Any] | Workload:
        """Return one job for a position, a column for its name, a workload for a slice, a boolean mask or positions.

        Raises
        ------
        IndexError
            If there is no such row.
        InputError
            If there is no such column, or the index is none of these.
        """
        if isinstance(rows, str):
            from schedlab.workload.frames import column_of

            return column_of(self, rows)
        if isinstance(rows, int | np.integer) and not isinstance(rows, bool):
            return Job(*(getattr(self, field)[rows].item() for field in FIELDS))
        rows = rows if isinstance(rows, slice) else as_rows(rows)
        columns: dict[str, Any] = {field: take(getattr(self, field), rows) for field in FIELDS}
        if any(self.extras.parts()):
            columns["extras"] = self.extras.select(np.arange(len(self))[rows])
        return replace(self, **columns)

    def __iter__(self) -> Iterator[Job]:
        """Yield the jobs one by one; for computations, use the columns, which are a hundred times as fast."""
        for values in zip(*(getattr(self, field).tolist() for field in FIELDS), strict=True):
            yield Job(*values)

    @classmethod
    def concat(cls, workloads: Iterable[Workload], *, sort: bool = True) -> Workload:
        """Return one workload with the jobs of several.

        Parameters
        ----------
        workloads
            At least one. The name, header and `requests_enforced` of the first are kept. If the start times of all are
            known, submit times are counted from the earliest one; numbers of jobs, users and so on are unchanged.
        sort
            Whether to sort the jobs by submit time; otherwise, rows keep their order.

        Raises
        ------
        InputError
            If there is no workload, or if the machines differ in size.

        Examples
        --------
        >>> april = Workload.from_columns(dict(submit_time=[5], run_time=[9]), start_time=1_000)
        >>> may = Workload.from_columns(dict(submit_time=[0], run_time=[8]), start_time=4_000)
        >>> both = Workload.concat([may, april])
        >>> both.start_time, both.submit_time.tolist(), both.run_time.tolist()
        (1000, [5, 3000], [9, 8])
        """
        from schedlab.workload.joining import concatenated

        return concatenated(list(workloads), sort)

    def head(self, jobs: int = 5) -> Workload:
        """Return the first jobs; with a negative number, all but so many of the last ones."""
        return self[: whole_number("jobs", jobs)]

    def replace(self, **changes: Any) -> Workload:
        """Return a copy with some columns or attributes replaced; new columns are converted and checked."""
        known = {field.name for field in fields(self)}
        changes, parts = _split(changes)
        if strangers := sorted(set(changes) - known):
            raise InputError(f"a workload has no column or attribute {strangers[0]!r}")
        if parts:
            try:
                changes["extras"] = changes.get("extras", self.extras).replaced(parts)
            except InputError as error:
                raise InputError(f"{self.name}: {error}") from None
        for field in FIELDS:
            if field in changes:
                changes[field] = as_column(field, changes[field])[0]
        return replace(self, **changes)

    def with_columns(self, **columns: Any) -> Workload:
        """Return a copy with columns of your own, which every operation, data frames, CSV and Parquet keep.

        Policies and metrics that are Python functions may use them: a policy through an argument of that name.

        Parameters
        ----------
        **columns
            One value per job: numbers, truth values (which become 0 and 1) or texts; None and NaN mean unknown. None
            instead of values removes the column.

        Raises
        ------
        InputError
            If a name is that of a predefined column, or too similar to one, or if values are neither numbers nor texts.

        Examples
        --------
        >>> jobs = Workload.from_columns(dict(submit_time=[0, 5], run_time=[9, 9], requested_processors=[1, 1]))
        >>> jobs = jobs.with_columns(deadline=[60, 30], team=["bio", "chem"])
        >>> jobs[jobs["deadline"] < 50]["team"].tolist()
        ['chem']
        """
        known = {} if self.own is None else dict(self.own.columns)
        known = {name: column for name, column in known.items() if name not in columns}
        new = {name: values for name, values in columns.items() if values is not None}
        if not known and not new:
            return self.replace(own=None)
        return self.replace(own=OwnColumns({**known, **OwnColumns.of(new, KEPT).columns}))

    def sorted_by_submit(self) -> Workload:
        """Return the jobs in order of submission; jobs of the same second keep their order."""
        if bool(np.all(self.submit_time[1:] >= self.submit_time[:-1])):
            return self
        return self[np.argsort(self.submit_time, kind="stable")]

    @property
    def job_processors(self) -> NDArray[np.int64]:
        """Processors that each job needs: those requested or, if unknown, those allocated."""
        if bool((self.requested_processors > 0).all()):
            return self.requested_processors
        return np.where(self.requested_processors > 0, self.requested_processors, self.allocated_processors)

    def explore(self) -> Any:
        """Return a notebook widget to explore the jobs, see `schedlab.report.notebook.explore`.

        They are shown with the waits recorded in the trace or, without these, as if each had started at once.
        """
        import schedlab  # reports depend on workloads, so they are imported by their public name

        return schedlab.plot.explore(self)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from schedlab.workload.summary import summarise

        return rich_display(self, len(self), str(summarise(self)) if len(self) else repr(self))

    def _display_(self) -> Any:
        """The representation in marimo."""
        return self.explore() if 0 < len(self) <= MOST_JOBS else repr(self)

    def __repr__(self) -> str:
        machine = f", {self.processors} processors" if self.processors else ""
        return f"<Workload {self.name}: {len(self)} jobs{machine}>"


def _split(attributes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the attributes of a workload, and the extra attributes of its jobs."""
    named = (*PARTS, *DISTRIBUTIONS)
    plain = {name: value for name, value in attributes.items() if name not in named}
    return plain, {name: value for name, value in attributes.items() if name in named}
