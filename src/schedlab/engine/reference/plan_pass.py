"""Conservative backfilling: every job has a reservation, which moves earlier, or is fixed in rounds."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedlab.engine.reference.clock import Clock
from schedlab.engine.reference.job import Job
from schedlab.engine.reference.news import News
from schedlab.engine.reference.nodes import Piece
from schedlab.engine.reference.profile import Profile


@dataclass
class PlanPass:
    """The plan: `listed` are the visible waiting jobs in its order, `reserved` gives their planned starts.

    They start on their `pieces` of the machine. A job that runs speculatively keeps its reservation. `set_at` counts
    reservations, in the order in which they were made. `planning` is false until the warm-up jobs have been started.
    """

    clock: Clock
    fixed: bool
    listed: list[Job] = field(default_factory=list)
    reserved: dict[Job, int] = field(default_factory=dict)
    pieces: dict[Job, list[Piece]] = field(default_factory=dict)
    lengths: dict[Job, int] = field(default_factory=dict)
    set_at: dict[Job, int] = field(default_factory=dict)
    reservations: int = 0
    round_end: int = 0
    again: bool = False
    planning: bool = field(init=False)

    def __post_init__(self) -> None:
        self.planning = not self.clock.in_order
        self.moldable = any(len(job.alternatives) > 1 for job in self.clock.jobs)

    def moments(self) -> list[int]:
        """Return the planned starts of waiting jobs."""
        moments = [self.reserved[job] for job in self.listed if job in self.reserved]
        return [self.clock.now] if self.again else moments

    def schedule(self, news: News) -> None:
        """Plan, start the jobs that are due, use gaps."""
        clock = self.clock
        for job in news.ended:
            if job not in news.resumed:
                self.reserved.pop(job, None)
        for job in news.left:
            self.reserved.pop(job, None)
        self.listed = [job for job in [*self.listed, *news.resumed] if job not in news.left]
        due = any(moment <= clock.now for moment in self.moments())
        if not (news.events or news.turned or news.corrected or news.computed or news.awake or due):
            return
        if clock.in_order:
            while clock.in_order and (ready := [job for job in clock.visible() if clock.admitted(job)]):
                view = clock.view()
                places = ((job, clock.place(view, job)) for job in ready if job.is_of(ready[0]))
                found = next(((job, pieces) for job, pieces in places if pieces is not None), None)
                if found is None:
                    break
                clock.begin(*found)
            if clock.in_order:
                return
        afresh = expect_longer(clock) or news.corrected or news.turned == 2 or not self.planning or self.again
        self.planning, self.again = True, False
        if self.fixed:
            self.go_round(afresh)
        elif afresh:
            self.plan_afresh()
        elif news.ended or news.left:
            self.compress()
        self.start_due()
        while clock.waiting and clock.free() > 0:
            if not self.use_gap():
                break
            self.start_due()
        self.again = clock.preemption.make_way(clock.sorted(clock.visible()))

    def plan_afresh(self) -> None:
        """Cancel all reservations and make them again in the order of the policy."""
        self.look()
        self.listed = self.clock.sorted(self.listed)
        before, self.reserved = self.reserved, {}
        if self.moldable:
            self.reserve_for_all()
            return
        for job in self.listed:
            self.reserve(job, before.get(job))

    def compress(self) -> None:
        """Move the reservations of earlier waiting jobs to earlier slots, one by one, in the order of the policy.

        A job that cannot start sooner keeps its reservation.
        """
        self.listed = self.clock.sorted(self.listed)
        if self.moldable:
            for alternatives in self.turns():
                self.advance(alternatives)
            return
        for job in self.listed:
            if self.reserved.get(job, self.clock.now + 1) > self.clock.now:
                self.move(job)

    def move(self, job: Job) -> None:
        """Give a job an earlier slot; without one, and if its length is the same, it keeps its slot and its nodes."""
        before = self.reserved.pop(job, None)
        if before is not None and self.lengths[job] == job.estimate:
            begin, _ = self.profile().earliest(job, job.estimate, self.clock.now)
            if begin >= before:
                self.reserved[job] = before
                return
        self.reserve(job, before)

    def turns(self) -> list[list[Job]]:
        """Return the alternatives of each listed job, in the order of the list."""
        together: dict[Job, list[Job]] = {}
        for job in self.listed:
            together.setdefault(job.alternatives[0], []).append(job)
        return list(together.values())

    def reserve_for_all(self) -> None:
        """Reserve for the jobs that have no reservation, for the alternative that would end first."""
        for alternatives in self.turns():
            if not any(job in self.reserved for job in alternatives):
                self.reserve(self.first_to_end(alternatives)[1], None)

    def first_to_end(self, alternatives: list[Job]) -> tuple[int, Job]:
        """Return when the alternative that would end first would, and which one it is."""
        profile, now = self.profile(), self.clock.now
        ends = {job: profile.earliest(job, job.estimate, now)[0] + job.estimate for job in alternatives}
        best = min(ends, key=lambda job: ends[job])
        return ends[best], best

    def advance(self, alternatives: list[Job]) -> None:
        """Let a job end as early as it can; if it cannot end sooner, it keeps its reservation."""
        holder = next((job for job in alternatives if job in self.reserved), None)
        if holder is None:
            self.reserve(self.first_to_end(alternatives)[1], None)
        elif self.reserved[holder] > self.clock.now:
            before = self.reserved.pop(holder)
            end, best = self.first_to_end(alternatives)
            if end < before + holder.estimate:
                self.reserve(best, None)
            else:
                self.reserved[holder] = before

    def go_round(self, afresh: bool) -> None:
        """Reserve within the round, or begin a new one: when no job runs and none has a reservation.

        If `afresh`, existing reservations are made again, and the round becomes longer if necessary.
        """
        self.look()
        self.listed = self.clock.sorted(self.listed)
        standing, new_round = dict(self.reserved), not (self.clock.running or self.reserved)
        if afresh:
            self.reserved = {}
        if new_round:
            self.round_end = self.clock.now
        for job in self.listed:
            if job in standing and afresh:
                self.reserve(job, standing[job], longer_round=True)
        for job in self.listed:
            if job not in self.reserved:
                self.reserve(job, None, longer_round=new_round)

    def look(self) -> list[Job]:
        """List jobs that have come into view, without those that would exceed a limit; return the new ones."""
        for job in [job for job in self.listed if not self.clock.admitted(job)]:
            self.listed.remove(job)
            self.reserved.pop(job, None)
        new = [job for job in self.clock.visible() if self.clock.admitted(job) and job not in self.listed]
        self.listed += new
        return new

    def start_due(self) -> None:
        """Start the jobs whose reserved time has come, in the order in which their reservations were made."""
        clock = self.clock
        while True:
            new = self.look()
            if self.moldable:
                self.reserve_for_all()
                new = []
            for job in new:
                self.reserve(job, None)
            due = [job for job in self.listed if self.is_due(job)]
            if not due:
                return
            job = min(due, key=lambda job: self.set_at[job])
            ahead = self.listed[: self.listed.index(job)]
            overtakes = not all(self.is_due(one) for one in ahead if one in self.reserved or not self.moldable)
            self.listed = [one for one in self.listed if not one.is_of(job)]
            del self.reserved[job]
            clock.begin(job, self.pieces[job], backfilled=overtakes)

    def is_due(self, job: Job) -> bool:
        """Return whether the reserved time of a job has come."""
        return job in self.reserved and self.reserved[job] <= self.clock.now

    def reserve(self, job: Job, before: int | None, longer_round: bool = False) -> None:
        """Give a job its earliest slot; in a round, only if it ends within, or may make it longer."""
        clock = self.clock
        begin, pieces = self.profile().earliest(job, job.estimate, clock.now)
        if longer_round:
            self.round_end = max(self.round_end, begin + job.estimate)
        if self.fixed and begin + job.estimate > self.round_end:
            return
        self.reserved[job] = begin
        self.pieces[job] = pieces
        self.lengths[job] = job.estimate
        if begin != before:
            self.set_at[job] = self.reservations
            self.reservations += 1

    def profile(self) -> Profile:
        """Return the profile left free by running jobs and reservations."""
        now = self.clock.now
        profile = Profile(now, self.clock.machine.empty)
        for job in self.clock.seen():
            profile.take(now, job.expected_end, job.pieces)
        self.clock.close(profile)
        for job, begin in self.reserved.items():
            profile.take(max(now, begin), begin + job.estimate, self.pieces[job])
        return profile

    def use_gap(self) -> bool:
        """Run the best job speculatively alongside the plan with its own reservation; return whether there is one."""
        clock, profile, lengths, places = self.clock, self.profile(), dict[Job, int](), dict[Job, list[Piece]]()
        for job in [job for job in self.listed if job in self.reserved or not self.moldable]:
            ends = [self.reserved[job]] if job in self.reserved else []
            end = profile.room_until(job, clock.now, min([*ends, self.round_end] if self.fixed else ends))
            pieces = profile.throughout(clock.now, end).place(job) if end > clock.now else None
            if pieces is not None:
                lengths[job], places[job] = end - clock.now, pieces
        chosen = clock.speculate(lengths, places)
        if chosen is not None:
            self.listed.remove(chosen)
        return chosen is not None


def expect_longer(clock: Clock) -> bool:
    """Expect jobs that outlive their expected run time to run for twice their elapsed time; return whether any do."""
    overrun = [job for job in clock.seen() if job.expected_end <= clock.now]
    for job in overrun:
        job.expected = max(1, 2 * (clock.now - job.start))
        job.corrections += 1
    return bool(overrun)
