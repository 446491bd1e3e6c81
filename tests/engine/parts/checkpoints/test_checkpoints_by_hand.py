"""Jobs that go on from their last checkpoint: small cases by hand, for the engine and its reference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedlab import Cluster, Schedule, Workload, simulate
from schedlab.cluster import NodeEvent, NodeEvents, NodeGroup, Partition, Preemption
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.errors import InputError
from schedlab.schedule.exports import read_schedule
from schedlab.schedule.runs import BY_ITSELF, NODE_FAILED, PREEMPTED
from schedlab.speculate.costs import Checkpointing
from schedlab.speculate.plan import optimal_requests
from schedlab.speculate.requests import Requests, no_distributions
from schedlab.workload import Amdahl, Resources, moldable

FIELDS = ["start", "end", "saved", "overhead"]
NODE = Cluster.of_nodes([NodeGroup.of("n1", cores=1)])


def work(seconds: int, request: int = 5000, **checkpoints: int | str) -> Workload:
    """Return a job of so much work on one processor; checkpoints as columns of resources."""
    columns = {name: [value] for name, value in checkpoints.items()}
    return Workload.from_columns(
        {"submit_time": [0], "run_time": [seconds], "requested_time": [request], "requested_processors": [1]},
        processors=1,
        resources=Resources.of(1, tasks=[1], **columns),
    )


HUNDREDS = {"checkpoint_interval": 100, "checkpoint_cost": 10, "restart_cost": 20}


def down(*spans: tuple[int, int]) -> NodeEvents:
    """Return events of the node, which is down in these spans of seconds."""
    return NodeEvents(
        tuple(
            NodeEvent(second, event, ("n1",))
            for span in spans
            for second, event in zip(span, ("down", "up"), strict=True)
        )
    )


@pytest.fixture(params=["engine", "reference"])
def run(request):
    """Simulate with the engine, or with its reference."""
    if request.param == "engine":
        return simulate
    return lambda jobs, scheduler, **options: replay(prepare(jobs, scheduler, **options))


def runs(schedule: Schedule) -> list[tuple[int, ...]]:
    assert schedule.runs is not None
    return schedule.runs[FIELDS].tolist()


def test_without_failures_a_job_runs_as_much_longer_as_its_checkpoints_take(run):
    """Of 1,000 s, checkpoints follow on 100, 200 ... 900: nine, and none at the end."""
    schedule = run(work(1000, **HUNDREDS), "fcfs")
    assert runs(schedule) == [(0, 1090, 1000, 90)]


def test_after_a_failure_it_reads_the_last_checkpoint_and_goes_on(run):
    """At 350, three checkpoints are complete, at 110, 220 and 330. 20 s to read, 700 s of work, six checkpoints."""
    schedule = run(work(1000, **HUNDREDS), "fcfs", cluster=NODE, node_events=down((350, 400)))
    assert runs(schedule) == [(0, 350, 300, 30), (400, 400 + 20 + 700 + 60, 700, 80)]
    assert schedule.runs["cause"].tolist() == [NODE_FAILED, BY_ITSELF]
    assert (schedule.lost_time.tolist(), schedule.checkpoint_time.tolist()) == ([20], [110])


@pytest.mark.parametrize(("second", "saved", "written"), [(109, 0, 0), (110, 100, 10)])
def test_a_checkpoint_counts_from_the_second_in_which_it_is_complete(run, second, saved, written):
    schedule = run(work(1000, **HUNDREDS), "fcfs", cluster=NODE, node_events=down((second, 400)))
    again = 20 + 900 + 80 if saved else 1000 + 90
    assert runs(schedule) == [(0, second, saved, written), (400, 400 + again, 1000 - saved, again - 1000 + saved)]


def test_a_failure_while_it_reads_the_checkpoint_costs_the_time_until_then(run):
    schedule = run(work(1000, **HUNDREDS), "fcfs", cluster=NODE, node_events=down((350, 360), (370, 380)))
    assert runs(schedule) == [(0, 350, 300, 30), (360, 370, 0, 10), (380, 380 + 780, 700, 80)]


def test_at_its_limit_it_asks_for_the_same_time_again_behind_those_that_wait(run):
    """In 400 s: three checkpoints and 70 s lost; with 20 s to read, three again and 50 s lost. 100 s are left."""
    jobs = Workload.from_columns(
        {"submit_time": [0, 10], "run_time": [1000, 50], "requested_time": [400, 5000], "requested_processors": [1, 1]},
        processors=1,
        resources=Resources.of(2, tasks=[1, 1], **{name: [value, 0] for name, value in HUNDREDS.items()}),
    )
    schedule = run(jobs, "fcfs")
    first = schedule.runs[schedule.runs["job"] == 0]
    assert first[FIELDS].tolist() == [
        (0, 400, 300, 30),
        (450, 850, 300, 50),
        (850, 1250, 300, 50),
        (1250, 1370, 100, 20),
    ]
    assert not schedule.killed.any()
    assert schedule.start_time.tolist() == [1250, 400]
    assert schedule.wait_time.tolist() == [50 + 70 + 50 + 50, 390]  # in the queue, and what was lost
    assert schedule.run_time.tolist() == [1370 - 220, 50]


def test_told_of_its_limit_it_writes_a_checkpoint_in_time(run):
    """390 s of work and 10 s to write; 20 s to read, 370 s, 10 s; 20 s, and the 240 s that are left."""
    jobs = work(1000, 400, checkpoint_cost=10, restart_cost=20, checkpoint_when_told=1)
    assert runs(run(jobs, "fcfs")) == [(0, 400, 390, 10), (400, 800, 370, 30), (800, 1060, 240, 20)]


def test_a_job_that_saves_nothing_until_its_limit_is_killed_there(run):
    schedule = run(work(120, 50, **HUNDREDS), "fcfs")
    assert runs(schedule) == [(0, 50, 0, 0)]
    assert schedule.killed.tolist() == [True]


@pytest.mark.parametrize(("grace", "saved"), [(60, 100), (29, 0)])
def test_preempted_it_writes_a_checkpoint_if_the_grace_time_is_long_enough(run, grace, saved):
    """Told at 100, it needs 30 s. It may begin again 121 s after its end."""
    jobs = Workload.from_columns(
        {"submit_time": [0, 100], "run_time": [600, 50], "requested_time": [900, 60], "requested_processors": [1, 1]},
        resources=Resources.of(
            2,
            partition=["low", "high"],
            checkpoint_when_told=[1, 0],
            checkpoint_cost=[30, 0],
            restart_cost=[5, 0],
        ),
    )
    cluster = Cluster.of_nodes(
        [NodeGroup.of("n1", cores=1)],
        [Partition("low", default=True, grace_time=grace), Partition("high", priority_tier=2)],
        preemption=Preemption("partition", mode="requeue"),
    )
    schedule = run(jobs, "fcfs+easy", cluster=cluster)
    ends, again = 100 + grace, 221 + grace
    left = 5 + 500 if saved else 600
    mine = schedule.runs[schedule.runs["job"] == 0]
    assert mine[FIELDS].tolist() == [
        (0, ends, saved, 30 if saved else 0),
        (again, again + left, 600 - saved, 5 if saved else 0),
    ]
    assert mine["cause"].tolist() == [PREEMPTED, BY_ITSELF]
    lost = grace - 30 if saved else ends
    assert schedule.metrics()["mean_time_lost_to_preemption"] == lost / 2


def test_suspended_time_is_no_work(run):
    """The run stands still from 50 to 100, and fails at 190 after 140 s: one checkpoint is complete, at 160."""
    jobs = Workload.from_columns(
        {"submit_time": [0, 50], "run_time": [600, 50], "requested_time": [900, 60], "requested_processors": [1, 1]},
        resources=Resources.of(2, partition=["low", "high"], checkpoint_interval=[100, 0], checkpoint_cost=[10, 0]),
    )
    cluster = Cluster.of_nodes(
        [NodeGroup.of("n1", cores=1)],
        [Partition("low", default=True), Partition("high", priority_tier=2)],
        preemption=Preemption("partition", mode="suspend"),
    )
    schedule = run(jobs, "fcfs+easy", cluster=cluster, node_events=down((190, 200)))
    mine = schedule.runs[schedule.runs["job"] == 0]
    assert mine[FIELDS].tolist() == [(0, 190, 100, 10), (200, 200 + 500 + 40, 500, 40)]
    assert schedule.lost_time.tolist() == [30, 0]


def asking_for(lengths: list[int]) -> Requests:
    """Return the requests of one job, the last of which is all that it makes."""
    return Requests(
        offsets=np.array([0, len(lengths)]),
        lengths=np.array(lengths),
        most=np.array([2**40]),
        growth=np.zeros(1),
        distribution=np.array([-1]),
        application=np.array([-1]),
        history=0,
        distributions=no_distributions(),
    )


def test_with_requests_for_uncertain_run_times_it_asks_for_what_is_missing(run):
    """Up to 30 s and a checkpoint of 5 s; to read (3 s), up to 60 s, a checkpoint; to read, up to 100 s, the last."""
    asking = asking_for([30, 60, 100])
    jobs = work(80, checkpoint_cost=5, restart_cost=3, checkpoint_when_told=1)
    schedule = run(jobs, "fcfs", requests=asking)
    assert schedule.runs["request"].tolist() == [35, 38, 43]
    assert runs(schedule) == [(0, 35, 30, 5), (35, 73, 30, 8), (73, 96, 20, 3)]
    short = run(jobs, "fcfs", requests=replace(asking, most=np.array([20])))
    assert short.runs["request"].tolist() == [20, 20, 20, 20, 20, 20]
    assert short.runs["saved"].tolist() == [15, 12, 12, 12, 12, 17]  # 20 s with a checkpoint, and 17 s are left


def test_requests_that_a_limit_makes_the_same_are_one(run):
    """The first run is 6 s of work and a checkpoint of 1 s, twice, and 6 s: it reaches 18 of 20 s, and has saved 12.

    The limit allows no more, so the next one asks for all of it, and needs 1 s to read, 6 + 1 and 2 s.
    """
    asking = replace(asking_for([20, 20]), most=np.array([20]))
    jobs = work(20, checkpoint_interval=6, checkpoint_cost=1, restart_cost=1)
    schedule = run(jobs, "fcfs", requests=asking)
    assert schedule.runs["request"].tolist() == [20, 20]
    assert runs(schedule) == [(0, 20, 12, 2), (20, 30, 8, 2)]


def test_requests_and_their_mean_cost_are_those_of_the_plan_that_minimises_them(run):
    """The plan of `schedlab requests --checkpoint always` knows nothing of the simulation."""
    plan = optimal_requests("discrete(20s:0.25,50s:0.5,80s:0.25)", checkpointing=Checkpointing("always", 5, 3))
    assert plan.sequence.covered == (20, 50, 80)
    asked = []
    for seconds in (20, 50, 80):
        asking = asking_for([20, 50, 80])
        jobs = work(seconds, checkpoint_cost=5, restart_cost=3, checkpoint_when_told=1)
        asked.append(run(jobs, "fcfs", requests=asking).runs["request"].tolist())
    assert asked == [[25], [25, 38], [25, 38, 33]]
    assert asked[-1] == list(plan.sequence.requests)
    assert np.average([sum(one) for one in asked], weights=[0.25, 0.5, 0.25]) == plan.grid_cost


def test_the_parts_of_the_machine_add_up_to_all_that_is_busy():
    schedule = simulate(work(1000, **HUNDREDS), "fcfs", cluster=NODE, node_events=down((350, 400)))
    metrics = schedule.metrics()
    shares = [metrics[name] for name in ("utilisation", "checkpoint_share", "lost_share", "saved_share")]
    assert np.allclose(np.array(shares) * 1180, [1000, 110, 20, 300])
    assert metrics["mean_checkpoint_time"] == 110
    assert metrics["mean_time_lost_to_node_failures"] == 20


def test_what_an_abandoned_job_has_saved_is_lost():
    """It fails with the node, and is not started again."""
    events = NodeEvents(down((350, 400)).events, "lost")
    schedule = simulate(work(1000, **HUNDREDS), "fcfs", cluster=NODE, node_events=events)
    assert schedule.lost_time.tolist() == [350 - 30]
    assert schedule.metrics()["utilisation"] == 0


def test_a_limit_on_what_jobs_hold_leaves_them_their_checkpoints(run):
    """1,000 s of work with nine checkpoints of 10 s, in an array of which one task may run: on processors alone."""
    schedule = run(work(1000, **HUNDREDS, array="a", array_limit=1), "fcfs")
    assert schedule.end_time.tolist() == [1090]


def test_a_schedule_is_written_with_what_its_runs_have_saved(tmp_path):
    schedule = simulate(work(1000, **HUNDREDS), "fcfs", cluster=NODE, node_events=down((350, 400)))
    schedule.save(tmp_path / "s.parquet")
    assert read_schedule(tmp_path / "s.parquet").runs.tolist() == schedule.runs.tolist()
    assert schedule.to_frame()["checkpoint_time"].tolist() == [110]
    assert "saved from being lost" in str(schedule)


@pytest.mark.parametrize(
    ("jobs", "sentence"),
    [
        (work(90, checkpoint_cost=3), "has the cost of checkpoints"),
        (work(90, checkpoint_interval=5, checkpoint_cost=6), "writes checkpoints for longer"),
        (work(90, 100, checkpoint_interval=50, restart_cost=100), "would need all of its requested time"),
        (work(90, 95, **HUNDREDS | {"checkpoint_interval": 10}).replace(requests_enforced=False), "run longer than"),
        (
            moldable(work(90, **HUNDREDS).replace(processors=2), Amdahl(0)),
            "jobs that write checkpoints does not go with",
        ),
    ],
)
def test_checkpoints_that_make_no_sense_are_refused(jobs, sentence):
    with pytest.raises(InputError, match=sentence):
        simulate(jobs, "fcfs")


@pytest.mark.parametrize("options", [{"events": "sc17"}, {"scheduler": "fcfs+easy,speculation=0"}])
def test_checkpoints_do_not_go_with_speculation_nor_with_the_order_of_sc17(options):
    with pytest.raises(InputError, match="jobs that write checkpoints does not go with"):
        simulate(work(90, **HUNDREDS), **{"scheduler": "fcfs+easy"} | options)
