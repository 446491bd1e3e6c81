"""What jobs of a schedule held of the machine, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.schedule.stretches import by_stretch

if TYPE_CHECKING:
    from schedlab.schedule.schedule import Schedule


class Held(NamedTuple):
    """Processors held from a start to an end: one row per run where runs may fail, else per job, or size of one.

    `done`: whether that was not in vain. A job that was killed where none comes back counts as done.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    processors: NDArray[np.int64]
    done: NDArray[np.bool_]


def held_by(schedule: Schedule) -> Held:
    """Return what jobs held, see `Schedule.held`."""
    if (sizes := schedule.sizes) is not None:
        return Held(sizes["start"], sizes["end"], sizes["processors"], np.broadcast_to(np.True_, len(sizes)))
    if schedule.pauses is not None:
        return held_by(by_stretch(schedule))
    processors = schedule.workload.job_processors
    if schedule.cancelled is not None:
        processors = np.where(schedule.cancelled, 0, processors)
    if (runs := schedule.runs) is None:
        return Held(schedule.start_time, schedule.end_time, processors, np.broadcast_to(np.True_, len(schedule)))
    return Held(runs["start"], runs["end"], processors[runs["job"]], runs["done"])
