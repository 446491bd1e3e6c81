"""Jobs that stand still while others use their cores: by hand, interrupted, saved, and what must always hold."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from features import random_simulation, setting
from node_cases import random_nodes
from test_nodes_against_twin import replayed
from test_nodes_against_twin import simulate as simulate_prepared
from test_preemption import random_preemption, random_site

from schedlab import Cluster, Simulation, Workload, simulate
from schedlab.cluster import NodeEvent, NodeEvents, NodeGroup, Partition, Preemption
from schedlab.cluster.files import read_cluster
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.errors import InputError
from schedlab.schedule.exports import read_schedule
from schedlab.schedule.stretches import by_stretch, stretches
from schedlab.schedule.summary import summary
from schedlab.speculate.requests import requests_of
from schedlab.workload import Resources

BACKFILLINGS = ("fcfs", "fcfs+easy", "fcfs+slurm(interval=0,delay=0)")
TIERS = [Partition("low", default=True), Partition("mid", priority_tier=5), Partition("high", priority_tier=9)]


def machine(nodes: int, cores: int = 1, memory: int | None = None, **options: str) -> Cluster:
    return Cluster.of_nodes(
        [NodeGroup.of(f"n[1-{nodes}]", cores=cores, memory=memory)],
        TIERS,
        preemption=Preemption("partition", mode=options.get("mode", "suspend")),
    )


def workload(*jobs: tuple[int, int, int, int, str], memory: int = 0) -> Workload:
    submit, processors, run_time, limit = np.array([job[:4] for job in jobs]).T
    columns = {"submit_time": submit, "requested_processors": processors, "run_time": run_time}
    resources = Resources.of(
        len(jobs), partition=[job[4] for job in jobs], **({"memory_per_core": [memory] * len(jobs)} if memory else {})
    )
    return Workload.from_columns({**columns, "requested_time": limit}, resources=resources)


THREE = workload((0, 2, 500, 1200, "low"), (100, 2, 300, 600, "mid"), (200, 2, 100, 300, "high"))


@pytest.mark.parametrize("scheduler", BACKFILLINGS)
def test_a_run_stands_still_below_two_tiers(scheduler: str) -> None:
    schedule = simulate(THREE, scheduler, cluster=machine(2))
    assert schedule.pauses is not None
    assert schedule.pauses.tolist() == [(0, 100, 500), (1, 200, 300)]
    assert schedule.start_time.tolist() == [0, 100, 200]
    assert schedule.end_time.tolist() == [900, 500, 300]
    assert schedule.run_time.tolist() == [500, 300, 100]
    run, start, end = (part.tolist() for part in stretches(schedule))
    assert run == [0, 0, 1, 1, 2]
    assert list(zip(start, end, strict=True)) == [(0, 100), (500, 900), (100, 200), (300, 500), (200, 300)]


def test_runs_may_stand_still_more_often_than_there_are_jobs() -> None:
    short = [(10 + 20 * i, 2, 5, 10, "high") for i in range(60)]
    jobs = workload((0, 1, 4000, 9000, "low"), (0, 1, 4000, 9000, "low"), *short)
    schedule = simulate(jobs, "fcfs+easy", cluster=machine(2))
    assert schedule.pauses is not None
    assert sorted(schedule.pauses.tolist()) == [(job, at, at + 5) for job in (0, 1) for at in range(10, 1210, 20)]
    assert schedule.end_time[:2].tolist() == [4300, 4300]


def test_the_machine_is_never_used_twice_and_nothing_is_lost() -> None:
    schedule = simulate(THREE, "fcfs+easy", cluster=machine(2))
    metrics = schedule.metrics()
    assert (metrics["utilisation"], metrics["lost_share"], metrics["failed_runs"]) == (1, 0, 0)
    assert (metrics["suspended_jobs"], metrics["mean_suspended_time"]) == (2, 500 / 3)
    assert "  suspended         2 jobs, each for 4.17 min in the mean" in summary(schedule)
    assert metrics["mean_turnaround"] == (900 + 400 + 100) / 3
    assert schedule.slowdown.tolist() == [900 / 500, 400 / 300, 1]


@pytest.mark.parametrize("scheduler", BACKFILLINGS)
def test_a_suspended_run_keeps_its_memory(scheduler: str) -> None:
    jobs = workload((0, 2, 500, 1200, "low"), (100, 2, 300, 600, "high"), memory=60)
    schedule = simulate(jobs, scheduler, cluster=machine(1, 2, memory=200))
    assert schedule.start_time.tolist() == [0, 500]
    schedule = simulate(jobs, scheduler, cluster=machine(1, 2, memory=240))
    assert (schedule.start_time.tolist(), schedule.end_time.tolist()) == ([0, 100], [800, 400])


@pytest.mark.parametrize("scheduler", BACKFILLINGS)
def test_five_tiers_may_have_a_whole_node_whose_memory_is_not_counted(scheduler: str) -> None:
    """Memory that is not counted was taken all the same: the third tier found less than none free."""
    tiers = [Partition(f"p{tier}", default=tier == 1, priority_tier=tier) for tier in range(1, 6)]
    one = Cluster.of_nodes([NodeGroup.of("n1", cores=2)], tiers, preemption=Preemption("partition", mode="suspend"))
    resources = Resources.of(5, partition=[tier.name for tier in tiers], exclusive=[True] * 5)
    columns = {"submit_time": range(0, 50, 10), "run_time": [100] * 5, "requested_processors": [1] * 5}
    jobs = Workload.from_columns({**columns, "requested_time": [100] * 5}, resources=resources)
    for schedule in (simulate(jobs, scheduler, cluster=one), replay(prepare(jobs, scheduler, cluster=one))):
        assert schedule.start_time.tolist() == [0, 10, 20, 30, 40]
        assert schedule.end_time.tolist() == [500, 410, 320, 230, 140]


@pytest.mark.parametrize("scheduler", BACKFILLINGS)
def test_simulations_in_steps_that_are_saved_and_added_to_end_alike(scheduler: str, tmp_path: Path) -> None:
    expected = simulate(THREE, scheduler, cluster=machine(2))
    simulation = Simulation(THREE[:2], scheduler, cluster=machine(2))
    simulation.run(until=150)
    assert simulation.start_time.tolist() == [0, 100]
    simulation.submit(THREE[2:])
    simulation.run(until=250)
    simulation.save(tmp_path / "half")
    simulation = Simulation.load(tmp_path / "half")
    simulation.run()
    found = simulation.schedule()
    assert found.pauses is not None
    assert expected.pauses is not None
    assert found.pauses.tolist() == expected.pauses.tolist()
    assert found.end_time.tolist() == expected.end_time.tolist()


@pytest.mark.parametrize("scheduler", BACKFILLINGS)
def test_only_who_stood_still_goes_on_into_a_maintenance(scheduler: str) -> None:
    # n1 is closed from 30 to 50. Job 0 would end at 20; it stands still from 5 to 25, and goes on until 40. If job 1
    # asks for 26 s, it would reach from 5 to 31: job 0 keeps its place, and job 1 waits until 50.
    events = NodeEvents((NodeEvent(30, "maintenance", ("n1",), end=50),))
    for limit, starts, ends in ((25, [0, 5], [40, 25]), (26, [0, 50], [20, 70])):
        jobs = workload((0, 1, 20, 20, "low"), (5, 1, 20, limit, "high"))
        prepared = prepare(jobs, scheduler, cluster=machine(1), node_events=events)
        for schedule in (simulate(jobs, scheduler, cluster=machine(1), node_events=events), replay(prepared)):
            assert schedule.start_time.tolist() == starts
            assert schedule.end_time.tolist() == ends


def test_corrections_are_those_of_the_last_run() -> None:
    # Job 1 is predicted to run for the 5 s of job 0, which is corrected at 11. Its node is down from 20 to 40. In its
    # run from 40 to 70, the same is corrected at 45.
    jobs = workload((0, 1, 5, 100, "low"), (6, 1, 30, 100, "low")).replace(user_id=np.array([1, 1]))
    events = NodeEvents((NodeEvent(20, "down", ("n1",)), NodeEvent(40, "up", ("n1",))))
    scheduler, cluster = "fcfs+conservative@mean/incremental", machine(1, mode="requeue")
    prepared = prepare(jobs, scheduler, cluster=cluster, node_events=events)
    for schedule in (simulate(jobs, scheduler, cluster=cluster, node_events=events), replay(prepared)):
        assert schedule.start_time.tolist() == [0, 40]
        assert schedule.end_time.tolist() == [5, 70]
        assert schedule.corrections.tolist() == [0, 1]


def test_suspension_is_refused_where_every_job_is_planned() -> None:
    with pytest.raises(InputError, match=r"preemption that suspends does not go with \+conservative: the plan would"):
        prepare(THREE, "fcfs+conservative", cluster=machine(2))


def test_suspensions_are_saved_with_a_schedule(tmp_path: Path) -> None:
    schedule = simulate(THREE, "fcfs+easy", cluster=machine(2))
    schedule.save(tmp_path / "s.parquet")
    again = read_schedule(tmp_path / "s.parquet")
    assert schedule.pauses is not None
    assert again.pauses is not None
    assert again.pauses.tolist() == schedule.pauses.tolist()
    assert again.metrics() == schedule.metrics()
    schedule.save(tmp_path / "s.csv")
    assert '"0 1"' in (tmp_path / "s.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("backfilling", ["none", "easy", "slurm"])
def test_no_core_is_used_twice_and_memory_is_kept(backfilling: str, seed: int) -> None:
    case = setting(backfilling, ())
    jobs, options = random_simulation(case, seed)
    random = Random(seed)
    try:
        nodes, site = random_site(jobs, random_nodes(jobs, random), random)
        prepared = prepare(jobs, case.scheduler, **options, requests=requests_of(jobs, None))
    except InputError:
        return
    tier = np.arange(len(site.tier)) + 1
    preemption = random_preemption(site, random, case, range(len(jobs)))
    classes = len(tier) + 1
    below = np.zeros((classes, classes), dtype=bool)
    below[:-1, :-1] = tier[:, None] > tier
    preemption = preemption._replace(
        may=below,
        cancels=np.zeros(classes, bool),
        suspends=np.ones(classes, bool),
        grace=np.zeros(classes, int),
        exempt=np.zeros(classes, int),
        rank=np.array([*tier, 0]),
        of_option=site.option_partition.astype(np.int64),
    )
    schedule, _ = simulate_prepared(prepared._replace(nodes=nodes, limits=site, preemption=preemption))
    assert_nothing_is_held_twice(schedule)
    done = schedule.runs[schedule.runs["done"]]
    assert np.array_equal(np.sort(done["job"]), np.flatnonzero(~schedule.killed))
    held = by_stretch(schedule)
    ran = np.bincount(held.runs["job"], held.runs["end"] - held.runs["start"], len(schedule))
    assert ran.tolist() == np.minimum(jobs.run_time, jobs.requested_time).tolist()


def assert_nothing_is_held_twice(schedule) -> None:
    """At every instant, runs that are not suspended hold no more cores than there are, all runs no more memory."""
    for one, what, most in (
        (by_stretch(schedule), "held_cores", schedule.placement.cores),
        (schedule, "held_memory", schedule.placement.memory),
    ):
        if most is None:
            continue
        place = one.placement
        run = np.repeat(np.arange(len(place)), np.diff(place.offsets))
        start, end, held = one.runs["start"][run], one.runs["end"][run], getattr(place, what)
        for node in range(len(most)):
            here = place.node == node
            for second in np.unique(start[here]):
                now = here & (start <= second) & (second < end)
                assert most[node] == 0 or held[now].sum() <= most[node]


CONF = """NodeName=n[1-2] CPUs=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PartitionName=low Nodes=ALL Default=YES PriorityTier=1 {low}
PartitionName=high Nodes=ALL PriorityTier=9
PreemptType=preempt/{by}
PreemptMode={mode}
"""


@pytest.mark.parametrize(
    ("by", "mode", "low", "found"),
    [
        ("partition_prio", "SUSPEND,GANG", "", ("suspend", "")),
        ("partition_prio", "SUSPEND,GANG", "PreemptMode=REQUEUE", ("suspend", "requeue")),
        ("partition_prio", "REQUEUE", "PreemptMode=SUSPEND", ("requeue", "off")),
        ("qos", "SUSPEND,GANG", "", (None, "")),
    ],
)
def test_slurm_conf_says_who_is_suspended(by: str, mode: str, low: str, found: tuple[str | None, str], tmp_path: Path):
    (tmp_path / "slurm.conf").write_text(CONF.format(by=by, mode=mode, low=low), encoding="utf-8")
    cluster = read_cluster(tmp_path)
    said = None if cluster.preemption is None else cluster.preemption.mode
    assert (said, cluster.partitions[0].preempt_mode) == found
    assert any("suspend" in one.reason for one in cluster.ignored) is (found[1] == "off" or found[0] is None)


def test_by_qos_nobody_can_be_suspended() -> None:
    with pytest.raises(InputError, match="by partition only"):
        Preemption("qos", mode="suspend")


def test_engine_and_twin_agree_on_hand_cases() -> None:
    for scheduler in BACKFILLINGS:
        prepared = prepare(THREE, scheduler, cluster=machine(2))
        plain, _ = replayed(prepared)
        assert plain.pauses is not None
        assert plain.pauses.tolist() == [(0, 100, 500), (1, 200, 300)]


def test_a_node_of_which_runs_hold_more_than_it_has_gets_no_tasks() -> None:
    # The second job suspends the first on n1, of which there is one core less than nothing left. So the third has two
    # tasks on n2, and one on n4.
    jobs = workload((0, 2, 500, 500, "first"), (10, 1, 300, 300, "high"), (20, 3, 100, 100, "low"))
    cluster = Cluster.of_nodes(
        [NodeGroup.of("n[1-4]", cores=2)],
        [
            Partition("low", nodes=("n1", "n2", "n4"), default=True),
            Partition("first", nodes=("n1",)),
            Partition("high", nodes=("n1",), priority_tier=9),
        ],
        preemption=Preemption("partition", mode="suspend"),
    )
    prepared = prepare(jobs, "fcfs+easy,placement=consecutive", cluster=cluster)
    engine, held = simulate_prepared(prepared)
    reference, as_well = replayed(prepared)
    assert engine.start_time.tolist() == reference.start_time.tolist() == [0, 10, 20]
    assert [(node, tasks) for node, tasks, _ in held[2]] == [(1, 2), (3, 1)]
    assert as_well == held
