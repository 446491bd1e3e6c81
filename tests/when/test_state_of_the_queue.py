"""The state at a second holds the jobs that run and wait, without what lies ahead of them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.errors import InputError
from schedlab.when.state import state_at


def four_jobs():
    """Return jobs of the whole machine that run at 0-50, 50-60, 60-90, 90-90."""
    return sl.Workload.from_columns(
        {
            "submit_time": [0, 10, 20, 30],
            "run_time": [50, 10, 30, 0],
            "requested_time": [80, 20, 40, 9],
            "requested_processors": [4] * 4,
            "user_id": [1] * 4,
        },
        processors=4,
    )


def at(second):
    state = state_at(sl.simulate(four_jobs(), "fcfs"), second)
    return state.jobs.job_id.tolist(), state.start_time.tolist(), state.jobs.run_time.tolist()


def test_jobs_that_run_have_their_starts_and_those_that_wait_have_none():
    assert at(25) == ([1, 2, 3], [0, -1, -1], [80, 20, 40])


def test_a_job_that_starts_in_this_second_still_waits_and_one_that_ends_in_it_is_gone():
    assert at(50) == ([2, 3, 4], [-1, -1, -1], [20, 40, 9])


def test_a_job_that_will_run_for_no_time_waits_until_its_second():
    assert at(90) == ([4], [-1], [9])
    assert at(91) == ([], [], [])


def test_a_running_job_beyond_its_request_is_taken_to_run_for_another_second():
    jobs = four_jobs().replace(requested_time=[30, 20, 40, 9], requests_enforced=False)
    state = state_at(sl.simulate(jobs, "fcfs"), 45)
    assert state.jobs.run_time.tolist()[0] == 46


def test_a_job_without_a_requested_time_is_refused_by_its_number():
    jobs = four_jobs().replace(requested_time=[80, -1, 40, 9])
    with pytest.raises(InputError, match="job 2 has no requested time"):
        state_at(sl.simulate(jobs, "fcfs"), 25)


def test_a_job_that_is_only_asked_about_waits_from_now_on():
    asked = four_jobs()[[3]].replace(job_id=[99], requested_time=[500])
    state = state_at(sl.simulate(four_jobs(), "fcfs"), 25).with_jobs(asked)
    assert state.jobs.job_id.tolist() == [1, 2, 3, 99]
    assert (state.start_time[-1], state.jobs.submit_time[-1], state.jobs.run_time[-1]) == (-1, 25, 500)
    assert np.flatnonzero(state.rows < 0).tolist() == [3]


def at_with_a_node_that_fails(second):
    """Return the state where the first job's node is down at 20-50, and the job runs at 0-20 and at 50-130."""
    jobs = sl.Workload.from_columns(
        {"submit_time": [0, 0], "run_time": [80, 100], "requested_time": [100] * 2, "requested_processors": [4] * 2},
        processors=8,
    )
    cluster = sl.Cluster.from_dict({"groups": [{"nodes": ["n1", "n2"], "cores": 4}]})
    first, second_node = cluster.nodes
    events = NodeEvents((NodeEvent(20, "down", (first,)), NodeEvent(50, "up", (first,))))
    schedule = sl.simulate(jobs, "fcfs", cluster=cluster, node_events=events)
    assert schedule.runs[["job", "start", "end"]].tolist() == [(0, 0, 20), (1, 0, 100), (0, 50, 130)]
    state = state_at(schedule, second)
    where = state.placement
    held = [
        [where.nodes[node] for node in where.node[begin:end]]
        for begin, end in itertools.pairwise(where.offsets.tolist())
    ]
    return state.jobs.job_id.tolist(), state.start_time.tolist(), held, [first, second_node]


@pytest.mark.parametrize(("second", "start", "runs"), [(10, 0, True), (30, -1, False), (60, 50, True)])
def test_a_job_whose_run_was_interrupted_runs_until_then_waits_and_runs_again(second, start, runs):
    jobs, starts, held, (first, other) = at_with_a_node_that_fails(second)
    assert (jobs, starts) == ([1, 2], [start, 0])
    assert held == [[first] if runs else [], [other]]
