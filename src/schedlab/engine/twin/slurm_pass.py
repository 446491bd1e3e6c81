"""Slurm's two passes: a main pass after events, a backfill pass now and then. Plans do not outlive a pass."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count

from schedlab.engine.twin.clock import Clock, News
from schedlab.engine.twin.job import Job
from schedlab.engine.twin.slots import Booking, earliest, room_until
from schedlab.scheduler.slurm_backfill import SlurmBackfill

MINUTE = 60
LONG_AGO = -(10**15)


@dataclass
class SlurmPass:
    """When passes are due, and what they do.

    `full_due`: when a main pass that was cut short is followed by one that sees the whole queue. `changed`: whether
    anything has happened since the last backfill pass.
    """

    clock: Clock
    rules: SlurmBackfill = field(init=False)
    main_due: int | None = None
    full_due: int | None = None
    last_main: int | None = None
    changed: bool = False
    last_change: int = LONG_AGO
    last_backfill: int = LONG_AGO + 1

    def __post_init__(self) -> None:
        self.rules = self.clock.options.slurm

    def moments(self) -> list[int]:
        """Return when passes are due, if anybody waits."""
        if not self.clock.waiting:
            return []
        moments = [due for due in (self.main_due, self.full_due) if due is not None]
        if self.changed or self.rules.interval:
            moments.append(max(self.clock.now + 1, self.last_backfill + self.rules.interval))
        return moments

    def schedule(self, news: News) -> None:
        """Make the passes that are due."""
        clock, now, rules = self.clock, self.clock.now, self.rules
        self.note_idle_passes()
        if news.events or (clock.waiting and (news.corrected or news.computed)):
            self.changed, self.last_change = True, now
        if news.events:
            due = now if self.last_main is None else max(now, self.last_main + rules.delay)
            self.main_due = due if self.main_due is None else min(self.main_due, due)
        main = any(due is not None and due <= now for due in (self.main_due, self.full_due))
        backfill = self.changed or (clock.waiting and rules.interval)
        backfill = backfill and self.last_backfill + rules.interval <= now
        if backfill:
            self.changed, self.last_backfill = False, now
            if clock.waiting:
                self.last_change = now
        if main and clock.waiting:
            self.main_pass()
        if backfill and clock.waiting and not clock.in_order:
            self.backfill_pass()

    def note_idle_passes(self) -> None:
        """Count the backfill passes before now for which nobody waited: one after a change."""
        interval = self.rules.interval
        while interval and self.last_backfill + interval < self.clock.now and self.last_change >= self.last_backfill:
            self.changed = False
            self.last_backfill += interval

    def main_pass(self) -> None:
        """Start jobs in order, up to the first that does not fit."""
        clock = self.clock
        whole = self.full_due is not None and self.full_due <= clock.now
        self.main_due, self.full_due, self.last_main = None, None, clock.now
        for looked_at in count():
            ready = [job for job in clock.visible() if job.ready]
            if ready and looked_at == self.rules.queue_depth and not whole:
                self.full_due = (clock.now // MINUTE + 1) * MINUTE
                return
            if not ready or not clock.fits(head := clock.head(ready)):
                return
            clock.begin(head)
            self.last_change = clock.now

    def backfill_pass(self) -> None:
        """Plan jobs in order, each at its earliest time; start them, or reserve."""
        clock, now, rules = self.clock, self.clock.now, self.rules
        busy = [(now, job.expected_end, job.processors) for job in clock.seen()]
        begins: dict[Job, int] = {}
        ends: dict[Job, int] = {}
        blocked, looked_at, reserved = False, 0, 0
        opened, previous = 0, None
        for job in clock.sorted(clock.visible()):
            another = job.workflow is None or job.workflow != previous
            previous = job.workflow
            opened += another and job.workflow is not None
            possible = now if job.ready else self.after_parents(job, ends)
            if possible is not None and (job.workflow is None or opened <= rules.wf_depth):
                if another or rules.wf_count == "tasks":
                    if looked_at == rules.depth:
                        break
                    looked_at += 1
                begins[job] = earliest(busy, clock.case.processors, job.processors, job.estimate, possible)
            begin = begins.get(job)
            if begin == now and job.ready and clock.fits(job):
                job.backfilled |= blocked
                clock.begin(job)
                ends[job] = job.expected_end
                busy.append((now, job.expected_end, job.processors))
                continue
            blocked |= job.ready
            if begin is not None and begin <= now + rules.window and reserved < rules.reserve:
                reserved += 1
                ends[job] = begin + job.estimate
                rounded = [second // rules.resolution * rules.resolution for second in (begin, ends[job])]
                busy.append((max(now, rounded[0]), rounded[1], job.processors))
        self.use_gaps(busy, begins)

    def after_parents(self, job: Job, ends: dict[Job, int]) -> int | None:
        """Return when a task that waits for others could start by the plan, None if the plan does not say."""
        now = self.clock.now
        possible = now
        for parent, delay in self.clock.dependencies.parents[job].items():
            if parent.ended is not None:
                end = parent.ended
            elif parent in self.clock.running:
                end = max(now, parent.expected_end)
            elif parent in ends:
                end = ends[parent]
            else:
                return None
            possible = max(possible, end + delay)
        return possible if self.rules.wf_plan == "all" else None

    def use_gaps(self, busy: list[Booking], begins: dict[Job, int]) -> None:
        """Run planned jobs speculatively before what the pass has planned, the job's own plan included."""
        clock, now = self.clock, self.clock.now
        while clock.free() > 0:
            lengths = {
                job: max(0, room_until(busy, clock.case.processors, job.processors, now, begin) - now)
                for job, begin in begins.items()
                if job in clock.waiting and job.ready
            }
            job = clock.speculate(lengths)
            if job is None:
                return
            busy.append((now, job.expected_end, job.processors))
