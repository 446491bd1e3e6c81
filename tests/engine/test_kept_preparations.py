"""Simulations that are kept with their workloads: the same as those prepared afresh, and nobody else's."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from schedlab.engine import kept_preparations
from schedlab.engine.prepared import prepare
from schedlab.errors import InputError
from schedlab.workload.workload import Workload

SCHEDULERS = ["fcfs", "saf+easy", "f1+easy@ave2/doubling", "fcfs+conservative", "wfp3+slurm(interval=30)"]


def workload() -> Workload:
    columns = {"submit_time": [5, 0, 9], "run_time": [30, 40, 20], "requested_time": [60, 60, 30]}
    return Workload.from_columns({**columns, "requested_processors": [2, 4, 1]}, processors=4)


def fields(prepared) -> list[object]:
    return [one.tolist() if isinstance(one, np.ndarray) else one for one in prepared]


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_kept_simulation_is_the_one_prepared_afresh(scheduler, monkeypatch):
    jobs = workload()
    prepare(jobs, scheduler)
    kept = prepare(jobs, scheduler)
    monkeypatch.setattr("schedlab.engine.prepared.kept_preparation", lambda given: None)
    assert fields(kept) == fields(prepare(jobs, scheduler))
    assert kept.workload is jobs


def test_it_is_found_again(monkeypatch):
    jobs = workload()
    prepare(jobs, "saf+easy")
    monkeypatch.setattr("schedlab.engine.prepared._prepared", lambda given: pytest.fail("prepared afresh"))
    assert prepare(jobs, "saf+easy").processors == 4


def test_what_a_simulation_writes_to_is_its_own():
    jobs = workload()
    first = prepare(jobs, "saf+easy")
    first.jobs["duration"] = first.request[:] = 0
    second = prepare(jobs, "saf+easy")
    assert second.jobs["duration"].tolist() == [40, 30, 20]
    second.jobs["duration"] = second.request[:] = 0
    assert prepare(jobs, "saf+easy").request.tolist() == [60, 60, 30]


def test_another_machine_is_another_simulation():
    jobs = workload()
    assert [prepare(jobs, "fcfs", processors=size).processors for size in (4, 8, 4)] == [4, 8, 4]
    with pytest.raises(InputError):
        prepare(jobs, "fcfs", processors=2)


@pytest.mark.parametrize("sizes", [{"in_order": 1.0}, {"processors": 4.0}])
def test_what_is_refused_is_refused_beside_its_equal(sizes):
    jobs = workload()
    prepare(jobs, "fcfs", in_order=1)
    prepare(jobs, "fcfs", processors=4)
    with pytest.raises(InputError, match="is not a whole number"):
        prepare(jobs, "fcfs", **sizes)


def test_a_workload_is_not_kept_by_its_simulations():
    jobs = workload()
    prepare(jobs, "fcfs")
    kept = weakref.ref(jobs)
    assert jobs in kept_preparations._KEPT
    del jobs
    gc.collect()
    assert kept() is None
