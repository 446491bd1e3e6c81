"""Simulations of jobs that write checkpoints, in steps: forked, saved and added to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedlab import Simulation, Workload, simulate
from schedlab.errors import InputError
from schedlab.workload import Resources


@pytest.fixture(scope="module")
def jobs() -> Workload:
    """Return twelve jobs that run into their limits, and go on."""
    rng, count = np.random.default_rng(1), 12
    width = rng.integers(1, 4, count)
    resources = Resources.of(count, tasks=width, checkpoint_interval=np.full(count, 7))
    return Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, 50, count)),
            "run_time": rng.integers(5, 60, count),
            "requested_time": rng.integers(20, 40, count),
            "requested_processors": width,
        },
        processors=4,
        resources=replace(resources, checkpoint_cost=np.full(count, 2), restart_cost=np.full(count, 3)),
    )


def test_interrupted_forked_and_saved_it_goes_on_as_if_nothing_had_been(jobs, tmp_path: Path) -> None:
    whole = simulate(jobs, "fcfs+easy").runs.tolist()
    assert sum(not done for *_, done, _, saved, _ in whole if saved) > 3  # several have gone on
    first = Simulation(jobs, "fcfs+easy")
    first.run(until=60)
    fork = first.fork()
    first.save(tmp_path / "saved.sim")
    for one in (first, fork, Simulation.load(tmp_path / "saved.sim")):
        one.run()
        assert one.schedule().runs.tolist() == whole


def test_jobs_that_are_added_go_on_like_others(jobs) -> None:
    early = jobs.submit_time <= 30
    some = Simulation(jobs[early], "fcfs+easy")
    some.run(until=30)
    some.submit(jobs[~early])
    some.run()
    assert sorted(some.schedule().runs.tolist()) == sorted(simulate(jobs, "fcfs+easy").runs.tolist())


def test_they_are_not_added_where_no_job_can_run_twice(jobs) -> None:
    early = jobs.submit_time <= 30
    some = Simulation(jobs[early].replace(resources=None), "fcfs+easy")
    some.run(until=30)
    with pytest.raises(InputError, match="cannot be added to a simulation in which no job can run twice"):
        some.submit(jobs[~early])
