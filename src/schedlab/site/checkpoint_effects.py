"""What checkpoints of a site's jobs save of the work that is lost, and what they cost to write and to read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.durations import HOUR
from schedlab.schedule.checkpoints import by_job, spent
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import three_digits

if TYPE_CHECKING:
    from schedlab.site.sweep import Paired


@dataclass(frozen=True, slots=True)
class CheckpointEffect:
    """Core-hours of a site as it is and of a variant whose jobs write checkpoints; means over copies.

    Parameters
    ----------
    lost_before, lost
        Of work that is lost, and done again or given up, at the site as it is and in the variant.
    overhead
        In which checkpoints are written or read.
    hours
        Of all jobs.
    """

    lost_before: float
    lost: float
    overhead: float
    hours: float

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers, for JSON."""
        return asdict(self)

    def sentences(self, name: str) -> list[str]:
        """Return clauses: what is no longer lost, and what that costs."""
        share = self.overhead / self.hours if self.hours else 0.0
        cost = f"{three_digits(self.overhead)} core-hours ({share:.1%} of the work)"
        if not self.lost_before:
            nothing = "no work is lost as it is, so that checkpoints save nothing here (--node-events has failures)"
            return [f"{name} would cost {cost} to write and read checkpoints", nothing]
        less = self.lost_before - self.lost
        net = less - self.overhead
        return [
            f"{name} would cost {cost} to write and read checkpoints, and lose {three_digits(self.lost)} core-hours "
            f"instead of {three_digits(self.lost_before)}",
            f"in all, that {'saves' if net >= 0 else 'takes'} {three_digits(abs(net))} core-hours"
            f"{'' if net >= 0 else ' more'}",
        ]


def checkpoint_effect(pairs: Sequence[Paired]) -> CheckpointEffect | None:
    """Return what checkpoints save and cost in a variant; None: its jobs write none."""
    if not pairs[0].other.variant.checkpoints:
        return None
    before, after = (np.mean([_hours(one.schedule) for one in side], axis=0) for side in zip(*pairs, strict=True))
    return CheckpointEffect(float(before[0]), float(after[0]), float(after[1]), float(after[2]))


def _hours(schedule: Schedule) -> tuple[float, float, float]:
    """Return core-hours of work that is lost, of checkpoints, and of all jobs."""
    jobs = schedule.workload
    cores = jobs.job_processors / HOUR
    done = float((np.minimum(jobs.run_time, jobs.requested_time) * cores).sum())
    if schedule.runs is None:
        return 0.0, 0.0, done
    parts = spent(schedule)
    lost, overhead = (float((by_job(schedule, one) * cores).sum()) for one in (parts.lost, parts.overhead))
    return lost, overhead, done
