"""The schedule of a workload: when each job started and ended, and under which rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.workload import Workload


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Schedule:
    """What a simulation decided: one row per job of the workload, in the workload's order.

    Parameters
    ----------
    workload
        The jobs, as they were simulated.
    start_time, end_time
        int64 seconds, on the workload's clock. A killed job ends at its request.
    backfilled
        Whether the job started ahead of the head of the queue while that was waiting for processors.
    killed
        Whether the job was ended at its requested time, before it was done.
    predicted_run_time
        int64 seconds: the run time that the scheduler assumed when the job was submitted.
    corrections
        How often that prediction expired and was corrected while the job ran.
    scheduler
        The scheduler text.
    processors
        Size of the machine.
    events
        The event order, "batched" or "pyss".
    specification
        Everything else that the simulation was told.
    """

    workload: Workload
    start_time: NDArray[np.int64]
    end_time: NDArray[np.int64]
    backfilled: NDArray[np.bool_]
    killed: NDArray[np.bool_]
    predicted_run_time: NDArray[np.int64]
    corrections: NDArray[np.int64]
    scheduler: str
    processors: int
    events: str = "batched"
    specification: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.workload)
