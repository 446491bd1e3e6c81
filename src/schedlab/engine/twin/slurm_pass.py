"""Slurm's two passes: a main pass after events, and a periodic backfill pass. Plans do not outlive a pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from schedlab.engine.twin.clock import Clock, News
from schedlab.engine.twin.hetjobs import start_planned, start_together
from schedlab.engine.twin.job import Job
from schedlab.engine.twin.nodes import Part
from schedlab.engine.twin.preemption import place_in
from schedlab.engine.twin.profile import Profile
from schedlab.scheduler.backfilling import Slurm

MINUTE = 60
LONG_AGO = -(10**15)


@dataclass
class SlurmPass:
    """Slurm's passes, and when they are due.

    `full_due`: when a main pass that was cut short is followed by one that considers the whole queue. `changed`:
    whether there was any event since the last backfill pass. `asleep`: whether the only events were that jobs may begin
    again, which Slurm does not treat as a change; its next look at the whole queue finds them.
    """

    clock: Clock
    rules: Slurm
    main_due: int | None = None
    full_due: int | None = None
    last_main: int | None = None
    changed: bool = False
    last_change: int = LONG_AGO
    last_backfill: int = LONG_AGO + 1
    asleep: bool = False
    of_job: list[tuple[int, int]] = field(init=False)

    def __post_init__(self) -> None:
        columns = (self.clock.prepared.column(name).tolist() for name in ("partition_id", "group_id"))
        self.of_job = list(zip(*columns, strict=True))

    def moments(self) -> list[int]:
        """Return when passes are due, if any job waits."""
        if not self.clock.waiting:
            return []
        moments = [due for due in (self.main_due, self.full_due) if due is not None]
        if self.changed or (self.rules.interval and not self.asleep):
            moments.append(max(self.clock.now + 1, self.last_backfill + self.rules.interval))
        return moments

    def schedule(self, news: News) -> None:
        """Make the passes that are due."""
        clock, now, rules = self.clock, self.clock.now, self.rules
        self.note_idle_passes()
        events = news.ended or len(news.entered) > news.back or news.ready
        if events or news.turned or (clock.waiting and (news.corrected or news.computed)):
            self.changed, self.last_change = True, now
        self.note_returns(news)
        if events or news.turned == 2 or (news.turned and clock.in_order):  # then no backfill pass looks at jobs
            due = now if self.last_main is None else max(now, self.last_main + rules.delay)
            self.main_due = due if self.main_due is None else min(self.main_due, due)
        main = any(due is not None and due <= now for due in (self.main_due, self.full_due))
        backfill = self.changed or (clock.waiting and rules.interval and not self.asleep)
        backfill = backfill and self.last_backfill + rules.interval <= now
        if backfill:
            self.changed, self.last_backfill = False, now
            if clock.waiting:
                self.last_change = now
        visible = clock.visible()
        if main and clock.waiting:
            while (over := clock.preemption.next_over(clock.sorted(clock.visible()))) is not None:
                clock.preemption.begin_over(*over)
                self.last_change = now
            visible = clock.visible()
            cleared, alone = clock.preemption.make_way(clock.sorted(visible)), len(clock.waiting) == 1
            self.main_pass(visible)
            if cleared:
                self.main_due = now if alone else self.main_due
                self.changed, self.last_change = rules.interval > 0, now  # without an interval, only events count
        if backfill and clock.waiting and not clock.in_order:
            self.backfill_pass(visible)

    def note_returns(self, news: News) -> None:
        """Leave jobs that may begin again, or be preempted, to the next look at the whole queue, at a full minute."""
        now = self.clock.now
        if news.back or news.awake:
            minute = -(-now // MINUTE) * MINUTE
            self.full_due = minute if self.full_due is None else min(self.full_due, minute)
            alone = len(self.clock.waiting) == news.back or self.asleep
            self.asleep = bool(alone and self.last_change <= self.last_backfill)
            if self.asleep:
                self.changed = False
                if self.main_due is not None and self.main_due < now:
                    self.main_due = None  # no job waited then
            else:
                self.changed, self.last_change = True, now
        if self.asleep and (self.changed or (self.full_due is not None and self.full_due <= now)):
            self.asleep, self.changed, self.last_change = False, True, now

    def note_idle_passes(self) -> None:
        """Account for the backfill passes before now without waiting jobs: one after a change."""
        interval = self.rules.interval
        while interval and self.last_backfill + interval < self.clock.now and self.last_change >= self.last_backfill:
            self.changed = False
            self.last_backfill += interval

    def groups(self, job: Job) -> dict[Hashable, int]:
        """Return the groups of a job of which a backfill pass looks at a limited number, and that number."""
        rules, who = self.rules, job.user
        partition, account = self.of_job[job.number]
        return {
            ("user", who): rules.user_depth,
            ("partition", partition): rules.partition_depth,
            ("association", who, account): rules.association_depth,
            ("both", who, partition): rules.user_partition_depth,
        }

    def main_pass(self, visible: list[Job]) -> None:
        """Start ready jobs in order, in each partition up to the first that does not fit."""
        clock = self.clock
        whole = self.full_due is not None and self.full_due <= clock.now
        self.main_due, self.full_due, self.last_main = None, None, clock.now
        ready = [job for job in visible if job.ready]
        looked_at, blocked, of_partition = 0, set[int](), Counter[int]()
        while ready:
            partition, _ = self.of_job[clock.head(ready).number]
            of_partition[partition] += not clock.in_order
            if of_partition[partition] > self.rules.partition_queue_depth:
                self.full_due = (clock.now // MINUTE + 1) * MINUTE
                ready.remove(clock.head(ready))
                continue
            if not (whole or clock.in_order):
                looked_at += 1
                if looked_at > self.rules.queue_depth:
                    self.full_due = (clock.now // MINUTE + 1) * MINUTE
                    return
            head = clock.head(ready)
            ready.remove(head)
            if not clock.admitted(head):
                continue
            rivals = [job for job in ready if job.is_of(head) and clock.admitted(job)]
            ready = [job for job in ready if not job.is_of(head)]
            if head.needs_others(clock.waiting):
                if clock.in_order and start_together(clock, head, backfilled=False):
                    self.last_change = clock.now
                    ready = [job for job in ready if job in clock.waiting]
                    continue
            elif (
                self.start_one([head, *(rivals if clock.in_order else clock.sorted(rivals))], blocked)
                or clock.is_shut_out(head)
                or (self.is_young(head) and not clock.in_order)
            ):
                continue
            blocked.update(clock.site.partitions(head))
            if clock.site.inputs is None:
                return

    def is_young(self, job: Job) -> bool:
        """Return whether a job has to wait longer before anything is reserved for it."""
        return self.clock.now < job.submit + self.rules.reserve_age

    def start_one(self, alternatives: list[Job], blocked: set[int]) -> bool:
        """Start the first of these that fits outside of blocked partitions; return whether one does."""
        clock = self.clock
        for job in alternatives:
            view = clock.view()
            parts = clock.place(view.closed(clock.site.kept_from(job, blocked)) if blocked else view, job)
            if parts is not None:
                clock.begin(job, parts)
                self.last_change = self.clock.now
                return True
        return False

    def backfill_pass(self, visible: list[Job]) -> None:
        """Plan jobs in order, each at its earliest time; start them, or reserve; then use gaps."""
        clock, now, rules = self.clock, self.clock.now, self.rules
        plan = BackfillPlan(self)
        begins: dict[Job, int] = {}
        of_components, startable = dict[Job, int](), set[Job]()
        ends = clock.running_ends()
        blocked, looked_at, opened, previous = False, 0, 0, None
        seen, started, had_turn = Counter[Hashable](), 0, list[Job]()
        order = clock.sorted([job for job in visible if job in clock.waiting])
        for first in order:
            job = first
            if started == rules.starts:
                break
            if (job.ready and not clock.admitted(job)) or any(job.is_of(one) for one in had_turn):
                continue
            had_turn.append(job)
            groups = self.groups(job) if job.ready or rules.wf_plan == "all" else {}
            if any(seen[group] == most for group, most in groups.items()):
                continue
            seen.update(groups.keys())
            another = job.workflow is None or job.workflow != previous
            previous = job.workflow
            opened += another and job.workflow is not None
            possible = now if job.ready else self.after_parents(job, ends)
            begin, parts, length = None, list[Part](), job.estimate + self.inclusive
            if possible is not None:
                possible = max([possible, *(of_components[one] for one in job.components if one in of_components)])
            if possible is not None and (job.workflow is None or opened <= rules.wf_depth):
                if another or rules.wf_count == "tasks":
                    if looked_at == rules.depth:
                        break
                    looked_at += 1
                job = self.planned(job, order, plan.profile)
                length = job.estimate + self.inclusive
                begin, parts = plan.profile.earliest(job, length, possible)
            place = None
            if begin == now and job.ready:
                place = clock.view().lesser(plan.profile.throughout(now, now + length)).place(job)
            if begin is not None and job.needs_others(clock.waiting):
                of_components[job] = begin
                if place is not None:
                    startable.add(job)
                place = None
            over = place is None and begin is not None and job.ready
            if over:
                place = clock.preemption.over(
                    job, range(len(clock.site.partitions(job))), partial(plan.place_over, job, length)
                )
            if place is not None:
                clock.begin(job, place, backfilled=blocked or rules.interval > 0)
                if over:
                    clock.preemption.settle()
                started += 1
                ends[job] = job.expected_end
                plan.run(job)
                continue
            blocked |= job.ready
            if begin is not None and job.ready:
                way = clock.preemption.make_way_in_plan(job, partial(plan.place, job, length))
                if way is not None:
                    if plan.full:
                        break
                    plan.forget(way[1])
                    plan.reserve(job, now, way[0])
                    continue
            if self.is_young(job):
                continue
            if begin is not None and begin <= now + rules.window and len(begins) < rules.reserve:
                if plan.full:
                    break
                begins[job], ends[job] = begin, begin + job.estimate
                plan.reserve(job, begin, parts)
        if start_planned(clock, list(of_components), startable, rules.starts - started):
            self.last_change = now
        self.use_gaps(plan.profile, begins)

    def planned(self, job: Job, order: list[Job], profile: Profile) -> Job:
        """Return the alternative of a job that the plan is for: the first that can start, or the first to end."""
        clock, now = self.clock, self.clock.now
        ends: dict[Job, int] = {}
        alternatives = [one for one in order if one.is_of(job) and (one is job or clock.admitted(one))]
        for one in alternatives if len(alternatives) > 1 else []:
            length = one.estimate + self.inclusive
            begin, _ = profile.earliest(one, length, now)
            ends[one] = begin + one.estimate
            if begin == now and clock.view().lesser(profile.throughout(now, now + length)).place(one) is not None:
                return one
        return min(ends, key=lambda one: ends[one], default=job)

    @property
    def inclusive(self) -> int:
        """Return 1 if a job must have ended before the second in which others need its processors."""
        return 1 if self.rules.interval else 0

    def ends(self) -> dict[Job, int]:
        """Return the ends of running jobs in the plan."""
        clock, now = self.clock, self.clock.now
        ends = [job.expected_end for job in clock.seen() if job.expected_end > now]
        grouped = self.rules.interval and not self.rules.node  # as select/cons_tres does
        together = in_groups(ends) if grouped else dict(zip(ends, ends, strict=True))
        return {job: together.get(job.expected_end, now + self.inclusive) for job in clock.seen()}

    def book(self, profile: Profile, job: Job, begin: int, parts: list[Part]) -> None:
        """Reserve parts of the machine: rounded down, but before the begin, only what the job itself would use.

        Where jobs share nodes, whole nodes are reserved, whatever runs on them.
        """
        floor, end = self.rounded(job, begin)
        if end > begin:
            profile.change(begin, end, lambda free: free.without_nodes(parts, self.rules.shared or 1))
            left = profile.at(begin)
            profile.change(max(self.clock.now, floor), begin, lambda free: free.shortly_before(left, parts))

    def rounded(self, job: Job, begin: int) -> tuple[int, int]:
        """Return between which seconds a reservation stands in the plan."""
        resolution = self.rules.resolution
        floor, end = (second // resolution * resolution for second in (begin, begin + job.estimate))
        return floor, max(end, floor + resolution) if self.rules.interval else end

    def after_parents(self, job: Job, ends: dict[Job, int]) -> int | None:
        """Return when a task with dependencies could start by the plan, None if that is unknown."""
        return self.clock.dependencies.after_parents(job, self.clock.now, ends) if self.rules.wf_plan == "all" else None

    def use_gaps(self, profile: Profile, begins: dict[Job, int]) -> None:
        """Run jobs speculatively before their own reservations and beside those of others."""
        clock, now = self.clock, self.clock.now
        while clock.free() > 0:
            lengths, places = dict[Job, int](), dict[Job, list[Part]]()
            for job in [job for job in begins if job in clock.waiting and clock.admitted(job)]:
                end = profile.room_until(job, now, min(begins[job], clock.outages.next_closing(now) or begins[job]))
                parts = profile.throughout(now, end).place(job) if end > now else None
                if parts is not None:
                    lengths[job], places[job] = end - now, parts
            chosen = clock.speculate(lengths, places)
            if chosen is None:
                return
            profile.take(now, chosen.expected_end, chosen.parts)


@dataclass
class BackfillPlan:
    """The plan of a backfill pass: running jobs `until` their ends, and the changes since, in order.

    `steps` are the seconds in which a reservation begins or ends, after now and within the window.
    """

    passes: SlurmPass
    until: dict[Job, int] = field(init=False)
    changes: list[tuple[Callable[..., None], tuple[Any, ...]]] = field(default_factory=list)
    profile: Profile = field(init=False)
    steps: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.until = self.passes.ends()
        self.profile = self.without(set())

    def without(self, gone: set[Job]) -> Profile:
        """Return the plan without some of the running jobs."""
        clock = self.passes.clock
        profile = Profile(clock.now, clock.machine.empty)
        for job, end in self.until.items():
            if job not in gone:
                profile.take(clock.now, end, job.parts)
        clock.close(profile, self.passes.inclusive)
        for change, values in self.changes:
            change(profile, *values)
        return profile

    def run(self, job: Job) -> None:
        """Note a start; where runs may give way, this one may be suspended for a later job of the pass."""
        now = self.passes.clock.now
        if self.passes.clock.preemption.inputs is None:
            self.change(Profile.take, now, job.expected_end, job.parts)
        else:
            self.until[job] = job.expected_end
            self.profile.take(now, job.expected_end, job.parts)

    def change(self, change: Callable[..., None], *values: Any) -> None:
        """Change the plan."""
        self.changes.append((change, values))
        change(self.profile, *values)

    @property
    def full(self) -> bool:
        """Whether there is no room for another reservation; with it, the pass ends."""
        return 1 + len(self.steps) >= self.passes.rules.records

    def reserve(self, job: Job, begin: int, parts: list[Part]) -> None:
        """Reserve parts of the machine for a job."""
        now, window = self.passes.clock.now, self.passes.rules.window
        self.steps |= {second for second in self.passes.rounded(job, begin) if now < second < now + window}
        self.change(self.passes.book, job, begin, parts)

    def forget(self, gone: set[Job]) -> None:
        """Continue the plan without some of the running jobs."""
        self.until = {job: end for job, end in self.until.items() if job not in gone}
        self.profile = self.without(set())

    def place_over(self, job: Job, length: int, lenders: set[Job], option: int) -> list[Part] | None:
        """Return where a job has room for `length` seconds, and now, on the cores of some runs."""
        now, suspension = self.passes.clock.now, self.passes.clock.preemption.suspension
        plan = self.without(lenders)
        for one in lenders:
            plan.take(now, self.until[one], suspension.kept(one))
        return place_in(plan.throughout(now, now + length).lesser(suspension.beside(set(), lenders)), job, option)

    def place(self, job: Job, length: int, gone: set[Job], option: int) -> list[Part] | None:
        """Return where a job has room for `length` seconds in one of its partitions without some runs."""
        now = self.passes.clock.now
        return place_in(self.without(gone).throughout(now, now + length), job, option)


def in_groups(ends: list[int]) -> dict[int, int]:
    """Return the ends of running jobs as Slurm rounds them: to the last end of a group, and later groups are wider.

    Half a minute after the first half minute, then twice as much each time (the estimate of select/cons_tres).
    """
    rest, together = sorted(set(ends)), dict[int, int]()
    edge, window = (rest[0] + 30 - rest[0] % 30, 30) if rest else (0, 30)
    while rest:
        while rest[0] > edge + window:
            window *= 2
        group = [end for end in rest if end <= edge + window]
        together |= dict.fromkeys(group, group[-1])
        rest, window = rest[len(group) :], 2 * window
    return together
