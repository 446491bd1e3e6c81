"""Jobs that write checkpoints: a run, phase by phase, and what is left of it when it ends too soon."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedlab.engine.reference.job import Job
from schedlab.workload.checkpoints import write_checkpoints

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared

READS, WORKS, WRITES = "reads", "works", "writes"


@dataclass
class Checkpoints:
    """The checkpoints of a job, of which `saved` seconds of its `work` are in the last one."""

    interval: int
    cost: int
    restart: int
    when_told: bool
    work: int
    stepwise: bool
    saved: int = 0

    def phases(self, until: int) -> Iterator[tuple[str, int]]:
        """Yield what a run does from the last checkpoint on, and for how long, up to so much work of the job."""
        if self.saved:
            yield READS, self.restart
        left = until - self.saved
        while 0 < self.interval < left:
            yield WORKS, self.interval
            yield WRITES, self.cost
            left -= self.interval
        yield WORKS, left

    @property
    def need(self) -> int:
        """How long a run takes to the end of the job."""
        return sum(seconds for _, seconds in self.phases(self.work))

    def length_up_to(self, work: int, more: bool) -> int:
        """Return how long a run takes up to so much work, with a checkpoint at its end if `more` may be needed."""
        length = sum(seconds for _, seconds in self.phases(max(work, self.saved + 1)))
        return length + self.cost if self.when_told and more else length

    def stop(self, elapsed: int, told: int | None) -> tuple[int, int, int]:
        """Stop a run, which was told so many seconds before, or was not; return the work reached, and saved, and costs.

        What is in the last checkpoint becomes what the next run begins with.
        """
        begins = self.restart if self.saved else 0
        writes_now = self.when_told and told is not None and told >= self.cost and elapsed - told >= begins
        until = elapsed - told if told is not None and writes_now else elapsed
        before = reached = safe = self.saved
        spent, second = 0, 0
        for kind, seconds in self.phases(self.work):
            ends = second + seconds
            if kind == READS:
                spent += min(seconds, elapsed)
            elif kind == WORKS:
                reached += max(0, min(ends, until) - second)
            elif ends <= until or (writes_now and second < until):
                safe, spent = reached, spent + seconds
            if ends > until:
                break
            second = ends
        writing = kind == WRITES and second < until < ends
        if writes_now and not writing:
            safe, spent = reached, spent + self.cost
        self.saved = safe
        return reached, safe - before, spent


def checkpoints_of(prepared: Prepared, jobs: list[Job], stepwise: list[bool]) -> dict[Job, Checkpoints]:
    """Return the checkpoints of jobs in order of submission, which say how long they run; none if no job writes any."""
    if not write_checkpoints(prepared.workload):
        return {}
    names = ("checkpoint_interval", "checkpoint_cost", "restart_cost", "checkpoint_when_told", "run_time")
    columns = [prepared.column(name).tolist() for name in names]
    found = {}
    for job, *values in zip(jobs, *columns, stepwise, strict=True):
        found[job] = Checkpoints(*values)
        job.need = found[job].need
    return found
