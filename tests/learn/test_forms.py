"""The candidate forms: how many, what they compute, and that their formulas say the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schedlab.learn.forms import candidate_forms
from schedlab.learn.shapes import polynomial, power
from schedlab.scheduler.formula import Formula
from schedlab.scheduler.scheduler import Scheduler

FORMS = {form.text: form for form in candidate_forms()}
OTHERS = [*(polynomial(degree) for degree in (1, 2, 3)), power(-0.3, 1.25, age=False), power(0.5, 2, age=True)]
numbers = st.floats(-1e6, 1e6).filter(lambda value: abs(value) > 1e-6)
jobs = st.tuples(st.integers(1, 10**7), st.integers(1, 10**5), st.integers(0, 10**8))


def named(text):
    return FORMS[text]


def test_576_candidates_are_400_forms():
    texts = [text for form in FORMS.values() for text in (form.text, *form.twins)]
    assert (len(FORMS), len(texts), len(set(texts))) == (400, 576, 576)


def test_a_division_by_an_inverse_is_a_multiplication():
    assert named("log10(p)*q + log10(r)").twins == ("log10(p)/(1/q) + log10(r)",)
    assert set(named("p/q/r").twins) == {"p*(1/q)*(1/r)", "p*(1/q)/r", "p/q*(1/r)"}


def test_twins_are_equal_functions_and_forms_are_not():
    # Run as Python, for jobs whose logarithms are not 0: no guard matters.
    p, q, r = (np.array(values, dtype=float) for values in ([7, 30, 911], [3, 5, 64], [11, 400, 77]))
    seen = {}
    for text, form in FORMS.items():
        for writing in (text, *form.twins):
            names = {"p": p, "q": q, "r": r, "log10": np.log10, "sqrt": np.sqrt}
            value = eval(writing, {"__builtins__": {}}, names)
            np.testing.assert_allclose(value, form.basis(p, q, r).sum(axis=1), rtol=1e-8)
        seen.setdefault(tuple(np.round(np.log(np.abs(value)), 9)), []).append(text)
    assert all(len(texts) == 1 for texts in seen.values())


@pytest.mark.parametrize(
    ("text", "names", "terms"),
    [
        ("p*q*r", ("c1*c2*c3",), ("p*q*r",)),
        ("log10(p)*q + log10(r)", ("c1*c2", "c3"), ("log10(p)*q", "log10(r)")),
        ("(sqrt(p) + 1/q)/log10(r)", ("c1/c3", "c2/c3"), ("sqrt(p)/log10(r+2e-10)", "1/q/log10(r+2e-10)")),
        ("1/p + log10(q) + 1/r", ("c1", "c2", "c3"), ("1/p", "log10(q)", "1/r")),
        ("p/log10(q)/r", ("c1/c2/c3",), ("p/log10(q+2e-10)/(r+1e-10)",)),
        ("p*q*log10(r)", ("c1*c2*c3",), ("p*q*log10(r+1e-10)",)),
    ],
)
def test_a_form_is_linear_in_products_of_its_coefficients(text, names, terms):
    assert (named(text).coefficients, named(text).terms) == (names, terms)


def test_the_guards_are_those_of_the_authors():
    serial = named("p/log10(q)*r").basis(np.array([5.0]), np.array([1.0]), np.array([2.0]))
    assert serial[0, 0] == 5.0 / np.log10(1 + 1e-10 + 1e-10) * 2
    first = named("p + q + log10(r)").basis(np.array([1.0]), np.array([1.0]), np.array([0.0]))
    assert first[0, 2] == pytest.approx(-10)


@pytest.mark.parametrize("form", [*FORMS.values(), *OTHERS], ids=lambda form: form.text)
def test_a_formula_orders_jobs_as_the_fit_does(form):
    rng = np.random.default_rng(2)
    p, q, r = rng.integers(1, 10**5, 40), rng.integers(2, 256, 40), rng.integers(1, 10**5, 40)
    values = rng.uniform(0.5, 2, len(form.terms)) * rng.choice([-1, 1], len(form.terms))
    fitted = form.basis(*(column.astype(float) for column in (p, q, r))) @ values / abs(values[0])
    scores = Formula(form.formula(values)).scores(p, q, r)
    np.testing.assert_allclose(scores, fitted, rtol=1e-6, atol=1e-9 * np.abs(fitted).max())


def test_a_division_by_the_logarithm_of_one_processor_is_what_was_fitted():
    form = named("p/log10(q)/r")
    fitted = form.basis(np.array([7.0]), np.array([1.0]), np.array([0.0]))[0]
    assert Formula(form.formula([1.0])).scores([7], [1], [0]) == pytest.approx(fitted, rel=1e-6)


@given(st.sampled_from([*FORMS.values(), *OTHERS]), st.data(), st.lists(jobs, min_size=1, max_size=5))
def test_no_formula_gives_what_is_not_a_number(form, data, some):
    values = data.draw(st.lists(numbers, min_size=len(form.terms), max_size=len(form.terms)))
    p, q, r = zip(*some, strict=True)
    assert not np.isnan(Formula(form.formula(values)).scores(list(p), list(q), list(r))).any()


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((2e-6, 0.0017), "log10(p)*q + 850*log10(r)"),
        ((-2e-6, 0.0017), "-log10(p)*q + 850*log10(r)"),
        ((-2e-6, -2e-6), "-log10(p)*q - log10(r)"),
        ((0.0, 3.0), "log10(r)"),
        ((0.0, 0.0), "0*p"),
    ],
)
def test_coefficients_are_divided_by_a_positive_number(values, text):
    form = named("log10(p)*q + log10(r)")
    assert form.formula(values) == text
    assert Scheduler.parse(f"{text}+easy").text == f'"{text}"+easy'


def test_a_polynomial_has_all_monomials_of_its_degree():
    # Of three variables there are (d+1)(d+2)(d+3)/6 monomials up to degree d, the constant among them.
    assert [len(polynomial(degree).terms) for degree in (1, 2, 3)] == [3, 9, 19]
    values = polynomial(2).basis(*(np.array([value]) for value in (2.0, 3.0, 5.0)))
    assert values.tolist() == [[2, 3, 5, 4, 6, 10, 9, 15, 25]]
