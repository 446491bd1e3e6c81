"""Jobs for the tests of environments."""

from __future__ import annotations

import numpy as np

from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import tsafrir_estimates
from schedlab.workload.cleaning import clean
from schedlab.workload.workload import Workload


def model_jobs(seed: int, jobs: int = 150, processors: int = 64, load: float = 1.3) -> Workload:
    """Return jobs of the model of Lublin and Feitelson with estimates as users give them."""
    rng = np.random.default_rng(seed)
    return clean(tsafrir_estimates(lublin(jobs, processors, rng=rng, load=load), rng=rng))


def random_jobs(seed: int, jobs: int = 60, processors: int = 8, enforced: bool = True) -> Workload:
    """Return jobs with many ties, requests that are too short and runs of 0 s."""
    rng = np.random.default_rng(seed)
    columns = {
        "submit_time": np.sort(rng.integers(0, 4 * jobs, jobs)),
        "run_time": rng.integers(0, 40, jobs),
        "requested_time": rng.integers(1, 45, jobs),
        "requested_processors": rng.integers(1, processors + 1, jobs),
        "user_id": rng.integers(-1, 4, jobs),
    }
    return Workload.from_columns(columns, processors=processors, requests_enforced=enforced)
