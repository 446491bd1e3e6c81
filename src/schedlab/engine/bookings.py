"""Jobs of advance reservations: they wait for its begin, and are ended and set free at its end.

While a reservation lasts, its jobs have requests for its nodes alone, to which its marks on nodes do not matter, and
are in a partition of their own. Those that still wait at its end continue as jobs without a reservation.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.booking_inputs import NO_RESERVATION, BookingInputs
from schedlab.kernels import inlined, inner_kernel


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
def may_book(nodes: Any) -> bool:
    """Return whether there are advance reservations."""
    if nodes is not None:
        return _may_book_of(nodes.outages)
    return False


@inlined
def _may_book_of(outages: Any) -> bool:
    if outages is not None:
        return _may_book(outages.bookings)
    return False


@inlined
def _may_book(bookings: Bookings | None) -> bool:
    return bookings is not None


@inlined
def has_opened(nodes: Any, job: int, now: int) -> bool:
    """Return whether a job need not wait for the begin of its reservation."""
    if nodes is not None:
        return _has_opened_of(nodes.outages, job, now)
    return True


@inlined
def _has_opened_of(outages: Any, job: int, now: int) -> bool:
    if outages is not None:
        return _has_opened(outages.bookings, job, now)
    return True


@inlined
def _has_opened(bookings: Bookings | None, job: int, now: int) -> bool:
    if bookings is not None:
        one = bookings.of_job[job]
        return one == NO_RESERVATION or now >= bookings.opens[one]
    return True


@inlined
def is_over(nodes: Any, job: int, now: int) -> bool:
    """Return whether the reservation of a job ends in this second."""
    if nodes is not None:
        return _is_over_of(nodes.outages, job, now)
    return False


@inlined
def _is_over_of(outages: Any, job: int, now: int) -> bool:
    if outages is not None:
        return expires(outages.bookings, job, now)
    return False


@inlined
def expires(bookings: Bookings | None, job: int, now: int) -> bool:
    """Return whether the reservation of a job ends in this second."""
    if bookings is not None:
        one = bookings.of_job[job]
        return one != NO_RESERVATION and now == bookings.closes[one]
    return False


@inlined
def set_free(site: Any, nodes: Any, now: int) -> None:
    """Give the jobs whose reservations end in this second the partitions and requests of other jobs."""
    if nodes is not None:
        _set_free_of(nodes.outages, site, nodes, now)


@inlined
def _set_free_of(outages: Any, site: Any, nodes: Any, now: int) -> None:
    if outages is not None:
        _set_free(outages.bookings, site, nodes, now)


@inner_kernel
def _set_free(bookings: Bookings | None, site: Any, nodes: Any, now: int) -> None:
    if bookings is not None:
        for job in range(bookings.of_job.shape[0]):
            if expires(bookings, job, now):
                for option in range(site.options[job], site.options[job + 1]):
                    site.partition[option] = bookings.ordinary_partition[option]
                    nodes.machine.shape[option] = bookings.ordinary_shape[option]
