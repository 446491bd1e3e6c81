"""Who goes first of equal priorities when jobs come back: as a real Slurm did it, and by hand.

The expectations of `conformance/slurm-requeues.json` are what an unmodified slurmctld 22.05 did, in five phases of its
loops (`tests/slurm/requeues_on_slurm.py`): when each run of each job began and ended.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from plain_process import number_printed
from test_preemption_by_hand import agree, cluster_of

from schedlab.cluster.hostlist import host_names
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.engine.assembly import assemble
from schedlab.engine.driver import Driver
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import schedule_of
from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.scheduler.backfilling import TICK
from schedlab.scheduler.slurm_rules import naming_version
from schedlab.slurm.translation import translate
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

CASES = json.loads((Path(__file__).parents[4] / "conformance" / "slurm-requeues.json").read_text(encoding="utf-8"))
BACK = 2
"""Seconds after the command, from none to four, at which Slurm has a node back."""
DELAY = 120
"""Seconds after which Slurm lets a job begin again whose node has failed."""


def workload_of(case):
    """Return the jobs of a case."""
    submit, processors, run, limit = np.array([job[:4] for job in case["jobs"]]).T
    where = [option.removeprefix("-p") for job in case["jobs"] for option in job[4:] if option.startswith("-p")]
    waiting = [row for row, job in enumerate(case["jobs"]) for option in job[4:] if option.startswith("-d")]
    columns = {"submit_time": submit, "requested_processors": processors, "run_time": run}
    return Workload.from_columns(
        {**columns, "requested_time": limit},
        resources=Resources.of(len(submit), partition=where) if where else None,
        dependencies=Dependencies.from_pairs(waiting, [0] * len(waiting), jobs=len(submit)) if waiting else None,
    )


def prepared_of(case, directory):
    """Return the simulation of a case."""
    happening = (
        NodeEvent(second + BACK * (what == "up"), what, tuple(host_names(nodes)))
        for second, what, nodes in case.get("events", [])
    )
    cluster = cluster_of({"partitions": {"batch": "Default=YES"}, **case}, directory)
    events = NodeEvents(tuple(happening), requeue_delay=DELAY)
    scheduler = Scheduler.parse(naming_version(case["scheduler"], "22.05"))
    scheduler = replace(scheduler, backfill=replace(scheduler.backfill, tick=TICK))
    return prepare(workload_of(case), scheduler, cluster=cluster, node_events=events)


def runs_of(schedule):
    """Return the runs of each job: begin and end."""
    found = [[] for _ in schedule.start_time]
    if schedule.runs is None:
        return [[list(run)] for run in zip(schedule.start_time.tolist(), schedule.end_time.tolist(), strict=True)]
    for run in schedule.runs:
        found[run["job"]].append([int(run["start"]), int(run["end"])])
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_model_does_as_real_slurm_did(case, tmp_path):
    assert agree(runs_of(replay(prepared_of(case, tmp_path))), case["runs"]) is ("differs" not in case)


def test_the_engine_does_as_the_twin(tmp_path):
    assert number_printed(__file__, str(tmp_path)) == len(CASES)


def compare(directory):
    """Run all cases with the engine and its reference; print how many there are."""
    for case in CASES:
        prepared = prepared_of(case, directory)
        driver = Driver(prepared, assemble(prepared))
        driver.run()
        mine = schedule_of(prepared, driver.world, prepared.jobs["estimate"])
        assert runs_of(mine) == runs_of(replay(prepared_of(case, directory))), case["name"]
    print(len(CASES))


def test_there_are_enough_cases():
    assert len(CASES) >= 18
    assert not any("differs" in case for case in CASES)


def test_ties_by_number_are_priority_basic_in_the_laboratory():
    columns = {"submit_time": [0], "requested_processors": [1], "run_time": [5], "requested_time": [60]}
    jobs = Workload.from_columns(columns, processors=2)
    made = translate(jobs, Scheduler.parse("fcfs+slurm(ties=number)")).configuration
    assert made.value("PriorityType") == "priority/basic"
    with pytest.raises(InputError, match="Slurm breaks ties by number under priority/basic alone: write fcfs"):
        translate(jobs, Scheduler.parse("saf+slurm(ties=number)"))


if __name__ == "__main__":
    compare(Path(sys.argv[1]))
