"""Slurm's multifactor priority: ages, and the usage of users."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from schedlab.engine.machine.fitting import room_on_nodes
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.engine.parts.limits.tres import Billing
from schedlab.engine.parts.priority.reference_shares import Shares
from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.job import Job
from schedlab.scheduler.multifactor import Multifactor


@dataclass
class Priority:
    """Priorities stay constant between computations, which take place at multiples of a period.

    `tres` is what the resources of each job add; `nodes` are the numbers of nodes that jobs request, and the total;
    `whole` has the cores of the nodes of jobs that get these whole, which count in computations once they are planned;
    `partition` and `qos` give the factors of each job, by number; `shares` holds the usage up to the last computation,
    `recent` the usage of each association since then.
    """

    policy: Multifactor
    processors: int
    nodes: tuple[list[int], int] | None
    whole: dict[int, int]
    partition: list[int]
    qos: list[int]
    tres: list[float]
    whose: list[int]
    billing: Billing
    shares: Shares
    last: int
    recent: dict[int, float] = field(default_factory=dict)
    factor: dict[int, float] = field(init=False)

    def __post_init__(self) -> None:
        self.factor = self.shares.factors()

    def moments(self, now: int, waiting: list[Job], running: list[Job]) -> list[int]:
        """Return when the next computation is, if it changes anything."""
        period = self.policy.period
        return [(now // period + 1) * period] if waiting or (running and self.policy.fairshare) else []

    def rank_all(self, jobs: Iterable[Job]) -> None:
        """Give jobs the priorities of the last computation."""
        for job in jobs:
            job.scores[self.policy] = self.rank(job, self.last, planned=job.planned)

    def rank(self, job: Job, second: int, *, planned: bool) -> float:
        """Return the priority of a job at a second, negated: smallest first; planned, it counts whole nodes."""
        policy = self.policy
        age = policy.age * min(1.0, max(0, second - job.submit) / policy.max_age)
        fixed = policy.size * self.size(job, planned)
        for weight, factors, which in (
            (policy.partition, policy.partitions, self.partition),
            (policy.qos, policy.qoses, self.qos),
        ):
            fixed += weight * factors.get(which[job.number], 0.0)
        fixed += self.tres[job.number]
        return -float(max(1, int(age + policy.fairshare * self.factor[self.whose[job.number]] + fixed)))

    def size(self, job: Job, planned: bool) -> float:
        """Return the size factor: the share of cores or its mean with that of nodes, perhaps per minute."""
        length, processors, _ = job.pilot or (job.ranking, job.processors, 0)
        size = processors / self.processors
        if self.nodes is not None:
            asked, there = self.nodes
            if planned and job.number in self.whole:
                size = max(size, self.whole[job.number] / self.processors)  # of a pilot job, which is wider
            share = max(1, asked[job.number]) / there
            size = max(size, share) if self.policy.relative else (size + share) / 2
        if self.policy.relative:
            size /= math.ceil(length / 60)
        return min(1.0, max(0.0, 1 - size if self.policy.favor == "small" else size))

    def rate(self, job: Job) -> float:
        """Return the usage of a running job per second: of nodes that it has whole, all that they have."""
        billing, row = self.billing, int(self.billing.whole[job.number])
        parts = [float(billing.fixed[job.number])]
        if row >= 0:
            held = billing.amounts[:, [piece.node for piece in job.pieces]].sum(axis=1)
            parts += (billing.factor[job.number] * billing.weights[row] * held).tolist()
        return max(parts) if row >= 0 and billing.largest[row] else sum(parts)

    def charge(self, job: Job, until: int) -> None:
        """Charge a user for the usage of a job since the last computation."""
        whose, used = self.whose[job.number], max(0, until - max(job.start - job.stood, self.last))
        self.recent[whose] = self.recent.get(whose, 0.0) + used * self.rate(job)

    def note_end(self, job: Job, now: int) -> None:
        """Charge a user for the end of a job, if it counts; a computation in this second still sees the job."""
        if self.policy.ends == "counted" or (now % self.policy.period == 0 and now > self.last):
            self.charge(job, now)

    def compute(self, now: int, running: list[Job]) -> bool:
        """If a period is over, decay usage, add the recent usage, and compute factors; return whether it is over."""
        policy = self.policy
        second = now // policy.period * policy.period
        if second <= self.last:
            return False
        for job in running:
            self.charge(job, second)
        decay = 0.5 ** (policy.period / policy.half_life) if policy.half_life else 1.0
        kept = decay ** float((second - self.last) // policy.period - 1)  # in idle periods nothing is added
        self.shares.use(self.recent, decay, kept)
        self.factor = self.shares.factors()
        self.recent = {}
        self.last = second
        return True


def new_priority(prepared: Prepared) -> Priority | None:
    """Return priorities before the first event, None unless the policy is multifactor."""
    policy = prepared.scheduler.policy
    if not isinstance(policy, Multifactor):
        return None
    partition, qos = (prepared.column(name).tolist() for name in ("partition_id", "queue_id"))
    nodes, whole = None, dict[int, int]()
    if prepared.nodes is not None:
        asked = enumerate(_cores_of_whole(prepared.nodes, request) for request in prepared.nodes.shape.tolist())
        whole = {job: cores for job, cores in asked if cores}
        nodes = (prepared.nodes.nodes[prepared.nodes.shape].tolist(), len(prepared.nodes.cores))
    first = int(prepared.jobs["submit"][0]) // policy.period * policy.period
    who = prepared.associations
    assert who is not None
    columns = (who.parent.tolist(), who.shares.tolist(), who.user.tolist())
    shares = Shares(*columns, fair_tree=policy.shares == "tree", dampening=policy.dampening)
    whose = who.of_job.tolist()
    tres = [0.0] * len(partition) if prepared.tres is None else prepared.tres.tolist()
    return Priority(policy, prepared.processors, nodes, whole, partition, qos, tres, whose, who.rate, shares, first)


def _cores_of_whole(inputs: NodeInputs, request: int) -> int:
    """Return the cores of the nodes of a request that gets them whole, 0 for others: as many nodes as suffice."""
    if not inputs.exclusive[request]:
        return 0
    count, left = int(inputs.nodes[request]), int(inputs.tasks[request])
    if count == 0:
        for room in sorted(room_on_nodes(inputs, request).tolist(), reverse=True):
            if left <= 0 or room == 0:
                break
            count, left = count + 1, left - room
    return max(count, 1) * int(inputs.cores[inputs.allowed[inputs.eligible[request]]].max(initial=0))
