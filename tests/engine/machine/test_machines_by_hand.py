"""Nodes, memory, GPUs, partitions and arrays, held against a real slurmctld: `conformance/slurm-machines.json`.

The expectations are Slurm's starts, in five phases of its loops (see `conformance/README.md`). Slurm notices an end
with its next tick, and puts a pass that is asked for off by up to three seconds (`batch_sched_delay`); what counts here
is behind which end, or submission, a job starts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.files import read_cluster
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.slurm.job_table import array_size
from schedlab.workload.event_lines import read_event_lines
from schedlab.workload.resources import Labels

CASES = json.loads((Path(__file__).parents[3] / "conformance" / "slurm-machines.json").read_text(encoding="utf-8"))
TICK, DELAY = 1, 3


def cluster_of(case, directory):
    """Return the cluster of a case, read from a slurm.conf."""
    memory = "SelectTypeParameters=CR_CPU_Memory" if "RealMemory" in "".join(case["lines"]) else ""
    lines = ["ClusterName=lab", "SelectType=select/cons_tres", "GresTypes=gpu", memory or "SelectTypeParameters=CR_CPU"]
    (directory / "slurm.conf").write_text("\n".join([*lines, *case["lines"], ""]))
    return read_cluster(directory / "slurm.conf")


def workload_of(case, directory):
    """Return the jobs of a case, an array as its elements; and the job of each row."""
    path = directory / "jobs.events"
    lines, job_of, arrays, limits = ([] for _ in range(4))
    for number, (submit, run_time, *options) in enumerate(case["jobs"]):
        array = next((word for word in options if word.startswith("--array=")), "")
        words = " ".join(word for word in options if word != array)
        for _ in range(array_size(options)):
            lines.append(f"-dt {submit} -e submit_batch_job | -sim-walltime {run_time + TICK} {words} pseudo.job")
            job_of.append(number)
            arrays.append(f"array {number}" if array else None)
            limits.append(int(array.partition("%")[2] or 0))
    path.write_text("\n".join([*lines, ""]))
    jobs = read_event_lines(path)
    resources = replace(jobs.resources, array=Labels.of(arrays), array_limit=np.array(limits))
    return jobs.replace(resources=resources, requests_enforced=False), np.array(job_of)


def near(found, starts):
    """Return whether starts are those of a phase, later or earlier by no more than passes are put off."""
    late = np.abs(np.concatenate(found) - np.concatenate(starts))
    return bool((late <= DELAY * (1 + np.arange(len(late)))).all())


def starts_agree(case, scheduler, directory):
    """Return whether the starts are those of a phase."""
    cluster = cluster_of(case, directory)
    jobs, job_of = workload_of(case, directory)
    schedule = replay(prepare(jobs, scheduler, cluster=cluster))
    found = [sorted(schedule.start_time[job_of == job].tolist()) for job in range(len(case["jobs"]))]
    return any(near(found, starts) for starts in case["starts"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_jobs_start_behind_the_ends_behind_which_real_slurm_started_them(case, tmp_path):
    assert starts_agree(case, "fcfs+slurm(version=22.05)", tmp_path) is not ("differs" in case)


def test_the_compiled_engine_starts_them_as_its_twin_does(tmp_path):
    for case in CASES:
        cluster = cluster_of(case, tmp_path)
        jobs, _ = workload_of(case, tmp_path)
        expected = replay(prepare(jobs, "fcfs+slurm", cluster=cluster)).start_time
        assert simulate(jobs, "fcfs+slurm", cluster=cluster).start_time.tolist() == expected.tolist(), case["name"]


def test_the_table_of_what_is_covered_counts_the_cases_that_there_are():
    folder = Path(__file__).parents[3] / "conformance"
    page = (folder / "nodes" / "README.md").read_text(encoding="utf-8")
    table = page[page.index("## What is covered") : page.index("## 59 ")]
    for name in ("limits", "by-hand"):
        cases = json.loads((folder / f"slurm-{name}.json").read_text(encoding="utf-8"))
        agree = sum("differs" not in case for case in cases)
        line = next(line for line in table.splitlines() if f"`{name}`: " in line)
        assert f"{len(cases)} cases" in line
        assert f"{agree} of {len(cases)}" in line
    named = [case["name"] for case in CASES]
    assert not [name for name in named if name not in table]
    assert not any("differs" in case for case in CASES)
