"""Figures of learned policies: what is drawn where."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.learn.fit import fit_scores
from schedlab.learn.scores import ScoreTable
from schedlab.report.learning import (
    plot_policies,
    plot_score_precision,
    plot_scores_by_job,
    plot_trial_scores,
    save_learning_figures,
)


@pytest.fixture(scope="module")
def scores():
    """Two tuples of 32 jobs; within a tuple a score falls with the submit time, and jobs are not in order."""
    rng = np.random.default_rng(3)
    submit = np.concatenate([rng.permutation(32) * 100, rng.permutation(32) * 100])
    score = (64 - submit / 100) / np.sum(64 - np.arange(32))
    return ScoreTable(
        rng.integers(1, 10**4, 64),
        2 ** rng.integers(0, 8, 64),
        submit,
        score,
        np.where(np.arange(64) < 32, 0.001, np.nan),
        np.full(64, 1000),
        np.repeat([4, 9], 32),
    )


def test_scores_of_a_tuple_are_bars_from_their_mean_in_the_order_of_submission(scores):
    axes = plot_trial_scores(scores)
    bars = axes.patches
    tops = [bar.get_y() + bar.get_height() for bar in bars]  # type: ignore[attr-defined]
    np.testing.assert_allclose(tops, np.sort(scores.score[:32])[::-1])
    assert all(bar.get_y() == pytest.approx(1 / 32) for bar in bars)  # type: ignore[attr-defined]
    assert "tuple 4" in axes.get_title(loc="left")
    assert len(axes.collections) == 1  # standard errors are known
    assert not plot_trial_scores(scores, 9).collections


def test_a_tuple_that_is_not_there_is_refused(scores):
    with pytest.raises(InputError, match="tuple 5"):
        plot_trial_scores(scores, 5)


def test_scores_are_shown_over_all_three_numbers_of_a_job(scores):
    panels = plot_scores_by_job(scores).axes
    assert [axes.get_xlabel().split(",")[0] for axes in panels] == [
        "Run time p (s)",
        "Processors q",
        "Submit time r (s)",
    ]
    # Eight sizes are fewer than ten boxes: each has its own, but for the last two, which share one.
    assert [text.get_text() for text in panels[1].get_xticklabels()][:-1] == ["1", "2", "4", "8", "16", "32"]


def test_jobs_that_are_all_alike_make_one_box():
    same = np.full(8, 16)
    table = ScoreTable(same, same, same, np.linspace(0, 1, 8), np.full(8, np.nan), np.full(8, -1), np.zeros(8))
    assert [len(axes.get_xticklabels()) for axes in plot_scores_by_job(table).axes] == [1, 1, 1]


def test_precision_is_drawn_as_a_curve_for_each_sampling():
    curves = {"independent": ([100, 400, 1600], [0.2, 0.1, 0.05]), "common": ([128, 512], [0.02, 0.01])}
    axes = plot_score_precision(curves, target=0.02)
    one, other, target = axes.get_lines()
    assert one.get_ydata().tolist() == [0.2, 0.1, 0.05]
    assert other.get_xdata().tolist() == [128, 512]
    assert set(target.get_ydata()) == {0.02}


@pytest.mark.parametrize(("trials", "errors"), [([1, 2], [0.1]), ([], []), ([0, 2], [0.1, 0.1]), ([1, 2], [0.1, 0.0])])
def test_precision_needs_an_error_for_each_number(trials, errors):
    with pytest.raises(InputError, match="common: "):
        plot_score_precision({"common": (trials, errors)})


def test_heat_maps_show_the_order_of_a_policy():
    figure = plot_policies({"short": "spf", "early": "fcfs"}, largest=(1000, 64, 500), fixed=(10, 2, 50))
    panels = figure.axes[:6]
    assert len(figure.axes) == 7  # and the colour bar
    assert [axes.get_title(loc="left") for axes in (panels[0], panels[3])] == ["short", "early"]
    maps = [axes.collections[0].get_array() for axes in panels]
    assert (np.diff(maps[0], axis=1) >= 0).all()  # over p and q, spf is dark to the left, whatever the size
    assert (np.diff(maps[0], axis=0) == 0).all()
    assert (np.diff(maps[4], axis=0) >= 0).all()  # over p and r, fcfs is dark at the bottom
    assert maps[1].max() > 0.9
    assert panels[2].get_xlabel() == "Processors q, with p = 10"


def test_a_single_policy_needs_no_name():
    assert plot_policies('"p*q"').axes[0].get_title(loc="left") == '"p*q"'
    with pytest.raises(InputError, match="no policy"):
        plot_policies({})


def test_all_figures_are_written(scores, tmp_path):
    ranking = fit_scores(scores)
    files = save_learning_figures(ranking, tmp_path / "figures")
    assert [file.name for file in files] == ["trial-scores.png", "scores-by-job.png", "policies.png"]
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)
    assert not plt.get_fignums()
