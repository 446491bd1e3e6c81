"""Moldable jobs: their alternatives are jobs of their own to the engine, and alternatives of which only one starts.

All alternatives of a job are in the queue, each with its own score; when one starts, the others leave. A job has its
turn with the first of its alternatives in the order. Where jobs start in order, or are planned, all its alternatives
are then tried: the first in the order that can start does. Where a job that has to wait gets a reservation, it is for
the alternative that is expected to end first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, Scratch
from schedlab.kernels import by_address, inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

PASS = 0  # position in AlternativeJobs.counters: how many passes over jobs have begun


@by_address
class AlternativeJobs(NamedTuple):
    """The alternatives of jobs, numbered by submission like jobs, those of one job after each other.

    Parameters
    ----------
    counters
        The counter above.
    first, end
        The alternatives of the job that alternative j belongs to are numbers `first[j]` to `end[j] - 1`.
    waits
        Whether the alternative is in the queue.
    hidden
        Whether it is there behind the window of visible jobs.
    tried
        For the first alternative of each job, the number of the pass that has tried the job last.
    """

    counters: Scratch[NDArray[np.int64]]
    first: Fixed[NDArray[np.int64]]
    end: Fixed[NDArray[np.int64]]
    waits: ByPart[NDArray[np.bool_]]
    hidden: ByPart[NDArray[np.bool_]]
    tried: Scratch[NDArray[np.int64]]


def new_alternatives(owner: NDArray[np.int64]) -> AlternativeJobs:
    """Return the alternatives before the first submission; `owner` numbers the job of each, in order of submission."""
    _, first, counts = np.unique(owner, return_index=True, return_counts=True)
    by_place = np.argsort(first)
    first, counts = first[by_place], counts[by_place]
    n = len(owner)
    return AlternativeJobs(
        np.zeros(1, dtype=np.int64),
        np.repeat(first, counts).astype(np.int64),
        np.repeat(first + counts, counts).astype(np.int64),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.bool_),
        np.zeros(n, dtype=np.int64),
    )


@inlined
def has_alternatives(world: World) -> bool:
    """Return whether there are jobs with alternatives."""
    return world.moldable is not None


@inlined
def is_moldable(alternatives: AlternativeJobs | None, job: int) -> bool:
    """Return whether a job has several alternatives."""
    if alternatives is not None:
        return alternatives.end[job] - alternatives.first[job] > 1
    return False


@inlined
def note_waiting(alternatives: AlternativeJobs | None, job: int, waits: bool) -> None:
    """Record that an alternative enters or leaves the queue."""
    if alternatives is not None:
        alternatives.waits[job] = waits


@inlined
def note_hidden(alternatives: AlternativeJobs | None, job: int, hidden: bool) -> None:
    """Record that a waiting alternative goes behind the window of visible jobs, or comes into view."""
    if alternatives is not None:
        alternatives.hidden[job] = hidden


@inlined
def has_left(alternatives: AlternativeJobs | None, job: int) -> bool:
    """Return whether an alternative that was waiting when a pass began has left because of a rival."""
    if alternatives is not None:
        return not alternatives.waits[job]
    return False


@inlined
def first_of(alternatives: AlternativeJobs | None, job: int) -> int:
    """Return the number that stands for the job to which an alternative belongs: that of the first one."""
    if alternatives is not None:
        return alternatives.first[job]
    return job


@inlined
def is_same_job(alternatives: AlternativeJobs | None, one: int, other: int) -> bool:
    """Return whether two alternatives are of the same job."""
    return first_of(alternatives, one) == first_of(alternatives, other)


@inlined
def begin_turns(alternatives: AlternativeJobs | None) -> None:
    """Begin a pass over the waiting jobs: no job has had its turn."""
    if alternatives is not None:
        alternatives.counters[PASS] += 1


@inlined
def had_turn(alternatives: AlternativeJobs | None, job: int) -> bool:
    """Return whether a job has had its turn in this pass, with an earlier alternative."""
    if alternatives is not None:
        return alternatives.tried[alternatives.first[job]] == alternatives.counters[PASS]
    return False


@inlined
def take_turn(alternatives: AlternativeJobs | None, job: int) -> None:
    """Record that a job has its turn in this pass."""
    if alternatives is not None:
        alternatives.tried[alternatives.first[job]] = alternatives.counters[PASS]


@inlined
def is_visible(alternatives: AlternativeJobs, job: int) -> bool:
    """Return whether an alternative is waiting within the window of visible jobs."""
    return alternatives.waits[job] and not alternatives.hidden[job]


@inlined
def next_of_job(alternatives: AlternativeJobs | None, order: NDArray[np.int64], place: int, count: int) -> int:
    """Return the next position of an alternative of the job at a position; `count` if there is none before that."""
    if alternatives is not None:
        return _next_of_job(alternatives, order, place, count)
    return count


@inner_kernel
def _next_of_job(alternatives: AlternativeJobs, order: NDArray[np.int64], place: int, count: int) -> int:
    following = place + 1
    while following < count and alternatives.first[order[following]] != alternatives.first[order[place]]:
        following += 1
    return following


@inlined
def before_in_list(alternatives: AlternativeJobs | None, order: NDArray[np.int64], place: int, job: int) -> int:
    """Return how many alternatives of a job are before a position of a list that they are about to leave."""
    if alternatives is not None:
        return _before_in_list(alternatives, order, place, job)
    return 0


@inner_kernel
def _before_in_list(alternatives: AlternativeJobs, order: NDArray[np.int64], place: int, job: int) -> int:
    found = 0
    for i in range(place):
        found += alternatives.first[order[i]] == alternatives.first[job]
    return found
