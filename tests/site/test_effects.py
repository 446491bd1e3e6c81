"""What a variant does to groups of jobs, by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from schedlab.schedule.schedule import Schedule
from schedlab.site.effects import effects
from schedlab.site.samples import THE_LOG
from schedlab.site.sweep import Paired
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

USERS = (" User: 1 ann", " User: 2 bob")


def answer(jobs: Workload, waits: np.ndarray) -> Any:
    none, start = np.zeros(len(jobs), dtype=bool), jobs.submit_time + waits
    schedule = Schedule(
        jobs,
        start,
        start + jobs.run_time,
        backfilled=none,
        killed=none,
        predicted_run_time=jobs.run_time,
        corrections=np.zeros(len(jobs), dtype=np.int64),
        scheduler="x",
        processors=8,
    )
    fate, rows = np.zeros(len(jobs), dtype=np.int8), np.arange(len(jobs))
    variant = SimpleNamespace(name="x")
    told = {"schedule": schedule, "rows": rows, "fate": fate, "jobs": jobs, "sample": THE_LOG, "variant": variant}
    return SimpleNamespace(**told, cores=jobs.job_processors)


def test_a_user_most_of_whose_jobs_are_in_a_group_that_surely_pays_is_told_with_it():
    """Of ann's 40 jobs, 35 are in QOS low and wait 100 s longer; those of 160 jobs of bob in QOS high 0 or 2 s less."""
    user = np.tile([1, 2, 2, 2, 2], 40)
    qos = np.where((user == 1) & (np.arange(200) % 40 > 0), "low", "high")
    columns = {"submit_time": 3600 * np.arange(200), "run_time": [60] * 200, "requested_processors": [1] * 200}
    jobs = Workload.from_columns(
        columns | {"user_id": user}, resources=Resources.of(200, qos=qos.tolist()), processors=8, header=USERS
    )
    longer = np.where(qos == "low", 100, np.where(user == 2, -2 * (np.arange(200) % 3 == 0), 0))
    found = {
        (one.kind, one.group): one
        for one in effects([Paired(answer(jobs, np.full(200, 500)), answer(jobs, 500 + longer))])
    }
    assert (found["QOS", "low"].jobs, found["QOS", "low"].verdict) == (35, "pays")
    assert found["user", "ann"].difference == 35 * 100 / 40
    assert found["user", "ann"].told
    assert not found["user", "bob"].told
    assert not found["all", "all jobs"].told
