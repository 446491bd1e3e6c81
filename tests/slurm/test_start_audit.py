"""Estimates of Slurm are judged by the starts that followed."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.slurm.start_audit import StartEstimates, audit_text, score_estimates, scores_by_lead


def estimates(*rows):
    """Return estimates from rows of run, job, asked, said, started."""
    return StartEstimates(*(np.array(column, dtype=np.int64) for column in zip(*rows, strict=True)))


FOUND = estimates(
    (0, 1, 0, 300, 400),  # 100 s too early, 300 s ahead
    (0, 1, 100, 500, 400),  # 100 s too late, asked later
    (0, 2, 0, 7_200, 3_600),  # an hour too late: a factor of 2
    (0, 3, 0, -1, 9_000),  # nothing was said
    (0, 4, 0, 500, -1),  # it never started
    (1, 1, 0, 100_000, 10_000),  # ten times too late
)


def test_only_what_was_said_of_jobs_that_started_is_judged():
    found = score_estimates(FOUND)
    assert found.estimates == 4
    assert found.median_error == (100 + 3_600) / 2
    assert (found.within_10_min, found.within_factor_2) == (0.5, 0.75)


def test_estimates_are_told_apart_by_how_far_ahead_they_lie():
    scores = scores_by_lead(FOUND)
    assert {name: one.estimates for name, one in scores.items()} == {
        "below 10 min": 2,
        "1 h to 4 h": 1,
        "above 1 d": 1,
    }
    assert scores["below 10 min"].bias == 0
    assert scores["1 h to 4 h"].bias == 3_600


def test_the_first_estimate_of_a_job_in_a_run_counts_once():
    assert np.flatnonzero(FOUND.first).tolist() == [0, 2, 5]


def test_the_sentence_tells_how_many_were_right_and_for_how_many_nothing_was_said():
    text = audit_text(FOUND)
    assert text.startswith("Of 4 starts that squeue --start named in 2 runs, 50% were right within 10 min")
    assert "It named none for 17%." in text


def test_where_nothing_was_said_nothing_is_judged():
    with pytest.raises(InputError, match="nothing can be judged"):
        score_estimates(estimates((0, 1, 0, -1, 5)))
