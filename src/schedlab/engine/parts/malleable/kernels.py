"""Malleable jobs: sizes that change while they run, and what that leaves of a run; compiled away if no job is.

A job that runs for T seconds with one size from begin to end, and for U seconds with another, has after a change from
the first to the second U / T times as many seconds left as before it, rounded up to a whole second. So work is never
lost, and a change costs less than a second at the new size. What changes several times in one second changes once,
from the size before to the last one: a run that has its old size again has lost nothing. Expected times are scaled in
the same way, by what reservations assume for both sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, Kept, PerJob
from schedlab.engine.jobs.calendar import add, discard
from schedlab.engine.jobs.clock import FREE, NOW
from schedlab.engine.parts.malleable.numbers import Sizes
from schedlab.kernels import by_address, inlined, inner_kernel, new_records

if TYPE_CHECKING:
    from schedlab.engine.world import World

STRETCH = np.dtype([("job", "i8"), ("start", "i8"), ("processors", "i8")])
"""From this second on, the run of a job had this size."""

NOT_A_SIZE = -1
NEVER_CHANGED = -1

# Positions in Malleable.counters.
STRETCHES = 0


@by_address
class Malleable(NamedTuple):
    """The sizes of jobs.

    Parameters
    ----------
    offsets, processors, duration, estimate
        See `Sizes`.
    size
        int64, one per job: the place of its present size.
    changed
        int64, one per job: the second of the last change of its run, or NEVER_CHANGED.
    before, left, expected
        int64, one per job: the place of the size that its run had before that second; how many seconds it then had
        left, and was expected to have left, at that size.
    entry
        int64, one per job: the place of its last stretch.
    stretches
        Of runs that have changed (STRETCH), in the order of the changes.
    counters
        The number of stretches.
    """

    offsets: Fixed[NDArray[np.int64]]
    processors: Fixed[NDArray[np.int64]]
    duration: Fixed[NDArray[np.int64]]
    estimate: Fixed[NDArray[np.int64]]
    size: ByPart[NDArray[np.int64]]
    changed: PerJob[NDArray[np.int64]]
    before: ByPart[NDArray[np.int64]]
    left: PerJob[NDArray[np.int64]]
    expected: PerJob[NDArray[np.int64]]
    entry: PerJob[NDArray[np.int64]]
    stretches: ByPart[NDArray[Any]]
    counters: Kept[NDArray[np.int64]]


def new_malleable(sizes: Sizes) -> Malleable:
    """Return the state before the first event."""
    n = len(sizes.own)
    return Malleable(
        sizes.offsets,
        sizes.processors,
        sizes.duration,
        sizes.estimate,
        size=sizes.own.copy(),
        changed=np.full(n, NEVER_CHANGED, dtype=np.int64),
        before=sizes.own.copy(),
        left=np.zeros(n, dtype=np.int64),
        expected=np.zeros(n, dtype=np.int64),
        entry=np.zeros(n, dtype=np.int64),
        stretches=new_records(4 * n, STRETCH),
        counters=np.zeros(1, dtype=np.int64),
    )


@inlined
def lacks_stretches(malleable: Malleable) -> bool:
    """Return whether the log may be too short for the changes of one second: two entries for each job at most."""
    return malleable.stretches.shape[0] - malleable.counters[STRETCHES] < 2 * malleable.size.shape[0]


@inlined
def place_of_size(malleable: Malleable, job: int, processors: int) -> int:
    """Return the place of a size of a job, NOT_A_SIZE if it cannot have it."""
    for place in range(malleable.offsets[job], malleable.offsets[job + 1]):
        if malleable.processors[place] == processors:
            return place
    return NOT_A_SIZE


@inner_kernel
def choose_size(world: World, job: int, place: int) -> None:
    """Give a waiting job another size, with which it will start."""
    malleable = world.malleable
    malleable.size[job] = place
    world.jobs[job].processors = malleable.processors[place]
    world.jobs[job].duration = malleable.duration[place]
    world.jobs[job].estimate = malleable.estimate[place]


@inlined
def seconds_left(world: World, job: int, place: int) -> int:
    """Return for how long a run is expected to go on with another size from now on."""
    malleable, now = world.malleable, world.state.clock[NOW]
    before, expected = malleable.size[job], world.state.start[job] + world.jobs[job].estimate - now
    if malleable.changed[job] == now:
        before, expected = malleable.before[job], malleable.expected[job]
    return _scaled(expected, malleable.estimate, before, place)


@inlined
def _scaled(seconds: int, lengths: NDArray[np.int64], before: int, place: int) -> int:
    """Return seconds at one size as seconds at another, rounded up."""
    return seconds if before == place else -(-seconds * lengths[place] // lengths[before])


@inner_kernel
def change_size(world: World, job: int, place: int) -> None:
    """Give a run another size now."""
    malleable, state, now = world.malleable, world.state, world.state.clock[NOW]
    _note_before(world, job)
    discard(state.completions, state.noticed[job], job)
    discard(state.running, state.start[job] + world.jobs[job].estimate, job)
    ran = now - state.start[job]
    left = _scaled(malleable.left[job], malleable.duration, malleable.before[job], place)
    expected = _scaled(malleable.expected[job], malleable.estimate, malleable.before[job], place)
    processors = malleable.processors[place]
    state.clock[FREE] += world.jobs[job].processors - processors
    malleable.size[job] = place
    malleable.stretches[malleable.entry[job]].processors = processors
    world.jobs[job].processors = processors
    world.jobs[job].duration = ran + left
    world.jobs[job].estimate = ran + expected
    state.noticed[job] = now + left
    add(state.completions, state.noticed[job], job, processors)
    add(state.running, now + expected, job, processors)


@inlined
def _note_before(world: World, job: int) -> None:
    """Note how a run stands before the first change of a second, and let a stretch begin."""
    malleable, state, now = world.malleable, world.state, world.state.clock[NOW]
    if malleable.changed[job] == now:
        return
    if malleable.changed[job] == NEVER_CHANGED:
        _begin_stretch(malleable, job, state.start[job], world.jobs[job].processors)
    malleable.changed[job] = now
    malleable.before[job] = malleable.size[job]
    malleable.left[job] = state.noticed[job] - now
    malleable.expected[job] = state.start[job] + world.jobs[job].estimate - now
    _begin_stretch(malleable, job, now, world.jobs[job].processors)


@inlined
def _begin_stretch(malleable: Malleable, job: int, start: int, processors: int) -> None:
    entry = malleable.counters[STRETCHES]
    malleable.counters[STRETCHES] += 1
    malleable.entry[job] = entry
    malleable.stretches[entry].job = job
    malleable.stretches[entry].start = start
    malleable.stretches[entry].processors = processors
