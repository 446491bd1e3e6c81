"""What jobs with a distribution ask for, by method."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.engine import simulate
from schedlab.errors import InputError
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.requests import requests_of, tables_of
from schedlab.workload.workload import Workload

LAW = "truncnorm(0h,20h,mu=8h,sigma=2h)"
HOUR = 3_600


def jobs() -> Workload:
    columns = {
        "submit_time": [0, 0, 10],
        "run_time": [8 * HOUR, HOUR, 12 * HOUR],
        "requested_time": [-1, 2 * HOUR, 99 * HOUR],
        "requested_processors": [10, 1, 20],
    }
    workload = Workload.from_columns(columns, processors=100)
    return workload.replace(distribution=np.array([0, -1, 0]), distributions=(LAW,))


def asked(method: str | None, workload: Workload) -> list[list[float]]:
    requests = requests_of(workload, method)
    parts = np.split(requests.lengths, requests.offsets[1:-1])
    return [(part / HOUR).tolist() for part in parts]


def test_classic_jobs_ask_for_the_end_of_the_distribution_and_others_for_what_they_request():
    assert asked("classic", jobs()) == [[20], [2], [20]]


def test_toptimal_is_the_sequence_that_the_paper_prints():
    """Gainaru et al., ICPP 2019, table 1, to whole seconds."""
    assert asked("toptimal", jobs())[0] == pytest.approx([10.8, 13.4, 15.4, 17.1, 18.7, 20], abs=1 / HOUR)


def test_atoptimal_with_much_small_work_asks_for_more_at_first():
    first = [asked(f"atoptimal(zeta={zeta})", jobs())[0][0] for zeta in (0.1, 0.5, 0.9)]
    assert first == sorted(first)
    assert first[-1] == pytest.approx(17.2, abs=0.3)


def test_the_share_of_small_jobs_is_read_off_the_workload():
    workload = jobs()
    busy = workload.replace(submit_time=np.array([0, 0, 10 * HOUR]))
    # The job without a distribution takes 1 of 100 processors for 1 of 10 hours.
    assert asked("atoptimal(zeta=auto)", busy) == asked("atoptimal(zeta=0.001)", busy)


def test_all_methods_finish_all_jobs():
    for method in ("classic", "neuroscience(k=2)", "toptimal", "atoptimal(zeta=0.3)"):
        for text in ("fcfs+easy", "laf+conservative,reservations=fixed"):
            schedule = simulate(jobs(), f"{text},requests={method}")
            assert not schedule.killed.any()
            assert schedule.run_time.tolist() == jobs().run_time.tolist()


def test_a_job_that_runs_longer_than_its_distribution_allows_asks_for_more_or_is_given_up():
    long = jobs().replace(run_time=np.array([50 * HOUR, HOUR, 12 * HOUR]))

    def asked_by_the_first(exhausted: str) -> list[int]:
        schedule = simulate(long, f"fcfs,requests=classic{exhausted}")
        assert schedule.killed.tolist() == [exhausted.endswith("give-up"), False, False]
        return [int(run["request"]) // HOUR for run in schedule.runs if run["job"] == 0]

    assert asked_by_the_first("") == [20, 30, 45, 67]
    assert asked_by_the_first(",exhausted=2") == [20, 40, 80]
    assert asked_by_the_first(",exhausted=give-up") == [20]


def test_sequences_that_are_given_are_asked_for_to_whole_seconds():
    workload = jobs().replace(sequences=("5399.5s, 20h",))
    assert asked("given", workload) == [[1.5, 20], [2], [1.5, 20]]


def test_a_sequence_that_is_not_given_is_named():
    with pytest.raises(InputError, match=r"requests=given, but none are given for truncnorm"):
        requests_of(jobs(), "given")


def test_tiny_shares_of_small_jobs_are_read():
    assert asked("atoptimal(zeta=1e-05)", jobs()) == asked("atoptimal(zeta=0.00001)", jobs())


def test_without_a_method_jobs_ask_for_what_they_request():
    schedule = simulate(jobs()[1:], "fcfs+conservative,reservations=fixed")
    assert schedule.attempts.tolist() == [1, 1]


def test_a_job_without_distribution_and_request_is_refused():
    workload = jobs().replace(requested_time=np.array([-1, -1, -1]))
    with pytest.raises(InputError, match="job 2 has no requested time"):
        requests_of(workload, "toptimal")


def test_tables_of_distributions_give_the_distribution():
    distribution = RunTimeDistribution.parse(LAW)
    tables = tables_of((LAW,))
    seconds = np.array([3.3, 8.0, 17.77]) * HOUR
    grid = tables.begin[0] + tables.step[0] * np.arange(tables.below.shape[1])
    assert np.interp(seconds, grid, tables.below[0]) == pytest.approx(distribution.cdf(seconds), abs=1e-6)
    assert np.interp(seconds, grid, tables.part[0]) == pytest.approx(
        distribution.partial_mean(seconds), rel=1e-3, abs=1e-2
    )
