"""Slurm's priority and passes, and jobs that wait for others: against the reference, EASY, and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_workloads import workloads

from schedlab.engine import simulate
from schedlab.engine.reference.simulate import simulate_plain
from schedlab.workflow.workflow import Task, Workflow
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.submissions import Submission, WorkflowJobs
from schedlab.workload.workload import Workload

EASY = "slurm(interval=0,depth=all,resolution=1,window=all,reserve=1,queue_depth=all,delay=0)"
ALL_SEEN = "slurm(interval=5,depth=all,resolution=3,window=9,reserve=2,queue_depth=2,delay=2)"
SMALL = "slurm(interval=5,depth=3,resolution=3,window=12,queue_depth=2,delay=2)"
SCHEDULERS = [
    "fcfs",
    "fcfs+easy",
    "saf+easy",
    "wfp3+easy",
    "fcfs+slurm",
    f"fcfs+{SMALL}",
    f"fcfs+{ALL_SEEN}",
    f"spf+{ALL_SEEN[:-1]},overtime=4)",
    f"saf+{SMALL}@actual",
    f"wfp3+{SMALL}",
    f"fcfs+{SMALL[:-1]},wf_plan=ready,wf_count=workflows,wf_depth=1,overtime=2)",
    "multifactor(age=1000,max_age=20,period=4)",
    "multifactor(age=50,size=1000,favor=small,relative=yes,period=7)+easy",
    f"multifactor(age=50,size=1000,max_age=30,period=3,accrue=always)+{SMALL}",
    f"multifactor(fairshare=1000,half_life=10,period=5)+{SMALL}",
    "multifactor(age=9,fairshare=1000,half_life=0,shares=classic,period=2)+easy",
]


@st.composite
def dependent_workloads(draw: st.DrawFn) -> Workload:
    """Draw jobs, some of which wait for others, and some of which are tasks of workflows with one place."""
    workload = draw(workloads(users=3)).sorted_by_submit()
    jobs = len(workload)
    pairs = draw(st.lists(st.tuples(st.integers(0, jobs - 1), st.integers(0, jobs - 1), st.integers(0, 5)), max_size=9))
    kept = [(max(a, b), min(a, b), delay) for a, b, delay in pairs if a != b]
    child, parent, delay = np.array(kept, dtype=np.int64).reshape(-1, 3).T
    flow = Workflow("flow", (Task("a", 1, 5.0, 90.0, ()),))
    number = np.array(draw(st.lists(st.integers(-1, 2), min_size=jobs, max_size=jobs)))
    submission_modes = draw(st.tuples(*(st.sampled_from(["aware", "chained"]) for _ in range(3))))
    flows = WorkflowJobs(number, np.zeros(jobs, dtype=np.int64), [Submission(flow, how, 0) for how in submission_modes])
    return workload.replace(dependencies=Dependencies.from_pairs(child, parent, delay, jobs=jobs), workflows=flows)


def assert_equal(workload, scheduler):
    ours, plain = simulate(workload, scheduler), simulate_plain(workload, scheduler)
    np.testing.assert_array_equal(ours.start_time, plain.start_time)
    np.testing.assert_array_equal(ours.end_time, plain.end_time)
    np.testing.assert_array_equal(ours.backfilled, plain.backfilled)
    np.testing.assert_array_equal(ours.queued_since, plain.queued_since)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@given(workload=dependent_workloads())
@settings(max_examples=80, deadline=None)
def test_the_engine_equals_its_twin_where_jobs_wait_for_others(scheduler, workload):
    assert_equal(workload, scheduler)


@pytest.mark.parametrize("scheduler", SCHEDULERS[4:])
@given(workload=workloads(users=3, units=(1, 70)))
@settings(max_examples=60, deadline=None)
def test_the_engine_equals_its_twin_without_dependencies(scheduler, workload):
    assert_equal(workload, scheduler)


@pytest.mark.parametrize("policy", ["fcfs", "saf", "wfp3"])
@given(workload=workloads())
@settings(max_examples=60, deadline=None)
def test_a_pass_after_every_event_with_one_reservation_is_easy(policy, workload):
    easy, slurm = simulate(workload, f"{policy}+easy"), simulate(workload, f"{policy}+{EASY}")
    np.testing.assert_array_equal(easy.start_time, slurm.start_time)
    np.testing.assert_array_equal(easy.backfilled, slurm.backfilled)


@pytest.mark.parametrize("scheduler", ["fcfs", "fcfs+easy", "saf+easy"])
@given(workload=workloads())
@settings(max_examples=40, deadline=None)
def test_dependencies_that_say_nothing_change_nothing(scheduler, workload):
    none = workload.replace(dependencies=Dependencies.from_pairs([], [], jobs=len(workload)))
    np.testing.assert_array_equal(simulate(workload, scheduler).start_time, simulate(none, scheduler).start_time)


@given(workload=dependent_workloads(), scheduler=st.sampled_from(SCHEDULERS))
@settings(max_examples=100, deadline=None)
def test_nobody_starts_before_its_parents_have_ended_and_the_machine_is_never_too_small(workload, scheduler):
    schedule = simulate(workload, scheduler)
    after = workload.dependencies
    assert np.all(schedule.start_time[after.children] >= schedule.end_time[after.parents] + after.delay)
    assert np.all(schedule.start_time >= schedule.queued_since)
    for moment in schedule.start_time:
        running = (schedule.start_time <= moment) & (moment < schedule.end_time)
        assert workload.job_processors[running].sum() <= workload.processors


@pytest.mark.parametrize("engine", [simulate, simulate_plain], ids=["compiled", "plain"])
@pytest.mark.parametrize(
    ("submit", "run", "processors", "start"),
    [
        # Passes at 7 (the first change), 37 and 67: job 3, which comes at 47, fits beside the reservation of job 2.
        ([7, 17, 47], [100, 50, 20], [3, 4, 1], [7, 107, 67]),
        # Passes at 7, 37 and 107; then nothing happens until job 2 comes, which brings the pass at 200; then 230.
        ([7, 200, 201, 202], [100, 100, 50, 20], [3, 3, 4, 1], [7, 200, 300, 230]),
        # The end at 107 is before the pass of that second, the last one. So job 2 brings one at 150; the next is 180.
        ([7, 150, 151, 152], [100, 100, 50, 20], [3, 3, 4, 1], [7, 150, 250, 180]),
    ],
)
def test_backfill_passes_keep_their_interval_while_jobs_wait(engine, submit, run, processors, start):
    columns = {"submit_time": submit, "run_time": run, "requested_time": run, "requested_processors": processors}
    workload = Workload.from_columns(columns, processors=4)
    np.testing.assert_array_equal(engine(workload, "fcfs+slurm(resolution=10)").start_time, start)


@pytest.mark.parametrize("engine", [simulate, simulate_plain], ids=["compiled", "plain"])
@pytest.mark.parametrize(
    ("scheduler", "submit", "run", "requested", "processors", "last"),
    [
        # The pass at 30 sees jobs 1 and 2, and starts job 2; the one at 60 sees jobs 1 and 3, though nothing came.
        ("fcfs+slurm(depth=2)", [0, 1, 2, 3], [1000, 100, 900, 900], [1020, 120, 900, 900], [2, 4, 1, 1], 60),
        # Job 2 comes before job 1 when both have waited for more than 200 s: it starts in the pass at 210.
        ("(w-200)*q+slurm", [0, 1, 2], [1000, 100, 1100], [1020, 120, 1200], [2, 4, 1], 210),
    ],
)
def test_a_pass_may_start_a_job_though_nothing_has_happened_since_the_last(
    engine, scheduler, submit, run, requested, processors, last
):
    columns = {"submit_time": submit, "run_time": run, "requested_time": requested, "requested_processors": processors}
    assert engine(Workload.from_columns(columns, processors=4), scheduler).start_time[-1] == last


@pytest.mark.parametrize("engine", [simulate, simulate_plain], ids=["compiled", "plain"])
@pytest.mark.parametrize(
    ("count", "plan", "start"),
    [
        # A pass looks at job 1, which has no room until 100, and at the workflow, whose tasks 3 and 4 start.
        ("workflows", "all", [0, 100, 100, 0, 0, 100]),
        # Task 2, which waits for job 0, has no place in the plan: task 3 counts. At 10, a pass looks at jobs 1 and 5.
        ("workflows", "ready", [0, 100, 100, 0, 0, 10]),
        # A pass looks at jobs 1 and 2; or at 1 and 3, then at 1 and 4, then at 1 and 5.
        ("tasks", "all", [0, 100, 100, 100, 100, 105]),
        ("tasks", "ready", [0, 100, 100, 0, 10, 20]),
    ],
)
def test_tasks_of_a_workflow_behind_each_other_count_once_for_the_depth(engine, count, plan, start):
    run = [100, 5, 5, 10, 10, 10]
    processors = [4, 5, 1, 1, 1, 1]
    columns = {"submit_time": [0] * 6, "run_time": run, "requested_time": run, "requested_processors": processors}
    flow = Submission(Workflow("flow", (Task("a", 1, 5.0, 90.0, ()),)), "aware", 0)
    workload = Workload.from_columns(columns, processors=8).replace(
        dependencies=Dependencies.from_pairs([2], [0], jobs=6),
        workflows=WorkflowJobs(np.array([-1, -1, 0, 0, 0, -1]), np.zeros(6, dtype=np.int64), [flow]),
    )
    scheduler = f"fcfs+slurm(interval=0,depth=2,wf_count={count},wf_plan={plan})"
    np.testing.assert_array_equal(engine(workload, scheduler).start_time, start)
