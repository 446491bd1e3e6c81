"""Multifactor priorities by hand: what size is worth in seconds of age on the machine of ScSF's case study."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup
from schedlab.engine import simulate
from schedlab.engine.parts.priority import kernels as priorities
from schedlab.engine.parts.priority.kernels import new_priority
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay, simulate_plain
from schedlab.kernels import for_python
from schedlab.scheduler.multifactor import Multifactor
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.resources import Resources
from schedlab.workload.submissions import Submission
from schedlab.workload.submitting import submit_workflows
from schedlab.workload.workload import Workload

rank_of = for_python(priorities.rank_of)

EDISON = 5576 * 24
SCSF = "multifactor(age=50000000,size=600000000,favor=small,relative=yes)"
POINTS_PER_SECOND = 50_000_000 / (7 * 86400)
DAY = 86400


def jobs(**columns: list[int]) -> Workload:
    count = len(columns["requested_processors"])
    columns.setdefault("submit_time", [0] * count)
    columns.setdefault("run_time", columns["requested_time"])
    return Workload.from_columns(columns, processors=EDISON)


def fixed(workload: Workload, scheduler: str, cluster: Cluster | None = None) -> np.ndarray:
    """Return the part of each job's priority that does not change: what it is in the second of the submission."""
    prepared = prepare(workload, scheduler, cluster=cluster)
    assert isinstance(prepared.scheduler.policy, Multifactor)
    priority = new_priority(prepared)._replace(fairshare=0.0)
    seen = prepared.seen
    return np.array([-rank_of(seen, priority, job, int(seen["submit"][job]), False) for job in range(len(seen))])


def test_a_second_of_age_is_worth_82_7_points():
    assert pytest.approx(82.7, abs=0.05) == POINTS_PER_SECOND


@pytest.mark.parametrize(
    ("processors", "request_time", "worth"),
    [(24, 30 * 60, 43), (EDISON // 4, 3600, 8.4 * 3600), (EDISON // 4, DAY, 21 * 60)],
    ids=["24 cores for 30 min", "a quarter for 1 h", "a quarter for 1 d"],
)
def test_size_costs_so_many_seconds_of_age_in_the_case_study_of_scsf(processors, request_time, worth):
    workload = jobs(requested_processors=[processors], requested_time=[request_time])
    lost = 600_000_000 - fixed(workload, SCSF)[0]
    assert lost / POINTS_PER_SECOND == pytest.approx(worth, rel=0.012)


def test_size_on_nodes_is_what_sprio_shows_of_a_real_slurm():
    """Ten nodes of 12 cores, PriorityWeightJobSize=200000: 36 cores, one core, and two cores with -N 2."""
    cluster = Cluster.from_dict({"groups": [{"nodes": "n[01-10]", "cores": 12}]})
    asked = Resources.of(3, tasks=[36, 1, 2], nodes=[0, 0, 2])
    columns = {"submit_time": [0] * 3, "run_time": [60] * 3, "requested_time": [60] * 3, "user_id": [1] * 3}
    columns["requested_processors"] = [36, 1, 2]
    workload = Workload.from_columns(columns).replace(resources=asked)
    assert fixed(workload, "multifactor(size=200000)", cluster).tolist() == [40_000, 10_833, 21_666]
    # sprio rounds to the nearest number, the priority itself is cut.


def test_24_cores_for_30_minutes_cost_3600_points():
    workload = jobs(requested_processors=[24], requested_time=[1800])
    assert 600_000_000 - fixed(workload, SCSF)[0] == pytest.approx(3600, rel=0.005)


@pytest.mark.parametrize(("later", "overtakes"), [(43, True), (44, False)])
def test_a_job_of_a_week_overtakes_one_of_30_minutes_that_came_43_seconds_before_it(later, overtakes):
    # All but 24 cores are busy for a day, and those until 600, when priorities are computed. A job of a week loses
    # 600e6 x 24 / 10080 / 133824 = 11 points, 0.1 s.
    workload = jobs(
        submit_time=[0, 0, 100, 100 + later],
        requested_processors=[EDISON - 24, 24, 24, 24],
        requested_time=[DAY, 600, 1800, 7 * DAY],
    )
    start = simulate(workload, SCSF).start_time
    assert bool(start[3] < start[2]) is overtakes
    assert min(start[2:]) == 600


def test_the_size_is_divided_by_the_started_minutes_of_the_request():
    workload = jobs(requested_processors=[EDISON] * 4, requested_time=[1, 60, 61, 600])
    assert fixed(workload, "multifactor(size=60,relative=yes)").tolist() == [60, 60, 30, 6]


def test_partitions_and_qualities_of_service_without_a_factor_have_0():
    workload = jobs(requested_processors=[1] * 3, requested_time=[60] * 3, partition_id=[1, 2, -1], queue_id=[7, 8, 7])
    text = "multifactor(partition=100,qos=10,partitions=1:0.5,qoses=7:1)"
    assert fixed(workload, text).tolist() == [60, 1, 10]  # a priority is at least 1


@pytest.mark.parametrize("engine", [simulate, simulate_plain], ids=["compiled", "plain"])
def test_usage_decays_while_the_machine_is_idle(engine):
    # Usage halves every 10 s. User 1 has used 32 by 10 s, of which 2 are left at 50 s; user 2 has used 10 then.
    columns = {
        "submit_time": [0, 40, 41, 41],
        "run_time": [8, 12, 5, 5],
        "requested_time": [8, 12, 5, 5],
        "requested_processors": [4, 1, 4, 4],
        "user_id": [1, 2, 2, 1],
    }
    schedule = engine(Workload.from_columns(columns, processors=4), "multifactor(fairshare=100,half_life=10,period=10)")
    np.testing.assert_array_equal(schedule.start_time, [0, 40, 57, 52])


def test_whole_nodes_of_a_task_do_not_make_the_workflow_smaller_whose_place_it_has():
    """The task with a whole node has the size of both tasks, no less than the job of both nodes, and came before it."""
    flow = Workflow("flow", (Task("wide", 2, 76.0, 92.0), Task("whole", 1, 104.0, 107.0)))
    single = Workload.from_columns(
        {"submit_time": [1], "run_time": [2], "requested_time": [32], "requested_processors": [2]}, processors=2
    )
    workload = submit_workflows(single, [Submission(flow, "aware", 0)])
    of_flow = workload.workflows.number >= 0
    asked = Resources.of(3, tasks=workload.job_processors, exclusive=of_flow & (workload.job_processors == 1))
    cluster = Cluster.of_nodes(NodeGroup.of("n[1-2]", cores=1))
    prepared = prepare(workload.replace(resources=asked), "multifactor(size=1000,period=60)+slurm", cluster=cluster)
    for schedule in (replay(prepared), simulate(prepared.workload, prepared.scheduler, cluster=cluster)):
        assert sorted(schedule.start_time[of_flow].tolist()) == [0, 76]
        assert schedule.start_time[~of_flow].tolist() == [180]


@pytest.mark.parametrize("scheduler", [f"{SCSF}+slurm", f"{SCSF}+slurm(node=24)", f"{SCSF}+slurm(node=24)@actual"])
def test_a_task_with_the_place_of_its_workflow_has_the_size_of_the_pilot_job(scheduler):
    pair = Workflow("pair", (Task("a", 25, 3000.0, 9000.0), Task("b", 3, 200.0, 300.0, (0,))))
    flows = [Submission(pair, "pilot", 0), Submission(pair, "aware", 5)]
    workload = submit_workflows(jobs(requested_processors=[1], requested_time=[60]), flows)
    pilot, *tasks = fixed(workload, scheduler)[1:]
    assert tasks == [pilot, pilot]
