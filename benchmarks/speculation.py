"""How fast request sequences are found, and jobs that may fail at their requests are simulated."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl
from schedlab.speculate.atoptimal import atoptimal
from schedlab.speculate.discretise import discretise
from schedlab.speculate.toptimal import OptimalSequence, toptimal
from schedlab_papers import icpp19_scenarios

DISTRIBUTION = sl.requests.RunTimeDistribution.parse("truncnorm(0h,20h,mu=8h,sigma=2h)")

REPEATS = 3

UTILISATION = {"HPC": 0.540, "Neuroscience": 0.675, "TOptimal": 0.707}
"""What ScheduleFlow 1.1 gives for jobs that take the whole machine, mean of 50 runs."""


def sequences(traces: Path) -> Iterator[Result]:
    """TOptimal and ATOptimal on fine grids, against the costs that were verified for ICPP'19."""
    cases: list[tuple[str, Callable[[], OptimalSequence], float, float]] = [
        ("TOptimal, 2,000 points", lambda: toptimal(discretise(DISTRIBUTION, 2_000)), 0.1, 11.936),
        ("ATOptimal, zeta 0.1, 46 points", lambda: atoptimal(discretise(DISTRIBUTION, 46), 0.1), 0.1, 12.089411),
        ("ATOptimal, zeta 0.1, 200 points", lambda: atoptimal(discretise(DISTRIBUTION, 200), 0.1), 3, 12.055),
    ]
    for name, solve, goal, hours in cases:
        solve()  # compiled
        times = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            best = solve()
            times.append(time.perf_counter() - begin)
        cost = best.cost / 3_600
        yield Result(
            name, f"{min(times):.3f} s", f"{goal} s", min(times) < goal, f"{cost:.4f} h", abs(cost - hours) < 0.01
        )


def scenario_1(traces: Path) -> Iterator[Result]:
    """Scenario 1 of ICPP'19 in full: 4 distributions x 4 allocations x 3 methods x 50 runs of 100 jobs."""
    with tempfile.TemporaryDirectory() as directory:
        icpp19_scenarios.distributions_and_allocations(
            icpp19_scenarios.Setting(Path(directory, "once"), 1, None)
        )  # compiled
        begin = time.perf_counter()
        frame = icpp19_scenarios.distributions_and_allocations(
            icpp19_scenarios.Setting(Path(directory, "full"), 50, None)
        )
        seconds = time.perf_counter() - begin
    full = frame[frame["workload"].str.contains("truncated normal") & frame["workload"].str.contains("full")]
    means = full.groupby("method")["utilisation"].mean()
    right = len(frame) == 2_400 and all(abs(means[method] - value) < 0.02 for method, value in UTILISATION.items())
    shown = ", ".join(f"{method} {means[method]:.3f}" for method in UTILISATION)
    yield Result(
        "ICPP'19, scenario 1", f"{seconds:.1f} s", "20 s", seconds < 20, f"{len(frame):,} runs; {shown}", right
    )


def mixed(traces: Path) -> Iterator[Result]:
    """10,000 jobs with a distribution within 100,000 others, with EASY and speculation; no processor is used twice."""
    rng = np.random.default_rng(1)
    ordinary = sl.model.tsafrir_estimates(sl.model.lublin(100_000, 1_024, rng=rng, load=0.7), rng=rng)
    count = 10_000
    columns = {
        "submit_time": np.r_[ordinary.submit_time, rng.integers(0, ordinary.submit_time.max(), count)],
        "run_time": np.r_[ordinary.run_time, np.maximum(1, DISTRIBUTION.sample(rng, count).astype(np.int64))],
        "requested_time": np.r_[ordinary.requested_time, np.full(count, 72_000)],
        "requested_processors": np.r_[ordinary.job_processors, rng.integers(1, 64, count)],
    }
    distribution = np.r_[np.full(len(ordinary), -1), np.zeros(count, dtype=np.int64)]
    jobs = (
        sl.Workload.from_columns(columns, processors=1_024)
        .replace(distribution=distribution, distributions=(DISTRIBUTION.text,))
        .sorted_by_submit()
    )
    for text in ("fcfs+easy,requests=toptimal,speculation=0.2", "saf+easy,requests=toptimal,speculation=0"):
        sl.simulate(jobs[:2_000], text)
        begin = time.perf_counter()
        schedule = sl.simulate(jobs, text)
        seconds = time.perf_counter() - begin
        yield Result(
            f"100,000 + 10,000 jobs, {text}",
            f"{seconds:.1f} s",
            "10 s",
            seconds < 10,
            f"{len(schedule.runs):,} runs, never more than the machine",
            _fits(schedule) and not schedule.killed[jobs.distribution >= 0].any(),
        )


def _fits(schedule: sl.Schedule) -> bool:
    """Return whether the runs never need more processors than there are."""
    runs = schedule.runs
    width = schedule.workload.job_processors[runs["job"]]
    times = np.r_[runs["end"], runs["start"]]
    change = np.r_[-width, width]
    order = np.lexsort((change, times))
    return int(np.cumsum(change[order]).max()) <= schedule.processors
