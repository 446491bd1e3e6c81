"""Formulas: what they compute, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.errors import InputError
from schedlab.scheduler.formula import DEEPEST, LONGEST, Formula

P, Q, R, W = [60, 3600, 1], [1, 64, 7], [0, 100, 86_400], [5, 0, 1000]


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("p", lambda p, q, r, w: p),
        ("p + q - r * w", lambda p, q, r, w: p + q - r * w),
        ("-p / q ** 2", lambda p, q, r, w: -p / q**2),
        ("p^2 - +q", lambda p, q, r, w: p**2 - q),
        ("2 ** 3 ** 2 * p", lambda p, q, r, w: 2**3**2 * p),
        ("(p - q) * (w - 1.5e1)", lambda p, q, r, w: (p - q) * (w - 15)),
        ("min(p, q, w) + max(r, 3)", lambda p, q, r, w: min(p, q, w) + max(r, 3)),
        ("log10(p) + log2(q) + ln(p) + log(q)", lambda p, q, r, w: math.log10(p) + math.log2(q) + math.log(p * q)),
        ("sqrt(p) + abs(q - p) + exp(-q)", lambda p, q, r, w: math.sqrt(p) + abs(q - p) + math.exp(-q)),
    ],
)
def test_a_formula_computes_what_python_computes(text, python):
    scores = Formula(text).scores(P, Q, R, W)
    np.testing.assert_allclose(scores, [python(*job) for job in zip(P, Q, R, W, strict=True)], rtol=1e-14)


def test_statistics_come_from_a_table_and_without_one_from_the_run_time():
    formula = Formula("m + x75/g - h*G")
    assert formula.uses_statistics
    assert formula.uses_run_time
    assert not Formula("p*q").uses_statistics
    table = np.array([[30.0], [20.0], [0.5], [100.0], [1.0], [2.0], [3.0], [40.0], [5.0]])
    assert formula.scores([7], [1], [0], statistics=table).tolist() == [30 + 40 / 20 - 50]
    # Of 7 s: h is 1/10, and G 7 x 10.
    assert formula.scores([7], [1], [0]).tolist() == pytest.approx([7 + 1 - 7])


def test_a_formula_of_many_jobs_is_computed_in_chunks_without_a_seam():
    p = np.arange(1, 5001)
    assert (Formula("2*p").scores(p, p, p) == 2.0 * p).all()


def test_division_by_zero_is_infinite_and_not_an_error():
    assert Formula("q/r").scores([1], [1], [0]).tolist() == [math.inf]
    assert Formula("log10(r)").scores([1], [1], [0]).tolist() == [-math.inf]


def test_only_formulas_with_w_change_with_time():
    assert Formula("w*p").uses_waiting_time
    assert not Formula("r*p").uses_waiting_time


def test_R_is_the_request_and_r_the_submit_time():
    assert Formula("R - p + 1000*r").scores([10], [1], [2], [0], [60]).tolist() == [2050.0]
    assert Formula("R").scores([10], [1], [2]).tolist() == [10.0]
    assert Formula("R*w").uses_request
    assert not Formula("r*w").uses_request


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("p +", "syntax error"),
        ("", "syntax error"),
        ("p q", "syntax error"),
        ("p * x", "'x' is not allowed"),
        ("__import__('os').system('true')", "is not allowed"),
        ("p.real", "'p.real' is not allowed"),
        ("p if q else r", "is not allowed"),
        ("[p for p in q]", "is not allowed"),
        ("(lambda: p)()", "is not allowed"),
        ("p < q", "is not allowed"),
        ("p % q", "is not allowed"),
        ("'p'", "is not allowed"),
        ("True", "is not allowed"),
        ("1j * p", "is not allowed"),
        ("sqrt(p, q)", "sqrt takes one argument"),
        ("min(p)", "min takes two or more arguments"),
        ("max(*p)", "takes two or more arguments"),
        ("sqrt(x=p)", "is not allowed"),
        ("open(p)", "is not allowed"),
        ("1e999 * p", "too large"),
        ("9" * 400 + "*p", "too large"),
        ("(" * 90 + "p" + ")" * 90 + "*x", "'x' is not allowed"),
        ("p+(" * (DEEPEST + 1) + "p" + ")" * (DEEPEST + 1), "nested"),
        ("-" * (LONGEST - 5) + "p", "nested"),
        ("p+" * LONGEST + "p", "characters long"),
    ],
)
def test_whatever_is_not_arithmetic_is_refused_in_one_sentence(text, reason):
    with pytest.raises(InputError, match=reason) as caught:
        Formula(text)
    assert "\n" not in str(caught.value)


@given(st.text(max_size=60) | st.text(alphabet="pqrwR+-*/()., 0123456789elogsqrtmin^", max_size=60))
def test_any_text_is_a_formula_or_refused(text):
    try:
        formula = Formula(text)
    except InputError:
        return
    assert formula.scores([1], [1], [1]).shape == (1,)
