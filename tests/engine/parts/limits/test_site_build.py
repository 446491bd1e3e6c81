"""Partitions and limits from a cluster to numbers, and the plain engine on them: cases by hand with Slurm's reasons."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Account, Accounting, AccountUser, Limits, QosLimits
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.machine.requests import caps_of, node_inputs
from schedlab.engine.parts.limits.machine_inputs import limit_inputs, never_runs
from schedlab.engine.parts.limits.on_all_jobs import KEPT, as_one_node
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import play
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

NODES = [NodeGroup.of("n[1-2]", cores=4, memory=8000)]
GPUS = [*NODES, NodeGroup.of("g1", cores=4, memory=8000, gpus={"a100": 4})]
USERS = (" User: 1 ann", " User: 2 bob", " User: 3 eve")


def jobs_of(*rows, header=USERS, **resources) -> Workload:
    """Return jobs of submit time, run time, cores and user; requests are the run times."""
    submit, run, cores, user = (np.array(column) for column in zip(*rows, strict=True))
    columns = {"submit_time": submit, "run_time": run, "requested_time": run, "requested_processors": cores}
    asked = Resources.of(len(rows), **({"tasks": cores} | resources))
    return Workload.from_columns(columns | {"user_id": user}, header=header, resources=asked)


def cluster_of(groups=NODES, partitions=(), qos=(), accounts=(), users=()) -> Cluster:
    who = Accounting(tuple(qos), (Account("root", ""), *accounts), tuple(users))
    return Cluster.of_nodes(groups, partitions, accounting=who)


def played(workload, cluster, scheduler="fcfs"):
    """Return starts, and why jobs waited how long, in the plain engine."""
    prepared = prepare(workload, scheduler, processors=cluster.processors)
    nodes, site = limit_inputs(workload, cluster, prepared.order)
    clock = play(prepared._replace(nodes=nodes, limits=site))
    return [job.start for job in clock.jobs], [clock.limits.waited.get(job, {}) for job in clock.jobs]


def test_a_group_limit_of_an_account_holds_for_all_accounts_below_it():
    """Cores of physics: 4, with lasers below it. ann (lasers) has 3; bob (physics) waits for 2, eve elsewhere does not.

    Bob's 2 and Ann's 3 are 5 > 4 until 100.
    """
    accounts = [Account("physics", limits=Limits(grp_tres=(("cpu", 4),))), Account("lasers", "physics"), Account("art")]
    cluster = cluster_of(accounts=accounts)
    workload = jobs_of((0, 100, 3, 1), (5, 50, 2, 2), (10, 30, 2, 3), account=["lasers", "physics", "art"])
    starts, reasons = played(workload, cluster)
    assert starts == [0, 100, 10]
    assert reasons == [{}, {"AssocGrpCpuLimit": 95}, {}]


def test_jobs_that_need_more_cores_of_a_node_than_their_partition_has_there_never_run():
    cluster = Cluster.of_nodes(NODES, [Partition("p", default=True, max_cores_per_node=2)])
    jobs = jobs_of(*[(0, 9, 4, 1)] * 4, nodes=[0, 2, 1, 0], exclusive=[0, 0, 0, 1])
    assert never_runs(jobs, cluster).texts() == ["", "", "Resources", "Resources"]
    assert simulate(jobs[:2], "fcfs", cluster=cluster).start_time.tolist() == [0, 9]


def test_a_partition_that_may_hold_all_cores_of_its_nodes_has_no_cap():
    parts = [Partition("p", default=True, max_cores_per_node=4), Partition("q", ("n1",), max_cores_per_node=3)]
    cluster = Cluster.of_nodes(NODES, parts)
    inputs = node_inputs(jobs_of((0, 9, 1, 1)), cluster, None, "weight")
    assert inputs.caps is None
    assert caps_of(cluster) == {"q": 3}


def test_jobs_of_a_user_are_counted_by_account_and_the_users_own_limit_replaces_the_accounts():
    """MaxJobs=1 for each user of lab; ann has 2 of her own. Of bob one runs, of ann two."""
    lab = Account("lab", limits=Limits(max_jobs=1))
    users = [
        AccountUser("ann", "lab", limits=Limits(max_jobs=2), default=True),
        AccountUser("bob", "lab", default=True),
    ]
    cluster = cluster_of(accounts=[lab], users=users)
    rows = [(0, 100, 1, 1), (0, 100, 1, 1), (0, 100, 1, 1), (0, 100, 1, 2), (0, 100, 1, 2)]
    starts, reasons = played(jobs_of(*rows), cluster)
    assert starts == [0, 0, 100, 0, 100]
    assert reasons[2] == reasons[4] == {"AssocMaxJobsLimit": 100}


def test_a_limit_per_user_of_a_qos_replaces_the_same_of_the_account():
    """MaxJobsPerUser=2 of the QOS counts, not MaxJobs=1 of the account: Slurm takes the first in its hierarchy."""
    qos = QosLimits("high", limits=Limits(max_jobs_per_user=2))
    lab = Account("lab", limits=Limits(max_jobs=1), default_qos="high")
    cluster = cluster_of(qos=[qos], accounts=[lab], users=[AccountUser("ann", "lab", default=True)])
    starts, reasons = played(jobs_of(*[(0, 100, 1, 1)] * 3), cluster)
    assert starts == [0, 0, 100]
    assert reasons[2] == {"QOSMaxJobsPerUserLimit": 100}


def test_a_qos_of_a_partition_comes_before_that_of_the_job():
    """GrpTRES=cpu=2 of the partition's QOS holds, though the job's QOS grants 8; its GrpJobs=1 is of another kind."""
    qos = [
        QosLimits("part", limits=Limits(grp_tres=(("cpu", 2),))),
        QosLimits("own", limits=Limits(grp_tres=(("cpu", 8),), grp_jobs=2)),
    ]
    partition = Partition("batch", default=True, qos="part")
    cluster = cluster_of(partitions=[partition], qos=qos)
    rows = [(0, 100, 1, 1), (0, 60, 1, 2), (0, 50, 1, 3)]
    starts, reasons = played(jobs_of(*rows, qos=["own"] * 3), cluster)
    assert starts == [0, 0, 60]
    assert reasons[2] == {"QOSGrpJobsLimit": 60}  # the number of jobs is looked at first
    starts, reasons = played(jobs_of(*rows, qos=["own", "own", "part"]), cluster)
    assert starts == [0, 0, 60]
    assert reasons[2] == {"QOSGrpCpuLimit": 60}


def test_limits_per_user_and_per_account_of_gpus_memory_and_nodes():
    """Two GPUs per user, 6,000 MiB per account: the third GPU of ann waits, and the memory of the lab."""
    limits = Limits(max_tres_per_user=(("gres/gpu", 2),), max_tres_per_account=(("mem", 6000),))
    lab = [Account("lab"), Account("art")]
    cluster = cluster_of(GPUS, qos=[QosLimits("normal", limits=limits)], accounts=lab)
    rows = [(0, 100, 1, 1), (0, 100, 1, 1), (0, 100, 1, 2)]
    gpus = jobs_of(*rows, gpus=[2, 1, 2], nodes=[1, 1, 1], account=["lab", "lab", "art"])
    starts, reasons = played(gpus, cluster)
    assert starts == [0, 100, 0]
    assert reasons[1] == {"QOSMaxGRESPerUser": 100}
    memory = jobs_of(*rows, memory_per_node=[4000, 4000, 4000], nodes=[1, 1, 1], account=["lab", "lab", "art"])
    starts, reasons = played(memory, cluster)
    assert starts == [0, 100, 0]
    assert reasons[1] == {"MaxMemoryPerAccount": 100}


def test_running_minutes_of_an_association_count_what_is_left():
    """10 core-minutes: job 1 has 4 x 2 min, job 2 asks 1 x 3 min: 11 > 10 at 0. At 30 s 8 - 2 + 3 = 9: it fits.

    Somebody else's job comes then: only an event asks again.
    """
    lab = Account("lab", limits=Limits(grp_tres_run_mins=(("cpu", 10),)))
    cluster = cluster_of(accounts=[lab])
    workload = jobs_of((0, 120, 4, 1), (0, 180, 1, 1), (30, 10, 1, 2), account=["lab", "lab", None])
    starts, reasons = played(workload, cluster, "fcfs+easy")
    assert starts == [0, 30, 30]
    assert reasons[1] == {"AssocGrpCPURunMinutesLimit": 30}


def test_a_job_of_several_partitions_may_run_in_those_that_admit_it_the_higher_tier_first():
    partitions = [
        Partition("slow", ("n1",), default=True),
        Partition("quick", ("n2",), priority_tier=5, max_time=3600),
        Partition("theirs", ("n1", "n2"), allow_accounts=frozenset({"physics"})),
        Partition("closed", ("n1", "n2"), up=False),
    ]
    cluster = cluster_of(partitions=partitions, accounts=[Account("physics"), Account("lasers", "physics")])
    asked = ["slow,quick", "slow,quick", "closed,theirs", "theirs", None]
    rows = [(0, 100, 1, 1), (0, 7200, 1, 1), (0, 100, 1, 1), (0, 100, 1, 1), (0, 100, 1, 1)]
    workload = jobs_of(*rows, partition=asked, account=[None, None, "lasers", None, None])
    assert never_runs(workload, cluster).texts() == ["", "", "", "AccountNotAllowed", ""]
    _, site = limit_inputs(workload[[0, 1, 2, 4]], cluster)
    lists = np.split(site.option_partition, site.option_offset[1:-1])
    assert [one.tolist() for one in lists] == [[1, 0], [0], [2], [0]]
    assert site.tier.tolist() == [1, 5, 1, 1]


@pytest.mark.parametrize(
    ("job", "resources", "reason"),
    [
        ((0, 7200, 1, 1), {"partition": ["short"]}, "PartitionTimeLimit"),
        ((0, 60, 2, 1), {"partition": ["short"], "nodes": [2]}, "PartitionNodeLimit"),
        ((0, 60, 1, 1), {"partition": ["nowhere"]}, "PartitionName"),
        ((0, 60, 1, 1), {"partition": ["down"]}, "PartitionDown"),
        ((0, 60, 1, 1), {"partition": ["high"], "qos": ["low"]}, "QOSNotAllowed"),
        ((0, 60, 5, 1), {"partition": ["short"], "nodes": [1]}, "Resources"),
        ((0, 60, 4, 1), {"account": ["lab"]}, "AssocMaxCpuPerJobLimit"),
        ((0, 60, 4, 1), {"qos": ["low"]}, "QOSGrpCpuLimit"),
        ((0, 7200, 1, 1), {"qos": ["low"]}, "QOSMaxWallDurationPerJobLimit"),
    ],
)
def test_a_job_that_can_never_run_is_named_with_slurms_reason(job, resources, reason):
    partitions = [
        Partition("batch", default=True),
        Partition("short", max_time=3600, max_nodes=1),
        Partition("down", up=False),
        Partition("high", allow_qos=frozenset({"high"})),
    ]
    low = QosLimits("low", limits=Limits(grp_tres=(("cpu", 2),), max_wall=3600))
    lab = Account("lab", limits=Limits(max_tres_per_job=(("cpu", 3),)))
    cluster = cluster_of(partitions=partitions, qos=[low, QosLimits("high")], accounts=[lab])
    workload = jobs_of(job, **resources)
    assert never_runs(workload, cluster).texts() == [reason]
    said = {"PartitionName": "job 1: unknown partition nowhere", "Resources": "job 1 never fits .* short of cores"}
    with pytest.raises(InputError, match=said.get(reason, rf"job 1 can never run: .*\({reason}\)")):
        limit_inputs(workload, cluster)


def test_exclusive_jobs_use_all_cores_of_their_nodes():
    """EXCLUSIVE: one core on one node counts as the four of the node; GrpTRES=cpu=6 lets one of them run."""
    lab = Account("lab", limits=Limits(grp_tres=(("cpu", 6),)))
    cluster = cluster_of(partitions=[Partition("batch", default=True, exclusive=True)], accounts=[lab])
    starts, reasons = played(jobs_of((0, 100, 1, 1), (0, 50, 1, 2), account=["lab", "lab"]), cluster)
    assert starts == [0, 100]
    assert reasons[1] == {"AssocGrpCpuLimit": 100}


@given(
    users=st.lists(st.integers(1, 3), min_size=2, max_size=12),
    seed=st.integers(0, 1000),
    most=st.integers(1, 3),
    scheduler=st.sampled_from(["fcfs", "fcfs+easy", "fcfs+conservative", "fcfs+slurm(interval=5,delay=1)"]),
)
@settings(max_examples=25, deadline=None)
def test_no_user_ever_has_more_running_jobs_than_allowed_in_whatever_order_the_rows_stand(users, seed, most, scheduler):
    rng = np.random.default_rng(seed)
    rows = [(int(rng.integers(0, 50)), int(rng.integers(1, 60)), int(rng.integers(1, 5)), user) for user in users]
    cluster = cluster_of(qos=[QosLimits("normal", limits=Limits(max_jobs_per_user=most))], accounts=[Account("lab")])
    workload = jobs_of(*rows)
    starts, reasons = played(workload, cluster, scheduler)
    ordered = workload.sorted_by_submit()
    ends = np.array(starts) + ordered.run_time
    for second in starts:
        running = (np.array(starts) <= second) & (ends > second)
        assert np.bincount(ordered.user_id[running], minlength=4).max() <= most
    for start, submit, why in zip(starts, ordered.submit_time.tolist(), reasons, strict=True):
        assert sum(why.values()) == start - submit


def test_jobs_that_ask_for_a_number_of_processors_as_one_node_keep_licences_and_patience():
    asked = Resources.of(2, licenses=["L", ""], patience=[5, 0])
    columns = {"submit_time": [0, 0], "run_time": [5, 5], "requested_time": [5, 5], "requested_processors": [1, 1]}
    jobs = Workload.from_columns(columns, resources=asked, processors=2)
    held, machine = as_one_node(jobs, Cluster.from_dict({"processors": 2, "licenses": {"L": 1}}))
    assert machine.processors == 2
    assert held.resources.patience.tolist() == [5, 0]
    assert held.resources.licenses.texts() == ["L", ""]


def test_each_column_of_requests_is_about_nodes_or_kept_without_them():
    about_nodes = {"nodes", "tasks", "tasks_per_node", "cores_per_task", "memory_per_node", "memory_per_core"}
    about_nodes |= {"gpus", "gpus_per_node", "gpus_per_task", "gpu_share", "gpu_type", "exclusive", "constraint"}
    about_nodes |= {"partition", "switches", "switch_wait", "reservation", "het_job", "exclude", "nodelist"}
    columns = {field.name for field in fields(Resources)}
    assert columns == about_nodes | {*KEPT}
    assert not about_nodes & {*KEPT}
