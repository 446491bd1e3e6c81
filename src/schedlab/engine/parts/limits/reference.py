"""Partitions, limits of accounts and QOS, and the reasons of waiting jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import Nodes, View

if TYPE_CHECKING:
    from schedlab.engine.parts.reservations.numbers import BookingInputs

RESOURCES, PRIORITY, NOT_AVAILABLE = "Resources", "Priority", "ReqNodeNotAvail"
RESERVATION = "Reservation"
EVERYWHERE = 0
"""The partition of a machine that has none."""


@dataclass
class Limit:
    """A limit on concurrent use; if `timed`, amounts are multiplied by the expected remaining seconds.

    One that `stops` is of resources: it may stop those behind a job that would exceed it.
    """

    most: int
    timed: bool
    stops: bool
    reason: str

    def use(self, amount: int, seconds: int) -> int:
        """Return the use of a job that is expected to run for `seconds`."""
        return amount * max(seconds, 0) if self.timed else amount


@dataclass
class Limits:
    """Where each job may run, and under which limits; without inputs, everywhere and without limits.

    `waited` has the seconds that jobs have waited, by reason. A job of a reservation is in the partition of that,
    behind all others, until it is `free`. What has passed of a run counts from the last second on that is a multiple of
    the `period`.
    """

    inputs: LimitInputs | None
    bookings: BookingInputs | None = None
    period: int = 1
    begin: int = 0
    all: list[Limit] = field(default_factory=list)
    waited: dict[Job, dict[str, int]] = field(default_factory=dict)
    free: set[Job] = field(default_factory=set)
    steps: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.inputs is not None:
            columns = (
                self.inputs.limit.tolist(),
                self.inputs.timed.tolist(),
                self.inputs.stops.tolist(),
                self.inputs.reason,
            )
            self.all = [Limit(*values) for values in zip(*columns, strict=True)]
            course = self.inputs.course
            self.steps = [] if course is None else [second for second in course.second.tolist() if second > self.begin]

    def change(self, now: int) -> bool:
        """Take the steps of a limit that changes in this second off the list; return whether there are any."""
        before = len(self.steps)
        self.steps = [second for second in self.steps if second > now]
        return len(self.steps) < before

    def most(self, number: int, first: int, seconds: int) -> int:
        """Return how much of a limit may be in use in all of so many seconds from one on, and in this one at least."""
        course = None if self.inputs is None else self.inputs.course
        if course is None or course.number != number:
            return self.all[number].most
        begins, values = course.second.tolist(), course.most.tolist()
        ends = [*begins[1:], math.inf]
        last = first + max(seconds, 1) - 1
        return min(
            value for begin, end, value in zip(begins, ends, values, strict=True) if begin <= last and first < end
        )

    def partitions(self, job: Job) -> list[int]:
        """Return the partitions of a job, in the order in which they are tried."""
        if self.inputs is None:
            return [EVERYWHERE]
        first, end = self.inputs.option_offset[job.number : job.number + 2].tolist()
        reservation = self.reservation(job)
        if reservation is not None:
            return [len(self.inputs.tier) + reservation] * (end - first)
        return [int(partition) for partition in self.inputs.option_partition[first:end]]

    def closes(self, job: Job, turn: int | None, machine: View) -> set[int]:
        """Return what a job that waits in Slurm's main pass closes to later ones: its partitions in a turn, or in all.

        Of a job that names nodes, these are the nodes alone, each given as its complement (~node).
        """
        partitions = self.partitions(job)
        found = set[int]()
        for place in range(len(partitions)) if turn is None else [turn]:
            request = machine.requests[job.number][place] if isinstance(machine, Nodes) else None
            if request is not None and request.named and self.inputs is not None:
                found.update(~node for node, mine in enumerate(request.allowed) if mine)
            else:
                found.add(partitions[place])
        return found

    def reservation(self, job: Job) -> int | None:
        """Return the reservation of a job, None if it has none any more."""
        if self.bookings is None or job in self.free:
            return None
        number = int(self.bookings.of_job[job.number])
        return None if number < 0 else number

    def tier(self, job: Job) -> int:
        """Return the highest tier of a job's partitions."""
        if self.inputs is None:
            return 0
        first, end = self.inputs.option_offset[job.number : job.number + 2].tolist()
        return int(self.inputs.tier[self.inputs.option_partition[first:end]].max())

    def kept_from(self, job: Job, blocked: set[int]) -> set[int] | None:
        """Return the nodes that a job may not use because earlier ones wait for some partitions, None for all nodes.

        A reservation and the rest of the machine do not keep each other waiting.
        """
        if self.inputs is None:
            return self.nodes(blocked)
        if self.reservation(job) is not None:
            return self.nodes(blocked.intersection(self.partitions(job)))
        return self.nodes(one for one in blocked if one < len(self.inputs.tier))

    def nodes(self, partitions: Iterable[int]) -> set[int] | None:
        """Return the nodes of some partitions, None for all nodes."""
        if self.inputs is None:
            return None
        rows = list(self.inputs.nodes) + ([] if self.bookings is None else list(self.bookings.nodes))
        closed = list(partitions)
        named = {~one for one in closed if one < 0}
        return named | {node for one in closed if one >= 0 for node in rows[one].nonzero()[0].tolist()}

    def uses(self, job: Job) -> dict[int, int]:
        """Return how much a job uses of each of its limits."""
        if self.inputs is None:
            return {}
        first, end = self.inputs.use_offset[job.number : job.number + 2].tolist()
        numbers, amounts = self.inputs.use_limit[first:end].tolist(), self.inputs.use_amount[first:end].tolist()
        return dict(zip(numbers, amounts, strict=True))

    def exceeded(self, job: Job, running: list[Job], now: int, others: Iterable[Job] = ()) -> str | None:
        """Return the reason of the first limit that a job would exceed beside the running jobs, or None.

        It may have to start with others, components of its job.
        """
        return next((limit.reason for limit in self.all_exceeded(job, running, now, others)), None)

    def all_exceeded(self, job: Job, running: list[Job], now: int, others: Iterable[Job] = ()) -> Iterator[Limit]:
        """Yield the limits that a job would exceed beside the running jobs, and beside others that start with it."""
        counted = now // self.period * self.period
        for number, amount in self.uses(job).items():
            limit = self.all[number]
            used = 0
            for one in running:
                left = one.expected_end - max(counted, one.start - one.stood)
                used += limit.use(self.uses(one).get(number, 0), left)
            used += sum(limit.use(self.uses(one).get(number, 0), one.estimate) for one in others)
            if used + limit.use(amount, job.estimate) > self.most(number, now, job.estimate):
                yield limit

    def count(self, reasons: dict[Job, str], seconds: int) -> None:
        """Add seconds to the reasons of waiting jobs."""
        for job, reason in reasons.items():
            times = self.waited.setdefault(job, {})
            times[reason] = times.get(reason, 0) + seconds
