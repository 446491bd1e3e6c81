"""The engine once more, in plain Python for the reader: lists, dictionaries, sorting, no cleverness.

It is the oracle of the property tests, and the place to read what a rule means. It shares with the compiled engine the
way in and out (`prepare`, `to_schedule`) and the formulas of the policies, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from schedlab.engine.case import Case, Events, prepare
from schedlab.engine.planning import needs_planner
from schedlab.engine.scores import blame
from schedlab.engine.simulation import to_schedule
from schedlab.engine.twin_predictors import PlainPredictor, corrected, plain_predictor
from schedlab.engine.twin_serial import SerialTwin
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.backfilling import Conservative, Easy
from schedlab.scheduler.policy import FCFS, Policy
from schedlab.scheduler.scheduler import Scheduler
from schedlab.speculate.requests import Requests
from schedlab.workload.workload import Workload


def simulate_plain(
    workload: Workload,
    scheduler: str | Scheduler = "fcfs+easy",
    *,
    processors: int | None = None,
    events: Events = "batched",
    in_order: int = 0,
    requests: Requests | None = None,
) -> Schedule:
    """Replay a workload under a scheduler, slowly; parameters, result and errors as for `simulate`.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[10, 10, 5], requested_time=[10, 10, 5],
    ...                                   requested_processors=[3, 4, 1]), processors=4)
    >>> simulate_plain(jobs, "fcfs+easy").start_time.tolist()
    [0, 10, 2]
    """
    if isinstance(scheduler, str):
        scheduler = Scheduler.parse(scheduler)
    if requests is not None or scheduler.tries_again:
        from schedlab.engine.twin_attempts import simulate_attempts_plain

        return simulate_attempts_plain(workload, scheduler, processors, events, in_order, requests)
    case = prepare(workload, scheduler, processors=processors, events=events, in_order=in_order)
    if needs_planner(case):
        from schedlab.engine.twin_planner import simulate_planned_plain

        return simulate_planned_plain(workload, case)
    if events == "sc17":
        return _simulate_serially(workload, case)
    twin = ConservativeTwin(case) if isinstance(case.scheduler.backfill, Conservative) else QueueTwin(case)
    twin.run()
    predicted = np.array([job.first for job in twin.jobs], dtype=np.int64)
    start = np.array([job.start for job in twin.jobs], dtype=np.int64)
    backfilled = np.array([job.backfilled for job in twin.jobs])
    corrections = np.array([job.corrections for job in twin.jobs], dtype=np.int64)
    return to_schedule(workload, case, predicted, start, backfilled, corrections)


def _simulate_serially(workload: Workload, case: Case) -> Schedule:
    twin = SerialTwin(case)
    twin.run()
    start = np.array([job.start for job in twin.jobs])
    backfilled = np.array([job.backfilled for job in twin.jobs])
    return to_schedule(workload, case, case.jobs["estimate"], start, backfilled, np.zeros(len(start), dtype=np.int64))


@dataclass(eq=False)
class Job:
    """A job: `number` counts submissions.

    `estimate` is the run time that the scheduler assumes now, `first` the one that it assumed when the job was
    submitted. `expiry` is the second in which the job will outlive its prediction, None if it will not.
    """

    number: int
    submit: int
    duration: int
    estimate: int
    processors: int
    user: int
    request: int = 0
    first: int = 0
    expiry: int | None = None
    start: int = -1
    backfilled: bool = False
    corrections: int = 0
    completion: tuple[int, int] = (0, 0)
    reserved: int = -1
    stamp: int = -1

    def __post_init__(self) -> None:
        self.request = self.first = self.estimate

    @property
    def expected_end(self) -> int:
        """When the scheduler expects a started job to end."""
        return self.start + self.estimate


@dataclass
class Twin:
    """What both kinds of scheduler share: the clock, the machine and the two event orders."""

    case: Case
    jobs: list[Job] = field(init=False)
    now: int = 0
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    started: int = 0
    predictor: PlainPredictor | None = field(init=False)

    def __post_init__(self) -> None:
        columns = [self.case.jobs[name].tolist() for name in ("submit", "duration", "estimate", "processors")]
        columns.append(self.case.column("user_id").tolist())
        self.jobs = [Job(number, *values) for number, values in enumerate(zip(*columns, strict=True))]
        self.predictor = plain_predictor(self.case)

    def run(self) -> None:
        """Simulate until every job has ended."""
        to_come = list(self.jobs)
        while to_come or self.running or self.waiting:
            times = [job.submit for job in to_come[:1]] + [job.completion[0] for job in self.running]
            times += self.reserved_starts()
            if not self.case.one_by_one:
                times += [job.expiry for job in self.running if job.expiry is not None]
            self.now = min(times)
            completed = sorted(
                (job for job in self.running if job.completion[0] == self.now), key=lambda job: job.completion
            )
            submitted = [job for job in to_come if job.submit == self.now]
            if self.case.one_by_one:
                submitted = submitted[:1]
                completed = [] if submitted else completed[:1]
            del to_come[: len(submitted)]
            replan = self.happen(completed, submitted)
            if self.case.gated and submitted and submitted[0].processors > self.free():
                self.waiting += submitted
            else:
                self.schedule(completed, submitted, replan)

    def happen(self, completed: list[Job], submitted: list[Job]) -> bool:
        """Complete, correct and predict; return whether a prediction was corrected."""
        corrections = self.correct() if self.case.one_by_one else 0
        for job in completed:
            self.running.remove(job)
            if self.predictor is not None:
                self.predictor.learn(job, self.now)
        if not self.case.one_by_one:
            corrections = self.correct()
        if self.predictor is not None:
            for job in submitted:
                job.estimate = job.first = self.predictor.predict(job, self.now, self.running)
        return corrections > 0

    def correct(self) -> int:
        """Correct the predictions that have expired; return how many."""
        count = 0
        for job in self.running:
            while job.expiry is not None and job.expiry <= self.now:
                assert self.case.scheduler.correction is not None
                longer = corrected(job, self.case.scheduler.correction)
                job.expiry = None
                if longer > job.estimate:
                    job.estimate = longer
                    job.corrections += 1
                    count += 1
                    self.watch(job)
        return count

    def watch(self, job: Job) -> None:
        """Note when a running job will outlive its prediction, if it will."""
        if self.predictor is not None and job.estimate < job.duration:
            job.expiry = job.expected_end

    def reserved_starts(self) -> list[int]:
        """Return when the scheduler wants to be called besides submissions and completions."""
        return []

    def schedule(self, completed: list[Job], submitted: list[Job], replan: bool) -> None:
        """Make one scheduling pass."""
        raise NotImplementedError

    def seen(self) -> list[Job]:
        """Return the running jobs as the scheduler sees them."""
        if self.case.one_by_one:
            return [job for job in self.running if job.expected_end > self.now]
        return self.running

    def free(self) -> int:
        """Return how many processors the scheduler believes free."""
        return self.case.processors - sum(job.processors for job in self.seen())

    def begin(self, job: Job) -> None:
        """Start a job now."""
        job.start = self.now
        job.completion = (self.now + job.duration, self.started)
        self.started += 1
        self.waiting.remove(job)
        self.running.append(job)
        self.watch(job)

    def in_order_of(self, policy: Policy, jobs: list[Job]) -> list[Job]:
        """Sort jobs by score, then by submission."""
        if isinstance(policy, FCFS) or not jobs:
            return sorted(jobs, key=lambda job: job.number)
        scores = policy.scores(
            np.array([job.estimate for job in jobs], dtype=np.int64),
            np.array([job.processors for job in jobs], dtype=np.int64),
            np.array([job.submit - self.jobs[0].submit for job in jobs], dtype=np.int64),
            np.array([self.now - job.submit for job in jobs], dtype=np.int64),
        )
        if np.isnan(scores).any():
            blame(policy, self.case.jobs, jobs[int(np.argmax(np.isnan(scores)))].number, self.now)
        return [job for _, _, job in sorted(zip(scores, [job.number for job in jobs], jobs, strict=True))]


class QueueTwin(Twin):
    """No backfilling, and EASY."""

    def schedule(self, completed: list[Job], submitted: list[Job], replan: bool) -> None:
        """Start heads while they fit; then, with EASY, candidates that do not delay the blocked head."""
        self.waiting += submitted
        while self.waiting:
            head = self.queue(self.case.scheduler.policy)[0]
            if head.processors <= self.free():
                self.begin(head)
                continue
            chosen = self.candidate(head)
            if chosen is None:
                return
            chosen.backfilled = True
            self.begin(chosen)

    def queue(self, policy: Policy) -> list[Job]:
        """Return the visible waiting jobs in order: starving ones by submission, then the others by the policy."""
        by_submission = self.by_submission()
        if self.started < self.case.in_order:
            return by_submission
        visible = by_submission[: self.case.scheduler.window]
        limit = self.case.scheduler.starvation
        starving = [job for job in visible if limit is not None and self.now - job.submit > limit]
        return starving + self.in_order_of(policy, [job for job in visible if job not in starving])

    def by_submission(self) -> list[Job]:
        """Return the waiting jobs in the order of their submission."""
        return sorted(self.waiting, key=lambda job: job.number)

    def shadow(self, head: Job) -> int:
        """Return when the blocked head is expected to fit."""
        shadow = self.now
        for job in sorted(self.seen(), key=lambda job: job.expected_end):
            if self.free_at(shadow) >= head.processors:
                break
            shadow = max(shadow, job.expected_end)
        return shadow

    def candidate(self, head: Job) -> Job | None:
        """Return the first waiting job that EASY may start before the blocked head."""
        scheduler = self.case.scheduler
        if not isinstance(scheduler.backfill, Easy) or self.started < self.case.in_order:
            return None
        shadow = self.shadow(head)
        extra = self.free_at(shadow) - head.processors
        for job in self.queue(scheduler.order or scheduler.policy):
            in_time = self.now + job.estimate <= shadow
            if job is not head and job.processors <= self.free() and (in_time or job.processors <= extra):
                return job
        return None

    def free_at(self, second: int) -> int:
        """Return the processors expected to be free then, if nobody else starts."""
        return self.free() + sum(job.processors for job in self.seen() if job.expected_end <= second)


class ConservativeTwin(Twin):
    """Conservative backfilling: everybody has a reservation."""

    reservations = 0

    def reserved_starts(self) -> list[int]:
        """Return when waiting jobs are to start."""
        return [job.reserved for job in self.waiting if job.reserved >= 0]

    def schedule(self, completed: list[Job], submitted: list[Job], replan: bool) -> None:
        """Compress after completions, reserve for new jobs, start those whose time has come.

        After a correction, and when a job outlives what it was expected to run at most, all is planned anew.
        """
        overrun = [job for job in self.seen() if job.expected_end <= self.now]
        for job in overrun:
            job.estimate = max(1, 2 * (self.now - job.start))
            job.corrections += 1
        if overrun or replan:
            self.waiting += submitted
            self.waiting = self.in_order_of(self.case.scheduler.policy, self.waiting)
            before = {job: job.reserved for job in self.waiting}
            for job in self.waiting:
                job.reserved = -1
            for job in self.waiting:
                self.reserve(job, before[job])
        else:
            if completed:
                self.waiting = self.in_order_of(self.case.scheduler.policy, self.waiting)
                for job in self.waiting:
                    if job.reserved > self.now:
                        before_moving, job.reserved = job.reserved, -1
                        self.reserve(job, before_moving)
            for job in submitted:
                self.waiting.append(job)
                self.reserve(job, -1)
        self.start_due()

    def start_due(self) -> None:
        """Start the jobs whose reserved time has come, in the order in which their reservations were set."""
        for job in sorted(self.waiting, key=lambda job: job.stamp):
            if 0 <= job.reserved <= self.now:
                ahead = self.waiting[: self.waiting.index(job)]
                job.backfilled |= any(not 0 <= other.reserved <= self.now for other in ahead)
                self.begin(job)

    def reserve(self, job: Job, before: int) -> None:
        """Give a job its earliest slot: now, or when something that occupies processors ends."""
        ends = {busy_until for _, busy_until, _ in self.bookings(without=job)}
        job.reserved = next(
            second for second in sorted({self.now} | {end for end in ends if end > self.now}) if self.fits(job, second)
        )
        if job.reserved != before:
            job.stamp = self.reservations
            self.reservations += 1

    def fits(self, job: Job, second: int) -> bool:
        """Return whether a job could run from this second on without disturbing anybody."""
        bookings = self.bookings(without=job)
        moments = {second} | {begin for begin, _, _ in bookings if second <= begin < second + job.estimate}
        return all(
            self.case.processors - sum(q for begin, end, q in bookings if begin <= moment < end) >= job.processors
            for moment in moments
        )

    def bookings(self, without: Job | None) -> list[tuple[int, int, int]]:
        """Return (begin, end, processors) of all running and reserved jobs but one."""
        running = [(job.start, job.expected_end, job.processors) for job in self.seen()]
        reserved = [
            (job.reserved, job.reserved + job.estimate, job.processors)
            for job in self.waiting
            if job is not without and job.reserved >= 0
        ]
        return running + reserved
