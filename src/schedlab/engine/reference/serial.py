"""The event loop of SC'17's simulator in plain Python for readers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from schedlab.engine.prepared import Prepared
from schedlab.engine.queue.function_order import blame
from schedlab.engine.sc17_simulator import SAME_MOMENT
from schedlab.scheduler.backfilling import Easy
from schedlab.scheduler.policy import FCFS, SPF


@dataclass(eq=False)
class SerialJob:
    """A job; `number` counts submissions."""

    number: int
    submit: int
    duration: int
    estimate: int
    processors: int
    start: float = -1.0
    backfilled: bool = False

    @property
    def end(self) -> float:
        """When a started job ends."""
        return self.start + self.duration

    def remaining(self, second: int) -> float:
        """Return how long a running job is still expected to run; its age is taken in single precision."""
        return self.estimate - float(np.float32(second - self.start))


@dataclass
class SerialReference:
    """One list of all jobs: those that have started, those that the scheduler sees, all others."""

    prepared: Prepared
    jobs: list[SerialJob] = field(init=False)
    queue: list[SerialJob] = field(init=False)
    running: list[SerialJob] = field(default_factory=list)
    started: int = 0
    now: float = 0.0

    def __post_init__(self) -> None:
        columns = [self.prepared.jobs[name].tolist() for name in ("submit", "duration", "estimate", "processors")]
        self.jobs = [SerialJob(number, *values) for number, values in enumerate(zip(*columns, strict=True))]
        self.queue = list(self.jobs)

    def run(self) -> None:
        """Simulate until every job has started."""
        while self.queue:
            if self.started >= self.prepared.in_order:
                self.reorder()
            head = self.queue[0]
            if head.submit > self.now:
                self.wait_until(head.submit)
            if head.processors > self.free():
                ends = [job.end for job in self.running]
                self.wait_until(min(ends + [job.submit for job in self.jobs if job.submit > self.now]))
                continue
            self.wait_until(self.now + (self.prepared.scheduler.start_delay or 0.0))
            head.start = self.now
            self.running.append(self.queue.pop(0))
            self.started += 1

    def wait_until(self, moment: float) -> None:
        """Advance the time, and end jobs."""
        self.now = moment
        same = SAME_MOMENT if self.prepared.scheduler.start_delay else 0.0
        self.running = [job for job in self.running if job.end > moment + same]

    def free(self) -> int:
        """Return how many processors are free."""
        return self.prepared.processors - sum(job.processors for job in self.running)

    def reorder(self) -> None:
        """Sort the jobs that the scheduler sees, and move one that may be backfilled to the front."""
        second = int(self.now)
        window = self.queue[: self.prepared.scheduler.window]
        count = next((i for i, job in enumerate(window) if job.submit > second), len(window))
        if count > 1:
            visible = self.by_policy(window[:count], second)
            if isinstance(self.prepared.scheduler.backfill, Easy) and visible[0].processors > self.free():
                visible = self.backfill(visible, second)
            self.queue[:count] = visible

    def by_policy(self, visible: list[SerialJob], second: int) -> list[SerialJob]:
        """Sort by score; shortest-job-first by exchanges, which do not keep ties in order."""
        policy = self.prepared.scheduler.policy
        if isinstance(policy, FCFS):
            return visible
        values = policy.scores(
            np.array([job.estimate for job in visible], dtype=np.int64),
            np.array([job.processors for job in visible], dtype=np.int64),
            np.array([job.submit - self.jobs[0].submit for job in visible], dtype=np.int64),
            np.array([second - job.submit for job in visible], dtype=np.int64),
        )
        if np.isnan(values).any():
            blamed = visible[int(np.argmax(np.isnan(values)))].number
            blame(policy, self.prepared.jobs, self.prepared.request, blamed, second)
        scores = dict(zip(visible, values.tolist(), strict=True))
        if not isinstance(policy, SPF):
            return sorted(visible, key=lambda job: scores[job])
        for a in range(len(visible)):
            for b in range(len(visible)):
                if scores[visible[a]] < scores[visible[b]]:
                    visible[a], visible[b] = visible[b], visible[a]
        return visible

    def backfill(self, visible: list[SerialJob], second: int) -> list[SerialJob]:
        """Return the jobs with the first one that does not delay the head before it."""
        free, needed = self.free(), visible[0].processors
        candidates = [(job.remaining(second), job) for job in self.running]
        candidates = [(remaining, job) for remaining, job in candidates if remaining != -1]
        released, last = 0, 0
        while free + released < needed and candidates:
            chosen, last = candidates[0], int(candidates[0][0])
            for remaining, job in candidates[1:]:
                if remaining < last:
                    chosen, last = (remaining, job), int(remaining)
            candidates.remove(chosen)
            released += chosen[1].processors
        if free + released < needed:
            return visible
        extra = free + released - needed
        for job in visible[1:]:
            if job.processors <= free and (job.estimate <= last or job.processors <= extra):
                job.backfilled = True
                return [job, *(other for other in visible if other is not job)]
        return visible
