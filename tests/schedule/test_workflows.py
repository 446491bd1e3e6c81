"""What became of workflows: worked by hand, and the published figures of ScSF's defects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.schedule.exports import read_schedule
from schedlab.schedule.metrics import metric_names
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.window import measured_window
from schedlab.schedule.workflows import execution_of, work_in_window, workflow_columns, workflow_table
from schedlab.workflow.files import read_workflow
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.sampling import rebase
from schedlab.workload.submissions import Submission
from schedlab.workload.submitting import submit_workflows
from schedlab.workload.workload import Workload

NO_JOBS = Workload.from_columns({"submit_time": [], "run_time": [], "requested_processors": []})


def diamond() -> Workflow:
    """A (4 processors, 10 s), then B (2, 30 s) and C (3, 20 s), then D (1, 5 s) after both."""
    return Workflow(
        "diamond",
        (
            Task("A", 4, 10.0, 60.0),
            Task("B", 2, 30.0, 60.0, (0,)),
            Task("C", 3, 20.0, 60.0, (0,)),
            Task("D", 1, 5.0, 60.0, (1, 2)),
        ),
    )


def placed(
    workload: Workload, start: list[int] | np.ndarray, machine: int = 8, killed: tuple[int, ...] = ()
) -> Schedule:
    no = np.zeros(len(workload), dtype=bool)
    gone = np.isin(np.arange(len(workload)), killed)
    begin = np.asarray(start, dtype=np.int64)
    return Schedule(
        workload,
        begin,
        begin + workload.run_time,
        backfilled=no,
        killed=gone,
        predicted_run_time=workload.run_time,
        corrections=np.zeros(len(workload), dtype=np.int64),
        scheduler="by hand",
        processors=machine,
    )


def at_once(workload: Workload) -> list[int]:
    """Return the starts if each job starts when its parents have ended."""
    start: list[int] = []
    for row in range(len(workload)):
        parents = [] if workload.dependencies is None else workload.dependencies.parents_of(row).tolist()
        start.append(max((start[parent] + int(workload.run_time[parent]) for parent in parents), default=0))
    return start


def test_the_waits_on_the_critical_chain_are_what_stretches():
    # A from 8 to 18; B from 20 to 50; C from 40 to 60; D from 63 to 68: of the 68 s, A, C and D run for 35.
    schedule = placed(submit_workflows(NO_JOBS, [Submission(diamond(), "chained", 0)]), [8, 20, 40, 63], killed=(2,))
    columns = workflow_columns(schedule, until=67)
    assert {name: values.tolist() for name, values in columns.items()} == {
        "number": [0],
        "submit_time": [0],
        "start_time": [8],
        "end_time": [68],
        "wait": [8],
        "run_time": [60],
        "turnaround": [68],
        "stretch": [pytest.approx(33 / 68)],
        "reserved_work": [4 * 10 + 2 * 30 + 3 * 20 + 5],
        "killed_tasks": [1],
        "finished": [False],
    }


def test_a_pilot_stretches_by_its_wait():
    table = workflow_table(placed(submit_workflows(NO_JOBS, [Submission(diamond(), "pilot", 5)]), [50]))
    row = table.iloc[0]
    assert (row["name"], row["group"], row["submission_mode"]) == ("diamond", "diamond", "pilot")
    assert (row["wait"], row["run_time"], row["turnaround"], row["stretch"]) == (45, 45, 90, 0.5)
    assert row["reserved_work"] == 5 * 45


def test_several_workflows_among_ordinary_jobs_keep_to_themselves():
    base = Workload.from_columns({"submit_time": [0, 3], "run_time": [1, 1], "requested_processors": [1, 1]})
    workload = submit_workflows(base, [Submission(diamond(), "chained", 2), Submission(diamond(), "aware", 100)])
    schedule = placed(workload, [0, 2, 12, 12, 42, 3, 110, 120, 120, 150])
    columns = workflow_columns(schedule)
    assert columns["wait"].tolist() == [0, 10]
    assert columns["stretch"].tolist() == [0, pytest.approx(10 / 55)]
    assert columns["number"].tolist() == [0, 1]


def test_workflows_of_which_jobs_are_missing_are_left_out():
    workload = submit_workflows(NO_JOBS, [Submission(diamond(), "chained", second) for second in (0, 1)])
    part = workload[np.array([0, 1, 2, 4, 5, 6, 7])]
    assert workflow_columns(placed(part, np.arange(7)))["number"].tolist() == [1]


def test_without_workflows_there_are_columns_without_rows():
    schedule = placed(Workload.from_columns({"submit_time": [0], "run_time": [1], "requested_processors": [1]}), [0])
    assert workflow_table(schedule).empty
    assert {"number", "stretch", "finished", "submission_mode"} <= set(workflow_table(schedule).columns)
    assert "workflows" not in schedule.metrics()


@given(st.lists(st.integers(0, 40), min_size=4, max_size=4))
def test_on_one_chain_all_gaps_are_waits(gaps: list[int]):
    chain = Workflow("chain", tuple(Task(f"t{i}", 1, 10.0, 60.0, (i - 1,) if i else ()) for i in range(4)))
    workload = submit_workflows(NO_JOBS, [Submission(chain, "chained", 0)])
    start = np.cumsum(gaps) + 10 * np.arange(4)
    for rules in ("corrected", "scsf"):
        columns = workflow_columns(placed(workload, start), rules=rules)
        assert columns["stretch"][0] == pytest.approx(sum(gaps) / (sum(gaps) + 40))
        assert columns["wait"][0] == gaps[0]


def test_by_the_rules_of_scsf_only_the_root_that_started_first_counts():
    # X and Y are roots; Z waits for Y alone and ends last, but X started first.
    tasks = (Task("X", 1, 10.0, 60.0), Task("Y", 1, 5.0, 60.0), Task("Z", 1, 20.0, 60.0, (1,)))
    workload = submit_workflows(NO_JOBS, [Submission(Workflow("two roots", tasks), "chained", 0)])
    schedule = placed(workload, [1, 2, 7])
    assert workflow_columns(schedule)["run_time"].tolist() == [26]
    by_scsf = workflow_columns(schedule, rules="scsf")
    assert (by_scsf["run_time"].tolist(), by_scsf["turnaround"].tolist()) == ([10], [11])


@pytest.mark.parametrize(("name", "by_scsf"), [("sipht", 0.996), ("floodplain", 0.185)])
def test_the_published_defect_of_the_stretch_of_an_execution_without_waits(
    workflow_files: Path, name: str, by_scsf: float
):
    workflow = read_workflow(workflow_files / "scsf-manifests" / f"{name}.json")
    workload = submit_workflows(NO_JOBS, [Submission(workflow, "chained", 0)])
    schedule = placed(workload, at_once(workload), machine=1000)
    assert workflow_columns(schedule)["stretch"][0] == 0
    assert workflow_columns(schedule, rules="scsf")["stretch"][0] == pytest.approx(by_scsf, abs=5e-4)


def test_a_window_cuts_what_is_reserved_and_what_idles():
    # In the pilot: 4 processors for 10 s, 5 for 20 s, 2 for 10 s, 1 for 5 s; it has 5 for 45 s, from 100 on.
    workload = submit_workflows(NO_JOBS, [Submission(diamond(), "pilot", 0), Submission(diamond(), "pilot", 1)])
    schedule = placed(workload, [100, 500])
    window = measured_window(schedule)
    assert work_in_window(schedule, window) == {"reserved": 450.0, "useful": 330.0, "idle": 120.0}
    inside = type(window)(window.rows, 105, 135, window.submitted)
    assert work_in_window(schedule, inside) == {"reserved": 150.0, "useful": 4 * 5 + 5 * 20 + 2 * 5, "idle": 20.0}


def test_a_killed_pilot_uses_nothing_after_its_end():
    workload = submit_workflows(NO_JOBS, [Submission(diamond(), "pilot", 0)]).replace(run_time=[20])
    schedule = placed(workload, [0], killed=(0,))
    assert work_in_window(schedule, measured_window(schedule))["useful"] == 4 * 10 + 5 * 10


@pytest.mark.parametrize(
    ("name", "idle", "net"),
    [("synthWideLong", 0.72, 0.403), ("montage", 0.95, 0.141), ("floodplain", 0.66, 0.446), ("sipht", 0.73, 0.398)],
)
def test_net_utilisation_of_a_pilot_on_a_full_machine(workflow_files: Path, name: str, idle: float, net: float):
    """The true values beside which the utilisation of ScSF's program was found wrong, as low as -0.542."""
    workflow = read_workflow(workflow_files / "scsf-manifests" / f"{name}.json")
    machine = workflow.peak_processors + 100
    filler = Workload.from_columns(
        {"submit_time": [0], "run_time": [round(workflow.length)], "requested_processors": [100]}, processors=machine
    )
    schedule = placed(submit_workflows(filler, [Submission(workflow, "pilot", 0)]), [0, 0], machine)
    work = work_in_window(schedule, measured_window(schedule))
    assert work["idle"] / (work["reserved"] - 100 * round(workflow.length)) == pytest.approx(idle, abs=0.005)
    metrics = schedule.metrics()
    assert metrics["utilisation"] == 1.0
    assert metrics["useful_utilisation"] == pytest.approx(net, abs=5e-4)


def test_metrics_of_jobs_are_those_of_ordinary_jobs():
    base = Workload.from_columns({"submit_time": [0, 30], "run_time": [10, 20], "requested_processors": [1, 2]})
    workload = submit_workflows(base, [Submission(diamond(), "chained", 10), Submission(diamond(), "pilot", 20)])
    # Rows: job, A, B, C, D, pilot, job.
    schedule = placed(workload, [0, 20, 30, 30, 60, 200, 37], machine=16, killed=(1,))
    metrics = schedule.metrics()
    assert metrics["jobs"] == 2
    assert (metrics["mean_wait"], metrics["max_wait"], metrics["killed_jobs"]) == (3.5, 7.0, 0.0)
    assert metrics["workflows"] == 2
    assert metrics["mean_workflow_wait"] == (10 + 180) / 2
    assert metrics["median_workflow_run_time"] == 45
    assert metrics["mean_workflow_turnaround"] == (55 + 225) / 2
    assert metrics["mean_workflow_stretch"] == pytest.approx((10 / 55 + 180 / 225) / 2)
    assert metrics["utilisation"] > metrics["useful_utilisation"] > 0
    assert set(metrics) <= set(metric_names())
    assert "workflow wait     mean 95 s" in str(schedule)


def test_workflows_alone_are_measured_by_their_jobs():
    schedule = placed(submit_workflows(NO_JOBS, [Submission(diamond(), "chained", 0)]), [0, 10, 10, 40])
    assert schedule.metrics()["jobs"] == 4


def test_workflows_of_the_warm_up_do_not_count():
    base = Workload.from_columns({"submit_time": [0, 900], "run_time": [1, 1], "requested_processors": [1, 1]})
    workload = submit_workflows(base, [Submission(diamond(), "pilot", second) for second in (10, 500)])
    schedule = placed(workload, [0, 20, 530, 900])
    assert schedule.metrics(warm_up=100)["mean_workflow_wait"] == 30
    assert schedule.metrics(warm_up=600)["workflows"] == 0
    assert "mean_workflow_wait" not in schedule.metrics(warm_up=600)


def test_a_schedule_keeps_its_workflows_in_parquet_and_may_be_written_as_swf(tmp_path: Path):
    schedule = placed(submit_workflows(NO_JOBS, [Submission(diamond(), "chained", 0)]), [8, 20, 40, 63])
    schedule.save(tmp_path / "s.parquet")
    again = read_schedule(tmp_path / "s.parquet")
    assert again.metrics() == schedule.metrics()
    assert again.workload.workflows.submissions == schedule.workload.workflows.submissions
    schedule.save(tmp_path / "s.swf")
    schedule.save(tmp_path / "s.csv")


def test_a_simulated_workflow_can_be_written_for_others():
    workload = submit_workflows(
        NO_JOBS, [Submission(diamond(), "chained", 10), Submission(diamond(), "pilot", 20)]
    ).replace(start_time=1000)
    schedule = placed(workload, [18, 30, 50, 73, 200])
    chained, pilot = execution_of(schedule, 0), execution_of(schedule, 1)
    assert (chained.starts, chained.run_times) == ((1018.0, 1030.0, 1050.0, 1073.0), (10.0, 30.0, 20.0, 5.0))
    assert chained.submitted == 1010.0
    assert pilot.starts == (1200.0, 1210.0, 1210.0, 1240.0)
    with pytest.raises(InputError, match="no complete workflow 2"):
        execution_of(schedule, 2)


def test_the_fingerprint_of_an_input_holds_its_workflows_and_dependencies():
    workload = submit_workflows(NO_JOBS, [Submission(diamond(), "chained", 0)])
    plain = placed(workload.replace(workflows=None), [0, 10, 10, 40]).provenance()["input_sha256"]
    free = placed(workload.replace(workflows=None, dependencies=None), [0, 10, 10, 40]).provenance()["input_sha256"]
    whole = placed(workload, [0, 10, 10, 40]).provenance()["input_sha256"]
    assert len({plain, free, whole}) == 3


def test_an_execution_follows_its_jobs_when_they_are_moved_in_time_and_in_order():
    workload = rebase(submit_workflows(NO_JOBS, [Submission(diamond(), "chained", 100)]))[np.array([3, 2, 1, 0])]
    executed = execution_of(placed(workload, [45, 10, 12, 0]), 0)
    assert executed.starts == (0.0, 12.0, 10.0, 45.0)
    assert executed.submitted == 0.0
