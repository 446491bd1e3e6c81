"""What planning for many jobs and predicting with tens of thousands waiting cost, each beside the reference."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl

CURIE = "CEA-Curie-2011-2.1-cln.swf.gz"
E_LOSS = "fcfs+easy:sjf@e-loss/incremental"
FULL_DEPTH = "fcfs+slurm(depth=all,user_depth=all)"
TWIN_JOBS = 500


def saturated(jobs: int) -> sl.Workload:
    """Return a Lublin-Feitelson workload for 256 processors at load 1.2, with Tsafrir estimates."""
    rng = np.random.default_rng(2026)
    return sl.model.tsafrir_estimates(sl.model.lublin(jobs, 256, rng=rng, load=1.2), rng=rng)


def timed(jobs: sl.Workload, scheduler: str, repeats: int = 2) -> float:
    """Return the shortest time of several simulations, in seconds; compiling is not part of it."""
    sl.simulate(jobs[:200], scheduler)
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        sl.simulate(jobs, scheduler)
        times.append(time.perf_counter() - begin)
    return min(times)


def equals_the_twin(jobs: sl.Workload, scheduler: str) -> bool:
    """Return whether the first jobs start when the reference starts them."""
    few = jobs[:TWIN_JOBS]
    return bool(np.array_equal(sl.simulate(few, scheduler).start_time, sl.simulate_plain(few, scheduler).start_time))


def line(name: str, jobs: sl.Workload, scheduler: str, goal: float, repeats: int = 2) -> Result:
    """Return how long a simulation takes, beside its goal in seconds."""
    seconds = timed(jobs, scheduler, repeats)
    check = f"{TWIN_JOBS} jobs equal the reference"
    return Result(name, f"{seconds:.2f} s", f"{goal:g} s", seconds <= goal, check, equals_the_twin(jobs, scheduler))


def planning(traces: Path) -> Iterator[Result]:
    """Conservative backfilling and Slurm's passes at full depth, and how conservative's cost grows with the queue."""
    seconds, queues = [], []
    for count in (5_000, 20_000):
        jobs = saturated(count)
        seconds.append(timed(jobs, "fcfs+conservative") / count * 1e6)
        queues.append(float(sl.simulate(jobs, "fcfs+conservative").metrics()["mean_queue_length"]))
    yield Result(
        "conservative, cost of a job",
        f"{seconds[0]:.0f} us with {queues[0]:.0f} waiting, {seconds[1]:.0f} us with {queues[1]:.0f}",
        "-",
        True,
        f"{TWIN_JOBS} jobs equal the reference",
        equals_the_twin(saturated(TWIN_JOBS), "fcfs+conservative"),
    )
    yield line("conservative, 20,000 saturated jobs", saturated(20_000), "fcfs+conservative", 0.5)
    yield line("Slurm's passes at full depth, 100,000 saturated jobs", saturated(100_000), FULL_DEPTH, 20, 1)
    if not (traces / CURIE).is_file():
        print(f"planning: Curie is skipped, there is no {traces / CURIE}")
        return
    curie = sl.clean(sl.read_swf(traces / CURIE))
    yield line("conservative on Curie", curie, "fcfs+conservative", 1)
    yield line("E-loss on Curie", curie, E_LOSS, 1)


def predicting(_: Path) -> Iterator[Result]:
    """A million saturated jobs ordered by predictions, beside the order by requested areas."""
    jobs = saturated(1_000_000)
    plain = timed(jobs, "saf+easy")
    for scheduler in ("saf@similar+easy@requested", "fcfs+easy:sjf@ave2/incremental"):
        ratio = timed(jobs, scheduler, 1) / plain
        yield Result(
            f"{scheduler}, 1 M jobs",
            f"{ratio:.1f} times saf+easy, {ratio * plain:.2f} s",
            "3 times",
            ratio <= 3,
            f"{TWIN_JOBS} jobs equal the reference",
            equals_the_twin(jobs, scheduler),
        )
