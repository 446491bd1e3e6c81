"""When Slurm's two passes are due: a main pass after events, and a periodic backfill pass; plans do not outlive one."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from schedlab.engine.parts.heterogeneous.reference import sorted_for_pass
from schedlab.engine.parts.submission_limits.numbers import batches
from schedlab.engine.reference.clock import Clock
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import Nodes
from schedlab.engine.reference.news import News
from schedlab.engine.reference.nodes import Piece
from schedlab.engine.reference.profile import Profile
from schedlab.engine.reference.slurm_backfill import BackfillPass
from schedlab.engine.reference.slurm_main import MainPass
from schedlab.engine.reference.slurm_plan import in_groups
from schedlab.engine.reference.slurm_rest import Rest, next_pass, rest_after
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
        clock = self.clock
        self.note_idle_passes()
        self.note_changes(news)
        main, backfill = self.due()
        if not main and not backfill:
            return
        visible = clock.visible()
        clock.wish(clock.now)
        picky = any(job.picky for job in visible)
        may_preempt = self.rules.interval > 0 and clock.preemption.inputs is not None
        before = clock.started
        if main and clock.waiting:
            visible = self.make_main_pass()
        if clock.started > before and (not backfill or clock.in_order):  # a change, perhaps by time alone
            self.changed = self.rules.interval > 0
        if backfill and clock.waiting and not clock.in_order:
            self.make_backfill_pass(visible, main)
        if backfill and not clock.waiting:
            self.resting = "alone" if self.rules.interval else ""
            self.remove_marks(clock.now)
        if clock.waiting and (picky or (may_preempt and self.resting)):
            minute = self.next_minute()
            self.full_due = minute if self.full_due is None else min(self.full_due, minute)
        clock.wish(None)

    def note_changes(self, news: News) -> None:
        """Note what has happened, and when the main pass after it is due."""
        clock, now = self.clock, self.clock.now
        entered = len(news.entered) > news.back or news.ready
        if entered or news.turned or news.left or news.corrected or (clock.waiting and news.computed):
            self.changed, self.last_change = True, now
        elif news.ended:  # before the look of its second
            self.changed, self.last_change = True, max(self.last_change, now - 1)
        self.note_returns(news)
        changed = news.ended or entered or news.turned == 2
        if changed or ((news.turned or news.left) and clock.in_order):  # then no backfill pass looks at jobs
            due = now if self.last_main is None else max(now, self.last_main + self.rules.delay)
            self.main_due = due if self.main_due is None else min(self.main_due, due)

    def due(self) -> tuple[bool, bool]:
        """Return whether a main pass and a backfill pass are due; note that of the latter."""
        now, rules, waiting = self.clock.now, self.rules, bool(self.clock.waiting)
        main = any(due is not None and due <= now for due in (self.main_due, self.full_due))
        following = next_pass(self)
        backfill = self.changed or (waiting and following is not None and following <= now)
        backfill = backfill and self.last_backfill + rules.interval <= now
        if backfill:
            self.changed, self.last_backfill = False, now
            self.resting = "alone" if rules.interval and not waiting else self.resting
        return main, backfill

    def make_main_pass(self) -> list[Job]:
        """Make a main pass, before which runs are preempted; return the jobs that it has seen."""
        clock, now = self.clock, self.clock.now
        while (over := clock.preemption.next_over(clock.sorted(clock.visible()))) is not None:
            clock.preemption.begin_over(*over)
            self.last_change = now
        visible = clock.visible()
        cleared = clock.preemption.make_way(sorted_for_pass(clock, visible, self.rules.hetjob_order))
        alone, whole = len(clock.waiting) == 1, self.full_due is not None and self.full_due <= now
        self.main_due, self.full_due, self.last_main = None, None, now
        MainPass(self, visible, whole).run()
        ahead = clock.outages.next_closing(now) is not None
        if clock.waiting and (ahead or any(limit.timed for limit in clock.limits.all)):
            self.look_at_next_minute()
        if cleared:
            self.main_due = now if alone else self.main_due
            self.changed, self.last_change = self.rules.interval > 0, now  # without an interval, only events count
        return visible

    def make_backfill_pass(self, visible: list[Job], main: bool) -> None:
        """Make a backfill pass, and note how passes rest after it."""
        clock = self.clock
        (rest, few), before, marked = rest_after(self, visible), clock.started, self.marked
        self.marked = not few
        BackfillPass(self, visible).run()
        self.resting = "" if marked or clock.started > before or not self.rules.follows("passes_rest") else rest
        self.marked &= clock.free() > 0 and self.rules.interval > 0
        if not self.resting or (self.resting == "beside" and main):
            self.last_change = clock.now

    def next_minute(self) -> int:
        """Return the full minute behind now."""
        return (self.clock.now // MINUTE + 1) * MINUTE

    def look_at_next_minute(self) -> None:
        """Have a main pass of the whole queue at the full minute behind now."""
        self.full_due = self.next_minute()

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
        several = len(self.clock.limits.partitions(job))
        alone = len(job.alternatives) == 1 and not job.needs_others(self.clock.waiting)
        return list(range(several)) if several > 1 and alone else [None]

    def partition_of(self, job: Job, turn: int | None) -> int:
        """Return the partition in which a turn of a job counts."""
        inputs = self.clock.limits.inputs
        if inputs is None or not inputs.partitioned:
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

    def is_minor(self, job: Job) -> bool:
        """Return whether a job is too young or of too low a priority to have anything reserved for it."""
        clock, rules = self.clock, self.rules
        if clock.now < job.submit + rules.reserve_age:
            return True
        (score,) = clock.order.scores(clock.scheduler.policy, [job], clock.now) if rules.reserve_priority else [0.0]
        return -score < rules.reserve_priority

    def never_reserves(self, job: Job) -> bool:
        """Return whether nothing is reserved for a job in any pass."""
        inputs, rules = self.clock.limits.inputs, self.rules
        of_qos = inputs is not None and inputs.reserves is not None and not inputs.reserves[job.number]
        of_array = rules.array_reserve == 0 and self.array_of.count(self.array_of[job.number]) > 1
        return of_qos or of_array or min(rules.reserve, rules.partition_reserve) == 0

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

    def book(self, profile: Profile, job: Job, begin: int, pieces: list[Piece]) -> None:
        """Reserve pieces of the machine: rounded down, but before the begin, only what the job itself would use.

        Where jobs share nodes, whole nodes are reserved, whatever runs on them.
        """
        floor, end = self.rounded(job, begin)
        if end > begin:
            profile.change(begin, end, lambda free: free.without_nodes(pieces, self.rules.shared or 1))
            left = profile.at(begin)
            profile.change(max(self.clock.now, floor), begin, lambda free: free.shortly_before(left, pieces))

    def rounded(self, job: Job, begin: int) -> tuple[int, int]:
        """Return between which seconds a reservation stands in the plan."""
        resolution, origin = self.rules.resolution, self.rules.origin
        floor, end = (second - (second - origin) % resolution for second in (begin, begin + job.estimate))
        return floor, max(end, floor + resolution) if self.rules.interval else end

    def after_parents(self, job: Job, ends: dict[Job, int]) -> int | None:
        """Return when a task with dependencies could start by the plan, None if that is unknown."""
        return self.clock.dependencies.after_parents(job, self.clock.now, ends) if self.rules.wf_plan == "all" else None
