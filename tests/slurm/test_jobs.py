"""What a workload is as submissions of sbatch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import schedlab as sl
from schedlab.errors import InputError
from schedlab.slurm.jobs import from_workload
from schedlab.workload.resources import CHECKPOINTS, LABELS, NUMBERS, Resources
from schedlab.workload.sbatch import request_of

ASKED = Resources.of(
    3,
    nodes=[2, 0, 1],
    tasks=[8, 1, 4],
    tasks_per_node=[4, 0, 0],
    cores_per_task=[1, 2, 1],
    memory_per_node=[4096, 0, 0],
    memory_per_core=[0, 100, 0],
    gpus=[0, 0, 1],
    gpus_per_node=[2, 0, 0],
    exclusive=[0, 0, 1],
    gpu_type=["a100", None, None],
    constraint=["ib&new", None, None],
    partition=["gpu,batch", None, "batch"],
    account=["physics", None, None],
    qos=[None, "high", None],
)


def jobs(**changes):
    columns = {"submit_time": [0, 1, 2], "run_time": [60] * 3, "requested_time": [90] * 3, "user_id": [1, 2, 1]}
    columns["requested_processors"] = [8, 2, 4]
    workload = sl.Workload.from_columns(columns, processors=64, header=(" User: 1 ann",), resources=ASKED)
    return workload.replace(**changes)


def test_what_a_job_asks_for_becomes_options_that_say_the_same():
    for row, job in enumerate(from_workload(jobs(), resources=True).jobs):
        request = request_of(job.options)
        for name in NUMBERS:
            if name not in ("gpu_share", "patience", *CHECKPOINTS):  # none is an option of sbatch
                assert getattr(request, name) == getattr(ASKED, name)[row], name
        for name in LABELS:
            if name not in ("array", "het_job"):
                assert (getattr(request, name) or "") == getattr(ASKED, name).texts()[row], name
        assert request.elements == 0  # elements of an array are submitted one by one
        assert request.seconds == 120  # limits are whole minutes
        assert not request.unused


def test_without_a_site_jobs_ask_for_processors_alone():
    assert from_workload(jobs()).jobs[0].options == ("-n", "8", "-t", "2")


def test_users_have_the_names_of_the_header_and_numbers_without():
    listed = from_workload(jobs(), users=True)
    assert [job.user for job in listed.jobs] == ["ann", "u2", "ann"]
    assert listed.users == ("ann", "u2")


def test_a_job_that_shares_a_gpu_is_refused():
    shared = Resources.of(3, gpus=[0, 1, 0], gpu_share=[1000, 500, 1000])
    with pytest.raises(InputError, match="job 2 shares a GPU"):
        from_workload(jobs(resources=shared), resources=True)


def test_jobs_are_cancelled_when_their_patience_is_over_if_they_still_wait():
    patient = jobs(resources=replace(ASKED, patience=np.array([0, 40, 7])))
    cancel = ("scancel", "--state=PENDING")
    assert [(one.second, one.words) for one in from_workload(patient).commands] == [
        (41, (*cancel, "%job(1)")),
        (9, (*cancel, "%job(2)")),
    ]
    assert from_workload(jobs()).commands == ()
