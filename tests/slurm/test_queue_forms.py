"""One queue of the real slurmctld, read from all that Slurm prints of it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from machines_on_slurm import configuration_of

from schedlab.slurm.jobs import BatchJob
from schedlab.slurm.laboratory import Laboratory
from schedlab.workload._queue_text import COMMAND
from schedlab.workload.files import read_workload
from schedlab.workload.workload import Workload

NODE = "CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=8000 State=UNKNOWN"
LINES = [f"NodeName=n[1-2] {NODE}", "PartitionName=p Nodes=ALL State=UP Default=YES MaxTime=INFINITE"]
JOBS = (
    ("-n4", "-t120", "--array=0-6:2,11%2"),
    ("-n4", "-t120", "--hold"),
    ("-n4", "-t120", "-d", "afterok:3"),
    ("-n4", "-t120", "--begin=now+7200"),
    ("-n4", "-tUNLIMITED", "-d", "afterany:1"),
    ("-n4", "-t60", "--mem=1000", ":", "-n2", "-t60", "--mem=500"),
)
"""Submitted behind job 1, which holds the machine; they are the jobs 2 to 8."""

FORMS = {
    "text": re.search(r'--format="([^"]*)"', COMMAND)[1],  # type: ignore[index]
    "json": "--json",
    "scontrol": "show job",
    "oneliner": "--oneliner show job",
}


@pytest.fixture(scope="module")
def queues(real_slurm: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return what Slurm prints of the queue, by form."""
    directory, found = tmp_path_factory.mktemp("queue"), {}

    def submit() -> None:
        for options in JOBS:
            laboratory.command(["sbatch", "--wrap=true", *options])

    def look() -> None:
        for form, options in FORMS.items():
            words = ["squeue", "--all", options if form == "json" else f"--format={options}"]
            said = laboratory.command(["scontrol", *options.split()] if form in ("scontrol", "oneliner") else words)
            found[form] = directory / form
            found[form].write_text(said.stdout)
        laboratory.command(["scancel", "--state=PENDING", "--partition=p"])

    with Laboratory(replace(configuration_of({"lines": LINES})), phase=0.2) as laboratory:
        laboratory.add([BatchJob(0, 300, ("-N2", "--exclusive", "-t60", "-J", "a Partition=b"))])
        laboratory.at(100, submit)
        laboratory.at(200, look)
        laboratory.run()
    return found


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_say_the_same(queues: dict[str, Path], form: str) -> None:
    jobs = read_workload(queues[form])
    begin = int(jobs.submit_time.max())
    assert begin == 100 + 7200
    assert rows(jobs) == sorted(
        [(1, 0, 16, 3600), *[(2, 100, 4, 7200)] * 5, (5, begin, 4, 7200), (6, 100, 4, -1), (7, 100, 6, 3600)]
    )
    told = {"held, left out: 1", "waiting for their begin time: 1", "tasks of arrays, in 1 records of the file: 5"}
    assert {f" Note: {note}" for note in told} <= set(jobs.header)
    assert any(line.startswith(" Note: waiting for other jobs: 2, 1 of them left out") for line in jobs.header)
    after, asked = jobs.dependencies, jobs.resources
    assert after is not None
    assert asked is not None
    assert (jobs.job_id[after.children].tolist(), jobs.job_id[after.parents].tolist()) == ([6], [1])
    assert set(zip(asked.array.texts(), asked.array_limit.tolist(), strict=True)) == {("", 0), ("2", 2)}
    if form != "text":
        assert asked.exclusive[jobs.job_id == 1].tolist() == [1]


def rows(jobs: Workload) -> list[tuple[int, ...]]:
    """Return number, submission, processors and request of each job, sorted."""
    columns = (jobs.job_id, jobs.submit_time, jobs.job_processors, jobs.requested_time)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))
