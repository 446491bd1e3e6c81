"""Trial simulations, compiled: an order of the jobs of Q is drawn, and how they fare in it is measured.

Random numbers depend on the seed and the number of the draw alone: a trial gives the same bits whoever makes it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.kernels import bare_kernel, inlined

WIDTH_BITS = 24
"""Of a packed release, the second in which a job ends and its processors: end * 2**24 + processors."""

WIDTH_MASK = 2**WIDTH_BITS - 1

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@inlined
def draw_order(order: NDArray[np.int32], seed: np.uint64, draw: int, biased: bool) -> None:
    """Fill an array with a random order of 0 ... n - 1.

    Parameters
    ----------
    order
        int32 of shape (n,).
    seed, draw
        What the order is made from: the random numbers are those of SplitMix64 from place draw * n on. A number below m
        is the upper half of their product, which prefers none by more than m / 2**32.
    biased
        Whether each place is exchanged with any place, as in the programs of SC'17, and not only with one of those that
        are left (Fisher and Yates): then not all orders are equally likely.

    References
    ----------
    Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
    """
    n = order.shape[0]
    for k in range(n):
        order[k] = k
    for k in range(n if biased else n - 1):
        z = seed + np.uint64(draw * n + k + 1) * _GAMMA
        z = (z ^ (z >> _30)) * _FIRST
        z = (z ^ (z >> _27)) * _SECOND
        z = (z ^ (z >> _31)) >> _32
        low = 0 if biased else k
        other = low + np.int64((z * np.uint64(n - low)) >> _32)
        taken = order[k]
        order[k] = order[other]
        order[other] = taken


@inlined
def measure_order(
    order: NDArray[np.int32],
    lead: int,
    backwards: bool,
    submit: NDArray[np.int64],
    run: NDArray[np.int64],
    width: NDArray[np.int64],
    shift: NDArray[np.int64],
    scale: NDArray[np.float64],
    floor: float,
    busy: NDArray[np.int64],
    free: int,
    now: int,
    ends: NDArray[np.int64],
) -> float:
    """Return the mean measure of the jobs of Q when they start strictly in an order.

    Parameters
    ----------
    order
        Positions in Q.
    lead, backwards
        The order is led by the job at place `lead`; the others follow as they are or, `backwards`, last first.
    submit, run, width
        Of the jobs in Q: int64 seconds and processors.
    shift, scale, floor
        The measure of a job that waits w seconds is max(floor, (w + shift) / scale).
    busy, free, now
        The machine when the last job of S has started: packed releases of the running jobs, the latest first, free
        processors, and the second.
    ends
        Scratch space, as long as S and Q together.
    """
    n = order.shape[0]
    count = busy.shape[0]
    for k in range(count):
        ends[k] = busy[k]
    total = 0.0
    for k in range(n):
        if k == 0:
            place = lead
        else:
            place = n - 1 - k if backwards else k - 1
            if place >= lead:
                place += 1
        job = order[place]
        now = max(now, int(submit[job]))
        # Whatever has ended by now is free, and then the next ends as long as the job does not fit.
        while count > 0 and ((ends[count - 1] >> WIDTH_BITS) <= now or free < width[job]):
            count -= 1
            now = max(now, int(ends[count]) >> WIDTH_BITS)
            free += int(ends[count]) & WIDTH_MASK
        total += max(floor, (now - submit[job] + shift[job]) / scale[job])
        free -= width[job]
        release = ((now + run[job]) << WIDTH_BITS) | width[job]
        at = count
        while at > 0 and ends[at - 1] < release:
            ends[at] = ends[at - 1]
            at -= 1
        ends[at] = release
        count += 1
    return total / n


@bare_kernel
def run_draws(
    first: int,
    leads: int,
    seed: np.uint64,
    biased: bool,
    submit: NDArray[np.int64],
    run: NDArray[np.int64],
    width: NDArray[np.int64],
    shift: NDArray[np.int64],
    scale: NDArray[np.float64],
    floor: float,
    busy: NDArray[np.int64],
    free: int,
    now: int,
    order: NDArray[np.int32],
    ends: NDArray[np.int64],
    leaders: NDArray[np.int32],
    measures: NDArray[np.float64],
) -> None:
    """Measure draws from number `first` on, as many as `measures` has rows.

    Parameters
    ----------
    leads
        How many jobs of an order, from its beginning, take the lead in turn: 1 or all.
    order, ends
        Scratch space of shapes (n,) and (S and Q together,).
    leaders, measures
        Filled: who led, and the measure, of shape (draws, leads) for orders as they are, or (draws, 2 * leads) with
        those whose followers come backwards behind them.
    """
    draws, trials = measures.shape
    for draw in range(draws):
        draw_order(order, seed, first + draw, biased)
        for trial in range(trials):
            lead = trial % leads
            leaders[draw, trial] = order[lead]
            measures[draw, trial] = measure_order(
                order, lead, trial >= leads, submit, run, width, shift, scale, floor, busy, free, now, ends
            )
