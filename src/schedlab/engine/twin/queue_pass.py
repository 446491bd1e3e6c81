"""The pass without backfilling, and that of EASY."""

from __future__ import annotations

from dataclasses import dataclass

from schedlab.engine.twin.clock import Clock, News
from schedlab.engine.twin.job import Job


@dataclass
class QueuePass:
    """Start heads of the queue while they fit; with EASY, then candidates that do not delay the blocked head.

    A task that shares the place of its workflow, and is not ready, is no head. But EASY's reservation is for it, if it
    stands before the head and its parents have ended or run; `tasks` says of such tasks when they could start.
    """

    clock: Clock
    easy: bool

    def moments(self) -> list[int]:
        """Return the seconds in which a pass is due by itself: none."""
        return []

    def schedule(self, news: News) -> None:
        """Make a pass after events; then use the gap before the reservation."""
        clock = self.clock
        if not (news.events or news.corrected or (news.computed and self.easy)):
            return
        while (head := self.head()) and clock.fits(head):
            clock.begin(head)
        if not self.easy or clock.in_order:
            return
        tasks = self.tasks()
        while head := self.head():
            candidate = head if clock.fits(head) else self.candidate(tasks)
            if candidate is None:
                break
            clock.begin(candidate, backfilled=candidate is not head)
        while self.head():
            length = self.reservation(tasks)[0] - clock.now
            if clock.speculate({job: length for job in clock.visible() if job.ready}) is None:
                break

    def head(self) -> Job | None:
        """Return the first job that is ready, if there is one and any processor is free."""
        ready = [job for job in self.clock.visible() if job.ready]
        return self.clock.head(ready) if ready and self.clock.free() > 0 else None

    def tasks(self) -> dict[Job, int]:
        """Return when tasks could start whose parents have ended or run."""
        clock, ends = self.clock, self.clock.running_ends()
        moments = {job: clock.dependencies.after_parents(job, clock.now, ends) for job in clock.waiting}
        return {job: moment for job, moment in moments.items() if moment is not None and not job.ready}

    def candidate(self, tasks: dict[Job, int]) -> Job | None:
        """Return the first job that does not delay the reservation."""
        clock = self.clock
        shadow, extra = self.reservation(tasks)
        for job in clock.sorted(clock.visible(), clock.order.candidates):
            in_time = clock.now + job.estimate <= shadow
            if job.ready and clock.fits(job) and (in_time or job.processors <= extra):
                return job
        return None

    def reservation(self, tasks: dict[Job, int]) -> tuple[int, int]:
        """Return when the head, or a task before it, is expected to fit, and how many processors are free beside it."""
        clock = self.clock
        first = next(job for job in clock.sorted(clock.visible()) if job.ready or job in tasks)
        earliest = clock.now if first.ready else tasks[first]
        ends = {job.expected_end for job in clock.seen()}
        for second in sorted({earliest, *(end for end in ends if end > earliest)}):
            free = clock.free() + sum(job.processors for job in clock.seen() if job.expected_end <= second)
            if free >= first.processors:
                return second, free - first.processors
        raise AssertionError("the machine is too small for a job")
