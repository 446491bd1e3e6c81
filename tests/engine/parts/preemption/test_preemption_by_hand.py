"""Preemption as a real Slurm did it, and by hand.

The expectations of `conformance/slurm-preemption.json` are what an unmodified slurmctld 22.05 did, in five phases of
its loops (`tests/slurm/preemption_on_slurm.py`): when each run of each job began and ended. The cases go through the
plain engine, which `test_preemption.py` compares with the compiled one.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.files import read_cluster
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.schedule.stretches import by_stretch
from schedlab.scheduler.slurm_rules import under_version
from schedlab.site.scheduling import Numbers, scheduling_of
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

CASES = json.loads((Path(__file__).parents[4] / "conformance" / "slurm-preemption.json").read_text(encoding="utf-8"))
TICK = 1
"""Slurm may do anything up to a second later, with its next tick."""


def cluster_of(case, directory):
    """Return the cluster of a case, read as Slurm reads it."""
    names = "n1" if case["nodes"] == 1 else f"n[1-{case['nodes']}]"
    lines = [f"NodeName={names} CPUs={case.get('cores', 1)}", "SelectType=select/cons_tres"]
    lines += ["SelectTypeParameters=CR_CPU", *(f"{name}={value}" for name, value in case["parameters"].items())]
    lines += [
        f"PartitionName={name} {rest if 'Nodes=' in rest else f'Nodes=ALL {rest}'}"
        for name, rest in case["partitions"].items()
    ]
    (directory / "slurm.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
    if "accounts" in case:
        script = ["add cluster name=lab fairshare=1", *case["accounts"]]
        (directory / "accounts.script").write_text("\n".join(script) + "\n", encoding="utf-8")
    return read_cluster(directory)


def workload_of(case):
    """Return the jobs of a case."""
    submit, processors, run, limit = np.array([job[:4] for job in case["jobs"]]).T
    where = {"qos" if "accounts" in case else "partition": [job[4] for job in case["jobs"]]}
    if any("--partition" in option for job in case["jobs"] for option in job[5:]):
        where["partition"] = [job[5].removeprefix("--partition=") if job[5:] else "" for job in case["jobs"]]
    columns = {"submit_time": submit, "requested_processors": processors, "run_time": run}
    resources = Resources.of(len(submit), **where)
    return Workload.from_columns({**columns, "requested_time": limit}, resources=resources)


def scheduler_of(case, cluster):
    """Return how a site with the parameters of a case schedules; without weights, all priorities are equal."""
    values = {"prioritytype": "priority/multifactor", "selecttype": "select/cons_tres"}
    values |= {name.lower(): value for name, value in case["parameters"].items()}
    return under_version(scheduling_of(values, cluster, Numbers({}, {})).scheduler, "22.05")


def runs_of(case, directory, scheduled=scheduler_of):
    """Return the runs of each job by the model: begin and end."""
    closures = (
        NodeEvent(begin, "maintenance", tuple(host_names(nodes)), end, announced)
        for announced, begin, end, nodes in case.get("maintenance", [])
    )
    events = NodeEvents(tuple(closures)) if "maintenance" in case else None
    cluster = cluster_of(case, directory)
    prepared = prepare(workload_of(case), scheduled(case, cluster), cluster=cluster, node_events=events)
    found = [[] for _ in case["jobs"]]
    schedule = by_stretch(replay(prepared))
    if schedule.runs is None:  # nobody can give way
        return [[[int(start), int(end)]] for start, end in zip(schedule.start_time, schedule.end_time, strict=True)]
    for run in schedule.runs:
        found[run["job"]].append([int(run["start"]), int(run["end"])])
    return found


def agree(mine, phases, within=TICK):
    """Return whether some phases show the same runs, each second within what these show, and a few seconds more."""
    phases = [phase for phase in phases if [len(runs) for runs in phase] == [len(runs) for runs in mine]]
    if not phases:
        return False
    for job, runs in enumerate(mine):
        others = [phase[job] for phase in phases]
        for place, run in enumerate(runs):
            for which in (0, 1):
                seconds = [other[place][which] for other in others]
                if not min(seconds) - within <= run[which] <= max(seconds) + within:
                    return False
    return True


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_model_does_as_real_slurm_did(case, tmp_path):
    assert agree(runs_of(case, tmp_path), case["runs"], case.get("within", TICK)) is ("differs" not in case)


def test_there_are_enough_cases_and_few_differ():
    assert len(CASES) == 105
    assert sum("differs" in case for case in CASES) == 7


if __name__ == "__main__":
    for one in CASES:
        import tempfile

        with tempfile.TemporaryDirectory() as name:
            mine = runs_of(one, Path(name))
            print(agree(mine, one["runs"], one.get("within", TICK)), one["name"], mine, "--", *one["runs"], sep="\n  ")
