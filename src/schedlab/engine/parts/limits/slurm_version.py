"""What limits are by the version of Slurm that a scheduler follows."""

from __future__ import annotations

import numpy as np

from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.engine.parts.limits.on_all_jobs import LICENSES
from schedlab.scheduler.backfilling import WITHOUT_VERSION, Backfill, Slurm


def by_version(limits: LimitInputs, backfill: Backfill) -> LimitInputs:
    """Return limits that stop others by the rules of a version of Slurm."""
    passes = backfill if isinstance(backfill, Slurm) else WITHOUT_VERSION
    if passes.follows("licenses_stop"):
        limits = limits._replace(stops=limits.stops | (np.array(limits.reason, dtype=object) == LICENSES))
    return limits
