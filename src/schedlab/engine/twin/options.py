"""A scheduler's options as the twin reads them: the only place that knows the fields of `Scheduler`."""

from __future__ import annotations

from typing import NamedTuple

from schedlab.scheduler.backfilling import Backfill, Conservative, Easy, Slurm
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.predictor import Predictor
from schedlab.scheduler.scheduler import Scheduler


class Options(NamedTuple):
    """What a scheduler does; `candidates` orders the jobs that EASY tries, `ranking` is what both orders assume."""

    policy: Policy
    candidates: Policy
    backfill: Backfill
    runtimes: Predictor
    ranking: Predictor
    correction: str | None
    starvation: int | None
    window: int | None
    speculation: float | None

    @property
    def easy(self) -> bool:
        """Whether candidates may go before a blocked head."""
        return isinstance(self.backfill, Easy)

    @property
    def conservative(self) -> bool:
        """Whether everybody has a reservation."""
        return isinstance(self.backfill, Conservative)

    @property
    def fixed(self) -> bool:
        """Whether reservations stand once they are made."""
        return isinstance(self.backfill, Conservative) and self.backfill.fixed

    @property
    def slurm(self) -> Slurm | None:
        """The rules of Slurm's passes, if it makes them."""
        return self.backfill if isinstance(self.backfill, Slurm) else None

    @property
    def always(self) -> bool:
        """Whether a job's age grows from its submission on, also while it waits for others."""
        return isinstance(self.policy, Multifactor) and self.policy.accrue == "always"


def options_of(scheduler: Scheduler) -> Options:
    """Return what a scheduler says."""
    return Options(
        policy=scheduler.policy,
        candidates=scheduler.order or scheduler.policy,
        backfill=scheduler.backfill,
        runtimes=scheduler.runtimes,
        ranking=scheduler.ranking,
        correction=scheduler.correction,
        starvation=scheduler.starvation,
        window=scheduler.window,
        speculation=None if scheduler.retries is None else scheduler.retries.speculation,
    )
