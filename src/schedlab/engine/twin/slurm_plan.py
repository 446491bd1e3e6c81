"""The plan of Slurm's backfill pass: what running jobs leave free, and the reservations on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schedlab.engine.twin.job import Job
from schedlab.engine.twin.nodes import Part
from schedlab.engine.twin.preemption import place_in
from schedlab.engine.twin.profile import Profile

if TYPE_CHECKING:
    from schedlab.engine.twin.slurm_pass import SlurmPass


@dataclass
class BackfillPlan:
    """The plan of a backfill pass: running jobs `until` their ends, and the changes since, in order.

    `steps` are the seconds in which a reservation begins or ends, after now and within the window.
    """

    passes: SlurmPass
    until: dict[Job, int] = field(init=False)
    changes: list[tuple[Callable[..., None], tuple[Any, ...]]] = field(default_factory=list)
    profile: Profile = field(init=False)
    steps: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.until = self.passes.ends()
        self.profile = self.without(set())

    def without(self, gone: set[Job]) -> Profile:
        """Return the plan without some of the running jobs."""
        clock = self.passes.clock
        profile = Profile(clock.now, clock.machine.empty)
        for job, end in self.until.items():
            if job not in gone:
                profile.take(clock.now, end, job.parts)
        clock.close(profile, self.passes.inclusive)
        for change, values in self.changes:
            change(profile, *values)
        return profile

    def run(self, job: Job) -> None:
        """Note a start; where runs may give way, this one may be suspended for a later job of the pass."""
        now = self.passes.clock.now
        if self.passes.clock.preemption.inputs is None:
            self.change(Profile.take, now, job.expected_end, job.parts)
        else:
            self.until[job] = job.expected_end
            self.profile.take(now, job.expected_end, job.parts)

    def change(self, change: Callable[..., None], *values: Any) -> None:
        """Change the plan."""
        self.changes.append((change, values))
        change(self.profile, *values)

    @property
    def full(self) -> bool:
        """Whether there is no room for another reservation; with it, the pass ends."""
        return 1 + len(self.steps) >= self.passes.rules.records

    def reserve(self, job: Job, begin: int, parts: list[Part]) -> None:
        """Reserve parts of the machine for a job."""
        now, window = self.passes.clock.now, self.passes.rules.window
        self.steps |= {second for second in self.passes.rounded(job, begin) if now < second < now + window}
        self.change(self.passes.book, job, begin, parts)

    def forget(self, gone: set[Job]) -> None:
        """Continue the plan without some of the running jobs."""
        self.until = {job: end for job, end in self.until.items() if job not in gone}
        self.profile = self.without(set())

    def place_over(self, job: Job, length: int, lenders: set[Job], option: int) -> list[Part] | None:
        """Return where a job has room for `length` seconds, and now, on the cores of some runs."""
        now, suspension = self.passes.clock.now, self.passes.clock.preemption.suspension
        plan = self.without(lenders)
        for one in lenders:
            plan.take(now, self.until[one], suspension.kept(one))
        return place_in(plan.throughout(now, now + length).lesser(suspension.beside(set(), lenders)), job, option)

    def place(self, job: Job, length: int, gone: set[Job], option: int) -> list[Part] | None:
        """Return where a job has room for `length` seconds in one of its partitions without some runs."""
        now = self.passes.clock.now
        return place_in(self.without(gone).throughout(now, now + length), job, option)


def in_groups(ends: list[int]) -> dict[int, int]:
    """Return the ends of running jobs as Slurm rounds them: to the last end of a group, and later groups are wider.

    Half a minute after the first half minute, then twice as much each time (the estimate of select/cons_tres).
    """
    rest, together = sorted(set(ends)), dict[int, int]()
    edge, window = (rest[0] + 30 - rest[0] % 30, 30) if rest else (0, 30)
    while rest:
        while rest[0] > edge + window:
            window *= 2
        group = [end for end in rest if end <= edge + window]
        together |= dict.fromkeys(group, group[-1])
        rest, window = rest[len(group) :], 2 * window
    return together
