"""Preemption of running jobs, and preempted jobs that may not begin again yet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from schedlab.engine.parts.preemption.numbers import PreemptionInputs
from schedlab.engine.parts.suspension.reference import Suspension
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import Nodes, View
from schedlab.engine.reference.nodes import Piece
from schedlab.scheduler.backfilling import Slurm

if TYPE_CHECKING:
    from schedlab.engine.reference.clock import Clock

LOOK = 30
"""Seconds between Slurm's looks at time limits."""


@dataclass
class Attempt:
    """The state while room is made: `gone` are runs being preempted, `taken` is what other jobs will have.

    What the other components of a job have is `apart`: none of them shares a node with another one.
    """

    clock: Clock
    gone: set[Job]
    taken: list[Piece] = field(default_factory=list)
    apart: list[Piece] = field(default_factory=list)
    blocked: set[int] = field(default_factory=set)

    def view(self, job: Job, gone: set[Job], lenders: set[Job]) -> View:
        """Return what would be free for a job without some runs, and on the cores of others."""
        clock = self.clock
        taken = [
            replace(piece, over=True) for piece in self.taken
        ]  # of one that waits for ends, perhaps beside lenders
        free = clock.preemption.suspension.beside(gone, lenders).without(taken).apart(self.apart)
        nodes = clock.limits.kept_from(job, self.blocked) or set()
        return clock.without_shut(free.closed(nodes), clock.now + job.estimate)

    def place(self, job: Job, option: int, gone: set[Job], lenders: set[Job]) -> list[Piece] | None:
        """Return what a job would get in one of its partitions without some runs, and on the cores of others."""
        return place_in(self.view(job, gone, lenders), job, option)


def place_in(view: View, job: Job, option: int) -> list[Piece] | None:
    """Return what a job would get of a view in one of its partitions."""
    assert isinstance(view, Nodes)
    pieces = view.placement.place(view.nodes, view.requests[job.number][option])
    return None if pieces is None else [replace(piece, option=option) for piece in pieces]


Lent = Callable[[set[Job], int], list[Piece] | None]
"""Where a job would run on the cores of some runs, in one of its partitions."""


Plan = Callable[[set[Job], int], list[Piece] | None]
"""Where a job would run in the plan without some runs, in one of its partitions."""


@dataclass
class Preemption:
    """Which jobs may preempt which runs; none without inputs. `held` are requeued jobs, with when they may begin."""

    clock: Clock
    inputs: PreemptionInputs | None
    held: list[tuple[int, Job]] = field(default_factory=list)
    suspension: Suspension = field(init=False)

    def __post_init__(self) -> None:
        self.suspension = Suspension(self.clock, self.inputs, self.class_of_run)

    def class_of(self, job: Job, option: int) -> int:
        """Return the class of a job in one of its partitions."""
        assert self.inputs is not None
        assert self.clock.limits.inputs is not None
        return int(self.inputs.of_option[self.clock.limits.inputs.option_offset[job.number] + option])

    def class_of_run(self, job: Job) -> int:
        """Return the class of a running job."""
        return self.class_of(job, job.pieces[0].option)

    def moments(self) -> list[int]:
        """Return when jobs may begin again, and when exemptions of runs end."""
        return [second for second, _ in self.held[:1]] + self.awakenings()

    def awakenings(self) -> list[int]:
        """Return when exemptions of runs end, if any job waits."""
        if self.inputs is None or not self.clock.waiting or not self.inputs.exempt.any():
            return []
        others = [job for job in self.clock.running if not job.gives_way]
        ends = [job.start + int(self.inputs.exempt[self.class_of_run(job)]) + 1 for job in others]
        return [end for end in ends if end > self.clock.now]

    def hold(self, job: Job, delay: int) -> None:
        """Requeue a job later."""
        self.clock.order.requeue(job, self.clock.now, delay)
        job.away = job.fate == "is held"
        self.held = sorted([*self.held, (self.clock.now + delay, job)], key=lambda one: (one[0], one[1].number))

    def returned(self) -> list[Job]:
        """Return the jobs that may begin again by now."""
        back = [job for second, job in self.held if second <= self.clock.now]
        self.held = self.held[len(back) :]
        for job in back:
            job.away = False
        return back

    def make_way(self, jobs: list[Job]) -> bool:
        """Preempt runs for the first of these jobs; return whether any is preempted."""
        clock, found = self.clock, False
        if self.inputs is None or clock.in_order:
            return False
        attempt = Attempt(clock, {job for job in clock.running if job.gives_way})
        admitted, had_turn = [job for job in jobs if clock.admitted_alone(job) or clock.stops(job)], list[Job]()
        for job in admitted:
            if any(job.is_of(one) for one in had_turn):
                continue
            had_turn.append(job)
            if clock.stops(job) or job.needs_others(clock.waiting):
                attempt.blocked.update(clock.limits.partitions(job))
                continue
            options = [
                (one, option)
                for one in admitted
                if one.is_of(job)
                for option in range(len(clock.limits.partitions(one)))
            ]
            places = (attempt.place(*one, attempt.gone, set()) for one in options)
            pieces = next((pieces for pieces in places if pieces is not None), None)
            if pieces is None:
                pieces = next((pieces for one in options if (pieces := self.clear(attempt, *one)) is not None), None)
                found |= pieces is not None
            if pieces is not None:
                attempt.taken += pieces
            elif not (isinstance(clock.scheduler.backfill, Slurm) and clock.is_shut_out(job, None, attempt.blocked)):
                attempt.blocked.update(clock.limits.partitions(job))
        return found

    def next_over(self, jobs: list[Job]) -> tuple[Job, list[Piece]] | None:
        """Return the first of these jobs that starts in place of runs that are suspended then, and where."""
        clock = self.clock
        if self.inputs is None or clock.in_order:
            return None
        attempt, had_turn = Attempt(clock, set()), list[Job]()
        admitted = [job for job in jobs if clock.admitted(job) or clock.stops(job)]
        for job in admitted:
            if any(job.is_of(one) for one in had_turn):
                continue
            had_turn.append(job)
            if clock.stops(job):
                attempt.blocked.update(clock.limits.partitions(job))
                continue
            mine = [one for one in admitted if one.is_of(job)]
            options = [(one, option) for one in mine for option in range(len(clock.limits.partitions(one)))]
            places = (attempt.place(*one, set(), set()) for one in options)
            pieces = next((pieces for pieces in places if pieces is not None), None)
            if pieces is not None:
                attempt.taken += pieces
                continue
            for one in mine:
                partitions = clock.limits.partitions(one)
                free = [option for option in range(len(partitions)) if partitions[option] not in attempt.blocked]
                found = self.over(one, free, lambda lenders, option: attempt.place(one, option, set(), lenders))  # noqa: B023
                if found is not None:
                    return one, found
            attempt.blocked.update(clock.limits.partitions(job))
        return None

    def over(self, job: Job, options: Iterable[int], place: Lent) -> list[Piece] | None:
        """Return where a job starts in place of runs of the lowest tiers, None if there is no room."""
        for option in options if self.inputs is not None else ():
            for lenders in self.suspension.lenders(self.class_of(job, option)):
                pieces = place(lenders, option)
                if pieces is not None:
                    return pieces
        return None

    def begin_over(self, job: Job, pieces: list[Piece], backfilled: bool = False) -> None:
        """Start a job, and suspend the runs that are in its way."""
        self.clock.begin(job, pieces, backfilled=backfilled)
        self.suspension.settle()

    def resume(self) -> None:
        """Resume the runs whose cores are free again."""
        if any(job.since is not None for job in self.clock.running):
            self.suspension.settle()

    def make_way_in_plan(self, job: Job, options: Sequence[int], plan: Plan) -> tuple[list[Piece], set[Job]] | None:
        """Preempt runs for a job in the plan; return where it would run and which runs are gone then.

        None if none has to: because the job has room after the end of runs that are being preempted already, or has
        none.
        """
        if self.inputs is None:
            return None
        ending = {one for one in self.clock.running if one.gives_way}
        if any(plan(ending, option) is not None for option in options):
            return None
        for option in options:
            found = self.try_in_turn(self.candidates(set(), job, option), ending, lambda gone: plan(gone, option))  # noqa: B023
            if found is not None:
                pieces, gone = found
                for one in gone:
                    self.end(one)
                return pieces, ending | set(gone)
        return None

    def clear(self, attempt: Attempt, job: Job, option: int) -> list[Piece] | None:
        """Preempt runs so that a job fits in one of its partitions; return where, None if that is impossible."""
        order = self.candidates(attempt.blocked, job, option)
        lenders = set().union(*self.suspension.lenders(self.class_of(job, option)))
        found = self.try_in_turn(order, attempt.gone, lambda gone: attempt.place(job, option, gone, lenders))
        if found is None:
            return None
        attempt.gone = attempt.gone | set(found[1])
        for one in found[1]:
            self.end(one)
        return found[0]

    def make_way_for_component(self, job: Job, others: list[Job]) -> None:
        """Preempt runs for a component that has no room now on nodes other than those of the ones before it."""
        if self.inputs is None:
            return
        attempt = Attempt(self.clock, {one for one in self.clock.running if one.gives_way})
        attempt.apart = [piece for one in others for piece in one.pieces]
        options = range(len(self.clock.limits.partitions(job)))
        if all(attempt.place(job, option, attempt.gone, set()) is None for option in options):
            any(self.clear(attempt, job, option) is not None for option in options)

    def room_without(self, job: Job, options: Sequence[int], plan: Plan) -> list[Piece] | None:
        """Return where a component would run in the plan if all runs that it may preempt were over; or None."""
        if self.inputs is None:
            return None
        ending = {one for one in self.clock.running if one.gives_way}
        for option in options:
            victims = self.candidates(set(), job, option)
            pieces = plan(ending.union(*(one.components for one in victims)), option)
            if pieces is not None:
                return pieces
        return None

    def may_give_way(self, job: Job, option: int) -> set[Job]:
        """Return the runs that may be preempted by a job in one of its partitions; none by a component alone."""
        if self.inputs is None or job.needs_others(self.clock.waiting):
            return set()
        return {component for one in self.candidates(set(), job, option) for component in one.components}

    @staticmethod
    def use(victim: Job, pieces: list[Piece]) -> int:
        """Return how many of some nodes a run holds, with the other components of its job."""
        nodes = {piece.node for piece in pieces}
        return sum(len(nodes & {piece.node for piece in one.pieces}) for one in victim.components)

    def try_in_turn(
        self, order: list[Job], before: set[Job], place: Callable[[set[Job]], list[Piece] | None]
    ) -> tuple[list[Piece], list[Job]] | None:
        """Remove runs one after the other until the job fits; return where, and which runs have to be preempted."""
        assert self.inputs is not None
        for tried in count(1):
            pieces, gone = None, list[Job]()
            for one in order:
                gone.append(one)
                pieces = place(before.union(*(other.components for other in gone)))
                if pieces is not None:
                    break
            if pieces is None:
                return None
            use = {one: self.use(one, pieces) for one in gone}
            if tried > self.inputs.reorder + 1 or tried >= len(order):
                return pieces, [component for one in gone if use[one] for component in one.components]
            use[gone[-1]] = 10**9
            order.sort(key=lambda one: -use.get(one, 0))
        return None

    def candidates(self, blocked: set[int], job: Job, option: int) -> list[Job]:
        """Return the runs that may be preempted by a job, in the order of preemption.

        The first component stands for its job: all of them have to be running, and may be preempted.
        """
        clock, inputs = self.clock, self.inputs
        assert inputs is not None
        partition = clock.limits.partitions(job)[option]
        if partition in blocked:
            return []
        there, mine = clock.limits.nodes([partition]) or set(), self.class_of(job, option)
        may_go = set[Job]()
        for one in clock.running:
            its_class = self.class_of_run(one)
            left_alone = clock.now - one.start <= inputs.exempt[its_class]
            if (
                inputs.may[mine, its_class]
                and not inputs.suspends[its_class]
                and not (left_alone or one.gives_way)
                and there & {piece.node for piece in one.pieces}
            ):
                may_go.add(one)
        found = [one for one in clock.running if one is one.components[0] and may_go.issuperset(one.components)]
        if inputs.youngest:
            return sorted(found, key=lambda one: (-one.start, one.number))
        return sorted(found, key=lambda one: (inputs.rank[self.class_of_run(one)], len(one.pieces), one.number))

    def end(self, job: Job) -> None:
        """End a run when its grace time is over, or at Slurm's next look at time limits, unless it ends before."""
        inputs = self.inputs
        assert inputs is not None
        its_class = self.class_of_run(job)
        passes = self.clock.scheduler.backfill
        over = ends = self.clock.now + int(inputs.grace[its_class])
        if (
            inputs.grace[its_class]
            and isinstance(passes, Slurm)
            and passes.interval
            and passes.follows("grace_until_look")
        ):
            ends = -(-over // LOOK) * LOOK
        job.grace = int(inputs.grace[its_class])
        self.end_at(job, over, ends, "lost" if inputs.cancels[its_class] else "is held")

    def end_at(self, job: Job, foreseen: int, ends: int, fate: str) -> None:
        """End a run at a second, unless it ends before."""
        clock = self.clock
        job.gives_way = True
        if job.over > ends:
            job.fate = fate
            job.completion, job.tick = (ends, clock.sequence), 0  # the scheduler ends it itself
            clock.sequence += 1
            job.expected, job.expiry = foreseen - job.start, None
        else:
            job.expected = min(job.expected, foreseen - job.start)

    def told(self) -> dict[str, Any]:
        """Return what the schedule says of runs that stood still."""
        return self.suspension.told()
