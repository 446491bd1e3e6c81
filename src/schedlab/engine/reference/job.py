"""A job of a simulation, as all modules of the reference implementation see it."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedlab.engine.reference.nodes import Piece
from schedlab.scheduler.policy import Policy


@dataclass(eq=False)
class Job:
    """A job and its state; `number` counts submissions. Times are in seconds."""

    number: int
    user: int
    processors: int
    submit: int  # as the scheduler sees it: of the last submission, or when the job was released
    need: int  # how long it runs if nothing stops it
    request: int  # its present request
    overtime: int = 0  # how long it may run beyond that
    workflow: int | None = None  # the workflow whose place in the queue it shares
    pilot: tuple[int, int, int] | None = None  # p, q and R of the pilot job, which represents it in the queue then
    estimate: int = 0  # what reservations assume for the next run
    ranking: int = 0  # what the order of the queue assumes
    statistics: list[float] | None = None  # of the distribution that the order assumes, if there is one
    expected: int = 0  # the expected length of the present run
    expiry: int | None = None  # when it will outlive that, if predictions are corrected
    corrections: int = 0  # since the last entry
    entry: int = -1  # number of the last entry into the queue, or of the last submission
    submitted: int = 0  # when Slurm says that it was submitted
    ready: bool = False  # whether it has no open dependencies
    eligible: int = -1  # since when
    scores: dict[Policy, float] = field(default_factory=dict)  # under orders that do not change while it waits
    components: list[Job] = field(default_factory=list)  # of a heterogeneous job, with this one; else this one alone
    alternatives: list[Job] = field(default_factory=list)  # of a moldable job, with this one; of others, this one alone
    start: int = -1
    pieces: list[Piece] = field(default_factory=list)  # its pieces of the machine in its last run
    begun: int = -1  # number of the last start
    tick: int = 0  # seconds until the end of the present run is noticed
    completion: tuple[int, int] = (-1, -1)  # when it is noticed of the present run, and when that was decided
    gives_way: bool = False  # whether the present run is being preempted
    fate: str = ""  # what becomes of the job after preemption
    grace: int = 0  # how long its last run that gave way was allowed to go on
    away: bool = False  # whether it was preempted, and may not begin again yet
    since: int | None = None  # when the present run was suspended, if it is
    left: int = 0  # how long it will go on then
    stood: int = 0  # how long the present run was suspended before; it counts as begun so much later
    planned: bool = True  # whether Slurm knows how many cores whole nodes would have
    picky: bool = False  # whether it waits for few switches in the present pass
    ordered_as: int | None = None  # the processors that the order of the queue sees, if it may get others
    backfilled: bool = False
    ended: int | None = None  # when it was done, abandoned or cancelled

    def is_of(self, other: Job) -> bool:
        """Return whether this and another one are alternatives of the same job."""
        return self.alternatives is other.alternatives

    def waiting_with(self, waiting: list[Job]) -> list[Job]:
        """Return this job and the components that wait with it, in their order."""
        return [one for one in self.components if one is self or one in waiting]

    def needs_others(self, waiting: list[Job]) -> bool:
        """Return whether it starts only together with other components."""
        others = [one for one in self.components if one is not self]
        return any(one in waiting or one.entry < 0 or one.away for one in others)

    @property
    def lacks_others(self) -> bool:
        """Whether a component of its job was preempted, and may not begin again yet."""
        return any(one.away for one in self.components)

    @property
    def over(self) -> int:
        """When the present run will have ended, or has."""
        return self.completion[0] - self.tick

    @property
    def expected_end(self) -> int:
        """The expected end of a running job."""
        return self.start + self.expected
