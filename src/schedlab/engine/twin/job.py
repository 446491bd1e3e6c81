"""A job of a simulation, as everybody in the twin sees it."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedlab.engine.twin.nodes import Part
from schedlab.scheduler.policy import Policy


@dataclass(eq=False)
class Job:
    """A job and what has become of it; `number` counts submissions. Times are in seconds."""

    number: int
    user: int
    processors: int
    submit: int  # as the scheduler sees it: of the last submission, or when the job was released
    need: int  # how long it runs if nothing stops it
    request: int  # what it asks for now
    workflow: int | None = None  # whose place in the queue it shares
    pilot: tuple[int, int, int] | None = None  # p, q and R of the pilot job, which stands for it in the queue then
    estimate: int = 0  # what reservations assume for the next run
    ranking: int = 0  # what the order of the queue assumes
    statistics: list[float] | None = None  # of the distribution that it assumes, if its predictor has one
    expected: int = 0  # what the present run is expected to take
    expiry: int | None = None  # when it will outlive that, if that will be corrected
    corrections: int = 0  # since the last entry
    entry: int = -1  # number of the last entry into the queue
    ready: bool = False  # whether it waits for nobody
    eligible: int = -1  # since when
    scores: dict[Policy, float] = field(default_factory=dict)  # by the orders that stand still while it waits
    start: int = -1
    parts: list[Part] = field(default_factory=list)  # what it has of the machine in its last run
    begun: int = -1  # number of the last start
    completion: tuple[int, int] = (-1, -1)  # when the present run will end, and when that was decided
    gives_way: bool = False  # whether the present run has to give way to another job
    fate: str = ""  # what becomes of the job then
    backfilled: bool = False
    ended: int | None = None  # when it was done, or given up

    @property
    def expected_end(self) -> int:
        """When the scheduler expects a running job to end."""
        return self.start + self.expected
