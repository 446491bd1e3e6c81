"""Our model of Slurm against real Slurm clusters that ran in real time: `conformance/real-slurm.csv`.

The expectations are the clusters' own starts (see `conformance/README.md`). Real Slurm does not repeat itself: two
clusters with the same configuration and the same jobs start them, job by job, some seconds apart, for their passes meet
arrivals in another phase, and one other choice early on changes many later ones. How far such replicas lie apart is the
measure for a model: it may lie twice as far from a cluster as the farthest replica of that configuration does. Below 5
seconds nothing is told apart: main passes are three seconds apart, Slurm looks once a second whether one is due, and
its times are whole seconds.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from schedlab.engine import simulate
from schedlab.workload.workload import Workload

RECORDED = pd.read_csv(Path(__file__).parents[3] / "conformance" / "real-slurm.csv")
PROCESSORS = 256
DEEP = "slurm(depth=1000,queue_depth=1000,version=22.05)"
SCHEDULERS = {
    "cores": f"fcfs+{DEEP[:-1]},shared=256)",
    "depth": "fcfs+slurm(depth=5,shared=256,version=22.05)",
    "small": f"multifactor(size=1000000,favor=small)+{DEEP[:-1]},shared=256)",
    "nodes": f"fcfs+{DEEP[:-1]},node=8)",
    "nodes-depth": "fcfs+slurm(depth=10,node=8,version=22.05)",
    "nodes-small": f"multifactor(size=1000000000,favor=small,relative=yes)+{DEEP[:-1]},node=8)",
}
"""By the name of the configuration: a replica's name without its number."""

SAME = ["processors", "requested_time", "run_time"]
TOLD_APART = 5.0
RUNS = dict(list(RECORDED.groupby("run")))
REPLICAS = {name: [jobs for run, jobs in RUNS.items() if run.rpartition("-")[0] == name] for name in SCHEDULERS}


def since_first(jobs: pd.DataFrame) -> np.ndarray:
    return (jobs["start"] - jobs["submit"].min()).to_numpy()


def farthest_replicas(configuration: str) -> float:
    """Return the largest mean difference of starts between two replicas, in seconds."""
    starts = [since_first(jobs) for jobs in REPLICAS[configuration]]
    return max(float(np.abs(one - other).mean()) for one, other in combinations(starts, 2))


def modelled(configuration: str, jobs: pd.DataFrame, scheduler: str | None = None) -> np.ndarray:
    workload = Workload.from_columns(
        {
            "submit_time": jobs["submit"].to_numpy(),
            "run_time": (jobs["end"] - jobs["start"]).to_numpy(),
            "requested_processors": jobs["processors"].to_numpy(),
            "requested_time": jobs["requested_time"].to_numpy(),
        },
        processors=PROCESSORS,
    )
    return simulate(workload, scheduler or SCHEDULERS[configuration]).start_time


@pytest.mark.parametrize("run", RUNS)
def test_the_record_is_a_schedule_of_the_same_150_jobs(run):
    jobs = RUNS[run]
    assert jobs["job"].tolist() == list(range(1, 151))
    np.testing.assert_array_equal(jobs[SAME], RUNS["cores-1"][SAME])
    assert (jobs["start"] >= jobs["submit"]).all()
    assert (jobs["end"] - jobs["start"] - jobs["run_time"]).between(0, 1).all()
    node = 8 if run.startswith("nodes") else 1
    size = -(-jobs["processors"] // node) * node
    in_use = [size[(jobs["start"] <= second) & (second < jobs["end"])].sum() for second in jobs["start"]]
    assert max(in_use) <= PROCESSORS


@pytest.mark.parametrize("configuration", SCHEDULERS)
def test_the_model_starts_jobs_nearly_when_real_slurm_does(configuration):
    bound = max(TOLD_APART, 2 * farthest_replicas(configuration))
    for jobs in REPLICAS[configuration]:
        assert np.abs(modelled(configuration, jobs) - jobs["start"]).mean() <= bound


@pytest.mark.parametrize("configuration", SCHEDULERS)
def test_the_mean_wait_of_the_model_is_that_of_real_slurm_to_a_tenth(configuration):
    real = np.mean([(jobs["start"] - jobs["submit"]).mean() for jobs in REPLICAS[configuration]])
    ours = np.mean([(modelled(configuration, jobs) - jobs["submit"]).mean() for jobs in REPLICAS[configuration]])
    assert ours == pytest.approx(real, rel=0.1)
