"""Jobs of advance reservations: they wait for its begin, and are ended and set free at its end.

While a reservation lasts, its jobs have requests for its nodes alone, to which its marks on nodes do not matter, and
are in a partition of their own. Those that still wait at its end continue as jobs without a reservation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.parts.reservations.numbers import NO_RESERVATION, BookingInputs
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World


class Bookings(NamedTuple):
    """The jobs of advance reservations, see `BookingInputs`."""

    of_job: NDArray[np.int64]
    opens: NDArray[np.int64]
    closes: NDArray[np.int64]
    shape: NDArray[np.int64]
    ordinary_partition: NDArray[np.int64]
    ordinary_shape: NDArray[np.int64]


def new_bookings(inputs: BookingInputs) -> Bookings:
    """Return the jobs of reservations."""
    times, ordinary = (inputs.opens, inputs.closes), (inputs.ordinary_partition, inputs.ordinary_shape)
    bookings = Bookings(*(array.copy() for array in (inputs.of_job, *times, inputs.option_shape, *ordinary)))
    for array in bookings:
        array.flags.writeable = False
    return bookings


@inlined
def has_opened(world: World, job: int, now: int) -> bool:
    """Return whether a job need not wait for the begin of its reservation."""
    if world.outages is not None:
        return _has_opened(world.outages.bookings, job, now)
    return True


@inlined
def _has_opened(bookings: Bookings | None, job: int, now: int) -> bool:
    if bookings is not None:
        one = bookings.of_job[job]
        return one == NO_RESERVATION or now >= bookings.opens[one]
    return True


@inlined
def is_over(world: World, job: int, now: int) -> bool:
    """Return whether the reservation of a job ends in this second."""
    if world.outages is not None:
        return _expires(world.outages.bookings, job, now)
    return False


@inlined
def _expires(bookings: Bookings | None, job: int, now: int) -> bool:
    """Return whether the reservation of a job ends in this second."""
    if bookings is not None:
        one = bookings.of_job[job]
        return one != NO_RESERVATION and now == bookings.closes[one]
    return False


@inner_kernel
def set_free(world: World, bookings: Bookings | None, now: int) -> None:
    """Give the jobs whose reservations end in this second the partitions and requests of other jobs."""
    if bookings is not None:
        for job in range(bookings.of_job.shape[0]):
            if _expires(bookings, job, now):
                for option in range(world.limits.options[job], world.limits.options[job + 1]):
                    world.limits.partition[option] = bookings.ordinary_partition[option]
                    world.nodes.machine.shape[option] = bookings.ordinary_shape[option]
