"""A job of a simulation, as everybody in the twin sees it."""

from __future__ import annotations

from dataclasses import dataclass, field

from schedlab.scheduler.policy import Policy


@dataclass(eq=False)
class Job:
    """A job and what has become of it; `number` counts submissions.

    Parameters
    ----------
    submit
        As the scheduler sees it: of the last submission, or when the job was released.
    need
        Seconds that it runs if nothing stops it.
    request
        Seconds that it asks for now.
    pilot
        Of a task that shares the one place of its workflow in the queue: p, q and R of the pilot job.
    estimate, order_estimate
        Seconds that reservations and the order of the queue assume for its next run.
    expected
        Seconds that the present run is expected to take.
    expiry
        When it will outlive that, None if it will not, or if nobody would correct it.
    corrections
        How often that was corrected since its last entry.
    entry
        Number of its last entry into the queue; its own number where its age grows from the submission on.
    scores, rank
        Of the orders that stand still while it waits; the rank is that of multifactor.
    completion
        When its run will end, and number of the start.
    ended
        When it was done, or given up.
    """

    number: int
    user: int
    processors: int
    submit: int
    need: int
    request: int
    pilot: tuple[int, int, int] | None = None
    workflow: int | None = None
    estimate: int = 0
    order_estimate: int = 0
    expected: int = 0
    expiry: int | None = None
    corrections: int = 0
    entry: int = -1
    ready: bool = False
    eligible: int = -1
    scores: dict[Policy, float] = field(default_factory=dict)
    rank: float = 0.0
    start: int = -1
    completion: tuple[int, int] = (-1, -1)
    backfilled: bool = False
    ended: int | None = None

    @property
    def expected_end(self) -> int:
        """When the scheduler expects a running job to end."""
        return self.start + self.expected
