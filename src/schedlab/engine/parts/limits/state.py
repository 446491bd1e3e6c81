"""Partitions and limits during a simulation: which jobs limits admit, and which nodes are closed to later jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, OwnAxes, PerJob, Scratch
from schedlab.engine.jobs.calendar import Calendar, latest_place, record_at, sooner_place
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.machine.state import order_of
from schedlab.engine.parts.limits.course import most_within
from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.parts.reservations.numbers import BookingInputs
    from schedlab.engine.world import World

# Positions in LimitState.counters.
HEADS = 0  # jobs that have reservations under EASY; NOT_MADE if none have been made in this pass
WANING = 1  # 1 if a limit falls with time, so that a job may be admitted without an event
BY_NUMBER = 2  # 1 if jobs of equal scores are ordered by number, as conservative backfilling does, else by entry
PERIOD = 3  # seconds between the moments in which what runs still have to go is counted down; 1: always
COUNTERS_SIZE = 4

NOT_MADE = -1

ANYWHERE = -1
"""In place of an option: all of a job's."""

# Reasons of waiting jobs: columns of LimitState.waited.
DEPENDENCY = 0
RESOURCES = 1
PRIORITY = 2
NOT_AVAILABLE = 3  # too few nodes are in service
RESERVATION = 4  # the advance reservation of the job has not begun
FIRST_LIMIT = 5  # the reasons of limits begin here


class LimitState(NamedTuple):
    """Where jobs may run, and how much may run at a time.

    Parameters
    ----------
    counters
        The counters above.
    tier
        int64, one per job: the highest of its partitions; the queue is ordered by it first.
    options, partition
        int64: the partitions of job j are `partition[options[j]:options[j + 1]]`, see `schedlab.engine.machine.state`.
        Advance reservations are partitions behind all others.
    member
        bool, partitions by nodes.
    shares
        bool, partitions by partitions: whether they have nodes in common.
    limit, timed, stops
        See `LimitInputs`.
    since
        int64, one per job: when its last run began.
    used
        int64, one per limit: how much of it is in use; of one that is timed, what components that are about to start
        together have to go.
    use_offset, use_limit, use_amount
        See `LimitInputs`.
    blocked
        bool, one per partition: whether a job waits for it in this pass; later jobs get no nodes of it.
    narrowed
        bool, one per partition: whether some of its nodes are closed because they belong to a blocked one.
    closed
        bool, one per node: whether it is in a blocked partition.
    line, behind
        int64: jobs in the order in which a pass considers them. `line` is in use throughout a pass over partitions, and
        `behind` while one of its heads gets a reservation, or, after the pass, while jobs that preempt or suspend are
        listed.
    reason
        int64, one per limit: the number of its reason, among those of limits.
    waited
        int64, jobs by reasons: seconds.
    head, shadow
        int64: jobs with reservations under EASY, and when these begin, from the first job that does not fit to the end
        of the pass; `others` is for jobs to compare with them, within one call, and for the reasons of waiting.
    course
        How a limit changes with time, see `schedlab.engine.parts.limits.course`; None if none does.
    """

    counters: Fixed[NDArray[np.int64]]
    tier: Fixed[NDArray[np.int64]]
    options: Fixed[NDArray[np.int64]]
    partition: ByPart[NDArray[np.int64]]
    member: Fixed[NDArray[np.bool_]]
    shares: Fixed[NDArray[np.bool_]]
    limit: Fixed[NDArray[np.int64]]
    timed: Fixed[NDArray[np.bool_]]
    stops: Fixed[NDArray[np.bool_]]
    since: PerJob[NDArray[np.int64]]
    used: ByPart[NDArray[np.int64]]
    use_offset: Fixed[NDArray[np.int64]]
    use_limit: Fixed[NDArray[np.int64]]
    use_amount: Fixed[NDArray[np.int64]]
    blocked: Scratch[NDArray[np.bool_]]
    narrowed: Scratch[NDArray[np.bool_]]
    closed: Scratch[NDArray[np.bool_]]
    line: Scratch[NDArray[np.int64]]
    behind: Scratch[NDArray[np.int64]]
    reason: Fixed[NDArray[np.int64]]
    waited: ByPart[NDArray[np.int64]]
    head: Scratch[NDArray[np.int64]]
    shadow: Scratch[NDArray[np.int64]]
    others: Scratch[NDArray[np.int64]]
    course: OwnAxes[Any] = None


def new_limits(
    inputs: LimitInputs,
    nodes: NodeInputs,
    *,
    by_number: bool,
    period: int = 1,
    bookings: BookingInputs | None = None,
) -> LimitState:
    """Return partitions and limits before the first start; for `by_number` and `period`, see BY_NUMBER and PERIOD."""
    members = inputs.nodes if bookings is None else np.concatenate([inputs.nodes, bookings.nodes])
    jobs, partitions = len(inputs.option_offset) - 1, len(members)
    member = np.ascontiguousarray(members[:, order_of(nodes)])
    common = member.astype(np.int64) @ member.T.astype(np.int64)
    common[len(inputs.tier) :], common[:, len(inputs.tier) :] = 0, 0  # reservations keep nobody else waiting
    counters = np.zeros(COUNTERS_SIZE, dtype=np.int64)
    counters[HEADS], counters[WANING], counters[BY_NUMBER] = NOT_MADE, inputs.timed.any(), by_number
    counters[PERIOD] = period
    reasons = inputs.reason_names()
    fixed = (
        np.maximum.reduceat(inputs.tier[inputs.option_partition], inputs.option_offset[:-1]),
        inputs.option_offset.copy(),
        (inputs if bookings is None else bookings).option_partition.copy(),
        member,
        common > 0,
        inputs.limit.copy(),
        inputs.timed.copy(),
        inputs.stops.copy(),
    )
    uses = (inputs.use_offset.copy(), inputs.use_limit.copy(), inputs.use_amount.copy())
    for array in (*fixed, *uses):
        array.flags.writeable = False
    fixed[2].flags.writeable = bookings is not None  # they change when a reservation ends
    return LimitState(
        counters,
        *fixed,
        np.zeros(jobs, dtype=np.int64),
        np.zeros(len(inputs.limit), dtype=np.int64),
        *uses,
        np.zeros(partitions, dtype=np.bool_),
        np.zeros(partitions, dtype=np.bool_),
        np.zeros(member.shape[1], dtype=np.bool_),
        np.empty(jobs, dtype=np.int64),
        np.empty(jobs, dtype=np.int64),
        np.array([reasons.index(reason) - FIRST_LIMIT for reason in inputs.reason], dtype=np.int64),
        np.zeros((jobs, len(reasons)), dtype=np.int64),
        np.empty(partitions, dtype=np.int64),
        np.empty(partitions, dtype=np.int64),
        np.empty(partitions, dtype=np.int64),
    )


@inner_kernel
def charge(limits: LimitState | None, job: int, sign: int, to_go: int) -> None:
    """Charge the use of a job to its limits (sign 1), or release it (sign -1).

    `to_go` is how many seconds of it count for limits that are timed: 0 of a run, whose end the calendar has.
    """
    if limits is not None:
        for i in range(limits.use_offset[job], limits.use_offset[job + 1]):
            number = limits.use_limit[i]
            limits.used[number] += sign * limits.use_amount[i] * (to_go if limits.timed[number] else 1)


@inlined
def run_begins(limits: LimitState, job: int, second: int) -> None:
    """Charge the use of a job to its limits, and record when its run begins: later than now while its nodes boot."""
    charge(limits, job, 1, 0)
    limits.since[job] = second


@inlined
def is_limited(limits: LimitState, job: int) -> bool:
    """Return whether a job is under any limit."""
    return limits.use_offset[job + 1] > limits.use_offset[job]


@inlined
def admitted(limits: LimitState | None, running: Calendar, job: int, estimate: int, now: int) -> bool:
    """Return whether a job would exceed no limit if it started now."""
    if limits is not None:
        return exceeded(limits, running, job, estimate, now) < 0
    return True


@inner_kernel
def exceeded(limits: LimitState, running: Calendar, job: int, estimate: int, now: int) -> int:
    """Return the first limit that a job would exceed in addition to the running jobs, -1 if none."""
    for i in range(limits.use_offset[job], limits.use_offset[job + 1]):
        if _exceeds(limits, running, i, estimate, now):
            return limits.use_limit[i]
    return -1


@inner_kernel
def exceeds_resources_alone(limits: LimitState, running: Calendar, job: int, estimate: int, now: int) -> bool:
    """Return whether a job would exceed a limit that may stop a pass, and no other."""
    found = False
    for i in range(limits.use_offset[job], limits.use_offset[job + 1]):
        if _exceeds(limits, running, i, estimate, now):
            if not limits.stops[limits.use_limit[i]]:
                return False
            found = True
    return found


@inlined
def _exceeds(limits: LimitState, running: Calendar, use: int, estimate: int, now: int) -> bool:
    """Return whether a use of a limit would exceed it in addition to the running jobs."""
    number, amount = limits.use_limit[use], limits.use_amount[use]
    if limits.timed[number]:
        amount = amount * estimate + _to_come(limits, running, number, now)
    most = limits.limit[number]
    if limits.course is not None and number == limits.course.number[0]:
        most = most_within(limits.course, now, now + estimate)
    return limits.used[number] + amount > most


@inlined
def has_limits(world: World) -> bool:
    """Return whether there may be jobs that wait for a limit."""
    if world.limits is not None:
        return world.limits.limit.shape[0] > 0
    return False


@inner_kernel
def _to_come(limits: LimitState, running: Calendar, number: int, now: int) -> int:
    """Return how much of a timed limit the running jobs will still use, as far as they are expected to run.

    What has passed of a run counts from the last second on that is a multiple of the period, as in Slurm.
    """
    used, counted = 0, now // limits.counters[PERIOD] * limits.counters[PERIOD]
    place = latest_place(running)
    while place >= 0:
        record = record_at(running, place)
        place = sooner_place(running, place)
        for i in range(limits.use_offset[record.job], limits.use_offset[record.job + 1]):
            if limits.use_limit[i] == number:
                used += limits.use_amount[i] * max(record.end - max(counted, limits.since[record.job]), 0)
    return used


@inlined
def wanes(limits: LimitState | None) -> bool:
    """Return whether a limit falls with time."""
    if limits is not None:
        return limits.counters[WANING] > 0
    return False


@inner_kernel
def open_partitions(limits: LimitState | None) -> None:
    """Begin a pass: no job waits for a partition yet."""
    if limits is not None:
        limits.blocked[:] = False
        limits.narrowed[:] = False
        limits.closed[:] = False


@inner_kernel
def block(limits: LimitState | None, job: int) -> bool:
    """Close the nodes of a waiting job's partitions to all later jobs.

    Return whether that closes the whole machine, because it has no partitions; otherwise see `all_blocked`.
    """
    if limits is not None:
        for option in range(limits.options[job], limits.options[job + 1]):
            block_partition(limits, limits.partition[option])
        return False
    return True


@inner_kernel
def block_partition(limits: LimitState, partition: int) -> None:
    """Close the nodes of a partition to all later jobs."""
    if not limits.blocked[partition]:
        limits.blocked[partition] = True
        for node in range(limits.closed.shape[0]):
            limits.closed[node] = limits.closed[node] or limits.member[partition, node]
        for other in range(limits.blocked.shape[0]):
            limits.narrowed[other] = limits.narrowed[other] or limits.shares[partition, other]


@inner_kernel
def all_blocked(limits: LimitState) -> bool:
    """Return whether a job waits for each partition."""
    blocked = True
    for partition in range(limits.blocked.shape[0]):
        blocked = blocked and limits.blocked[partition]
    return blocked


@inlined
def is_closed(world: World, request: int, node: int) -> bool:
    """Return whether a node belongs to a partition for which an earlier job waits; within reservations, none does."""
    return world.limits.closed[node] and world.nodes.machine.requests[request].ignored == 0


@inlined
def options_of(limits: LimitState, job: int, option: int) -> tuple[int, int]:
    """Return the first and behind the last of the options of a job, or of a single one."""
    if option != ANYWHERE:
        return option, option + 1
    return limits.options[job], limits.options[job + 1]
