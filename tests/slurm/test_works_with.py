"""What the laboratory says it works with, as small cases on an unmodified slurmctld, answered by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster.sacctmgr import read_accounts
from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob, Command, JobList
from schedlab.slurm.replay import run
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.submissions import Submission
from schedlab.workload.submitting import submit_workflows

pytestmark = pytest.mark.usefixtures("real_slurm")


def job(submit: int, processors: int, run_time: int, limit: int, *options: str) -> BatchJob:
    """A job of some seconds with a limit in minutes."""
    return BatchJob(submit, run_time, ("-n", str(processors), "-t", str(limit), *options))


def listed(*jobs: BatchJob, user: str | None = None) -> JobList:
    columns = {
        "submit_time": [each.submit for each in jobs],
        "run_time": [each.run_time for each in jobs],
        "requested_time": [60 * int(each.options[each.options.index("-t") + 1]) for each in jobs],
        "requested_processors": [int(each.options[each.options.index("-n") + 1]) for each in jobs],
    }
    owned = tuple(replace(each, user=user) for each in jobs)
    return JobList(owned, sl.Workload.from_columns(columns, name="hand"), users=() if user is None else (user,))


def machine(nodes: int, cores: int = 1, *lines: str, **parameters: str | int) -> Configuration:
    """Some nodes; lines for partitions replace the laboratory's own."""
    configuration = machine_configuration(nodes * cores, cores)
    if lines:
        kept = [line for line in configuration.lines if not line.startswith("PartitionName")]
        configuration = replace(configuration, lines=(*kept, *lines))
    return configuration.having(**parameters) if parameters else configuration


def starts(done: sl.slurm.SlurmRun) -> dict[int, int]:
    """Return the start of each job by its row; of an array, that of its last task."""
    return dict(zip(done.records["row"].tolist(), done.schedule.start_time.tolist(), strict=True))


def test_each_kind_of_dependency_waits_for_what_it_names():
    jobs = listed(
        job(0, 1, 200, 10),
        job(1, 1, 10_000, 2),  # ended at its limit: it fails
        job(2, 1, 10, 5, "--dependency=after:%after(0)"),
        job(3, 1, 10, 5, "--dependency=after:%after(0)+3"),
        job(4, 1, 10, 5, "--dependency=afterany:%after(1)"),
        job(5, 1, 10, 5, "--dependency=afternotok:%after(1)"),
        job(6, 1, 10, 5, "--dependency=afternotok:%after(0)"),
        job(7, 1, 10, 5, "--dependency=afterok:%after(1)"),
        job(8, 1, 10, 5, "--dependency=afterok:%after(1)?afterok:%after(0)"),
    )
    done = run(jobs, conf=machine(9), observe=60)
    start = starts(done)
    state = dict(zip(done.records["row"], done.records["state"], strict=True))
    end = {row: int(done.schedule.end_time[place]) for place, row in enumerate(done.records["row"])}
    assert state[1] == "TIMEOUT"
    assert start[2] < 60  # job 0 has begun
    assert start[0] + 180 <= start[3] <= start[0] + 250  # for three minutes
    assert end[1] <= start[4] <= end[1] + 60
    assert end[1] <= start[5] <= end[1] + 60
    assert end[0] <= start[8] <= end[0] + 60
    assert done.unstarted == (6, 7)
    queue = done.observations["queue"]
    assert set(queue[queue["row"].isin([6, 7])]["reason"]) == {"Dependency", "DependencyNeverSatisfied"}


def test_tasks_of_an_array_follow_those_of_another_and_no_more_run_at_once_than_allowed():
    jobs = listed(
        job(0, 1, 100, 5, "--array=1-3"),
        job(1, 1, 50, 5, "--array=1-3", "--dependency=aftercorr:%after(0)"),
        job(2, 1, 100, 5, "--array=1-4%2"),
    )
    done = run(jobs, conf=machine(12))
    rows = done.records["row"].to_numpy()
    first, second, third = (np.flatnonzero(rows == row) for row in range(3))
    assert (done.schedule.start_time[second] >= done.schedule.end_time[first]).all()
    for now in done.schedule.start_time[third]:
        running = (done.schedule.start_time[third] <= now) & (now < done.schedule.end_time[third])
        assert running.sum() <= 2
    assert len(third) == 4


def test_a_job_that_wants_nodes_for_itself_waits_for_an_empty_one():
    jobs = listed(job(0, 1, 200, 10), job(1, 1, 200, 10, "--exclusive"), job(2, 1, 50, 5, "--exclusive"))
    done = run(jobs, conf=machine(2, 4))
    assert done.records["nodes"].tolist()[:2] == ["n1", "n2"]
    assert done.schedule.start_time[2] >= 200
    placed = done.schedule.placement
    assert placed is not None
    assert placed.held_cores.tolist() == [1, 4, 4]


@pytest.mark.parametrize(
    ("mode", "share", "state"), [("CANCEL", "NO", "PREEMPTED"), ("SUSPEND,GANG", "FORCE:1", "COMPLETED")]
)
def test_a_partition_may_cancel_or_suspend_the_jobs_of_another(mode: str, share: str, state: str):
    lines = (
        f"PartitionName=low Nodes=ALL Default=YES State=UP PriorityTier=1 OverSubscribe={share}",
        f"PartitionName=high Nodes=ALL State=UP PriorityTier=9 OverSubscribe={share}",
    )
    conf = machine(2, 1, *lines, PreemptType="preempt/partition_prio", PreemptMode=mode)
    done = run(listed(job(0, 2, 500, 20), job(100, 2, 100, 5, "-p", "high")), conf=conf)
    assert done.schedule.start_time[1] <= 140
    assert done.records["state"].tolist() == [state, "COMPLETED"]
    lasted = int(done.schedule.run_time[0])
    assert lasted < 200 if mode == "CANCEL" else 590 <= lasted <= 700


def test_a_job_that_may_not_be_requeued_ends_with_its_node():
    down = Command(100, ("scontrol", "update", "nodename=n1", "state=down", "reason=test"))
    done = run(listed(job(0, 1, 500, 20, "--no-requeue")).with_commands([down]), conf=machine(1))
    assert done.records["state"].tolist() == ["NODE_FAIL"]
    assert done.schedule.run_time[0] == 100


def test_a_drained_node_lets_its_job_end_and_takes_new_ones_once_it_is_resumed():
    commands = [
        Command(50, ("scontrol", "update", "nodename=n1", "state=drain", "reason=test")),
        Command(900, ("scontrol", "update", "nodename=n1", "state=resume")),
    ]
    done = run(listed(job(0, 1, 300, 20), job(60, 1, 50, 5)).with_commands(commands), conf=machine(1), observe=60)
    assert done.schedule.run_time.tolist() == [300, 50]
    assert 900 <= done.schedule.start_time[1] <= 960
    queue = done.observations["queue"]
    assert any("ReqNodeNotAvail" in reason or "Resources" in reason for reason in queue["reason"])


def test_a_partition_that_is_down_holds_its_jobs_and_no_others():
    lines = ("PartitionName=a Nodes=ALL Default=YES State=DOWN", "PartitionName=b Nodes=ALL State=UP")
    up = Command(600, ("scontrol", "update", "partitionname=a", "state=up"))
    done = run(listed(job(0, 1, 50, 5), job(1, 1, 50, 5, "-p", "b")).with_commands([up]), conf=machine(2, 1, *lines))
    assert 600 <= done.schedule.start_time[0] <= 660
    assert done.schedule.start_time[1] <= 31


def test_a_reservation_is_for_those_who_name_it():
    words = "reservationname=r users=root starttime=now duration=30 nodes=n1"
    jobs = listed(job(60, 2, 100, 5), job(61, 1, 100, 5, "--reservation=r")).with_commands(
        [Command(0, ("scontrol", "create", *words.split()))]
    )
    done = run(jobs, conf=machine(2))
    assert done.schedule.start_time[0] >= 1800
    assert done.schedule.start_time[1] <= 92
    assert done.records["nodes"].tolist()[1] == "n1"


def test_a_job_that_says_so_keeps_to_one_switch_of_a_tree():
    # Two switches of two nodes, one of each taken: two nodes under one switch are there only after a job ends. Slurm
    # gives up waiting for that after 300 s (max_switch_wait), and looks at switches only if the nodes are asked for.
    tree = "SwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Nodes=n[3-4]\nSwitchName=top Switches=s[1-2]\n"
    conf = replace(machine(4, TopologyPlugin="topology/tree"), files={"topology.conf": tree})
    taken = [job(0, 1, 200, 10, "-w", "n1"), job(0, 1, 600, 15, "-w", "n3")]
    anywhere = run(listed(*taken, job(10, 2, 50, 5, "-N", "2")), conf=conf)
    together = run(listed(*taken, job(10, 2, 50, 5, "-N", "2", "--switches=1@00:30:00")), conf=conf)
    assert anywhere.schedule.start_time[2] <= 40
    assert 200 <= together.schedule.start_time[2] < 310
    assert together.records["nodes"].tolist()[2] == "n[1-2]"


def test_limits_of_an_association_hold_a_job_with_slurms_reason(tmp_path: Path):
    script = """add cluster Name=lab Fairshare=1
add account name=all Fairshare=1 GrpTRES=cpu=2
add user name=ann DefaultAccount=all
"""
    (tmp_path / "accounts.script").write_text(script)
    conf = machine(4, AccountingStorageEnforce="limits", AccountingStorageType="accounting_storage/slurmdbd")
    conf = replace(conf, accounts=read_accounts(tmp_path / "accounts.script", cluster="lab"))
    done = run(listed(job(0, 2, 300, 10), job(10, 1, 50, 5), user="ann"), conf=conf, observe=60)
    assert done.schedule.start_time[1] >= 300
    assert "AssocGrpCpuLimit" in set(done.observations["queue"]["reason"])


@pytest.mark.parametrize("submission_mode", ["pilot", "chained", "aware"])
def test_a_workflow_runs_in_each_of_scsfs_three_ways(submission_mode: str):
    pair = Workflow("pair", (Task("a", 2, 60, 120), Task("b", 1, 30, 60, (0,))))
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [0, 5],
            "run_time": [100, 300],
            "requested_time": [120, 360],
            "requested_processors": [2, 1],
        },
        processors=2,
    )
    done = run(submit_workflows(jobs, [Submission(pair, submission_mode, 10)]), "fcfs+slurm")  # type: ignore[arg-type]
    assert done.unstarted == ()
    assert set(done.records["state"]) == {"COMPLETED"}
    assert len(done.schedule) == 2 + (1 if submission_mode == "pilot" else 2)
    if submission_mode != "pilot":
        first, second = sorted(np.flatnonzero(done.schedule.workload.submit_time == 10))[-2:]
        assert done.schedule.start_time[second] >= done.schedule.end_time[first]
