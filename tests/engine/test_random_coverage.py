"""What binds in a case, by hand."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import random_coverage
from drawn_cases import Case, found_by_engine
from random_coverage import differ, table, without

from schedlab.cluster.cluster import Cluster
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload


def two_jobs() -> Case:
    """Return two jobs beside each other, of which the second waits: its user may run one at a time."""
    document = {
        "groups": [{"nodes": "n1", "cores": 4}],
        "accounts": [{"name": "root", "parent": ""}, {"name": "a", "limits": {"grp_jobs": 1, "grp_submit_jobs": 9}}],
        "users": [{"user": "1", "account": "a", "default": True}],
    }
    columns = {"submit_time": [0, 0], "run_time": [10, 10], "requested_time": [10, 10], "user_id": [1, 1]}
    jobs = Workload.from_columns(
        columns | {"requested_processors": [1, 1]}, resources=Resources.of(2, tasks=[1, 1]), header=(" User: 1 1",)
    )
    options = {"cluster": Cluster.from_dict(document)}
    return Case(jobs, "multifactor(size=5,favor=small)+slurm(interval=60,depth=3),placement=best", options, document)


def test_of_two_limits_only_the_one_that_makes_a_job_wait_binds() -> None:
    case = two_jobs()
    answer = found_by_engine(case)
    assert answer["start_time"] == [0, 10]
    others = {name: make() for name, make in without(case) if name.startswith("cluster: ")}
    assert {name: differ(answer, found_by_engine(other)) for name, other in others.items()} == {
        "cluster: accounts.limits.grp_jobs": True,
        "cluster: accounts.limits.grp_submit_jobs": False,
    }


def test_options_are_taken_out_of_texts() -> None:
    made = {name.partition(": ")[2]: make for name, make in without(two_jobs()) if name.startswith("sched")}
    texts = {name: make().scheduler for name, make in made.items()}
    assert texts["size"] == "fcfs+slurm(interval=60,depth=3),placement=best"
    assert texts["favor"] == "multifactor(size=5)+slurm(interval=60,depth=3),placement=best"
    assert texts["depth"] == "multifactor(size=5,favor=small)+slurm(interval=60),placement=best"
    assert texts["placement"] == "multifactor(size=5,favor=small)+slurm(interval=60,depth=3)"


def test_the_program_finds_all_that_it_imports() -> None:
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-W", "ignore", random_coverage.__file__, "--help"]
    done = subprocess.run(command, env=usual, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_cases_are_counted_until_enough_have_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_coverage, "case_of", lambda *_: two_jobs())
    monkeypatch.setattr(random_coverage, "AT_A_TIME", 1)
    lines = table("drawn", 5)
    jobs, submitted = lines["cluster: accounts.limits.grp_jobs"], lines["cluster: accounts.limits.grp_submit_jobs"]
    assert (jobs.tried, jobs.bound, jobs.cases) == (2, 2, 2)  # one of 100 is twice of 2 by a chance of 1 in 10,000
    assert (submitted.tried, submitted.bound, submitted.cases) == (5, 0, 5)
