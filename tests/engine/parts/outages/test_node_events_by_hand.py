"""Nodes that fail, drained nodes and maintenance: by hand, and as a real Slurm did it.

The expectations of `conformance/slurm-node-events.json` are the starts of an unmodified slurmctld 22.05. Most cases go
through the plain engine, which `test_node_events.py` compares with the compiled one.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from features import UNIFORM

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.assembly import assemble
from schedlab.engine.driver import Driver
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import schedule_of, simulate
from schedlab.errors import InputError
from schedlab.scheduler import Scheduler
from schedlab.scheduler.retries import Retries
from schedlab.scheduler.slurm_rules import naming_version
from schedlab.speculate.requests import Requests
from schedlab.workload.workload import Workload

CASES = json.loads((Path(__file__).parents[4] / "conformance" / "slurm-node-events.json").read_text(encoding="utf-8"))
TICK = 1
"""Slurm notices an end a second later, with its next tick."""


def machine(nodes):
    return Cluster.of_nodes([NodeGroup(tuple(f"n{number + 1}" for number in range(nodes)), cores=1)])


def workload(*jobs):
    """Return jobs given as submit time, processors, run time and limit."""
    submit, processors, run, limit = np.array(jobs).T
    columns = {"submit_time": submit, "requested_processors": processors, "run_time": run, "requested_time": limit}
    return Workload.from_columns(columns)


def starts(scheduler, nodes, jobs, *events, interrupted="requeue"):
    """Return when jobs of so many nodes start on a machine of nodes with one core."""
    happening = NodeEvents(
        tuple(NodeEvent(second, what, ("n1",), *rest) for second, what, *rest in events), interrupted
    )
    return replay(prepare(workload(*jobs), scheduler, cluster=machine(nodes), node_events=happening))


def starts_of(case, scheduler):
    """Return when the last run of each job of a case begins."""
    jobs = workload(*([submit, width, run + TICK, limit] for submit, width, run, limit in case["jobs"]))
    events = (NodeEvent(second, what, tuple(host_names(who)), *rest) for second, what, who, *rest in case["events"])
    happening = NodeEvents(tuple(events), requeue_delay=case.get("requeue_delay", 0))
    return replay(prepare(jobs, scheduler, cluster=machine(case["nodes"]), node_events=happening)).start_time.tolist()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_model_starts_each_job_in_the_second_in_which_real_slurm_did(case):
    assert (starts_of(case, naming_version(case["scheduler"], "22.05")) in case["starts"]) is ("differs" not in case)


def test_there_are_enough_cases_and_few_differ():
    assert len(CASES) >= 13
    assert sum("differs" in case for case in CASES) <= 4


BOTH = (0, 2, 50, 50)
ONE = (0, 1, 20, 20)


def test_a_requeued_job_begins_anew_behind_those_that_wait():
    # Job 0 has both nodes; n1 fails at 10. Job 1 then has n2 until 30, job 0 waits until n1 is back at 40.
    schedule = starts("fcfs", 2, [BOTH, (1, 1, 20, 20)], (10, "down"), (40, "up"))
    assert schedule.start_time.tolist() == [40, 10]
    assert schedule.runs[["job", "start", "end", "done"]].tolist() == [
        (0, 0, 10, False),
        (1, 10, 30, True),
        (0, 40, 90, True),
    ]


@pytest.mark.parametrize("scheduler", ["fcfs", "fcfs+easy", "fcfs+conservative"])
def test_a_requeued_job_may_begin_again_when_its_delay_is_over(scheduler):
    # n1 fails at 10 under the job; n2 is idle. It may begin again at 40.
    happening = NodeEvents((NodeEvent(10, "down", ("n1",)),), requeue_delay=30)
    jobs, cluster = workload(ONE), machine(2)
    assert simulate(jobs, scheduler, cluster=cluster, node_events=happening).start_time.tolist() == [40]
    assert replay(prepare(jobs, scheduler, cluster=cluster, node_events=happening)).start_time.tolist() == [40]
    with pytest.raises(InputError, match="requeue_delay=-1: must be 0 seconds or more"):
        NodeEvents((), requeue_delay=-1)


def test_a_lost_job_has_ended():
    schedule = starts("fcfs", 2, [BOTH, (1, 1, 20, 20)], (10, "down"), (40, "up"), interrupted="lost")
    assert schedule.start_time.tolist() == [0, 10]
    assert schedule.end_time.tolist() == [10, 30]
    assert schedule.killed.tolist() == [True, False]


def test_a_run_that_ends_in_the_second_in_which_its_node_fails_is_done():
    schedule = starts("fcfs", 1, [ONE], (20, "down"), (30, "up"))
    assert schedule.runs[["start", "end", "done"]].tolist() == [(0, 20, True)]


def test_who_does_not_fit_the_nodes_in_service_waits_for_that_reason_and_keeps_nobody_waiting():
    schedule = starts("fcfs", 2, [BOTH, (1, 1, 20, 20), (2, 1, 20, 20)], (0, "drain"), (100, "up"))
    assert schedule.start_time.tolist() == [100, 1, 21]
    assert schedule.waited_for["ReqNodeNotAvail"].tolist() == [100, 0, 0]


@pytest.mark.parametrize("scheduler", ["fcfs", "fcfs+easy", "fcfs+conservative", "fcfs+slurm(interval=0)"])
def test_a_job_may_end_when_maintenance_begins_and_not_later(scheduler):
    assert starts(scheduler, 1, [ONE], (20, "maintenance", 30)).start_time.tolist() == [0]
    assert starts(scheduler, 1, [ONE], (19, "maintenance", 30)).start_time.tolist() == [30]


@pytest.mark.parametrize("backfilling", ["easy", "conservative"])
def test_a_reservation_behind_maintenance_is_kept(backfilling):
    # Job 0 needs both nodes for 50 s: n1 is maintained from 40 to 60. Job 1 ends before 60 on n2, job 2 would not.
    jobs = [BOTH, (1, 1, 30, 30), (2, 1, 100, 100)]
    assert starts(f"fcfs+{backfilling}", 2, jobs, (40, "maintenance", 60)).start_time.tolist() == [60, 1, 110]


@pytest.mark.parametrize("end", [202, 203, 204])
def test_a_job_is_planned_across_maintenance_that_it_would_not_meet_if_it_began_now(end):
    # Two nodes are free at 85, but one of them is maintained from 199 on. Job 3 would be over by then if it began in
    # the first passes, and so has its place at 85, across: job 4, which ends later, waits. From 70 on it would not be.
    jobs = workload((0, 1, 5, 10), (0, 1, 85, 85), (0, 1, 203, 203), (10, 2, 130, 130), (11, 1, 67, 67))
    happening = NodeEvents((NodeEvent(199, "maintenance", ("n1",), end),))
    expected = [0, 0, 0, 203, 90]
    assert simulate(jobs, "fcfs+slurm", cluster=machine(3), node_events=happening).start_time.tolist() == expected
    prepared = prepare(jobs, "fcfs+slurm", cluster=machine(3), node_events=happening)
    assert replay(prepared).start_time.tolist() == expected


@pytest.mark.parametrize("scheduler", ["fcfs+conservative", "fcfs+conservative,reservations=fixed"])
def test_a_gap_between_two_maintenances_is_used_speculatively_when_it_begins(scheduler):
    # Job 0 asks for 20 s, for which n1 is open from 60 on. From 40 to 50 there is a gap, in which it ends after 8 s.
    jobs = workload((0, 1, 8, 20)).replace(distribution=np.array([0]), distributions=("uniform(0s,20s)",))
    maintenance = (NodeEvent(0, "maintenance", ("n1",), 40), NodeEvent(50, "maintenance", ("n1",), 60))
    prepared = prepare(jobs, f"{scheduler},speculation=0", cluster=machine(1), node_events=NodeEvents(maintenance))
    runs = replay(prepared).runs
    assert runs[["start", "end", "request", "speculative", "done"]].tolist() == [(40, 48, 10, True, True)]


def test_a_gap_between_two_maintenances_is_used_by_a_speculative_run():
    # The job works for 14 s, which it may do in one second as well, as far as is known. n1 is closed until 40, and from
    # 41 to 59.
    requests = Requests(
        offsets=np.array([0, 1]),
        lengths=np.array([14]),
        most=np.array([60]),
        growth=np.zeros(1),
        distribution=np.zeros(1, dtype=np.int64),
        application=np.array([-1]),
        history=0,
        distributions=UNIFORM,
    )
    closures = NodeEvents((NodeEvent(0, "maintenance", ("n1",), 40), NodeEvent(41, "maintenance", ("n1",), 59)))
    scheduler = Scheduler("fcfs", "conservative", retries=Retries(speculation=0.0))
    prepared = prepare(workload((0, 1, 14, 14)), scheduler, cluster=machine(1), node_events=closures, requests=requests)
    driver = Driver(prepared, assemble(prepared))
    driver.run()
    for schedule in (replay(prepared), schedule_of(prepared, driver.world, prepared.jobs["estimate"])):
        assert schedule.runs[["start", "end", "done"]].tolist() == [(40, 41, False), (59, 73, True)]


def test_who_runs_when_maintenance_is_announced_runs_on_through_it():
    schedule = starts("fcfs", 1, [ONE, (5, 1, 20, 20)], (15, "maintenance", 25, 10))
    assert schedule.start_time.tolist() == [0, 25]


def test_jobs_for_which_too_few_nodes_come_back_are_named():
    with pytest.raises(InputError, match="1 job never started, the first is job 1: too few of the nodes"):
        starts("fcfs+slurm", 2, [BOTH, (0, 1, 20, 20)], (0, "down"))


def test_the_engine_names_them_too_and_events_need_a_cluster():
    jobs, events = workload(BOTH, (1, 1, 9, 9)), NodeEvents((NodeEvent(0, "down", ("n1",)),))
    with pytest.raises(InputError, match="1 job never started, the first is job 1"):
        simulate(jobs, "fcfs+easy", cluster=machine(2), node_events=events)
    with pytest.raises(InputError, match="give cluster="):
        simulate(jobs, "fcfs+easy", processors=2, node_events=events)


@pytest.mark.parametrize("kind", ["maintenance", "reservation"])
@pytest.mark.parametrize("scheduler", ["fcfs+easy@ave2", "fcfs+slurm@ave2", "fcfs+conservative@ave2"])
def test_before_a_closure_a_start_looks_at_the_request_so_reservations_by_predictions_are_refused(kind, scheduler):
    jobs = Workload.from_columns(
        {"submit_time": [0, 2, 100], "run_time": [1, 1, 500], "requested_time": [500] * 3, "user_id": [1] * 3}
        | {"requested_processors": [1] * 3}
    )
    cluster = Cluster.of_nodes([NodeGroup.of("n1", cores=1)])
    name = {"name": "r", "users": ("1",)} if kind == "reservation" else {}
    events = NodeEvents((NodeEvent(520, kind, ("n1",), end=2000, **name),))
    with pytest.raises(InputError, match="a job may start before a closure only if its request ends by then"):
        prepare(jobs, scheduler, cluster=cluster, node_events=events)
    # The third job's request ends at 600: predicted to run for a second, it runs for 500.
    ordered = replay(prepare(jobs, "fcfs@ave2+easy@requested", cluster=cluster, node_events=events))
    assert ordered.start_time.tolist() == [0, 2, 2000]
