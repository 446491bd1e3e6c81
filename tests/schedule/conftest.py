"""What the tests of schedules share: one schedule worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


@pytest.fixture
def five_jobs() -> Schedule:
    """Five jobs on four processors; the fifth overtakes the fourth, and is killed after 10 of its 30 seconds.

    ====  ======  =====  ====  ==========  ====  ====
    job   submit  start  end   processors  user  wait
    ====  ======  =====  ====  ==========  ====  ====
    1     0       0      100   2           1     0
    2     10      10     60    2           2     0
    3     20      60     80    2           1     40
    4     30      100    105   4           2     70
    5     40      80     90    1           1     40
    ====  ======  =====  ====  ==========  ====  ====
    """
    workload = Workload.from_columns(
        {
            "submit_time": [0, 10, 20, 30, 40],
            "run_time": [100, 50, 20, 5, 30],
            "requested_time": [100, 60, 60, 60, 10],
            "requested_processors": [2, 2, 2, 4, 1],
            "user_id": [1, 2, 1, 2, 1],
            "wait_time": [7, 7, 7, 7, 7],
        },
        name="five",
        processors=4,
        start_time=1_000_000,
        header=(" MaxProcs: 4",),
    )
    last = np.arange(5) == 4
    return Schedule(
        workload,
        start_time=np.array([0, 10, 60, 100, 80]),
        end_time=np.array([100, 60, 80, 105, 90]),
        backfilled=last,
        killed=last,
        predicted_run_time=workload.requested_time,
        corrections=np.array([0, 0, 0, 2, 0]),
        scheduler="fcfs+easy",
        processors=4,
        specification={"window": 256, "seeds": (1, 2)},
    )
