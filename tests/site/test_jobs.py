"""Jobs of a site: completed by its configuration; those that cannot be replayed are counted by reason."""

from __future__ import annotations

import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.limits import Account, Accounting, AccountUser, QosLimits
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.errors import InputError
from schedlab.site.jobs import completed, numbers_of, replayable
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

WHO = Accounting(
    (QosLimits("normal"), QosLimits("high")),
    (Account("root", ""), Account("lab", default_qos="high")),
    (AccountUser("ann", "lab", default=True),),
)
PARTITIONS = [Partition("batch", default=True, default_time=3600, max_time=86_400), Partition("debug", max_time=600)]
CLUSTER = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=8)], PARTITIONS, accounting=WHO)


def jobs_of(**columns) -> Workload:
    length = len(next(iter(columns.values())))
    fields = {"submit_time": range(length), "run_time": [60] * length, "requested_processors": [1] * length}
    fields |= {"wait_time": [0] * length}
    asked = {name: columns.pop(name) for name in ("partition", "account", "qos") if name in columns}
    fields = {name: list(column) for name, column in (fields | columns).items()}
    return Workload.from_columns(fields, header=(" User: 1 ann",), resources=Resources.of(length, **asked))


def test_partitions_that_the_cluster_lacks_are_named_with_their_jobs():
    names = ["lang", "batch", "Debug", "lang", "old,lang", "batch,lang", None]
    _, notes = completed(jobs_of(partition=names), CLUSTER)
    assert notes[-1] == (
        "2 jobs of partition lang, 1 job of partition old,lang: slurm.conf has none of that name, and they are not "
        "replayed"
    )
    assert replayable(completed(jobs_of(partition=names), CLUSTER).jobs, CLUSTER).left_out == {
        "the cluster has no partition of that name (PartitionName)": 3
    }
    many = [f"old{number}" for number in range(8)]
    assert " and 3 other partitions: " in completed(jobs_of(partition=many), CLUSTER).notes[-1]
    bare = Cluster.of_nodes([NodeGroup.of("n[1-2]", cores=8)])
    assert not any("of that name" in note for note in completed(jobs_of(partition=names), bare).notes)


def test_what_applies_where_jobs_are_silent_is_filled_in_and_told():
    workload = jobs_of(user_id=[1, 2, 1], requested_time=[-1, 60, -1], partition=[None, None, "debug"])
    jobs, notes = completed(workload, CLUSTER)
    assert jobs.requested_time.tolist() == [3600, 60, 600]
    assert jobs.resources.partition.texts() == ["batch", "batch", "debug"]
    assert jobs.resources.account.texts() == ["lab", "", "lab"]
    assert jobs.resources.qos.texts() == ["high", "normal", "high"]
    assert jobs.partition_id.tolist() == [1, 1, 2]
    assert numbers_of(jobs, CLUSTER).partitions == {"batch": 1, "debug": 2}
    assert "2 jobs without a time limit: that of the partition" in notes


def test_nodes_that_a_site_does_not_have_are_left_out_of_what_jobs_name_and_told():
    asked = Resources.of(4, nodelist=["n1", "n[2-3]", "n[", ""], exclude=["n[1-9]", "", "", "n2"])
    jobs, notes = completed(jobs_of(requested_time=[60] * 4).replace(resources=asked), CLUSTER)
    assert jobs.resources.nodelist.texts() == ["n1", "", "", ""]
    assert jobs.resources.exclude.texts() == ["n1,n2", "", "", "n2"]
    assert "2 jobs with unknown nodes in --nodelist: these are left out" in notes
    assert "1 job with unknown nodes in --exclude: these are left out" in notes
    smaller = Cluster.of_nodes([NodeGroup.of("n2", cores=8)], PARTITIONS, accounting=WHO)
    assert replayable(jobs, smaller).jobs.resources.nodelist.texts() == ["", ""]  # two exclude the last node


def test_jobs_without_any_limit_are_planned_with_a_year():
    endless = Cluster.of_nodes([NodeGroup.of("n1", cores=8)], [Partition("batch", default=True)])
    jobs, notes = completed(jobs_of(requested_time=[-1, 60]), endless)
    assert jobs.requested_time.tolist() == [365 * 86_400, 60]
    assert "1 job without a time limit, also of the partition: a year, with which Slurm plans them" in notes
    assert len(replayable(jobs, endless).jobs) == 2


def test_jobs_that_did_not_run_or_never_can_are_left_out_and_counted_by_reason():
    workload = jobs_of(
        run_time=[60, -1, -1, 60, 60],
        wait_time=[0, -1, 5, 0, 0],
        requested_time=[60, 60, 60, 900, 60],
        partition=["batch", "batch", "batch", "debug", "gone"],
    )
    found = replayable(completed(workload, CLUSTER).jobs, CLUSTER)
    assert found.rows.tolist() == [0]
    assert found.left_out == {
        "had not ended": 1,
        "it asks for more time than its partitions allow (PartitionTimeLimit)": 1,
        "never started": 1,
        "the cluster has no partition of that name (PartitionName)": 1,
    }


def test_a_site_of_whose_jobs_none_can_be_replayed_is_refused_with_the_reasons():
    with pytest.raises(InputError, match=r"of 1 job, none can be replayed .never started: 1"):
        replayable(jobs_of(run_time=[-1], wait_time=[-1]), CLUSTER)
