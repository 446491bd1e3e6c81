"""The records of a backfill plan: stretches of time between the seconds in which reservations begin or end.

A rule of Slurm: a plan has at most bf_node_space_size of them, and they are what a search for a moment goes through.
"""

from __future__ import annotations

from schedlab.engine.slurm.state import EMPTY_FIRST_RECORD, RECORDS, STEPS, TWICE, Passes
from schedlab.kernels import inlined, inner_kernel


@inner_kernel
def place_of_step(passes: Passes, second: int) -> int:
    """Return the place of the first step of the plan that is not before a second."""
    low, high = 0, int(passes.counters[STEPS])
    while low < high:
        middle = (low + high) // 2
        if passes.steps[middle] < second:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def clear_steps(passes: Passes) -> None:
    """Begin a plan without steps, and with one record."""
    counters = passes.counters
    counters[STEPS] = counters[TWICE] = counters[EMPTY_FIRST_RECORD] = 0
    counters[RECORDS] = 1


@inlined
def is_step(passes: Passes, second: int) -> bool:
    """Return whether the plan changes in a second."""
    place = place_of_step(passes, second)
    return place < passes.counters[STEPS] and passes.steps[place] == second


@inlined
def add_step(passes: Passes, second: int) -> bool:
    """Add a second in which the plan changes; return whether it had one there before."""
    steps, count = passes.steps, passes.counters[STEPS]
    if is_step(passes, second):
        return True
    place = place_of_step(passes, second)
    for i in range(count, place, -1):
        steps[i] = steps[i - 1]
    steps[place] = second
    passes.counters[STEPS] = count + 1
    passes.counters[RECORDS] += 1
    return False


@inlined
def drop_step(passes: Passes, place: int) -> None:
    """Join the records beside a step."""
    steps, count = passes.steps, passes.counters[STEPS]
    for i in range(place, count - 1):
        steps[i] = steps[i + 1]
    passes.counters[STEPS] = count - 1
