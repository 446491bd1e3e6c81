"""Environments for agents: decisions per second and core, resets and memory, with the outcome checked by `simulate`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl
from schedlab.gym.episodes import Episodes

WINDOW, SIDE_BY_SIDE = 256, 64


def environments(_: Path) -> Iterator[Result]:
    """Steps with and without observations, resets, and the size of a vector."""
    rng = np.random.default_rng(1)
    jobs = sl.clean(sl.model.tsafrir_estimates(sl.model.lublin(5_000, 256, rng=rng, load=1.1), rng=rng))
    episodes = Episodes(SIDE_BY_SIDE, jobs, window=WINDOW)
    for shown, label, goal in ((True, "with the observation of 128 jobs", 3e5), (False, "without observations", 2e6)):
        rates = [steps(episodes, rng, shown) for _ in range(5)]
        yield Result(
            f"decisions per second and core, {label}",
            f"{max(rate for rate, _ in rates):,.0f}",
            f"{goal:,.0f}",
            max(rate for rate, _ in rates) >= goal,
            "rewards add up to the metric of the schedules",
            all(right for _, right in rates),
        )
    seconds = []
    for _ in range(2_000):
        begin = time.perf_counter()
        drawn = episodes.begin(0, rng)
        seconds.append(time.perf_counter() - begin)
    number = episodes.know("saf+easy")
    episodes.begin(0, rng, {"start": drawn.low})
    episodes.play_out(0, number)
    expected = sl.simulate(drawn.workload, "saf+easy").start_time.tolist()
    yield Result(
        f"reset of a window of {WINDOW} jobs, median",
        f"{np.median(seconds) * 1e6:.1f} us",
        "20 us",
        float(np.median(seconds)) <= 20e-6,
        "an agent that plays saf+easy gives its schedule",
        episodes.schedule(0).start_time.tolist() == expected,
    )
    vector = Episodes(1_024, jobs, window=WINDOW)
    for e in range(1_024):
        vector.begin(e, np.random.default_rng(e % 2))
    yield Result(
        "1,024 environments in one vector",
        f"{vector.size / 1e6:.0f} MB",
        "1,000 MB",
        vector.size <= 1e9,
        "environments with the same seed are the same",
        bool((vector.pool.shown[::2] == vector.pool.shown[0]).all()),
    )


def steps(episodes: Episodes, rng: np.random.Generator, shown: bool) -> tuple[float, bool]:
    """Play all episodes, always the first possible action; return the rate, and whether the rewards are right."""
    for e in range(SIDE_BY_SIDE):
        episodes.begin(e, rng)
    pool = episodes.pool
    rewards, seconds, decisions = np.zeros(SIDE_BY_SIDE), 0.0, 0
    while not (over := episodes.over).all():
        actions = pool.mask.argmax(axis=1)
        begin = time.process_time()
        episodes.step(actions, shown=shown)
        if not over.any():  # all of them work
            seconds += time.process_time() - begin
            decisions += SIDE_BY_SIDE
        rewards += pool.reward
    metric = [episodes.schedule(e).metrics()["mean_bounded_slowdown"] for e in range(SIDE_BY_SIDE)]
    return decisions / seconds, bool(np.allclose(-rewards, metric, rtol=1e-9))
