"""The machine."""

from __future__ import annotations

import pytest

from schedlab.cluster import Cluster
from schedlab.errors import InputError
from schedlab.workload.workload import Workload


def workload(processors, widest=4):
    columns = {"submit_time": [0, 0], "run_time": [1, 1], "requested_processors": [1, widest]}
    return Workload.from_columns(columns, processors=processors, name="little")


def test_the_machine_is_the_workloads_unless_another_is_given():
    assert Cluster.for_workload(workload(8)).processors == 8
    assert Cluster.for_workload(workload(8), 16).processors == 16


def test_a_machine_of_unknown_size_is_refused():
    with pytest.raises(InputError, match="little: it is not known how many processors"):
        Cluster.for_workload(workload(None))


def test_a_job_wider_than_the_machine_is_refused_by_its_row():
    with pytest.raises(InputError, match="job 2 needs 9 processors but the machine has 8") as caught:
        Cluster.for_workload(workload(8, widest=9))
    assert caught.value.row == 1


def test_a_machine_has_at_least_one_processor():
    with pytest.raises(InputError, match="at least 1 processor"):
        Cluster(0)
