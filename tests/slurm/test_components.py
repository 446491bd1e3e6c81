"""Heterogeneous jobs of a workload on the real Slurm: one submission, and a row of the schedule for each component."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import schedlab as sl
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.slurm.components import note_held
from schedlab.slurm.configuration import machine_configuration
from schedlab.slurm.job_table import Run
from schedlab.slurm.jobs import BatchJob, Command, JobList, from_workload, read_events
from schedlab.slurm.patience import EndlessRunError, latest_second
from schedlab.slurm.validation import model_phases
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources

TASKS = [4, 1, 2, 1, 1, 1, 2]


def jobs(het_job=(None, "b", "b", None, "d", "d", "d"), **more):
    """Return seven jobs on four cores, of which some are components."""
    columns = {"submit_time": [0, 5, 5, 20, 30, 30, 30], "run_time": [100, 200, 200, 50, 60, 60, 60]}
    columns |= {"requested_time": [120, 240, 240, 60, 120, 120, 120], "requested_processors": TASKS}
    asked = Resources.of(7, tasks=TASKS, het_job=het_job)
    return sl.Workload.from_columns(columns, processors=4, resources=asked, **more)


def test_components_are_submitted_with_the_first():
    listed = from_workload(jobs(), resources=True).jobs
    assert [job.joins for job in listed] == [None, None, 1, None, None, 4, 4]
    assert listed[6].options == ("-n", "2", "-t", "2")


def test_a_heterogeneous_job_waits_for_others_and_is_waited_for_once():
    after = Dependencies.from_pairs([1, 6], [0, 2], jobs=7)
    options = [job.options for job in from_workload(jobs(dependencies=after)).jobs]
    assert [[word for word in words if "depend" in word] for words in options] == [
        [],
        ["--dependency=afterany:%after(0)"],
        [],
        [],
        ["--dependency=afterany:%after(1)"],
        [],
        [],
    ]


def test_what_a_component_holds_is_read_node_by_node():
    run = Run(7, "", 0)
    two = "Nodes=n[3-4] CPU_IDs=1,3 Mem=9 GRES=gpu:a100:1(IDX:0),gpu:1(IDX:4)"
    note_held(run, f"Nodes=n1 CPU_IDs=0-2 Mem=0 GRES=\n {two}")
    assert (run.nodes, run.cores, run.gpus) == ("n[1,3-4]", (3, 2, 2), (0, 2, 2))


def test_in_other_phases_components_still_come_together(monkeypatch):
    monkeypatch.setattr(
        "schedlab.slurm.validation.simulate",
        lambda jobs, scheduler, cluster, node_events: simulate_plain(jobs, scheduler),
    )
    workload = jobs()[np.arange(1, 7)]  # the first one is a component
    for one in model_phases(workload, "fcfs+slurm", phases=4):
        start = one.start_time.tolist()
        assert start[0] == start[1]
        assert len(set(start[3:])) == 1


@pytest.mark.usefixtures("real_slurm")
def test_all_components_start_in_the_same_second_each_on_its_own_nodes():
    run = sl.slurm.run(jobs(), "fcfs+slurm", cores_per_node=1)
    assert run.schedule.start_time.tolist() == [0, 120, 120, 120, 330, 330, 330]
    assert run.schedule.end_time.tolist() == [100, 320, 320, 170, 390, 390, 390]
    assert run.records["job_id"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert set(run.records["pass"]) == {"backfill"}
    placement = run.schedule.placement
    assert np.diff(placement.offsets).tolist() == TASKS
    assert len(set(placement.node[placement.offsets[4] :].tolist())) == 4
    assert simulate_plain(jobs(), "fcfs+slurm").start_time.tolist() == run.schedule.start_time.tolist()


@pytest.mark.usefixtures("real_slurm")
def test_an_order_of_ones_own_is_set_for_each_component_and_their_reasons_are_seen():
    run = sl.slurm.run(jobs(), "spf+slurm", cores_per_node=1, observe=30)
    start = run.schedule.start_time.tolist()
    assert start[4] == start[5] == start[6] < start[1] == start[2]
    assert {4, 5, 6} <= set(run.observations["queue"]["row"])


@pytest.mark.usefixtures("real_slurm")
def test_a_heterogeneous_job_that_slurm_rejects_is_rejected_as_a_whole():
    listed = from_workload(jobs())
    nowhere = replace(listed.jobs[2], options=(*listed.jobs[2].options, "-pnowhere"))
    listed = replace(listed, jobs=(*listed.jobs[:2], nowhere, *listed.jobs[3:]))
    run = sl.slurm.run(listed, "fcfs+slurm", cores_per_node=1)
    assert sorted(run.rejected) == [1, 2]
    assert "invalid partition" in run.rejected[1]
    assert run.records["row"].tolist() == [0, 3, 4, 5, 6]


@pytest.mark.usefixtures("real_slurm")
def test_events_files_have_heterogeneous_jobs(tmp_path: Path):
    path = tmp_path / "some.events"
    lines = ["-sim-walltime 60 -n 2 -t 5 x.job", "-sim-walltime 90 -n 1 -t 5 : -n 2 -t 5 x.job"]
    path.write_text("\n".join(f"-dt {second} -e submit_batch_job | {line}" for second, line in enumerate(lines)))
    listed = read_events(path)
    assert [job.joins for job in listed.jobs] == [None, None, 1]
    assert listed.workload.resources.het_job.texts()[1:] == ["1", "1"]
    run = sl.slurm.run(listed, "fcfs+slurm", processors=4, cores_per_node=1)
    assert run.schedule.start_time[1] == run.schedule.start_time[2] >= 60


@pytest.mark.usefixtures("real_slurm")
def test_jobs_that_keep_each_other_from_ending_are_named_and_what_has_run_is_kept():
    # Each component clears a place for itself, and the jobs that gave way have both again before all are clear.
    submit, run_time, limit = [0, 0, 100, 100], [3000, 3000, 300, 300], [3600, 3600, 600, 600]
    columns = {"submit_time": submit, "run_time": run_time, "requested_time": limit, "requested_processors": [2] * 4}
    workload = sl.Workload.from_columns(columns, name="hand")
    where = ["low", "low", "high", "high"]
    options = [("-n2", f"-t{seconds // 60}", f"-p{name}") for seconds, name in zip(limit, where, strict=True)]
    batch = map(BatchJob, submit, run_time, options, [None] * 4, where, [None, None, None, 2])
    listed = JobList(tuple(batch), workload)
    base = machine_configuration(4, 1).having(PreemptType="preempt/partition_prio", PreemptMode="REQUEUE")
    tiers = ("PartitionName=low Nodes=ALL", "PartitionName=high Nodes=ALL PriorityTier=9")
    conf = replace(base, lines=(*base.lines, *tiers))
    with pytest.raises(EndlessRunError, match=r"hand: at second 9000 there are still .*waiting \(.*3, 4\)") as caught:
        sl.slurm.run(listed, conf=conf, until=9000)
    found = caught.value.run
    assert found.records["row"].tolist() == [0, 1]
    assert found.records["restarts"].min() > 10
    assert found.unstarted == (2, 3)


def test_a_run_counts_as_endless_long_after_all_could_have_run_one_after_the_other():
    listed = from_workload(jobs()).with_commands([Command(500, ("true",))])
    assert latest_second(listed) == 500 + 10 * (100 + 200 + 200 + 50 + 60 + 60 + 60) + 30 * 86400
