"""ICPP'19: Table 1 exactly, the scenarios with few runs, and scenario 1 within the error of independent simulations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from schedlab.scheduler import Scheduler
from schedlab.speculate.generate import Application, stochastic_jobs
from schedlab.speculate.requests import requests_of
from schedlab_papers import icpp19
from schedlab_papers.icpp19_scenarios import METHODS, Setting, distributions_and_allocations, mixes, orders
from schedlab_papers.icpp19_sequences import table_1, theorem_1


def test_all_rows_of_table_1_come_out_with_the_makespans_of_an_independent_computation():
    rows = table_1().rows
    assert [row[4] for row in rows] == ["yes"] * 4
    assert [row[5] for row in rows] == pytest.approx([11.937461, 12.089411, 17.026639, 82.179316], abs=1e-6)
    assert [row[7] for row in rows] == pytest.approx([11.937461, 12.045124, 16.686236, 80.006973], abs=1e-6)


def test_theorem_1_is_right_with_the_maximum_and_wrong_with_the_minimum():
    printed, corrected, ours, direct = (row[1] for row in theorem_1().rows)
    assert corrected == pytest.approx(17.0266, abs=1e-4)
    assert ours == pytest.approx(direct)
    assert corrected == pytest.approx(direct)
    assert printed > 2 * corrected


def test_the_listed_history_is_that_of_the_jobs_before_in_the_list():
    jobs = stochastic_jobs([Application("uniform(1s,99s)", 5)], 1, rng=np.random.default_rng(1))
    jobs = jobs.replace(run_time=[5, 1, 9, 2, 3])
    assert requests_of(jobs, "neuroscience(k=2,listed)").lengths.tolist() == [3, 5, 5, 9, 9]
    assert requests_of(jobs, "neuroscience(k=9,listed)").lengths.tolist() == [9, 9, 5, 9, 9]


def test_a_single_job_has_no_history_and_asks_for_the_longest_run_time():
    jobs = stochastic_jobs([Application("uniform(1s,99s)", 1)], 1, rng=np.random.default_rng(1))
    assert requests_of(jobs, "neuroscience(k=10,listed)").lengths.tolist() == [99]


@pytest.mark.parametrize("method", METHODS.values())
def test_methods_are_scheduler_texts_that_read_back(method: str):
    text = f"laf+conservative,reservations=fixed,requests={method}"
    assert Scheduler.parse(Scheduler.parse(text).text) == Scheduler.parse(text)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return the text of scenarios 2 and 4 with two runs, and where it was made."""
    place = tmp_path_factory.mktemp("icpp19")
    plots = place / "plots"
    plots.mkdir()
    found = icpp19.reproduce(scenario=[2, 4], runs=2, directory=place / "runs", plots=plots)
    return str(found), place


def test_a_scenario_alone_has_its_tables_its_runs_and_its_figures(small: tuple[str, Path]):
    text, place = small
    assert "scenario 2 (Figure 5)" in text
    assert "scenario 1" not in text
    assert sorted(path.name for path in (place / "runs").glob("icpp19-*")) == ["icpp19-scenario2", "icpp19-scenario4"]
    assert sorted(path.name for path in (place / "plots").iterdir()) == ["icpp19-5.png", "icpp19-8.png"]


def test_a_second_time_nothing_is_simulated_again(small: tuple[str, Path]):
    text, place = small
    before = {path: path.stat().st_mtime_ns for path in (place / "runs").rglob("*.parquet")}
    assert str(icpp19.reproduce(scenario=[2, 4], runs=2, directory=place / "runs")) == text
    assert {path: path.stat().st_mtime_ns for path in (place / "runs").rglob("*.parquet")} == before


def test_speculation_helps_whoever_asks_for_the_longest_run_time(tmp_path: Path):
    means = mixes(Setting(tmp_path, 2)).groupby("method")["utilisation"].mean()
    assert means["HPC + speculation"] > 1.5 * means["HPC"]
    assert means["TOptimal + speculation"] > means["TOptimal"] > means["HPC"]


INDEPENDENT = {
    ("truncated normal, full", "HPC"): (0.540, 801),
    ("truncated normal, full", "Neuroscience"): (0.675, 629),
    ("truncated normal, full", "TOptimal"): (0.707, 604),
    ("truncated normal, half", "HPC"): (0.542, 401),
    ("truncated normal, half", "Neuroscience"): (0.672, 316),
    ("truncated normal, half", "TOptimal"): (0.704, 304),
    ("truncated normal, truncnorm", "HPC"): (0.514, 436),
    ("truncated normal, truncnorm", "Neuroscience"): (0.619, 345),
    ("truncated normal, truncnorm", "TOptimal"): (0.666, 325),
    ("truncated normal, beta", "HPC"): (0.511, 432),
    ("truncated normal, beta", "Neuroscience"): (0.617, 344),
    ("truncated normal, beta", "TOptimal"): (0.664, 322),
    ("Beta, full", "HPC"): (0.504, 50.0),
    ("Beta, full", "Neuroscience"): (0.534, 46.6),
    ("Beta, full", "TOptimal"): (0.556, 44.8),
    ("exponential, full", "HPC"): (0.064, 793),
    ("exponential, full", "Neuroscience"): (0.294, 188),
    ("exponential, full", "TOptimal"): (0.433, 89.5),
    ("Pareto, full", "HPC"): (0.094, 992),
    ("Pareto, full", "Neuroscience"): (0.345, 310),
    ("Pareto, full", "TOptimal"): (0.526, 140),
}
"""Utilisation and mean response in hours of the authors' public simulator on jobs of its own, 50 runs."""


@pytest.mark.slow
def test_scenario_1_is_within_the_sampling_error_of_the_authors_simulator(tmp_path: Path):
    frame = distributions_and_allocations(Setting(tmp_path, 50))
    for (workload, method), published in INDEPENDENT.items():
        own = frame[(frame["workload"] == workload) & (frame["method"] == method)]
        for measure, value, digit in zip(("utilisation", "response"), published, (0.0005, 0.5), strict=True):
            # Both sides are means of 50 runs; theirs is rounded.
            error = 4 * np.sqrt(2) * own[measure].std() / np.sqrt(50) + digit
            assert own[measure].mean() == pytest.approx(value, abs=error), (workload, method, measure)


@pytest.mark.slow
def test_the_ranking_depends_on_whether_reservations_move(tmp_path: Path):
    means = orders(Setting(tmp_path, 50)).groupby(["workload", "method"])["utilisation"].mean()["full"]
    assert means["HPC"] < means["Neuroscience"] < means["TOptimal"]
    assert means["HPC, moving"] > max(means["Neuroscience, moving"], means["TOptimal, moving"])
    # The same jobs in the authors' simulator, once with its reservations, once with its work-conserving queue.
    expected = {"HPC": 0.404, "Neuroscience": 0.641, "TOptimal": 0.671, "HPC, moving": 1.0}
    for method, value in expected.items():
        assert means[method] == pytest.approx(value, abs=0.015), method
