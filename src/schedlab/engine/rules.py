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
        How many waiting jobs, the earliest to enter, the scheduler sees; negative: all. Slurm's bf_window is `horizon`.
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
    interval, depth, resolution
        Slurm's bf_interval, bf_max_job_test and bf_resolution, see `schedlab.scheduler.backfilling.Slurm`.
    origin
        A second of a full hour, from which multiples of the resolution are counted.
    horizon
        Slurm's bf_window, in seconds: what begins later is not reserved.
    reserve
        Reservations of a backfill pass at most; no option of Slurm.
    queue_depth, delay
        Slurm's default_queue_depth and batch_sched_delay.
    shared
        Cores of a node that jobs share, where the machine is a number of processors: reservations hold whole nodes.
    starts, main_starts
        Slurm's bf_max_job_start and sched_max_job_start.
    plan_size
        Slurm's bf_node_space_size: records of a plan at most, 0 for any number.
    reserve_age, reserve_priority
        Slurm's bf_min_age_reserve and bf_min_prio_reserve: jobs that have waited for less, or of a lower priority, have
        no reservations, and keep nobody waiting.
    stops_at_limits
        Slurm's assoc_limit_stop: whether a job at a limit of resources stops the main pass in its partitions.
    one_each
        Slurm's bf_one_resv_per_job: whether a job of several partitions has a reservation in the first of them alone.
    wf_depth, planned_tasks, tasks_count
        Of workflows, as ScSF's Slurm counts them: `wf_depth`, `wf_plan` and `wf_count` of the scheduler.
    het_order, het_at_once
        Slurm's bf_hetjob_prio, see `schedlab.engine.parts.heterogeneous.queue_order`, and bf_hetjob_immediate.
    counts_by_user
        Whether a backfill pass looks at a limited number of jobs of each user, partition ... (bf_max_job_user,
        bf_max_job_part, bf_max_job_assoc, bf_max_job_user_part).
    grouped
        Whether ends of running jobs are grouped, as select/cons_tres does, see `schedlab.engine.slurm.groups`.
    own_ends, grace_until_look, passes_rest, searches_whole_plan
        Rules that differ between versions of Slurm: those of the same names in `schedlab.scheduler.slurm_versions`.
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
    counts_by_user: bool = False
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
