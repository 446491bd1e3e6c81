"""Requests from past runs."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.speculate.costs import AffineCost
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.history import distribution_of_runs, evaluate_last_maximum, read_runs

HOUR = 3600


@pytest.mark.parametrize("last", [1, 10])
@pytest.mark.parametrize("zeta", [0.0, 0.5])
def test_the_maximum_of_the_last_runs_costs_what_a_simulation_says(last, zeta):
    distribution = RunTimeDistribution.parse("exponential(0h,15h,mean=1h)")
    runs = distribution.sample(np.random.default_rng(4), 40_000 * (last + 1)).reshape(-1, last + 1)
    run, request = runs[:, 0], np.maximum(runs[:, 1:].max(axis=1), 1.0)
    lost = np.zeros(len(run))
    while (run > request).any():
        late = run > request
        lost[late] += request[late]
        request[late] *= 1.5
    ends = np.maximum(lost + request, (lost + run) / (1 - zeta))
    found = evaluate_last_maximum(distribution, last, zeta=zeta)
    assert found.makespan == pytest.approx(ends.mean(), abs=4 * ends.std() / len(ends) ** 0.5)


def test_one_run_time_needs_one_request():
    distribution = RunTimeDistribution.parse("discrete(1h:1.0)")
    found = evaluate_last_maximum(distribution, 3, cost=AffineCost(1, 1, 60))
    assert (found.attempts, found.cost) == (1, 2 * HOUR + 60)


def test_runs_of_no_time_do_not_go_on_for_ever():
    assert evaluate_last_maximum(RunTimeDistribution.parse("discrete(0s:0.9,100s:0.1)"), 1).attempts < 3


def test_the_distributions_of_runs():
    runs = [1 * HOUR, 2 * HOUR, 4 * HOUR, 9 * HOUR]
    assert distribution_of_runs(runs).high == 9 * HOUR
    assert distribution_of_runs(runs, cut=5 * HOUR).high == 4 * HOUR
    assert distribution_of_runs(runs, "interpolated").cdf(3 * HOUR) == pytest.approx(0.5)
    assert distribution_of_runs(runs, "gamma", cut=20 * HOUR).high == 20 * HOUR
    assert distribution_of_runs(runs, "best", cut=20 * HOUR).high <= 20 * HOUR


@pytest.mark.parametrize(
    ("runs", "distribution", "cut", "part"),
    [
        ([], "empirical", None, "there are no runs"),
        ([5, 5], "empirical", None, "all 2 runs take the same time, 5s"),
        ([0, 0], "empirical", None, "all runs take 0 s"),
        ([5, -1], "empirical", None, "run 2 takes -1 s"),
        ([5, float("nan")], "empirical", None, "run 2 takes nan s"),
        ([5, 6], "normal", None, "unknown distribution of runs 'normal'"),
        ([5, 6], "empirical", 2, "beyond|longer than the cut"),
        ([5, 6], "empirical", 5, "there is only one run within the cut, 5s, of 5s"),
        ([5], "best", None, "there is only one run, of 5s: a distribution needs two"),
        ("abc", "empirical", None, "runs are numbers of seconds, not 'abc'"),
        ([5, 1e300], "best", None, r"run 2 takes 1e\+300 s; it must be from 0 to 1e\+15 s"),
        ([5, None, "x"], "empirical", None, "runs are numbers of seconds"),
    ],
)
def test_bad_runs_are_refused(runs, distribution, cut, part):
    with pytest.raises(InputError, match=part):
        distribution_of_runs(runs, distribution, cut=cut)


def test_runs_are_read_from_a_column(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("60\n2m\n\n")
    assert read_runs(path).tolist() == [60, 120]
    path.write_text("seconds\n60\n")
    assert read_runs(path).tolist() == [60]
    path.write_text("id,took\n1,60\n2,1h\n")
    assert read_runs(path, "took").tolist() == [60, 3600]


@pytest.mark.parametrize(
    ("text", "column", "part"),
    [
        ("", None, "there are no runs"),
        ("seconds\n", None, "there are no runs"),
        ("a,b\n1,2\n", None, "name that of the run times, as in column=b"),
        ("3600,\n7200,\n", None, r"line 1: there are 2 columns without names; write one run time per line"),
        ("job1,5\njob2,6\n", None, r"line 1: there are 2 columns without names"),
        ("took,id,\n1,2,\n", None, "name that of the run times, as in column=id"),
        ("a,a\n1,2\n", "a", "line 1: 2 columns are called 'a'; rename one"),
        ("1e300\n60\n", None, "line 1: '1e300' is too long"),
        ("a,b\n1,2\n", "c", "no column 'c'; there are a, b"),
        ("a\n1\nsoon\n", None, "line 3: 'soon' is not a duration"),
        ("a,b\n1,2\n1\n", "b", "line 3: '' is not a duration"),
        ("-5\n", None, "line 1: a run takes -5 s"),
    ],
)
def test_a_bad_file_of_runs_is_named_with_its_line(tmp_path, text, column, part):
    path = tmp_path / "runs.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=part) as caught:
        read_runs(path, column)
    assert "runs.csv" in str(caught.value)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_runs(tmp_path / "none.csv")
    (tmp_path / "runs.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not text in UTF-8"):
        read_runs(tmp_path / "runs.csv")
