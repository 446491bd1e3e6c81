"""The waiting jobs: the queues of a simulation and their orders."""

from __future__ import annotations

from typing import Any, NamedTuple

from schedlab.engine.queue.operations import Queue
from schedlab.engine.queue.orders import Order
from schedlab.kernels import by_address


@by_address
class Waiting(NamedTuple):
    """The queues of a simulation, all of one kind; those that its rules do not need are None.

    Parameters
    ----------
    queue
        The visible jobs in the order of the policy.
    candidates
        The same in the order in which EASY tries them, if that is different.
    ages
        The same by entry; kept only while it is used, see `schedlab.engine.passes.waiting`.
    beyond
        By entry, the jobs behind the window of visible ones.
    """

    queue: Any  # a Queue; its kind is selected at compile time
    candidates: Queue | None
    ages: Queue | None
    beyond: Queue | None


@by_address
class Orders(NamedTuple):
    """The orders of the queue and of EASY's candidates; None for candidates in the order of the queue."""

    policy: Order
    candidates: Order | None
