"""Where a job fits among jobs that occupy processors for a time: (begin, end, processors) each."""

from __future__ import annotations

Booking = tuple[int, int, int]


def free_at(busy: list[Booking], processors: int, second: int) -> int:
    """Return how many of so many processors are free at a moment."""
    return processors - sum(width for begin, end, width in busy if begin <= second < end)


def room_until(busy: list[Booking], processors: int, width: int, begin: int, end: int) -> int:
    """Return until when, from `begin` to `end`, a job of so many processors disturbs nobody; `begin` if not at all."""
    moments = sorted({begin} | {second for second, _, _ in busy if begin < second < end})
    return next((second for second in moments if free_at(busy, processors, second) < width), end)


def earliest(busy: list[Booking], processors: int, width: int, length: int, begin: int) -> int:
    """Return the earliest second, from `begin` on, from which a job would disturb nobody: then, or when one ends."""
    moments = sorted({begin} | {end for _, end, _ in busy if end > begin})
    return next(at for at in moments if room_until(busy, processors, width, at, at + length) == at + length)
