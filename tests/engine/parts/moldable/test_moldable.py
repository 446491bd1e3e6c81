"""Moldable jobs: by hand, and what always holds. The comparison with the reference is part of the feature matrix."""

import json
from pathlib import Path

import numpy as np
import pytest
from features import BACKFILLINGS, check_invariants, outcome, random_alternatives, random_simulation, setting
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Switch
from schedlab.engine.prepared import prepare
from schedlab.engine.reference.simulate import replay
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

CASES = json.loads((Path(__file__).parents[4] / "conformance" / "slurm-moldable.json").read_text(encoding="utf-8"))
TICK = 1
"""Slurm notices an end up to a second later, with its next tick."""

BOTH = [simulate, lambda jobs, text, **options: replay(prepare(jobs, text, **options))]
"""The engine and its reference."""


def agrees(case, scheduler, within=TICK):
    """Return whether begin, end and number of nodes of each job lie within what the phases show.

    They are what slurmctld did with `sbatch -N FEWEST-MOST` (tests/slurm/moldable_on_slurm.py).
    """
    submit, fewest, most, run_time, limit = np.array(case["jobs"]).T
    owner = np.repeat(np.arange(len(most)), most - fewest)
    nodes = np.concatenate([np.arange(high - 1, low - 1, -1) for low, high in zip(fewest, most, strict=True)])
    cluster = Cluster.of_nodes(NodeGroup.of(f"n[1-{case['nodes']}]", cores=1))
    for tick in (0, TICK):
        columns = {"submit_time": submit, "run_time": run_time + tick, "requested_time": limit}
        jobs = Workload.from_columns({**columns, "requested_processors": most}, requests_enforced=False)
        sizes = {"processors": nodes, "nodes": nodes, "run_time": (run_time + tick)[owner]}
        jobs = jobs.replace(
            resources=Resources.of(len(jobs), tasks=most, nodes=most),
            alternatives=Alternatives.of(owner, requested_time=limit[owner], jobs=len(jobs), **sizes),
        )
        schedule = simulate(jobs, scheduler, cluster=cluster)
        found = np.array([schedule.start_time, schedule.end_time, schedule.workload.job_processors]).T
        seen = np.array(case["runs"])
        same_nodes = found[:, 2].tolist() == seen[0, :, 2].tolist()
        if same_nodes and np.all((seen.min(axis=0) - within <= found) & (found <= seen.max(axis=0) + within)):
            return True
    return False


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_nodes_from_to_are_what_real_slurm_gave(case):
    assert agrees(case, "fcfs+slurm(version=22.05)")


def crowd(alternatives, **columns):
    """Return jobs on 4 processors."""
    columns = {"requested_time": columns["run_time"], **columns}
    jobs = Workload.from_columns(columns, processors=4)
    return jobs.replace(alternatives=Alternatives.from_texts(alternatives))


def test_without_backfilling_the_head_starts_with_the_first_size_that_fits():
    # Three processors are busy until 10. The second job wants four, three or one: it takes one at once.
    jobs = crowd(["", "3x12 1x30", ""], submit_time=[0, 1, 2], run_time=[10, 9, 5], requested_processors=[3, 4, 1])
    schedule = simulate(jobs, "fcfs")
    assert schedule.alternative.tolist() == [0, 2, 0]
    assert schedule.start_time.tolist() == [0, 1, 10]
    assert schedule.end_time.tolist() == [10, 31, 15]
    assert schedule.workload.job_processors.tolist() == [3, 1, 1]


def test_easy_reserves_for_the_size_that_ends_first():
    # The head wants 4 processors for 10 s, free at 30, or 3 for 40 s, free at 10: they would end at 40 and 50. The
    # reservation is for 4 at 30, and the last job, of 20 s, ends by then: at 22, three are free.
    jobs = crowd(
        ["", "", "3x40", ""], submit_time=[0, 0, 1, 2], run_time=[10, 30, 10, 20], requested_processors=[2, 1, 4, 1]
    )
    assert simulate(jobs, "fcfs+easy").start_time.tolist() == [0, 0, 22, 2]
    assert simulate(jobs, "fcfs+easy").alternative.tolist() == [0, 0, 1, 0]
    # With 3 for 25 s, which ends at 35, the reservation is at 10, and the last job would delay it.
    jobs = crowd(
        ["", "", "3x25", ""], submit_time=[0, 0, 1, 2], run_time=[10, 30, 10, 20], requested_processors=[2, 1, 4, 1]
    )
    assert simulate(jobs, "fcfs+easy").start_time.tolist() == [0, 0, 10, 30]


def test_conservative_backfilling_waits_for_the_size_that_ends_first():
    # One processor is free at once, for 30 s until 31; four are free at 10, for 9 s until 19.
    jobs = crowd(["", "1x30"], submit_time=[0, 1], run_time=[10, 9], requested_processors=[3, 4])
    assert simulate(jobs, "fcfs+conservative").start_time.tolist() == [0, 10]
    jobs = crowd(["", "1x17"], submit_time=[0, 1], run_time=[10, 9], requested_processors=[3, 4])
    assert simulate(jobs, "fcfs+conservative").start_time.tolist() == [0, 1]


def test_the_policy_orders_the_sizes_of_a_job():
    # The machine is free from 10 on. By area, 2x7 = 14 comes before 4x9 = 36; by run time too; by entry, it does not.
    jobs = crowd(["", "2x7"], submit_time=[0, 1], run_time=[10, 9], requested_processors=[4, 4])
    found = {policy: simulate(jobs, policy).alternative.tolist() for policy in ("fcfs", "saf", "sqf", "lqf")}
    assert found == {"fcfs": [0, 0], "saf": [0, 1], "sqf": [0, 1], "lqf": [0, 0]}


@pytest.mark.parametrize("scheduler", ["fcfs", "fcfs+easy", "fcfs+conservative", "fcfs+slurm"])
def test_children_wait_for_the_size_that_ran(scheduler):
    jobs = crowd(["1x20", ""], submit_time=[0, 0], run_time=[50, 5], requested_processors=[8, 4])
    jobs = jobs.replace(dependencies=Dependencies.from_pairs([1], [0], [3], jobs=2))
    schedule = simulate(jobs, scheduler)
    assert schedule.alternative.tolist() == [1, 0]
    assert schedule.eligible_time.tolist() == [0, 23]
    assert schedule.start_time[1] >= 23
    assert schedule.specification["dropped_alternatives"] == 1


def test_on_nodes_tasks_nodes_and_gpus_are_in_proportion_unless_said():
    cluster = Cluster.of_nodes(NodeGroup.of("n[1-4]", cores=4, gpus=2))
    jobs = Workload.from_columns(
        {"submit_time": [0, 1], "run_time": [100, 50], "requested_time": [100, 50], "requested_processors": [12, 16]}
    )
    resources = Resources.of(2, tasks=[12, 16], nodes=[3, 4], gpus=[3, 8])
    jobs = jobs.replace(resources=resources, alternatives=Alternatives.from_texts(["", "8x100/100 4x190/190@1"]))
    schedule = simulate(jobs, "fcfs+easy", cluster=cluster)
    assert schedule.alternative.tolist() == [0, 2]
    assert schedule.start_time.tolist() == [0, 1]
    assert schedule.workload.resources.nodes.tolist() == [3, 1]
    assert schedule.workload.resources.gpus.tolist() == [3, 2]
    assert np.diff(schedule.placement.offsets).tolist() == [3, 1]


def test_a_job_of_which_no_size_fits_is_named():
    jobs = crowd(["5x9 6x9", ""], submit_time=[0, 1], run_time=[10, 9], requested_processors=[8, 4])
    with pytest.raises(InputError, match="job 1 does not fit the machine with any of its 3 sizes"):
        simulate(jobs, "fcfs")


def test_a_job_of_which_no_size_fits_is_named_beside_one_that_has_a_single_size():
    jobs = crowd(["", "5x9"], submit_time=[0, 0], run_time=[9, 9], requested_processors=[4, 4])
    with pytest.raises(InputError, match="job 2 does not fit the machine with any of its 2 sizes") as refused:
        simulate(jobs, "fcfs", processors=3)
    assert refused.value.row == 1


@pytest.mark.parametrize(("most", "starts"), [(2, [0, 10]), (1, None)])
def test_elements_of_an_array_count_as_submitted_once_each_however_many_sizes_they_have(most, starts):
    cluster = Cluster.from_dict(
        {
            "groups": [{"nodes": "n1", "cores": 4}],
            "accounts": [{"name": "root", "parent": ""}, {"name": "a", "limits": {"max_submit": most}}],
            "users": [{"user": "1", "account": "a", "default": True}],
        }
    )
    jobs = crowd(["3x10", "3x10"], submit_time=[0, 0], run_time=[10, 10], requested_processors=[4, 4], user_id=[1, 1])
    jobs = jobs.replace(resources=Resources.of(2, tasks=[4, 4], array=["A", "A"]), header=(" User: 1 1",))
    if starts is None:
        with pytest.raises(InputError, match="job 1 does not fit the machine with any of its 2 sizes"):
            simulate(jobs, "fcfs", cluster=cluster)
    else:
        assert simulate(jobs, "fcfs", cluster=cluster).start_time.tolist() == starts


def test_a_job_of_one_size_that_does_not_fit_is_named_by_its_row_among_the_jobs():
    jobs = crowd(["1x9 2x9", ""], submit_time=[0, 1], run_time=[10, 9], requested_processors=[3, 4])
    with pytest.raises(InputError, match="job 2 needs 4 processors") as refused:
        simulate(jobs, "fcfs", processors=3)
    assert refused.value.row == 1


@pytest.mark.parametrize(
    ("scheduler", "options", "message"),
    [
        ("fcfs+easy", {"events": "pyss"}, "jobs with alternatives does not go with events=pyss"),
        ("fcfs+conservative,reservations=fixed", {}, "jobs with alternatives does not go with reservations=fixed"),
    ],
)
def test_what_makes_no_sense_is_refused(scheduler, options, message):
    jobs = crowd(["1x20", ""], submit_time=[0, 0], run_time=[50, 5], requested_processors=[4, 4])
    with pytest.raises(InputError, match=message):
        simulate(jobs, scheduler, **options)


@pytest.mark.parametrize("backfilling", ["none", "easy", "conservative", "slurm"])
def test_jobs_without_another_size_are_scheduled_as_before(backfilling):
    case = setting(backfilling, ())
    for seed in range(30):
        jobs, options = random_simulation(case, seed)
        alone = jobs.replace(alternatives=Alternatives.none(len(jobs)))
        found = outcome(simulate(alone, case.scheduler, **options))
        assert found.pop("alternative") == [0] * len(jobs)
        assert found == outcome(simulate(jobs, case.scheduler, **options))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(set(BACKFILLINGS) - {"fixed"})), st.integers(0, 10_000))
def test_each_job_runs_once_with_a_size_of_its_own_and_the_machine_is_never_exceeded(backfilling, seed):
    case = setting(backfilling, ("alternatives",))
    jobs, options = random_simulation(case, seed)
    schedule = simulate(jobs, case.scheduler, **options)
    check_invariants(schedule, jobs)
    assert len(schedule) == len(jobs)
    sizes, chosen = jobs.alternatives, schedule.alternative
    other = chosen > 0
    place = sizes.offsets[:-1] + chosen - 1
    processors, run_time = jobs.job_processors.copy(), jobs.run_time.copy()
    processors[other], run_time[other] = sizes.processors[place[other]], sizes.run_time[place[other]]
    assert schedule.workload.job_processors.tolist() == processors.tolist()
    assert schedule.workload.run_time.tolist() == run_time.tolist()
    assert np.all(schedule.run_time <= run_time)


@pytest.mark.parametrize("scheduler", ["saf+easy", "fcfs+conservative", "fcfs+slurm"])
def test_in_steps_saved_forked_and_added_to_the_schedule_is_the_same(scheduler, tmp_path):
    case = setting("easy", ("alternatives", "dependencies"))
    jobs, _ = random_simulation(case, 3)
    jobs = jobs.replace(requests_enforced=True)
    whole = outcome(simulate(jobs, scheduler))
    middle = int(np.median(simulate(jobs, scheduler).start_time))
    simulation = Simulation(jobs, scheduler)
    simulation.run(until=middle)
    simulation.save(tmp_path / "half.zip")
    for one in (simulation.fork(), simulation, Simulation.load(tmp_path / "half.zip")):
        one.run()
        assert outcome(one.schedule()) == whole


@pytest.mark.parametrize("scheduler", ["saf+easy", "fcfs+conservative", "fcfs+slurm"])
def test_jobs_that_are_added_in_time_make_no_difference(scheduler):
    jobs, _ = random_simulation(setting("easy", ("alternatives",)), 5)
    jobs = jobs.replace(requests_enforced=True).sorted_by_submit()
    later = jobs.submit_time > np.median(jobs.submit_time)
    simulation = Simulation(jobs[~later], scheduler)
    simulation.run(until=int(jobs.submit_time[later][0]) - 1)
    rows = simulation.submit(jobs[later])
    assert simulation.workload.job_id[rows[0]] == jobs.job_id[later][0]
    simulation.run()
    assert outcome(simulation.schedule()) == outcome(simulate(jobs, scheduler))


def test_a_size_is_started_by_hand():
    # Row 0 is the first job, rows 1 and 2 are the sizes of the second.
    jobs = crowd(["", "1x30"], submit_time=[0, 1], run_time=[10, 9], requested_processors=[3, 4])
    simulation = Simulation(jobs, None)
    simulation.next_decision()
    simulation.start(0)
    assert simulation.next_decision()
    assert simulation.waiting.tolist() == [1, 2]
    assert simulation.startable.tolist() == [2]
    simulation.start(2)
    assert simulation.waiting.tolist() == []
    simulation.run()
    assert simulation.schedule().alternative.tolist() == [0, 1]


def test_alternatives_that_are_drawn_are_not_all_of_one_size():
    rng = np.random.default_rng(1)
    assert len(np.unique(random_alternatives(10, 8, rng).processors)) > 3


@pytest.mark.parametrize("run", BOTH)
def test_with_its_turn_a_job_is_tried_with_all_alternatives_also_those_that_the_pass_would_not_look_at(run):
    # Job 1 lacks the licence of job 0, and is the one job of p0 that the main pass looks at. Job 2 could start there
    # with 2 cores; it has its turn with the 4 cores that p1 alone lets run for 100 s, which are not free.
    partitions = [{"name": "p0", "default": True, "max_time": 10}, {"name": "p1"}]
    machine = {"groups": [{"nodes": "n1", "cores": 4}], "licenses": {"L": 1}, "partitions": partitions}
    resources = Resources.of(3, tasks=[2, 1, 2], partition=["p0", "p0", "p0,p1"], licenses=["L", "L", ""])
    columns = {"submit_time": [0, 1, 2], "run_time": [8, 5, 5], "requested_time": [10] * 3}
    jobs = Workload.from_columns({**columns, "requested_processors": [2, 1, 2]}, resources=resources)
    jobs = jobs.replace(alternatives=Alternatives.from_texts(["", "", "4x100/100"]))
    schedule = run(jobs, "fcfs+slurm(partition_queue_depth=1,interval=600)", cluster=Cluster.from_dict(machine))
    assert schedule.start_time.tolist() == [0, 8, 3]
    assert schedule.alternative.tolist() == [0, 0, 0]


@pytest.mark.parametrize("run", BOTH)
def test_a_reservation_is_not_for_a_size_that_never_has_room(run):
    # The fifth job wants three nodes of one switch, which has two, or two cores of one node: of n4 at 10. The last job
    # would delay it, and waits until 20.
    groups = [NodeGroup.of(f"n[{first}-{first + 1}]", cores=2, switch=f"s{first}") for first in (1, 3)]
    cluster = Cluster.of_nodes(groups, switches=[Switch("top"), Switch("s1", "top"), Switch("s3", "top")])
    times = [20, 20, 20, 10, 15, 30]
    jobs = Workload.from_columns(
        {
            **{"submit_time": [0, 0, 0, 0, 1, 2], "run_time": times, "requested_time": times},
            "requested_processors": [2, 2, 2, 1, 3, 1],
        }
    )
    asked = Resources.of(
        6,
        tasks=[2, 2, 2, 1, 3, 1],
        nodes=[1, 1, 1, 1, 3, 1],
        nodelist=["n1", "n2", "n3", "n4", "", ""],
        switches=[0, 0, 0, 0, 1, 0],
        switch_wait=[300] * 6,
    )
    jobs = jobs.replace(resources=asked, alternatives=Alternatives.from_texts(["", "", "", "", "2x20@1", ""]))
    schedule = run(jobs, "fcfs+slurm(interval=0,resolution=1),placement=switches", cluster=cluster)
    assert schedule.start_time.tolist() == [0, 0, 0, 0, 10, 20]
    assert schedule.alternative.tolist() == [0, 0, 0, 0, 1, 0]
