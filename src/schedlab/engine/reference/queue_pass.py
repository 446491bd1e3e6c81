"""The pass without backfilling, and that of EASY."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

from schedlab.engine.parts.heterogeneous.reference import Places, place_together
from schedlab.engine.reference.clock import Clock
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import View
from schedlab.engine.reference.news import News
from schedlab.engine.reference.nodes import Piece
from schedlab.engine.reference.profile import Profile


@dataclass
class Reservation:
    """A reservation of a job, from the second on in which it is expected to fit, and where."""

    job: Job
    shadow: int
    pieces: list[Piece]


@dataclass
class QueuePass:
    """Start heads of the queue while they fit; with EASY, then candidates that do not delay the blocked head.

    Every partition has its head. A task that shares the place of its workflow, and is not ready, is not a head. But
    EASY's reservation is for it, if it precedes the head and its parents have ended or are running; `tasks` gives the
    earliest starts of such tasks.
    """

    clock: Clock
    easy: bool
    fresh: set[Job] = field(default_factory=set)
    """Candidates that started beside the present reservations: that their nodes boot is not known yet."""

    def moments(self) -> list[int]:
        """Return the seconds in which a pass is due without an event: none."""
        return []

    def schedule(self, news: News) -> None:
        """Make a pass after events; then use the gap before the reservation."""
        clock = self.clock
        if not (news.events or news.turned or news.corrected or news.awake or (news.computed and self.easy)):
            return
        while (over := clock.preemption.next_over(clock.sorted(clock.visible()))) is not None:
            clock.preemption.begin_over(*over)
        clock.preemption.make_way(clock.sorted(clock.visible()))
        while (head := self.head()) is not None:
            self.begin(head)
        if not self.easy or clock.in_order:
            return
        tasks = self.tasks()
        self.backfill(tasks)
        while self.queue() and (reserved := self.reservations(tasks)):
            free, end = clock.view(), min(one.shadow for one in reserved)
            length = min(end, clock.outages.next_closing(clock.now) or end) - clock.now
            waiting = [job for job in clock.visible() if clock.admitted(job)]
            places = {job: pieces for job in waiting if (pieces := free.place(job)) is not None}
            if clock.speculate(dict.fromkeys(places, length), places) is None:
                break

    def queue(self) -> list[Job]:
        """Return the jobs that may start, in order, if any processor is free."""
        clock = self.clock
        jobs = [job for job in clock.visible() if clock.admitted(job)] if clock.free() > 0 else []
        return jobs if clock.in_order else clock.sorted(jobs)

    def begin(self, places: Places) -> None:
        """Start jobs together."""
        for job, pieces in places.items():
            self.clock.begin(job, pieces)

    def head(self) -> Places | None:
        """Return the first job that fits, and where; on nodes of partitions in which no earlier job is blocked."""
        clock, blocked = self.clock, set[int]()
        view, queue = clock.view(), self.queue()
        for job in queue:
            for one in queue:
                if one.is_of(job):
                    components = one.waiting_with(clock.waiting)
                    places = place_together(clock, components, partial(self.open_to, view, blocked))
                    if places is not None:
                        return places
            blocked.update(clock.limits.partitions(job))
            if clock.limits.inputs is None:
                break
        return None

    def open_to(self, view: View, blocked: set[int], job: Job) -> View:
        """Return what is free for a job while earlier ones wait for some partitions."""
        return view.closed(self.clock.limits.kept_from(job, blocked)) if blocked else view

    def backfill(self, tasks: dict[Job, int]) -> None:
        """Start candidates alongside the reservations, which hold until jobs come into view that may precede them."""
        clock, reserved, seen = self.clock, list[Reservation](), set[Job]()
        self.fresh.clear()
        while self.queue():
            head = self.head()
            if head is not None:
                self.begin(head)
                reserved, tasks = [], self.tasks()
                self.fresh.clear()
                continue
            first = self.first_ones(tasks)
            same = len(first) == len(reserved) and all(map(Job.is_of, first, [one.job for one in reserved]))
            if not same or not seen.issuperset(clock.visible()):
                self.fresh.clear()
                reserved, seen = self.reservations(tasks), set(clock.visible())
            candidate = self.candidate(reserved)
            if candidate is None:
                break
            job, pieces = candidate
            clock.begin(job, pieces, backfilled=True)
            self.fresh.add(job)
            shown, had_one = not seen.issuperset(clock.visible()), any(one.job.is_of(job) for one in reserved)
            if shown or had_one or clock.limits.uses(job):  # who is first may be another: tasks are looked at anew, too
                tasks = self.tasks()
        self.fresh.clear()

    def tasks(self) -> dict[Job, int]:
        """Return when tasks could start whose parents have ended or are running."""
        clock, ends = self.clock, self.clock.running_ends()
        moments = {job: clock.dependencies.after_parents(job, clock.now, ends) for job in clock.waiting}
        return {job: moment for job, moment in moments.items() if moment is not None and not job.ready}

    def candidate(self, reserved: list[Reservation]) -> tuple[Job, list[Piece]] | None:
        """Return the first job that has room now and for its expected run time alongside reservations, and where."""
        clock = self.clock
        beside_all = self.profile(reserved)
        for job in clock.sorted(clock.visible(), clock.order.candidates):
            if clock.admitted(job):
                others = [one for one in reserved if not one.job.is_of(job)]
                profile = beside_all if len(others) == len(reserved) else self.profile(others)
                beside = profile.throughout(clock.now, clock.now + job.estimate)
                pieces = clock.view().lesser(beside).place(job)
                if pieces is not None:
                    return job, pieces
        return None

    def first_ones(self, tasks: dict[Job, int]) -> list[Job]:
        """Return the jobs that have reservations: in every partition, the head or a task before it."""
        clock, taken, first = self.clock, set[int](), list[Job]()
        for job in clock.sorted(clock.visible()):
            partitions = clock.limits.partitions(job)
            if (clock.admitted(job) or job in tasks) and not taken.issuperset(partitions):
                taken.update(partitions)
                first.append(job)
        return first

    def reservations(self, tasks: dict[Job, int]) -> list[Reservation]:
        """Return when these jobs are expected to fit, and where, each alongside the earlier ones."""
        reserved: list[Reservation] = []
        for job in self.first_ones(tasks):
            earliest, profile = tasks.get(job, self.clock.now), self.profile(reserved)
            found = [
                Reservation(one, *profile.earliest(one, one.estimate, earliest))
                for one in self.clock.sorted(self.clock.visible())
                if one is job or (one.is_of(job) and self.clock.admitted(one))
            ]
            reserved.append(min(found, key=lambda one: one.shadow + one.job.estimate))
        return reserved

    def profile(self, reserved: list[Reservation]) -> Profile:
        """Return what is free after the expected ends of running jobs, less the reservations."""
        profile = Profile(self.clock.now, self.clock.machine.empty)
        for job in self.clock.seen():
            end = self.clock.now + job.expected if job in self.fresh else job.expected_end
            profile.take(self.clock.now, end, job.pieces)
        self.clock.close(profile)
        for one in reserved:
            profile.take(one.shadow, one.shadow + one.job.estimate, one.pieces)
        return profile
