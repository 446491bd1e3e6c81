"""What the tests of searches share: small windows, and executors that need no simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.model.lublin_feitelson import lublin
from schedlab.workload.cleaning import clean
from schedlab.workload.workload import Workload


def small_windows(count: int = 3, jobs: int = 120, load: float = 1.1) -> list[Workload]:
    """Return windows of a busy machine of 64 processors, requests being run times."""
    return [clean(lublin(jobs, 64, rng=np.random.default_rng(seed), load=load)) for seed in range(count)]


def one_at_a_time(seed: int, jobs: int = 60) -> Workload:
    """Return jobs submitted at once that each need more than half of the machine: only their run times matter."""
    rng = np.random.default_rng(seed)
    run_time = rng.integers(100, 400, jobs)
    columns = {
        "submit_time": np.zeros(jobs, dtype=np.int64),
        "run_time": run_time,
        "requested_time": run_time,
        "requested_processors": rng.integers(33, 65, jobs),
    }
    return Workload.from_columns(columns, processors=64)


def same_run_times(seed: int) -> Workload:
    """Return 40 serial jobs and 20 for the whole machine that run equally long, whatever they request.

    All are submitted at once. Whoever starts the serial ones first, together, has mean waits of 100 (1 + ... + 20) / 60
    = 350 seconds, which no other order has.
    """
    rng = np.random.default_rng(seed)
    columns = {
        "submit_time": np.zeros(60, dtype=np.int64),
        "run_time": np.full(60, 100),
        "requested_time": (10 ** rng.uniform(2, 6, 60)).astype(np.int64),
        "requested_processors": rng.permutation(np.repeat([1, 64], [40, 20])),
    }
    return Workload.from_columns(columns, processors=64)


class Pretender(Executor):
    """Answers at once with losses that a function makes up, and counts how many."""

    def __init__(self, losses: Callable[[str, Sequence[int]], NDArray[np.float64]]) -> None:
        self._losses = losses
        self.windows_of: dict[str, int] = {}

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Return what the function says of a formula and the numbers of windows."""
        formula, numbers = args
        self.windows_of[formula] = self.windows_of.get(formula, 0) + len(numbers)
        future: Future[Any] = Future()
        future.set_result(self._losses(formula, numbers))
        return future
