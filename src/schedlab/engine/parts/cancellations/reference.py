"""Jobs that are cancelled while they wait: so many seconds after their submissions were accepted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.parts.cancellations.numbers import patience_by_job
from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.job import Job

if TYPE_CHECKING:
    from schedlab.engine.reference.clock import Clock


@dataclass
class Cancellations:
    """Who is cancelled, and when: `deadlines` of the jobs that have been accepted, whether they have started or not."""

    prepared: Prepared
    deadlines: dict[Job, int] = field(default_factory=dict)
    cancelled: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        patience = patience_by_job(self.prepared.workload)
        self.patience = None if patience is None else self.prepared.in_submission_order(patience).tolist()

    def note(self, accepted: list[Job], now: int) -> None:
        """Let the patience of jobs begin."""
        for job in accepted:
            if self.patience is not None and self.patience[job.number] > 0:
                self.deadlines[job] = now + self.patience[job.number]

    def moments(self) -> list[int]:
        """Return when jobs that have never started are cancelled."""
        return [second for job, second in self.deadlines.items() if job.begun < 0 and job.ended is None]

    def cancel(self, clock: Clock) -> list[Job]:
        """Let the jobs that are cancelled in this second leave; return those that were in the queue."""
        now = clock.now
        cancelled = [job for job, second in self.deadlines.items() if second == now and job.begun < 0]
        for job in cancelled:  # they have ended, as if they had begun now
            job.start = job.ended = now
            job.completion = (now, -1)
            self.cancelled.add(job.number)
            if not job.ready:
                job.eligible = now
        left = [job for job in clock.waiting if job in cancelled]
        clock.waiting = [job for job in clock.waiting if job not in left]
        clock.dependencies.held = [job for job in clock.dependencies.held if job not in cancelled]
        return left

    def told(self) -> dict[str, Any]:
        """Return, in the workload's order, which jobs were cancelled while they waited, if not all wait for ever."""
        if self.patience is None:
            return {}
        cancelled = np.array([number in self.cancelled for number in range(len(self.patience))])
        return {"cancelled": self.prepared.in_workload_order(cancelled)}
