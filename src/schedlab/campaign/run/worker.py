"""What a worker process does: run a batch of tasks, and leave a file with their results.

It says in a file of `inflight/` which task it is at. If the process dies, whatever the reason, the file remains and
names the task that it died at.
"""

from __future__ import annotations

import faulthandler
import io
import json
import os
import secrets
import socket
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import parent_process
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import numpy as np

from schedlab.campaign.definition.plan import ID_DIGITS, Batch, Task
from schedlab.campaign.run.details import Details
from schedlab.campaign.run.directory import SCHEMA, RunDirectory
from schedlab.campaign.run.outcome import Failure
from schedlab.campaign.sources.measures import Measuring
from schedlab.engine.simulation import simulate
from schedlab.errors import OutputError, SchedlabError
from schedlab.own_code import OwnCode
from schedlab.schedule.exports import parquet_of
from schedlab.schedule.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Report:
    """What became of a batch: numbers of tasks."""

    done: int
    failed: int


def run_batch(
    directory: Path,
    code: OwnCode,
    batch: Batch,
    *,
    provenance: dict[str, Any],
    schedules: bool = False,
    timeout: float | None = None,
) -> Report:
    """Run the tasks of a batch and store their results and failures.

    Parameters
    ----------
    directory
        The run directory.
    code
        Modules of the user's own; stands before the tasks, so that a worker has imported them before it reads these.
    batch
        The tasks.
    provenance
        What is written into the file beside host and time: versions.
    schedules
        Whether to keep whole schedules.
    timeout
        Seconds after which a task, and this process with it, is stopped.

    Raises
    ------
    InputError
        If the code of the user's own is another one here than where the campaign was begun.
    OutputError
        If a file cannot be written. Whatever else a task raises is stored as its failure.
    """
    code.check()
    run = RunDirectory(directory)
    rows: list[dict[str, Any]] = []
    failures: list[Failure] = []
    details = Details()
    name = batch.name
    with _journal(run, name) as journal:
        for task_name, task in batch.tasks():
            journal.begin(task_name, timeout)
            try:
                rows.append(run_task(run, task_name, task, details, schedules=schedules))
            except OutputError:
                raise
            except Exception as error:
                failures.append(failure_of(task_name, task, error))
        journal.rest()
        details.store(run, name, provenance)
        if rows:
            run.store("results", name, ".parquet", _parquet(rows, provenance))
        if failures:
            run.store_failures(name, failures)
    return Report(len(rows), len(failures))


def run_task(run: RunDirectory, name: str, task: Task, details: Details, *, schedules: bool = False) -> dict[str, Any]:
    """Run one task and return its row of results; what else is kept of an experiment goes to the details."""
    begin = time.perf_counter()
    schedule = simulate_task(task)
    seconds = time.perf_counter() - begin
    found = task.instance.entry.measured(schedule, task.instance.item, task.instance.seed, _measuring(schedule, task))
    coordinates = _coordinates(name, task)
    details.add(coordinates, found)
    row = coordinates | found.names | found.metrics | task.instance.energy(schedule)
    if schedules:
        _store_schedule(run, name, schedule)
    return row | {"seconds": seconds, "specification": json.dumps(task.specification())}


def simulate_task(task: Task) -> Schedule:
    """Return the schedule of a task.

    Raises
    ------
    InputError
        If its jobs cannot be made or simulated.
    """
    instance, window = task.instance, task.instance.window
    in_order = 0 if window is None else window.state
    jobs = instance.jobs()
    if task.settings.engine == "slurm":
        from schedlab.slurm.replay import run_phases

        [phase] = run_phases(jobs, task.text, phases=1, seed=instance.repetition)
        return phase.schedule
    jobs, cluster = instance.under_cap(jobs)
    return simulate(
        jobs,
        task.text,
        events=task.settings.events,
        in_order=in_order,
        cluster=cluster,
        node_events=instance.node_events(jobs),
    )


def failure_of(name: str, task: Task, error: Exception) -> Failure:
    """Return what is kept of an error."""
    reason = str(error) if isinstance(error, SchedlabError) else f"{type(error).__name__}: {error}"
    return new_failure(name, task, "error", reason, "".join(traceback.format_exception(error)))


def new_failure(name: str, task: Task, kind: str, reason: str, trace: str) -> Failure:
    """Return a failure that happened here and now."""
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    return Failure(name, kind, " ".join(reason.split()), trace, task.specification(), socket.gethostname(), now)


def _coordinates(name: str, task: Task) -> dict[str, Any]:
    instance = task.instance
    return {
        "task": name,
        "workload": instance.workload,
        "load": float("nan") if instance.load is None else instance.load,
        "repetition": instance.repetition,
        "window": -1 if instance.window is None else instance.window.number,
        "scheduler": task.scheduler,
    }


def _measuring(schedule: Schedule, task: Task) -> Measuring:
    settings = task.settings
    return Measuring(_warm_up(schedule, task), settings.cool_down, settings.tau, settings.own)


def _warm_up(schedule: Schedule, task: Task) -> float:
    """Return what does not count at the beginning: the warm-up, at least the jobs that only fill the machine."""
    warm_up, window = task.settings.warm_up, task.instance.window
    if window is None or not window.state:
        return warm_up
    if warm_up >= 1:
        submitted = schedule.workload.submit_time
        share = float(np.mean(submitted < submitted.min() + warm_up))
        if share == 1:
            return warm_up
        warm_up = share
    return max(warm_up, window.state / len(schedule))


def _store_schedule(run: RunDirectory, name: str, schedule: Schedule) -> None:
    """Keep a schedule, under a name that ends with the checksum of the file."""
    run.store("schedules", name, ".parquet", parquet_of(schedule))


def _parquet(rows: list[dict[str, Any]], provenance: dict[str, Any]) -> bytes:
    """Return rows as a Parquet file that says where it comes from."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    # A metric may be missing in the first row: fairness, where there are no users.
    columns = dict.fromkeys(column for row in rows for column in row)
    table = pa.table({column: [row.get(column) for row in rows] for column in columns})
    facts = provenance | {"host": socket.gethostname(), "time": datetime.now(UTC).isoformat(timespec="seconds")}
    table = table.replace_schema_metadata({"schedlab": json.dumps({"schema": SCHEMA} | facts)})
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


class _Journal:
    """The file that says which task a process is at."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = open(path, "w+b")  # noqa: SIM115 (closed by close)
        # What faulthandler writes when time is up comes behind the name of the task.
        os.lseek(self._file.fileno(), ID_DIGITS + 1, os.SEEK_SET)

    def begin(self, task: str, timeout: float | None) -> None:
        """Note a task, and end this process if it takes too long, even within a compiled kernel."""
        try:
            os.pwrite(self._file.fileno(), task.encode() + b"\n", 0)
        except OSError as error:
            raise OutputError(f"cannot write {self.path}: {error.strerror or error}") from error
        if timeout is not None:
            faulthandler.dump_traceback_later(timeout, exit=True, file=self._file)

    def rest(self) -> None:
        """Note that no task is running any more."""
        faulthandler.cancel_dump_traceback_later()

    def close(self) -> None:
        """Remove the file: the process has not died."""
        self.rest()
        self._file.close()
        with suppress(OSError):
            self.path.unlink()


@contextmanager
def _journal(run: RunDirectory, batch: str) -> Iterator[_Journal]:
    try:
        journal = _Journal(
            run.path / "inflight" / f"{batch}.{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}"
        )
    except OSError as error:
        raise OutputError(
            f"cannot write into the run directory {run.path} on {socket.gethostname()}: {error.strerror or error}"
        ) from error
    _JOURNALS.add(journal)
    try:
        yield journal
    finally:
        _JOURNALS.discard(journal)
        journal.close()


_JOURNALS: set[_Journal] = set()


def end_with_parent() -> None:
    """See to it that this process ends, without a failure of its task, when the one that started it is gone.

    It would get no more work, and a process that continues the campaign would run its task a second time.
    """
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_wait_for_end, args=(parent.sentinel,), daemon=True).start()


def _wait_for_end(sentinel: int) -> None:
    wait([sentinel])
    for journal in list(_JOURNALS):
        journal.close()
    os._exit(1)


def blamed(run: RunDirectory, batch: str) -> list[tuple[str, str]]:
    """Return the tasks that processes were at when they died with a batch, each with its traceback if time was up.

    Their files are removed.
    """
    blame = []
    for path in run.files("inflight"):
        if path.name.startswith(batch):
            with suppress(OSError):
                task, _, trace = path.read_text(encoding="utf-8", errors="replace").partition("\n")
                path.unlink()
                if len(task) == ID_DIGITS:
                    blame.append((task, trace.strip("\0")))
    return blame
