"""The event loop: what happens in a second, in both event orders, and the machine with its running jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from schedlab.engine.parts.cancellations.reference import Cancellations
from schedlab.engine.parts.dependencies.reference import DEPENDENCY, Dependencies
from schedlab.engine.parts.forecasts.reference import Forecast
from schedlab.engine.parts.heterogeneous.numbers import patience_of
from schedlab.engine.parts.limits.reference import NOT_AVAILABLE, PRIORITY, RESERVATION, RESOURCES, Limits
from schedlab.engine.parts.malleable.reference import Malleable
from schedlab.engine.parts.outages.numbers import FOR_ALL
from schedlab.engine.parts.outages.reference import Outages
from schedlab.engine.parts.power_saving.reference import PowerSaving
from schedlab.engine.parts.preemption.endless import refuse_endless
from schedlab.engine.parts.preemption.reference import Preemption
from schedlab.engine.parts.priority.reference import Priority
from schedlab.engine.parts.retries.reference import Retries
from schedlab.engine.parts.submission_limits.reference import SubmissionLimits
from schedlab.engine.parts.switch_waits.reference import SwitchWaits
from schedlab.engine.prepared import Prepared
from schedlab.engine.reference.functions import ReferenceFunctions
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.machine import Machine, Nodes, View
from schedlab.engine.reference.news import News, Pass
from schedlab.engine.reference.nodes import Piece
from schedlab.engine.reference.order import Order
from schedlab.engine.reference.profile import NEVER, Profile
from schedlab.scheduler.backfilling import Slurm
from schedlab.scheduler.policy import Policy


@dataclass
class Clock:
    """The machine, the queue and the time. `waiting` is in the order of entry; `retries` is None if no run fails."""

    prepared: Prepared
    jobs: list[Job]
    dependencies: Dependencies
    priority: Priority | None
    retries: Retries | None
    now: int = 0
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    started: int = 0
    entries: int = 0
    sequence: int = 0
    busy: int = 0
    reasons: dict[Job, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.scheduler = self.prepared.scheduler
        self.patience = patience_of(self.scheduler)
        self.machine = Machine(self.prepared)
        begin = self.jobs[0].submit
        self.limits = Limits(self.prepared.limits, self.prepared.bookings, self.prepared.counting_period, begin)
        self.outages = Outages(self.prepared.outages)
        self.submission_limits = SubmissionLimits(self.prepared.submission_limits, self.dependencies.parents)
        self.cancellations = Cancellations(self.prepared)
        self.preemption = Preemption(self, self.prepared.preemption)
        self.power_saving = PowerSaving(self.prepared)
        self.malleable = Malleable(self.prepared)
        self.malleable.see(self.jobs)
        self.to_come = list(self.jobs)
        self.forecast = Forecast(self.prepared, self.retries is not None)
        self.functions = ReferenceFunctions(self.prepared)
        origin = self.jobs[0].submit
        self.order = Order(self.scheduler, origin, self.priority, self.retries, self.limits, self.functions)

    def run(self, passes: Pass) -> None:
        """Simulate until every job has ended."""
        looked_at = len(self.jobs)
        while self.to_come or self.running or self.waiting or self.dependencies.held or self.preemption.held:
            moments = self.moments() + passes.moments()
            if not moments and self.components_wait:
                return
            before, second = self.now, min(moments)
            awake = second in self.preemption.awakenings()
            self.now = second
            self.limits.count(self.reasons, self.now - before)
            self.submission_limits.count(self.limits.waited, before, self.now)
            news = self.compute(self.happen())._replace(awake=awake)
            self.machine.put_behind_others(self.power_saving.off(self.now))
            self.functions.tell_begins()
            self.functions.free = self.prepared.processors - sum(job.processors for job in self.active(self.running))
            if not (self.prepared.passes_if_fits and news.submitted and not self.fits(news.submitted[0])):
                passes.schedule(news)
            self.reasons = {} if self.prepared.limits is None else self.why_they_wait()
            if self.stuck():
                return
            if self.retries is not None and len(self.retries.runs) > 2 * looked_at:
                looked_at = len(self.retries.runs)
                refuse_endless(self.prepared, self.retries.log())

    def stuck(self) -> bool:
        """Return whether only jobs are left that are passed over, and nothing will happen that could change it."""
        busy = bool(self.to_come or self.running or self.outages.changes or self.limits.steps or self.preemption.held)
        busy = busy or bool(self.dependencies.moments() or self.cancellations.moments())
        if busy:
            self.busy = self.now
        if self.now - self.busy > self.patience and self.components_wait:
            return True
        return not (busy or any(self.admitted(job) for job in self.visible()))

    @property
    def components_wait(self) -> bool:
        """Whether heterogeneous jobs wait, which may keep each other waiting for ever."""
        return any(len(job.components) > 1 for job in self.waiting)

    def moments(self) -> list[int]:
        """Return the seconds with events."""
        moments = [job.submit for job in self.to_come[:1]] + [job.completion[0] for job in self.running]
        moments += self.dependencies.moments() + self.outages.moments() + self.preemption.moments()
        moments += self.cancellations.moments() + self.limits.steps[:1]
        if not self.prepared.one_by_one:
            moments += [job.expiry for job in self.running if job.expiry is not None]
        if self.priority is not None:
            moments += self.priority.moments(self.now, self.waiting, self.running)
        return moments

    def happen(self) -> News:
        """Process the events that are due: all of this second, or one if events come one at a time."""
        corrected = self.correct() if self.prepared.one_by_one else False
        ended = sorted((job for job in self.running if job.completion[0] == self.now), key=lambda job: job.completion)
        submitted = [job for job in self.to_come if job.submit == self.now]
        if self.prepared.one_by_one:
            submitted = submitted[:1]
            ended = [] if submitted else ended[:1]
        del self.to_come[: len(submitted)]
        self.running = [job for job in self.running if job not in ended]
        turned, failed, failed_gpus = self.outages.turn(self.now)
        lost = {self.machine.number_of(node, gpu) for node, gpu in failed_gpus}
        broken = [
            job for job in self.running if self.expires(job) or any(piece.is_hit(failed, lost) for piece in job.pieces)
        ]
        for job in sorted(broken, key=lambda job: job.begun):
            if job.since is not None:
                self.preemption.suspension.go_on(job)
            job.completion = (min(self.now, job.over) + job.tick, job.completion[1])
            self.running.remove(job)
            ended.append(job)
        turned = 2 if self.limits.change(self.now) else turned
        if turned:
            self.machine.take_out(self.outages.gone)
        if ended:
            self.preemption.resume()
        for job in ended:
            self.power_saving.leave(job, self.now)
        fates = {job: self.end(job, self.interruption(job) if job in broken else "") for job in ended}
        for job in [job for job in self.jobs if self.expires(job)]:
            self.limits.free.add(job)
            self.machine.set_free(job)
        resumed = [job for job in ended if fates[job] == "resumes"]
        returned = [job for job in ended if fates[job] in ("returns", "is requeued")]
        back = self.preemption.returned()
        if not self.prepared.one_by_one:
            corrected = self.correct()
        left = self.cancellations.cancel(self)
        accepted = self.submission_limits.accept(submitted, self.now)
        self.cancellations.note(accepted, self.now)
        ready = self.dependencies.release(accepted, self.now)
        for job in ready:
            self.make_ready(job)
        standing = [job for job in submitted if job.workflow is not None]
        fresh = sorted({*standing, *(job for job in ready if job.entry < 0)}, key=lambda job: job.number)
        entered = returned + back + fresh
        self.enter(resumed, entered)
        return News(submitted, ended, resumed, entered, ready, left, corrected, turned=turned, back=len(back))

    def interruption(self, job: Job) -> str:
        """Return why a run that is broken off in this second is."""
        return "reservation over" if self.expires(job) else "node failed"

    def end(self, job: Job, interruption: str) -> str:
        """Return the outcome of a job whose run is over, see `Retries.end`."""
        self.functions.ends(job, self.now, job.over - (job.start - job.stood))
        fate = "done" if self.retries is None else self.retries.end(job, job.over, interruption)
        if fate == "is requeued" and self.expires(job):
            fate = "lost"
        delay, outages = 0, self.prepared.outages
        if fate == "is held" and self.preemption.inputs is not None:
            delay = self.preemption.inputs.delay
        elif fate == "is requeued" and outages is not None and outages.delay:
            fate, delay = "is held", outages.delay
        if fate != "resumes" and (self.retries is None or not self.retries.was_cut_short(job)):
            self.forecast.learn(job, job.over)
        if self.priority is not None:
            self.priority.note_end(job, self.now)
        if self.retries is not None and fate in ("returns", "is requeued", "is held"):
            self.retries.ask(job)
        if fate in ("done", "given up", "lost"):
            for one in job.alternatives:
                one.ended = self.now
        elif fate in ("returns", "is requeued"):
            self.order.requeue(job, self.now)
        elif fate == "is held":
            self.preemption.hold(job, delay)
        job.gives_way, job.fate = False, ""
        return fate

    def expires(self, job: Job) -> bool:
        """Return whether the reservation of a job ends in this second."""
        own, bookings = self.limits.reservation(job), self.prepared.bookings
        return own is not None and bookings is not None and int(bookings.closes[own]) == self.now

    def correct(self) -> bool:
        """Correct the predictions that have expired; return whether there are any."""
        corrected = [self.forecast.correct(job, self.now) for job in self.running]
        return any(corrected)

    def make_ready(self, job: Job) -> None:
        """Submit a job without open dependencies now, from the scheduler's point of view."""
        job.ready = True
        job.eligible = self.dependencies.ready_after(job, self.submission_limits.attempted.get(job, job.submit))
        if job.workflow is None and not self.order.always:
            job.submit = self.now

    def enter(self, resumed: list[Job], entering: list[Job]) -> None:
        """Put jobs into the queue: those that resume their position unchanged, the others at the end."""
        for job in entering:
            if self.retries is not None and job.entry < 0:
                self.retries.ask_first(job)
            job.entry = self.order.entry_of(job, self.entries)
            self.entries += 1
            self.forecast.predict(job, self.now, self.running)
            self.order.enter(job, self.now)
        self.waiting = sorted([*self.waiting, *resumed, *entering], key=lambda job: job.entry)

    def compute(self, news: News) -> News:
        """Compute priorities if their period is over; note whether any has changed of a job that waited before."""
        if self.priority is not None and self.priority.compute(self.now, self.running):
            policy, waited = self.scheduler.policy, [job for job in self.waiting if job not in news.entered]
            before = self.order.scores(policy, waited, self.now)
            self.priority.rank_all(self.waiting)
            return news._replace(computed=self.order.scores(policy, waited, self.now) != before)
        return news

    def wish(self, now: int | None) -> None:
        """Let the jobs that are seen wait for few switches as far as their time is not over; None: no job does."""
        limits, nodes = self.prepared.limits, self.prepared.nodes
        if isinstance(self.machine.empty, Nodes):
            count = len(self.jobs) + 1
            offsets = list(range(count)) if limits is None else limits.option_offset.tolist()
            SwitchWaits(nodes, self.machine.empty.requests).change(self.visible(), offsets, now)

    def visible(self) -> list[Job]:
        """Return the waiting jobs that the scheduler sees, in the order of entry."""
        return self.waiting[: self.scheduler.window]

    def admitted(self, job: Job) -> bool:
        """Return whether a job has no open dependencies, and is not refused with the components that wait with it."""
        together = job.waiting_with(self.waiting)
        return self.admitted_alone(job) and all(
            self.refusal(one, together[:at]) is None for at, one in enumerate(together)
        )

    def admitted_alone(self, job: Job) -> bool:
        """Return whether a job has no open dependencies, and is not refused by itself; all its components are there."""
        return job.ready and all(one.entry >= 0 for one in job.components) and self.refusal(job) is None

    def stops(self, job: Job) -> bool:
        """Return whether a job keeps others waiting (limits=stop): of one size, at limits of resources, no warm-up."""
        passes, refusal = self.prepared.scheduler.backfill, self.refusal(job)
        if not isinstance(passes, Slurm) or passes.limits != "stop" or len(job.alternatives) > 1 or self.in_order:
            return False
        found = list(self.limits.all_exceeded(job, self.running, self.now))
        return job.ready and refusal not in (None, RESERVATION, NOT_AVAILABLE) and all(one.stops for one in found)

    def refusal(self, job: Job, others: Sequence[Job] = ()) -> str | None:
        """Return why a job is passed over: too few nodes in service, or a limit that it would exceed; or None.

        It may have to start with other components.
        """
        own, bookings = self.limits.reservation(job), self.prepared.bookings
        if own is not None and bookings is not None and int(bookings.opens[own]) > self.now:
            return RESERVATION
        out = self.outages.out
        if (out or self.outages.gone) and self.machine.empty.closed(out).place(job) is None:
            return NOT_AVAILABLE
        return self.limits.exceeded(job, self.running, self.now, others)

    def why_they_wait(self) -> dict[Job, str]:
        """Return the reason of each waiting job; the first that may start in a partition waits for resources.

        So do all its alternatives, also those before the one that is the first.
        """
        reasons, taken, heads = dict.fromkeys(self.waiting, PRIORITY), set[int](), list[Job]()
        queue = self.sorted(self.visible())
        for job in queue:
            limit = self.refusal(job)
            if not job.ready or limit is not None:
                reasons[job] = limit if job.ready and limit is not None else DEPENDENCY
            elif not taken.issuperset(self.limits.partitions(job)):
                heads.append(job)
                taken.update(self.limits.partitions(job))
        for job in queue:
            if reasons[job] == PRIORITY and any(job.is_of(head) for head in heads):
                reasons[job] = RESOURCES
        return reasons

    def sorted(self, jobs: list[Job], policy: Policy | None = None) -> list[Job]:
        """Sort jobs as a policy, by default that of the queue, orders them at present."""
        return self.order.sort(jobs, self.now, policy or self.scheduler.policy)

    def head(self, jobs: list[Job]) -> Job:
        """Return the first of these jobs, given in the order of entry."""
        return jobs[0] if self.in_order else self.sorted(jobs)[0]

    def seen(self) -> list[Job]:
        """Return the running jobs as the scheduler sees them."""
        if self.prepared.one_by_one:
            return [job for job in self.running if job.expected_end > self.now]
        return self.running

    def free(self) -> int:
        """Return the processors not requested by running jobs, in the scheduler's view; on nodes, fewer may be free."""
        return self.prepared.processors - sum(job.processors for job in self.active(self.seen()))

    @staticmethod
    def active(jobs: list[Job]) -> list[Job]:
        """Return the runs that are not suspended."""
        return [job for job in jobs if job.since is None]

    def view(self, second: int | None = None) -> View:
        """Return what the scheduler believes to be free now, or at a second, after the expected ends until then."""
        running = self.seen()
        view = self.machine.beside(job for job in running if second is None or job.expected_end > second)
        return self.without_shut(view, self.now + 1)

    def without_shut(self, view: View, end: int) -> View:
        """Return what is free of a view on nodes that are open until a second."""
        closed, reserved = self.outages.shut(self.now, end), self.outages.reserved(self.now, end)
        view = view.closed(closed) if closed else view
        return view.reserved(reserved) if reserved else view

    def place(self, view: View, job: Job, option: int | None = None) -> list[Piece] | None:
        """Return what a job would get of a present view if it started: nothing that is closed before it ends."""
        return self.without_shut(view, self.now + job.estimate).place(job, option)

    def is_shut_out(self, job: Job, option: int | None, blocked: set[int]) -> bool:
        """Return whether a job would not fit beside closed nodes and blocked partitions if no job ran.

        Not if it waits for few switches, nor if Slurm does not look at what the nodes have that are left.
        """
        view = self.machine.empty
        if blocked and isinstance(view, Nodes) and self.limits.inputs is not None:
            kept = self.limits.kept_from(job, blocked)
            present, shares = self.machine.beside(self.active(self.seen())), self.preemption.inputs is not None
            assert isinstance(present, Nodes)
            own = self.limits.partitions(job)
            open_ = [one for one in range(len(own)) if option in (None, one) and own[one] not in blocked]
            if any(present.waits_unseen(job, one, kept or set(), self.outages.out, shares) for one in open_):
                return False
            view = view.closed(kept)
        return not job.picky and self.place(view, job, option) is None

    def close(self, profile: Profile, late: int = 0) -> None:
        """Keep closed nodes out of a plan, in which future closures begin `late` seconds later."""
        for node in self.outages.out:
            profile.change(self.now, NEVER, lambda free, node=node: free.closed({node}))  # type: ignore[misc]
        gone = {self.machine.number_of(*gpu) for gpu in self.outages.gone}
        if gone:  # they are back at no known second, like nodes
            profile.change(NEVER, 4 * NEVER, lambda free: free.regained(gone))
        for one in self.outages.known(self.now):
            begin = self.now if one.begin <= self.now else min(one.begin + late, one.end - 1)
            if one.owner == FOR_ALL:
                profile.change(begin, one.end, lambda free, node=one.node: free.closed({node}))  # type: ignore[misc]
            else:
                profile.change(begin, one.end, lambda free, node=one.node: free.reserved({node}))  # type: ignore[misc]

    def fits(self, job: Job) -> bool:
        """Return whether there is room for a job now."""
        return self.place(self.view(), job) is not None

    def running_ends(self) -> dict[Job, int]:
        """Return when running jobs are expected to end, late ones now."""
        return {job: max(self.now, job.expected_end) for job in self.running}

    @property
    def in_order(self) -> bool:
        """Whether jobs are still started strictly in the order of entry."""
        return self.started < self.prepared.in_order

    def begin(self, job: Job, pieces: list[Piece], backfilled: bool = False, speculative: int | None = None) -> None:
        """Start a job now on its pieces of the machine, perhaps backfilled, or speculatively for a limited time."""
        job.start, job.expected, job.backfilled = self.now, speculative or job.estimate, backfilled
        suspends = self.preemption.inputs is not None and bool(self.preemption.inputs.suspends.any())
        job.pieces = [replace(piece, over=suspends) for piece in pieces]
        job.stood = 0
        lasts = job.need if self.retries is None else self.retries.begin(job, speculative)
        job.tick = self.prepared.tick
        job.start = self.power_saving.boot(job, self.now)
        job.completion = (job.start + lasts + job.tick, self.sequence)
        job.begun = self.started
        self.functions.begins(job, self.now)
        self.started += 1
        self.sequence += 1
        self.forecast.watch(job)
        self.waiting = [one for one in self.waiting if not one.is_of(job)]
        self.running.append(job)

    def speculate(self, lengths: dict[Job, int], places: dict[Job, list[Piece]]) -> Job | None:
        """Start the job whose speculative run would use a gap best; `lengths` and `places` give length and nodes."""
        limit = None if self.scheduler.retries is None else self.scheduler.retries.speculation
        job = None if self.retries is None or limit is None else self.retries.best(lengths, self.free(), limit)
        if job is not None:
            self.begin(job, places[job], backfilled=True, speculative=lengths[job])
        return job
