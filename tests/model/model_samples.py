"""Logs whose distributions and dependences are known, for the tests of models."""

from __future__ import annotations

import numpy as np

from schedlab.workload.workload import Workload

HOUR = 3_600


def log_of(jobs: int = 2_000, seed: int = 1, **attributes: object) -> Workload:
    """Return jobs of two kinds: small ones of an hour that use all of it, and wide ones of a day that use a tenth."""
    rng = np.random.default_rng(seed)
    wide = rng.random(jobs) < 0.25
    requested = np.where(wide, 24 * HOUR, HOUR)
    columns = {
        "submit_time": np.cumsum(rng.integers(0, 200, jobs)),
        "run_time": np.where(wide, requested // 10, requested),
        "requested_processors": np.where(wide, 48, 2),
        "requested_time": requested,
        "user_id": np.where(wide, 7, rng.integers(1, 4, jobs)),
    }
    return Workload.from_columns(columns, **{"processors": 96, "name": "two-kinds", **attributes})
