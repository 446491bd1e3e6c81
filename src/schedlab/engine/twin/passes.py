"""Which pass a scheduler makes."""

from __future__ import annotations

from schedlab.engine.twin.clock import Clock
from schedlab.engine.twin.plan_pass import PlanPass
from schedlab.engine.twin.queue_pass import QueuePass
from schedlab.engine.twin.slurm_pass import SlurmPass


def new_pass(clock: Clock) -> QueuePass | PlanPass | SlurmPass:
    """Return the pass of a scheduler before the first event."""
    if clock.options.slurm is not None:
        return SlurmPass(clock, clock.options.slurm)
    return PlanPass(clock) if clock.options.conservative else QueuePass(clock, clock.options.easy)
