"""The profile of free processors against an array with one entry per second."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.engine.machine import profile as kernels
from schedlab.kernels import kernel

PROCESSORS, SECONDS = 20, 400

times = st.integers(0, SECONDS)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("book"), times, st.integers(1, 60), st.integers(-9, 9)),
        st.tuples(st.just("cap"), times, st.integers(1, 60), st.integers(0, PROCESSORS)),
        st.tuples(st.just("forget"), st.integers(0, 40), st.just(0), st.just(0)),
    ),
    max_size=120,
)


@kernel
def follow(profile, steps):
    """Take the steps, with one profile; a step is its kind, a second, a length and processors."""
    for kind, begins, length, processors in steps:
        if kind == 0:
            kernels.book(profile, begins, begins + length, processors)
        elif kind == 1:
            kernels.cap(profile, begins, begins + length, processors)
        else:
            kernels.forget_the_past(profile, begins)


@kernel
def ask(profile, processors, length, begins, booked):
    """Answer all that can be asked; what may move is booked meanwhile."""
    kernels.book(profile, booked, booked + length, -processors)
    before = kernels.slot_before(profile, processors, length, begins, booked)
    kernels.book(profile, booked, booked + length, processors)
    return (
        kernels.earliest_slot(profile, processors, length, begins),
        before,
        kernels.gap_before(profile, processors, booked, begins),
        kernels.longest_gap(profile, processors, booked),
        kernels.free_at(profile, booked),
        kernels.free_now(profile),
    )


def answers(free, processors, length, begins, booked):
    """Return the same from an array of what is free in each second."""

    def fits(second, until):
        return (free[second:until] >= processors).all()

    earliest = next(second for second in range(begins, len(free)) if fits(second, second + length))
    moved = (second for second in range(begins, booked) if fits(second, min(booked, second + length)))
    short = np.flatnonzero(free[begins:booked] < processors)
    gap = short[0] if len(short) else max(booked - begins, 0)
    enough = "".join("x" if one >= processors else " " for one in free[begins:booked])
    longest = max(map(len, enough.split()), default=0)
    return earliest, next(moved, booked), gap, longest, free[booked], free[begins]


def as_array(profile, now):
    """Return what is free in each second, from the segments in order; they must be sorted, and no two alike."""
    begin, values = (array[: profile.length[0]] for array in (profile.begin, profile.free))
    assert (begin[1:] > begin[:-1]).all()
    assert (values[1:] != values[:-1]).all()
    free = np.zeros(2 * SECONDS, dtype=np.int64)
    for second, value in zip(begin, values, strict=True):
        free[max(second, now) :] = value
    return free


@settings(deadline=None)
@given(steps=steps, data=st.data())
def test_every_answer_is_that_of_an_array_with_one_entry_per_second(steps, data):
    profile = kernels.new_profile(len(steps) + 40, PROCESSORS)
    free = np.full(2 * SECONDS, PROCESSORS)
    now, taken = 0, [(2, 0, 0, 0)]
    for kind, second, length, processors in steps:
        begins = now + second if kind == "forget" else max(second, now)
        part = slice(begins, begins + length)
        if kind == "book":
            free[part] += processors
        elif kind == "cap":
            free[part] = np.minimum(free[part], processors)
        else:
            now = begins
        taken.append((["book", "cap", "forget"].index(kind), begins, length, processors))
    follow(profile, np.array(taken))
    assert (as_array(profile, now)[now:] == free[now:]).all()
    for _ in range(5):
        processors, length = data.draw(st.integers(1, PROCESSORS)), data.draw(st.integers(1, 80))
        booked = now + data.draw(times)
        assert ask(profile, processors, length, now, booked) == answers(free, processors, length, now, booked)


@pytest.mark.parametrize("ends", [[5], [5, 5, 9], list(range(1, 60))])
def test_processors_that_come_back_one_after_the_other_extend_a_profile(ends):
    profile = kernels.new_profile(len(ends), PROCESSORS)

    @kernel
    def extended(profile, ends):
        kernels.clear(profile, 0, 3)
        for end in ends:
            kernels.extend(profile, end, 2)

    extended(profile, np.array(ends))
    free = 3 + 2 * (np.array(ends)[:, None] <= np.arange(2 * SECONDS)).sum(axis=0)
    assert (as_array(profile, 0) == free).all()
    assert ask(profile, 5, 10, 0, SECONDS)[0] == ends[0]
