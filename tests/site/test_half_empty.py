"""Whole-node jobs that wait before half-empty nodes: how much that is, who holds them, and what may help, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Account, Accounting, AccountUser, QosLimits
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.machine.requests import unchecked_inputs
from schedlab.engine.simulation import simulate
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.asked import node_kinds
from schedlab.site.causes import wait_causes
from schedlab.site.half_empty import HalfEmpty, Holder, half_empty
from schedlab.site.half_empty_text import change_to_try, half_empty_sentences
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

HOUR = 3600
USERS = (" User: 1 ann", " User: 2 bob")


def seen(jobs: list[tuple[int, int, int, int]], memory: list[int] | None = None, last: int = 100) -> HalfEmpty | None:
    """Return what stands on four nodes of 8 cores and 100 MiB; jobs by user, hours of submission, cores and hours.

    Small jobs get a node each by their lists of nodes; a job without effect comes at the last hour.
    """
    every = [*jobs, (2, last, 1, 1)]
    user, submit, cores, hours = np.array(every).T
    nodes = [f"n{row % 4 + 1}" if one < 8 else None for row, one in enumerate(cores.tolist())]
    amounts = [*(memory or [10] * len(jobs)), 10]
    asked = Resources.of(
        len(every),
        tasks=cores,
        nodes=[1] * len(every),
        memory_per_node=amounts,
        nodelist=nodes,
        qos=["normal"] * len(every),
    )
    columns = {"submit_time": submit * HOUR, "run_time": hours * HOUR, "requested_time": hours * HOUR}
    columns |= {"requested_processors": cores, "user_id": user}
    workload = Workload.from_columns(columns, resources=asked, header=USERS)
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=8, memory=100)], [Partition("batch", default=True)])
    schedule = simulate(workload, "fcfs,placement=consecutive", cluster=cluster)
    inputs = unchecked_inputs(workload, cluster, "consecutive")
    return half_empty(schedule, inputs, wait_causes(schedule, inputs), node_kinds(inputs, asked, cluster))


SMALL = [(1, 0, 2, 10)] * 4
"""Ann's four jobs of two cores hold a node each for ten hours."""


def test_a_whole_node_job_before_small_jobs_waits_for_parts_and_packing_is_seen_to_help():
    """Bob's job of a node waits from 2 h to 10 h; 24 of 32 cores are free. Every node is a quarter in use."""
    found = seen([*SMALL, (2, 2, 8, 1)])
    assert found is not None
    assert (found.nodes, found.jobs, found.seconds) == (4, 1, 8 * HOUR)
    assert (found.free, found.partly, found.mergeable, found.full_of_memory, found.serial) == (0.75, 4, 1, 0, 0)
    assert found.holder == Holder("ann", "normal", 1.0, 2, 10, 8.0)


def test_the_drain_after_the_log_does_not_count():
    """The last job comes at 5 h: of bob's wait from 2 h to 10 h, three hours lie before."""
    found = seen([*SMALL, (2, 2, 8, 1)], last=5)
    assert found is not None
    assert found.seconds == 3 * HOUR


def test_nodes_whose_memory_is_held_by_few_cores_are_told_from_such_as_can_be_packed():
    """Ann's jobs hold 70 of 100 MiB of each node: no two of them fit on one."""
    found = seen([*SMALL, (2, 2, 8, 1)], memory=[70] * 4 + [100])
    assert found is not None
    assert (found.mergeable, found.full_of_memory, found.holder.memory) == (0, 1, 70)


def test_a_full_machine_has_no_half_empty_nodes():
    """Seven of eight cores are in use on each node: an eighth is free, 4 cores in sum, and bob wants 8."""
    assert seen([(1, 0, 7, 10)] * 4 + [(2, 2, 8, 1)]) is None


FOUND = HalfEmpty("any node", 4, 1, 6000, 0.75, 4.0, 1.0, 0.0, 1.0, Holder("ann", "normal", 1.0, 1, 10, 8.0))


def site(*, spread: bool = False, accounts: bool = False) -> Cluster:
    who = Accounting(
        (QosLimits("normal"),), (Account("root", ""), Account("lab")), (AccountUser("ann", "lab", default=True),)
    )
    partition = replace(Partition("batch", default=True), least_loaded=spread)
    return Cluster.of_nodes([NodeGroup.of("n[1-4]", cores=8)], [partition], accounting=who if accounts else None)


SLURM = Scheduler.parse("fcfs+slurm,placement=consecutive")


def test_the_change_to_ask_for_is_packing_where_it_can_help_and_else_a_limit_on_who_holds_the_nodes():
    assert change_to_try(FOUND, site(spread=True), SLURM) == "PartitionName=batch LLN=NO"
    assert change_to_try(FOUND, site(), SLURM) == "SchedulerParameters.pack_serial_at_end=yes"
    packed = Scheduler.parse("fcfs+slurm(serial=last),placement=consecutive")
    assert change_to_try(FOUND, site(), packed) == ""
    full = replace(FOUND, mergeable=0.0, full_of_memory=1.0)
    assert change_to_try(full, site(spread=True), SLURM) == ""
    assert change_to_try(full, site(accounts=True), SLURM) == "QOS=normal MaxTRESPerUser=cpu=4"


def test_the_sentences_say_who_waits_who_holds_and_what_may_help():
    told = list(half_empty_sentences(FOUND, 6000, 10_000, "schedlab site what-if lab --set LLN=NO"))
    assert told == [
        "60% of all waiting passes before half-empty nodes, nearly all of it that of 1 job before any node. While they "
        "wait so, 75% of the cores of these nodes are free on average, but no node has enough of them for such a job.",
        "On average 4 of these 4 nodes are then in use in part. On 100% of these run jobs of ann, each with 1 core and "
        "10 MiB of a node.",
        "What may help: packing. 100% of the nodes in use in part are at most half in use: their jobs would do with "
        "half as many nodes. That is not tried here. What-if tells whether it helps, and who pays: "
        "schedlab site what-if lab --set LLN=NO.",
    ]
    full = replace(FOUND, mergeable=0.1, full_of_memory=0.8)
    assert list(half_empty_sentences(full, 6000, 10_000, ""))[2] == (
        "What may help: smaller requests for memory, or a limit on what ann holds at once. Packing jobs closer can "
        "hardly empty these nodes: on 80% of them, few cores hold more than half the memory."
    )
    more, _, ask = half_empty_sentences(full, 12_000, 20_000, "schedlab --set MaxTRESPerUser=cpu=4")
    assert more.startswith("60% of all waiting passes before half-empty nodes, 50% of it that of 1 job before any node")
    assert "tells whether it helps, at 4 cores (ann holds 8 on average then), and who pays: schedlab" in ask


@pytest.mark.parametrize("waiting", [70_000, 600_000])
def test_little_waiting_before_half_empty_nodes_is_not_told(waiting: int):
    assert list(half_empty_sentences(FOUND, 6000, waiting, "")) == []
