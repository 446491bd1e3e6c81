"""Jobs that fail and come back, once more in plain Python for the reader."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from schedlab.engine.attempts import RUN
from schedlab.engine.case import Events
from schedlab.engine.simulation import to_schedule
from schedlab.engine.stochastic import prepare_attempts
from schedlab.engine.twin import ConservativeTwin, Job, QueueTwin, Twin
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Conservative, Easy
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import NO_LAW, Requests
from schedlab.workload.workload import Workload


def simulate_attempts_plain(
    workload: Workload,
    scheduler: Scheduler,
    processors: int | None,
    events: Events,
    in_order: int,
    requests: Requests | None,
) -> Schedule:
    """Replay jobs that may fail at their requests; parameters as for `simulate`."""
    asked, case = prepare_attempts(workload, scheduler, processors, events, in_order, requests)
    first = asked.lengths[asked.offsets[:-1]]
    case.jobs["estimate"] = first
    twin = (TryingPlanTwin if isinstance(scheduler.backfill, Conservative) else TryingQueueTwin)(case, requests=asked)
    twin.run()
    runs = np.array(sorted((tuple(run) for run in twin.runs), key=lambda run: run[1]), dtype=RUN)
    last = {run["job"]: run for run in runs}
    start = np.array([last[job.number]["start"] for job in twin.jobs])
    case.jobs["duration"] = [last[job.number]["end"] - last[job.number]["start"] for job in twin.jobs]
    killed = np.array([not last[job.number]["done"] for job in twin.jobs])
    backfilled = np.array([job.backfilled for job in twin.jobs])
    if case.order is not None:
        killed = killed[np.argsort(case.order)]
        runs["job"] = case.order[runs["job"]]
    never = np.zeros(len(start), dtype=np.int64)
    schedule = to_schedule(workload, case._replace(killed=killed), first, start, backfilled, never)
    return replace(schedule, runs=runs)


class PlainRun(NamedTuple):
    """A run of a job."""

    job: int
    start: int
    end: int
    request: int
    speculative: bool
    done: bool


@dataclass
class Wish:
    """What a job asks for."""

    need: int
    sequence: list[int]
    most: int
    growth: float
    law: int
    application: int
    asked: int = 0
    known: int = 0
    length: int = 0
    first: bool = False
    speculative: bool = False
    entered: int = 0

    def next(self) -> int | None:
        """Return the request after a failure, or None if the job is given up."""
        longer = [request for request in self.sequence if request > self.asked and request > self.known]
        if longer:
            return longer[0]
        if self.growth <= 0 or self.asked >= self.most:
            return None
        return min(self.most, max(self.asked + 1, int(self.asked * self.growth)))


@dataclass
class Trying(Twin):
    """What is added to a twin whose jobs may fail; `requests` are in order of submission."""

    requests: Requests = field(kw_only=True)
    wishes: dict[Job, Wish] = field(init=False)
    runs: list[PlainRun] = field(default_factory=list)
    latest: dict[int, list[int]] = field(default_factory=dict)
    returned: list[Job] = field(default_factory=list)
    entries: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.origin = self.jobs[0].submit
        sequences = [self.requests.lengths[a:b].tolist() for a, b in pairwise(self.requests.offsets.tolist())]
        columns = [getattr(self.requests, name).tolist() for name in ("most", "growth", "law", "application")]
        self.wishes = {
            job: Wish(job.duration, *wish) for job, *wish in zip(self.jobs, sequences, *columns, strict=True)
        }
        for job, wish in self.wishes.items():
            self.ask(job, wish.sequence[0])

    def ask(self, job: Job, request: int) -> None:
        """Let a job ask for a run time by its own choice."""
        self.wishes[job].asked = request
        self.run_for(job, request)

    def run_for(self, job: Job, length: int) -> None:
        """Set how long the next run lasts at most."""
        job.estimate = self.wishes[job].length = length
        job.duration = min(self.wishes[job].need, length)

    def happen(self, completed: list[Job], submitted: list[Job]) -> bool:
        """End runs; jobs that are not done come back. Then let the new ones choose what they ask for."""
        super().happen(completed, submitted)
        self.returned = []
        for job in completed:
            self.end(job)
        for job in submitted:
            wish = self.wishes[job]
            known = self.latest.get(wish.application, [])[-self.requests.history :]
            if self.requests.history and wish.application >= 0 and known:
                wish.sequence = []
                self.ask(job, min(wish.most, max(1, *known)))
        for job in [*self.returned, *submitted]:
            self.wishes[job].entered = self.entries
            self.entries += 1
        submitted[:0] = self.returned
        return False

    def end(self, job: Job) -> None:
        """See what became of a run."""
        wish = self.wishes[job]
        done = self.now - job.start >= wish.need
        self.runs.append(PlainRun(job.number, job.start, self.now, wish.length, wish.speculative, done))
        wish.first = False
        if done:
            if wish.application >= 0:
                self.latest.setdefault(wish.application, []).append(wish.need)
            self.cancel(job)
            return
        wish.known = max(wish.known, wish.length)
        if wish.speculative:
            wish.speculative, wish.first = False, True
            self.ask(job, wish.asked)
            self.waiting.append(job)
        else:
            self.cancel(job)
            request = wish.next()
            if request is not None:
                self.ask(job, request)
                job.submit = self.now
                self.returned.append(job)

    def cancel(self, job: Job) -> None:
        """Give up a reservation."""
        job.reserved = -1

    def key(self, job: Job) -> int:
        """Return what decides between equal scores."""
        return self.wishes[job].entered

    def in_order_of(self, policy: Policy, jobs: list[Job]) -> list[Job]:
        """Sort by score; who has failed speculatively comes first; equal ones by submission."""
        if not jobs:
            return []
        scores = policy.scores(
            np.array([job.estimate for job in jobs], dtype=np.int64),
            np.array([job.processors for job in jobs], dtype=np.int64),
            np.array([job.submit - self.origin for job in jobs], dtype=np.int64),
            np.array([self.now - job.submit for job in jobs], dtype=np.int64),
        )
        score = dict(zip(jobs, scores.tolist(), strict=True))
        score |= {job: -np.inf for job in jobs if self.wishes[job].first}
        return sorted(jobs, key=lambda job: (score[job], self.key(job)))

    def speculate(self, job: Job, length: int) -> None:
        """Run a job speculatively."""
        self.wishes[job].speculative = True
        self.run_for(job, length)
        job.backfilled = True
        self.begin(job)

    def share(self, job: Job, length: int) -> float:
        """Return the expected share of the free processors, for so long, that a speculative run would use well."""
        wish, laws = self.wishes[job], self.requests.laws
        if wish.law == NO_LAW or length <= wish.known or job.processors > self.free():
            return -1.0
        grid = laws.begin[wish.law] + laws.step[wish.law] * np.arange(laws.below.shape[1])
        below = np.interp(wish.known, grid, laws.below[wish.law], left=0.0)
        part, more = (np.interp(second, grid, laws.part[wish.law], left=0.0) for second in (wish.known, length))
        if below >= 1:
            return -1.0
        return float(job.processors * (more - part) / ((1 - below) * self.free() * length))

    def best(self, lengths: dict[Job, int]) -> Job | None:
        """Return the job whose speculative run would use most of the gap, if that is enough."""
        retries = self.case.scheduler.retries
        limit = None if retries is None else retries.speculation
        if limit is None:
            return None
        shares = {job: self.share(job, length) for job, length in lengths.items()}
        good = [job for job in lengths if shares[job] > limit]
        return max(good, key=lambda job: (shares[job], job.processors), default=None)


class TryingQueueTwin(Trying, QueueTwin):
    """No backfilling, and EASY, with jobs that may fail."""

    def schedule(self, completed: list[Job], submitted: list[Job], replan: bool) -> None:
        """Make a pass, then use the gap before the head's reservation."""
        super().schedule(completed, submitted, replan)
        while self.waiting and self.free() > 0 and self.started >= self.case.in_order:
            head = self.queue(self.case.scheduler.policy)[0]
            visible = self.by_submission()[: self.case.scheduler.window]
            chosen = self.best({job: self.shadow(head) - self.now for job in visible})
            if not isinstance(self.case.scheduler.backfill, Easy) or chosen is None:
                return
            self.speculate(chosen, self.shadow(head) - self.now)

    def by_submission(self) -> list[Job]:
        """Return the waiting jobs in the order in which they were submitted last."""
        return sorted(self.waiting, key=self.key)


class TryingPlanTwin(Trying, ConservativeTwin):
    """Conservative backfilling with jobs that may fail; reservations move forward, or stand in rounds."""

    round_end = 0

    def key(self, job: Job) -> int:
        """Return the job's place in the trace: it decides between equal scores in a plan."""
        return job.number

    def schedule(self, completed: list[Job], submitted: list[Job], replan: bool) -> None:
        """Plan, start, then use gaps."""
        if self.case.scheduler.backfill == Conservative(fixed=True):
            self.schedule_round(submitted)
        else:
            super().schedule(completed, submitted, replan)
        while self.waiting and self.free() > 0:
            lengths = {job: self.gap_for(job) for job in self.waiting}
            chosen = self.best(lengths)
            if chosen is None:
                return
            self.speculate(chosen, lengths[chosen])

    def schedule_round(self, submitted: list[Job]) -> None:
        """Reserve within the round, or begin a new one when nobody runs and nobody has a reservation."""
        self.waiting += submitted
        fresh = not self.running and all(job.reserved < 0 for job in self.waiting)
        self.waiting = self.in_order_of(self.case.scheduler.policy, self.waiting)
        if fresh:
            self.round_end = self.now
        for job in self.waiting:
            if job.reserved < 0:
                self.reserve(job, -1)
                ends = job.reserved + job.estimate
                if fresh:
                    self.round_end = max(self.round_end, ends)
                elif ends > self.round_end:
                    job.reserved = -1
        self.start_due()

    def gap_for(self, job: Job) -> int:
        """Return how long a job could run from now on without disturbing anybody, its own reservation included."""
        limits = [job.reserved] if job.reserved >= 0 else []
        if self.case.scheduler.backfill == Conservative(fixed=True):
            limits.append(self.round_end)
        ends = min(limits)
        busy = self.bookings(without=None)
        for second in sorted({self.now, *(begin for begin, _, _ in busy if self.now < begin < ends)}):
            if self.case.processors - sum(q for begin, end, q in busy if begin <= second < end) < job.processors:
                return max(0, second - self.now)
        return ends - self.now

    def bookings(self, without: Job | None) -> list[tuple[int, int, int]]:
        """Return (begin, end, processors) of all running and reserved jobs but one; who speculates is both."""
        running = [(job.start, job.expected_end, job.processors) for job in self.running]
        both = [job for job in self.running if self.wishes[job].speculative]
        reserved = [
            (job.reserved, job.reserved + self.wishes[job].asked, job.processors)
            for job in [*self.waiting, *both]
            if job is not without and job.reserved >= 0
        ]
        return running + reserved
