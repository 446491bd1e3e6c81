"""The schedule of a workload: when each job started and ended, and under which rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.display import MOST_JOBS, rich_display
from schedlab.errors import InputError
from schedlab.schedule.checkpoints import before_last_run, by_job, spent, writes_checkpoints
from schedlab.schedule.held import Held, held_by
from schedlab.schedule.metrics import TAU, bounded_slowdown, schedule_metrics, slowdown
from schedlab.schedule.placement import Placement
from schedlab.schedule.resizing import are_of_runs, work_of_jobs
from schedlab.schedule.stretches import has_runs, run_of_pauses
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.job import Job, with_missing
from schedlab.workload.workload import FIELDS, Workload

if TYPE_CHECKING:
    import pandas as pd

    from schedlab.schedule.explanation import Explanation

COLUMNS = ("start_time", "end_time", "backfilled", "killed", "predicted_run_time", "corrections")
"""What a schedule says of each job."""

COLUMNS_OF_PARTS = ("eligible_time", "alternative", "cancelled", "boot_wait")
"""What it says of each job of some simulations; None elsewhere."""

WAITED_FOR = "waited_for:"
"""Columns that begin so have the seconds that jobs waited for the reason behind it."""


NO_SCHEDULE = "make one with schedlab.simulate, or take one of a comparison, comparison['saf+easy']"
"""Advice for whoever gives something else."""


@explained
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Schedule:
    """What a simulation decided: immutable, one row per job of the workload, in the workload's order.

    Parameters
    ----------
    workload
        The jobs, as they were simulated.
    start_time, end_time
        int64 seconds, on the workload's clock; float64 if the scheduler needs time for a start (`start_delay`). A
        killed job ends at its request.
    backfilled
        Whether the job started ahead of the head of the queue while that was waiting for processors. Under Slurm's
        passes: whether a backfill pass started it, which is what Slurm's own log says.
    killed
        Whether the job was ended at its requested time, before it was done.
    predicted_run_time
        int64 seconds: the run time that the scheduler assumed when the job was submitted.
    corrections
        How often that prediction expired and was corrected while the job ran, in its last run if there were several.
    scheduler
        The scheduler text.
    processors
        Size of the machine.
    events
        The event order, "batched", "pyss" or "sc17".
    specification
        Everything else that the simulation was told.
    runs
        If jobs may fail at their requests and come back: all runs, in the order of their starts, with the fields `job`
        (row of the workload), `start`, `end`, `request` (seconds), `speculative`, `done`, `cause`, the place in
        `schedlab.schedule.runs.CAUSES` of what ended it, and `saved` and `overhead`, seconds of work and of
        checkpoints. The columns above speak of the last run of each job. None: each job ran once.
    eligible_time
        If jobs wait for others: since when each could have started.
    placement
        If it is known: on which nodes each run was.
    alternative
        If jobs are moldable: the alternative with which each ran, 0 for its own size and otherwise its place, from 1
        on, in `Workload.alternatives` of the jobs that were simulated. `workload` has the jobs as they ran.
    waited_for
        If it is known: why jobs waited, as `squeue` calls it ("Resources", "QOSMaxCpuPerUserLimit"), and for
        how many seconds each (int64). Together they are a job's wait or, of an observed queue, nearly so.
    pauses
        If runs may be suspended: all suspensions, in the order in which they began, with the fields `job` (row of the
        workload), `start` and `end`. A run lasts from its start to its end, suspensions included.
    cancelled
        If jobs have a limited patience (`Workload.resources.patience`): which were cancelled while they waited. They
        have never run; the second in which they left the queue stands as their start and their end.
    boot_wait
        If idle nodes are switched off: int64 seconds that each job held nodes while they booted, before its start.
    sizes
        If jobs are malleable: the sizes that runs had, in the order in which they began, with the fields `job` (row of
        the workload), `start`, `end` and `processors`. Those of a run fill it from its start to its end. `workload`
        has the jobs with their own sizes.

    Raises
    ------
    InputError
        If a column has not one value per job, if a job is suspended while it does not run, or if sizes do not fill the
        runs.

    Examples
    --------
    Two jobs of two processors on a machine of three: the second waits for the first.

    >>> jobs = Workload.from_columns(
    ...     dict(submit_time=[0, 10], run_time=[60, 30], requested_processors=[2, 2]))
    >>> no = np.zeros(2, dtype=bool)
    >>> schedule = Schedule(jobs, np.array([0, 60]), np.array([60, 90]), backfilled=no, killed=no,
    ...                     predicted_run_time=jobs.run_time, corrections=np.zeros(2, dtype=int),
    ...                     scheduler="fcfs", processors=3)
    >>> schedule.wait_time.tolist()
    [0, 50]
    >>> metrics = schedule.metrics()
    >>> metrics["mean_wait"], metrics["makespan"], round(metrics["utilisation"], 3)
    (25.0, 90.0, 0.667)
    """

    workload: Workload
    start_time: NDArray[np.int64]
    end_time: NDArray[np.int64]
    backfilled: NDArray[np.bool_]
    killed: NDArray[np.bool_]
    predicted_run_time: NDArray[np.int64]
    corrections: NDArray[np.int64]
    scheduler: str
    processors: int
    events: str = "batched"
    specification: Mapping[str, Any] = field(default_factory=dict)
    runs: NDArray[Any] | None = None
    eligible_time: NDArray[np.int64] | None = None
    placement: Placement | None = None
    waited_for: Mapping[str, NDArray[np.int64]] | None = None
    pauses: NDArray[Any] | None = None
    alternative: NDArray[np.int64] | None = None
    cancelled: NDArray[np.bool_] | None = None
    boot_wait: NDArray[np.int64] | None = None
    sizes: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        jobs = len(self)
        for name in (*COLUMNS, *COLUMNS_OF_PARTS):
            column = getattr(self, name)
            if column is None and name in COLUMNS_OF_PARTS:
                continue
            if column.shape != (jobs,):
                raise InputError(f"{self.workload.name}: column {name} has shape {column.shape}, expected ({jobs},)")
            view = column.view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)
        runs = jobs if self.runs is None else len(self.runs)
        if self.placement is not None and len(self.placement) != runs:
            raise InputError(f"{self.workload.name}: {len(self.placement)} runs have nodes, expected {runs}")
        if self.pauses is not None and (self.runs is None or not has_runs(self.runs, self.pauses)):
            raise InputError(f"{self.workload.name}: a job is suspended while it does not run")
        if self.sizes is not None and not are_of_runs(self.sizes, self.start_time, self.end_time, self.ran):
            raise InputError(f"{self.workload.name}: the sizes of jobs do not fill their runs")

    def __len__(self) -> int:
        return len(self.workload)

    @property
    def held(self) -> Held:
        """What jobs held of the machine, failed runs included, without the times in which they were suspended.

        Of malleable jobs, a row for each size.
        """
        return held_by(self)

    @property
    def ran(self) -> NDArray[np.bool_]:
        """Which jobs have started: all but those that were cancelled while they waited."""
        return np.broadcast_to(np.True_, len(self)) if self.cancelled is None else ~self.cancelled

    @property
    def attempts(self) -> NDArray[np.int64]:
        """How often each job was started."""
        if self.runs is None:
            return self.ran.astype(np.int64)
        return np.bincount(self.runs["job"], minlength=len(self))

    @property
    def lost_time(self) -> NDArray[np.int64]:
        """Seconds of all runs of a job that failed, without those that checkpoints saved and those of suspensions."""
        if self.runs is None:
            return np.broadcast_to(np.int64(0), len(self))
        return by_job(self, spent(self).lost)

    @property
    def checkpoint_time(self) -> NDArray[np.int64]:
        """Seconds in which each job wrote or read checkpoints."""
        if self.runs is None:
            return np.broadcast_to(np.int64(0), len(self))
        return by_job(self, self.runs["overhead"])

    @property
    def suspended_time(self) -> NDArray[np.int64]:
        """Seconds for which the last run of each job was suspended."""
        if self.runs is None or self.pauses is None:
            return np.broadcast_to(np.int64(0), len(self))
        last = np.zeros(len(self), dtype=np.intp)
        last[self.runs["job"]] = np.arange(len(self.runs))
        mine = self.pauses[last[self.pauses["job"]] == run_of_pauses(self)]
        return np.bincount(mine["job"], mine["end"] - mine["start"], len(self)).astype(np.int64)

    @property
    def queued_since(self) -> NDArray[np.int64]:
        """When each job was submitted or, if jobs wait for others, since when it could have started."""
        return self.workload.submit_time if self.eligible_time is None else self.eligible_time

    @property
    def wait_time(self) -> NDArray[np.int64]:
        """Seconds that a job was in the queue, until it started or was cancelled; with runs whose work was lost.

        The workload's own `wait_time` is the one that was recorded.
        """
        return self.start_time - self.queued_since - before_last_run(self)

    @property
    def turnaround_time(self) -> NDArray[np.int64]:
        """Seconds in the queue and on the machine."""
        return self.end_time - self.queued_since

    @property
    def run_time(self) -> NDArray[np.int64]:
        """Seconds from start to end: what really ran, up to the request for a killed job, without suspensions.

        Of a job that goes on from a checkpoint, with what its earlier runs have saved, and their checkpoints.
        """
        return self.end_time - self.start_time - self.suspended_time + before_last_run(self)

    @property
    def work(self) -> NDArray[np.float64]:
        """Processor-seconds of each job: its run time times its processors; of a malleable one, size by size."""
        return work_of_jobs(self)

    @property
    def slowdown(self) -> NDArray[np.float64]:
        """Turnaround over run time, see `schedlab.schedule.metrics.slowdown`."""
        return slowdown(self.wait_time + self.suspended_time, self.run_time)

    @property
    def bounded_slowdown(self) -> NDArray[np.float64]:
        """Slowdown bounded at 10 seconds, see `schedlab.schedule.metrics.bounded_slowdown`."""
        return bounded_slowdown(self.wait_time + self.suspended_time, self.run_time)

    def metrics(self, *, warm_up: float = 0, cool_down: float = 0, tau: int = TAU) -> dict[str, float]:
        """Return all metrics by name; see `schedlab.schedule.metrics.schedule_metrics` for their list.

        Parameters
        ----------
        warm_up, cool_down
            What to leave out at the beginning and at the end: below 1 a share of the jobs, from 1 on seconds
            after the first and before the last submission.
        tau
            Seconds: the bound of the bounded slowdown.

        Raises
        ------
        InputError
            If no jobs remain.
        """
        return schedule_metrics(self, warm_up=warm_up, cool_down=cool_down, tau=tau)

    def metrics_by_size_class(self, *, warm_up: float = 0, cool_down: float = 0, tau: int = TAU) -> pd.DataFrame:
        """Return the job metrics of each size class, see `schedlab.schedule.groups.metrics_by_size_class`."""
        from schedlab.schedule.groups import metrics_by_size_class

        return metrics_by_size_class(self, warm_up=warm_up, cool_down=cool_down, tau=tau)

    def metrics_by_user(self, *, warm_up: float = 0, cool_down: float = 0, tau: int = TAU) -> pd.DataFrame:
        """Return the job metrics of each user, see `schedlab.schedule.groups.metrics_by_user`."""
        from schedlab.schedule.groups import metrics_by_user

        return metrics_by_user(self, warm_up=warm_up, cool_down=cool_down, tau=tau)

    def workflow_table(self, *, until: float | None = None) -> pd.DataFrame:
        """Return what became of each workflow, see `schedlab.schedule.workflows.workflow_table`."""
        from schedlab.schedule.workflows import workflow_table

        return workflow_table(self, until=until)

    def explain(self, job_id: int | Job) -> Explanation:
        """Return why a job started when it did, see `schedlab.schedule.explanation.explain`.

        Examples
        --------
        >>> from schedlab import simulate
        >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
        ...                                   requested_processors=[3, 4, 1]), processors=4)
        >>> print(simulate(jobs, "fcfs+easy").explain(3))
        job 3: 1 processor of 4, waited 0 s; order: fcfs (r), score 2
        second 2, submitted: 1 processor free, 1 job waiting, 1 of them before it in the order (2)
        second 2, started: 1 processor free; it was backfilled ahead of job 2, the head of the queue, expected to \
start at second 10 with 0 processors to spare
        """
        from schedlab.schedule.explanation import explain

        return explain(self, job_id)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return everything that is known of each job, by column name.

        Returns
        -------
        dict
            The workload's fields under their SWF names, without those that are unknown for every job; the
            wait that the trace recorded is `recorded_wait_time`, because `wait_time` is the one of this
            schedule. `run_time` is the actual run time of the workload; what really ran is `end_time -
            start_time`, less `suspended_time` where runs may be suspended.
        """
        known: dict[str, NDArray[Any]] = {}
        for name in FIELDS:
            column = getattr(self.workload, name)
            if name == "job_id" or not bool((column == UNKNOWN).all()):
                known["recorded_wait_time" if name == "wait_time" else name] = column
        return (
            known
            | {
                "start_time": self.start_time,
                "end_time": self.end_time,
                "wait_time": self.wait_time,
                "bounded_slowdown": self.bounded_slowdown,
                "backfilled": self.backfilled,
                "killed": self.killed,
                "predicted_run_time": self.predicted_run_time,
                "corrections": self.corrections,
            }
            | ({} if self.eligible_time is None else {"eligible_time": self.eligible_time})
            | ({} if self.alternative is None else {"alternative": self.alternative})
            | ({} if self.cancelled is None else {"cancelled": self.cancelled})
            | ({} if self.boot_wait is None else {"boot_wait": self.boot_wait})
            | ({} if self.runs is None else {"attempts": self.attempts, "lost_time": self.lost_time})
            | ({"checkpoint_time": self.checkpoint_time} if writes_checkpoints(self) else {})
            | ({} if self.pauses is None else {"suspended_time": self.suspended_time})
            | {f"{WAITED_FOR}{reason}": seconds for reason, seconds in (self.waited_for or {}).items()}
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the `columns` as a pandas data frame, one row per job; what is unknown of a job is missing (NA).

        What jobs ask for besides processors and time, and own columns of the workload, follow.
        """
        from schedlab.workload.frames import frame_of

        names = {*FIELDS, "recorded_wait_time"} - {"wait_time"}
        columns = self.columns().items()
        told = {name: with_missing(name, one) if name in names else one for name, one in columns}
        return frame_of(self.workload, told | self.workload.extra_columns())

    def provenance(self) -> dict[str, Any]:
        """Return where this result comes from, see `schedlab.schedule.provenance.provenance`."""
        from schedlab.schedule.provenance import provenance

        return provenance(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the schedule to a file; the suffix decides the format.

        Parameters
        ----------
        path
            `.parquet` for the canonical form, `.csv` for the columns that evalys reads, `.swf` (or `.swf.gz`)
            for the Standard Workload Format.

        Raises
        ------
        InputError
            If the suffix is none of these.
        OutputError
            If the file cannot be written; nothing half-written is left.
        """
        from schedlab.schedule.exports import save_schedule

        save_schedule(self, path)

    def explore(self, *, unit: str = "processor") -> Any:
        """Return a widget for notebooks to look into the schedule, see `schedlab.report.notebook.explore`."""
        # Reports stand above schedules: they are reached by the public name.
        import schedlab

        return schedlab.plot.explore(self, unit=unit)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return rich_display(self, len(self), str(self))

    def _display_(self) -> Any:
        """What marimo shows."""
        return self.explore() if 0 < len(self) <= MOST_JOBS else str(self)

    def __repr__(self) -> str:
        from schedlab.schedule.summary import followed

        machine = f"{self.processors} processors"
        return f"<Schedule {self.workload.name}: {len(self)} jobs, {followed(self)}, {machine}>"

    def __str__(self) -> str:
        from schedlab.schedule.summary import summary

        return summary(self)
