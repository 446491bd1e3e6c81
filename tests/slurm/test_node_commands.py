"""Node events as commands, and what the real Slurm and the twin make of them."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.slurm.configuration import machine_configuration
from schedlab.slurm.jobs import from_workload
from schedlab.slurm.node_commands import carried_out, commands_of
from schedlab.slurm.replay import run
from schedlab.workload.workload import Workload

ROWS = [(0, 300, 2, 600), (10, 200, 1, 300), (20, 500, 1, 600), (700, 100, 3, 300), (720, 60, 1, 120)]
"""Submission, run time, processors, requested time."""

EVENTS = NodeEvents(
    (
        NodeEvent(-500, "drain", ("n3",)),
        NodeEvent(100, "down", ("n1",)),
        NodeEvent(200, "up", ("n3",)),
        NodeEvent(400, "up", ("n1",)),
        NodeEvent(900, "maintenance", ("n2",), 1100),
        NodeEvent(1400, "drain", ("n2",)),
        NodeEvent(1450, "down", ("n2",)),
        NodeEvent(1600, "up", ("n2",)),
    ),
    requeue_delay=121,
)


@pytest.mark.usefixtures("real_slurm")
def test_jobs_start_on_the_real_slurm_when_the_twin_starts_them_beside_the_same_events():
    names = ("submit_time", "run_time", "requested_processors", "requested_time")
    rows = [*ROWS, (1500, 100, 3, 200)]
    jobs = Workload.from_columns(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), processors=3)
    made = from_workload(jobs)
    done = run(made, conf=machine_configuration(3, 1), commands=commands_of(EVENTS, made.origin))
    cluster = Cluster.of_nodes(NodeGroup.of("n[1-3]", cores=1))
    plain = replay(prepare(jobs.replace(processors=None), "fcfs+slurm", cluster=cluster, node_events=EVENTS))
    assert np.abs(done.schedule.start_time - plain.start_time).max() <= 31
    assert plain.start_time.tolist() == [700, 100, 200, 1110, 720, 1600]  # without events: 0, 0, 200, ...


def words(events, begin=0):
    return [(one.second, *one.words[2:]) for one in commands_of(NodeEvents(tuple(events)), begin)]


def test_what_happened_before_the_begin_is_summed_up():
    before = [NodeEvent(10, "down", ("n1", "n2", "n3")), NodeEvent(20, "up", ("n2",)), NodeEvent(30, "drain", ("n3",))]
    assert words(before, 60) == [
        (60, "nodename=n1", "state=down", "reason=event"),
        (60, "nodename=n3", "state=drain", "reason=event"),
    ]


def test_a_node_that_is_in_service_does_not_come_back():
    assert words([NodeEvent(10, "up", ("n1",)), NodeEvent(20, "down", ("n1",)), NodeEvent(30, "down", ("n1",))]) == [
        (20, "nodename=n1", "state=down", "reason=event")
    ]


def test_a_maintenance_is_created_when_it_is_announced_and_not_after_its_end():
    closed = [NodeEvent(900, "maintenance", ("n2",), 1100, announced=300), NodeEvent(5, "maintenance", ("n2",), 50)]
    assert words(closed, 60) == [
        (
            300,
            "reservation",
            "starttime=now+600",
            "endtime=now+800",
            "users=root",
            "flags=maint,ignore_jobs",
            "nodes=n2",
        )
    ]
    assert words(closed[:1], 950)[0][:4] == (950, "reservation", "starttime=now", "endtime=now+150")


def test_single_gpus_and_reservations_of_users_are_not_carried_out():
    booked = NodeEvent(10, "reservation", ("n1",), 20, 0, "r", ("ann",))
    events = NodeEvents((NodeEvent(5, "gpu-down", ("n1",), gpus=(0,)), booked, NodeEvent(7, "down", ("n1",))))
    assert [event.event for event in carried_out(events)] == ["down"]
