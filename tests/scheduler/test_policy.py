"""Ordering policies: their formulas by hand, their names, and a user's own functions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.scheduler.function_policy import FunctionPolicy
from schedlab.scheduler.policy import ALIASES, POLICIES, FormulaPolicy
from schedlab.scheduler.policy_text import policy_from_text

JOB = (100, 8, 1000, 50)  # p, q, r, w


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("fcfs", 1000),
        ("lcfs", -1000),
        ("spf", 100),
        ("lpf", -100),
        ("sqf", 8),
        ("lqf", -8),
        ("saf", 800),
        ("laf", -800),
        ("wfp3", -(0.5**3) * 8),
        ("unicef", -50 / (3 * 100)),
        ("f1", 2 * 8 + 870 * 3),
        ("f2", 10 * 8 + 25_600 * 3),
        ("f3", 800 + 6_860_000 * 3),
        ("f4", 100 * math.sqrt(8) + 530_000 * 3),
        ("smith", 8 * 100 * 100),
        ("gittins", 8 * 100 * 100),
    ],
)
def test_each_policy_scores_a_job_as_its_paper_says(name, score):
    """SC'17, Tables 2 and 3, worked by hand for p=100, q=8, r=1000, w=50."""
    (ours,) = POLICIES[name]().scores(*(np.array([value]) for value in JOB))
    assert ours == pytest.approx(score, rel=1e-12)


def test_every_policy_documents_itself():
    for name, policy in POLICIES.items():
        assert policy.name == name
        assert policy.__doc__
        assert policy_from_text(name.upper()) == policy()


def test_unicef_puts_serial_jobs_first_even_before_they_have_waited():
    scores = POLICIES["unicef"]().scores(*(np.array(x) for x in ([100, 1, 100], [1, 2, 1], [0, 0, 0], [0, 500, 9])))
    assert scores.tolist() == [-math.inf, -500.0, -math.inf]


def test_the_names_of_the_literature_are_aliases():
    assert all(policy_from_text(alias) == POLICIES[name]() for alias, name in ALIASES.items())


def test_an_unknown_policy_lists_the_known_ones():
    with pytest.raises(InputError, match=r"unknown policy 'fifo'; known are fcfs lcfs spf .* f4"):
        policy_from_text("fifo")


def test_a_formula_policy_is_written_in_quotes():
    assert FormulaPolicy("p*q").text == '"p*q"'
    with pytest.raises(InputError, match="quotation mark"):
        FormulaPolicy('p"q')


def test_a_function_is_asked_for_the_arrays_that_it_names():
    policy = FunctionPolicy(lambda q, p: p - q)
    assert policy.scores(*(np.array([value]) for value in JOB)).tolist() == [92.0]
    assert not policy.changes_with_time
    assert FunctionPolicy(lambda w: w).changes_with_time


def test_a_function_may_take_the_request():
    policy = FunctionPolicy(lambda p, R: R - p)
    assert policy.uses_request
    assert policy.scores(*(np.array([value]) for value in (10, 1, 0, 0, 60))).tolist() == [50.0]
    assert policy.scores(*(np.array([value]) for value in (10, 1, 0, 0))).tolist() == [0.0]
    assert not FunctionPolicy(lambda r: r).uses_request


def test_a_function_that_returns_too_few_scores_is_refused():
    with pytest.raises(InputError, match=r"<lambda>.* returned shape \(\) for 2 jobs"):
        FunctionPolicy(lambda p: p[0]).scores(*(np.array([1, 2]) for _ in range(4)))


def test_a_name_near_that_of_a_named_scheduler_is_told():
    with pytest.raises(InputError, match=r"known are fcfs .* the schedulers .* eaf .*\(did you mean eaf\?\)"):
        policy_from_text("eef")
