"""Logs for the tests of start forecasts."""

from __future__ import annotations

import numpy as np

import schedlab as sl


def busy_log(seed=1, jobs=400, weeks=4, processors=16):
    """Return jobs of a few users who repeat their requests, with a queue most of the time."""
    rng = np.random.default_rng(seed)
    user = rng.integers(1, 6, jobs)
    request = rng.choice([3_600, 7_200, 14_400], jobs) * user
    return sl.Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, weeks * 7 * 86_400, jobs)),
            "run_time": np.maximum(1, (request * rng.beta(1 + user, 3)).astype(int)),
            "requested_time": request,
            "requested_processors": rng.integers(1, processors + 1, jobs),
            "user_id": user,
        },
        processors=processors,
    )
