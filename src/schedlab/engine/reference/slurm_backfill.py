"""Slurm's periodic backfill pass: each job at its earliest time beside the reservations of those before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from schedlab.engine.parts.heterogeneous.reference import sorted_for_pass, start_planned
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.nodes import Piece
from schedlab.engine.reference.profile import NEVER
from schedlab.engine.reference.slurm_plan import BackfillPlan
from schedlab.engine.reference.slurm_rest import are_busy
from schedlab.engine.reference.slurm_search import earliest

if TYPE_CHECKING:
    from schedlab.engine.reference.slurm_pass import SlurmPass


@dataclass
class Turn:
    """A turn of a job in the pass: `first` as it stands in the queue, and the alternative that is planned, and when."""

    first: Job
    number: int | None
    job: Job
    begin: int | None = None
    pieces: list[Piece] = field(default_factory=list)


@dataclass
class BackfillPass:
    """One pass over the waiting jobs, and what it has done so far.

    `begins` are the earliest reservations of jobs, `of_components` those of components, `startable` the components that
    could start now, `ends` when running and planned jobs end; `blocked` is whether a job before has not started.
    `reserved` and `of_array` count reservations, `seen` the jobs of each group. `counts` is whether the next one
    that is planned counts for the depth.
    """

    passes: SlurmPass
    visible: list[Job]
    plan: BackfillPlan = field(init=False)
    order: list[Job] = field(init=False)
    ends: dict[Job, int] = field(init=False)
    begins: dict[Job, int] = field(default_factory=dict)
    of_components: dict[Job, int] = field(default_factory=dict)
    startable: list[Job] = field(default_factory=list)
    had_turn: list[Job] = field(default_factory=list)
    done: set[Job] = field(default_factory=set)
    seen: Counter[Hashable] = field(default_factory=Counter)
    reserved: Counter[int] = field(default_factory=Counter)
    of_array: Counter[int] = field(default_factory=Counter)
    blocked: bool = False
    started: int = 0
    looked_at: int = 0
    opened: int = 0
    counts: bool = False
    previous: int | None = None

    def __post_init__(self) -> None:
        self.clock, self.rules, self.now = self.passes.clock, self.passes.rules, self.passes.clock.now
        self.plan = BackfillPlan(self.passes)
        self.ends = self.clock.running_ends()
        waiting = [job for job in self.visible if job in self.clock.waiting]
        self.order = sorted_for_pass(self.clock, waiting, self.rules.hetjob_order)

    def run(self) -> None:
        """Plan jobs in order, each at its earliest time; start them, or reserve."""
        for job, number in [(one, number) for one in self.order for number in self.passes.turns(one)]:
            if self.has_turn(job, number):
                if not self.goes_on_after(job, number):
                    break
                if self.rules.hetjob_immediate == "yes":
                    self.started += self.start_components(job.waiting_with(self.clock.waiting))
        if self.start_components(self.order):
            self.passes.last_change = self.now

    def start_components(self, of: list[Job]) -> int:
        """Start the heterogeneous jobs all of whose components could start, of some; return how many start."""
        return start_planned(self.clock, of, self.startable, self.rules.starts - self.started)

    def has_turn(self, job: Job, number: int | None) -> bool:
        """Return whether the pass looks at a turn of a job, and count it in its groups."""
        if job in self.done or (job.ready and not self.clock.admitted_alone(job)):
            return False
        if number is None and any(job.is_of(one) for one in self.had_turn):
            return False
        self.had_turn.append(job)
        groups = self.passes.groups(job, number) if job.ready or self.rules.wf_plan == "all" else {}
        if any(self.seen[group] == most for group, most in groups.items()):
            return False
        self.seen.update(groups.keys())
        return True

    def goes_on_after(self, first: Job, number: int | None) -> bool:
        """Plan a turn of a job, and start it or reserve; return whether the pass goes on."""
        another, self.previous = first.workflow is None or first.workflow != self.previous, first.workflow
        self.opened += another and first.workflow is not None
        self.counts |= another or self.rules.wf_count == "tasks"
        turn, possible = Turn(first, number, first), self.possible(first)
        if possible is not None and (first.workflow is None or self.opened <= self.rules.wf_depth):
            if self.counts and self.looked_at == self.rules.depth:
                return False
            self.looked_at += self.counts
            self.counts = False
            self.find_slot(turn, possible)
        if self.starts(turn, possible):
            return self.started < self.rules.starts
        self.blocked |= turn.job.ready
        way = self.cleared(turn)
        if way is None and not self.may_reserve(turn):
            return True
        if self.plan.full:
            return False
        self.reserve(turn, way)
        return True

    def possible(self, job: Job) -> int | None:
        """Return the first second in which a job's parents and other components let it start; None if unknown."""
        possible = self.now if job.ready else self.passes.after_parents(job, self.ends)
        if possible is None:
            return None
        return max([possible, *(self.of_components[one] for one in job.components if one in self.of_components)])

    def find_slot(self, turn: Turn, possible: int) -> None:
        """Find when and where a turn is planned, not before a second, and for which alternative."""
        turn.job = self.planned(turn.job)
        length = self.length(turn.job)
        turn.begin, turn.pieces = earliest(self.plan, turn.job, length, possible, turn.number) or (None, turn.pieces)
        turn.job.planned |= self.plan.tested

    def planned(self, job: Job) -> Job:
        """Return the alternative of a job that the plan is for: the first that can start, or the first to end."""
        ends: dict[Job, int] = {}
        mine = [one for one in self.order if one.is_of(job) and (one is job or self.clock.admitted(one))]
        alternatives = self.clock.sorted(mine)
        for one in alternatives if len(alternatives) > 1 else []:
            begin, _ = earliest(self.plan, one, self.length(one), self.now) or (NEVER, [])
            ends[one] = begin + one.estimate
            if begin == self.now and self.room(one, None) is not None:
                return one
        return min(ends, key=lambda one: ends[one], default=job)

    def length(self, job: Job) -> int:
        """Return for how long a job has its place in the plan."""
        return job.estimate + self.passes.inclusive

    def room(self, job: Job, number: int | None) -> list[Piece] | None:
        """Return where a job has room now, and in the plan while it runs."""
        throughout = self.plan.profile.throughout(self.now, self.now + self.length(job))
        return self.clock.view().lesser(throughout).place(job, number)

    def options(self, turn: Turn) -> list[int]:
        """Return the partitions of a turn, as numbers among those of its job."""
        return list(range(len(self.clock.limits.partitions(turn.job)))) if turn.number is None else [turn.number]

    def starts(self, turn: Turn, possible: int | None) -> bool:
        """Start a turn if it has room now, or gets it from runs that can be suspended; return whether it starts."""
        job, clock = turn.job, self.clock
        place = self.room(job, turn.number) if turn.begin == self.now and job.ready else None
        if turn.begin is not None and job.needs_others(clock.waiting):
            self.plan_component(turn, turn.begin, place, possible)
            return False
        over = place is None and turn.begin is not None and job.ready
        if over:
            at = partial(self.plan.place_over, job, self.length(job))
            place = clock.preemption.over(job, self.options(turn), at)
        if place is None:
            return False
        clock.begin(job, place, backfilled=self.blocked or self.rules.interval > 0)
        if over:
            clock.preemption.suspension.settle()
        self.started += 1
        self.ends[job] = job.expected_end
        self.plan.run(job)
        self.done.add(job)
        return True

    def plan_component(self, turn: Turn, begin: int, place: list[Piece] | None, possible: int | None) -> None:
        """Note when a component could start; it waits for the others."""
        job = turn.job
        if place is not None:  # with others that have started in this pass, which the plan does not know
            turn.pieces = place
            self.startable.append(job)
        elif possible == self.now and job.ready:
            at = partial(self.plan.place, job, self.length(job))
            room = self.clock.preemption.room_without(job, self.options(turn), at)
            if room is not None:
                begin, turn.pieces = self.now, room
                self.startable.append(job)
        turn.begin = self.of_components[job] = begin

    def cleared(self, turn: Turn) -> tuple[list[Piece], set[Job]] | None:
        """Return where a turn will start once runs have been preempted for it, and these; None if none are."""
        job = turn.job
        if turn.begin != self.now or not job.ready or job.needs_others(self.clock.waiting):
            return None
        at = partial(self.plan.place, job, self.length(job))
        return self.clock.preemption.make_way_in_plan(job, self.options(turn), at)

    def may_reserve(self, turn: Turn) -> bool:
        """Return whether a turn has a slot within the window that may be reserved."""
        job, passes, rules = turn.job, self.passes, self.rules
        if turn.begin is None or turn.begin > self.now + rules.window:
            return False
        if passes.is_minor(job) or passes.never_reserves(job):
            return False
        if job in self.begins:
            if rules.partitions != "all":
                return False
        elif len(self.begins) >= rules.reserve:
            return False
        array = passes.array_of[job.number]
        if passes.array_of.count(array) > 1 and self.of_array[array] >= rules.array_reserve:
            return False
        return self.reserved[passes.partition_of(turn.first, turn.number)] < rules.partition_reserve

    def reserve(self, turn: Turn, way: tuple[list[Piece], set[Job]] | None) -> None:
        """Reserve the slot of a turn, or where runs make way for it, which the plan forgets."""
        job, passes, begin, pieces = turn.job, self.passes, turn.begin, turn.pieces
        assert begin is not None
        if way is not None:
            pieces, gone = way
            passes.marked |= not are_busy(passes, job, begin, pieces, self.plan)
            self.plan.forget(gone)
            self.done.add(job)
        else:
            self.begins[job] = min(begin, self.begins.get(job, begin))
            self.ends[job] = self.begins[job] + job.estimate
            self.reserved[passes.partition_of(turn.first, turn.number)] += 1
            self.of_array[passes.array_of[job.number]] += 1
            passes.marked |= not are_busy(passes, job, begin, pieces, self.plan)
        self.plan.reserve(job, begin, pieces)
