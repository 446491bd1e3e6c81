"""What limits and preemption are by the version of Slurm that a scheduler follows."""

from __future__ import annotations

import numpy as np

from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.engine.parts.limits.on_all_jobs import LICENSES
from schedlab.scheduler.backfilling import WITHOUT_VERSION, Backfill, Slurm


def by_version(limits: LimitInputs, backfill: Backfill) -> LimitInputs:
    """Return a site whose limits stop others, and whose runs are exempt, by the rules of a version of Slurm."""
    passes = backfill if isinstance(backfill, Slurm) else WITHOUT_VERSION
    if passes.follows("licenses_stop"):
        limits = limits._replace(stops=limits.stops | (np.array(limits.reason, dtype=object) == LICENSES))
    if limits.preemption is not None and not passes.follows("exempt_from_suspension"):
        exempt = np.where(limits.preemption.suspends, 0, limits.preemption.exempt)
        limits = limits._replace(preemption=limits.preemption._replace(exempt=exempt))
    return limits
