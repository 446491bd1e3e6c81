"""The pass without backfilling, and that of EASY."""

from __future__ import annotations

from dataclasses import dataclass

from schedlab.engine.twin.clock import Clock, News
from schedlab.engine.twin.job import Job


@dataclass
class QueuePass:
    """Start heads of the queue while they fit; with EASY, then candidates that do not delay the blocked head."""

    clock: Clock
    easy: bool

    def moments(self) -> list[int]:
        """Return the seconds in which a pass is due by itself: none."""
        return []

    def schedule(self, news: News) -> None:
        """Make a pass after events; then use the gap before the reservation of the head."""
        clock = self.clock
        if not (news.events or news.corrected or (news.computed and self.easy)):
            return
        while clock.waiting and clock.free() > 0:
            job = self.next()
            if job is None:
                break
            clock.begin(job)
        while self.easy and clock.waiting and clock.free() > 0 and not clock.in_order:
            visible = clock.visible()
            shadow, _ = self.reservation(clock.head(visible))
            if clock.speculate(dict.fromkeys(visible, shadow - clock.now)) is None:
                break

    def next(self) -> Job | None:
        """Return who starts next: the head, or the first candidate that does not delay it."""
        clock = self.clock
        visible = clock.visible()
        head = clock.head(visible)
        if clock.fits(head):
            return head
        if not self.easy or clock.in_order:
            return None
        shadow, extra = self.reservation(head)
        for job in clock.sorted(visible, clock.options.candidates):
            if clock.fits(job) and (clock.now + job.estimate <= shadow or job.processors <= extra):
                job.backfilled = True
                return job
        return None

    def reservation(self, head: Job) -> tuple[int, int]:
        """Return when the head is expected to fit, and how many processors will be free beside it then."""
        clock = self.clock
        ends = {job.expected_end for job in clock.seen()}
        for second in sorted({clock.now, *(end for end in ends if end > clock.now)}):
            free = clock.free() + sum(job.processors for job in clock.seen() if job.expected_end <= second)
            if free >= head.processors:
                return second, free - head.processors
        raise AssertionError("the machine is too small for a job")
