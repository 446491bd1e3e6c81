"""Slurm's two passes: a main pass after events, and a periodic backfill pass. Plans do not outlive a pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import partial

from schedlab.engine.parts.heterogeneous.reference import sorted_for_pass, start_planned, start_together
from schedlab.engine.parts.submission_limits.numbers import batches
from schedlab.engine.reference.clock import Clock
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import Nodes
from schedlab.engine.reference.news import News
from schedlab.engine.reference.nodes import Part
from schedlab.engine.reference.profile import NEVER, Profile
from schedlab.engine.reference.slurm_plan import BackfillPlan, in_groups
from schedlab.engine.reference.slurm_rest import Rest, are_busy, next_pass, rest_after
from schedlab.engine.reference.slurm_search import earliest
from schedlab.scheduler.backfilling import Slurm

MINUTE = 60
LONG_AGO = -(10**15)


@dataclass
class SlurmPass:
    """Slurm's passes, and when they are due.

    `full_due`: when a main pass that was cut short is followed by one that considers the whole queue. `changed`:
    whether there was any event since the last backfill pass. `asleep`: whether the only events were that jobs may begin
    again, which Slurm does not treat as a change; its next look at the whole queue finds them. `resting`: how passes
    rest as the last one has changed nothing. `marked`: whether it has marked nodes as planned; the next one removes the
    marks, which is a change. Where many jobs wait, it marks some if any are idle.
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
    resting: Rest = ""
    marked: bool = False
    of_job: list[tuple[int, int]] = field(init=False)
    array_of: list[int] = field(init=False)

    def __post_init__(self) -> None:
        columns = (self.clock.prepared.column(name).tolist() for name in ("partition_id", "group_id"))
        self.of_job = list(zip(*columns, strict=True))
        prepared = self.clock.prepared
        self.array_of = prepared.in_submission_order(batches(prepared.workload)).tolist()

    def moments(self) -> list[int]:
        """Return when passes are due, if any job waits."""
        if not self.clock.waiting:
            return []
        moments = [due for due in (self.main_due, self.full_due) if due is not None]
        following = self.last_backfill + self.rules.interval if self.changed else next_pass(self)
        if following is not None:
            moments.append(max(self.clock.now + 1, following))
        return moments

    def schedule(self, news: News) -> None:
        """Make the passes that are due."""
        clock, now, rules = self.clock, self.clock.now, self.rules
        self.note_idle_passes()
        entered = len(news.entered) > news.back or news.ready
        if entered or news.turned or news.left or news.corrected or (clock.waiting and news.computed):
            self.changed, self.last_change = True, now
        elif news.ended:  # before the look of its second
            self.changed, self.last_change = True, max(self.last_change, now - 1)
        self.note_returns(news)
        changed = news.ended or entered or news.turned == 2
        if changed or ((news.turned or news.left) and clock.in_order):  # then no backfill pass looks at jobs
            due = now if self.last_main is None else max(now, self.last_main + rules.delay)
            self.main_due = due if self.main_due is None else min(self.main_due, due)
        main = any(due is not None and due <= now for due in (self.main_due, self.full_due))
        following = next_pass(self)
        backfill = self.changed or (clock.waiting and following is not None and following <= now)
        backfill = backfill and self.last_backfill + rules.interval <= now
        if backfill:
            self.changed, self.last_backfill = False, now
            self.resting = "alone" if rules.interval and not clock.waiting else self.resting
        visible = clock.visible()
        if main or backfill:
            clock.wish(now)
        timed = any(job.picky for job in visible) or (rules.interval > 0 and clock.preemption.inputs is not None)
        if main and clock.waiting:
            while (over := clock.preemption.next_over(clock.sorted(clock.visible()))) is not None:
                clock.preemption.begin_over(*over)
                self.last_change = now
            visible = clock.visible()
            cleared = clock.preemption.make_way(sorted_for_pass(clock, visible, rules.hetjob_order))
            alone = len(clock.waiting) == 1
            self.main_pass(visible)
            if clock.waiting and any(limit.timed for limit in clock.site.limits):
                self.full_due = (now // MINUTE + 1) * MINUTE
            if cleared:
                self.main_due = now if alone else self.main_due
                self.changed, self.last_change = rules.interval > 0, now  # without an interval, only events count
        if backfill and clock.waiting and not clock.in_order:
            (rest, few), before, marked = rest_after(self, visible), clock.started, self.marked
            self.marked = not few
            self.backfill_pass(visible)
            self.resting = "" if marked or clock.started > before or not rules.follows("passes_rest") else rest
            self.marked &= clock.free() > 0 and rules.interval > 0
            if not self.resting or (self.resting == "beside" and main):
                self.last_change = now
        if backfill and not clock.waiting:
            self.resting = "alone" if rules.interval else ""
            self.remove_marks(now)
        if (main or backfill) and clock.waiting and timed and (self.resting or not rules.interval):
            minute = (now // MINUTE + 1) * MINUTE
            self.full_due = minute if self.full_due is None else min(self.full_due, minute)
        if main or backfill:
            clock.wish(None)

    def look_at_minute(self) -> None:
        """Have a main pass at the next full minute, which may be now; where none was due, or before, nobody waited."""
        minute, due = -(-self.clock.now // MINUTE) * MINUTE, self.full_due
        self.full_due = minute if due is None or due < self.clock.now else min(due, minute)

    def note_returns(self, news: News) -> None:
        """Leave jobs that may begin again, or be preempted, to the next look at the whole queue, at a full minute."""
        now = self.clock.now
        if news.left or news.back or news.awake:  # no main pass follows, but that of the next full minute comes
            self.look_at_minute()
        if news.back or news.awake:
            alone = len(self.clock.waiting) == news.back or self.asleep or self.resting
            self.asleep = bool(alone and self.last_change < self.last_backfill)
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
            self.remove_marks(self.last_backfill)

    def remove_marks(self, second: int) -> None:
        """Let a pass without jobs remove the marks of the last one, which is a change."""
        if self.marked:
            self.marked, self.last_change = False, max(self.last_change, second)

    def turns(self, job: Job) -> list[int | None]:
        """Return the turns of a job in a pass: one for each of its partitions, None for a single one."""
        several = len(self.clock.site.partitions(job))
        alone = len(job.alternatives) == 1 and not job.needs_others(self.clock.waiting)
        return list(range(several)) if several > 1 and alone else [None]

    def partition_of(self, job: Job, turn: int | None) -> int:
        """Return the partition in which a turn of a job counts."""
        inputs = self.clock.site.inputs
        if inputs is None:
            return self.of_job[job.number][0]
        return int(inputs.option_partition[inputs.option_offset[job.number] + (turn or 0)])

    def groups(self, job: Job, turn: int | None) -> dict[Hashable, int]:
        """Return the groups of a turn of a job of which a backfill pass looks at a limited number, and that number."""
        rules, who = self.rules, job.user
        partition, account = self.partition_of(job, turn), self.of_job[job.number][1]
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
        last = max(clock.started, clock.prepared.in_order) + self.rules.main_starts
        looked_at, blocked, of_partition, order = 0, set[int](), Counter[int](), list[Job]()
        while ready:
            if not order and not clock.in_order:  # the pass begins, also with those that had no room in order
                waiting = [job for job in visible if job in clock.waiting]
                order = sorted_for_pass(clock, waiting, self.rules.hetjob_order)
                ready = [job for job in order if job.ready]
            head = next(job for job in order or ready if job in ready)
            ready.remove(head)
            for turn in [None] if clock.in_order else self.turns(head):
                partition = self.partition_of(head, turn)
                of_partition[partition] += not clock.in_order
                if of_partition[partition] > self.rules.partition_queue_depth:
                    self.full_due = (clock.now // MINUTE + 1) * MINUTE
                    continue
                if not clock.in_order and clock.started >= last:
                    self.full_due = (clock.now // MINUTE + 1) * MINUTE
                    return
                looked_at += not (whole or clock.in_order)
                if looked_at > self.rules.queue_depth:
                    self.full_due = (clock.now // MINUTE + 1) * MINUTE
                    return
                if not clock.admitted_alone(head) and not clock.stops(head):
                    break
                if head.needs_others(clock.waiting):
                    if clock.in_order and clock.admitted(head) and start_together(clock, head, False, blocked):
                        self.last_change = clock.now
                        ready = [job for job in ready if job in clock.waiting]
                        break
                    blocked.update(clock.site.closes(head, turn, clock.machine.empty))
                    if clock.site.inputs is None:
                        return
                    break
                alternatives = [job for job in ready if job.is_of(head) and clock.admitted(job)]
                ready = [job for job in ready if not job.is_of(head)]
                if not clock.in_order:
                    alternatives = clock.sorted(alternatives)
                if clock.admitted(head) and self.start_one([head, *alternatives], blocked, turn):
                    if turn:
                        self.full_due = (clock.now // MINUTE + 1) * MINUTE
                    break
                if clock.is_shut_out(head) or (self.is_minor(head) and not clock.in_order):
                    continue
                blocked.update(clock.site.closes(head, turn, clock.machine.empty))
                if clock.site.inputs is None:
                    return

    def is_minor(self, job: Job) -> bool:
        """Return whether a job is too young or of too low a priority to have anything reserved for it."""
        clock, rules = self.clock, self.rules
        if clock.now < job.submit + rules.reserve_age:
            return True
        (score,) = clock.order.scores(clock.scheduler.policy, [job], clock.now) if rules.reserve_priority else [0.0]
        return -score < rules.reserve_priority

    def never_reserves(self, job: Job) -> bool:
        """Return whether nothing is reserved for a job in any pass."""
        inputs, rules = self.clock.site.inputs, self.rules
        of_qos = inputs is not None and inputs.reserves is not None and not inputs.reserves[job.number]
        of_array = rules.array_reserve == 0 and self.array_of.count(self.array_of[job.number]) > 1
        return of_qos or of_array or min(rules.reserve, rules.partition_reserve) == 0

    def start_one(self, alternatives: list[Job], blocked: set[int], turn: int | None) -> bool:
        """Start the first of these that fits outside of blocked partitions; return whether one does."""
        clock = self.clock
        for job in alternatives:
            view = clock.view()
            parts = clock.place(view.closed(clock.site.kept_from(job, blocked)) if blocked else view, job, turn)
            if parts is not None:
                clock.begin(job, parts)
                self.last_change = self.clock.now
                return True
        return False

    def backfill_pass(self, visible: list[Job]) -> None:
        """Plan jobs in order, each at its earliest time; start them, or reserve."""
        clock, now, rules = self.clock, self.clock.now, self.rules
        plan = BackfillPlan(self)
        begins: dict[Job, int] = {}
        of_components, startable = dict[Job, int](), list[Job]()
        ends = clock.running_ends()
        blocked, looked_at, opened, previous = False, 0, 0, None
        seen, started, had_turn, done = Counter[Hashable](), 0, list[Job](), set[Job]()
        reserved, of_array = Counter[int](), Counter[int]()
        order = sorted_for_pass(clock, [job for job in visible if job in clock.waiting], rules.hetjob_order)
        for first, turn in [(job, turn) for job in order for turn in self.turns(job)]:
            job = first
            if rules.hetjob_immediate == "yes":
                started += start_planned(clock, order, startable, rules.starts - started)
            if job in done or (job.ready and not clock.admitted_alone(job)):
                continue
            if turn is None and any(job.is_of(one) for one in had_turn):
                continue
            had_turn.append(job)
            groups = self.groups(job, turn) if job.ready or rules.wf_plan == "all" else {}
            if any(seen[group] == most for group, most in groups.items()):
                continue
            seen.update(groups.keys())
            another, previous = job.workflow is None or job.workflow != previous, job.workflow
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
                job = self.planned(job, order, plan)
                length = job.estimate + self.inclusive
                begin, parts = earliest(plan, job, length, possible, turn) or (None, parts)
                job.planned |= plan.tested
            options = range(len(clock.site.partitions(job))) if turn is None else [turn]
            fits = begin == now and job.ready
            place = clock.view().lesser(plan.profile.throughout(now, now + length)).place(job, turn) if fits else None
            together = job.needs_others(clock.waiting)
            if begin is not None and together:
                if place is None and possible == now and job.ready:
                    room = clock.preemption.room_without(job, options, partial(plan.place, job, length))
                    if room is not None:
                        begin, parts = now, room
                        startable.append(job)
                elif place is not None:
                    startable.append(job)
                of_components[job] = begin
                place = None
            over = place is None and begin is not None and job.ready and not together
            if over:
                place = clock.preemption.over(job, options, partial(plan.place_over, job, length))
            if place is not None:
                clock.begin(job, place, backfilled=blocked or rules.interval > 0)
                if over:
                    clock.preemption.suspension.settle()
                started += 1
                ends[job] = job.expected_end
                plan.run(job)
                done.add(job)
                if started >= rules.starts:
                    break
                continue
            blocked |= job.ready
            if begin == now and job.ready and not together:
                way = clock.preemption.make_way_in_plan(job, options, partial(plan.place, job, length))
                if way is not None:
                    if plan.full:
                        break
                    self.marked |= not are_busy(self, job, now, way[0], plan)
                    plan.forget(way[1])
                    plan.reserve(job, now, way[0])
                    done.add(job)
                    continue
            if self.is_minor(job):
                continue
            partition = self.partition_of(first, turn)
            may = rules.partitions == "all" if job in begins else len(begins) < rules.reserve
            array = self.array_of[job.number]
            may = may and reserved[partition] < rules.partition_reserve and not self.never_reserves(job)
            if self.array_of.count(array) > 1:
                may = may and of_array[array] < rules.array_reserve
            if begin is not None and begin <= now + rules.window and may:
                if plan.full:
                    break
                begins[job] = min(begin, begins.get(job, begin))
                ends[job] = begins[job] + job.estimate
                reserved[partition] += 1
                of_array[array] += 1
                self.marked |= not are_busy(self, job, begin, parts, plan)
                plan.reserve(job, begin, parts)
        if start_planned(clock, order, startable, rules.starts - started):
            self.last_change = now

    def planned(self, job: Job, order: list[Job], plan: BackfillPlan) -> Job:
        """Return the alternative of a job that the plan is for: the first that can start, or the first to end."""
        clock, now = self.clock, self.clock.now
        ends: dict[Job, int] = {}
        alternatives = clock.sorted([one for one in order if one.is_of(job) and (one is job or clock.admitted(one))])
        for one in alternatives if len(alternatives) > 1 else []:
            length = one.estimate + self.inclusive
            begin, _ = earliest(plan, one, length, now) or (NEVER, [])
            ends[one] = begin + one.estimate
            if begin == now and clock.view().lesser(plan.profile.throughout(now, now + length)).place(one) is not None:
                return one
        return min(ends, key=lambda one: ends[one], default=job)

    @property
    def rounds_ends(self) -> bool:
        """Whether ends of running jobs are grouped, as select/cons_tres does."""
        return self.rules.interval > 0 and not self.rules.node

    @property
    def inclusive(self) -> int:
        """Return 1 if a job must have ended before the second in which others need its processors."""
        return 1 if self.rules.interval else 0

    def ends(self) -> dict[Job, int]:
        """Return the ends of running jobs in the plan."""
        clock, now = self.clock, self.clock.now
        ends = [job.expected_end for job in clock.seen() if job.expected_end > now]
        grouped = self.rounds_ends and not isinstance(clock.machine.empty, Nodes)  # see BackfillPlan.running
        together = in_groups(ends, ends, self.rules) if grouped else dict(zip(ends, ends, strict=True))
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
        resolution, origin = self.rules.resolution, self.rules.origin
        floor, end = (second - (second - origin) % resolution for second in (begin, begin + job.estimate))
        return floor, max(end, floor + resolution) if self.rules.interval else end

    def after_parents(self, job: Job, ends: dict[Job, int]) -> int | None:
        """Return when a task with dependencies could start by the plan, None if that is unknown."""
        return self.clock.dependencies.after_parents(job, self.clock.now, ends) if self.rules.wf_plan == "all" else None
