"""The processors that are expected to be free, from now on into the future."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.kernels import inlined, inner_kernel, new_records

SEGMENT = np.dtype([("begin", "i8"), ("free", "i8")])
"""A segment of the profile: `free` processors from second `begin` to the next segment's."""


class Profile(NamedTuple):
    """Free processors over time: the first `length[0]` of `segments`; the first begins now, the last never ends."""

    segments: NDArray[Any]
    length: NDArray[np.int64]


def new_profile(bookings: int, processors: int) -> Profile:
    """Return the profile of an empty machine, with room for `bookings` concurrent bookings."""
    segments = new_records(2 * bookings + 4, SEGMENT)  # a booking has two ends; two more are being cut
    segments[0] = (np.iinfo(np.int64).min, processors)
    return Profile(segments, np.ones(1, dtype=np.int64))


@inlined
def clear(profile: Profile, now: int, processors: int) -> None:
    """Remove all bookings."""
    profile.length[0] = 1
    profile.segments[0].begin = now
    profile.segments[0].free = processors


@inlined
def earliest_slot(profile: Profile, processors: int, length: int, begins: int) -> int:
    """Return the earliest second, from the one given on, from which `processors` are free for `length` seconds."""
    segments = profile.segments
    last = profile.length[0] - 1
    i = 0
    while i < last and segments[i].begin < begins + length:
        if segments[i].free < processors:
            begins = max(begins, segments[i + 1].begin)
        i += 1
    return begins


@inlined
def slot_before(profile: Profile, processors: int, length: int, begins: int, booked: int) -> int:
    """Return the earliest second, from the one given on, to which a booking of this length can move; else `booked`.

    The booking begins at second `booked`; its own processors count as free from then on.
    """
    segments = profile.segments
    last = profile.length[0] - 1
    i = 0
    while i <= last and begins < booked and segments[i].begin < min(booked, begins + length):
        if segments[i].free < processors:
            begins = segments[i + 1].begin if i < last else booked
        i += 1
    return min(begins, booked)


@inner_kernel
def book(profile: Profile, begins: int, ends: int, processors: int) -> None:
    """Add processors (negative: take them) between two seconds."""
    if begins >= ends:
        return
    first = _cut(profile, begins)
    last = _cut(profile, ends)
    for i in range(first, last):
        profile.segments[i].free += processors
    _join(profile, last)
    _join(profile, first)


@inlined
def _cut(profile: Profile, second: int) -> int:
    """Split the profile at a second; return the position of the segment that begins there."""
    segments = profile.segments
    low = 0
    high = profile.length[0]
    while high - low > 1:
        middle = (low + high) >> 1
        if segments[middle].begin <= second:
            low = middle
        else:
            high = middle
    if segments[low].begin == second:
        return low
    for i in range(profile.length[0], low + 1, -1):
        segments[i] = segments[i - 1]
    segments[low + 1].begin = second
    segments[low + 1].free = segments[low].free
    profile.length[0] += 1
    return low + 1


@inlined
def _join(profile: Profile, place: int) -> None:
    """Join a segment with the one before it if they are alike."""
    segments = profile.segments
    if place > 0 and segments[place].free == segments[place - 1].free:
        profile.length[0] -= 1
        for i in range(place, profile.length[0]):
            segments[i] = segments[i + 1]


@inlined
def forget_the_past(profile: Profile, now: int) -> None:
    """Drop the part of the profile before now."""
    segments = profile.segments
    past = 0
    while past + 1 < profile.length[0] and segments[past + 1].begin <= now:
        past += 1
    if past > 0:
        profile.length[0] -= past
        for i in range(profile.length[0]):
            segments[i] = segments[i + past]
    segments[0].begin = now


@inlined
def extend(profile: Profile, second: int, processors: int) -> None:
    """Add free processors from a second on, which is not before the end of all bookings."""
    last = profile.length[0]
    if profile.segments[last - 1].begin == second:
        profile.segments[last - 1].free += processors
        return
    profile.segments[last].begin = second
    profile.segments[last].free = profile.segments[last - 1].free + processors
    profile.length[0] += 1


@inlined
def free_now(profile: Profile) -> int:
    """Return the free processors at the beginning of the profile."""
    return profile.segments[0].free


@inlined
def free_at(profile: Profile, second: int) -> int:
    """Return the free processors at a second."""
    segments = profile.segments
    low, high = 0, profile.length[0]
    while high - low > 1:
        middle = (low + high) >> 1
        if segments[middle].begin <= second:
            low = middle
        else:
            high = middle
    return segments[low].free


@inner_kernel
def cap(profile: Profile, begins: int, ends: int, most: int) -> None:
    """Limit the free processors between two seconds to `most`."""
    first = _cut(profile, begins)
    last = _cut(profile, ends)
    for i in range(first, last):
        profile.segments[i].free = min(profile.segments[i].free, most)
    for i in range(last, first - 1, -1):
        _join(profile, i)


@inlined
def gap_before(profile: Profile, processors: int, ends: int, now: int) -> int:
    """Return for how many seconds from now on `processors` processors are free, at most until a second."""
    for k in range(profile.length[0]):
        if profile.segments[k].begin >= ends:
            break
        if profile.segments[k].free < processors:
            ends = max(now, profile.segments[k].begin)
            break
    return ends - now
