"""The rule about submit times that all readers share."""

from __future__ import annotations

import numpy as np

from schedlab.workload.columns import UNKNOWN
from schedlab.workload.workload import Workload


def first_bad_submit(workload: Workload) -> int | None:
    """Return the row of the first job whose submit time is neither unknown (-1) nor from second 0 on, or None.

    A submit time is unknown of cancelled jobs (in the LLNL Thunder log), and of the parts of checkpointed jobs. A
    cleaning rule drops them before a simulation.
    """
    submit = workload.submit_time
    bad = (submit < 0) & (submit != UNKNOWN)
    return int(np.argmax(bad)) if bad.any() else None
