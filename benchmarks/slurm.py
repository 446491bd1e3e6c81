"""How fast Slurm's priority and its two passes are simulated."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl
from schedlab.engine.reference.simulate import simulate_plain

DAY = 86_400
NODES = 10_000
NODE = 24
PRIORITY = "multifactor(age=50000000,size=600000000,favor=small,relative=yes)"
AS_EASY = "slurm(interval=0,depth=all,resolution=1,window=all,reserve=1,queue_depth=all,delay=0)"


def crowd(jobs: int, days: int, *, at_once: int = 0) -> sl.Workload:
    """Return jobs of one to 100 nodes and up to a day; the first `at_once` of them are there from the beginning."""
    rng = np.random.default_rng(2026)
    run = np.ceil(rng.lognormal(8, 1.5, jobs)).clip(60, DAY).astype(np.int64)
    submit = np.sort(np.r_[np.zeros(at_once, dtype=np.int64), rng.integers(0, days * DAY, jobs - at_once)])
    columns = {
        "submit_time": submit,
        "run_time": run,
        "requested_time": np.minimum(run * rng.integers(1, 10, jobs), 2 * DAY),
        "requested_processors": NODE * np.ceil(rng.lognormal(1.5, 1.2, jobs)).clip(1, 100).astype(np.int64),
        "user_id": rng.integers(1, 200, jobs),
    }
    return sl.Workload.from_columns(columns, processors=NODES * NODE)


def slurm(traces: Path) -> Iterator[Result]:
    """A queue of 10,000 jobs before 10,000 nodes; the same rules against EASY and against the reference."""
    jobs = crowd(85_000, 7, at_once=25_000)
    small = crowd(600, 1, at_once=300).replace(processors=300 * NODE)
    for text in (f"{PRIORITY}+slurm(depth=500,node=24)", f"multifactor(age=1000,fairshare=9000)+slurm(node={NODE})"):
        sl.simulate(small, text)
        begin = time.perf_counter()
        schedule = sl.simulate(jobs, text)
        seconds = time.perf_counter() - begin
        faster = schedule.end_time.max() / seconds
        right = bool(np.array_equal(sl.simulate(small, text).start_time, simulate_plain(small, text).start_time))
        shown = f"{mean_queue(schedule):,.0f} jobs waiting; 600 jobs equal the reference"
        name = f"Slurm, 10,000 nodes, {'fair share' if 'fair' in text else 'age and size'}"
        yield Result(name, f"{faster:,.0f} x real time", "5,000 x", faster > 5_000, shown, right)
    easy, same = (sl.simulate(jobs, text).start_time for text in ("fcfs+easy", f"fcfs+{AS_EASY}"))
    yield Result("Slurm's passes as EASY", "-", "-", True, "85,000 starts equal", bool(np.array_equal(easy, same)))


def mean_queue(schedule: sl.Schedule) -> float:
    """Return how many jobs wait on average between the first submission and the last start."""
    return float(schedule.wait_time.sum() / schedule.start_time.max())
