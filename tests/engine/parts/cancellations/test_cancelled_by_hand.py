"""Jobs that are cancelled while they wait: by hand, and as a real Slurm did it.

What is expected in `conformance/slurm-cancelled.json` is what an unmodified slurmctld 22.05 recorded, in five phases of
its loops: a job that is cancelled began and ended in that second. Slurm notices an end a second later, with its next
tick.
"""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from cancelled_on_slurm import CASES, drawn
from test_hetjobs_by_hand import machine
from test_hetjobs_by_hand import workload as without_patience

from schedlab.engine import simulate
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay

RECORDED = json.loads(CASES.read_text(encoding="utf-8"))
DELAY = 3
"""Seconds that Slurm may put a main pass off (batch_sched_delay)."""


def replayed(jobs, scheduler, cluster):
    """Simulate with the reference implementation."""
    return replay(prepare(jobs, scheduler, cluster=cluster))


def workload(case):
    """Return the components of the jobs of a case, with the patience that ends when they were cancelled."""
    jobs = without_patience(case)
    owner = np.repeat(np.arange(len(case["jobs"])), [len(job) - 2 for job in case["jobs"]])
    second = np.array([case["cancel"].get(str(job), 0) for job in owner])
    patience = np.where(second > 0, second - jobs.submit_time, 0)
    return jobs.replace(resources=replace(jobs.resources, patience=patience))


def late(case, schedule):
    """Return the largest difference of a second from the nearest phase; None where other jobs are cancelled."""
    found = []
    for runs in case["runs"]:
        parts = [part for job in runs for part in job]
        if schedule.cancelled.tolist() != [state == "CANCELLED" for *_, state in parts]:
            continue
        found.append(int(np.abs(schedule.start_time - [part[0] for part in parts]).max()))
    return min(found, default=None)


def scheduler_of(case):
    """Return the scheduler of a case, which chooses nodes as Slurm does without a topology."""
    parameters = case.get("parameters", {}).get("SchedulerParameters", "interval=30")
    return f"fcfs+slurm({parameters},version=22.05),placement=consecutive"


@pytest.mark.parametrize("engine", [simulate, replayed], ids=["engine", "reference"])
@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["name"])
def test_jobs_leave_and_start_as_they_did_on_real_slurm(case, engine):
    schedule = engine(workload(case), scheduler_of(case), cluster=machine(case))
    assert late(case, schedule) <= DELAY, schedule.start_time.tolist()


def test_there_are_enough_cases_and_those_drawn_are_what_their_seeds_give():
    assert len(RECORDED) >= 70
    for case in RECORDED:
        if case["name"].startswith("drawn"):
            assert {**drawn(int(case["name"].split()[1])), "runs": case["runs"]} == case
    cancelled = [state for case in RECORDED for job in case["runs"][0] for *_, state in job]
    assert cancelled.count("CANCELLED") > 100
