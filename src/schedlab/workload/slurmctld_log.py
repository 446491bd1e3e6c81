"""Read the log of Slurm's controller: when jobs were submitted, started and ended, and which pass started them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.streams import open_input, workload_name
from schedlab.workload._accounting import numbered_names
from schedlab.workload._sacct_resources import count_hosts
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

STAMP = re.compile(r"\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?\] ")
SUBMITTED = re.compile(
    r"_slurm_rpc_(?:submit_batch_job|allocate_resources): JobId=(\d{1,18})(?!\d) InitPrio=(\d{1,18})(?!\d)"
)
ALLOCATED = re.compile(
    r"sched: Allocate JobId=(\d{1,18})(?!\d)\S* NodeList=(\S+) #CPUs=(\d{1,18})(?!\d)(?: Partition=(\S+))?"
)
AT_ONCE = re.compile(r"sched: _slurm_rpc_allocate_resources JobId=(\d{1,18})(?!\d) NodeList=(\S+)")
BACKFILLED = re.compile(r"sched/backfill: _start_job: Started JobId=(\d{1,18})(?!\d)\S* in (\S+) on (\S+)")
DONE = re.compile(r"_job_complete: JobId=(\d{1,18})(?!\d)\S* (done|WEXITSTATUS (\d+)|WTERMSIG|cancelled|OOM|\S+)")
KILLED = re.compile(r"_slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=(\d{1,18})(?!\d)\S* uid (\d{1,18})(?!\d)")
EXHAUSTED = re.compile(r"Time limit exhausted for JobId=(\d{1,18})(?!\d)")
REQUEUED = re.compile(r"(?:Requeuing|_job_complete: requeue) JobId=(\d{1,18})(?!\d)")
MAIN, BACKFILL, AT_SUBMISSION = "main", "backfill", "at submission"


@dataclass(slots=True)
class _Run:
    """The recorded data of a job, or of one run of a requeued job."""

    number: int
    submit: int = UNKNOWN
    priority: int = UNKNOWN
    start: int = UNKNOWN
    end: int = UNKNOWN
    processors: int = UNKNOWN
    nodes: int = 0
    partition: str = ""
    started_by: str = ""
    status: int = UNKNOWN


@dataclass(frozen=True, slots=True, eq=False)
class ControllerLog:
    """The jobs in the log of a controller.

    Parameters
    ----------
    workload
        The jobs submitted in the log, one per run of a requeued job. Processors are known for jobs started by the main
        pass; the log has no time limits.
    priority
        int64 per job: the priority at submission, -1 where unknown.
    started_by
        Names per job: "main", "backfill" or, for interactive jobs, "at submission"; none if it did not start.
    starts
        The number of starts by each pass in the log, including jobs submitted before the log begins.
    """

    workload: Workload
    priority: NDArray[np.int64]
    started_by: Labels
    starts: dict[str, int]


@explained
def read_slurmctld_log(path: str | os.PathLike[str], *, timezone: str = "UTC") -> ControllerLog:
    """Read slurmctld.log, plain or gzip-compressed.

    Parameters
    ----------
    path
        The file; other lines are ignored. The clock of the log has no zone.
    timezone
        The zone of its times, such as "Asia/Kuala_Lumpur".

    Raises
    ------
    InputError
        If the file cannot be read, no line has a time such as `[2026-06-01T01:02:35.148]`, or no job is submitted in
        it.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "slurmctld.log"
    >>> lines = ["[2026-06-01T01:02:35.148] _slurm_rpc_submit_batch_job: JobId=7 InitPrio=1975 usec=589",
    ...          "[2026-06-01T01:02:36.012] sched: Allocate JobId=7 NodeList=gpu05 #CPUs=32 Partition=gpu",
    ...          "[2026-06-01T01:17:06.607] _job_complete: JobId=7 WEXITSTATUS 0",
    ...          "[2026-06-01T01:17:06.607] _job_complete: JobId=7 done"]
    >>> written = path.write_text("\\n".join(lines))
    >>> log = read_slurmctld_log(path)
    >>> log.workload.wait_time.tolist(), log.workload.run_time.tolist(), log.started_by.texts()
    ([1], [870], ['main'])
    """
    reading = _Reading()
    stamped = False
    with open_input(path) as stream:
        for line in stream:
            text = line.decode(errors="replace")
            if stamp := STAMP.match(text):
                stamped = True
                reading.take(stamp[1], text[stamp.end() :])
    if not stamped:
        raise InputError(f"{os.fspath(path)}: no line begins with a time such as [2026-06-01T01:02:35.148]")
    runs = [run for run in reading.all_runs() if run.submit != UNKNOWN]
    if not runs:
        raise InputError(f"{os.fspath(path)}: this log has no submissions")
    return _log_of(reading, runs, workload_name(path).removesuffix(".log"), timezone)


@dataclass(slots=True)
class _Reading:
    """The jobs in the part of a log read so far."""

    last: dict[int, _Run] = field(default_factory=dict)
    earlier: list[_Run] = field(default_factory=list)
    starts: dict[str, int] = field(default_factory=lambda: {MAIN: 0, BACKFILL: 0, AT_SUBMISSION: 0})
    _stamp: str = ""
    _second: int = 0

    def take(self, stamp: str, text: str) -> None:
        """Process a line."""
        if stamp != self._stamp:
            try:
                second = int(np.datetime64(stamp, "s").astype(np.int64))
            except ValueError:
                return  # there is no such date
            self._stamp, self._second = stamp, second
        if found := SUBMITTED.match(text):
            self._submitted(int(found[1]), int(found[2]))
        elif found := ALLOCATED.match(text):
            run = self._started(int(found[1]), MAIN, found[2])
            run.processors, run.partition = int(found[3]), found[4] or run.partition
        elif found := BACKFILLED.match(text):
            self._started(int(found[1]), BACKFILL, found[3]).partition = found[2]
        elif found := AT_ONCE.match(text):
            run = self._run(int(found[1]))
            if run.submit == UNKNOWN:
                run.submit = self._second
            if found[2] != "(null)":
                self._started(int(found[1]), AT_SUBMISSION, found[2])
        elif found := DONE.match(text):
            self._completed(int(found[1]), found[2], found[3])
        elif found := KILLED.match(text):
            self._run(int(found[1])).status = 5
        elif found := EXHAUSTED.match(text):
            self._run(int(found[1])).status = 0
        elif found := REQUEUED.match(text):
            self._requeued(int(found[1]))

    def all_runs(self) -> list[_Run]:
        """Return all runs in order of submission."""
        return sorted([*self.earlier, *self.last.values()], key=lambda run: (run.submit, run.number))

    def _run(self, number: int) -> _Run:
        return self.last.setdefault(number, _Run(number))

    def _submitted(self, number: int, priority: int) -> None:
        if number in self.last and self.last[number].submit != UNKNOWN:
            self.earlier.append(self.last.pop(number))
        run = self._run(number)
        run.submit, run.priority = self._second, priority

    def _started(self, number: int, by: str, hosts: str) -> _Run:
        run = self._run(number)
        self.starts[by] += 1
        run.start, run.started_by, run.nodes = self._second, by, count_hosts(hosts)
        return run

    def _completed(self, number: int, what: str, code: str | None) -> None:
        run = self._run(number)
        if what == "done":
            run.end = self._second
        elif run.status == UNKNOWN:
            run.status = 5 if what == "cancelled" else int(code == "0")

    def _requeued(self, number: int) -> None:
        run = self._run(number)
        if run.start == UNKNOWN:
            return
        self.earlier.append(self.last.pop(number))
        run.end, run.status = self._second, 0
        again = self._run(number)
        again.submit, again.priority, again.partition = self._second, run.priority, run.partition


def _log_of(reading: _Reading, runs: list[_Run], name: str, timezone: str) -> ControllerLog:
    """Return the log from the parsed lines."""

    def column(of: str) -> NDArray[np.int64]:
        return np.array([getattr(run, of) for run in runs], dtype=np.int64)

    submit, start, end = _unix(column("submit"), timezone), column("start"), column("end")
    start = np.where(start >= 0, _unix(start, timezone), UNKNOWN)
    end = np.where(end >= 0, _unix(end, timezone), UNKNOWN)
    ran = (start >= 0) & (end >= start)
    processors = column("processors")
    partition, started_by = (Labels.of([getattr(run, of) for run in runs]) for of in ("partition", "started_by"))
    told = {f"started by the {by} pass": reading.starts[by] for by in (MAIN, BACKFILL)}
    told |= {
        "started at submission": reading.starts[AT_SUBMISSION],
        "submitted before the log, left out": sum(run.submit == UNKNOWN for run in reading.all_runs()),
        "never started, or not ended": int(np.count_nonzero(~ran)),
        "processors unknown": int(np.count_nonzero(processors < 0)),
    }
    notes = [f" Note: {what}: {count:,}" for what, count in told.items() if count]
    resources = Resources.of(len(runs), nodes=column("nodes"), tasks=np.maximum(processors, 1), partition=partition)
    numbers, names = numbered_names(resources)
    workload = Workload.from_columns(
        {
            "job_id": column("number"),
            "submit_time": submit - submit[0],
            "wait_time": np.where(start >= submit, start - submit, UNKNOWN),
            "run_time": np.where(ran, end - start, UNKNOWN),
            "allocated_processors": processors,
            "requested_processors": processors,
            "status": column("status"),
        }
        | numbers,
        name=name,
        start_time=int(submit[0]),
        header=(" Version: 2.2", f" MaxJobs: {len(runs)}", *names, *notes, f" Note: times taken as {timezone}"),
        resources=resources,
    )
    return ControllerLog(workload, column("priority"), started_by, reading.starts)


def _unix(local: NDArray[np.int64], timezone: str) -> NDArray[np.int64]:
    """Return seconds of a local clock as Unix times."""
    if timezone == "UTC":
        return local
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        moments = pc.assume_timezone(
            pa.array(local).cast(pa.timestamp("s")), timezone, ambiguous="earliest", nonexistent="latest"
        )
    except pa.ArrowInvalid:
        raise InputError(f"unknown time zone {timezone!r}: name one such as Europe/Stockholm or UTC") from None
    return np.asarray(moments.cast(pa.int64()).to_numpy())
