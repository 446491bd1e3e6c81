"""The pass without backfilling, and that of EASY."""

from __future__ import annotations

from dataclasses import dataclass

from schedlab.engine.twin.clock import Clock, News
from schedlab.engine.twin.job import Job
from schedlab.engine.twin.nodes import Part


@dataclass
class Reservation:
    """What is kept for a job from the second on in which it is expected to fit."""

    job: Job
    shadow: int
    parts: list[Part]


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
        while (head := self.head()) and (parts := clock.view().place(head)) is not None:
            clock.begin(head, parts)
        if not self.easy or clock.in_order:
            return
        tasks = self.tasks()
        self.backfill(tasks)
        while self.head():
            free, length = clock.view(), self.reservation(tasks).shadow - clock.now
            places = {job: parts for job in clock.visible() if job.ready and (parts := free.place(job)) is not None}
            if clock.speculate(dict.fromkeys(places, length), places) is None:
                break

    def backfill(self, tasks: dict[Job, int]) -> None:
        """Start candidates beside the reservation, which stands until jobs come into view that may go before it."""
        clock = self.clock
        reservation, seen = None, set[Job]()
        while head := self.head():
            parts = clock.view().place(head)
            if parts is not None:
                clock.begin(head, parts)
                reservation = None
                continue
            if reservation is None or not seen.issuperset(clock.visible()):
                reservation, seen = self.reservation(tasks), set(clock.visible())
            candidate = self.candidate(reservation)
            if candidate is None:
                break
            clock.begin(*candidate, backfilled=True)

    def head(self) -> Job | None:
        """Return the first job that is ready, if there is one and any processor is free."""
        ready = [job for job in self.clock.visible() if job.ready]
        return self.clock.head(ready) if ready and self.clock.free() > 0 else None

    def tasks(self) -> dict[Job, int]:
        """Return when tasks could start whose parents have ended or run."""
        clock, ends = self.clock, self.clock.running_ends()
        moments = {job: clock.dependencies.after_parents(job, clock.now, ends) for job in clock.waiting}
        return {job: moment for job, moment in moments.items() if moment is not None and not job.ready}

    def candidate(self, reservation: Reservation) -> tuple[Job, list[Part]] | None:
        """Return the first job that does not delay the reservation, and what it gets."""
        clock = self.clock
        free = clock.view()
        throughout = free.lesser(clock.view(reservation.shadow).without(reservation.parts))
        for job in clock.sorted(clock.visible(), clock.order.candidates):
            in_time = clock.now + job.estimate <= reservation.shadow
            parts = (free if in_time else throughout).place(job) if job.ready else None
            if parts is not None:
                return job, parts
        return None

    def reservation(self, tasks: dict[Job, int]) -> Reservation:
        """Return when the head, or a task before it, is expected to fit, and where."""
        clock = self.clock
        first = next(job for job in clock.sorted(clock.visible()) if job.ready or job in tasks)
        earliest = clock.now if first.ready else tasks[first]
        ends = {job.expected_end for job in clock.seen()}
        for second in sorted({earliest, *(end for end in ends if end > earliest)}):
            parts = clock.view(second).place(first)
            if parts is not None:
                return Reservation(first, second, parts)
        raise AssertionError("the machine is too small for a job")
