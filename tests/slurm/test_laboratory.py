"""The laboratory, held against an unmodified slurmctld."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster.sacctmgr import Accounts, read_accounts
from schedlab.cluster.sinfo import COMMAND
from schedlab.errors import InputError
from schedlab.slurm.clock import SECOND
from schedlab.slurm.configuration import Configuration, machine_configuration
from schedlab.slurm.jobs import BatchJob, Command, JobList, minutes
from schedlab.slurm.laboratory import LEAD, Laboratory
from schedlab.slurm.replay import run
from schedlab.slurm.results import SlurmRun
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.resources import Resources
from schedlab.workload.submissions import Submission
from schedlab.workload.submitting import submit_workflows

pytestmark = pytest.mark.usefixtures("real_slurm")


def job(submit: int, processors: int, run_time: int, limit: int, *options: str) -> BatchJob:
    """A job as the hand cases have them: seconds, cores, seconds, minutes."""
    return BatchJob(submit, run_time, ("-n", str(processors), "-t", str(limit), *options))


def listed(*jobs: BatchJob) -> JobList:
    columns = {
        "submit_time": [each.submit for each in jobs],
        "run_time": [each.run_time for each in jobs],
        "requested_time": [60 * int(each.options[each.options.index("-t") + 1]) for each in jobs],
        "requested_processors": [int(each.options[each.options.index("-n") + 1]) for each in jobs],
    }
    return JobList(tuple(jobs), sl.Workload.from_columns(columns, name="hand"))


def accounts_of(directory: Path) -> Accounts:
    return read_accounts(directory / "accounts.script", cluster="lab")


def machine(nodes: int, cores: int = 1, **parameters: str | int) -> Configuration:
    configuration = machine_configuration(nodes * cores, cores)
    return configuration.having(**parameters) if parameters else configuration


def test_a_reservation_rounds_only_on_its_own_nodes():
    # Four nodes of one core: B waits for A's nodes until 625 and is reserved from 600; the fourth node is free for C.
    jobs = listed(job(25, 2, 600, 10), job(26, 3, 600, 10), job(27, 1, 2000, 60))
    assert run(jobs, conf=machine(4)).schedule.start_time.tolist() == [25, 626, 55]


def test_jobs_that_fill_the_machine_for_hours_start_one_after_the_other():
    jobs = listed(*(job(25 + number, 4, 7200, 180) for number in range(4)))
    real = run(jobs, conf=machine(4))
    assert real.unstarted == ()
    assert (np.diff(real.schedule.start_time) - 7200 <= 60).all()


def test_backfill_passes_come_in_the_phase_that_is_asked_for():
    # On an idle cluster the pass at 25 is the first, and C starts with the next one; here passes come at 10, 40, ...
    jobs = listed(job(25, 2, 600, 10), job(26, 3, 600, 10), job(27, 1, 2000, 60))
    assert run(jobs, conf=machine(4), backfill_phase=0.5).schedule.start_time[2] in (40, 41)


def test_a_job_that_would_end_when_a_reservation_begins_waits():
    # Reserved from 600 (A ends at 630): nine minutes from second 60 end at 600, eight minutes do not.
    first = [job(30, 2, 600, 10), job(31, 4, 600, 10)]
    assert run(listed(*first, job(32, 1, 480, 9)), conf=machine(4)).schedule.start_time[2] > 1200
    assert run(listed(*first, job(32, 1, 480, 8)), conf=machine(4)).schedule.start_time[2] == 60


def test_frozen_runs_are_equal_and_another_phase_is_another_sample():
    jobs = listed(*(job(7 * i, 1 + i % 3, 100 + 37 * i % 400, 10) for i in range(25)))
    first, second = (run(jobs, conf=machine(4)) for _ in range(2))
    assert first.schedule.start_time.tobytes() == second.schedule.start_time.tobytes()
    assert first.facts["rescues"] == 0
    other = run(jobs, conf=machine(4), phase=47.8)
    assert len(other.schedule) == 25


def test_hundreds_of_jobs_that_start_in_one_pass_do_not_hold_the_clock():
    # Each has threads of its own while it is launched; the laboratory once waited for minutes until all seemed to rest.
    jobs = listed(job(10, 256, 120, 5), *(job(20, 1, 100 + number % 7, 5) for number in range(250)))
    real = run(jobs, conf=machine(8, 32, SchedulerParameters="default_queue_depth=500"))
    assert real.schedule.start_time[0] == 10
    assert set(real.schedule.start_time[1:].tolist()) == {131}


@pytest.mark.slow
def test_frozen_runs_are_equal_whatever_else_the_host_does():
    """Alone, and beside two busy processes on each core and two more laboratories, in three phases.

    Also which of the passes started a job: two threads that lie down at one instant once woke in either order.
    """
    rng = np.random.default_rng(5)
    table = np.column_stack([np.sort(rng.integers(0, 1800, 150)), rng.integers(1, 9, 150), rng.integers(20, 900, 150)])
    jobs = listed(*(job(submit, cores, seconds, seconds // 30 + 1) for submit, cores, seconds in table.tolist()))

    def measured(phase: float) -> SlurmRun:
        return run(jobs, conf=machine(8, 4), jitter=3, phase=phase, backfill_phase=0.508, observe=60)

    phases = [11.3, 43.248, 153.546]
    alone = [measured(phase) for phase in phases]
    busy = [sys.executable, "-c", "while True: pass"]
    load = [subprocess.Popen(busy) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        with ThreadPoolExecutor(3) as pool:
            beside = list(pool.map(measured, phases * 2))
    finally:
        for process in load:
            process.kill()
            process.wait()
    assert {word for run in alone for word in run.records["pass"]} == {"main", "backfill"}
    for one, other in zip(alone * 2, beside, strict=True):
        assert other.schedule.start_time.tobytes() == one.schedule.start_time.tobytes()
        assert other.schedule.end_time.tobytes() == one.schedule.end_time.tobytes()
        assert other.records.equals(one.records)
        assert other.facts["rescues"] == 0


def test_a_job_over_its_limit_is_ended_at_one_of_slurms_looks():
    done = run(listed(job(5, 1, 10_000, 2)), conf=machine(2))
    assert done.records["state"].tolist() == ["TIMEOUT"]
    assert 120 <= done.schedule.run_time[0] <= 151
    assert done.schedule.killed.tolist() == [True]


def test_dependencies_arrays_and_begin_times_are_slurms():
    jobs = listed(
        job(0, 1, 100, 5),
        job(1, 1, 50, 5, "--dependency=afterok:%after(0)"),
        job(2, 1, 50, 5, "--array=1-3"),
        job(3, 1, 10, 5, "--begin=now+600"),
        job(4, 1, 10, 5, "--dependency=singleton", "--job-name=one"),
    )
    done = run(jobs, conf=machine(4))
    assert done.records["row"].tolist() == [0, 1, 2, 2, 2, 3, 4]
    start = dict(zip(done.records["row"], done.schedule.start_time.tolist(), strict=True))
    assert start[1] > 100
    assert start[3] >= 603
    assert set(done.records["state"]) == {"COMPLETED"}


def test_cancellations_and_holds_while_jobs_wait():
    jobs = listed(job(0, 2, 300, 10), job(1, 2, 300, 10), job(2, 2, 300, 10)).with_commands(
        [
            Command(60, ("scancel", "%job(1)")),
            Command(61, ("scontrol", "hold", "%job(2)")),
            Command(900, ("scontrol", "release", "%job(2)")),
        ]
    )
    done = run(jobs, conf=machine(2))
    assert done.unstarted == (1,)
    assert done.schedule.start_time[1] >= 900


def test_a_running_job_is_cancelled_or_requeued():
    jobs = listed(job(0, 1, 500, 10), job(1, 1, 500, 10, "--requeue")).with_commands(
        [Command(100, ("scancel", "%job(0)")), Command(150, ("scontrol", "requeue", "%job(1)"))]
    )
    done = run(jobs, conf=machine(2))
    assert done.records["state"].tolist() == ["CANCELLED", "COMPLETED"]
    assert done.records["restarts"].tolist() == [0, 1]
    assert done.schedule.run_time[0] == 100
    assert done.schedule.runs is not None
    assert len(done.schedule.runs) == 3


def test_a_node_that_goes_down_requeues_its_job_and_comes_back():
    jobs = listed(job(0, 2, 500, 20, "--requeue")).with_commands(
        [
            Command(100, ("scontrol", "update", "nodename=n1", "state=down", "reason=test")),
            Command(400, ("scontrol", "update", "nodename=n1", "state=resume")),
        ]
    )
    done = run(jobs, conf=machine(2))
    assert done.records["restarts"].tolist() == [1]
    assert done.schedule.start_time[0] >= 400


def test_a_drained_node_takes_no_new_jobs():
    jobs = listed(job(0, 1, 50, 5), job(100, 1, 50, 5)).with_commands(
        [Command(10, ("scontrol", "update", "nodename=n1", "state=drain", "reason=test"))]
    )
    assert run(jobs, conf=machine(2)).records["nodes"].tolist() == ["n1", "n2"]


def test_a_suspended_job_ends_so_much_later():
    jobs = listed(job(0, 1, 300, 20)).with_commands(
        [Command(100, ("scontrol", "suspend", "%job(0)")), Command(250, ("scontrol", "resume", "%job(0)"))]
    )
    assert run(jobs, conf=machine(1)).schedule.run_time[0] == 450


def test_reservations_keep_their_nodes_free():
    user = "reservationname=r users=root starttime=now+60 duration=10 nodes=ALL flags=ignore_jobs"
    jobs = listed(job(30, 1, 300, 5)).with_commands([Command(0, ("scontrol", "create", *user.split()))])
    assert run(jobs, conf=machine(1)).schedule.start_time[0] >= 660


def test_preemption_by_partition_requeues():
    lines = [line for line in machine(2).lines if not line.startswith("PartitionName")]
    partitions = (
        "PartitionName=low Nodes=ALL Default=YES State=UP PriorityTier=1",
        "PartitionName=high Nodes=ALL State=UP PriorityTier=9",
    )
    conf = replace(machine(2), lines=(*lines, *partitions)).having(
        PreemptType="preempt/partition_prio", PreemptMode="REQUEUE"
    )
    jobs = listed(job(0, 2, 500, 20, "--requeue"), job(100, 2, 100, 5, "-p", "high"))
    done = run(jobs, conf=conf)
    assert done.records["restarts"].tolist() == [1, 0]
    assert done.schedule.start_time[1] <= 140


def test_preemption_by_qos_requeues_jobs_of_the_lower_one_and_leaves_others_alone(tmp_path: Path):
    script = """add QOS Name=low Priority=0 PreemptMode=requeue
add QOS Name=high Priority=100 Preempt=low
add cluster Name=lab Fairshare=1 QOS=normal,low,high
add account name=all Fairshare=1
add user name=ann DefaultAccount=all
modify user name=ann set qos=normal,low,high
"""
    (tmp_path / "accounts.script").write_text(script)
    conf = machine(2, PreemptType="preempt/qos", PreemptMode="REQUEUE", AccountingStorageEnforce="qos")
    conf = replace(conf.having(AccountingStorageType="accounting_storage/slurmdbd"), accounts=accounts_of(tmp_path))
    cases = [("low", True), ("normal", False)]
    for qos, preempted in cases:
        jobs = listed(
            job(0, 2, 500, 20, "--requeue", f"--qos={qos}"),
            job(100, 2, 100, 5, "--qos=high"),
        )
        jobs = replace(jobs, jobs=tuple(replace(each, user="ann") for each in jobs.jobs), users=("ann",))
        done = run(jobs, conf=conf)
        assert done.rejected == {}
        assert done.records["restarts"].tolist() == [int(preempted), 0]
        assert done.records["qos"].tolist() == [qos, "high"]
        assert bool(done.schedule.start_time[1] <= 140) is preempted


def test_licences_are_counted_and_jobs_wait_for_them():
    # Two nodes, one licence: the second job that needs it waits although a node is free, the third one does not.
    jobs = listed(
        job(0, 1, 300, 10, "--licenses=matlab:1"),
        job(10, 1, 300, 10, "--licenses=matlab:1"),
        job(20, 1, 60, 1),
    )
    done = run(jobs, conf=machine(2, Licenses="matlab:1"), observe=30)
    assert done.schedule.start_time[1] >= 300
    assert done.schedule.start_time[2] <= 60
    queue = done.observations["queue"]
    assert "Licenses" in set(queue[queue["row"] == 1]["reason"])
    refused = run(listed(job(0, 1, 9, 1), job(1, 1, 9, 1, "--licenses=ansys:1")), conf=machine(2, Licenses="matlab:1"))
    assert "Invalid license" in refused.rejected[1]


def test_in_hybrid_mode_time_passes_while_slurm_computes_and_jobs_start_in_nearly_the_same_seconds():
    jobs = listed(*(job(7 * i, 1 + i % 3, 100 + 37 * i % 400, 10) for i in range(25)))
    frozen, hybrid = run(jobs, conf=machine(4)), run(jobs, conf=machine(4), mode="hybrid")
    assert hybrid.facts["mode"] == "hybrid"
    assert hybrid.facts["rescues"] == 0
    # Time also passes on its own: not all of it was skipped.
    assert hybrid.facts["virtual_seconds"] > hybrid.facts["skipped_seconds"] - LEAD - 1
    assert len(hybrid.schedule) == 25
    assert hybrid.schedule.wait_time.mean() == pytest.approx(frozen.schedule.wait_time.mean(), rel=0.2)


def test_gpus_features_and_memory_choose_the_node():
    lines = [line for line in machine(2).lines if not line.startswith(("NodeName", "PartitionName", "SelectTypeP"))]
    nodes = (
        "GresTypes=gpu",
        "SelectTypeParameters=CR_Core_Memory",
        "NodeName=c[1-2] CPUs=4 RealMemory=8000 Feature=old State=UNKNOWN",
        "NodeName=g1 CPUs=4 RealMemory=8000 Gres=gpu:tesla:2 Feature=new Weight=10 State=UNKNOWN",
        "NodeName=b1 CPUs=4 RealMemory=64000 Weight=20 State=UNKNOWN",
        "PartitionName=batch Nodes=ALL Default=YES State=UP DefMemPerCPU=1000",
    )
    conf = replace(machine(2), lines=(*lines, *nodes))
    jobs = listed(
        job(0, 1, 100, 5),
        job(1, 1, 100, 5, "--gres=gpu:1"),
        job(2, 1, 100, 5, "--mem=30000"),
        job(3, 1, 100, 5, "--constraint=new"),
        job(4, 1, 100, 5, "--gres=gpu:2"),
    )
    done = run(jobs, conf=conf)
    assert done.records["nodes"].tolist() == ["c1", "g1", "b1", "g1", "g1"]
    assert done.schedule.start_time[4] > 100
    placed = done.schedule.placement
    assert placed is not None
    assert [placed.nodes[node] for node in placed.node] == ["c1", "g1", "b1", "g1", "g1"]
    assert placed.held_gpus.tolist() == [0, 1, 0, 0, 2]
    assert dict(zip(placed.nodes, placed.gpus.tolist(), strict=True)) == {"c1": 0, "c2": 0, "g1": 2, "b1": 0}


def test_the_cores_of_each_node_add_up_and_are_never_too_many():
    jobs = listed(*(job(second, cores, 60 + second, 5) for second, cores in enumerate((3, 5, 2, 7, 1, 6, 4))))
    done = run(jobs, conf=machine(4, cores=2))
    placed = done.schedule.placement
    assert placed is not None
    held = np.add.reduceat(placed.held_cores, placed.offsets[:-1])
    assert held.tolist() == done.schedule.workload.job_processors.tolist()
    owner = np.repeat(np.arange(len(placed)), np.diff(placed.offsets))
    for now in np.unique(done.schedule.start_time):
        running = (done.schedule.start_time <= now) & (now < done.schedule.end_time)
        used = np.bincount(placed.node, weights=placed.held_cores * running[owner], minlength=len(placed.nodes))
        assert (used <= placed.cores).all()


def test_a_job_that_slurm_rejects_is_named_and_not_lost():
    done = run(listed(job(0, 1, 10, 1), job(1, 99, 10, 1)), conf=machine(2, EnforcePartLimits="ALL"))
    assert list(done.rejected) == [1]
    assert "More processors requested than permitted" in done.rejected[1]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("NoSuchParameter=1", r"unrecognized key: NoSuchParameter \(in the line: NoSuchParameter=1\)$"),
        (
            "PartitionName=p Nodes=n[1-9]",
            r"Invalid node names in partition p \(in the line: PartitionName=p Nodes=n\[1-9",
        ),
    ],
)
def test_a_configuration_that_slurm_refuses_is_quoted_with_its_line(line: str, said: str):
    conf = machine(2)
    with pytest.raises(InputError, match=said):
        run(listed(job(0, 1, 10, 1)), conf=replace(conf, lines=(*conf.lines, line)))


def test_a_cluster_read_from_sinfo_is_that_of_its_configuration(tmp_path):
    configuration = machine(2)
    with Laboratory(configuration) as laboratory:
        for name, words in (("site.sinfo", shlex.split(COMMAND)), ("site.json", ["sinfo", "--json"])):
            answer = laboratory.daemon.client(words, laboratory.clock.now(), None, "")
            (tmp_path / name).write_text(answer.stdout)
    (tmp_path / "slurm.conf").write_text("\n".join(configuration.lines))
    told = sl.read_cluster(tmp_path / "slurm.conf")
    for name in ("site.sinfo", "site.json"):
        found = sl.read_cluster(tmp_path / name)
        assert [(group.names, group.cores) for group in found.groups] == [
            (group.names, group.cores) for group in told.groups
        ]
        assert [one.name for one in found.partitions] == [one.name for one in told.partitions]


def test_what_was_observed_has_reasons_priorities_and_counters():
    jobs = listed(job(0, 2, 300, 10), job(1, 2, 300, 10), job(2, 1, 300, 10))
    done = run(jobs, conf=machine(2), observe=30)
    queue = done.observations["queue"]
    assert set(queue[queue["row"] == 1]["reason"]) <= {"Resources", "None", "Priority"}
    assert "Resources" in set(queue["reason"])
    assert done.observations["diagnostics"]["Jobs submitted"].iloc[-1] == 3
    told = done.schedule.waited_for
    assert told is not None
    # The first job may be seen before the first pass.
    assert all(seconds[0] == 0 for reason, seconds in told.items() if reason != "None")
    assert sum(seconds[1] for seconds in told.values()) == pytest.approx(done.schedule.wait_time[1], abs=60)


def test_static_policies_start_jobs_in_schedlabs_order():
    # One node, one job at a time: the order of starts is the order of the queue.
    areas = [(600, 1), (60, 1), (300, 1), (120, 1), (540, 1), (240, 1)]
    workload = sl.Workload.from_columns(
        {
            "submit_time": [0, *range(1, 7)],
            "run_time": [600, *(seconds for seconds, _ in areas)],
            "requested_time": [600, *(seconds for seconds, _ in areas)],
            "requested_processors": [1] * 7,
        },
        processors=1,
    )
    # The first holds the core; then the areas 60, 120, 240, 300, 540, 600.
    assert run(workload, "saf+slurm").schedule.start_time.argsort().tolist() == [0, 2, 4, 6, 3, 5, 1]
    assert run(workload, "lpf+slurm").schedule.start_time.argsort().tolist() == [0, 1, 5, 3, 6, 4, 2]


def test_a_workflow_that_is_submitted_aware_keeps_one_place_in_the_queue():
    # Case 39 of the conformance suite, in whole minutes: a pair of tasks at 10, the second as wide as the machine.
    columns = {
        "submit_time": [0, 20, 30, 40],
        "run_time": [60, 100, 30, 100],
        "requested_time": [60, 120, 60, 120],
        "requested_processors": [3, 3, 1, 2],
    }
    jobs = sl.Workload.from_columns(columns, processors=4)
    pair = Workflow("pair", (Task("a", 2, 120.0, 120.0), Task("b", 4, 60.0, 60.0, (0,))))
    text = "multifactor(size=1000)+slurm(resolution=10)"
    starts = {}
    for submission_mode in ("chained", "aware"):
        workload = submit_workflows(jobs, [Submission(pair, submission_mode, 10)])
        starts[submission_mode] = run(workload, text, cores_per_node=1).schedule.start_time
        # Slurm notices each end a second later, and passes seconds after that: at most twice the three of its delay.
        model = sl.simulate(workload, text).start_time
        assert (abs(starts[submission_mode] - model) <= 6).all(), submission_mode
    assert starts["aware"][1] < starts["chained"][1] - 90  # its first task has the size of the pilot job
    with pytest.raises(InputError, match="submitted aware"):
        run(submit_workflows(jobs, [Submission(pair, "aware", 10)]), conf=machine(4))


def test_what_a_log_says_of_nodes_memory_and_partitions_is_asked_for(tmp_path: Path):
    lines = ["ClusterName=lab", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core_Memory"]
    lines += ["NodeName=c[1-2] CPUs=4 RealMemory=8000", "NodeName=b1 CPUs=4 RealMemory=64000 Feature=big Weight=20"]
    lines += ["PartitionName=batch Nodes=ALL Default=YES DefMemPerCPU=1000", "PartitionName=last Nodes=c2"]
    (tmp_path / "slurm.conf").write_text("\n".join(lines) + "\n")
    asked = Resources.of(
        4,
        nodes=[0, 0, 2, 0],
        tasks=[1, 1, 2, 1],
        memory_per_node=[0, 30000, 0, 0],
        constraint=["big", None, None, None],
        partition=[None, None, None, "last"],
    )
    columns = {"submit_time": [0, 200, 400, 600], "run_time": [60] * 4, "requested_time": [60] * 4}
    columns["requested_processors"] = asked.tasks
    done = run(sl.Workload.from_columns(columns, resources=asked, name="log"), conf=tmp_path)
    assert done.records["nodes"].tolist() == ["b1", "b1", "c[1-2]", "c2"]


@pytest.mark.slow
def test_a_policy_that_changes_with_time_is_set_anew():
    workload = sl.Workload.from_columns(
        {
            "submit_time": [0, 1, 200],
            "run_time": [290, 100, 100],
            "requested_time": [300, 3000, 120],
            "requested_processors": [1, 1, 1],
        },
        processors=1,
    )
    # At 290 s the short job has waited 0.75 of its request, the long one 0.1 of its own.
    assert run(workload, "wfp3+slurm").schedule.start_time.argsort().tolist() == [0, 2, 1]


def test_nothing_is_left_when_the_driver_is_killed(tmp_path: Path):
    code = (
        "from schedlab.slurm.laboratory import Laboratory;from schedlab.slurm.configuration import "
        "machine_configuration\n"
        "import time\n"
        "with Laboratory(machine_configuration(2)) as lab: print(lab.daemon.pid, flush=True); time.sleep(60)"
    )
    driver = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert driver.stdout is not None
    daemon = int(driver.stdout.readline())
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    for _ in range(100):
        if (
            not Path(f"/proc/{daemon}").exists()
            or "Z" in Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2][:3]
        ):
            break
        time.sleep(0.05)
    else:
        os.kill(daemon, signal.SIGKILL)
        pytest.fail("slurmctld outlived its driver")


def test_limits_are_whole_minutes_and_time_counts_in_nanoseconds():
    assert [minutes(seconds) for seconds in (0, 1, 60, 61)] == [1, 1, 1, 2]
    assert SECOND == 10**9
