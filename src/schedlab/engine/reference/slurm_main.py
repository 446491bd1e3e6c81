"""Slurm's main pass: ready jobs in order, in each partition up to the first that does not fit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedlab.engine.parts.heterogeneous.reference import sorted_for_pass, start_together
from schedlab.engine.reference.job import Job

if TYPE_CHECKING:
    from schedlab.engine.reference.slurm_pass import SlurmPass


@dataclass
class MainPass:
    """One pass, and what it has done so far; `whole` if it considers the whole queue.

    `ready` are the jobs that it may still look at, `order` all that wait once the pass has begun: before, jobs that
    start in order have started. `blocked` are the partitions whose first job has no room, `of_partition` counts the
    turns in each, and `last` is how many jobs have started when the pass ends.
    """

    passes: SlurmPass
    visible: list[Job]
    whole: bool
    ready: list[Job] = field(init=False)
    last: int = field(init=False)
    order: list[Job] = field(default_factory=list)
    looked_at: int = 0
    blocked: set[int] = field(default_factory=set)
    of_partition: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.clock, self.rules = self.passes.clock, self.passes.rules
        self.ready = [job for job in self.visible if job.ready]
        self.last = max(self.clock.started, self.clock.prepared.in_order) + self.rules.main_starts

    def run(self) -> None:
        """Start jobs until one closes the whole machine, or the pass has done its share."""
        while self.ready:
            if not self.order and not self.clock.in_order:  # the pass begins, also with those without room in order
                waiting = [job for job in self.visible if job in self.clock.waiting]
                self.order = sorted_for_pass(self.clock, waiting, self.rules.hetjob_order)
                self.ready = [job for job in self.order if job.ready]
            head = next(job for job in self.order or self.ready if job in self.ready)
            self.ready.remove(head)
            if not self.goes_on_after(head):
                return

    def goes_on_after(self, head: Job) -> bool:
        """Look at the turns of a job; return whether the pass goes on."""
        for turn in [None] if self.clock.in_order else self.passes.turns(head):
            if not self.clock.in_order:
                partition = self.passes.partition_of(head, turn)
                self.of_partition[partition] += 1
                if self.of_partition[partition] > self.rules.partition_queue_depth:
                    self.passes.look_at_next_minute()
                    continue
                self.looked_at += not self.whole
                if self.clock.started >= self.last or self.looked_at > self.rules.queue_depth:
                    self.passes.look_at_next_minute()
                    return False
            if not self.clock.admitted_alone(head) and not self.clock.stops(head):
                return True
            if head.needs_others(self.clock.waiting):
                return self.start_components(head) or self.goes_on_behind(head, turn)
            if self.starts(head, turn):
                return True
            if self.clock.is_shut_out(head, turn, self.blocked) or (
                self.passes.is_minor(head) and not self.clock.in_order
            ):
                continue
            if not self.goes_on_behind(head, turn):
                return False
        return True

    def start_components(self, head: Job) -> bool:
        """Start a heterogeneous job that has its turn in order, if it has room; return whether it starts."""
        clock = self.clock
        if not clock.in_order or not clock.admitted(head):
            return False
        if not start_together(clock, head.waiting_with(clock.waiting), False, self.blocked):
            return False
        self.passes.last_change = clock.now
        self.ready = [job for job in self.ready if job in clock.waiting]
        return True

    def starts(self, head: Job, turn: int | None) -> bool:
        """Start the first alternative of a job that fits outside of blocked partitions; return whether one does.

        It is tried with all of them, also those that the pass would not look at by themselves.
        """
        clock = self.clock
        others = [job for job in self.order or self.visible if job.is_of(head) and job is not head and job.ready]
        alternatives = [head, *(job for job in others if clock.admitted(job))]
        self.ready = [job for job in self.ready if not job.is_of(head)]
        if not clock.in_order:  # by priority, whichever stands before jobs that it may preempt
            alternatives = clock.sorted(alternatives)
        for job in alternatives if clock.admitted(head) else []:
            view = clock.view()
            if self.blocked:
                view = view.closed(clock.limits.kept_from(job, self.blocked))
            pieces = clock.place(view, job, turn)
            if pieces is not None:
                clock.begin(job, pieces)
                self.passes.last_change = clock.now
                if turn:
                    self.passes.look_at_next_minute()
                return True
        return False

    def goes_on_behind(self, head: Job, turn: int | None) -> bool:
        """Let a job without room block its partition; return whether there are others."""
        self.blocked.update(self.clock.limits.closes(head, turn, self.clock.machine.empty))
        return self.clock.limits.inputs is not None
