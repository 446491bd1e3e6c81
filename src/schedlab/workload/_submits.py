"""The rule about submit times that all readers share."""

from __future__ import annotations

import numpy as np

from schedlab.workload.columns import UNKNOWN
from schedlab.workload.workload import Workload


def first_bad_submit(workload: Workload) -> int | None:
    """Return the row of the first job whose submit time is unusable, or None.

    A submit time may be unknown (-1) only if the job never ran: in the LLNL Thunder log, cancelled jobs have no times
    at all. A cleaning rule drops them before a simulation.
    """
    submit = workload.submit_time
    bad = (submit < 0) & ((submit != UNKNOWN) | (workload.run_time >= 0))
    return int(np.argmax(bad)) if bad.any() else None
