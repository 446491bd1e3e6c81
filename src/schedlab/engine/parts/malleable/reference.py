"""Malleable jobs in plain Python: the same rule with fractions."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from schedlab.engine.reference.job import Job
from schedlab.engine.reference.nodes import Piece
from schedlab.schedule.runs import SIZE

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.reference.clock import Clock


class Length(NamedTuple):
    """How long a job runs with a size from begin to end, and how long reservations assume that it does."""

    lasts: int
    expected: int


@dataclass
class Standing:
    """How a run stood before its first change of a second: its size, and what was left of it."""

    second: int
    size: int
    left: Length


class Malleable:
    """The sizes of jobs, and what became of them; nothing if no pass may resize any."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self.lengths: list[dict[int, Length]] = []
        self.standing: dict[Job, Standing] = {}
        self.history: dict[Job, list[tuple[int, int]]] = {}
        self.jobs: list[Job] = []
        if (inputs := prepared.of_parts.get("malleable")) is not None:
            columns = zip(inputs.processors.tolist(), inputs.duration.tolist(), inputs.estimate.tolist(), strict=True)
            sizes, ends = list(columns), inputs.offsets.tolist()
            for first, last in itertools.pairwise(ends):
                self.lengths.append({size: Length(*length) for size, *length in sizes[first:last]})

    def see(self, jobs: list[Job]) -> None:
        """Let the order of the queue see the jobs with their own sizes."""
        if self.lengths:
            self.jobs = jobs
            for job in jobs:
                job.ordered_as = job.processors

    def sizes(self, job: Job) -> list[int]:
        """Return the sizes that a job may have."""
        return sorted(self.lengths[job.number]) if self.lengths else [job.processors]

    def left(self, job: Job, size: int, now: int) -> Length:
        """Return what is left, and expected to be left, of a run with another size from now on."""
        stood = self.standing.get(job)
        if stood is None or stood.second < now:
            stood = Standing(now, job.processors, Length(job.over - now, job.expected_end - now))
        old, new = self.lengths[job.number][stood.size], self.lengths[job.number][size]
        pairs = zip(stood.left, old, new, strict=True)
        return Length(*(ceil(Fraction(left * its, mine)) for left, mine, its in pairs))

    def choose(self, job: Job, size: int) -> None:
        """Give a waiting job another size."""
        job.processors = size
        job.need, job.estimate = self.lengths[job.number][size]

    def change(self, job: Job, size: int, clock: Clock) -> None:
        """Give a run another size now."""
        now, left = clock.now, self.left(job, size, clock.now)
        if (stood := self.standing.get(job)) is None or stood.second < now:
            before = Length(job.over - now, job.expected_end - now)
            self.standing[job] = Standing(now, job.processors, before)
        self.history.setdefault(job, [(job.start, job.processors)]).append((now, size))
        job.processors, job.pieces = size, [Piece(0, size, size)]
        job.expected = job.estimate = now - job.start + left.expected
        job.completion = (now + left.lasts, clock.sequence)
        clock.sequence += 1
        clock.running = [*(one for one in clock.running if one is not job), job]

    def told(self) -> dict[str, Any]:
        """Return the sizes of all runs, in the order in which they began; nothing if no pass may resize any."""
        if not self.lengths:
            return {}
        found = []
        for job in self.jobs:
            steps = self.history.get(job, [(job.start, job.processors)])
            last = dict(steps)  # of one second, the last
            seconds = sorted(last)
            kept = [at for i, at in enumerate(seconds) if i == 0 or last[at] != last[seconds[i - 1]]]
            row = job.number if self.prepared.order is None else int(self.prepared.order[job.number])
            for begin, end in zip(kept, [*kept[1:], job.over], strict=True):
                found.append((row, begin, end, last[begin]))
        ran = [one for one in found if self.has_run(one[0])]
        return {"sizes": np.array(sorted(ran, key=lambda one: (one[1], one[0])), dtype=SIZE)}

    def has_run(self, row: int) -> bool:
        """Return whether the job in a row was not cancelled while it waited."""
        order = self.prepared.order
        number = row if order is None else int(np.flatnonzero(order == row)[0])
        return self.jobs[number].begun >= 0
