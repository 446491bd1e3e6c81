"""A simulation that begins in the middle goes on as the whole one, where a scheduler remembers nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster.nodes import NodeGroup
from schedlab.errors import InputError

FORGETFUL = ["fcfs", "saf+easy", "fcfs+easy:sjf", '"w*q/p"+easy', "fcfs,window=3"]


def crowd(seed, jobs=120):
    rng = np.random.default_rng(seed)
    request = rng.integers(1, 900, jobs)
    return sl.Workload.from_columns(
        {
            "submit_time": np.sort(rng.integers(0, 20 * jobs, jobs)),
            "run_time": rng.integers(0, request + 1),
            "requested_time": request,
            "requested_processors": rng.integers(1, 17, jobs),
            "user_id": rng.integers(1, 9, jobs),
        },
        processors=32,
    )


def state(schedule, now):
    """Return the rows of the jobs that run or wait before the pass of a second, and when each started."""
    jobs = schedule.workload
    rows = np.flatnonzero((jobs.submit_time <= now) & (schedule.end_time > now))
    return rows, np.where(schedule.start_time < now, schedule.start_time, -1)[rows]


@pytest.mark.parametrize("scheduler", FORGETFUL)
@pytest.mark.parametrize("seed", range(3))
def test_from_the_middle_jobs_start_as_in_the_whole_simulation(scheduler, seed):
    jobs = crowd(seed)
    whole = sl.simulate(jobs, scheduler)
    for now in (700, 1_500):
        rows, start = state(whole, now)
        simulation = sl.Simulation.from_state(jobs[rows], start, now, scheduler=scheduler)
        later = np.flatnonzero(jobs.submit_time > now)
        simulation.submit(jobs[later])
        simulation.run()
        assert simulation.start_time.tolist() == whole.start_time[np.append(rows, later)].tolist()


@pytest.mark.parametrize("seed", range(3))
def test_of_jobs_of_whole_nodes_each_starts_as_in_the_whole_simulation(seed):
    cluster = sl.Cluster.of_nodes([NodeGroup.of("n[1-16]", cores=2)])
    jobs = crowd(seed, 80)
    jobs = jobs.replace(requested_processors=2 * jobs.requested_processors)
    whole = sl.simulate(jobs, "fcfs", cluster=cluster)
    rows, start = state(whole, 900)
    simulation = sl.Simulation.from_state(jobs[rows], start, 900, scheduler="fcfs", cluster=cluster)
    assert sorted(simulation.waiting) == np.flatnonzero(start < 0).tolist()
    later = np.flatnonzero(jobs.submit_time > 900)
    simulation.submit(jobs[later])
    simulation.run()
    assert simulation.start_time.tolist() == whole.start_time[np.append(rows, later)].tolist()


def test_under_conservative_backfilling_reservations_are_made_again_beside_the_running_jobs():
    # The second job needs the whole machine when the first has ended, at 100; the third would delay it, the fourth not.
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [0, 1, 2, 3],
            "run_time": [100, 50, 200, 90],
            "requested_time": [100, 50, 200, 90],
            "requested_processors": [2, 4, 2, 2],
        },
        processors=4,
    )
    simulation = sl.Simulation.from_state(jobs, [0, -1, -1, -1], 3, scheduler="fcfs+conservative")
    simulation.run()
    assert simulation.start_time.tolist() == [0, 100, 150, 3]


@pytest.mark.parametrize("scheduler", ["fcfs+slurm", "multifactor(age=1000,size=500)+slurm"])
def test_under_slurm_the_passes_begin_with_the_present_second(scheduler):
    # The second job needs the whole machine, when the first has ended; a backfill pass starts the third, which ends
    # before that, within its interval of 30 s.
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [0, 1, 2],
            "run_time": [4_000, 600, 600],
            "requested_time": [4_000, 600, 600],
            "requested_processors": [2, 4, 2],
            "user_id": [1, 2, 3],
        },
        processors=4,
    )
    simulation = sl.Simulation.from_state(jobs, [0, -1, -1], 1_000, scheduler=scheduler)
    simulation.run()
    first, second, third = simulation.start_time.tolist()
    assert first == 0
    assert 4_000 <= second <= 4_061  # the minute that a main pass may take to see the end
    assert 1_000 <= third <= 1_031


def test_run_times_that_are_set_later_decide_when_jobs_start():
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [0, 1, 2],
            "run_time": [90, 90, 90],
            "requested_time": [90] * 3,
            "requested_processors": [4] * 3,
        },
        processors=4,
    )
    simulation = sl.Simulation.from_state(jobs, [0, -1, -1], 10, scheduler="fcfs")
    simulation.set_run_times([0, 1], [20, 5])
    simulation.run()
    assert simulation.start_time.tolist() == [0, 20, 25]


def test_a_run_that_comes_to_outlive_its_prediction_has_it_corrected():
    # User 1's jobs have taken 10 s, so that the third one is expected until second 35; it turns out to take 80 s.
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [0, 1, 25, 26],
            "run_time": [10, 10, 5, 10],
            "requested_time": [100] * 4,
            "requested_processors": [4] * 4,
            "user_id": [1, 1, 1, 2],
        },
        processors=4,
    )
    simulation = sl.Simulation(jobs, "fcfs+easy@ave2/incremental")
    simulation.run(until=27)
    simulation.set_run_times([2], [80])
    simulation.run()
    schedule = simulation.schedule()
    assert schedule.start_time.tolist() == [0, 10, 25, 105]
    assert schedule.corrections[2] >= 1


@pytest.mark.parametrize(
    ("start", "now", "words"),
    [
        ([0, 7], 5, "job 2 starts after second 5"),
        ([0, 0], 5, "job 2 starts before it is submitted"),
        ([0, -1], 0, "job 2 is submitted after second 0"),
        ([0, -1], 60, "job 1 has ended by second 60: leave it out"),
        ([0], 5, "give one second per job"),
        ([0, 2], 5, "job 2 cannot run since second 2: it does not fit beside the other running jobs"),
    ],
)
def test_a_state_that_cannot_be_is_refused_with_the_job(start, now, words):
    jobs = sl.Workload.from_columns(
        {"submit_time": [0, 1], "run_time": [60, 60], "requested_time": [60, 60], "requested_processors": [3, 2]},
        processors=4,
    )
    with pytest.raises(InputError, match=words):
        sl.Simulation.from_state(jobs, start, now, scheduler="fcfs")


@pytest.mark.parametrize(("row", "seconds"), [(0, 10), (1, -1)])
def test_a_run_time_that_lies_in_the_past_is_refused(row, seconds):
    jobs = sl.Workload.from_columns(
        {"submit_time": [0, 1], "run_time": [60, 60], "requested_time": [60, 60], "requested_processors": [3, 2]},
        processors=4,
    )
    simulation = sl.Simulation.from_state(jobs, [0, -1], 10, scheduler="fcfs")
    with pytest.raises(InputError, match="has ended, or would end in the past"):
        simulation.set_run_times([row], [seconds])
