"""Jobs that are cancelled while they wait, as numbers, for the engine and its reference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload


def patience_by_job(workload: Workload) -> NDArray[np.int64] | None:
    """Return for how many seconds each job waits before it is cancelled, 0 for ever; None if all wait for ever.

    Raises
    ------
    InputError
        If components of a heterogeneous job, which are cancelled together, have several values.
    """
    resources = workload.resources
    if resources is None or not resources.patience.any():
        return None
    _check_together(resources)
    return resources.patience


def _check_together(resources: Resources) -> None:
    rows = np.flatnonzero(resources.het_job.codes >= 0)
    _, first, job = np.unique(resources.het_job.codes[rows], return_index=True, return_inverse=True)
    other = resources.patience[rows] != resources.patience[rows[first]][job]
    if other.any():
        row = int(rows[np.argmax(other)])
        name = shown(resources.het_job.names[resources.het_job.codes[row]])
        raise InputError(
            f"heterogeneous job {name}: its components are cancelled together, but have several values of patience, "
            f"from row {row} on; give them one",
            row=row,
        )
