"""Simulation: in steps, interrupted, saved, forked or with jobs added, it ends as `simulate` does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import pytest
from cluster_cases import random_cluster, random_jobs
from features import TwiceTheLast, outcome

import schedlab as sl
from schedlab.engine.simulation import simulate
from schedlab.engine.steps.stepwise import Simulation
from schedlab.errors import InputError
from schedlab.scheduler import FunctionPolicy, Scheduler
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

COMPILED = ["fcfs", "saf+easy", "fcfs+easy:sjf@ave2/incremental", "saf+conservative", "fcfs+slurm", "fcfs,window=3"]


def three_jobs():
    """Return three jobs on four processors: the second does not fit beside the first, the third would."""
    return Workload.from_columns(
        {
            "submit_time": [0, 1, 2],
            "run_time": [10, 10, 5],
            "requested_time": [10, 10, 5],
            "requested_processors": [3, 4, 1],
        },
        processors=4,
        name="three",
    )


def crowd(jobs=200, seed=1):
    rng = np.random.default_rng(seed)
    request = rng.integers(1, 900, jobs)
    return Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, 20 * jobs, jobs)),
            "run_time": rng.integers(0, request + 1),
            "requested_time": request,
            "requested_processors": rng.integers(1, 17, jobs),
            "user_id": rng.integers(1, 9, jobs),
        },
        processors=32,
    )


def test_whatever_its_features_a_simulation_may_be_interrupted_forked_saved_and_added_to():
    """Random features and workloads, with the engine as plain Python: to compile all combinations would take hours."""
    properties = Path(__file__).with_name("stepwise_properties.py")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", str(properties)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd=properties.parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.compiled
@pytest.mark.parametrize("scheduler", COMPILED)
def test_compiled_too_a_simulation_goes_on_from_a_fork_a_file_and_with_more_jobs(scheduler, tmp_path):
    workload = crowd()
    whole = outcome(simulate(workload, scheduler))
    early, late = workload[:150], workload[150:]
    simulation = Simulation(early, scheduler)
    simulation.run(int(late.submit_time[0]) - 1)
    simulation.save(tmp_path / "state.sim")
    for other in (simulation.fork(), Simulation.load(tmp_path / "state.sim"), simulation):
        other.submit(late)
        other.run(int(late.submit_time[10]))
        assert other.run()
        assert outcome(other.schedule()) == whole
    simulation = Simulation(workload, scheduler)
    simulation.run(2_000)
    simulation.fork().run()
    while simulation.next_decision():
        pass
    assert outcome(simulation.schedule()) == whole


@pytest.mark.parametrize("scheduler", ["fcfs", "fcfs+conservative", "fcfs+slurm"])
def test_a_job_is_started_by_hand_against_the_will_of_the_scheduler(scheduler):
    """Worked by hand. The second job is wide and has to wait for the first; the third, 20 s long, would delay it."""
    jobs = three_jobs().replace(run_time=[10, 10, 20], requested_time=[10, 10, 20])
    assert simulate(jobs, scheduler).start_time[1] == simulate(jobs, "fcfs").start_time[1]
    simulation = Simulation(jobs, scheduler)
    while simulation.next_decision():
        if 2 in simulation.startable:
            assert simulation.reservation(1) == (10, 0)
            simulation.start(2)
    schedule = simulation.schedule()
    assert schedule.backfilled.tolist() == [False, False, True]
    assert schedule.start_time[1] >= schedule.end_time[2]
    assert schedule.scheduler == f"{Scheduler.parse(scheduler)} and by hand"
    assert schedule.specification["started_by_hand"] == 1


def test_without_a_scheduler_somebody_else_decides_everything():
    """Shortest first by hand is what the policy does."""
    jobs = crowd(60)
    simulation = Simulation(jobs, None)
    while simulation.next_decision():
        head = min(simulation.waiting, key=lambda row: (jobs.requested_time[row], row))
        if head in simulation.startable:
            simulation.start(head)
    schedule = simulation.schedule()
    assert schedule.start_time.tolist() == simulate(jobs, "spf").start_time.tolist()
    assert schedule.scheduler == "by hand"


def test_observers_see_every_second_with_a_pass_and_may_start_jobs():
    seen = []
    simulation = Simulation(three_jobs(), "fcfs")
    simulation.observe(lambda one: seen.append((one.now, one.free, one.waiting.tolist(), one.running.tolist())))
    assert simulation.run(until=5) is False
    assert seen == [(0, 1, [], [0]), (1, 1, [1], [0]), (2, 1, [1, 2], [0])]
    simulation.observe(lambda one: one.start(2) if 2 in one.startable else None)
    simulation = Simulation(three_jobs(), "fcfs")
    simulation.observe(lambda one: one.start(2) if 2 in one.startable else None)
    simulation.run()
    assert simulation.schedule().start_time.tolist() == [0, 10, 2]


def test_one_can_look_at_a_simulation_at_any_second():
    simulation = Simulation(three_jobs(), "fcfs")
    assert (simulation.now, simulation.free, simulation.ended) == (0, 4, False)
    simulation.run(until=5)
    assert (simulation.now, simulation.free, simulation.processors) == (5, 1, 4)
    assert simulation.running.tolist() == [0]
    assert simulation.waiting.tolist() == [1, 2]
    assert simulation.startable.tolist() == [2]
    assert simulation.start_time.tolist() == [0, -1, -1]
    assert simulation.reservation(1) == (10, 0)
    assert "second 5, 1 jobs run, 2 wait, 0 are to come" in repr(simulation)


def test_jobs_that_are_added_get_the_next_rows_and_start_in_the_present_second_if_they_fit():
    simulation = Simulation(three_jobs(), "fcfs+easy")
    simulation.run(until=20)
    assert simulation.submit(three_jobs().replace(submit_time=[20, 20, 21])).tolist() == [3, 4, 5]
    simulation.run()
    assert simulation.schedule().start_time.tolist() == [0, 10, 2, 20, 30, 21]
    assert simulation.submit(three_jobs()[:0]).tolist() == []


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (lambda one: one.start(2), r"only at a decision: call next_decision\(\) first"),
        (lambda one: one.next_decision() and one.start(1), r"job 2 \(row 1\) needs 4 processors, but 1 are free"),
        (lambda one: one.next_decision() and one.start(0), r"job 1 \(row 0\) is not waiting at second 5"),
        (lambda one: one.next_decision() and one.start(9), "row 9 does not exist: rows go from 0 to 3"),
        (lambda one: one.next_decision() and one.start("2"), "'2' is not the row number of a job"),
        (lambda one: one.run(until=2), "second 2 is in the past: the simulation is at second 3"),
        (lambda one: one.run(until=2.5), "until=2.5 is not a whole second"),
        (lambda one: one.submit(three_jobs()), "job 1 would be submitted at second 0, but second 3 has come"),
        (lambda one: one.submit(three_jobs().replace(submit_time=[9, 9, 9], requested_processors=[1, 5, 1])), "job 2"),
        (lambda one: one.schedule(), "no schedule yet: some jobs have not ended"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence_and_changes_nothing(action, reason):
    jobs = three_jobs()
    late = Workload.from_columns(
        {"submit_time": [5], "run_time": [1], "requested_time": [1], "requested_processors": [1]}
    )
    jobs = sl.Workload.from_columns(
        {
            field: np.append(getattr(jobs, field), getattr(late, field))
            for field in ("submit_time", "run_time", "requested_time", "requested_processors")
        },
        processors=4,
    )
    simulation = Simulation(jobs, "fcfs")
    simulation.run(until=3)
    with pytest.raises(InputError, match=reason):
        action(simulation)
    simulation.run()
    assert outcome(simulation.schedule()) == outcome(simulate(jobs, "fcfs"))


def test_a_job_behind_the_window_cannot_be_started_by_hand():
    jobs = three_jobs().replace(submit_time=[0, 1, 1])
    simulation = Simulation(jobs, "fcfs,window=1")
    assert simulation.next_decision() is False
    simulation = Simulation(jobs.replace(requested_processors=[2, 3, 1]), "fcfs,window=1")
    simulation.observe(lambda one: one.start(2) if one.now == 1 else None)
    with pytest.raises(InputError, match=r"job 3 \(row 2\) is beyond the window of 1 jobs"):
        simulation.run()


def test_the_event_order_of_sc17_runs_only_as_a_whole():
    with pytest.raises(InputError, match="sc17 cannot be run step by step"):
        Simulation(three_jobs(), "fcfs", events="sc17")


@pytest.mark.parametrize(
    ("scheduler", "reason"),
    [
        (Scheduler("fcfs", "easy", runtimes=TwiceTheLast()), "what it has learned cannot be saved"),
        (Scheduler(FunctionPolicy(lambda q: -q), "easy"), "is a function in Python, which cannot be saved"),
    ],
)
def test_what_only_python_knows_is_not_saved(scheduler, reason, tmp_path):
    with pytest.raises(InputError, match=reason):
        Simulation(three_jobs(), scheduler).save(tmp_path / "state.sim")
    assert not list(tmp_path.iterdir())


def rewritten(path, change):
    """Write a saved simulation again with other members."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name, content)


def in_header(**values):
    def change(members):
        members["header.json"] = json.dumps({**json.loads(members["header.json"]), **values}).encode()

    return change


def harmed(members):
    members["state.clock.npy"] = members["state.clock.npy"][:-8] + b"\xff" * 8


def of_another_shape(members):
    """An array of another length, with the right digest."""
    import hashlib
    import io

    buffer = io.BytesIO()
    np.save(buffer, np.zeros(7, dtype=np.int64))
    members["state.clock.npy"] = buffer.getvalue()
    header = json.loads(members["header.json"])
    header["sha256"]["state.clock.npy"] = hashlib.sha256(buffer.getvalue()).hexdigest()
    members["header.json"] = json.dumps(header).encode()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (in_header(schedlab="0.0.7"), "saved by version 0.0.7 of schedlab, and can be resumed only by it"),
        (in_header(format="schedlab simulation 0"), "can be resumed only by it"),
        (in_header(until="tomorrow"), "the header is damaged"),
        (in_header(scheduler="fcfs+magic"), "unknown backfilling"),
        (in_header(scheduler="fcfs+easy@os:system"), "do not import code on their own"),
        (harmed, "not a saved simulation, or damaged"),
        (of_another_shape, "not a saved simulation, or damaged"),
        (lambda members: members.pop("state.clock.npy"), "not a saved simulation, or damaged"),
    ],
)
def test_a_file_of_another_version_or_a_damaged_one_is_refused_in_one_sentence(change, reason, tmp_path):
    path = tmp_path / "state.sim"
    Simulation(three_jobs(), "fcfs").save(path)
    rewritten(path, change)
    with pytest.raises(InputError, match=reason) as caught:
        Simulation.load(path)
    assert "\n" not in str(caught.value)


def test_a_file_that_was_cut_off_or_is_none_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "state.sim"
    Simulation(three_jobs(), "fcfs").save(path)
    content = path.read_bytes()
    for length in range(0, len(content), 97):
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match="not a saved simulation, or damaged"):
            Simulation.load(path)
    with pytest.raises(InputError, match="the file does not exist"):
        Simulation.load(tmp_path / "nowhere.sim")


def test_a_file_of_another_workload_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "state.sim"
    Simulation(three_jobs(), "fcfs").save(path)
    assert Simulation.load(path, three_jobs()).run()
    for other in (three_jobs().replace(run_time=[10, 10, 4]), crowd(), three_jobs().replace(requests_enforced=False)):
        with pytest.raises(InputError, match="this simulation belongs to the workload three"):
            Simulation.load(path, other)


def test_a_file_of_moldable_jobs_is_read_with_the_jobs_or_with_a_row_for_each_size(tmp_path):
    path, jobs = tmp_path / "state.sim", three_jobs()
    sizes = Alternatives.of([0], processors=[1], run_time=[20], requested_time=[20], jobs=3)
    simulation = Simulation(jobs.replace(alternatives=sizes), "fcfs")
    simulation.save(path)
    for workload in (None, jobs.replace(alternatives=sizes), simulation.workload):
        assert len(Simulation.load(path, workload).workload) == 4
    with pytest.raises(InputError, match="this simulation belongs to the workload three"):
        Simulation.load(path, jobs)


GO_ON = """
import sys, numpy as np, schedlab as sl
simulation = sl.Simulation.load(sys.argv[1])
simulation.run()
schedule = simulation.schedule()
np.savez(sys.argv[2], start=schedule.start_time, predicted=schedule.predicted_run_time, times=schedule.corrections)
"""


@pytest.mark.slow
@pytest.mark.compiled  # 300,000 jobs
@pytest.mark.parametrize("scheduler", ["saf@similar+easy@ave2/incremental", "fcfs+slurm"])
def test_curie_goes_on_in_another_process_as_if_it_had_never_stopped(scheduler, traces, tmp_path):
    """A tenth of the jobs waits for the user's job before; run times are predicted."""
    workload = sl.clean(sl.read_swf(traces / "CEA-Curie-2011-2.1-cln.swf.gz"))
    if scheduler == "fcfs+slurm":
        workload = workload[80_000:100_000]  # a time of long queues
    by_user = np.lexsort((np.arange(len(workload)), workload.user_id))
    same = workload.user_id[by_user[1:]] == workload.user_id[by_user[:-1]]
    chosen = same & (np.random.default_rng(1).random(len(same)) < 0.1)
    after = Dependencies.from_pairs(by_user[1:][chosen], by_user[:-1][chosen], jobs=len(workload))
    workload = workload.replace(dependencies=after)
    whole = simulate(workload, scheduler)
    simulation = Simulation(workload, scheduler)
    simulation.run(int(np.median(workload.submit_time)))
    while not len(simulation.waiting):
        simulation.run(simulation.now + 600)
    simulation.save(tmp_path / "curie.sim")
    fork = simulation.fork()
    fork.run()
    subprocess.run([sys.executable, "-c", GO_ON, tmp_path / "curie.sim", tmp_path / "end.npz"], check=True)
    end = np.load(tmp_path / "end.npz")
    assert np.array_equal(end["start"], whole.start_time)
    assert np.array_equal(end["predicted"], whole.predicted_run_time)
    assert np.array_equal(end["times"], whole.corrections)
    assert outcome(fork.schedule()) == outcome(whole)


@pytest.mark.compiled
def test_compiled_too_a_simulation_on_a_cluster_goes_on_from_a_file_and_with_more_jobs(tmp_path):
    random = Random(5)
    cluster = random_cluster(random)
    jobs = random_jobs(random, cluster, 30)
    whole = simulate(jobs, "saf+easy", cluster=cluster)
    simulation = Simulation(jobs[:12], "saf+easy", cluster=cluster)
    simulation.run(int(jobs.submit_time[12]) - 1)
    simulation.save(tmp_path / "state.sim")
    for other in (Simulation.load(tmp_path / "state.sim"), simulation):
        other.submit(jobs[12:])
        assert other.run()
        assert outcome(other.schedule()) == outcome(whole)
        assert other.schedule().placement.node.tolist() == whole.placement.node.tolist()


def test_a_job_that_is_added_between_others_has_its_own_size_and_resources_in_its_priority():
    def jobs(*submit: int) -> sl.Workload:
        columns = {"submit_time": submit, "requested_processors": [1 if second else 8 for second in submit]}
        found = sl.Workload.from_columns(columns | dict.fromkeys(("run_time", "requested_time"), [1000] * len(submit)))
        whole = np.array(submit) == 50
        return found.replace(resources=Resources.of(len(submit), tasks=found.requested_processors, exclusive=whole))

    nodes = sl.Cluster.of_nodes([sl.cluster.NodeGroup.of("n[1-2]", cores=4)])
    simulation = Simulation(jobs(0, 50), "multifactor(size=1000,period=60,tres=cpu:100)+easy", cluster=nodes)
    simulation.run(until=10)
    simulation.submit(jobs(20))
    simulation.run(until=200)
    # One whole node of two: (4/8 + 1/2) / 2; one core: (1/8 + 1/2) / 2. Each asks for one core of eight.
    assert simulation.priorities().size.tolist() == [500.0, 312.5]
    assert simulation.priorities().tres.tolist() == [12.5, 12.5]
