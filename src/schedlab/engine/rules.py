"""The rules of a scheduler as numbers, for the loop and the passes."""

from __future__ import annotations

from typing import NamedTuple

from schedlab.kernels import by_address

NEVER_STARVES = -1
ALL_VISIBLE = -1
NO_SPECULATION = -1.0


@by_address
class Rules(NamedTuple):
    """The constants of a simulation.

    Parameters
    ----------
    processors
        Size of the machine.
    easy
        Whether EASY backfills.
    starvation
        Wait in seconds after which a job precedes all others; negative: never.
    window
        How many waiting jobs, the earliest to enter, the scheduler sees; negative: all.
    in_order
        The number of warm-up jobs, started strictly by entry before the scheduler takes over.
    one_by_one
        The event order of SC'15, see `schedlab.engine.loop.advance`.
    passes_if_fits
        Whether a submission leads to a pass only if the new job fits the free processors; with `one_by_one` only.
    fixed
        Whether reservations are fixed once they are made, in rounds.
    speculation
        A gap is used speculatively if more than this share of it is expected to be put to use; negative: never.
    keeps_submit
        Whether jobs keep their submission when they are released (accrue=always).
    ties
        Who goes first of equal scores, see `schedlab.engine.queue.ties`.
    asks_predictor, asks_at_end, asks_at_entry, asks_at_pass, observed
        When the loop returns to Python: for predictions, when runs have ended, for scores of jobs that enter, for
        scores before a pass, and before every pass.
    ranks
        Whether jobs are scored at every event, also without a pass: scores change with time, and tell who is the first
        to wait.
    loses
        Whether jobs whose runs are interrupted are lost instead of requeued.
    interval, depth, resolution, origin, horizon, reserve, queue_depth, delay, shared, starts, main_starts, plan_size, \
reserve_age, wf_depth, planned_tasks, tasks_count, het_at_once
        Slurm's passes: the fields of `schedlab.scheduler.backfilling.Slurm` (`horizon` is its window, `plan_size` its
        `records`, 0 for any number).
    stops_at_limits
        Whether a job at a limit of resources stops the main pass in its partitions.
    reserve_priority
        Jobs with a lower priority have no reservations, and keep nobody waiting.
    one_each
        Whether a job of several partitions has a reservation in the first of them alone.
    het_order
        What counts of the priorities of a heterogeneous job, see `schedlab.engine.parts.heterogeneous.queue_order`.
    by_group
        Whether a backfill pass looks at a limited number of jobs of each user, partition ...
    grouped
        Whether ends of running jobs are grouped.
    own_ends
        Whether a job that was tried at the end of a group is planned for when its own nodes are free.
    grace_until_look
        Whether a run whose grace time is over ends with the next look at time limits.
    passes_rest
        Whether backfill passes rest after one that has changed nothing, see `schedlab.engine.slurm.rest`.
    searches_whole_plan
        Whether a job is planned behind any reservation, see `schedlab.engine.slurm.search`.
    tells_reasons
        Whether it is counted for how long jobs wait for which reason, see `schedlab.engine.passes.waiting_reasons`.
    """

    processors: int
    easy: bool = False
    starvation: int = NEVER_STARVES
    window: int = ALL_VISIBLE
    in_order: int = 0
    one_by_one: bool = False
    passes_if_fits: bool = False
    fixed: bool = False
    speculation: float = NO_SPECULATION
    keeps_submit: bool = False
    ties: int = 0
    asks_predictor: bool = False
    asks_at_end: bool = False
    asks_at_entry: bool = False
    asks_at_pass: bool = False
    observed: bool = False
    ranks: bool = False
    loses: bool = False
    interval: int = 0
    depth: int = 0
    resolution: int = 1
    origin: int = 0
    horizon: int = 0
    reserve: int = 0
    queue_depth: int = 0
    delay: int = 0
    shared: int = 0
    grouped: bool = False
    own_ends: bool = False
    grace_until_look: bool = True
    passes_rest: bool = True
    searches_whole_plan: bool = False
    tells_reasons: bool = True
    by_group: bool = False
    starts: int = 0
    main_starts: int = 0
    plan_size: int = 0
    reserve_age: int = 0
    reserve_priority: int = 0
    stops_at_limits: bool = False
    one_each: bool = False
    wf_depth: int = 0
    planned_tasks: bool = False
    tasks_count: bool = False
    het_order: int = 0
    het_at_once: bool = False
