"""What squeue, sinfo and scontrol of each version printed of one small cluster (`printed_on_slurm.py`) is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.cluster.files import read_cluster
from schedlab.workload.files import read_workload

FOLDER = Path(__file__).parent / "printed"
QUEUES = sorted(path.name for path in FOLDER.glob("*") if path.stem.endswith(("squeue", "jobs")))
CLUSTERS = sorted(path.name for path in FOLDER.glob("*") if path.stem.endswith(("sinfo", "nodes")))


def test_there_is_json_of_three_versions() -> None:
    assert {name[:5] for name in QUEUES} == {name[:5] for name in CLUSTERS} == {"22.05", "24.11", "26.05"}
    assert (len(QUEUES), len(CLUSTERS)) == (5, 5)


@pytest.mark.parametrize("name", QUEUES)
def test_the_queue_is_what_was_submitted(name: str) -> None:
    # Job 1 holds two cores, job 2 waits for two nodes, job 3 for its begin an hour later, and the three tasks of job 4,
    # one at a time, for the end of job 2.
    jobs = read_workload(FOLDER / name)
    asked, after = jobs.resources, jobs.dependencies
    assert asked is not None
    assert after is not None
    rows = zip(
        jobs.job_id.tolist(),
        jobs.job_processors.tolist(),
        jobs.requested_time.tolist(),
        asked.array_limit.tolist(),
        asked.partition.texts(),
        strict=True,
    )
    task = (4, 1, 300, 1, "batch")
    assert sorted(rows) == [(1, 2, 1200, 0, "batch"), (2, 8, 1200, 0, "batch"), (3, 1, 300, 0, "all"), task, task, task]
    assert dict(zip(jobs.job_id.tolist(), jobs.submit_time.tolist(), strict=True)) == {1: 0, 2: 1, 3: 3602, 4: 3}
    assert set(zip(jobs.job_id[after.children].tolist(), jobs.job_id[after.parents].tolist(), strict=True)) == {(4, 2)}


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_nodes_are_those_of_slurm_conf(name: str) -> None:
    site = read_cluster(FOLDER / name)
    assert {
        (group.names, group.cores, group.memory, group.gpu_count, group.weight, tuple(group.features))
        for group in site.groups
    } == {(("n1", "n2"), 4, 8000, 0, 5, ("ib",)), (("g1",), 4, 8000, 2, 1, ())}
    assert {one.name: set(one.nodes) for one in site.partitions} == {"batch": {"n1", "n2"}, "all": {"n1", "n2", "g1"}}


@pytest.mark.parametrize("version", ["24.11", "26.05"])
def test_sinfo_of_newer_versions_tells_limits_of_partitions_and_the_newest_the_default(version: str) -> None:
    site = read_cluster(FOLDER / f"{version}-sinfo.json")
    assert {one.name: one.max_time for one in site.partitions} == {"batch": 7200, "all": None}
    assert [one.name for one in site.partitions if one.default] == (["batch"] if version == "26.05" else [])
