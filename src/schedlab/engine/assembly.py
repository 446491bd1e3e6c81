"""The parts of a simulation, assembled from a prepared simulation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.state import State, new_state
from schedlab.engine.parts.forecasts.part import statistics_in
from schedlab.engine.parts.preemption.numbers import layers_of
from schedlab.engine.parts.submission_limits.numbers import batches
from schedlab.engine.passes.conservative_plan import Plan, new_plan
from schedlab.engine.passes.own_plan import new_own_words
from schedlab.engine.prepared import Prepared
from schedlab.engine.queue.operations import Queue
from schedlab.engine.queue.orders import ASKED, ASKED_AT_ENTRY, TIMED, Order, new_order
from schedlab.engine.queue.sorted_list import new_list
from schedlab.engine.queue.ties import BY_ENTRY, numbers_of, ties_of
from schedlab.engine.queue.tree import new_tree
from schedlab.engine.queue.waiting import Orders, Waiting
from schedlab.engine.rules import ALL_VISIBLE, NEVER_STARVES, NO_SPECULATION, Rules
from schedlab.engine.slurm.known_plans import nothing_known
from schedlab.engine.slurm.next_moment import no_rooms
from schedlab.engine.slurm.runs_by_end import RUN
from schedlab.engine.slurm.runs_on_cohorts import lying_nowhere
from schedlab.engine.slurm.state import NO_GROUP, Depths, Passes, new_depths, new_passes
from schedlab.engine.world import PARTS, World
from schedlab.kernels import new_records
from schedlab.scheduler.agent import AgentPolicy
from schedlab.scheduler.backfilling import HETJOB_PRIOS, Conservative, Easy, Slurm
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.own_pass import OwnPass
from schedlab.scheduler.own_predictor import PythonPredictor
from schedlab.scheduler.policy import FCFS, Policy
from schedlab.scheduler.policy_text import policy_from_text
from schedlab.scheduler.slurm_limits import ALL, DEPTHS, QUEUE_DEPTHS, RESERVE_DEPTHS
from schedlab.workload.columns import distinct

NO_RESERVE = "no_reserve"
"""In place of an option of Slurm that limits reservations: the flag NoReserve of a QOS."""


def assemble(prepared: Prepared, *, open_ended: bool = False, observed: bool = False) -> World:
    """Return a simulation before its first event.

    Parameters
    ----------
    prepared
        The simulation; its jobs become part of the state.
    open_ended
        Whether jobs may be added while it runs: no score is computed before its job enters.
    observed
        Whether the loop returns before every scheduling pass.
    """
    scheduler, n = prepared.scheduler, len(prepared.jobs)
    parts = {part.name: part.new(prepared) for part in PARTS}
    retries, dependencies, limits = (parts[name] for name in ("retries", "dependencies", "limits"))
    state = new_state(
        n,
        prepared.processors,
        request=prepared.request,
        watched=scheduler.runtimes.learns,
        runs=n if retries is None else len(retries.runs),
        layers=layers_of(prepared.preemption),
        tick=prepared.tick,
    )
    if ties_of(scheduler) != BY_ENTRY:
        state.entered[:] = numbers_of(prepared.jobs["submit"])
    fixed_beforehand = retries is None and dependencies is None and not open_ended
    orders = _orders(prepared, statistics_in(parts["forecasts"]), fixed_beforehand=fixed_beforehand)
    tier = (
        None if limits is None else limits.tier if parts["heterogeneous"] is None else limits.tier.copy()
    )  # it changes in passes
    waiting = _waiting(prepared, state, orders, tier, fixed_beforehand=fixed_beforehand)
    plan: Plan | Passes | None = None
    if isinstance(scheduler.backfill, Conservative | OwnPass):
        plan = new_plan(orders.policy.score, prepared.processors, retries=retries is not None, tier=tier)
        if isinstance(scheduler.backfill, OwnPass):
            plan = plan._replace(own=new_own_words())
    elif isinstance(scheduler.backfill, Slurm):
        requests = 0 if parts["nodes"] is None else len(parts["nodes"].machine.requests)
        plan = _slurm_passes(prepared, scheduler.backfill, requests)
        if parts["priority"] is not None:
            state.planned[:] = parts["priority"].whole == 0
    rules = rules_of(prepared, orders, observed=observed)
    return World(
        prepared.jobs,
        prepared.seen,
        state,
        waiting,
        orders,
        plan,
        rules,
        **parts,
    )


def _slurm_passes(prepared: Prepared, passes: Slurm, requests: int) -> Passes:
    """Return the state of Slurm's passes before the first one."""
    submission = prepared.in_submission_order(batches(prepared.workload))
    planning, starting, reserving = (
        _depths(prepared, passes, names, submission) for names in (DEPTHS, QUEUE_DEPTHS, RESERVE_DEPTHS)
    )
    turns = len(prepared.jobs) if prepared.limits is None else len(prepared.limits.option_partition)
    steps = _plan_size(passes) or (0 if prepared.nodes is None else 2 * turns)
    depths = planning, starting, reserving
    nodes = 0 if prepared.nodes is None else len(prepared.nodes.cores)
    records = new_records(len(submission) if requests > 0 else 0, RUN), lying_nowhere(nodes), no_rooms(nodes)
    return new_passes(submission, depths, prepared.processors, steps, nothing_known(requests), records)


def _depths(prepared: Prepared, passes: Slurm, names: Iterable[str], array: NDArray[np.int64]) -> Depths:
    """Return how many jobs of a user, a partition ... a pass considers, by the names of these options."""
    user, partition, account = (prepared.column(name) for name in ("user_id", "partition_id", "group_id"))
    small = np.bincount(array)[array] <= max(1, passes.array_reserve)
    if prepared.limits is not None:  # a job counts in each of its partitions
        turns = np.diff(prepared.limits.option_offset)
        by_job = user, partition, account, array, small
        user, partition, account, array, small = (np.repeat(column, turns) for column in by_job)
        if prepared.limits.partitioned:
            partition = prepared.limits.option_partition
    columns = dict(zip(DEPTHS, ((user,), (partition,), (user, account), (user, partition)), strict=True))
    columns |= dict.fromkeys((*QUEUE_DEPTHS, "partition_reserve"), (partition,))
    columns["array_reserve"] = (array,)
    limits = {name: getattr(passes, name) for name in names if getattr(passes, name) < ALL}
    exempt = {"array_reserve": small}
    reserves = _reserves(prepared) if names == RESERVE_DEPTHS else None
    if reserves is not None:  # the others are groups of which a pass may reserve for 0
        exempt[NO_RESERVE], columns[NO_RESERVE], limits[NO_RESERVE] = reserves, (partition,), 0
    if small.all():
        limits.pop("array_reserve", None)
    group = np.zeros((len(limits), len(user)), dtype=np.int64)
    used = 0
    for row, name in enumerate(limits):
        first, which = distinct(*columns[name])
        group[row] = np.where(exempt[name], NO_GROUP, used + which) if name in exempt else used + which
        used += len(first)
    return new_depths(np.array(list(limits.values()), dtype=np.int64), group)


def _reserves(prepared: Prepared) -> NDArray[np.bool_] | None:
    """Return for which turns a backfill pass may reserve: not of jobs of a QOS with NoReserve; None: for all."""
    limits = prepared.limits
    if limits is None or limits.reserves is None:
        return None
    return np.repeat(limits.reserves, np.diff(limits.option_offset))


def _orders(prepared: Prepared, table: NDArray[np.float64] | None, *, fixed_beforehand: bool) -> Orders:
    scheduler = prepared.scheduler

    def order_of(policy: Policy) -> Order:
        if isinstance(policy, FCFS) and ties_of(scheduler) != BY_ENTRY:
            policy = policy_from_text("0*q")  # Slurm's priorities are equal then
        known = fixed_beforehand and not (scheduler.ranking.learns and _uses_run_time(policy))
        return new_order(policy, prepared.seen, prepared.seen_request, known=known, column=prepared.column, table=table)

    queue = order_of(scheduler.policy)
    return Orders(queue, None if scheduler.order is None else order_of(scheduler.order))


def _uses_run_time(policy: Policy) -> bool:
    """Return whether scores may depend on the run time that the order assumes."""
    return policy.program is None or policy.program.uses_run_time


def _waiting(
    prepared: Prepared, state: State, orders: Orders, tier: NDArray[np.int64] | None, *, fixed_beforehand: bool
) -> Waiting:
    """Return the empty queues; `tier` has the tiers of jobs, None without partitions."""
    scheduler = prepared.scheduler
    policies = [scheduler.policy] if scheduler.order is None else [scheduler.policy, scheduler.order]
    moving = prepared.pilot.any() or any(
        policy.changes_with_time or isinstance(policy, Multifactor) for policy in policies
    )

    def new_queue(score: NDArray[np.float64], *, known: bool) -> Queue:
        if isinstance(scheduler.backfill, Slurm | OwnPass) or moving or tier is not None:
            return new_list(score, state.entered, tier)
        return new_tree(score, state.entered, prepared.processors, known=known)

    def queue_of(policy: Policy, order: Order) -> Queue:
        learned = scheduler.ranking.learns and _uses_run_time(policy)
        return new_queue(order.score, known=fixed_beforehand and not learned)

    def by_entry() -> Queue:
        equal = np.zeros(len(state.start))
        if isinstance(scheduler.backfill, Conservative) or tier is not None:
            return new_list(equal, state.entered)
        return new_queue(equal, known=fixed_beforehand)

    candidates = ages = beyond = None
    if scheduler.order is not None and orders.candidates is not None:
        candidates = queue_of(scheduler.order, orders.candidates)
    if scheduler.starvation is not None or scheduler.window is not None or prepared.in_order:
        ages, beyond = by_entry(), by_entry()
    if isinstance(scheduler.backfill, Conservative):
        return Waiting(by_entry(), None, ages, beyond)  # the plan has its own list, in the order of the policy
    return Waiting(queue_of(scheduler.policy, orders.policy), candidates, ages, beyond)


def _plan_size(passes: Slurm) -> int:
    """Return how many records a plan may have, 0 for any number."""
    return passes.records if passes.records < ALL else 0


def rules_of(prepared: Prepared, orders: Iterable[Order | None], *, observed: bool) -> Rules:
    """Return the rules of a scheduler, as numbers."""
    scheduler = prepared.scheduler
    backfill, policy, retries = scheduler.backfill, scheduler.policy, scheduler.retries
    kinds = {int(order.kind[0]) for order in orders if order is not None}
    python = isinstance(scheduler.runtimes, PythonPredictor) or isinstance(scheduler.ranking, PythonPredictor)
    rules = Rules(
        prepared.processors,
        easy=isinstance(backfill, Easy),
        starvation=NEVER_STARVES if scheduler.starvation is None else scheduler.starvation,
        window=ALL_VISIBLE if scheduler.window is None else scheduler.window,
        in_order=prepared.in_order,
        one_by_one=prepared.one_by_one,
        passes_if_fits=prepared.passes_if_fits,
        fixed=isinstance(backfill, Conservative) and backfill.fixed,
        speculation=NO_SPECULATION if retries is None or retries.speculation is None else float(retries.speculation),
        keeps_submit=isinstance(policy, Multifactor) and policy.accrue == "always",
        ties=ties_of(scheduler),
        asks_predictor=python,
        asks_at_end=python
        or any(isinstance(one, FunctionPolicy) and one.knows_runs for one in (policy, scheduler.order)),
        asks_at_entry=ASKED_AT_ENTRY in kinds,
        asks_at_pass=ASKED in kinds or (isinstance(backfill, OwnPass) and not backfill.in_loop),
        observed=observed,
        ranks=prepared.limits is not None and bool(kinds & {TIMED, ASKED}) and not isinstance(policy, AgentPolicy),
        loses=prepared.outages is not None and prepared.outages.loses,
    )
    return _with_slurm(rules, backfill) if isinstance(backfill, Slurm) else rules


def _with_slurm(rules: Rules, passes: Slurm) -> Rules:
    """Return the rules of a scheduler with those of Slurm's passes."""
    return rules._replace(
        interval=passes.interval,
        depth=passes.depth,
        resolution=passes.resolution,
        origin=passes.origin,
        horizon=passes.window,
        reserve=passes.reserve,
        queue_depth=passes.queue_depth,
        delay=passes.delay,
        shared=passes.shared,
        counts_by_user=passes.limits_any(DEPTHS),
        starts=passes.starts,
        main_starts=passes.main_starts,
        reserve_age=passes.reserve_age,
        reserve_priority=passes.reserve_priority,
        stops_at_limits=passes.limits == "stop",
        one_each=passes.partitions == "first",
        plan_size=_plan_size(passes),
        grouped=passes.interval > 0 and passes.node == 0,  # as select/cons_tres does
        own_ends=passes.follows("own_ends"),
        grace_until_look=passes.follows("grace_until_look"),
        passes_rest=passes.follows("passes_rest"),
        searches_whole_plan=passes.follows("searches_whole_plan"),
        wf_depth=passes.wf_depth,
        planned_tasks=passes.wf_plan == "all",
        tasks_count=passes.wf_count == "tasks",
        het_order=HETJOB_PRIOS.index(passes.hetjob_order),
        het_at_once=passes.hetjob_immediate == "yes",
    )
