"""The free resources over time, given running jobs and reservations."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import View
from schedlab.engine.reference.nodes import Piece

NEVER = 10**18
"""Later than all that happens, even a few times as late; the engine has its own, which only comparisons may see."""


class Profile:
    """The free resources from each of some seconds on, up to the next one; the first is now."""

    def __init__(self, now: int, free: View) -> None:
        self.free_from = {now: free}

    def at(self, second: int) -> View:
        """Return what is free at a second."""
        return self.free_from[max(step for step in self.free_from if step <= second)]

    def throughout(self, begin: int, end: int) -> View:
        """Return what is free throughout an interval, or at its first second if it is empty."""
        views = [self.at(begin), *(view for step, view in self.free_from.items() if begin < step < end)]
        return reduce(lambda one, other: one.lesser(other), views)

    def take(self, begin: int, end: int, pieces: list[Piece]) -> None:
        """Occupy pieces of the machine during an interval."""
        self.change(begin, end, lambda free: free.without(pieces))

    def change(self, begin: int, end: int, change: Callable[[View], View]) -> None:
        """Change what is free during an interval."""
        if begin < end:
            self.free_from |= {second: self.at(second) for second in (begin, end)}
            inside = [step for step in self.free_from if begin <= step < end]
            self.free_from |= {step: change(self.free_from[step]) for step in inside}

    def room_until(self, job: Job, begin: int, end: int) -> int:
        """Return until when, from `begin` to `end`, a job has room; `begin` if it has none at all."""
        steps = sorted({begin, *(step for step in self.free_from if begin < step < end)})
        return next((step for step in steps if self.throughout(begin, step + 1).place(job) is None), end)

    def earliest(
        self, job: Job, length: int, begin: int, option: int | None = None, now: View | None = None
    ) -> tuple[int, list[Piece]]:
        """Return the earliest second, from `begin` on, from which a job has room for `length` seconds, and where.

        In one of its partitions, if an option is given. Unless it can begin at once, nodes of which something is not
        free now are taken first, if what is free `now` is given.
        """
        for step in sorted({begin, *(step for step in self.free_from if step > begin)}):
            view = self.throughout(step, step + length)
            if now is not None and step > min(self.free_from):
                view = view.where_in_use(now)
            pieces = view.place(job, option)
            if pieces is not None:
                return step, pieces
        # A partition may have no node of the reservation that the job asks for.
        assert job.picky or option is not None, "the machine is too small for a job"
        return NEVER, []
