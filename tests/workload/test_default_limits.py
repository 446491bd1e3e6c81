"""Time limits of jobs that asked for none."""

from __future__ import annotations

import pytest

from schedlab.errors import InputError
from schedlab.workload.default_limits import parse_default_limits, with_default_limits
from schedlab.workload.resources import Resources
from schedlab.workload.sampling import in_partitions
from schedlab.workload.workload import Workload

JOBS = Workload.from_columns(
    {"submit_time": [0, 1, 2], "run_time": [9, 9, 9], "requested_time": [30, -1, -1], "partition_id": [1, 1, 2]}
)


def test_only_jobs_without_a_limit_get_one_and_partitions_go_before_all() -> None:
    named = JOBS.replace(resources=Resources.of(3, partition=["cpu", "cpu", "gpu"]))
    assert with_default_limits(named, {"": "8h", "gpu": "2-0"}).requested_time.tolist() == [30, 28_800, 172_800]
    assert with_default_limits(JOBS, {"2": 60}).requested_time.tolist() == [30, -1, 60]


def test_partitions_without_names_are_numbers() -> None:
    assert in_partitions(JOBS, ["2"]).submit_time.tolist() == [2]
    with pytest.raises(InputError, match="no job is in the partition '3'; the partitions are 1, 2"):
        in_partitions(JOBS, ["3"])


@pytest.mark.parametrize(
    ("texts", "sentence"),
    [
        (["gpu=90"], "'gpu=90' has no unit"),
        (["gpu=1h", "gpu=2h"], "two default limits for partition 'gpu'"),
        (["gpu=soon"], "'soon' is not a duration"),
        (["0s"], "must be a duration of at least a second"),
    ],
)
def test_limits_that_mean_nothing_are_refused(texts: list[str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_default_limits(texts)
