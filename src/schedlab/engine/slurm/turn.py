"""The turn of the queue at which a pass of Slurm's is, and what the pass has done until then.

A job has a turn for each of its partitions (`schedlab.engine.slurm.queue_entries`). The steps of a pass take the world
and this record, which is overwritten from turn to turn: `world.plan.turn[0]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from schedlab.kernels import inlined

OF_THE_TURN = [
    ("place", "i8"),  # of the job in the queue
    ("number", "i8"),  # of the turn among those of the job
    ("last", "?"),  # whether the job has no further one
    ("job", "i8"),  # whose turn it is; once it is planned, its alternative
    ("option", "i8"),  # of the job for the partition of the turn
    ("entry", "i8"),  # in the columns of `Depths`
    ("ready", "?"),  # whether the job depends on no other any more
    ("counts", "?"),  # whether it counts for the depth of the pass
    ("earliest", "i8"),  # when it could begin, by its dependencies
    ("soonest", "i8"),  # when the first of its alternatives could begin
    ("begins", "i8"),  # when it begins in the plan; NO_SECOND without a plan
    ("room", "?"),  # whether it can start now as planned
    ("reservations", "i8"),  # that the job has from its earlier turns
]
OF_THE_PASS = [
    ("strict", "i8"),  # 1 if jobs end before the second in which others begin
    ("held", "i8"),  # 1 if what late jobs hold is held in the plan, too
    ("narrowest", "i8"),  # the fewest processors that a job needs
    ("out_of_reach", "i8"),  # jobs at the end of the queue that cannot start
    ("turns", "i8"),  # until now
    ("looked_at", "i8"),  # jobs, as the depth counts them
    ("workflow", "i8"),  # of the last job
    ("workflows", "i8"),  # that have had a turn
    ("blocked", "?"),  # whether an earlier job has to wait
    ("started", "i8"),  # jobs
    ("reserved", "i8"),  # jobs that have a reservation
    ("again", "i8"),  # first second in which a pass could decide otherwise
    ("over", "?"),  # whether the pass ends here
]
TURN = np.dtype(OF_THE_TURN + OF_THE_PASS)


@inlined
def begin_queue(turn: Any) -> None:
    """Go to the first turn of the queue."""
    turn.place = turn.number = turn.turns = turn.looked_at = turn.started = turn.reserved = turn.workflows = 0
    turn.blocked = turn.over = False


@inlined
def next_job(turn: Any, step: int) -> None:
    """Go to the first turn of the job that stands some places further on, as jobs that start leave the queue."""
    turn.place += step
    turn.number = 0


@inlined
def next_turn(turn: Any) -> None:
    """Go to the next turn of the job; behind the last one, to the next job."""
    if turn.last:
        next_job(turn, 1)
    else:
        turn.number += 1
