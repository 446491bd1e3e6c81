"""The processors that are expected to be free, from now on into the future."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Kept
from schedlab.engine.jobs.calendar import NEVER
from schedlab.kernels import ALL, BITS, ROOM, below, inlined, inner_kernel, lowest, shift


class Profile(NamedTuple):
    """Free processors over time: segments that begin at `begin[:length[0]]`, each with `free` processors.

    The first begins now, the last never ends.
    """

    begin: Kept[NDArray[np.int64]]
    free: Kept[NDArray[np.int64]]
    length: Kept[NDArray[np.int64]]


def new_profile(bookings: int, processors: int) -> Profile:
    """Return the profile of an empty machine, with room for `bookings` concurrent bookings."""
    room = 2 * bookings + 4 + ROOM  # a booking has two ends; two more are being cut
    begin, free = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    begin[0], free[0] = np.iinfo(np.int64).min, processors
    return Profile(begin, free, np.ones(1, dtype=np.int64))


@inlined
def clear(profile: Profile, now: int, processors: int) -> None:
    """Remove all bookings."""
    profile.length[0] = 1
    profile.begin[0] = now
    profile.free[0] = processors


@inlined
def earliest_slot(profile: Profile, processors: int, length: int, begins: int) -> int:
    """Return the earliest second, from the one given on, from which `processors` are free for `length` seconds."""
    return slot_before(profile, processors, length, begins, NEVER)


@inner_kernel
def slot_before(profile: Profile, processors: int, length: int, begins: int, booked: int) -> int:
    """Return the earliest second, from the one given on, to which a booking of this length can move; else `booked`.

    The booking begins at second `booked`; its own processors count as free from then on.
    """
    begin, last = profile.begin, profile.length[0] - 1
    begins = max(begins, begin[0])
    place = 0
    scarce = 0  # 1 if the segment before this place has too few free processors, else 0
    while place <= last:
        few = below(profile.free, place, last - place, processors)  # the last segment has enough
        changes = (few ^ (few << 1 | scarce)) & ALL  # where enough and too few take turns
        if scarce and changes:
            begins = max(begins, begin[place + lowest(changes)])
            changes &= changes - 1
            scarce = 0
        while changes:
            ends = begin[place + lowest(changes)]
            if ends - begins >= length or ends >= booked:
                return min(begins, booked)
            changes &= changes - 1
            if not changes:
                scarce = 1
                break
            begins = max(begins, begin[place + lowest(changes)])
            changes &= changes - 1
        place += BITS
    return min(begins, booked)


@inner_kernel
def book(profile: Profile, begins: int, ends: int, processors: int) -> None:
    """Add processors (negative: take them) between two seconds."""
    if begins >= ends:
        return
    first = _cut(profile, begins)
    last = _cut(profile, ends)
    for i in range(first, last):
        profile.free[i] += processors
    _join(profile, last)
    _join(profile, first)


@inlined
def _cut(profile: Profile, second: int) -> int:
    """Split the profile at a second; return the position of the segment that begins there."""
    begin, free = profile.begin, profile.free
    low = _segment_at(profile, second)
    if profile.begin[low] == second:
        return low
    for array in (begin, free):
        shift(array, low + 1, profile.length[0] - low - 1, 1)
    begin[low + 1] = second
    free[low + 1] = free[low]
    profile.length[0] += 1
    return low + 1


@inner_kernel
def _segment_at(profile: Profile, second: int) -> int:
    """Return the position of the segment that a second is in."""
    low, high = 0, profile.length[0]
    while high - low >= BITS:
        middle = (low + high) >> 1
        if profile.begin[middle] <= second:
            low = middle
        else:
            high = middle
    return low + lowest(~below(profile.begin, low, high - low, second + 1)) - 1


@inlined
def _join(profile: Profile, place: int) -> None:
    """Join a segment with the one before it if they are alike."""
    if place > 0 and profile.free[place] == profile.free[place - 1]:
        profile.length[0] -= 1
        for array in (profile.begin, profile.free):
            shift(array, place + 1, profile.length[0] - place, -1)


@inlined
def forget_the_past(profile: Profile, now: int) -> None:
    """Drop the part of the profile before now."""
    past = 0
    while past + 1 < profile.length[0] and profile.begin[past + 1] <= now:
        past += 1
    if past > 0:
        profile.length[0] -= past
        for array in (profile.begin, profile.free):
            shift(array, past, profile.length[0], -past)
    profile.begin[0] = now


@inlined
def extend(profile: Profile, second: int, processors: int) -> None:
    """Add free processors from a second on, which is not before the end of all bookings."""
    last = profile.length[0]
    if profile.begin[last - 1] == second:
        profile.free[last - 1] += processors
        return
    profile.begin[last] = second
    profile.free[last] = profile.free[last - 1] + processors
    profile.length[0] += 1


@inlined
def raise_from(profile: Profile, second: int, processors: int) -> None:
    """Add free processors from a second on, also where bookings end later."""
    if second >= profile.begin[profile.length[0] - 1]:
        extend(profile, second, processors)
        return
    first = _cut(profile, second)
    for i in range(first, profile.length[0]):
        profile.free[i] += processors
    _join(profile, first)


@inlined
def lower_all(profile: Profile, processors: int) -> None:
    """Take processors from now on, for ever."""
    for i in range(profile.length[0]):
        profile.free[i] -= processors


@inlined
def free_now(profile: Profile) -> int:
    """Return the free processors at the beginning of the profile."""
    return profile.free[0]


@inlined
def free_at(profile: Profile, second: int) -> int:
    """Return the free processors at a second."""
    return profile.free[_segment_at(profile, second)]


@inner_kernel
def cap(profile: Profile, begins: int, ends: int, most: int) -> None:
    """Limit the free processors between two seconds to `most`."""
    first = _cut(profile, begins)
    last = _cut(profile, ends)
    for i in range(first, last):
        profile.free[i] = min(profile.free[i], most)
    for i in range(last, first - 1, -1):
        _join(profile, i)


@inlined
def gap_before(profile: Profile, processors: int, ends: int, now: int) -> int:
    """Return for how many seconds from now on `processors` processors are free, at most until a second."""
    for k in range(profile.length[0]):
        if profile.begin[k] >= ends:
            break
        if profile.free[k] < processors:
            ends = max(now, profile.begin[k])
            break
    return ends - now


@inner_kernel
def longest_gap(profile: Profile, processors: int, ends: int) -> int:
    """Return for how many seconds in a row, at most until a second, `processors` processors are free."""
    longest, begins = 0, NEVER
    for k in range(profile.length[0]):
        if profile.begin[k] >= ends:
            break
        if profile.free[k] < processors:
            longest = max(longest, profile.begin[k] - begins)
            begins = NEVER
        else:
            begins = min(begins, profile.begin[k])
    return max(longest, ends - begins)
