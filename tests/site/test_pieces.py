"""Jobs in pieces, each after the one before, and the schedule of the whole jobs."""

from __future__ import annotations

import numpy as np

from schedlab.engine.reference.simulate import simulate_plain
from schedlab.site.pieces import folded, in_pieces
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload


def jobs_of(submit, run, asked, size, **more):
    columns = {"submit_time": submit, "run_time": run, "requested_time": asked, "requested_processors": size}
    return Workload.from_columns(columns, processors=4, **more)


def test_pieces_have_the_length_and_the_last_one_the_rest_of_run_and_request():
    found = in_pieces(jobs_of([0], [130], [200], [2]), np.array([60]))
    assert found.jobs.run_time.tolist() == [60, 60, 10]
    assert found.jobs.requested_time.tolist() == [60, 60, 60]
    assert found.jobs.submit_time.tolist() == [0, 0, 0]
    found = in_pieces(jobs_of([0], [130], [150], [2]), np.array([60]))
    assert found.jobs.requested_time.tolist() == [60, 60, 30]


def test_a_job_that_runs_beyond_its_request_is_still_killed_there():
    found = in_pieces(jobs_of([0], [500], [150], [2]), np.array([60]))
    assert found.jobs.run_time.tolist() == [60, 60, 380]
    assert found.jobs.requested_time.tolist() == [60, 60, 30]


def test_what_waits_for_a_job_waits_for_its_last_piece_and_what_it_waits_for_holds_up_its_first():
    after = Dependencies.from_pairs([1, 2], [0, 1], [5, 7], jobs=3)
    jobs = jobs_of([0, 0, 0], [10, 100, 10], [10, 100, 10], [1, 1, 1], dependencies=after)
    found = in_pieces(jobs, np.array([0, 60, 0]))
    assert found.of.tolist() == [0, 1, 1, 2]
    waits = found.jobs.dependencies
    told = list(zip(waits.children.tolist(), waits.parents.tolist(), waits.delay.tolist(), strict=True))
    assert told == [(1, 0, 5), (2, 1, 0), (3, 2, 7)]


def test_components_of_a_heterogeneous_job_go_in_step():
    asked = Resources.of(2, tasks=np.array([1, 2]), het_job=Labels.of(["7", "7"]))
    found = in_pieces(jobs_of([0, 0], [100, 30], [100, 100], [1, 2], resources=asked), np.array([60, 60]))
    assert found.of.tolist() == [0, 1, 0]
    assert found.jobs.resources.het_job.texts() == ["7", "7", "7/2"]
    waits = found.jobs.dependencies
    assert sorted(zip(waits.children.tolist(), waits.parents.tolist(), strict=True)) == [(2, 0), (2, 1)]


def test_the_pieces_of_an_array_are_arrays_with_the_same_bound():
    asked = Resources.of(2, tasks=np.array([1, 1]), array=Labels.of(["3", "3"]), array_limit=np.array([1, 1]))
    found = in_pieces(jobs_of([0, 0], [100, 100], [100, 100], [1, 1], resources=asked), np.array([60, 60]))
    assert found.jobs.resources.array.texts() == ["3", "3/2", "3", "3/2"]
    assert found.jobs.resources.array_limit.tolist() == [1, 1, 1, 1]


def test_the_wait_of_a_whole_job_is_that_of_all_its_pieces():
    """First come first served on four processors.

    The long job has two pieces of 60 and 40 s. The first starts at once; the other job, of all four processors, came in
    at 5 and takes 60 to 90; the second piece runs from 90 to 130. So it has waited 30 s for its result, and the other
    one 55 s.
    """
    jobs = jobs_of([0, 5], [100, 30], [100, 30], [4, 4])
    found = in_pieces(jobs, np.array([60, 0]))
    whole = folded(simulate_plain(found.jobs, "fcfs"), jobs, found.of)
    assert whole.wait_time.tolist() == [30, 55]
    assert whole.end_time.tolist() == [130, 90]
    assert whole.run_time.tolist() == [100, 30]
    assert sorted(zip(*(whole.runs[name].tolist() for name in ("job", "start", "end")), strict=True)) == [
        (0, 0, 60),
        (0, 90, 130),
        (1, 60, 90),
    ]
    metrics = whole.metrics()
    assert metrics["mean_wait"] == 42.5
    assert metrics["utilisation"] == 1.0
    assert metrics["mean_bounded_slowdown"] == (1.3 + 85 / 30) / 2
