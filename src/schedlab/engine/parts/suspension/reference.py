"""Runs that stand still while jobs of a higher tier use their cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.machine.numbers import UNLIMITED
from schedlab.engine.parts.preemption.numbers import PreemptionInputs
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import Nodes, View
from schedlab.engine.reference.nodes import Piece
from schedlab.schedule.runs import PAUSE

if TYPE_CHECKING:
    from schedlab.engine.reference.clock import Clock

FAR = 10**17
"""When a suspended run would be over."""


@dataclass
class Pause:
    """A suspension of a job."""

    job: int
    start: int
    end: int


@dataclass
class Suspension:
    """Which runs are suspended; all suspensions in the order in which they began. `class_of` tells that of a run."""

    clock: Clock
    inputs: PreemptionInputs | None
    class_of: Callable[[Job], int]
    pauses: list[Pause] = field(default_factory=list)

    def suspends(self, job: Job) -> bool:
        """Return whether a run is suspended where it has to give way."""
        return self.inputs is not None and bool(self.inputs.suspends[self.class_of(job)])

    def lenders(self, mine: int) -> list[set[Job]]:
        """Return the runs that a job of a class may suspend: those of the lowest tier, of the two lowest, and so on."""
        if self.inputs is None:
            return []
        rank = {job: int(self.inputs.rank[self.class_of(job)]) for job in self.clock.running if self.suspends(job)}
        rank = {job: tier for job, tier in rank.items() if self.inputs.may[mine, self.class_of(job)]}
        rank = {job: tier for job, tier in rank.items() if not self.is_left_alone(job)}
        return [{job for job in rank if rank[job] <= tier} for tier in sorted(set(rank.values()))]

    def is_left_alone(self, job: Job) -> bool:
        """Return whether a run may not be suspended yet."""
        assert self.inputs is not None
        exempt = int(self.inputs.exempt[self.class_of(job)])
        return exempt > 0 and self.clock.now - job.start <= exempt

    def kept(self, job: Job) -> list[Piece]:
        """Return what a run keeps while it is suspended: its memory and its GPUs."""
        empty = self.clock.machine.empty
        assert isinstance(empty, Nodes)
        kept = []
        for piece in job.pieces:
            memory = empty.nodes[piece.node].memory < UNLIMITED if piece.alone else piece.memory > 0
            if memory or piece.gpus:
                kept.append(replace(piece, tasks=0, cores=0))
        return kept

    def beside(self, gone: set[Job], lenders: set[Job]) -> View:
        """Return what is free now for a job that may use the cores of some runs, without others that are gone."""
        clock = self.clock
        view = clock.machine.beside(one for one in clock.running if one not in gone | lenders)
        for one in lenders - gone:
            view = view.without(self.kept(one))
        return view

    def settle(self) -> None:
        """Find out which runs go on, tier after tier, and suspend and resume them."""
        clock, inputs = self.clock, self.inputs
        assert inputs is not None
        empty = clock.machine.empty
        assert isinstance(empty, Nodes)
        used = Counter[int]()
        stay = [job for job in clock.running if not self.suspends(job)]
        others = [job for job in clock.running if self.suspends(job)]
        others.sort(key=lambda job: (-inputs.rank[self.class_of(job)], job.since is not None, job.begun))
        for job in stay + others:
            if job in stay or all(used[one.node] + one.cores <= empty.nodes[one.node].cores for one in job.pieces):
                used.update({one.node: one.cores for one in job.pieces})
                if job.since is not None:
                    self.go_on(job)
            elif job.since is None:
                self.stand_still(job)

    def stand_still(self, job: Job) -> None:
        """Suspend a run; if it went on in this very second, it was suspended all the time."""
        now = self.clock.now
        mine = [pause for pause in self.pauses if pause.job == job.number and pause.start >= job.start - job.stood]
        if not (mine and mine[-1].end == now):
            self.pauses.append(Pause(job.number, now, now))
        job.since, job.left, job.expiry = now, job.completion[0] - now, None
        job.completion = (FAR, job.completion[1])

    def go_on(self, job: Job) -> None:
        """Resume a run, as if it had begun later."""
        clock = self.clock
        assert job.since is not None
        job.start += clock.now - job.since
        job.stood += clock.now - job.since
        job.since, job.completion = None, (clock.now + job.left, clock.sequence)
        clock.sequence += 1
        next(pause for pause in reversed(self.pauses) if pause.job == job.number).end = clock.now
        if job.expected_end > clock.now:
            clock.forecast.watch(job)

    def told(self) -> dict[str, Any]:
        """Return all suspensions in the order in which they began, if runs may be suspended."""
        if self.inputs is None or not self.inputs.suspends.any():
            return {}
        pauses = np.array([astuple(pause) for pause in self.pauses], dtype=PAUSE)
        if self.clock.prepared.order is not None:
            pauses["job"] = self.clock.prepared.order[pauses["job"]]
        return {"pauses": pauses}
