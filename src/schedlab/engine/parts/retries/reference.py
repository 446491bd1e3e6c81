"""Jobs that fail at their requests and are resubmitted, and speculative runs in gaps that no request fits."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.parts.checkpoints.reference import Checkpoints, checkpoints_of
from schedlab.engine.reference.job import Job
from schedlab.schedule.runs import CAUSES, RUN
from schedlab.speculate.requests import NO_DISTRIBUTION, Requests

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared


@dataclass
class Run:
    """A run of a job, for which it asks `length` seconds; `cause` is a number of what ended it, 0 for itself."""

    job: int
    start: int
    end: int
    length: int
    speculative: bool
    done: bool
    cause: int = 0
    saved: int = 0
    overhead: int = 0


@dataclass
class Wish:
    """The sequence of requests of a job, at most `most`; beyond the sequence, requests grow.

    `asked` is the present one, in work from the begin on. `known` are seconds that it is known to exceed, `run` is its
    present run. It is `first` of all after a failed speculative run,
    and `cut` is whether its last run was over before its time.
    """

    sequence: list[int]
    most: int
    growth: float
    distribution: int
    application: int
    asked: int = 0
    known: int = 0
    run: Run | None = None
    first: bool = False
    cut: bool = False

    @property
    def is_stepwise(self) -> bool:
        """Whether the job asks for so much work in all, in several steps."""
        return len(self.sequence) > 1 or self.growth > 0 or self.application >= 0

    def after(self) -> int | None:
        """Return the request after the present one has failed, or None if there is none."""
        request = self.asked
        longer = [length for length in self.sequence if length > max(request, self.known)]
        if longer:
            return longer[0]
        if self.growth <= 0 or request >= self.most:
            return None
        return min(self.most, max(request + 1, int(request * self.growth)))


@dataclass
class Retries:
    """The requests `of` each job, and all `runs`; `latest` has the run times of each application."""

    requests: Requests
    of: dict[Job, Wish]
    runs: list[Run] = field(default_factory=list)
    checkpoints: dict[Job, Checkpoints] = field(default_factory=dict)
    latest: dict[int, list[int]] = field(default_factory=dict)
    loses: bool = False

    def ask_first(self, job: Job) -> None:
        """Make a job request the longest of its application's last run times, if its requests are of that kind."""
        wish = self.of[job]
        known = self.latest.get(wish.application, [])[-self.requests.history :]
        if self.requests.history and wish.application >= 0 and known:
            wish.sequence = []
            wish.asked = min(wish.most, max(1, *known))
            self.ask(job)

    def ask(self, job: Job) -> None:
        """Set the length of the next run for which a job asks."""
        wish, own = self.of[job], self.checkpoints.get(job)
        more = any(length > wish.asked for length in wish.sequence)
        job.request = wish.asked
        if own is not None and own.stepwise:
            job.request = min(wish.most, own.length_up_to(wish.asked, more))

    def begin(self, job: Job, speculative: int | None) -> int:
        """Begin a run; return how long it lasts."""
        run = Run(job.number, job.start, -1, speculative or job.request, speculative is not None, False)
        self.of[job].run = run
        self.runs.append(run)
        return min(job.need, self.longest(job))

    def longest(self, job: Job) -> int:
        """Return after how many seconds the present run of a job is stopped; a gap has no overtime."""
        run = self.of[job].run
        assert run is not None
        return run.length if run.speculative else run.length + job.overtime

    def end(self, job: Job, now: int, interruption: str = "") -> str:
        """Return the outcome of a job: it is "done" or "given up", "returns" to the end of the queue, or "resumes".

        Nothing is learned from an interrupted run; the job "is requeued" with the same request, or "lost"; if it was
        preempted, it may also be "is held" until it may begin again. An interruption is one of `CAUSES`.
        """
        wish, own = self.of[job], self.checkpoints.get(job)
        run = wish.run
        assert run is not None
        run.end, run.done = now, now - job.start >= job.need
        longest = self.longest(job)
        wish.cut = now - job.start < min(longest, job.need)
        wish.first = run.speculative and not run.done
        if run.done:
            self.latest.setdefault(wish.application, []).append(job.need if own is None else own.work)
            if own is not None:
                run.saved = own.work - own.saved
                run.overhead = job.need - run.saved
            return "done"
        broken = now - job.start < longest
        reached = longest
        if own is not None:
            told = own.cost if not broken else None if interruption or not job.fate else job.grace
            reached, run.saved, run.overhead = own.stop(now - job.start, told)
            job.need = own.need
        if not broken:
            wish.known = max(wish.known, reached)
        run.cause = CAUSES.index(interruption or ("preempted" if broken and job.fate else ""))
        if run.speculative:
            return "resumes"
        if broken and job.fate:
            return job.fate
        if broken:
            return "lost" if self.loses else "is requeued"
        following = wish.after()
        if following is None and run.saved and own is not None:
            following = wish.asked + (run.saved if own.stepwise else 0)
            if own.stepwise and wish.asked < wish.most:
                return "given up"
        if following is None:
            return "given up"
        wish.asked = following
        return "returns"

    def was_cut_short(self, job: Job) -> bool:
        """Return whether the run of a job that is over was preempted or broken off: it says nothing of run times."""
        return self.of[job].cut

    def log(self) -> NDArray[Any]:
        """Return all runs so far in the order of their starts, with jobs by submission; running ones end at -1."""
        return np.array([astuple(run) for run in self.runs], dtype=RUN)

    def share(self, job: Job, length: int, free: int) -> float:
        """Return the expected share of the free processors that a speculative run of this length would put to use."""
        wish, tables = self.of[job], self.requests.distributions
        if wish.distribution == NO_DISTRIBUTION or length <= wish.known or job.processors > free:
            return -1.0
        row = wish.distribution
        grid = tables.begin[row] + tables.step[row] * np.arange(tables.below.shape[1])
        below = np.interp(wish.known, grid, tables.below[row], left=0.0)
        part, more = (np.interp(second, grid, tables.part[row], left=0.0) for second in (wish.known, length))
        return -1.0 if below >= 1 else float(job.processors * (more - part) / ((1 - below) * free * length))

    def best(self, lengths: dict[Job, int], free: int, least: float) -> Job | None:
        """Return the job whose run of its length would use most of the gap, on ties the wider one; or None."""
        shares = {job: self.share(job, length, free) for job, length in lengths.items()}
        good = [job for job in lengths if shares[job] > least]
        return max(good, key=lambda job: (shares[job], job.processors), default=None)


def new_retries(prepared: Prepared, jobs: list[Job]) -> Retries | None:
    """Return the requests of jobs in order of submission, before the first submission; None if no job runs twice."""
    requests = prepared.asked
    if requests is None:
        return None
    sequences = [requests.lengths[a:b].tolist() for a, b in pairwise(requests.offsets.tolist())]
    columns = [getattr(requests, name).tolist() for name in ("most", "growth", "distribution", "application")]
    wishes = [Wish(*values) for values in zip(sequences, *columns, strict=True)]
    loses = prepared.outages is not None and prepared.outages.loses
    found = Retries(requests, dict(zip(jobs, wishes, strict=True)), loses=loses)
    found.checkpoints = checkpoints_of(prepared, jobs, [wish.is_stepwise for wish in wishes])
    for job, wish in zip(jobs, wishes, strict=True):
        wish.asked = wish.sequence[0]
        found.ask(job)
    return found
