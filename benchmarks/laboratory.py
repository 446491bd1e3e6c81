"""How fast the real Slurm runs in skipped time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from result import Result

import schedlab as sl

TRACES = Path(os.environ.get("SCHEDLAB_TRACES", "../shared/traces"))

SITES = TRACES.parent / "slurm-sites"
"""Where UB CCR's sites lie, as tutorials of https://github.com/ubccr-slurm-simulator/slurm_sim_tools have them."""

TEXT = "fcfs+slurm(depth=1000,queue_depth=1000)"


def dense() -> sl.Workload:
    """Return 150 jobs for 256 processors within half an hour: the load is 1."""
    rng = np.random.default_rng(7)
    run = np.clip(rng.lognormal(0, 0.8, 150) * 90, 20, 900).astype(np.int64)
    columns = {
        "submit_time": np.sort(rng.integers(0, 1800, 150)),
        "run_time": run,
        "requested_time": 60 * np.ceil(run * rng.uniform(1.05, 5, 150) / 60).astype(np.int64),
        "requested_processors": np.clip(rng.lognormal(0, 1, 150) * 15, 1, 128).astype(np.int64),
    }
    return sl.Workload.from_columns(columns, processors=256, name="dense")


def sparse() -> sl.Workload:
    """Return 1,000 jobs over two and a half days on 4,096 processors."""
    rng = np.random.default_rng(7)
    jobs = sl.model.tsafrir_estimates(sl.model.lublin(1000, 4096, rng=rng, load=0.8), rng=rng)
    scale = 2.5 * 86400 / float(np.ptp(jobs.submit_time))
    return jobs.replace(submit_time=(jobs.submit_time * scale).astype(np.int64))


def laboratory(traces: Path) -> Iterator[Result]:
    """A dense workload twice, which must agree to the bit."""
    try:
        sl.slurm.find_slurm()
    except sl.InputError as error:
        yield Result("Slurm laboratory", "-", "-", True, f"skipped: {error}"[:60], True)
        return
    jobs = dense()
    runs = []
    begin = time.perf_counter()
    for _ in range(2):
        runs.append(sl.slurm.run(jobs, TEXT, cores_per_node=256))
    seconds = (time.perf_counter() - begin) / 2
    speed = max(run.speed for run in runs)
    starts = [run.schedule.start_time for run in runs]
    same = bool(np.array_equal(*starts)) and not any(run.facts["rescues"] for run in runs)
    figure = f"{speed:,.0f} x real time, {seconds:.1f} s"
    yield Result("real Slurm, 150 dense jobs", figure, "400 x", speed >= 400, "two runs equal", same)


def long_laboratory(traces: Path) -> Iterator[Result]:
    """What takes minutes to an hour: 2.5 days, UB CCR's two sites, fifty laboratories at once."""
    run = sl.slurm.run(sparse(), TEXT, cores_per_node=256)
    right = len(run.schedule) == 1000 and not run.facts["rescues"]
    name = "real Slurm, 1,000 jobs over 2.5 days"
    yield Result(name, f"{run.speed:,.0f} x real time", "1,000 x", run.speed >= 1000, "all jobs ran", right)
    yield side_by_side(50)
    micro, medium = SITES / "ubccr-micro", SITES / "ubccr-medium"
    yield from _site("ten nodes, 500 jobs", micro / "jobs500.events", micro, 120)
    yield from _site("217 nodes, a week", traces / "modern" / "workload_week.events.gz", medium, 3600)


def side_by_side(number: int) -> Result:
    """Run so many laboratories at once, each with a slurmctld of its own; all must do the same."""
    jobs = dense()[:10]
    begin = time.perf_counter()
    with ThreadPoolExecutor(number) as pool:
        runs = list(pool.map(lambda _: sl.slurm.run(jobs, TEXT, cores_per_node=256), range(number)))
    seconds = time.perf_counter() - begin
    starts = {run.schedule.start_time.tobytes() for run in runs}
    right = len(starts) == 1 and not any(run.facts["rescues"] for run in runs)
    return Result(f"{number} laboratories at once", f"{seconds:.0f} s", "-", True, "all runs equal", right)


def _site(name: str, events: Path, conf: Path, goal: int) -> Iterator[Result]:
    if not (events.is_file() and conf.is_dir()):
        print(f"laboratory: skipped, there is no {events} or no {conf}")
        return
    jobs = sl.slurm.read_events(events)
    begin = time.perf_counter()
    run = sl.slurm.run(jobs, conf=conf)
    seconds = time.perf_counter() - begin
    figure = f"{seconds:,.0f} s, {run.speed:,.0f} x real time"
    ended = len(run.schedule) + len(run.rejected) == len(jobs.jobs)
    yield Result(f"real Slurm, {name}", figure, f"{goal} s", seconds <= goal, "all jobs ran or were rejected", ended)
