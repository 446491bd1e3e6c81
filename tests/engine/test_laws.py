"""The laws that schedules are held against see it when one is broken."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from laws import assert_laws_hold

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Account, Accounting, AccountUser, Limits, QosLimits
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.simulation import simulate
from schedlab.schedule.schedule import Schedule
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

NODES = [NodeGroup.of("n1", cores=4, memory=1000, gpus=2)]


def schedule_of_two(cores: int = 2) -> Schedule:
    """Two jobs of user 1 side by side from second 0 on, for 60 and 90 s, with requests of 100 s."""
    columns = {"submit_time": [0, 0], "run_time": [60, 90], "requested_time": [100, 100], "user_id": [1, 1]}
    resources = Resources.of(2, tasks=[cores, cores], memory_per_node=[400, 400], gpus_per_node=[1, 1])
    jobs = Workload.from_columns({**columns, "requested_processors": [cores, cores]}, resources=resources)
    return simulate(jobs, "fcfs+easy", cluster=Cluster.of_nodes(NODES))


def under(account: Limits = Limits(), qos: Limits = Limits(), *users: AccountUser) -> Cluster:  # noqa: B008 (immutable)
    accounting = Accounting(
        (QosLimits("normal", limits=qos),),
        (Account("root", ""), Account("a", limits=account)),
        (AccountUser("1", "a", default=True), *users),
    )
    return Cluster.of_nodes(NODES, accounting=accounting)


def test_a_sound_schedule_breaks_no_law():
    roomy = Limits(grp_jobs=2, grp_tres=(("cpu", 4),), grp_tres_run_mins=(("cpu", 6),))  # 4 cores for 100 s: 6.7 min
    assert_laws_hold(schedule_of_two(), under(roomy, Limits(max_jobs_per_user=2)), NodeEvents(()))


@pytest.mark.parametrize("what", ["cores", "gpus", "memory"])
def test_more_than_a_node_has_is_seen(what):
    schedule = schedule_of_two()
    there = {"cores": np.array([3]), "gpus": np.array([1]), "memory": np.array([700])}
    less = replace(schedule, placement=replace(schedule.placement, **{what: there[what]}))
    with pytest.raises(AssertionError, match=f"more {what} than a node has"):
        assert_laws_hold(less)


def test_work_that_is_left_out_is_seen():
    schedule = schedule_of_two()
    with pytest.raises(AssertionError, match="a run ended before its work"):
        assert_laws_hold(replace(schedule, end_time=schedule.end_time - 1))


@pytest.mark.parametrize("kind", ["maintenance", "reservation"])
def test_requests_that_reach_into_a_closure_are_seen(kind):
    options = {"name": "r", "users": ("2",)} if kind == "reservation" else {}
    for begin, announced, broken in ((95, None, True), (100, None, False), (95, 0, True), (95, 1, False)):
        events = NodeEvents((NodeEvent(begin, kind, ("n1",), begin + 9, announced, **options),))
        if broken:
            with pytest.raises(AssertionError, match=f"reaches by its request into a {kind}"):
                assert_laws_hold(schedule_of_two(), events=events)
        else:
            assert_laws_hold(schedule_of_two(), events=events)


@pytest.mark.parametrize(
    ("account", "qos", "told"),
    [
        (Limits(grp_jobs=1), Limits(), "account a: more one than 1"),
        (Limits(grp_tres=(("cpu", 3),)), Limits(), "account a: more cores than 3"),
        (Limits(grp_tres_run_mins=(("cpu", 5),)), Limits(), "more than 5 minutes of cores to go in second 0"),
        (Limits(), Limits(grp_jobs=1), "qos normal: more one than 1"),
        (Limits(), Limits(max_jobs_per_user=1), "jobs per user"),
    ],
)
def test_limits_that_are_exceeded_are_seen(account, qos, told):
    with pytest.raises(AssertionError, match=told):
        assert_laws_hold(schedule_of_two(), under(account, qos))


def test_a_limit_of_the_qos_that_an_account_has_by_default_is_seen():
    limited = under()
    qos = (*limited.accounting.qos, QosLimits("own", limits=Limits(max_jobs_per_user=1)))
    for above, own, broken in (("", "own", True), ("own", "", True), ("own", "normal", False), ("", "", False)):
        accounts = (Account("root", "", default_qos=above), Account("a", default_qos=own))
        cluster = replace(limited, accounting=replace(limited.accounting, qos=qos, accounts=accounts))
        if broken:
            with pytest.raises(AssertionError, match="jobs per user"):
                assert_laws_hold(schedule_of_two(), cluster)
        else:
            assert_laws_hold(schedule_of_two(), cluster)


def test_a_job_that_was_cancelled_has_not_done_its_work_and_need_not():
    jobs = schedule_of_two(4).workload  # the second waits for the first, but for 5 s only
    jobs = jobs.replace(resources=replace(jobs.resources, patience=np.array([0, 5])))
    schedule = simulate(jobs, "fcfs", cluster=Cluster.of_nodes(NODES))
    assert schedule.ran.tolist() == [True, False]
    assert_laws_hold(schedule)


def test_a_limit_of_a_user_that_is_exceeded_is_seen_in_its_partition_and_elsewhere():
    alone = Limits(max_jobs=1)
    for there, broken in (("", True), ("gpu", True), ("cpu", False)):
        user = AccountUser("1", "a", there, limits=alone)
        columns = {"submit_time": [0, 0], "run_time": [60, 90], "requested_time": [60, 90], "user_id": [1, 1]}
        resources = Resources.of(2, tasks=[1, 1], partition=["gpu" if there else None] * 2)
        jobs = Workload.from_columns(columns | {"requested_processors": [1, 1]}, resources=resources)
        cluster = Cluster.of_nodes(NODES, [Partition("gpu")] if there else [])
        schedule = simulate(jobs, "fcfs+easy", cluster=cluster)
        limited = under(Limits(), Limits(), user)
        if broken:
            with pytest.raises(AssertionError, match="jobs of a user"):
                assert_laws_hold(schedule, limited)
        else:
            assert_laws_hold(schedule, limited)


def test_metrics_that_are_wrong_are_seen(monkeypatch):
    right = Schedule.metrics
    monkeypatch.setattr(Schedule, "metrics", lambda self: right(self) | {"mean_wait": 1.0})
    with pytest.raises(AssertionError, match=r"mean_wait is 1.0, not 0.0"):
        assert_laws_hold(schedule_of_two())
