"""Slurm's priority and passes, and jobs that wait for others, once more in plain Python for the reader."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.case import Case
from schedlab.engine.dependent import as_seen
from schedlab.engine.planner import MINUTE, Rules
from schedlab.engine.planning import rules_of
from schedlab.engine.priority import fixed_priorities
from schedlab.engine.simulation import to_schedule, with_eligible
from schedlab.engine.twin import Job, Twin
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.multifactor import Multifactor
from schedlab.workload.workload import Workload


def simulate_planned_plain(workload: Workload, case: Case) -> Schedule:
    """Replay a case that `schedlab.engine.planning.needs_planner` takes, slowly."""
    twin = PlannerTwin(case)
    twin.run()
    start = np.array([job.start for job in twin.jobs], dtype=np.int64)
    backfilled = np.array([job.backfilled for job in twin.jobs])
    eligible = np.array([twin.eligible[job] for job in twin.jobs], dtype=np.int64)
    never = np.zeros(len(start), dtype=np.int64)
    return with_eligible(to_schedule(workload, case, case.jobs["estimate"], start, backfilled, never), case, eligible)


@dataclass
class PlainPriority:
    """Multifactor priorities; `users` gives whose each job is, by number."""

    policy: Multifactor
    fixed: list[float]
    users: list[int]
    last: int
    usage: dict[int, float] = field(init=False)
    recent: dict[int, int] = field(init=False)
    factor: dict[int, float] = field(init=False)

    def __post_init__(self) -> None:
        everybody = sorted(set(self.users))
        self.usage = dict.fromkeys(everybody, 0.0)
        self.recent = dict.fromkeys(everybody, 0)
        self.factor = dict.fromkeys(everybody, 1.0)

    def of(self, job: Job, second: int) -> int:
        """Return the priority of a job at a moment."""
        policy = self.policy
        age = min(1.0, max(0, second - job.submit) / policy.max_age)
        fair = policy.fairshare * self.factor[self.users[job.number]]
        return max(1, int(policy.age * age + fair + self.fixed[job.number]))

    def charge(self, job: Job, until: int) -> None:
        """Charge a user for what a job has used since the last computation."""
        self.recent[self.users[job.number]] += (until - max(job.start, self.last)) * job.processors

    def compute(self, second: int, running: list[Job]) -> None:
        """Let usage decay, add what is new, and weigh users by it."""
        policy = self.policy
        for job in running:
            self.charge(job, second)
        decay = 0.5 ** (policy.period / policy.half_life) if policy.half_life else 1.0
        kept = decay ** float((second - self.last) // policy.period - 1)  # in idle periods nothing is added
        self.usage = {user: (used * decay + self.recent[user]) * kept for user, used in self.usage.items()}
        self.recent = dict.fromkeys(self.recent, 0)
        self.last = second
        users, total = len(self.usage), sum(self.usage.values())
        for user, used in self.usage.items():
            if policy.shares == "tree":
                self.factor[user] = (users - sum(other < used for other in self.usage.values())) / users
            else:
                self.factor[user] = 1.0 if total == 0 else 2.0 ** (-used / total * users)


@dataclass
class PlannerTwin(Twin):
    """A main pass after events, a backfill pass now and then."""

    rules: Rules = field(init=False)
    seen_as: NDArray[Any] = field(init=False)
    origin: int = field(init=False)
    priority: PlainPriority | None = None
    eligible: dict[Job, int] = field(default_factory=dict)
    held: list[Job] = field(default_factory=list)
    parents: dict[Job, dict[Job, int]] = field(init=False)
    workflow: dict[Job, int] = field(init=False)
    rank: dict[Job, float] = field(default_factory=dict)
    main_due: int | None = None
    full_due: int | None = None
    last_main: int | None = None
    changed: bool = False
    last_change: int = -(10**15)
    last_backfill: int = 1 - 10**15

    def __post_init__(self) -> None:
        super().__post_init__()
        case = self.case
        self.rules = rules_of(case.scheduler)
        self.seen_as = as_seen(case)
        self.origin = self.jobs[0].submit
        rows = range(len(self.jobs)) if case.order is None else case.order.tolist()
        job_of = dict(zip(rows, self.jobs, strict=True))
        self.parents = {job: {} for job in self.jobs}
        after, workflows = case.workload.dependencies, case.workload.workflows
        if after is not None:
            for child, parent, delay in zip(
                after.children.tolist(), after.parents.tolist(), after.delay.tolist(), strict=True
            ):
                self.parents[job_of[child]][job_of[parent]] = delay
        self.workflow = {}
        if workflows is not None:
            self.workflow = {job_of[row]: int(workflows.number[row]) for row in np.flatnonzero(workflows.aware)}
        policy = case.scheduler.policy
        if isinstance(policy, Multifactor):
            fixed, users = fixed_priorities(case, policy).tolist(), case.column("user_id").tolist()
            self.priority = PlainPriority(policy, fixed, users, self.jobs[0].submit // policy.period * policy.period)

    def run(self) -> None:
        """Simulate until every job has ended."""
        to_come = list(self.jobs)
        while to_come or self.running or self.waiting or self.held:
            self.now = min(self.moments(to_come))
            self.note_idle_passes()
            completed = [job for job in self.running if job.completion[0] == self.now]
            for job in completed:
                self.running.remove(job)
                if self.priority is not None:
                    self.priority.charge(job, self.now)
            submitted = [job for job in to_come if job.submit == self.now]
            del to_come[: len(submitted)]
            changed = self.enter(submitted)
            self.compute()
            if completed or changed:
                self.changed, self.last_change = True, self.now
                due = self.now if self.last_main is None else max(self.now, self.last_main + self.rules.delay)
                self.main_due = due if self.main_due is None else min(self.main_due, due)
            self.passes()

    def note_idle_passes(self) -> None:
        """Count the backfill passes before now for which nobody waited: one after a change."""
        interval = self.rules.interval if self.rules.backfills else 0
        while interval and self.last_backfill + interval < self.now and self.last_change >= self.last_backfill:
            self.changed = False
            self.last_backfill += interval

    def moments(self, to_come: list[Job]) -> list[int]:
        """Return the seconds in which something happens."""
        moments = [job.submit for job in to_come[:1]] + [job.completion[0] for job in self.running]
        moments += [release for job in self.held if (release := self.release(job)) is not None]
        if self.priority is not None and (self.waiting or (self.running and self.priority.policy.fairshare)):
            period = self.priority.policy.period
            moments.append((self.now // period + 1) * period)
        if self.waiting:
            moments += [due for due in (self.main_due, self.full_due) if due is not None]
            if self.rules.backfills and (self.changed or self.rules.interval):
                moments.append(max(self.now + 1, self.last_backfill + self.rules.interval))
        return moments

    def release(self, job: Job) -> int | None:
        """Return when a held job may start, None while that is open."""
        ends = [
            parent.completion[0] + delay if parent.start >= 0 and parent not in self.running else None
            for parent, delay in self.parents[job].items()
        ]
        return None if None in ends else max([job.submit, *(end for end in ends if end is not None)])

    def enter(self, submitted: list[Job]) -> bool:
        """Let jobs enter the queue; return whether any did, or became ready in it."""
        entering = [job for job in submitted if job in self.workflow]
        self.held += submitted
        released = [job for job in self.held if (when := self.release(job)) is not None and when <= self.now]
        for job in released:
            self.held.remove(job)
            self.eligible[job] = self.now
            if job not in self.workflow:
                if not self.rules.always:
                    job.submit = self.now
                entering.append(job)
        for job in entering:
            self.rank[job] = self.rank_of(job, self.now)
        self.waiting += entering
        self.sort()
        return bool(released or entering)

    def rank_of(self, job: Job, second: int) -> float:
        """Return what jobs are ordered by, smallest first."""
        if self.priority is not None:
            return -self.priority.of(job, second)
        seen = self.seen_as[job.number]
        columns = (seen["estimate"], seen["processors"], job.submit - self.origin, self.now - job.submit)
        return float(self.case.scheduler.policy.scores(*(np.array([value]) for value in columns))[0])

    def sort(self) -> None:
        """Sort the waiting jobs."""
        self.waiting.sort(key=lambda job: (self.rank[job], job.submit, job.number))

    def compute(self) -> None:
        """Compute priorities, if a period is over."""
        if self.priority is None:
            return
        boundary = self.now // self.priority.policy.period * self.priority.policy.period
        if boundary > self.priority.last:
            self.priority.compute(boundary, self.running)
            for job in self.waiting:
                self.rank[job] = self.rank_of(job, boundary)
                self.changed, self.last_change = True, self.now
            self.sort()

    def passes(self) -> None:
        """Make the passes that are due."""
        rules = self.rules
        main = any(due is not None and due <= self.now for due in (self.main_due, self.full_due))
        due = self.changed or (self.waiting and rules.interval)
        backfill = rules.backfills and due and self.last_backfill + rules.interval <= self.now
        if backfill:
            self.changed = False
            self.last_backfill = self.now
            if self.waiting:
                self.last_change = self.now
        if not self.waiting or not (main or backfill):
            return
        if rules.timed:
            self.rank |= {job: self.rank_of(job, self.now) for job in self.waiting}
            self.sort()
        if main:
            self.main_pass()
        if backfill and self.waiting:
            self.backfill_pass()

    def main_pass(self) -> None:
        """Start jobs in order, up to the first that does not fit."""
        whole = self.full_due is not None and self.full_due <= self.now
        self.main_due, self.full_due, self.last_main = None, None, self.now
        ready = [job for job in self.waiting if job in self.eligible]
        for seen, job in enumerate(ready):
            if not whole and seen == self.rules.queue_depth:
                self.full_due = (self.now // MINUTE + 1) * MINUTE
                return
            if job.processors > self.free():
                return
            self.begin(job)
            self.last_change = self.now

    def backfill_pass(self) -> None:
        """Plan jobs in order, each at its earliest time; start them, or reserve."""
        rules = self.rules
        busy = [(self.now, job.expected_end, job.processors) for job in self.running]
        planned: dict[Job, int] = {}
        blocked, seen, reserved = False, 0, 0
        opened, previous = 0, None
        for job in list(self.waiting):
            another = job not in self.workflow or self.workflow[job] != previous
            previous = self.workflow.get(job)
            opened += another and job in self.workflow
            earliest = self.now if job in self.eligible else self.after_parents(job, planned)
            begins = None
            if earliest is not None and (job not in self.workflow or opened <= rules.wf_depth):
                if another or rules.tasks_count:
                    if seen == rules.depth:
                        return
                    seen += 1
                begins = self.slot(busy, job, earliest)
            if begins == self.now and job in self.eligible and job.processors <= self.free():
                job.backfilled = blocked
                self.begin(job)
                planned[job] = job.expected_end
                busy.append((self.now, job.expected_end, job.processors))
                continue
            blocked |= job in self.eligible
            if begins is not None and begins <= self.now + rules.window and reserved < rules.reserve:
                reserved += 1
                planned[job] = begins + job.estimate
                rounded = [second // rules.resolution * rules.resolution for second in (begins, planned[job])]
                busy.append((max(self.now, rounded[0]), rounded[1], job.processors))

    def after_parents(self, job: Job, planned: dict[Job, int]) -> int | None:
        """Return when a task that waits for others could start by the plan, None if the plan does not say."""
        if not self.rules.planned_tasks:
            return None
        earliest = self.now
        for parent, delay in self.parents[job].items():
            if parent in planned:
                ends = planned[parent]
            elif parent in self.running:
                ends = max(self.now, parent.expected_end)
            elif parent.start >= 0:
                ends = parent.completion[0]
            else:
                return None
            earliest = max(earliest, ends + delay)
        return earliest

    def slot(self, busy: list[tuple[int, int, int]], job: Job, earliest: int) -> int:
        """Return the earliest second from which a job would disturb nobody."""
        moments = sorted({earliest} | {end for _, end, _ in busy if end > earliest})
        return next(second for second in moments if self.fits(busy, job, second))

    def fits(self, busy: list[tuple[int, int, int]], job: Job, second: int) -> bool:
        """Return whether a job could run from this second on."""
        moments = {second} | {begin for begin, _, _ in busy if second <= begin < second + job.estimate}
        return all(
            self.case.processors - sum(q for begin, end, q in busy if begin <= moment < end) >= job.processors
            for moment in moments
        )
