"""What limits and preemption are by the version of Slurm that a scheduler follows."""

from __future__ import annotations

import numpy as np

from schedlab.engine.parts.limits.numbers import SiteInputs
from schedlab.engine.parts.limits.on_all_jobs import LICENSES
from schedlab.scheduler.backfilling import Backfill, Slurm


def by_version(site: SiteInputs, backfill: Backfill) -> SiteInputs:
    """Return a site whose limits stop others, and whose runs are exempt, by the rules of a version of Slurm."""
    passes = backfill if isinstance(backfill, Slurm) else Slurm()
    if passes.follows("licenses_stop"):
        site = site._replace(stops=site.stops | (np.array(site.reason, dtype=object) == LICENSES))
    if site.preemption is not None and not passes.follows("exempt_from_suspension"):
        exempt = np.where(site.preemption.suspends, 0, site.preemption.exempt)
        site = site._replace(preemption=site.preemption._replace(exempt=exempt))
    return site
