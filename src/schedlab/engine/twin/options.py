"""A scheduler's options as the twin reads them: the only place that knows the fields of `Scheduler`."""

from __future__ import annotations

from typing import NamedTuple

from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.predictor import Predictor
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.slurm_backfill import SlurmBackfill


class Options(NamedTuple):
    """What a scheduler does. `candidates` orders the jobs that EASY tries; of run times, `order_runtimes` is what both
    orders assume, `runtimes` what reservations do. `fixed`: conservative reservations stand once they are made.
    """

    policy: Policy
    backfill: str
    candidates: Policy
    fixed: bool
    slurm: SlurmBackfill
    runtimes: Predictor
    order_runtimes: Predictor
    correction: str | None
    starvation: int | None
    window: int | None
    start_delay: float
    speculation: float | None

    @property
    def always(self) -> bool:
        """Whether a job's age grows from its submission on, also while it waits for others."""
        return isinstance(self.policy, Multifactor) and self.policy.accrue == "always"


def options_of(scheduler: Scheduler) -> Options:
    """Return what a scheduler says."""
    return Options(
        policy=scheduler.policy,
        backfill=scheduler.backfill,
        candidates=scheduler.order or scheduler.policy,
        fixed=scheduler.reservations == "fixed",
        slurm=scheduler.slurm or SlurmBackfill(),
        runtimes=scheduler.runtimes,
        order_runtimes=scheduler.runtimes,
        correction=scheduler.correction,
        starvation=scheduler.starvation,
        window=scheduler.window,
        start_delay=scheduler.start_delay or 0.0,
        speculation=scheduler.speculation,
    )
