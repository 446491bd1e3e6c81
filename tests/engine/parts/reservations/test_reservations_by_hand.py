"""Advance reservations: by hand, and as a real Slurm did it.

The expectations of `conformance/slurm-reservations.json` are the runs of an unmodified slurmctld 22.05, in five phases.
It starts jobs of a reservation some seconds after the begin, and ends them when it looks at time limits, up to 30
seconds after the end; a backfill pass comes up to 30 seconds after what makes room (`within`). Most cases go through
the plain engine, which `test_reservations.py` compares with the compiled one.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.parts.reservations.numbers import may_not_reserve
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

CASES = json.loads((Path(__file__).parents[4] / "conformance" / "slurm-reservations.json").read_text(encoding="utf-8"))
TICK = 1
"""Slurm notices an end a second later, with its next tick."""

USERS = {"ann": 1, "bob": 2}


def machine(nodes):
    return Cluster.of_nodes([NodeGroup(tuple(f"n{number + 1}" for number in range(nodes)), cores=1)])


def workload(*jobs):
    """Return jobs given as submit time, processors, run time, limit, user, and perhaps reservation and account."""
    rows = [(*job[:5], (job[5:] or ("",))[0], job[-1] if "-A" in job else "") for job in jobs]
    submit, processors, run, limit, user, reservation, account = zip(*rows, strict=True)
    columns = {"submit_time": submit, "requested_processors": processors, "run_time": run, "requested_time": limit}
    return Workload.from_columns(
        columns | {"user_id": [USERS[name] for name in user]},
        header=tuple(f" User: {number} {name}" for name, number in USERS.items()),
        resources=Resources.of(len(rows), tasks=processors, reservation=reservation, account=account),
    )


def reserved(begin, end, announced=0, nodes="n1", name="r", users=("ann",), accounts=(), flags=()):
    if "maint" in flags:
        return NodeEvent(begin, "maintenance", tuple(host_names(nodes)), end, announced)
    who = (tuple(users), tuple(accounts))
    return NodeEvent(begin, "reservation", tuple(host_names(nodes)), end, announced, name, *who)


def starts(scheduler, nodes, jobs, *events):
    """Return the schedule of some jobs on nodes of one core."""
    return replay(prepare(workload(*jobs), scheduler, cluster=machine(nodes), node_events=NodeEvents(events)))


def agrees(case, scheduler):
    """Return whether the same jobs start as in a phase, and when, but for some seconds."""
    jobs = workload(*([*job[:2], job[2] + TICK, *job[3:]] for job in case["jobs"]))
    events = NodeEvents(tuple(reserved(**one) for one in case["reservations"]))
    cluster = machine(case["nodes"])
    refused = may_not_reserve(jobs, cluster, events).codes >= 0
    schedule = replay(prepare(jobs[~refused], scheduler, cluster=cluster, node_events=events))
    found = np.full(len(jobs), -1)
    found[~refused] = schedule.start_time
    same = []
    for runs in case["runs"]:
        seen = np.array([-1 if isinstance(run, str) else run[0] for run in runs])
        same.append(bool((np.abs(seen - found) <= case["within"]).all() and ((seen < 0) == refused).all()))
    return any(same)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_model_starts_each_job_when_real_slurm_did_but_for_its_ticks(case):
    assert agrees(case, "fcfs+slurm(version=22.05)") is ("differs" not in case)


def test_there_are_enough_cases_and_few_differ():
    assert len(CASES) >= 12
    assert sum("differs" in case for case in CASES) <= 2


ANN, BOB = "ann", "bob"
ALL = ["fcfs", "fcfs+easy", "fcfs+conservative", "fcfs+slurm(interval=0)"]


@pytest.mark.parametrize("scheduler", ALL)
def test_a_job_waits_for_its_reservation_and_others_keep_off_its_nodes(scheduler):
    # n1 is reserved from 100 to 200. Job 1 would overlap it, and n2 is its own; job 2 waits for n2 until 151.
    jobs = [(0, 1, 50, 60, ANN, "r"), (1, 1, 150, 150, BOB), (2, 1, 120, 120, BOB)]
    schedule = starts(scheduler, 2, jobs, reserved(100, 200))
    assert schedule.start_time.tolist() == [100, 1, 151]
    assert schedule.waited_for["Reservation"].tolist() == [100, 0, 0]


@pytest.mark.parametrize("scheduler", ALL)
def test_what_runs_at_the_end_is_ended_and_what_waits_runs_without_a_reservation(scheduler):
    # Job 0 has n1 from 100 until its reservation is over at 200, when job 1 may run anywhere.
    schedule = starts(scheduler, 1, [(0, 1, 500, 500, ANN, "r"), (1, 1, 50, 60, ANN, "r")], reserved(100, 200))
    assert schedule.start_time.tolist() == [100, 200]
    assert schedule.end_time.tolist() == [200, 250]
    assert schedule.killed.tolist() == [True, False]


@pytest.mark.parametrize("scheduler", ALL)
def test_a_head_outside_keeps_nobody_inside_waiting_nor_the_other_way_round(scheduler):
    # Job 0 has n2; job 1 needs all nodes, which it has after 300; job 2 is of the reservation of n1, as is job 3,
    # which waits for it; job 4 has n3.
    jobs = [
        (0, 1, 300, 300, BOB),
        (101, 3, 50, 50, BOB),
        (110, 1, 50, 50, ANN, "r"),
        (111, 1, 20, 20, ANN, "r"),
        (0, 1, 100, 100, BOB),
    ]
    schedule = starts(scheduler, 3, jobs, reserved(100, 200))
    assert schedule.start_time.tolist() == [0, 300, 110, 160, 0]


@pytest.mark.parametrize("scheduler", [*ALL, "fcfs+slurm(interval=0,queue_depth=1)"])
def test_a_job_that_names_a_partition_without_nodes_of_its_reservation_runs_in_another(scheduler):
    document = {
        "groups": [{"nodes": "n[1-2]", "cores": 1}],
        "partitions": [{"name": "one", "nodes": "n2"}, {"name": "all", "default": True}],
    }
    jobs = workload((0, 1, 50, 60, ANN, "r"))
    jobs = jobs.replace(resources=Resources.of(1, tasks=[1], reservation=["r"], partition=["one,all"]))
    options = {"cluster": Cluster.from_dict(document), "node_events": NodeEvents((reserved(100, 200),))}
    assert simulate(jobs, scheduler, **options).start_time.tolist() == [100]
    assert replay(prepare(jobs, scheduler, **options)).start_time.tolist() == [100]


def test_a_job_within_a_reservation_whose_node_fails_is_submitted_again_for_it():
    events = (reserved(100, 400), NodeEvent(150, "down", ("n1",)), NodeEvent(200, "up", ("n1",)))
    schedule = starts("fcfs+easy", 2, [(0, 1, 100, 100, ANN, "r")], *events)
    assert schedule.runs[["start", "end", "done"]].tolist() == [(100, 150, False), (200, 300, True)]


REFUSED = [
    ((0, 1, 9, 9, BOB, "r"), "job 1 asks for the reservation 'r', which its user 'bob' may not use"),
    ((0, 1, 9, 9, ANN, "rr"), "job 1 asks for the reservation 'rr', which does not exist"),
    ((200, 1, 9, 9, ANN, "r"), "job 1 asks for the reservation 'r' after its end"),
    (
        (0, 2, 9, 9, ANN, "r"),
        "job 1 asks for more than the nodes of its reservation 'r' have: ask for less",
    ),
]


@pytest.mark.parametrize(("job", "sentence"), REFUSED)
def test_who_may_not_or_cannot_is_named(job, sentence):
    with pytest.raises(InputError) as raised:
        simulate(workload(job), "fcfs+easy", cluster=machine(2), node_events=NodeEvents((reserved(100, 200),)))
    assert str(raised.value).startswith(sentence)
    assert raised.value.row == 0


def test_a_job_that_comes_before_the_announcement_is_refused():
    with pytest.raises(InputError, match="before it is announced"):
        starts("fcfs", 1, [(5, 1, 9, 9, ANN, "r")], reserved(100, 200, announced=10))


def test_without_any_reservation_what_jobs_ask_for_has_no_meaning():
    schedule = starts("fcfs", 1, [(5, 1, 9, 9, ANN, "r")], NodeEvent(0, "drain", ("n1",)), NodeEvent(8, "up", ("n1",)))
    assert schedule.start_time.tolist() == [8]


def test_accounts_below_an_account_may_use_its_reservation():
    site = Cluster.from_dict(
        {
            "groups": [{"nodes": "n1", "cores": 1}],
            "accounts": [{"name": "root", "parent": ""}, {"name": "physics"}, {"name": "lab", "parent": "physics"}],
            "users": [{"user": "ann", "account": "lab", "default": True}],
        }
    )
    events = NodeEvents((reserved(100, 200, users=(), accounts=("physics",)),))
    schedule = simulate(workload((0, 1, 9, 9, ANN, "r")), "fcfs+easy", cluster=site, node_events=events)
    assert schedule.start_time.tolist() == [100]
