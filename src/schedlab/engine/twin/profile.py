"""How many processors will be free when, by what running jobs and reservations occupy."""

from __future__ import annotations

from collections.abc import Callable


class Profile:
    """Free processors from some seconds on, each up to the next one; the first is now."""

    def __init__(self, now: int, free: int) -> None:
        self.free_from = {now: free}

    def at(self, second: int) -> int:
        """Return how many are free in a second."""
        return self.free_from[max(step for step in self.free_from if step <= second)]

    def take(self, begin: int, end: int, processors: int) -> None:
        """Occupy processors for a time."""
        self.change(begin, end, lambda free: free - processors)

    def change(self, begin: int, end: int, change: Callable[[int], int]) -> None:
        """Change how many are free in a time."""
        if begin < end:
            self.free_from |= {second: self.at(second) for second in (begin, end)}
            inside = [step for step in self.free_from if begin <= step < end]
            self.free_from |= {step: change(self.free_from[step]) for step in inside}

    def room_until(self, processors: int, begin: int, end: int) -> int:
        """Return until when, from `begin` to `end`, so many are free; `begin` if they are not at all."""
        steps = sorted({begin, *(step for step in self.free_from if begin < step < end)})
        return next((step for step in steps if self.at(step) < processors), end)

    def earliest(self, processors: int, length: int, begin: int) -> int:
        """Return the earliest second, from `begin` on, from which so many are free for so long."""
        steps = sorted({begin, *(step for step in self.free_from if step > begin)})
        return next(step for step in steps if self.room_until(processors, step, step + length) == step + length)
