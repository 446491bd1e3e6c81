"""What jobs ask for, at a glance, and the jobs of some partitions."""

from __future__ import annotations

import json

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.workload.resources import Resources
from schedlab.workload.sampling import in_partitions
from schedlab.workload.summary import summarise
from schedlab.workload.workload import Workload

ASKED = Resources.of(
    4,
    nodes=[1, 2, 0, 0],
    gpus_per_node=[0, 4, 0, 0],
    gpus=[0, 0, 1, 0],
    gpu_share=[1000, 1000, 300, 1000],
    exclusive=[1, 0, 0, 0],
    partition=["cpu", "gpu", "gpu,long", None],
    account=["ocean", "ocean", None, "lakes"],
)
JOBS = Workload.from_columns(
    {"submit_time": np.arange(4), "run_time": [1] * 4, "requested_processors": [1] * 4}, resources=ASKED
)


def test_a_summary_counts_names_and_describes_requests() -> None:
    summary = summarise(JOBS)
    told = summary.resources
    assert told is not None
    assert told.partitions == {"cpu": 1, "gpu": 1, "gpu,long": 1}
    assert told.accounts == {"ocean": 2, "lakes": 1}
    assert (told.gpus.count, told.gpus.maximum, told.exclusive, told.shared_gpus) == (2, 8.0, 1, 1)
    assert "accounts          ocean 2 (50.0%), lakes 1 (25.0%)" in str(summary)
    json.dumps(summary.to_dict(), allow_nan=False)
    assert summarise(JOBS.replace(resources=None)).resources is None


def test_jobs_of_a_partition_are_those_that_may_run_there() -> None:
    assert in_partitions(JOBS, ["gpu"]).submit_time.tolist() == [1, 2]
    assert in_partitions(JOBS, ["cpu", "long"]).submit_time.tolist() == [0, 2]
    with pytest.raises(InputError, match="no job is in the partition 'debug'; the partitions are cpu, gpu, gpu,long"):
        in_partitions(JOBS, ["debug"])
    with pytest.raises(InputError, match="the jobs name no partitions"):
        in_partitions(JOBS.replace(resources=None), ["cpu"])
