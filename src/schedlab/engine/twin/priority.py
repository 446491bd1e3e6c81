"""Slurm's multifactor priority: ages, and what users have used."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from schedlab.engine.prepared import Prepared
from schedlab.engine.twin.job import Job
from schedlab.scheduler.multifactor import Multifactor


@dataclass
class Priority:
    """Priorities stand still between computations, which come at multiples of a period.

    `nodes` are those that each job asks for, and how many there are; `partition`, `qos` give those of each job, by
    number; `usage` is what users have used, decayed up to the last computation, `recent` what jobs that have ended used
    since then.
    """

    policy: Multifactor
    processors: int
    nodes: tuple[list[int], int] | None
    partition: list[int]
    qos: list[int]
    users: list[int]
    last: int
    usage: dict[int, float] = field(init=False)
    recent: dict[int, int] = field(init=False)
    factor: dict[int, float] = field(init=False)

    def __post_init__(self) -> None:
        self.usage = dict.fromkeys(self.users, 0.0)
        self.recent = dict.fromkeys(self.users, 0)
        self.factor = dict.fromkeys(self.users, 1.0)

    def moments(self, now: int, waiting: list[Job], running: list[Job]) -> list[int]:
        """Return when the next computation is, if it changes anything."""
        period = self.policy.period
        return [(now // period + 1) * period] if waiting or (running and self.policy.fairshare) else []

    def rank(self, job: Job, second: int) -> float:
        """Return the priority of a job at a moment, with its sign changed: smallest first."""
        policy = self.policy
        age = policy.age * min(1.0, max(0, second - job.submit) / policy.max_age)
        fixed = policy.size * self.size(job)
        for weight, factors, which in (
            (policy.partition, policy.partitions, self.partition),
            (policy.qos, policy.qoses, self.qos),
        ):
            fixed += weight * factors.get(which[job.number], 0.0)
        return -float(max(1, int(age + policy.fairshare * self.factor[job.user] + fixed)))

    def size(self, job: Job) -> float:
        """Return the size factor: the share of cores or its mean with that of nodes, perhaps per minute."""
        length, processors, _ = job.pilot or (job.ranking, job.processors, 0)
        size = processors / self.processors
        if self.nodes is not None:
            asked, there = self.nodes
            share = max(1, asked[job.number]) / there
            size = max(size, share) if self.policy.relative else (size + share) / 2
        if self.policy.relative:
            size /= math.ceil(length / 60)
        return min(1.0, max(0.0, 1 - size if self.policy.favor == "small" else size))

    def charge(self, job: Job, until: int) -> None:
        """Charge a user for what a job has used since the last computation."""
        self.recent[job.user] += (until - max(job.start, self.last)) * job.processors

    def compute(self, now: int, running: list[Job]) -> bool:
        """If a period is over, let usage decay, add what is new, and weigh users by it; return whether one is."""
        policy = self.policy
        second = now // policy.period * policy.period
        if second <= self.last:
            return False
        for job in running:
            self.charge(job, second)
        decay = 0.5 ** (policy.period / policy.half_life) if policy.half_life else 1.0
        kept = decay ** float((second - self.last) // policy.period - 1)  # in idle periods nothing is added
        self.usage = {user: (used * decay + self.recent[user]) * kept for user, used in self.usage.items()}
        self.recent = dict.fromkeys(self.users, 0)
        self.last = second
        total = sum(self.usage.values())
        for user, used in self.usage.items():
            if policy.shares == "tree":
                above = sum(other < used for other in self.usage.values())
                self.factor[user] = (len(self.users) - above) / len(self.users)
            else:
                self.factor[user] = 1.0 if total == 0 else 2.0 ** (-used / total * len(self.users))
        return True


def new_priority(prepared: Prepared) -> Priority | None:
    """Return priorities before the first event, None if another policy orders the queue."""
    policy = prepared.scheduler.policy
    if not isinstance(policy, Multifactor):
        return None
    partition, qos, users = (prepared.column(name).tolist() for name in ("partition_id", "queue_id", "user_id"))
    nodes = None
    if prepared.nodes is not None:
        nodes = (prepared.nodes.nodes[prepared.nodes.shape].tolist(), len(prepared.nodes.cores))
    first = int(prepared.jobs["submit"][0]) // policy.period * policy.period
    return Priority(policy, prepared.processors, nodes, partition, qos, sorted(set(users)), first)
