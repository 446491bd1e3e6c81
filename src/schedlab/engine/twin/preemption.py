"""Preemption of running jobs, and preempted jobs that may not begin again yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from schedlab.engine.preemption_inputs import PreemptionInputs
from schedlab.engine.twin.job import Job
from schedlab.engine.twin.machine import Nodes, View
from schedlab.engine.twin.nodes import Part

if TYPE_CHECKING:
    from schedlab.engine.twin.clock import Clock


@dataclass
class Attempt:
    """The state while room is made: `gone` are runs being preempted, `taken` is what other jobs will have."""

    clock: Clock
    gone: set[Job]
    taken: list[Part] = field(default_factory=list)
    blocked: set[int] = field(default_factory=set)

    def view(self, job: Job, gone: set[Job]) -> View:
        """Return what would be free for a job without some runs."""
        clock = self.clock
        free = clock.machine.beside(one for one in clock.running if one not in gone).without(self.taken)
        nodes = clock.site.nodes(self.blocked) or set()
        return free.closed(nodes | clock.outages.shut(clock.now, clock.now + job.estimate))

    def place(self, job: Job, option: int, gone: set[Job]) -> list[Part] | None:
        """Return what a job would get in one of its partitions without some runs."""
        return place_in(self.view(job, gone), job, option)


def place_in(view: View, job: Job, option: int) -> list[Part] | None:
    """Return what a job would get of a view in one of its partitions."""
    assert isinstance(view, Nodes)
    parts = view.placement.place(view.nodes, view.requests[job.number][option])
    return None if parts is None else [replace(part, option=option) for part in parts]


Plan = Callable[[set[Job], int], list[Part] | None]
"""Where a job would run in the plan without some runs, in one of its partitions."""


@dataclass
class Preemption:
    """Which jobs may preempt which runs; none without inputs. `held` are requeued jobs, with when they may begin."""

    clock: Clock
    inputs: PreemptionInputs | None
    held: list[tuple[int, Job]] = field(default_factory=list)

    def class_of(self, job: Job, option: int) -> int:
        """Return the class of a job in one of its partitions."""
        assert self.inputs is not None
        assert self.clock.site.inputs is not None
        return int(self.inputs.of_option[self.clock.site.inputs.option_offset[job.number] + option])

    def class_of_run(self, job: Job) -> int:
        """Return the class of a running job."""
        return self.class_of(job, job.parts[0].option)

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

    def hold(self, job: Job) -> None:
        """Requeue a job later."""
        assert self.inputs is not None
        job.submit = self.clock.now + self.inputs.delay
        self.held = sorted([*self.held, (job.submit, job)], key=lambda one: (one[0], one[1].number))

    def returned(self) -> list[Job]:
        """Return the jobs that may begin again by now."""
        back = [job for second, job in self.held if second <= self.clock.now]
        self.held = self.held[len(back) :]
        return back

    def make_way(self, jobs: list[Job]) -> bool:
        """Preempt runs for the first of these jobs; return whether any is preempted."""
        clock, found = self.clock, False
        if self.inputs is None or clock.in_order:
            return False
        attempt = Attempt(clock, {job for job in clock.running if job.gives_way})
        for job in jobs:
            if not clock.admitted(job):
                continue
            options = range(len(clock.site.partitions(job)))
            places = (attempt.place(job, option, attempt.gone) for option in options)
            parts = next((parts for parts in places if parts is not None), None)
            if parts is None:
                parts = next((parts for one in options if (parts := self.clear(attempt, job, one)) is not None), None)
                found |= parts is not None
            if parts is None:
                attempt.blocked.update(clock.site.partitions(job))
            else:
                attempt.taken += parts
        return found

    def make_way_in_plan(self, job: Job, plan: Plan) -> tuple[list[Part], set[Job]] | None:
        """Preempt runs for a job in the plan; return where it would run and which runs are gone then.

        None if none has to: because the job has room after the end of runs that are being preempted already, or has
        none.
        """
        if self.inputs is None:
            return None
        ending = {one for one in self.clock.running if one.gives_way}
        options = range(len(self.clock.site.partitions(job)))
        if any(plan(ending, option) is not None for option in options):
            return None
        for option in options:
            found = self.try_in_turn(self.candidates(set(), job, option), ending, lambda gone: plan(gone, option))  # noqa: B023
            if found is not None:
                parts, gone = found
                for one in gone:
                    self.end(one)
                return parts, ending | set(gone)
        return None

    def clear(self, attempt: Attempt, job: Job, option: int) -> list[Part] | None:
        """Preempt runs so that a job fits in one of its partitions; return where, None if that is impossible."""
        order = self.candidates(attempt.blocked, job, option)
        found = self.try_in_turn(order, attempt.gone, lambda gone: attempt.place(job, option, gone))
        if found is None:
            return None
        attempt.gone = attempt.gone | set(found[1])
        for one in found[1]:
            self.end(one)
        return found[0]

    def try_in_turn(
        self, order: list[Job], before: set[Job], place: Callable[[set[Job]], list[Part] | None]
    ) -> tuple[list[Part], list[Job]] | None:
        """Remove runs one after the other until the job fits; return where, and which runs have to be preempted."""
        assert self.inputs is not None
        for tried in count(1):
            parts, gone = None, list[Job]()
            for one in order:
                gone.append(one)
                parts = place(before | set(gone))
                if parts is not None:
                    break
            if parts is None:
                return None
            nodes = {part.node for part in parts}
            use = {one: len(nodes & {part.node for part in one.parts}) for one in gone}
            if tried > self.inputs.reorder + 1 or tried >= len(order):
                return parts, [one for one in gone if use[one]]
            use[gone[-1]] = 10**9
            order.sort(key=lambda one: -use.get(one, 0))
        return None

    def candidates(self, blocked: set[int], job: Job, option: int) -> list[Job]:
        """Return the runs that may be preempted by a job, in the order of preemption."""
        clock, inputs = self.clock, self.inputs
        assert inputs is not None
        partition = clock.site.partitions(job)[option]
        if partition in blocked:
            return []
        there, mine = clock.site.nodes([partition]) or set(), self.class_of(job, option)
        found = []
        for one in clock.running:
            his = self.class_of_run(one)
            left_alone = clock.now - one.start <= inputs.exempt[his]
            if (
                inputs.may[mine, his]
                and not (left_alone or one.gives_way)
                and there & {part.node for part in one.parts}
            ):
                found.append(one)
        if inputs.youngest:
            return sorted(found, key=lambda one: (-one.start, one.number))
        return sorted(found, key=lambda one: (inputs.rank[self.class_of_run(one)], len(one.parts), one.number))

    def end(self, job: Job) -> None:
        """End a run when its grace time is over, unless it ends before."""
        clock, inputs = self.clock, self.inputs
        assert inputs is not None
        his = self.class_of_run(job)
        ends = clock.now + int(inputs.grace[his])
        job.gives_way = True
        if job.completion[0] > ends:
            job.fate = "lost" if inputs.cancels[his] else "is held"
            job.completion = (ends, clock.sequence)
            clock.sequence += 1
            job.expected, job.expiry = ends - job.start, None
        else:
            job.expected = min(job.expected, ends - job.start)
