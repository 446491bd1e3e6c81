"""What the tests of learning share: a table of scores of made-up jobs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from schedlab.learn.scores import ScoreTable

Score = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def score_table(score: Score, *, jobs: int = 320, seed: int = 1, noise: float = 0.0) -> ScoreTable:
    """Return scores that are a function of run time, processors and submit time, ten to a tuple, with some noise."""
    rng = np.random.default_rng(seed)
    p, q, r = rng.integers(1, 20_000, jobs), rng.integers(1, 257, jobs), rng.integers(1, 9_000, jobs)
    values = score(*(column.astype(float) for column in (p, q, r))) + noise * rng.standard_normal(jobs)
    return ScoreTable(p, q, r, values, np.full(jobs, np.nan), np.full(jobs, -1), np.arange(jobs) // 10)
