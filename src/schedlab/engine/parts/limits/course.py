"""A limit that changes with time, such as a power cap; compiled away if none does.

A job is admitted if it exceeds the limit in no second in which it is expected to run, together with all that runs now.
So no later second has more in use than allowed, whatever ends before, as long as no run is longer than expected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept
from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import MACHINE_CHANGED, WAITING
from schedlab.engine.parts.limits.numbers import CourseInputs
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


class Course(NamedTuple):
    """How a limit changes.

    Parameters
    ----------
    number
        int64, one: the limit.
    second, most
        int64, one per step: since when how much may be in use; the first is before all events.
    passed
        int64, one: how many steps have begun.
    """

    number: Fixed[NDArray[np.int64]]
    second: Fixed[NDArray[np.int64]]
    most: Fixed[NDArray[np.int64]]
    passed: Kept[NDArray[np.int64]]


def new_course(inputs: CourseInputs, begin: int) -> Course:
    """Return how a limit changes, before an event in second `begin`."""
    passed = np.searchsorted(inputs.second, begin, side="right")
    return Course(np.array([inputs.number]), inputs.second.copy(), inputs.most.copy(), np.array([passed]))


@inner_kernel
def most_within(course: Course, begin: int, end: int) -> int:
    """Return how much may be in use in each second from now, `begin`, to before another."""
    step = course.passed[0]
    most = course.most[step - 1]
    while step < course.second.shape[0] and course.second[step] < max(end, begin + 1):
        most = min(most, course.most[step])
        step += 1
    return most


@inlined
def next_step(world: World, second: int) -> int:
    """Return when a limit changes next, `second` at the latest; NEVER if all jobs are over."""
    if world.limits.course is not None:
        step, course = world.limits.course.passed[0], world.limits.course
        if step < course.second.shape[0] and (second < NEVER or world.state.clock[WAITING] > 0):
            return min(second, course.second[step])
    return second


@inlined
def take_steps(world: World, now: int) -> int:
    """Let a limit change in this second; return what that changes: bits of `State.clock[CHANGES]`."""
    changes = 0
    if world.limits.course is not None:
        course = world.limits.course
        while course.passed[0] < course.second.shape[0] and course.second[course.passed[0]] <= now:
            course.passed[0] += 1
            changes = MACHINE_CHANGED
    return changes
