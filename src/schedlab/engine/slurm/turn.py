"""The turn of the queue at which a pass of Slurm's is, and what the pass has done until then.

A job has a turn for each of its partitions (`schedlab.engine.slurm.queue_entries`). The steps of a pass take the world
and this record, which is overwritten from turn to turn: `world.plan.turn[0]`.
"""

from __future__ import annotations

import numpy as np

from schedlab.kernels import inlined


class Turn:
    """The turn of a pass; to kernels a record, TURN, which begins with what changes from turn to turn."""

    place: int  # of the job in the queue
    number: int  # of the turn among those of the job
    last: bool  # whether the job has no further one
    job: int  # whose turn it is; once it is planned, its alternative
    option: int  # of the job for the partition of the turn
    entry: int  # in the columns of `Depths`
    ready: bool  # whether the job depends on no other any more
    counts: bool  # whether it counts for the depth of the pass, if it is planned
    earliest: int  # when it could begin, by its dependencies
    soonest: int  # when the first of its alternatives could begin
    begins: int  # when it begins in the plan; NO_SECOND without a plan
    room: bool  # whether it can start now as planned
    reservations: int  # that the job has from its earlier turns
    # Of the pass:
    strict: int  # 1 if jobs end before the second in which others begin
    held: int  # 1 if what late jobs hold is held in the plan, too
    narrowest: int  # the fewest processors that a job needs
    out_of_reach: int  # jobs at the end of the queue that cannot start
    turns: int  # until now
    looked_at: int  # jobs, as the depth counts them
    workflow: int  # of the last job
    workflows: int  # that have had a turn
    blocked: bool  # whether an earlier job has to wait
    started: int  # jobs
    reserved: int  # jobs that have a reservation
    again: int  # first second in which a pass could decide otherwise
    over: bool  # whether the pass ends here


TURN = np.dtype([(name, "?" if kind == "bool" else "i8") for name, kind in Turn.__annotations__.items()])


@inlined
def begin_queue(turn: Turn) -> None:
    """Go to the first turn of the queue."""
    turn.place = turn.number = turn.turns = turn.looked_at = turn.started = turn.reserved = turn.workflows = 0
    turn.blocked = turn.over = False


@inlined
def next_job(turn: Turn, step: int) -> None:
    """Go to the first turn of the job that stands some places further on, as jobs that start leave the queue."""
    turn.place += step
    turn.number = 0


@inlined
def next_turn(turn: Turn) -> None:
    """Go to the next turn of the job; behind the last one, to the next job."""
    if turn.last:
        next_job(turn, 1)
    else:
        turn.number += 1
