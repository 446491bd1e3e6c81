"""What a laboratory leaves: the schedule, Slurm's own records, passes, and what was observed while jobs waited."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.schedule.runs import BY_ITSELF, RUN
from schedlab.schedule.schedule import Schedule
from schedlab.slurm.clock import SECOND
from schedlab.slurm.configuration import Change
from schedlab.slurm.job_table import Run, Submitted
from schedlab.slurm.jobs import JobList
from schedlab.slurm.laboratory import Laboratory
from schedlab.slurm.nodes import placement_of
from schedlab.slurm.releases import release_of
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

_RECORD = re.compile(r"(\w+)=(\S*)")
_MAIN = re.compile(r"^\[([^\]]*)\].*sched: Allocate JobId=(\d+)")
_BACKFILL = re.compile(r"^\[([^\]]*)\].*(?:backfill|_start_job).*Started JobId=(\S+)")


@dataclass(frozen=True, slots=True)
class SlurmRun:
    """One run of a workload on the real Slurm.

    Parameters
    ----------
    schedule
        Of all jobs that ran, in the order of the workload; tasks of an array are jobs of their own. Its specification
        says which Slurm, which plugins, which clock.
    records
        One row per job that Slurm accepted: `row` of the workload, `job_id`, `state`, `nodes`, `pass` (main or
        backfill), `partition`, `account`, `qos`, `restarts`.
    rejected
        What Slurm said of the jobs that it did not accept, by row.
    unstarted
        Rows of the jobs that still waited, or were cancelled before they ran, at the end.
    observations
        If they were asked for: what `squeue`, `sprio` and `sdiag` said, by name, see `schedlab.slurm.replay.run`.
    facts
        Version, plugins, clock, phase, jumps, rescues, wall and virtual seconds.
    changes
        Lines of the site's configuration that were changed or dropped.
    """

    schedule: Schedule
    records: pd.DataFrame
    rejected: Mapping[int, str]
    unstarted: tuple[int, ...]
    observations: Mapping[str, pd.DataFrame]
    facts: Mapping[str, Any]
    changes: tuple[Change, ...] = field(default=())

    @property
    def speed(self) -> float:
        """Virtual seconds per second, from the first submission on."""
        return float(self.facts["virtual_seconds"]) / max(1e-9, float(self.facts["wall_seconds"]))


def collect(
    laboratory: Laboratory,
    jobs: JobList,
    scheduler: str,
    processors: int,
    observations: Mapping[str, Any],
    seconds: float,
) -> SlurmRun:
    """Return what a laboratory leaves when it has run.

    Raises
    ------
    InputError
        If not one job ran, or the clock had to be rescued.
    """
    import pandas as pd

    facts = laboratory.facts() | {"wall_seconds": seconds, "virtual_seconds": laboratory.now() - laboratory.origin}
    if facts["rescues"]:
        raise InputError(
            f"{jobs.workload.name}: the clock of the laboratory had to be rescued "
            f"{facts['rescues']} times, so this run "
            "does not count; please report it with the log of slurmctld"
        )
    done = _records(laboratory)
    passes = _passes(laboratory)
    ran = sorted((s for s in laboratory.table.jobs.values() if s.runs), key=lambda s: (s.row, s.number))
    if not ran:
        said = next(iter(laboratory.rejected.values()), "all still wait")
        raise InputError(f"{jobs.workload.name}: not one of {len(jobs.jobs)} jobs ran; Slurm says: {said}")
    rows = []
    for submitted in ran:
        record = done.get(submitted.number, {})
        rows.append(
            {
                "row": submitted.row,
                "job_id": submitted.number,
                "state": record.get("JobState", "UNKNOWN"),
                "nodes": submitted.runs[-1].nodes,
                "pass": passes.get(submitted.number, "main"),
                "partition": record.get("Partition", ""),
                "account": record.get("Account", ""),
                "qos": record.get("QOS", ""),
                "restarts": len(submitted.runs) - 1,
            }
        )
    records = pd.DataFrame(rows)
    started = {submitted.row for submitted in ran}
    unstarted = tuple(row for row in range(len(jobs.jobs)) if row not in started and row not in laboratory.rejected)
    schedule = _schedule(laboratory, jobs, ran, records, scheduler, processors, facts)
    frames = {name: pd.DataFrame(values) for name, values in observations.items() if values}
    schedule = replace(schedule, waited_for=_waited_for(frames.get("queue"), records["row"].to_numpy()))
    return SlurmRun(
        schedule, records, dict(laboratory.rejected), unstarted, frames, facts, laboratory.configuration.changes
    )


def _waited_for(queue: pd.DataFrame | None, rows: NDArray[np.int64]) -> dict[str, NDArray[np.int64]] | None:
    """Return the seconds that jobs waited for each of Slurm's reasons, if the queue was observed.

    A reason counts from the look that found it to the next one.
    """
    if queue is None or queue.empty:
        return None
    looks = np.unique(queue["second"].to_numpy())
    period = int(np.min(np.diff(looks))) if len(looks) > 1 else 0
    seen = queue.groupby(["reason", "row"]).size()
    return {
        str(reason): period * seen[reason].reindex(rows, fill_value=0).to_numpy(dtype=np.int64)
        for reason in sorted(set(queue["reason"]))
    }


def _schedule(
    laboratory: Laboratory,
    jobs: JobList,
    ran: list[Submitted],
    records: pd.DataFrame,
    scheduler: str,
    processors: int,
    facts: Mapping[str, Any],
) -> Schedule:
    workload = _labelled(jobs.workload[np.array([submitted.row for submitted in ran])], records)
    origin = laboratory.origin - laboratory.begin // SECOND
    last = [submitted.runs[-1] for submitted in ran]
    start = np.array([run.start // SECOND for run in last], dtype=np.int64) + origin
    end = np.array([(run.end or laboratory.clock.now()) // SECOND for run in last], dtype=np.int64) + origin
    eligible = _eligible(workload, start) if workload.dependencies is not None else None
    runs = [(place, run) for place, submitted in enumerate(ran) for run in submitted.runs]
    if several := len(runs) > len(ran):
        runs.sort(key=lambda each: each[1].start)
    return Schedule(
        workload=workload,
        start_time=start,
        end_time=end,
        backfilled=(records["pass"] == "backfill").to_numpy(copy=True),
        killed=(records["state"] == "TIMEOUT").to_numpy(copy=True),
        predicted_run_time=np.maximum(1, workload.requested_time).astype(np.int64),
        corrections=np.zeros(len(workload), dtype=np.int64),
        scheduler=scheduler,
        processors=processors,
        events="batched",
        specification={"engine": "slurm", **{name: value for name, value in facts.items() if name != "wall_seconds"}},
        eligible_time=eligible,
        runs=_all_runs(runs, ran, origin) if several else None,
        placement=placement_of(laboratory.nodes, [run for _, run in runs]),
    )


_LABELS = {"account": ("group_id", "Group"), "partition": ("partition_id", "Partition"), "qos": ("queue_id", "Queue")}
"""What Slurm recorded of each job: the column of a workload that has it, and what header lines call it."""


def _labelled(workload: Workload, records: pd.DataFrame) -> Workload:
    """Return the jobs with the account, partition and QOS that Slurm recorded, where the trace does not name them."""
    columns, lines = {}, list(workload.header)
    for name, (column, label) in _LABELS.items():
        names = sorted(set(records[name]) - {""})
        if names and bool((getattr(workload, column) == UNKNOWN).all()):
            number = {text: place for place, text in enumerate(names, 1)}
            columns[column] = np.array([number.get(text, UNKNOWN) for text in records[name]], dtype=np.int64)
            lines += [f" {label}: {place} {text}" for text, place in number.items()]
    return workload.replace(**columns, header=tuple(lines)) if columns else workload


def _all_runs(runs: list[tuple[int, Run]], ran: list[Submitted], origin: int) -> Any:
    """Return all runs, in the order of their starts, where jobs were requeued."""
    rows = [
        (
            place,
            run.start // SECOND + origin,
            (run.end or run.start) // SECOND + origin,
            0,
            False,
            run is ran[place].runs[-1],
            BY_ITSELF,  # what ended it is not recorded
            0,
            0,
        )
        for place, run in runs
    ]
    return np.array(rows, dtype=RUN)


def _eligible(workload: Any, start: Any) -> Any:
    """Return since when jobs could have started: their submission, or the end of their last parent, which is "
    "not later."""
    after, eligible = workload.dependencies, workload.submit_time.copy()
    ends = start + workload.run_time
    for row in range(len(workload)):
        for place in range(int(after.offsets[row]), int(after.offsets[row + 1])):
            eligible[row] = max(eligible[row], min(start[row], ends[after.parents[place]]))
    return eligible


def _records(laboratory: Laboratory) -> dict[int, dict[str, str]]:
    """Return the last record of each job that jobcomp/filetxt wrote."""
    path = laboratory.directory / "log" / "jobcomp.txt"
    records: dict[int, dict[str, str]] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            values = dict(_RECORD.findall(line))
            if values.get("JobId", "").isdigit():
                records[int(values["JobId"])] = values
    return records


def _passes(laboratory: Laboratory) -> dict[int, str]:
    """Return which pass started each job, the last time that it was started.

    Where the log does not tell of the backfill pass, it started all that the main pass did not.
    """
    logged = release_of(laboratory.installation.version).logs_backfill
    started = (number for number, job in laboratory.table.jobs.items() if job.runs)
    passes = dict.fromkeys(() if logged else started, "backfill")
    with open(laboratory.directory / "log" / "slurmctld.log", encoding="utf-8", errors="replace") as log:
        for line in log:
            if "JobId=" not in line:
                continue
            if matched := _MAIN.match(line):
                passes[int(matched[2])] = "main"
            elif (matched := _BACKFILL.match(line)) and (number := re.search(r"\((\d+)\)|^(\d+)$", matched[2])):
                passes[int(number[1] or number[2])] = "backfill"
    return passes
