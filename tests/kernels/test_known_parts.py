"""What a record does not have is not compiled: questions whether it is there are answered by its type."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

from schedlab.kernels import bare_kernel, by_address, config, inner_kernel

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="kernels run as plain Python")


class Retries(NamedTuple):
    runs: Any


class PassedWhole(NamedTuple):
    retries: Any
    second: Any


@by_address
class ByAddress(NamedTuple):
    retries: Any
    second: Any


class Around(NamedTuple):
    inside: Any
    second: Any


WORLDS = [PassedWhole, ByAddress]
ALONE, WITH = None, Retries(np.array([10, 20, 30]))
SECONDS = np.array([1, 2, 3])


@inner_kernel
def _runs(world, job):
    if world.retries is not None and world.retries.runs[job] > 15:
        return world.retries.runs[job]
    return world.second[job]


@bare_kernel
def runs(world, job):
    """Ask for a field of what may not be there, in a condition of two parts and in a kernel for kernels."""
    return _runs(world, job)


@bare_kernel
def of_a_local(world, job):
    """Ask about a local with one definition, the other way round."""
    retries = world.retries
    if retries is None:
        return -world.second[job]
    return retries.runs[job]


@bare_kernel
def of_two(world, job):
    """Ask about a local with two definitions."""
    retries = world.retries
    if job > 5:
        retries = world.retries
    if retries is not None:
        return retries.runs[job]
    return 0


@bare_kernel
def within(around, job):
    """Ask for a part of a record in a record."""
    return 0 if around.inside.retries is None else around.inside.retries.runs[job]


@bare_kernel
def count(around):
    """Count what is there: an array, a number, nothing."""
    there = 0
    if around.inside is not None:
        there += 1
    if around.second is not None:
        there += 10
    return there


@pytest.mark.parametrize("world", WORLDS)
def test_a_part_that_is_missing_is_not_asked_for_its_fields(world):
    assert [runs(world(ALONE, SECONDS), job) for job in range(3)] == [1, 2, 3]
    assert [runs(world(WITH, SECONDS), job) for job in range(3)] == [1, 20, 30]


@pytest.mark.parametrize("world", WORLDS)
def test_a_local_stands_for_the_part(world):
    assert of_a_local(world(ALONE, SECONDS), 2) == -3
    assert of_a_local(world(WITH, SECONDS), 2) == 30


@pytest.mark.parametrize("world", WORLDS)
def test_parts_of_records_in_records_are_known(world):
    assert within(Around(world(ALONE, SECONDS), 0), 1) == 0
    assert within(Around(world(WITH, SECONDS), 0), 1) == 20


def test_arrays_and_numbers_are_there():
    assert count(Around(SECONDS, 2.5)) == 11
    assert count(Around(None, True)) == 10
    assert count(Around(None, None)) == 0


@pytest.mark.parametrize("world", WORLDS)
def test_a_local_with_two_definitions_is_refused_where_the_part_is_missing(world):
    assert of_two(world(WITH, SECONDS), 1) == 20
    with pytest.raises(TypingError, match="runs"):
        of_two(world(ALONE, SECONDS), 1)


@bare_kernel
def perhaps(world, job):
    """Return None sometimes; that is known only when it runs."""
    found = _perhaps(world, job)
    return -1 if found is None else found


@inner_kernel
def _perhaps(world, job):
    return world.second[job] if job > 0 else None


def test_what_is_known_only_when_it_runs_is_left_alone():
    world = ByAddress(ALONE, SECONDS)
    assert [perhaps(world, job) for job in range(3)] == [-1, 2, 3]
