"""A simulation with added jobs: the state so far, in arrays with room for them.

The simulation is built again with all its jobs, and the contents of the old arrays are copied, each along its axis
(`schedlab.engine.axes`). Jobs are numbered by submission, so that jobs already submitted keep their numbers; later ones
may move.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Moves, take_over
from schedlab.engine.logs import lengths_of, with_room
from schedlab.engine.prepared import Prepared
from schedlab.engine.queue.operations import Queue, insert
from schedlab.engine.queue.waiting import Waiting
from schedlab.engine.world import PARTS, World
from schedlab.kernels import bare_kernel


def moves_of(old: Prepared, new: Prepared, jobs: NDArray[np.intp], submitted: int) -> Moves:
    """Return the new numbers in a simulation to which jobs are added.

    Parameters
    ----------
    old, new
        The simulation before and after.
    jobs
        The new numbers of the old jobs.
    submitted
        How many have been submitted.
    """
    users = np.searchsorted(np.unique(new.workload.user_id), np.unique(old.workload.user_id))
    associations = reasons = np.arange(0)
    if old.associations is not None and new.associations is not None:
        associations = _places(old.associations.names, new.associations.names)
    if old.limits is not None and new.limits is not None:
        reasons = _places(old.limits.reason_names(), new.limits.reason_names())
    return Moves(jobs, users, associations, reasons, submitted)


def _places(old: Iterable[Any], new: Iterable[Any]) -> NDArray[np.intp]:
    """Return the positions of the items of one list in another one."""
    place = {name: number for number, name in enumerate(new)}
    return np.array([place[name] for name in old], dtype=np.intp)


def grown(old: World, new: World, moves: Moves) -> World:
    """Return a simulation with added jobs, in the state of the old one.

    Parameters
    ----------
    old
        The simulation, between two events.
    new
        The same with more jobs, before its first event, assembled as open-ended; its arrays are written to.
    moves
        The new numbers.
    """
    new = with_room(new, lengths_of(old))
    take_over(old, new, moves)
    for part in PARTS:
        if part.grown is not None and getattr(new, part.name) is not None:
            part.grown(old, new, moves)
    _let_wait(old.waiting, new)
    return new


def _let_wait(waiting: Waiting, new: World) -> None:
    """Put the jobs of the queues into the new ones; they have been submitted, and keep their numbers."""
    for one, other in zip(waiting, new.waiting, strict=True):
        if one is not None and other is not None:
            _insert_all(other, new.jobs, one.members())


@bare_kernel
def _insert_all(queue: Queue, jobs: NDArray[Any], who: NDArray[np.int64]) -> None:
    """Put jobs into an empty queue."""
    for i in range(who.shape[0]):
        insert(queue, jobs, who[i])
