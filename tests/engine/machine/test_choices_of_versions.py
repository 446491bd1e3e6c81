"""Which nodes jobs get under other versions of Slurm, held against slurmctlds 24.11.5 and 26.05.5.

The files of choices have what 22.05 did, and `versions`, where another version did otherwise; of some groups, that
one was asked every so many choices (`every`). What is not modelled is in `NOT_MODELLED`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import test_busy as busy
import test_consecutive as consecutive
import test_maximum_by_hand as maximum
import test_switches_by_hand as switches
import test_ways as ways

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.nodes import NodeGroup, Switch
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay_on_nodes
from schedlab.engine.simulation import simulate
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.slurm_rules import under_version
from schedlab.scheduler.slurm_versions import VERSIONS
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

FOLDER = Path(__file__).parents[3] / "conformance"
SOON = 5
OTHERS = VERSIONS[1:]


def groups_of(name, version):
    """Return the groups of a file with the choices that a version was asked, and what it answered."""
    groups = json.loads((FOLDER / f"slurm-{name}.json").read_text(encoding="utf-8"))
    inner = next(key for key in ("choices", "cases") if key in groups[0])
    seen = "waits" if inner == "cases" else "nodes"
    for group in groups:
        step = group.get("every", {}).get(version, 1)
        asked = [{**one, seen: one.get("versions", {}).get(version, one[seen])} for one in group[inner][::step]]
        yield {**group, inner: asked}


def answers_of(jobs, text, cluster, rows, soon=SOON):
    """Return the nodes of the jobs in some rows, None for those that wait, as engine and reference find them."""
    schedule = simulate(jobs, text, cluster=cluster)
    held = replay_on_nodes(prepare(jobs, text, cluster=cluster))[1]
    where, names = schedule.placement, schedule.placement.nodes
    places = np.split(where.node, where.offsets[1:-1])
    for row in rows:
        found = sorted(names[node] for node in places[row])
        assert found == sorted(names[piece.node] for piece in held[row])
        yield found if schedule.wait_time[row] <= soon else None


def following(text, version):
    """Return the text of a scheduler that follows a version of Slurm."""
    return under_version(Scheduler.parse(text.replace("fcfs,", "fcfs+slurm,")), version).text


def choices_of(name, version, directory):
    """Return nodes that jobs get in the model of a version, and nodes that they got, choice by choice."""
    for group in groups_of(name, version):
        if name == "switch-choices":
            jobs = [switches.choice_jobs(one, at * switches.ROUND) for at, one in enumerate(group["choices"])]
            rows = np.cumsum([len(mine) for mine in jobs]) - 1
            asked = switches.workload_of([job for mine in jobs for job in mine], directory)
            cluster, text = switches.cluster_of(group, directory), "fcfs+slurm,placement=switches"
        else:
            module = {"maximum": maximum, "consecutive": consecutive, "ways": consecutive}[name]
            asked, rows = module.jobs_of(group)
            cluster = (ways if name == "ways" else module).cluster_of(group)
            text = ways.text_of(group) if name == "ways" else "fcfs,placement=consecutive"
        answers = answers_of(asked, following(text, version), cluster, rows)
        for found, one in zip(answers, group["choices"], strict=True):
            yield group, found, one["nodes"] and sorted(host_names(one["nodes"]))


def is_by_load(group):
    """Return whether the least loaded nodes are chosen, which 26.05 does in a way of its own."""
    return "LLN" in group.get("partition", "") + group["parameters"].get("SelectTypeParameters", "")


@pytest.mark.parametrize(
    ("name", "version", "choices", "alike"),
    [
        ("maximum", "24.11", 300, 300),
        ("maximum", "26.05", 300, 300),
        ("consecutive", "24.11", 246, 246),
        ("consecutive", "26.05", 246, 246),
        ("ways", "24.11", 216, 216),
        ("ways", "26.05", 85, 85),
        ("switch-choices", "24.11", 321, 313),
        ("switch-choices", "26.05", 321, 314),
    ],
)
def test_a_version_gives_jobs_the_nodes_that_its_model_does(name, version, choices, alike, tmp_path):
    found = [
        (mine, seen)
        for group, mine, seen in choices_of(name, version, tmp_path)
        if not (name == "ways" and version == "26.05" and is_by_load(group))
    ]
    assert (len(found), sum(mine == seen for mine, seen in found)) == (choices, alike)


@pytest.mark.parametrize(("version", "alike"), [("24.11", 158), ("26.05", 156)])
def test_a_version_reserves_the_nodes_that_its_model_does_but_for_some_of_a_second_job(version, alike):
    agree = {1: 0, 2: 0}
    for group in groups_of("busy", version):
        for case in group["cases"]:
            jobs, expected = busy.jobs_of(case), np.array(case["waits"])
            text = following(busy.text_of(group), version)
            waits = simulate(jobs, text, cluster=busy.cluster_of(group)).wait_time[-len(expected) :]
            agree[len(case["heads"])] += bool((np.abs(waits - expected) < busy.MINUTE).all())
    assert agree == {1: 118, 2: alike - 118}


@pytest.mark.parametrize("version", OTHERS)
def test_nodes_on_which_a_job_cannot_begin_have_no_say_in_whether_all_are_of_one_weight(version):
    # The first job has n1, the only node of another weight. Of the others, each with room for two tasks of the second
    # job, n3 and n4 below one switch hold all three; n2, the first, is alone below its own.
    groups = [
        NodeGroup.of("n1", cores=4, weight=2, switch="s1", features=("y",)),
        NodeGroup.of("n2", cores=4, switch="s2"),
        NodeGroup.of("n[3-4]", cores=4, switch="s3"),
    ]
    cluster = Cluster.of_nodes(groups, switches=[Switch("top"), *(Switch(f"s{one}", "top") for one in (1, 2, 3))])
    columns = {"submit_time": [0, 10], "run_time": [100, 50], "requested_time": [100, 50]}
    jobs = Workload.from_columns({**columns, "requested_processors": [4, 6]}).replace(
        resources=Resources.of(2, tasks=[4, 3], cores_per_task=[1, 2], constraint=["y", None])
    )
    text = f"fcfs+slurm(version={version}),placement=switches"
    assert list(answers_of(jobs, text, cluster, [0, 1])) == [["n1"], ["n3", "n4"]]
