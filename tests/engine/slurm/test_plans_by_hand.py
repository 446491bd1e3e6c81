"""Jobs that wait beside each other on nodes, held against a real slurmctld: `conformance/slurm-plans.json`.

What is expected is when and where slurmctld started each job (`tests/slurm/plans_on_slurm.py`). It notices an end with
its next tick, so a job holds its nodes for a second more than it runs. Passes come at other seconds there, so a start
may lie up to a minute away: behind the same end, or submission, in nearly all cases. In groups about the seconds of
passes it lies `within` a few seconds.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.files import read_cluster
from schedlab.cluster.hostlist import host_names
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.workload.event_lines import read_event_lines

GROUPS = json.loads((Path(__file__).parents[3] / "conformance" / "slurm-plans.json").read_text(encoding="utf-8"))
TICK, MINUTE = 1, 60
OPTIONS = {"bf_resolution": "resolution", "bf_node_space_size": "plan_size"}
"""Options of SchedulerParameters in our words."""


def text_of(group):
    """Return the scheduler of a group."""
    options = filter(None, group["parameters"].get("SchedulerParameters", "").split(","))
    pairs = [option.split("=") for option in options]
    told = [*(f"{OPTIONS[name]}={value}" for name, value in pairs), "version=22.05"]
    return f"fcfs+slurm({','.join(told)}),placement=consecutive"


def cluster_of(group, directory):
    """Return the cluster of a group, read from a slurm.conf."""
    kind = "CR_CPU_Memory" if "RealMemory" in "".join(group["lines"]) else "CR_CPU"
    lines = ["ClusterName=lab", "SelectType=select/cons_tres", f"SelectTypeParameters={kind}", *group["lines"], ""]
    (directory / "slurm.conf").write_text("\n".join(lines))
    return read_cluster(directory / "slurm.conf")


def workload_of(case, directory):
    """Return the jobs of a case."""
    lines = [
        f"-dt {submit} -e submit_batch_job | -sim-walltime {run_time + TICK} {' '.join(options)} pseudo.job"
        for submit, run_time, *options in case["jobs"]
    ]
    (directory / "jobs.events").write_text("\n".join([*lines, ""]))
    return read_event_lines(directory / "jobs.events").replace(requests_enforced=False)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{len(group['cases'])} cases")
def test_each_job_starts_when_and_where_real_slurm_started_it(group, tmp_path):
    cluster = cluster_of(group, tmp_path)
    for number, case in enumerate(group["cases"]):
        jobs = workload_of(case, tmp_path)
        schedule = simulate(jobs, text_of(group), cluster=cluster)
        expected = np.array([start for start, _ in case["seen"]])
        assert (np.abs(schedule.start_time - expected) < group.get("within", MINUTE)).all(), number
        where, names = schedule.placement, schedule.placement.nodes
        for nodes, (_, seen) in zip(np.split(where.node, where.offsets[1:-1]), case["seen"], strict=True):
            assert {names[node] for node in nodes} == set(host_names(seen)), number


def test_the_twin_starts_them_as_the_engine_does(tmp_path):
    for group in GROUPS:
        cluster = cluster_of(group, tmp_path)
        for case in group["cases"][:: 8 if group["random"] else 1]:
            jobs = workload_of(case, tmp_path)
            expected = replay(prepare(jobs, text_of(group), cluster=cluster)).start_time
            assert simulate(jobs, text_of(group), cluster=cluster).start_time.tolist() == expected.tolist(), case


def test_there_are_cases_made_by_hand_and_random_ones():
    assert sum(len(group["cases"]) for group in GROUPS if group["random"]) == 184
    assert sum(len(group["cases"]) for group in GROUPS if not group["random"]) == 35
