"""Slurm's multifactor priority during a simulation: ages, and the usage of users.

Priorities stay constant between two computations, which take place at multiples of a period; a job that enters the
queue gets its priority at once. A rank is a negated priority, so that the smallest comes first, as with scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Fixed, Kept, PerJob
from schedlab.engine.jobs.calendar import NEVER, latest_place, record_at, sooner_place, soonest
from schedlab.engine.jobs.clock import COMPLETED, NOW, WAITING
from schedlab.engine.machine.fitting import fewest_nodes
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.machine.state import Nodes, order_of
from schedlab.engine.parts.limits.tres import Billing, cores_of_whole_nodes
from schedlab.engine.parts.preemption.state import stood_still
from schedlab.engine.parts.priority.shares import Shares, charge, new_shares, use, weigh, weighed
from schedlab.kernels import by_address, inlined, inner_kernel
from schedlab.scheduler.multifactor import Multifactor

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


@by_address
class Priority(NamedTuple):
    """The inputs of priorities; arrays have one entry per job, in order of submission.

    Parameters
    ----------
    age, fairshare
        Weights.
    max_age, period
        Seconds.
    decay
        The factor by which usage decays over a period.
    ends
        Whether a job's usage since the last computation is charged when it ends.
    size, relative, small
        Weight of the size; whether it is taken relative to the run time; whether small jobs are favoured.
    processors
        Size of the machine.
    nodes
        Per job: the share of the nodes that it requests; empty on a machine without nodes.
    partition, qos, tres
        Per job: what its partition, its quality of service and the resources that it requests add.
    beside
        Per job: what else was seen to add, in a simulation that begins in the middle.
    association
        Per job: the association that is charged.
    billing
        The usage of jobs per second.
    shares
        Of all associations.
    last
        One entry: the second of the last computation.
    """

    age: Fixed[float]
    fairshare: Fixed[float]
    max_age: Fixed[int]
    period: Fixed[int]
    decay: Fixed[float]
    ends: Fixed[bool]
    size: Fixed[float]
    relative: Fixed[bool]
    small: Fixed[bool]
    processors: Fixed[int]
    nodes: Fixed[NDArray[np.float64]]
    whole: Fixed[NDArray[np.float64]]
    partition: Fixed[NDArray[np.float64]]
    qos: Fixed[NDArray[np.float64]]
    tres: Fixed[NDArray[np.float64]]
    beside: PerJob[NDArray[np.float64]]
    association: Fixed[NDArray[np.int64]]
    billing: Fixed[Billing]
    shares: Shares
    last: Kept[NDArray[np.int64]]


def new_priority(prepared: Prepared) -> Priority:
    """Return the priorities of a simulation before its first event."""
    policy = prepared.scheduler.policy
    assert isinstance(policy, Multifactor)
    who = prepared.associations
    assert who is not None
    shares = new_shares(who, fair_tree=policy.shares == "tree", dampening=float(policy.dampening))
    if policy.fairshare:
        weighed(shares)
    origin = int(prepared.jobs["submit"][0])
    return Priority(
        age=float(policy.age),
        fairshare=float(policy.fairshare),
        max_age=policy.max_age,
        period=policy.period,
        decay=0.5 ** (policy.period / policy.half_life) if policy.half_life else 1.0,
        ends=policy.ends == "counted",
        size=float(policy.size),
        relative=bool(policy.relative),
        small=policy.favor == "small",
        processors=prepared.processors,
        nodes=_shares_of_nodes(prepared),
        whole=_shares_of_whole_nodes(prepared),
        partition=_levels(policy.partition, policy.partitions, prepared.column("partition_id")),
        qos=_levels(policy.qos, policy.qoses, prepared.column("queue_id")),
        tres=np.zeros(len(prepared.jobs)) if prepared.tres is None else prepared.tres,
        beside=np.zeros(len(prepared.jobs)),
        association=who.of_job,
        billing=_by_engine_nodes(who.rate, prepared.nodes),
        shares=shares,
        last=np.array([origin // policy.period * policy.period], dtype=np.int64),
    )


def _by_engine_nodes(billing: Billing, inputs: NodeInputs | None) -> Billing:
    """Return what jobs are billed, with nodes as the engine numbers them."""
    if inputs is None or not billing.amounts.size:
        return billing
    return billing._replace(amounts=np.ascontiguousarray(billing.amounts[:, order_of(inputs)]))


def _shares_of_nodes(prepared: Prepared) -> NDArray[np.float64]:
    """Return the share of the nodes that each job requests; that of one node if it gives no number."""
    if prepared.nodes is None:
        return np.zeros(0)
    return np.maximum(prepared.nodes.nodes[prepared.nodes.shape], 1) / len(prepared.nodes.cores)


def _shares_of_whole_nodes(prepared: Prepared) -> NDArray[np.float64]:
    """Return the share of all cores that the nodes of each job have that gets them whole; 0 for others."""
    inputs, policy = prepared.nodes, prepared.scheduler.policy
    assert isinstance(policy, Multifactor)
    if inputs is None or not policy.size or not inputs.exclusive.any():
        return np.zeros(len(prepared.jobs))
    cores = np.where(inputs.exclusive, cores_of_whole_nodes(inputs, fewest_nodes(inputs)), 0)
    return cores[inputs.shape] / prepared.processors


def _levels(weight: float, factors: Mapping[int, float], column: NDArray[Any]) -> NDArray[np.float64]:
    """Return what the partition, or the quality of service, of each job adds to its priority."""
    if not weight:
        return np.zeros(len(column))
    return weight * np.array([factors.get(one, 0.0) for one in column.tolist()])


@inlined
def rank_of(seen: NDArray[Any], priority: Priority, job: int, second: int, planned: bool) -> float:
    """Return the rank of a waiting job, computed in that second: the priority as a whole number, at least 1.

    A task of a workflow with one place in the queue has the size of the workflow: that of its pilot job. The size of a
    job with whole nodes is that of all their cores once it is `planned`; until then, Slurm does not know them.
    """
    age = min(1.0, max(0, second - seen[job].submit) / priority.max_age)
    size = seen[job].processors / priority.processors
    if priority.nodes.shape[0] > 0:
        if planned:
            size = max(size, priority.whole[job])
        nodes = priority.nodes[job]
        size = max(size, nodes) if priority.relative else (size + nodes) / 2
    if priority.relative:
        size = size / np.ceil(seen[job].estimate / 60)
    if priority.small:
        size = 1 - size
    fixed = priority.size * min(1.0, max(0.0, size)) + priority.partition[job] + priority.qos[job]
    fixed += priority.tres[job] + priority.beside[job]
    total = priority.age * age + priority.fairshare * priority.shares.factor[priority.association[job]] + fixed
    return -float(max(1, int(total)))


@inlined
def next_computation(world: World) -> int:
    """Return when priorities are computed next; NEVER while no job waits and no usage grows."""
    if world.state.clock[WAITING] == 0 and (world.priority.fairshare == 0 or soonest(world.state.completions) == NEVER):
        return NEVER
    return (world.state.clock[NOW] // world.priority.period + 1) * world.priority.period


@inlined
def _rate(nodes: Nodes | None, billing: Billing, job: int) -> float:
    """Return the usage of a run per second."""
    if nodes is not None:
        return _rate_on_nodes(nodes, billing, job)
    return billing.fixed[job]


@inner_kernel
def _rate_on_nodes(nodes: Nodes, billing: Billing, job: int) -> float:
    """Return the usage of a run per second: of nodes that it has whole, all that they have."""
    rate, row, run = billing.fixed[job], billing.whole[job], nodes.run[job]
    for resource in range(billing.amounts.shape[0] if row >= 0 else 0):
        amount = 0.0
        for place in range(nodes.offsets[run], nodes.offsets[run + 1]):
            amount += billing.amounts[resource, nodes.places[place].node]
        part = billing.factor[job] * billing.weights[row, resource] * amount
        rate = max(rate, part) if billing.largest[row] else rate + part
    return rate


@inner_kernel
def note_usage(world: World) -> None:
    """Charge the jobs that have just ended for their usage since the last computation."""
    if world.priority.fairshare > 0:
        until = world.state.clock[NOW]
        if not world.priority.ends:
            until = until // world.priority.period * world.priority.period
        for i in range(world.state.clock[COMPLETED]):
            job = world.state.ended[i]
            used = max(0, until - max(world.state.start[job] - stood_still(world, job), world.priority.last[0]))
            charge(
                world.priority.shares,
                world.priority.association[job],
                used * _rate(world.nodes, world.priority.billing, job),
            )


@inner_kernel
def compute(world: World) -> bool:
    """Compute usage and fair-share factors if a period is over; return whether it is."""
    now = world.state.clock[NOW]
    if now // world.priority.period * world.priority.period <= world.priority.last[0]:
        return False
    second = now // world.priority.period * world.priority.period
    if world.priority.fairshare > 0:
        running = world.state.completions
        place = latest_place(running)
        while place >= 0:
            job = record_at(running, place).job
            place = sooner_place(running, place)
            used = max(0, second - max(world.state.start[job] - stood_still(world, job), world.priority.last[0]))
            charge(
                world.priority.shares,
                world.priority.association[job],
                used * _rate(world.nodes, world.priority.billing, job),
            )
        # Several periods are over at once only after the machine was idle, so all recent usage belongs to the first of
        # them.
        kept = world.priority.decay ** float((second - world.priority.last[0]) // world.priority.period - 1)
        use(world.priority.shares, world.priority.decay, kept)
        weigh(world.priority.shares)
    world.priority.last[0] = second
    return True
