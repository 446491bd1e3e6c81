"""Every second of every wait has one cause: hand-computed waits for nodes, for their turn, and at limits."""

from __future__ import annotations

import numpy as np

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Account, Accounting, AccountUser, Limits, QosLimits
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.engine.machine.requests import unchecked_inputs
from schedlab.engine.simulation import simulate
from schedlab.schedule.schedule import Schedule
from schedlab.site.causes import LIMITS, PRIORITY, RESOURCES, WaitCauses, kind_of, wait_causes
from schedlab.site.limit_costs import limit_costs
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

BATCH = Partition("batch", default=True)
USERS = (" User: 1 ann", " User: 2 bob")


def caused(cluster: Cluster, columns: dict, **asked) -> tuple[Schedule, WaitCauses]:
    jobs = len(columns["submit_time"])
    resources = Resources.of(jobs, **asked)
    columns = {"requested_time": columns["run_time"], "requested_processors": resources.tasks} | columns
    workload = Workload.from_columns(columns, resources=resources, header=USERS, name="log")
    found = simulate(workload, "fcfs,placement=consecutive", cluster=cluster)
    return found, wait_causes(found, unchecked_inputs(workload, cluster, "consecutive"))


def of_job(causes: WaitCauses, job: int) -> dict[str, int]:
    return {cause: int(column[job]) for cause, column in causes.seconds.items() if column[job]}


def test_a_job_waits_for_nodes_or_for_its_turn():
    """Node a1 runs job 0 until 100. Job 1 wants a1, and waits 90 s for it, while b1 is free. Job 2 wants b1, and waits
    80 s for job 1 to go first: first come, first served."""
    groups = [NodeGroup.of("a1", cores=4, features=["a"]), NodeGroup.of("b1", cores=4, features=["b"])]
    cluster = Cluster.of_nodes(groups, [BATCH])
    columns = {"submit_time": [0, 10, 20], "run_time": [100, 50, 10], "user_id": [1, 1, 2]}
    schedule, causes = caused(cluster, columns, tasks=[4, 4, 4], constraint=["a", "a", "b"])
    assert schedule.wait_time.tolist() == [0, 90, 80]
    assert [of_job(causes, job) for job in range(3)] == [{}, {"cores": 90}, {"turn": 80}]
    assert causes.elsewhere.tolist() == [0, 90, 0]
    assert causes.totals() == {"cores": 90, "turn": 80}
    assert causes.of_kind(RESOURCES).tolist() == [0, 90, 0]
    assert causes.of_kind(PRIORITY).tolist() == [0, 0, 80]


def test_waiting_until_the_last_submission_is_told_from_the_drain_after_it():
    """One node, until 100. Job 1 waits from 10 to 100, 20 s of it before the last job comes at 30."""
    cluster = Cluster.of_nodes([NodeGroup.of("n1", cores=4)], [BATCH])
    columns = {"submit_time": [0, 10, 30], "run_time": [100, 10, 10], "user_id": [1, 1, 2]}
    _, causes = caused(cluster, columns, tasks=[4, 4, 4])
    assert causes.seconds["cores"].tolist() == [0, 90, 80]
    assert causes.inside["cores"].tolist() == [0, 20, 0]
    assert causes.totals(inside=True) == {"cores": 20}


def test_of_like_jobs_before_one_free_node_one_waits_for_its_turn_and_the_others_for_nodes():
    """Job 0 holds n1 until 100; n2 is free, and job 1 waits for both. Behind it, four jobs of a node wait from 20 on:
    for one of the four there is room for 80 s, which is a quarter of the wait of each."""
    cluster = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=4)], [BATCH])
    columns = {"submit_time": [0, 0, 20, 20, 20, 20], "run_time": [100, 10, 10, 10, 10, 10], "user_id": [1] * 6}
    schedule, causes = caused(cluster, columns, tasks=[4, 8, 4, 4, 4, 4], nodes=[1, 2, 1, 1, 1, 1])
    assert schedule.start_time[:4].tolist() == [0, 100, 110, 110]
    assert causes.seconds["turn"][2:4].tolist() == [20, 20]
    assert sum(column[2] for column in causes.seconds.values()) == 90


def test_the_part_of_a_wait_until_the_last_submission_is_of_no_cause_more_than_the_whole():
    """Jobs of two sizes wait at a limit, before nodes of which parts are free, and in queues of which a share has room:
    seconds of each are rounded, and those at the limit before the last submission are known by proportion."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        count = 60
        columns = {
            "submit_time": np.sort(rng.integers(0, 200, count)),
            "run_time": rng.integers(1, 60, count),
            "user_id": rng.integers(1, 3, count),
        }
        cluster = limited(Limits(max_jobs_per_user=3), "n[1-4]")
        schedule, causes = caused(cluster, columns, tasks=rng.integers(1, 5, count), qos=["normal"] * count)
        inside = np.clip(columns["submit_time"].max() - schedule.queued_since, 0, schedule.wait_time)
        assert (sum(causes.inside.values()) == inside).all()
        assert all((column <= causes.seconds[cause]).all() for cause, column in causes.inside.items())


def limited(limits: Limits, nodes: str = "n1") -> Cluster:
    who = Accounting(
        (QosLimits("normal", limits=limits),),
        (Account("root", ""), Account("lab", limits=Limits(max_jobs=2))),
        (AccountUser("ann", "lab", default=True), AccountUser("bob", "lab", default=True)),
    )
    return Cluster.of_nodes([NodeGroup.of(nodes, cores=4)], [BATCH], accounting=who)


def test_a_limit_is_a_cause_of_its_own_and_room_meanwhile_is_not_a_wait_for_ones_turn():
    """One job of a user at a time: ann's second job waits 99 s with three free cores. Bob's starts at once."""
    cluster = limited(Limits(max_jobs_per_user=1))
    columns = {"submit_time": [0, 1, 2], "run_time": [100, 100, 5], "user_id": [1, 1, 2]}
    schedule, causes = caused(cluster, columns, tasks=[1, 1, 1], qos=["normal"] * 3)
    assert schedule.wait_time.tolist() == [0, 99, 0]
    assert of_job(causes, 1) == {"QOSMaxJobsPerUserLimit": 99}
    assert causes.of_kind(LIMITS).tolist() == [0, 99, 0]
    (cost,) = limit_costs(schedule, cluster, causes)
    assert (cost.reason, cost.jobs, cost.users) == ("QOSMaxJobsPerUserLimit", 1, 1)
    assert cost.limit == "QOS normal: max_jobs_per_user=1"
    assert cost.hours == 99 / 3600


def test_a_job_at_a_limit_and_then_without_room_has_both_causes():
    """Ann's jobs run until 50 and from 50 to 60, bob's from 60 to 90 and from 90: each is at its limit before."""
    cluster = limited(Limits(max_jobs_per_user=1))
    columns = {"submit_time": [0, 1, 2, 3], "run_time": [50, 10, 30, 30], "user_id": [1, 1, 2, 2]}
    schedule, causes = caused(cluster, columns, tasks=[1, 4, 4, 1], qos=["normal"] * 4)
    assert schedule.start_time.tolist() == [0, 50, 60, 90]
    assert of_job(causes, 1) == {"QOSMaxJobsPerUserLimit": 49}
    assert of_job(causes, 2) == {"cores": 58}
    assert of_job(causes, 3)["QOSMaxJobsPerUserLimit"] == 30  # while bob's first runs
    assert sum(of_job(causes, 3).values()) == 87


def test_the_limit_of_an_account_is_named_with_the_account():
    """Two jobs of each user of the account at a time (Limits.max_jobs of the account)."""
    cluster = limited(Limits())
    columns = {"submit_time": [0, 0, 1], "run_time": [100, 100, 5], "user_id": [1, 1, 1]}
    schedule, causes = caused(cluster, columns, tasks=[1, 1, 1], qos=["normal"] * 3, account=["lab"] * 3)
    assert schedule.wait_time.tolist() == [0, 0, 99]
    (cost,) = limit_costs(schedule, cluster, causes)
    assert (cost.reason, cost.limit) == ("AssocMaxJobsLimit", "account lab: max_jobs=2")


def test_the_limit_of_a_user_in_a_partition_is_named_with_the_partition():
    """Ann has one job in gpu at a time, and the account's two elsewhere: her second job in gpu waits 99 s."""
    where = Cluster.from_dict(
        {
            "groups": [{"nodes": "n1", "cores": 4}],
            "partitions": [{"name": "cpu", "default": True}, {"name": "gpu"}],
            "accounts": [{"name": "root", "parent": ""}, {"name": "lab", "limits": {"max_jobs": 2}}],
            "users": [
                {"user": "ann", "account": "lab", "default": True},
                {"user": "ann", "account": "lab", "partition": "gpu", "limits": {"max_jobs": 1}},
            ],
        }
    )
    columns = {"submit_time": [0, 1, 2, 2], "run_time": [100, 5, 5, 5], "user_id": [1, 1, 1, 1]}
    schedule, causes = caused(where, columns, tasks=[1] * 4, partition=["gpu", "gpu", None, None])
    assert schedule.wait_time.tolist() == [0, 99, 0, 0]
    (cost,) = limit_costs(schedule, where, causes)
    assert cost.limit == "user ann in account lab in partition gpu: max_jobs=1; account lab: max_jobs=2"


def test_causes_of_a_random_log_sum_up_to_its_waits():
    rng = np.random.default_rng(3)
    cluster = limited(Limits(max_jobs_per_user=2))
    count = 60
    columns = {
        "submit_time": np.sort(rng.integers(0, 500, count)),
        "run_time": rng.integers(1, 50, count),
        "user_id": rng.integers(1, 3, count),
    }
    schedule, causes = caused(cluster, columns, tasks=rng.integers(1, 5, count), qos=["normal"] * count)
    assert schedule.wait_time.any()
    assert (sum(causes.seconds.values()) == schedule.wait_time).all()
    assert all((column >= 0).all() for column in causes.seconds.values())
    assert {kind_of(cause) for cause in causes.totals()} == {RESOURCES, PRIORITY, LIMITS}
