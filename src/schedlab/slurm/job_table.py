"""The jobs of a laboratory: which Slurm knows under which number, which run, and when each will end."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from schedlab.slurm.clock import SECOND
from schedlab.slurm.wire import Kill, Launch, WireError
from schedlab.workload.sbatch import array_of, options_of


@dataclass(slots=True)
class Run:
    """One run of a job, in virtual nanoseconds."""

    job: int
    nodes: str
    start: int
    end: int | None = None
    requeued: bool = False
    suspended: list[tuple[int, int]] = field(default_factory=list)
    """When it stood still: from one instant to another."""
    cores: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()


@dataclass(slots=True)
class Submitted:
    """A job as Slurm knows it: row in the list of jobs, run time, runs; `array` is the job whose task it is."""

    row: int
    number: int
    run_time: int
    array: int
    runs: list[Run] = field(default_factory=list)
    suspended_at: int | None = None
    planned_end: int = 0


class JobTable:
    """All jobs that were submitted, filled by the laboratory and by the stand-in's thread."""

    def __init__(self) -> None:
        self.jobs: dict[int, Submitted] = {}
        self.tasks: dict[int, int] = {}
        """Tasks of each submitted job, by its number, that have not ended for good."""
        self.others: dict[int, list[int]] = {}
        """The further components of heterogeneous jobs, by the number of the first."""
        self.running: dict[int, Run] = {}
        self.open = 0
        """How many jobs and tasks have not ended for good."""
        self._lock = threading.RLock()

    def add(self, number: int, row: int, run_time: int, tasks: int, leader: int | None = None) -> None:
        """Note that Slurm has accepted a job, or a component of the heterogeneous job with this first one."""
        with self._lock:
            self.jobs[number] = Submitted(row, number, run_time, number)
            if leader is not None and leader != number:
                self.others.setdefault(leader, []).append(number)
            self.tasks[number] = tasks
            self.open += tasks

    def launch(self, launch: Launch, now: int) -> Submitted:
        """Note a start.

        Raises
        ------
        WireError
            If the job was not submitted here.
        """
        with self._lock:
            submitted = self.jobs.get(launch.job)
            if submitted is None:
                parent = self.jobs.get(launch.array_job)
                if parent is None:
                    raise WireError(f"Slurm started job {launch.job}, which was not submitted by the laboratory")
                submitted = Submitted(parent.row, launch.job, parent.run_time, parent.number)
                self.jobs[launch.job] = submitted
            run = Run(launch.job, launch.nodes, now, cores=launch.cores, gpus=launch.gpus)
            submitted.runs.append(run)
            submitted.planned_end = now + submitted.run_time * SECOND
            self.running[launch.job] = run
            return submitted

    def join(self, first: Submitted, now: int) -> list[Run]:
        """Note the starts of the components that start with the first one; return their runs."""
        with self._lock:
            runs = [Run(number, "", now) for number in self.others.get(first.number, ()) if number not in self.running]
            for run in runs:
                self.jobs[run.job].runs.append(run)
                self.running[run.job] = run
            return runs

    def end(self, kill: Kill, now: int) -> None:
        """Note an end, which Slurm says once per node."""
        with self._lock:
            run = self.running.pop(kill.job, None)
            if run is None:
                return
            run.end, run.requeued = now, kill.comes_back
            array = self.jobs[kill.job].array
            if not kill.comes_back and self.tasks[array]:
                self.tasks[array] -= 1
                self.open -= 1

    def suspend(self, job: int, suspended: bool, now: int) -> Submitted | None:
        """Note that a job stands still, or goes on; return it if its end has moved."""
        with self._lock:
            submitted = self.jobs.get(job)
            if submitted is None or job not in self.running:
                return None
            if suspended:
                submitted.suspended_at = now if submitted.suspended_at is None else submitted.suspended_at
                return None
            if submitted.suspended_at is None:
                return None
            submitted.planned_end += now - submitted.suspended_at
            self.running[job].suspended.append((submitted.suspended_at, now))
            submitted.suspended_at = None
            return submitted

    def ends_at(self, run: Run, instant: int) -> bool:
        """Return whether a run still goes on, and is planned to end at an instant."""
        submitted = self.jobs[run.job]
        planned = submitted.planned_end == instant and submitted.suspended_at is None
        return planned and self.running.get(run.job) is run


def array_size(options: Sequence[str]) -> int:
    """Return how many tasks a job has.

    Examples
    --------
    >>> array_size(("--array=1-7:2,9%2", "-n", "1")), array_size(("-n", "1"))
    (5, 1)
    """
    return max(array_of(dict(options_of(options)).get("array", ""))[0], 1)
