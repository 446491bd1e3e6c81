"""The jobs of a site under other limits on time."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.site import import_site
from schedlab.site.affected import SPLITTING, affected, affected_text, lost_texts, sentences
from schedlab.site.time_limits import CUT, KILLED, LEFT_OUT, SPLIT, TOO_LONG, UNTOUCHED
from schedlab.site.variant_task import same_work_task, variant_task
from schedlab.site.variants import Variant
from schedlab.workload.workload import Workload

CONF = """ClusterName=lab
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=limits,qos
NodeName=n[1-2] CPUs=4
PartitionName=batch Nodes=n[1-2] Default=YES MaxTime=1-0
PartitionName=long Nodes=n[1-2] MaxTime=2-0
"""
ACCOUNTS = """add QOS Name=high
add account Name=physics
add user Name=ann Account=physics QOS=normal,high
add user Name=bob Account=physics QOS=normal
"""
HOURS = [("ann", 2, 24, 2, "batch", "normal"), ("bob", 12, 24, 4, "batch", "normal"), ("ann", 1, 2, 1, "batch", "high")]
"""User, hours that a job runs and asks for, processors, partitions, QOS."""


def site_of(tmp_path, jobs=HOURS, conf=CONF, nodes=""):
    (tmp_path / "slurm.conf").write_text(conf)
    (tmp_path / "a.script").write_text(ACCOUNTS)
    lines = ["JobIDRaw|User|Account|State|Submit|Start|End|TimelimitRaw|AllocCPUS|Partition|QOS"]
    for number, (user, hours, asked, size, partition, qos) in enumerate(jobs, 1):
        end = f"2026-04-0{1 + hours // 24}T{hours % 24:02d}:00:00"
        times = f"2026-04-01T00:00:00|2026-04-01T00:00:00|{end}"
        lines.append(f"{number}|{user}|physics|COMPLETED|{times}|{asked * 60}|{size}|{partition}|{qos}")
    (tmp_path / "jobs.txt").write_text("\n".join(lines))
    return import_site(tmp_path, tmp_path / "jobs.txt")


def task_of(site, *changes, **ways):
    return variant_task(site, site.replayable().jobs, Variant("x", changes, **ways))


@pytest.mark.parametrize(
    "change",
    ["PartitionName=batch MaxTime=6:00:00", "QOS=normal MaxWall=6:00:00", "Account=physics MaxWall=6:00:00"],
)
def test_requests_above_a_shorter_limit_become_the_limit_whatever_holds_it(tmp_path, change):
    task = task_of(site_of(tmp_path), change)
    assert (task.adapted.jobs.requested_time / 3600).tolist() == [6, 6, 2]
    assert task.adapted.fate.tolist() == [CUT, KILLED, UNTOUCHED]
    # The second runs 6 of its 12 hours.
    assert (task.adapted.undone / 3600).tolist() == [0, 6, 0]
    assert task.adapted.rows.tolist() == [0, 1, 2]


@pytest.mark.parametrize("change", ["PartitionName=batch MaxTime=UNLIMITED", "PriorityWeightAge=5", "MaxArraySize=9"])
def test_other_changes_touch_no_request(tmp_path, change):
    task = task_of(site_of(tmp_path), change)
    assert task.adapted.fate.tolist() == [UNTOUCHED] * 3
    assert task.adapted.work == ""


def test_a_request_that_another_partition_of_the_list_admits_stays(tmp_path):
    jobs = [("ann", 12, 24, 2, "batch,long", "normal"), ("ann", 12, 24, 2, "batch", "normal")]
    task = task_of(site_of(tmp_path, jobs), "PartitionName=batch MaxTime=6:00:00")
    assert task.adapted.fate.tolist() == [UNTOUCHED, KILLED]


def test_jobs_may_run_on_for_the_overtime(tmp_path):
    jobs = [("ann", 6, 24, 2, "batch", "normal"), ("ann", 7, 24, 2, "batch", "normal")]
    site = site_of(tmp_path, jobs, CONF.replace("ClusterName=lab", "ClusterName=lab\nOverTimeLimit=60"))
    task = task_of(site, "PartitionName=batch MaxTime=5:30:00")
    assert task.adapted.fate.tolist() == [CUT, KILLED]
    assert task.adapted.undone.tolist() == [0, 1800]


def test_less_overtime_kills_jobs_too(tmp_path):
    conf = CONF.replace("ClusterName=lab", "ClusterName=lab\nOverTimeLimit=60")
    task = task_of(site_of(tmp_path, [("ann", 7, 6, 2, "batch", "normal")], conf), "OverTimeLimit=0")
    assert task.adapted.fate.tolist() == [KILLED]
    assert task.adapted.undone.tolist() == [3600]


def test_long_jobs_run_in_pieces_or_are_left_out(tmp_path):
    site = site_of(tmp_path)
    split = task_of(site, "PartitionName=batch MaxTime=5:00:00", long="split")
    assert split.adapted.fate.tolist() == [CUT, SPLIT, UNTOUCHED]
    assert split.adapted.work == ""
    assert split.pieces.of.tolist() == [0, 1, 1, 1, 2]
    assert (split.pieces.jobs.run_time / 3600).tolist() == [2, 5, 5, 2, 1]
    dropped = task_of(site, "PartitionName=batch MaxTime=5:00:00", long="drop")
    assert dropped.adapted.fate.tolist() == [CUT, LEFT_OUT, UNTOUCHED]
    assert dropped.adapted.left_out == {TOO_LONG: 1}
    assert dropped.adapted.rows.tolist() == [0, 2]
    assert (dropped.adapted.undone / 3600).tolist() == [0, 12, 0]


def test_dropped_requests_are_left_out_with_slurms_reason(tmp_path):
    task = task_of(site_of(tmp_path), "PartitionName=batch MaxTime=6:00:00", requests="drop")
    assert task.adapted.fate.tolist() == [LEFT_OUT, LEFT_OUT, UNTOUCHED]
    ((reason, count),) = task.adapted.left_out.items()
    assert (count, "PartitionTimeLimit" in reason) == (2, True)


def test_what_a_smaller_machine_cannot_run_is_left_out_whatever_it_asks_for(tmp_path):
    jobs = [("ann", 12, 24, 8, "batch", "normal"), ("ann", 1, 2, 1, "batch", "normal")]
    site = site_of(tmp_path, jobs)
    task = task_of(site, "PartitionName=batch Nodes=n1 MaxTime=6:00:00")
    assert task.adapted.fate.tolist() == [LEFT_OUT, UNTOUCHED]


SHORTER = Variant("shorter", ("PartitionName=batch MaxTime=6:00:00",))


def test_the_site_as_it_is_does_the_same_work_with_the_requests_that_it_had(tmp_path):
    site = site_of(tmp_path)
    task = task_of(site, "PartitionName=batch MaxTime=6:00:00")
    same = same_work_task(site, site.replayable().jobs, SHORTER, task)
    assert (same.pieces.jobs.run_time / 3600).tolist() == [2, 6, 1]
    assert (same.pieces.jobs.requested_time / 3600).tolist() == [24, 24, 2]
    assert same.site is site
    dropped = task_of(site, "PartitionName=batch MaxTime=6:00:00", long="drop")
    assert same_work_task(site, site.replayable().jobs, SHORTER, dropped).rows.tolist() == [0, 2]
    assert len({task.adapted.work, dropped.adapted.work, ""}) == 3


def test_whose_jobs_are_touched_is_counted_by_group_with_core_hours(tmp_path):
    site = site_of(tmp_path)
    jobs = site.replayable().jobs
    task = task_of(site, "PartitionName=batch MaxTime=6:00:00")
    found = affected([jobs], 8, [(task.adapted.fate, task.adapted.undone)], [jobs.job_processors])
    every = found[0]
    # 4 processors for 6 hours until the kill, and 6 hours more at the site as it is; 2 x 2 + 4 x 12 + 1 hours in all.
    assert (every.jobs, every.cut, every.killed, every.left_out) == (3, 1, 1, 0)
    assert (every.killed_hours, every.undone_hours, every.hours) == (24, 24, 53)
    assert not every.same_work
    users = {one.group: one for one in found if one.kind == "user"}
    assert (users["bob"].killed, users["ann"].killed, users["ann"].cut) == (1, 0, 1)
    assert users["ann"].same_work
    assert [one.group for one in found if one.kind == "QOS"] == ["normal"]
    text = affected_text(found)
    assert "killed" in text
    assert "cannot run" not in text
    assert any("24 core-hours (45.3%)" in sentence for sentence in sentences(found))
    assert affected([jobs], 8, [(np.zeros(3, np.int8), np.zeros(3, np.int64))], [jobs.job_processors]) == ()


def test_work_that_a_limit_loses_stands_beside_what_the_limit_of_today_loses_already():
    """Of jobs of 72, 60 and 12 h on a core, a limit of 48 h loses the first two, and that of today, 72 h, the first."""
    hours = 3600 * np.array([72, 60, 12])
    columns = {"submit_time": [0, 0, 0], "run_time": hours, "requested_time": 3600 * np.array([72, 72, 24])}
    jobs = Workload.from_columns(columns | {"requested_processors": [1, 1, 1]})
    cores = jobs.job_processors
    fate, undone = np.array([KILLED, KILLED, UNTOUCHED], dtype=np.int8), 3600 * np.array([24, 12, 0])
    every = affected([jobs], 4, [(fate, undone)], [cores])[0]
    assert (every.hours, every.lost_hours, every.lost_today_hours, every.killed_today) == (144, 132, 72, 1)
    assert lost_texts(every) == [
        "kills 1 job more than today, and another 41.7% of all core-hours are lost",
        "with the 1 that ends at its own limit today already, that is 2 jobs and 91.7% of all core-hours",
        "66.7% of all core-hours run without a result, and 25.0% are not run",
        SPLITTING,
    ]
    fate = np.array([LEFT_OUT, UNTOUCHED, UNTOUCHED], dtype=np.int8)
    gone = affected([jobs], 4, [(fate, hours * [1, 0, 0])], [cores])[0]
    assert (gone.lost_hours, gone.lost_today_hours) == (72, 72)
    assert affected_text([every]).split()[-6:] == ["3", "2", "1", "96", "36", "72"]
