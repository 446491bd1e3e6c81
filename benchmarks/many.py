"""Small simulations: what one of them costs, and a hundred thousand."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl

JOBS = 48


def many(_: Path) -> Iterator[Result]:
    """`simulate`, `metrics` and `simulate_many` for workloads of 48 jobs."""
    parts = [small(seed) for seed in range(100)]
    one = parts[0]
    alone = best(lambda: sl.simulate(one, "saf+easy"), 2_000)
    plain = sl.simulate_plain(one, "saf+easy")
    yield Result(
        f"simulate {JOBS} jobs",
        f"{alone * 1e6:.0f} us",
        "60 us",
        alone <= 60e-6,
        "equals the reference",
        plain.start_time.tolist() == sl.simulate(one, "saf+easy").start_time.tolist(),
    )
    both = best(lambda: sl.simulate(one, "saf+easy").metrics(), 2_000)
    found, expected = sl.simulate(one, "saf+easy").metrics(), plain.metrics()
    yield Result(
        f"simulate {JOBS} jobs, all metrics",
        f"{both * 1e6:.0f} us",
        "150 us",
        both <= 150e-6,
        "equals the reference",
        found == expected,
    )
    formulas = [f'"p**{power / 1000} * q"+easy' for power in range(1_000)]
    sl.simulate_many(parts[:2], formulas[:2])
    begin = time.perf_counter()
    results = sl.simulate_many(parts, formulas, metrics="mean_bounded_slowdown", threads=2)
    seconds = time.perf_counter() - begin
    rng = np.random.default_rng(1)
    right = all(
        results[row, column] == sl.simulate(parts[row], formulas[column]).metrics()["mean_bounded_slowdown"]
        for row, column in zip(rng.integers(0, 100, 50), rng.integers(0, 1_000, 50), strict=True)
    )
    yield Result(
        f"simulate_many, 100,000 simulations of {JOBS} jobs, 2 threads on {os.cpu_count()} cores",
        f"{seconds:.2f} s",
        "1.5 s",
        seconds <= 1.5,
        "50 of them equal simulate",
        right,
    )


def small(seed: int) -> sl.Workload:
    """Return 48 jobs that have to wait."""
    rng = np.random.default_rng(seed)
    return sl.clean(sl.model.tsafrir_estimates(sl.model.lublin(JOBS, 256, rng=rng, load=1.1), rng=rng))


def best(action: Callable[[], object], repeats: int) -> float:
    """Return the shortest time of several runs, in seconds."""
    action()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)
