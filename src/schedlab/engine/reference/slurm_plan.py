"""The plan of Slurm's backfill pass: what running jobs leave free, and the reservations on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schedlab.engine.parts.preemption.reference import place_in
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import Nodes
from schedlab.engine.reference.nodes import Piece
from schedlab.engine.reference.profile import Profile
from schedlab.scheduler.backfilling import Slurm

if TYPE_CHECKING:
    from schedlab.engine.reference.slurm_pass import SlurmPass


@dataclass
class BackfillPlan:
    """The plan of a backfill pass: running jobs `until` their ends, and the changes since, in order.

    `steps` are the seconds between the records of the plan, after now and within the window: a reservation begins or
    ends there. `records` counts all records so far, also those that have been joined, and an empty one before the first
    if the plan is `opened`: if a reservation begins with it. `booked` are the reserved nodes, each with begin and end,
    and `started` the jobs that have begun; `behind` is whether the job that was planned last begins when a reservation
    ends, `tested` whether it would fit at some time if others had no reservations. Of a job that is planned, `gone` are
    the runs that it may preempt: they do not count.
    """

    passes: SlurmPass
    until: dict[Job, int] = field(init=False)
    changes: list[tuple[Callable[..., None], tuple[Any, ...]]] = field(default_factory=list)
    profile: Profile = field(init=False)
    steps: set[int] = field(default_factory=set)
    records: int = 1
    opened: bool = False
    booked: list[tuple[int, int, set[int]]] = field(default_factory=list)
    started: list[Job] = field(default_factory=list)
    behind: bool = False
    tested: bool = False
    gone: set[Job] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.until = self.passes.ends()
        self.profile = self.without(set())

    def without(self, gone: set[Job]) -> Profile:
        """Return the plan without some of the running jobs."""
        clock = self.passes.clock
        profile = Profile(clock.now, clock.machine.empty)
        for job, end in self.until.items():
            if job not in gone:
                profile.take(clock.now, end, job.pieces)
        clock.close(profile, self.passes.inclusive)
        for change, values in self.changes:
            change(profile, *values)
        return profile

    def closures(self) -> Profile:
        """Return which nodes are in service, and for whom."""
        clock = self.passes.clock
        profile = Profile(clock.now, clock.machine.empty)
        clock.close(profile, self.passes.inclusive)
        return profile

    def run(self, job: Job) -> None:
        """Note a start; where runs may give way, this one may be suspended for a later job of the pass.

        It was planned to run from now on: that its nodes have to boot is not known before the next pass.
        """
        now = self.passes.clock.now
        end = now + job.expected
        self.started.append(job)
        if self.passes.clock.preemption.inputs is None:
            self.change(Profile.take, now, end, job.pieces)
        else:
            self.until[job] = end
            self.profile.take(now, end, job.pieces)

    def change(self, change: Callable[..., None], *values: Any) -> None:
        """Change the plan."""
        self.changes.append((change, values))
        change(self.profile, *values)

    @property
    def full(self) -> bool:
        """Whether there is no room for another reservation; with it, the pass ends."""
        return self.records >= self.passes.rules.records

    def reserve(self, job: Job, begin: int, pieces: list[Piece]) -> None:
        """Reserve pieces of the machine for a job, unless its reservation begins at the end of the plan or later."""
        now, rules = self.passes.clock.now, self.passes.rules
        floor, end = self.passes.rounded(job, begin)
        if rules.interval and floor >= self.last:
            return
        added = {second for second in (floor, end) if now < second < self.last} - self.steps
        self.steps |= added
        self.records += len(added) + (floor <= now and not self.opened)
        self.opened |= floor <= now
        if end > begin:
            self.booked.append((max(now, floor), end, {piece.node for piece in pieces}))
        self.change(self.passes.book, job, begin, pieces)
        if self.in_records:
            self.join(floor, end)

    @property
    def last(self) -> int:
        """Return when the plan ends: where its window does, in a second that is rounded down."""
        now, rules = self.passes.clock.now, self.passes.rules
        return now + rules.window - ((now - rules.origin) % rules.resolution if rules.interval else 0)

    def join(self, begin: int, end: int) -> None:
        """Join the first two neighbouring records with the same reserved nodes at or within a reservation, if any."""
        for step in sorted(step for step in self.steps if begin <= step <= end):
            if self.reserved_in(step - 1, step - 1) == self.reserved_in(step, step):
                self.steps.remove(step)
                return

    @property
    def in_records(self) -> bool:
        """Whether jobs are planned as by Slurm on nodes, where reservations stand in records of their own."""
        return isinstance(self.passes.clock.machine.empty, Nodes) and self.passes.rules.interval > 0

    @property
    def all_nodes(self) -> set[int]:
        """Return the nodes of the machine."""
        empty = self.passes.clock.machine.empty
        assert isinstance(empty, Nodes)
        return set(range(len(empty.nodes)))

    def of_partition(self, job: Job, option: int) -> set[int]:
        """Return the nodes of one of the partitions of a job."""
        limits = self.passes.clock.limits
        nodes = limits.nodes([limits.partitions(job)[option]])
        return self.all_nodes if nodes is None else nodes

    def nodes_for(self, job: Job, option: int) -> set[int]:
        """Return the nodes on which a job may run in one of its partitions, and that have the memory for it."""
        empty = self.passes.clock.machine.empty
        assert isinstance(empty, Nodes)
        request = empty.requests[job.number][option]
        return {
            node.number
            for node, may in zip(empty.nodes, request.allowed, strict=True)
            if may and node.memory >= request.node_memory
        }

    def reserved_in(self, begin: int, end: int) -> set[int]:
        """Return the nodes that are reserved in any second from one to another, both included."""
        found = [nodes for first, behind, nodes in self.booked if first <= end and behind > begin]
        return set[int]().union(*found)

    def closed_in(self, job: Job, option: int, begin: int, end: int) -> set[int]:
        """Return the nodes that are closed to a job at any time between two seconds."""
        view = self.closures().throughout(begin, end)
        assert isinstance(view, Nodes)
        booked = view.requests[job.number][option].booked
        return {node.number for node in view.nodes if node.alone or (node.reserved and not booked)}

    def reopened(self, begin: int, end: int) -> int | None:
        """Return the second behind the first end of a closure after `begin`, rounded up, if any begins before `end`."""
        known = [one for one in self.passes.clock.outages.known(self.passes.clock.now) if one.end > begin]
        if not any(min(one.begin + 1, one.end - 1) < end for one in known):
            return None
        first = min(one.end for one in known)
        second = first + (self.passes.rules.origin - first) % self.passes.rules.resolution + 1
        return second if second < self.last else None

    def running(self, usable: set[int]) -> Profile:
        """Return what running jobs leave free of some nodes that a job is to run on, and of no others.

        Only the ends of runs that hold any of these nodes are tried, and these are grouped.
        """
        passes, clock = self.passes, self.passes.clock
        profile = Profile(clock.now, clock.machine.empty)
        holding, soon = {*self.until, *self.started} - self.gone, clock.now + passes.inclusive
        planned = {job: clock.now + job.expected if job in self.started else job.expected_end for job in holding}
        mine = {job: end for job, end in planned.items() if not usable.isdisjoint(piece.node for piece in job.pieces)}
        own, of_all = ([end for end in ends.values() if end > soon] for ends in (mine, planned))
        grouped = in_groups(own, of_all, passes.rules) if passes.rounds_ends else {}
        for job, end in mine.items():
            profile.take(clock.now, grouped.get(end, max(end, soon)), job.pieces)
        return profile

    def own_end(self, pieces: list[Piece], group: int) -> int:
        """Return when the last run on chosen nodes ends in the plan, of those that do up to the end of a group."""
        now, nodes = self.passes.clock.now, {piece.node for piece in pieces}
        planned = {job: now + job.expected for job in self.started} | self.until
        ends = [end for job, end in planned.items() if job not in self.gone and nodes & {p.node for p in job.pieces}]
        return max((end for end in ends if end <= group), default=group)

    def forget(self, gone: set[Job]) -> None:
        """Continue the plan without some of the running jobs."""
        self.until = {job: end for job, end in self.until.items() if job not in gone}
        self.started = [job for job in self.started if job not in gone]
        self.profile = self.without(set())

    def place_over(self, job: Job, length: int, lenders: set[Job], option: int) -> list[Piece] | None:
        """Return where a job has room for `length` seconds, and now, on the cores of some runs."""
        now, suspension = self.passes.clock.now, self.passes.clock.preemption.suspension
        plan = self.without(lenders)
        for one in lenders:
            plan.take(now, self.until[one], suspension.kept(one))
        return place_in(plan.throughout(now, now + length).lesser(suspension.beside(set(), lenders)), job, option)

    def place(self, job: Job, length: int, gone: set[Job], option: int) -> list[Piece] | None:
        """Return where a job has room for `length` seconds in one of its partitions without some runs."""
        now = self.passes.clock.now
        return place_in(self.without(gone).throughout(now, now + length), job, option)


def in_groups(ends: list[int], of_all: list[int], rules: Slurm) -> dict[int, int]:
    """Return the ends of running jobs as Slurm rounds them: to the last end of a group, and later groups are wider.

    Half a minute after the first half minute, then twice as much each time (the estimate of select/cons_tres). Whether
    a group goes on is asked of the next end `of_all` running jobs; half minutes are counted from the rules' `origin`.
    """
    rest, every, together = sorted(set(ends)), sorted({*ends, *of_all}), dict[int, int]()
    edge, window = (rest[0] + 30 - (rest[0] - rules.origin) % 30, 30) if rest else (0, 30)
    while rest:
        group = [rest.pop(0)]
        while rest and next(end for end in every if end > group[-1]) <= edge + window:
            group.append(rest.pop(0))
        together |= dict.fromkeys(group, group[-1])
        window *= 2
        while any(end > group[-1] for end in every) and next(end for end in every if end > group[-1]) > edge + window:
            window *= 2
    return together
