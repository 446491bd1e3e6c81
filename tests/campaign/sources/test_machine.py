"""Workloads of a campaign on clusters: what they depend on, and that tasks are what `simulate` makes of the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from campaign_runs import run_here, small, write_log
from pydantic import ValidationError

from schedlab.campaign.definition.inputs import find_inputs
from schedlab.campaign.definition.plan import Plan
from schedlab.campaign.run.worker import simulate_task
from schedlab.campaign.sources import machine
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.files import read_cluster, write_cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.workload.files import read_workload, write_workload
from schedlab.workload.sampling import cut_windows, rebase

NODES = Cluster.of_nodes(NodeGroup.of("n[1-4]", cores=2), Partition("batch", default=True, max_time=5 * 86_400))
EVENTS = NodeEvents((NodeEvent(400, "down", ("n1",)), NodeEvent(2_000, "up", ("n1",))))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    write_log(tmp_path / "a.swf")
    write_cluster(NODES, tmp_path / "nodes.toml")
    EVENTS.save(tmp_path / "events.csv")
    return tmp_path


def plan(base: Path, *entries: dict[str, Any]) -> Plan:
    campaign = small(workloads=list(entries))
    return Plan(campaign, find_inputs(campaign, base))


def tasks(planned: Plan) -> list[Any]:
    return [planned.task(position)[1] for position in range(len(planned))]


ON_NODES = {"trace": "a.swf", "cluster": "nodes.toml"}


def test_a_task_on_a_cluster_is_what_simulate_makes_of_the_same(base: Path) -> None:
    planned = plan(base, ON_NODES | {"node_events": "events.csv", "interrupted": "lost"})
    for task in tasks(planned):
        jobs = task.instance.jobs()
        assert len(jobs) > 5
        events = NodeEvents(EVENTS.events, "lost")
        wanted = simulate(jobs, task.scheduler, cluster=read_cluster(base / "nodes.toml"), node_events=events)
        found = simulate_task(task)
        assert found.start_time.tolist() == wanted.start_time.tolist()
        assert found.placement.nodes == NODES.nodes


def test_the_results_of_a_campaign_on_nodes_count_what_failures_cost(base: Path) -> None:
    entry = ON_NODES | {"failures": {"mtbf": "10 min", "mttr": "1 min"}, "repetitions": 3}
    rows = run_here(small(workloads=[entry]), base / "run", base=base).results()
    assert len(rows) == 6
    assert (rows["failed_runs"] > 0).any()
    assert rows.groupby("scheduler")["lost_share"].nunique().max() > 1  # other failures in each repetition


def test_requeued_jobs_may_begin_again_after_the_delay_of_the_campaign(base: Path) -> None:
    task = tasks(plan(base, ON_NODES | {"node_events": "events.csv", "requeue_delay": "2 min"}))[0]
    assert task.instance.node_events(task.instance.jobs()) == NodeEvents(EVENTS.events, requeue_delay=120)


def test_single_gpus_fail_in_a_campaign_alone_or_beside_nodes(base: Path) -> None:
    write_cluster(Cluster.of_nodes(NodeGroup.of("g[1-4]", cores=2, gpus={"a100": 4})), base / "gpus.toml")
    of_gpus = {"gpu_mtbf": "10 min", "gpu_mttr": "1 min"}
    entry = ON_NODES | {"cluster": "gpus.toml"}
    alone = tasks(plan(base, entry | {"failures": of_gpus}))[0]
    both = tasks(plan(base, entry | {"failures": of_gpus | {"mtbf": "1h", "mttr": "1 min"}}))[0]
    kinds = [{event.event for event in task.instance.node_events(task.instance.jobs())} for task in (alone, both)]
    assert kinds == [{"gpu-down", "gpu-up"}, {"gpu-down", "gpu-up", "down", "up"}]


def test_node_events_keep_their_place_in_windows(base: Path) -> None:
    cut = {"length": "10 min", "count": 2, "state": 0}
    whole = read_workload(base / "a.swf", processors=8)
    second = list(cut_windows(whole, 600, 0))[1]
    planned = plan(base, ON_NODES | {"node_events": "events.csv", "windows": cut, "clean": "none"})
    task = tasks(planned)[2]
    assert task.instance.window.number == 1
    jobs = task.instance.jobs()
    assert jobs.submit_time.tolist() == rebase(second).submit_time.tolist()
    shifted = task.instance.node_events(jobs)
    assert [event.second for event in shifted] == [
        event.second - int(second.submit_time.min()) for event in EVENTS.events
    ]


def test_names_of_tasks_depend_on_what_a_cluster_is_and_not_on_its_file(base: Path) -> None:
    write_cluster(NODES, base / "same.json")
    write_cluster(Cluster.of_nodes(NodeGroup.of("n[1-8]", cores=1)), base / "other.toml")
    plain = plan(base, {"trace": "a.swf", "processors": 8}).names
    first, same, other = (
        plan(base, ON_NODES | {"cluster": name}).names for name in ("nodes.toml", "same.json", "other.toml")
    )
    assert first.tolist() == same.tolist()
    assert not set(first) & {*other, *plain}
    events = plan(base, ON_NODES | {"node_events": "events.csv"}).names
    lost = plan(base, ON_NODES | {"node_events": "events.csv", "interrupted": "lost"}).names
    drawn = plan(base, ON_NODES | {"failures": {"mtbf": "1d", "mttr": "1h"}}).names
    later = plan(base, ON_NODES | {"node_events": "events.csv", "requeue_delay": 121}).names
    gpus = plan(base, ON_NODES | {"failures": {"gpu_mtbf": "1d", "gpu_mttr": "1h"}}).names
    assert len({*first, *events, *lost, *drawn, *later, *gpus}) == 6 * len(first)


def test_names_of_tasks_are_those_of_campaigns_without_the_fields_that_came_later() -> None:
    entry = machine.OnMachine(cluster="nodes.toml", failures={"mtbf": "1d", "mttr": "1h"})
    files = machine.MachineFiles("nodes.toml", "a digest")
    failures = {"mtbf": 86_400.0, "mttr": 3_600.0, "shape": 1.0}
    assert entry.machine_specification(files) == {"machine": {"cluster": "a digest", "failures": failures}}


def test_jobs_that_no_node_can_hold_are_left_out_unless_nothing_is_cleaned(base: Path) -> None:
    jobs = tasks(plan(base, ON_NODES))[0].instance.jobs()
    long = jobs.requested_time.copy()
    long[3] = 10 * 86_400  # beyond the partition's max_time
    write_workload(jobs.replace(requested_time=long), base / "long.swf")
    entry = ON_NODES | {"trace": "long.swf"}
    planned = plan(base, entry)
    assert len(tasks(planned)[0].instance.jobs()) == len(jobs) - 1
    assert planned.inputs[0].warning == "long: 1 job that can never run on the cluster left out"
    write_workload(jobs.replace(requested_time=long * 0 + long[3]), base / "all.swf")
    with pytest.raises(InputError, match=r"all.swf: no job can run on the cluster: .*more time"):
        plan(base, ON_NODES | {"trace": "all.swf"})
    whole = tasks(plan(base, entry | {"clean": "none"}))[0]
    with pytest.raises(InputError, match="PartitionTimeLimit"):
        simulate_task(whole)


def test_a_changed_cluster_is_noticed(base: Path) -> None:
    task = tasks(plan(base, ON_NODES))[0]
    write_cluster(Cluster.of_nodes(NodeGroup.of("n[1-2]", cores=4)), base / "nodes.toml")
    machine._cluster.cache_clear()  # as in a new process
    with pytest.raises(InputError, match=r"nodes.toml has changed since the campaign was planned"):
        simulate_task(task)
    assert simulate_task(tasks(plan(base, ON_NODES))[0]).processors == 8


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"node_events": "events.csv"}, "node_events is about the nodes of a cluster: add cluster"),
        ({"failures": {"mtbf": "1d", "mttr": "1h"}}, "failures is about the nodes of a cluster"),
        ({"cluster": "nodes.toml", "interrupted": "lost"}, "interrupted is about nodes that go down"),
        ({"cluster": "nodes.toml", "requeue_delay": 5}, "requeue_delay is about nodes that go down"),
        (
            {"cluster": "nodes.toml", "node_events": "e.csv", "interrupted": "lost", "requeue_delay": 5},
            "requeue_delay is about jobs that are requeued",
        ),
        ({"cluster": "nodes.toml", "failures": {"mtbf": "1d"}}, "mtbf and mttr go together: give both"),
        ({"cluster": "nodes.toml", "failures": {"shape": 0.7}}, "give mtbf and mttr, gpu_mtbf and gpu_mttr, or all"),
        ({"cluster": "nodes.toml", "processors": 8}, "the cluster says how many processors there are"),
        ({"cluster": "nodes.toml", "repetitions": 2}, "add resample or failures, or remove repetitions"),
    ],
)
def test_what_does_not_go_together_is_said_when_the_file_is_read(fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        small(workloads=[{"trace": "a.swf"} | fields])


def test_event_orders_and_engines_without_nodes_are_refused() -> None:
    for fields, sentence in (({"events": "pyss"}, r"workloads\[0\]: .*pyss"), ({"engine": "slurm"}, "remove cluster")):
        with pytest.raises(ValidationError, match=sentence):
            small(workloads=[ON_NODES], schedulers=["fcfs+slurm"], **fields)


def test_files_that_do_not_fit_are_named_before_anything_runs(base: Path) -> None:
    with pytest.raises(InputError, match=r"this file is missing .*: none.toml"):
        plan(base, ON_NODES | {"cluster": "none.toml"})
    (base / "wrong.csv").write_text("second,event,nodes\n1,down,m7\n")
    with pytest.raises(InputError, match=r"wrong.csv: down at second 1: no node of the cluster is called 'm7'"):
        plan(base, ON_NODES | {"node_events": "wrong.csv"})
    with pytest.raises(InputError, match=r"lublin: its jobs are for 16 processors, and the cluster .* has 8"):
        plan(base, {"generate": "lublin", "jobs": 10, "processors": 16, "cluster": "nodes.toml"})
