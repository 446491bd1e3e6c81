"""A laboratory: slurmctld under the clock, a stand-in for its nodes, and a queue of what happens from outside."""

from __future__ import annotations

import heapq
import itertools
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from schedlab.arguments import explained
from schedlab.slurm.boots import Boots
from schedlab.slurm.clock import SECOND, Clock
from schedlab.slurm.components import command_line, components_of, left_over, note_held, with_numbers
from schedlab.slurm.configuration import Configuration
from schedlab.slurm.daemon import Daemon, LaboratoryError, numbered
from schedlab.slurm.installation import Installation, find_slurm
from schedlab.slurm.job_table import JobTable, Run, Submitted, array_size
from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.patience import Patience
from schedlab.slurm.releases import release_of
from schedlab.slurm.standin import Standin
from schedlab.slurm.virtual_events import End, Tick, is_stale
from schedlab.slurm.wire import Kill, Launch, Message, Node, first_node

Mode = Literal["frozen", "hybrid"]

LEAD = 180
"""Virtual seconds that slurmctld runs before the origin: it forgets its start, and is in the middle of its loops."""

EPOCH = 1_700_002_800
"""Unix time of the origin, a full hour, where a workload does not know its own."""

_AWHILE = 600 * SECOND
_STUCK = 300

PLUGINS = ("SelectType", "SchedulerType", "PriorityType", "PreemptType", "TopologyPlugin", "JobSubmitPlugins")
"""Parameters that say which plugins decide."""


@explained
class Laboratory:
    """A slurmctld in skipped time; use it as a context manager, in the thread that made it.

    Parameters
    ----------
    configuration
        What slurmctld is started with.
    mode
        "frozen": time stands still while Slurm computes; equal input gives equal results to the bit. "hybrid": it
        passes.
    phase
        Seconds, also fractions: how much earlier than usual slurmctld starts. Its loops of 1, 30 and 60 seconds then
        meet the jobs at other points.
    origin
        Second of the workload's clock at which jobs may begin to come; all seconds below are of that clock.
    epoch
        Unix time of that second.
    directory
        Where its files go. None: a temporary directory that is removed at the end.
    users
        Users who submit jobs beside those of the accounts.
    installation
        Which Slurm; None: see `schedlab.slurm.installation.find_slurm`.

    Raises
    ------
    InputError
        If there is no Slurm or no compiler, or slurmctld refuses the configuration; its own message is quoted.
    """

    def __init__(
        self,
        configuration: Configuration,
        *,
        mode: Mode = "frozen",
        phase: float = 0.0,
        origin: int = 0,
        epoch: int = EPOCH,
        directory: Path | None = None,
        users: Sequence[str] = (),
        installation: Installation | None = None,
    ) -> None:
        self.configuration = configuration
        self.installation = installation or find_slurm()
        self.messages = release_of(self.installation.version).messages
        self.mode: Mode = mode
        self.phase = phase
        self.origin = origin
        self.begin = epoch * SECOND
        self._temporary = directory is None
        self.directory = Path(tempfile.mkdtemp(prefix="schedlab-slurm-")) if directory is None else directory.absolute()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.uids = numbered(configuration, users)
        self.table = JobTable()
        self.numbers: dict[int, int] = {}
        self.rejected: dict[int, str] = {}
        self.nodes: list[Node] = []
        self._events: list[tuple[int, tuple[int, int], Callable[[], None]]] = []
        self._sequence = itertools.count()
        self._lock = threading.RLock()
        self._to_come = 0
        self._registered_at = -1

    def __enter__(self) -> Laboratory:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        start = self.begin - round((LEAD + self.phase) * SECOND)

        def let_time_pass() -> None:
            self.clock.limit(min(self.clock.now() + SECOND, start + 20 * SECOND))

        for attempt in range(5):
            self.standin = Standin(self, self.messages)
            self.daemon = Daemon(self.configuration, self.installation, self.directory, self.uids, self.standin.port)
            self.clock = Clock(self.directory / "clock", start, frozen=self.mode == "frozen")
            self.standin.start()
            if self.daemon.start(self.mode, let_time_pass):
                break
            message = self.daemon.complaint()
            self._end()
            if "Address already in use" not in message or attempt == 4:
                raise self.daemon.refusal()
        with self.daemon.starting():
            self._settle(start + 20 * SECOND)
        self.nodes = self.daemon.nodes(self.clock.now())
        self.register()
        self._settle(self.begin)
        if self.configuration.boot_time is not None:
            Boots(self, self.configuration.boot_time)

    def close(self) -> None:
        """End slurmctld and the stand-in, and remove the files if they are temporary."""
        self._end()
        if self._temporary:
            shutil.rmtree(self.directory, ignore_errors=True)

    def _end(self) -> None:
        for name in ("standin", "clock"):
            if hasattr(self, name):
                getattr(self, name).close()
        if hasattr(self, "daemon"):
            self.daemon.end()

    def now(self) -> float:
        """Return the virtual time, in seconds of the workload's clock."""
        return self.second(self.clock.now())

    def second(self, instant: int) -> float:
        """Return a virtual time in nanoseconds as seconds of the workload's clock."""
        return (instant - self.begin) / SECOND + self.origin

    def at(self, second: float, action: Callable[[], None]) -> None:
        """Have something done at a virtual time, given in seconds of the workload's clock."""
        self._push(self.begin + round((second - self.origin) * SECOND), action)

    def every(self, seconds: float, action: Callable[[], None], *, first: float | None = None) -> None:
        """Have something done again and again while jobs are there."""
        self.at(self.origin if first is None else first, Tick(self, round(seconds * SECOND), action))

    def again(self, action: Callable[[], None], nanoseconds: int) -> None:
        """Schedule an action after a delay in nanoseconds, if there are jobs by then."""
        if self._unfinished():
            self._push(self.clock.now() + nanoseconds, action)

    def run(self, progress: Callable[[int, float], None] | None = None, until: float = float("inf")) -> bool:
        """Let time go on until all jobs have ended; return whether it has come to that, or to rest.

        Parameters
        ----------
        progress
            Called now and then with the number of open jobs and the virtual second.
        until
            The second at which it stops in any case.

        Raises
        ------
        LaboratoryError
            If slurmctld dies or does not come to rest.
        """
        patience = Patience(self)
        # Slurm may requeue a job that it has ended, as it does when a node fails: it has the last word.
        while (unfinished := self._unfinished()) or self.reasons():
            with self._lock:
                if unfinished and not self._unfinished():
                    continue  # the last one has ended since the question, and the clock stands there
                self._forget_stale_ends()
                lonely = all(isinstance(action, Tick) for _, _, action in self._events)
                self._let_time_go_on()
            self._rest()
            if self._events and self._events[0][0] <= self.clock.now():
                lonely = lonely and isinstance(self._events[0][2], Tick)  # a job may have been launched and have ended
                self._do_next()
                if progress is not None:
                    progress(self._unfinished(), self.now())
            if patience.is_over(lonely):
                break
            if self.now() >= until:
                return False
        return True

    def _do_next(self) -> None:
        self.clock.hold()
        try:
            with self._lock:
                _, _, action = heapq.heappop(self._events)
            action()
        finally:
            self.clock.release()

    def _unfinished(self) -> int:
        """Return how many jobs are still to be submitted, or to end."""
        return self.table.open + self._to_come

    def _let_time_go_on(self) -> None:
        """Let the clock run to the next event, not farther than a while: it may be the end of a job that is killed."""
        ahead = self.clock.now() + _AWHILE
        self.clock.limit(min(ahead, self._events[0][0]) if self._events else ahead)

    def _push(self, instant: int, action: Callable[[], None], rank: int = 0) -> None:
        with self._lock:
            heapq.heappush(self._events, (instant, (rank, next(self._sequence)), action))

    def _forget_stale_ends(self) -> None:
        """Remove the planned ends, at the head of the queue, of runs that were ended before."""
        while self._events and is_stale(self._events[0][2]):
            heapq.heappop(self._events)

    def _settle(self, instant: int) -> None:
        """Let slurmctld run to an instant and come to rest there."""
        self.clock.limit(instant)
        while self.clock.now() < instant:
            self._check_alive()
            self.clock.wait(self.clock.arrivals, 0.02)
        self._rest()

    def _rest(self) -> None:
        """Wait until slurmctld has come to rest at the limit: twice, as the first may belong to the limit before."""
        since = time.monotonic()
        first = self.clock.arrivals
        self._check_standin()
        while (self.clock.arrivals - first) % 2**32 < 2:
            self.clock.wait(self.clock.arrivals, 0.2)
            if time.monotonic() - since > 5:
                self._check_alive()
                if time.monotonic() - since > _STUCK:
                    raise LaboratoryError(
                        f"slurmctld is still busy at second {self.now():.0f}; {self.daemon.complaint()}"
                    )

    def _check_alive(self) -> None:
        if not self.daemon.alive:
            raise LaboratoryError(f"slurmctld died at second {self.now():.0f}: {self.daemon.complaint()}")
        self._check_standin()

    def _check_standin(self) -> None:
        failure = self.standin.failure
        if failure is not None:
            raise LaboratoryError(f"the simulated slurmd failed: {type(failure).__name__}: {failure}") from failure

    def add(self, jobs: Sequence[BatchJob], options: Callable[[int, BatchJob], Sequence[str]] | None = None) -> None:
        """Have jobs submitted at their times; rows are their positions.

        Parameters
        ----------
        jobs
            The jobs.
        options
            Gives further options of sbatch for a job, at the moment of its submission.
        """
        self._to_come += len(jobs)
        parts = components_of(jobs)
        for first in sorted(parts, key=lambda row: jobs[row].submit):
            these = [(row, jobs[row]) for row in parts[first]]
            self.at(jobs[first].submit, lambda these=these: self._submit(these, options))  # type: ignore[misc]

    def _submit(
        self, components: Sequence[tuple[int, BatchJob]], options: Callable[[int, BatchJob], Sequence[str]] | None
    ) -> None:
        """Submit a job, or the components of a heterogeneous one."""
        self._to_come -= len(components)
        row, job = components[0]
        further = (() if options is None else options(*one) for one in components)
        line = command_line([*one.options, *more] for (_, one), more in zip(components, further, strict=True))
        words = [with_numbers(word, self.numbers) for word in line]
        if None in words:
            self.rejected |= {one: "a job that it depends on was rejected" for one, _ in components}
            return
        command = ["sbatch", "--parsable", "-J", f"j{row}", "-o", "/dev/null", "-D", "/tmp", *map(str, words)]
        answer = self.command(command, user=job.user, stdin="#!/bin/sh\n:\n")
        if answer.returncode:
            said = " ".join(answer.stderr.replace("sbatch: error:", "").split())
            self.rejected |= {one: said for one, _ in components}
            if ":" in line:
                self._adopt(components)
            return
        first = int(answer.stdout.partition(";")[0])
        for number, (one, part) in enumerate(components, first):
            self.numbers[one] = number
            self.table.add(number, one, part.run_time, array_size(part.options), first)

    def _adopt(self, components: Sequence[tuple[int, BatchJob]]) -> None:
        """Enter what Slurm leaves in the queue of a job that it refuses: 26.05 cancels the first component only."""
        listed = self.command(["squeue", "-h", "-o", "%A %j"]).stdout
        numbers = left_over(listed, f"j{components[0][0]}", self.table.jobs)
        for number, (row, job) in zip(numbers, components[1:] or [*components] * len(numbers), strict=False):
            self.table.add(number, row, job.run_time, 1)
            if components[1:]:
                self.numbers[row] = number
                self.rejected.pop(row)

    def command(
        self, words: Sequence[str], *, user: str | None = None, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run a client program of Slurm against this laboratory, while its clock stands.

        Parameters
        ----------
        words
            Program and arguments; `%job(3)` stands for the Slurm number of the job in row 3.
        user
            Who it claims to be.
        stdin
            What it reads.
        """
        resolved = [with_numbers(word, self.numbers) or "0" for word in words]
        return self.daemon.client(resolved, self.clock.now(), user, stdin)

    def register(self, names: Sequence[str] | None = None) -> None:
        """Register nodes, all unless their names are given, with the jobs that run on each."""
        self._registered_at = self.clock.now()
        runs = list(self.table.running.values())
        for node in self.nodes if names is None else [node for node in self.nodes if node.name in names]:
            jobs = [run.job for run in runs if first_node(run.nodes) == node.name]
            second = self.clock.now() // SECOND
            body = self.messages.registration(node, second, jobs)
            self.messages.call(self.daemon.port, Message.NODE_REGISTRATION, body)

    def complete(self, job: int, nodes: str) -> None:
        """Tell slurmctld that the batch script of a job, which ran on the first of some nodes, has ended."""
        body = self.messages.batch_complete(job, first_node(nodes))
        self.messages.call(self.daemon.port, Message.BATCH_COMPLETE, body)

    def launched(self, launch: Launch) -> None:
        """Note a start, and when the job will end."""
        submitted = self.table.launch(launch, self.clock.now())
        for run in self.table.join(submitted, self.clock.now()):
            self._push(self.clock.now(), lambda run=run: self._ask_what_is_held(run))  # type: ignore[misc]
        self._plan_end(submitted)

    def _ask_what_is_held(self, run: Run) -> None:
        note_held(run, self.command(["scontrol", "--detail", "show", "job", str(run.job)]).stdout)

    def _plan_end(self, submitted: Submitted) -> None:
        """Ends at one instant come by the numbers of the jobs: in which order they were launched is chance."""
        instant = submitted.planned_end
        with self._lock:
            self._push(instant, End(self, submitted.runs[-1], instant), submitted.number)
            self.clock.limit(min(self._events[0][0], instant))

    def killed(self, kill: Kill) -> None:
        """Note an end; after the last one, nothing is worth waiting for."""
        with self._lock:
            self.table.end(kill, self.clock.now())
            if not self._unfinished():
                self.clock.limit(self.clock.now())

    def suspended(self, job: int, suspended: bool) -> None:
        """Note that a job stands still, or goes on: it ends so much later."""
        moved = self.table.suspend(job, suspended, self.clock.now())
        if moved is not None:
            self._plan_end(moved)

    def asked_to_register(self) -> None:
        """Register all nodes, once in a virtual second."""
        if self.nodes and self._registered_at != self.clock.now():
            self.register()

    def reasons(self) -> str:
        """Return why the jobs in the queue wait, None of those that run among them; nothing if it is empty."""
        return self.command(["squeue", "-h", "-o", "%r"]).stdout.strip()

    def facts(self) -> dict[str, Any]:
        """Return which Slurm this is, under which clock, and how the clock went."""
        return {
            "slurm": self.installation.version,
            "mode": self.mode,
            "phase": self.phase,
            "clock": self.daemon.library.stem,
            "plugins": {name: self.configuration.value(name) for name in PLUGINS if self.configuration.value(name)},
            **self.clock.statistics(),
        }
