"""What the tests of figures share: schedules of the same jobs by different schedulers."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload

MACHINE = 64


@pytest.fixture(scope="session")
def workload() -> Workload:
    """300 jobs of all sizes over some weeks."""
    random = np.random.default_rng(5)
    run = np.exp(random.uniform(0, 11, 300)).astype(np.int64)
    return Workload.from_columns(
        {
            "submit_time": np.sort(random.integers(0, 40 * 86_400, 300)),
            "run_time": run,
            "requested_time": run * random.integers(1, 5, 300),
            "requested_processors": random.choice([1, 2, 3, 8, 12, 20, MACHINE], 300),
            "user_id": random.integers(0, 9, 300),
        },
        name="sample",
        processors=MACHINE,
        start_time=0,
    )


@pytest.fixture(scope="session")
def schedules(workload: Workload) -> dict[str, Schedule]:
    """Ten schedules, more than there are colours: each starts the waiting jobs in an order of its own."""
    random = np.random.default_rng(6)
    return {
        f"scheduler {number}": greedy(workload, random.random(len(workload)), f"scheduler {number}")
        for number in range(10)
    }


def greedy(workload: Workload, priority: np.ndarray, scheduler: str) -> Schedule:
    """Return the schedule in which, at each event, the waiting jobs that fit start by priority."""
    submit, run, needed = workload.submit_time, workload.run_time, workload.job_processors
    start = np.full(len(workload), -1)
    overtook = np.zeros(len(workload), dtype=bool)
    waiting: list[int] = []
    running: list[tuple[int, int]] = []
    arrivals = list(range(len(workload)))
    while arrivals or waiting:
        now = min([end for end, _ in running] + [int(submit[job]) for job in arrivals[:1]])
        running = [(end, job) for end, job in running if end > now]
        while arrivals and submit[arrivals[0]] <= now:
            waiting.append(arrivals.pop(0))
        for job in sorted(waiting, key=lambda job: priority[job]):
            if needed[job] <= MACHINE - sum(needed[other] for _, other in running):
                overtook[job] = job != waiting[0]
                waiting.remove(job)
                start[job] = now
                running.append((now + int(run[job]), job))
    return Schedule(
        workload,
        start_time=start,
        end_time=start + run,
        backfilled=overtook,
        killed=run == workload.requested_time,
        predicted_run_time=workload.requested_time,
        corrections=np.zeros(len(workload), dtype=np.int64),
        scheduler=scheduler,
        processors=MACHINE,
    )
