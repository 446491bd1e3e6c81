"""The jobs of a simulation as predictors and policies in Python are told of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.prepared import Prepared
from schedlab.scheduler.own_predictor import JobView

COLUMNS = ("job_id", "user_id", "group_id", "executable_id", "queue_id", "partition_id")


class JobViews:
    """What may be known of the jobs of a simulation as they are submitted.

    Parameters
    ----------
    prepared
        The simulation.
    request
        int64 seconds: the present requested times.
    """

    def __init__(self, prepared: Prepared, request: NDArray[np.int64]) -> None:
        self._columns = {name: prepared.column(name) for name in COLUMNS}
        self._jobs, self._request = prepared.jobs, request

    def view(self, job: int) -> JobView:
        """Return what may be known of a job."""
        columns = {name: int(column[job]) for name, column in self._columns.items()}
        return JobView(
            submit_time=int(self._jobs["submit"][job]),
            requested_time=int(self._request[job]),
            processors=int(self._jobs["processors"][job]),
            **columns,
        )
