"""Which nodes a job gets while others are off, held against a real slurmctld: `conformance/slurm-sleeper-choices.json`.

The file has what 22.05 did, and `versions`, where another version did otherwise.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_choices_of_versions import answers_of

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.nodes import NodeGroup, Switch
from schedlab.cluster.power_saving import PowerSaving
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

GROUPS = json.loads(
    (Path(__file__).parents[4] / "conformance" / "slurm-sleeper-choices.json").read_text(encoding="utf-8")
)
ROUND, WOKEN, HELD, ARRIVAL = 3000, 500, 950, 1000
LOOK = 40


def cluster_of(group):
    """Return the nodes, below their switches if there are any."""
    switches = [dict(word.split("=") for word in line.split()) for line in group["topology"]]
    leaf = {name: one["SwitchName"] for one in switches for name in host_names(one.get("Nodes", ""))}
    groups = [
        NodeGroup.of(f"n{number}", cores=group["cores"], weight=weight, switch=leaf.get(f"n{number}"))
        for number, weight in enumerate(group["weights"], 1)
    ]
    tree = [Switch(name, "top") for name in sorted({*leaf.values()})]
    cluster = Cluster.of_nodes(groups, switches=[Switch("top"), *tree] if tree else [])
    return replace(cluster, power_saving=PowerSaving(*group["saving"]))


def workload_of(group):
    """Return the jobs of all choices, and the rows of those that choose."""
    rows, choosing = [], []
    for place, choice in enumerate(group["choices"]):
        begin, on, cores = place * ROUND, [f"n{number}" for number in choice["on"]], group["cores"]
        rows.append((begin + WOKEN, 300, len(on) * cores, len(on), cores, ",".join(on)))
        rows += [(begin + HELD, 600, held, 1, 0, name) for name, held in choice["held"].items()]
        asked = {option[:2]: int(option[2:]) for option in choice["options"]}
        choosing.append(len(rows))
        rows.append((begin + ARRIVAL, 60, asked["-n"], asked.get("-N", 0), 0, ""))
    submit, run, tasks, nodes, per_node, names = zip(*rows, strict=True)
    columns = {"submit_time": submit, "run_time": run, "requested_processors": tasks}
    resources = Resources.of(len(rows), tasks=tasks, nodes=nodes, tasks_per_node=per_node, nodelist=names)
    processors = len(group["weights"]) * group["cores"]
    asked_for = {"requested_time": np.full(len(rows), 1200)}
    return Workload.from_columns(columns | asked_for, processors=processors, resources=resources), choosing


def nodes_chosen(group, version):
    """Return the nodes of each job that chooses, None for one that waits, as engine and reference find them."""
    jobs, choosing = workload_of(group)
    text = f"fcfs+slurm(version={version}),placement={'switches' if group['topology'] else 'consecutive'}"
    return answers_of(jobs, text, cluster_of(group), choosing, group["saving"][1] + LOOK)


@pytest.mark.parametrize(("version", "alike"), [("22.05", (80, 100)), ("24.11", (79, 157)), ("26.05", (80, 160))])
def test_a_version_gives_jobs_the_nodes_that_its_model_does(version, alike):
    # In 22.05, weight makes no difference among nodes that are off, which is not modelled.
    same = {True: 0, False: 0}
    for group in GROUPS:
        for found, choice in zip(nodes_chosen(group, version), group["choices"], strict=True):
            seen = choice.get("versions", {}).get(version, choice["nodes"])
            same[len(set(group["weights"])) == 1] += found == (seen and sorted(host_names(seen)))
    assert (same[True], same[False]) == alike
