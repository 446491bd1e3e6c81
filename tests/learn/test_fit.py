"""Fits: exact, ranked, cross-validated; against published numbers, rational arithmetic and another optimiser."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_samples import score_table
from scipy.optimize import curve_fit

from schedlab.errors import InputError
from schedlab.learn.fit import file_facts, fit_scores
from schedlab.learn.forms import candidate_forms
from schedlab.learn.least_squares import DegenerateFitError, Problem
from schedlab.learn.scores import ScoreTable, read_scores
from schedlab.scheduler.scheduler import Scheduler

FORMS = {form.text: form for form in candidate_forms()}

PUBLISHED = [
    ("log10(p)*q + log10(r)", 0.0052776, 7.9907e-6, 0.0069596182, "8.70e2"),
    ("sqrt(p)*q + log10(r)", 0.0053168, 2.6239e-7, 0.0067364626, "2.56e4"),
    ("p*q + log10(r)", 0.0054076, 1.0768e-9, 0.0073580360, None),
    ("p*sqrt(q) + log10(r)", 0.0054818, 1.4021e-8, 0.0074444355, "5.30e5"),
    ("p*log10(q) + log10(r)", 0.0056680, 7.1551e-8, 0.0076147440, None),
]
"""Form, MAE, c1·c2 and c3 as an independent fit has them, constant of SC'17's table 3 (F3's comes from few digits)."""


@pytest.fixture(scope="module")
def scores(published_scores):
    return read_scores(published_scores)


@pytest.fixture(scope="module")
def ranking(scores):
    return fit_scores(scores)


def truncated(value):
    """Return a number with three digits, cut off and not rounded."""
    exponent = int(np.floor(np.log10(value)))
    return f"{np.floor(value / 10.0 ** (exponent - 2)) / 100:.2f}e{exponent}"


@pytest.mark.parametrize(("rank", "expected"), list(enumerate(PUBLISHED)))
def test_the_leaders_are_those_of_sc17(ranking, rank, expected):
    form, mae, product, age, constant = expected
    fit = ranking.fits[rank]
    assert fit.form == form
    assert f"{fit.mae:.7f}" == f"{mae:.7f}"
    assert f"{fit.coefficients['c1*c2']:.4e}" == f"{product:.4e}"
    assert fit.coefficients["c3"] == pytest.approx(age, rel=2e-8)
    if constant is not None:
        assert truncated(fit.coefficients["c3"] / fit.coefficients["c1*c2"]) == constant


def test_a_constant_beats_every_form_without_intercept(ranking):
    assert f"{ranking.constant_mae:.5f}" == "0.00416"
    assert len(ranking.fits) == 400
    assert not ranking.left_out


def test_without_weights_sums_lead(scores):
    best = fit_scores(scores, weights="none").fits[0]
    assert best.form == "log10(p) + sqrt(q) + log10(r)"
    assert f"{best.mae:.5f}" == "0.00516"


def exact(columns, target, weight):
    """Return the least-squares solution with two columns, in rational arithmetic."""
    rows = [[Fraction(float(value)) for value in (*row, y)] for row, y in zip(columns, target, strict=True)]
    squared = [Fraction(float(value)) ** 2 for value in weight]

    def product(i, j):
        return sum((w * row[i] * row[j] for w, row in zip(squared, rows, strict=True)), Fraction(0))

    a, b, d, x, y = product(0, 0), product(0, 1), product(1, 1), product(0, 2), product(1, 2)
    determinant = a * d - b * b
    return float((d * x - b * y) / determinant), float((a * y - b * x) / determinant)


@pytest.mark.parametrize("text", ["p*q + log10(r)", "log10(p)*q + log10(r)", "(p + 1/q)*r", "p/log10(q) + 1/r"])
def test_a_fit_is_as_exact_as_rational_arithmetic(text):
    table = score_table(lambda p, q, r: 1e-6 * p * q + 0.03 * np.log10(r), noise=0.05)
    p, q, r = (column.astype(float) for column in (table.run_time, table.processors, table.submit_time))
    (fit,) = [fit for fit in fit_scores(table).fits if fit.form == text]
    expected = exact(FORMS[text].basis(p, q, r), table.score, p * q)
    assert tuple(fit.coefficients.values()) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("log10(p)*q + log10(r)", lambda x, a, b: a * np.log10(x[0]) * x[1] + b * np.log10(x[2])),
        ("sqrt(p) + log10(q) + 1/r", lambda x, a, b, c: a * np.sqrt(x[0]) + b * np.log10(x[1]) + c / x[2]),
        ("(p + q)/sqrt(r)", lambda x, a, b: (a * x[0] + b * x[1]) / np.sqrt(x[2])),
        ("p*q*r", lambda x, a: a * x[0] * x[1] * x[2]),
    ],
)
@pytest.mark.parametrize("weights", ["area", "none"])
@pytest.mark.parametrize("intercept", [False, True])
def test_another_optimiser_finds_the_same(text, function, weights, intercept):
    table = score_table(lambda p, q, r: 0.03 + 1e-6 * p + 0.001 * q / r, noise=0.01)
    x = np.array([table.run_time, table.processors, table.submit_time], dtype=float)
    (fit,) = [one for one in fit_scores(table, weights=weights, intercept=intercept).fits if one.form == text]
    values = np.array(list(fit.coefficients.values()))
    # In units of the answer, so that the optimiser's steps fit every coefficient.
    model = (
        (lambda x, *c: function(x, *(c[:-1] * values[:-1])) + c[-1] * values[-1])
        if intercept
        else (lambda x, *c: function(x, *(c * values)))
    )
    sigma = 1 / (x[0] * x[1]) if weights == "area" else None
    # The models are linear in their coefficients, so that the slopes are known and constant.
    slopes = np.column_stack([model(x, *unit) - model(x, *np.zeros(len(values))) for unit in np.eye(len(values))])
    start = np.full(len(values), 0.7)
    found, _ = curve_fit(model, x, table.score, start, sigma=sigma, jac=lambda *_: slopes, ftol=1e-15, xtol=1e-15)
    np.testing.assert_allclose(found, 1, rtol=1e-6)
    assert fit.mae == pytest.approx(np.abs(model(x, *found) - table.score).mean(), rel=1e-6)


def test_the_cross_validated_error_is_that_of_fits_that_did_not_see_the_tuple():
    table = score_table(lambda p, q, r: 0.03 + 1e-6 * p * q, jobs=70, noise=0.01)
    p, q, r = (column.astype(float) for column in (table.run_time, table.processors, table.submit_time))
    (fit,) = [one for one in fit_scores(table, folds=3).fits if one.form == "p*q + log10(r)"]
    basis, weight = np.column_stack([p * q, np.log10(r)]), p * q
    errors = np.empty(70)
    for fold in range(3):
        held = table.group % 3 == fold
        coefficients = np.linalg.lstsq(basis[~held] * weight[~held, None], (table.score * weight)[~held])[0]
        errors[held] = np.abs(basis[held] @ coefficients - table.score[held])
    assert fit.cross_validated_mae == pytest.approx(errors.mean(), rel=1e-9)


def test_drawn_folds_keep_tuples_whole_and_follow_the_generator():
    table = score_table(lambda p, q, r: 1e-6 * p, noise=0.01)

    def folds(seed):
        rng = None if seed is None else np.random.default_rng(seed)
        return Problem(table, weighted=True, folds=5, rng=rng).fold

    for fold in (folds(None), folds(1)):
        assert all(len(np.unique(fold[table.group == group])) == 1 for group in range(32))
        assert np.bincount(fold).min() >= 60
    assert np.array_equal(folds(1), folds(1))
    assert not np.array_equal(folds(1), folds(2))


def test_with_a_single_tuple_there_is_no_cross_validation():
    table = score_table(lambda p, q, r: 1e-6 * p, jobs=10, noise=0.01)
    assert np.isnan(fit_scores(table).fits[0].cross_validated_mae)


@settings(max_examples=20)
@given(st.sampled_from(sorted(FORMS)), st.integers(0, 10**6))
def test_what_scores_were_made_with_is_found_again(text, seed):
    rng = np.random.default_rng(seed)
    form = FORMS[text]
    table = score_table(lambda p, q, r: np.ones(len(p)), seed=seed)
    basis = form.basis(*(column.astype(float) for column in (table.run_time, table.processors, table.submit_time)))
    values = rng.uniform(1, 2, basis.shape[1]) / np.abs(basis).mean(axis=0)
    solution = Problem(
        ScoreTable(
            table.run_time,
            table.processors,
            table.submit_time,
            basis @ values,
            table.standard_error,
            table.trials,
            table.group,
        ),
        weighted=False,
        folds=4,
        rng=None,
    ).solve(basis)
    np.testing.assert_allclose(
        basis @ solution.coefficients, basis @ values, rtol=1e-7, atol=1e-7 * np.abs(basis @ values).max()
    )


def test_an_intercept_is_found_and_left_out_of_the_policy():
    table = score_table(lambda p, q, r: 0.03 + 1e-7 * p * q + 0.002 * np.log10(r))
    best = fit_scores(table, intercept=True).fits[0]
    assert best.form == "p*q + log10(r)"
    assert best.coefficients["intercept"] == pytest.approx(0.03)
    assert best.policy == "p*q + 20000*log10(r)"


@pytest.mark.parametrize("age", [False, True])
def test_exponents_are_found(age):
    table = score_table(lambda p, q, r: 2e-3 * p**0.37 * q**0.81 + (0.05 * np.log10(r) if age else 0))
    text = "p**a*q**b + log10(r)" if age else "p**a*q**b"
    fits = fit_scores(table, forms="thesis").fits
    (fit,) = [one for one in fits if one.form == text]
    assert fit.coefficients["a"] == pytest.approx(0.37, rel=1e-5)
    assert fit.coefficients["b"] == pytest.approx(0.81, rel=1e-5)
    assert fit.coefficients["k"] == pytest.approx(2e-3, rel=1e-4)
    assert fit.cross_validated_mae < 1e-6
    assert fits[0].mae == pytest.approx(fit.mae, abs=1e-9)


def test_no_exponents_on_a_fine_grid_do_better(scores):
    (fit,) = [one for one in fit_scores(scores, forms="thesis").fits if one.form == "p**a*q**b"]
    problem = Problem(scores, weighted=True, folds=1, rng=None)
    grid = np.linspace(-1.5, 2, 29)
    others = [problem.solve((problem.p**a * problem.q**b)[:, None]).objective for a in grid for b in grid]
    assert fit.objective <= min(others)


def test_a_polynomial_finds_its_coefficients():
    table = score_table(lambda p, q, r: 2 * p + 3 * q - r + 0.5 * p * q)
    (fit,) = [one for one in fit_scores(table, forms="thesis").fits if one.form == "polynomial of degree 2"]
    assert fit.coefficients["p*q"] == pytest.approx(0.5)
    assert fit.coefficients["r"] == pytest.approx(-1)
    assert fit.coefficients["p*p"] == pytest.approx(0, abs=1e-9)


def alike(jobs, score):
    """Return a table of jobs that differ in their scores alone."""
    same = np.full(jobs, 8)
    return ScoreTable(same, same, same, score, np.full(jobs, np.nan), np.full(jobs, -1), np.arange(jobs))


def test_on_serial_jobs_the_logarithm_of_the_size_is_no_term():
    rng = np.random.default_rng(4)
    p, r = rng.integers(1, 9_000, 64), rng.integers(1, 9_000, 64)
    table = ScoreTable(p, np.ones(64), r, p / p.sum(), np.full(64, np.nan), np.full(64, -1), np.arange(64) // 8)
    ranking = fit_scores(table)
    assert not any("log10(q)" in fit.form for fit in ranking.fits)
    assert ranking.left_out["p + log10(q) + log10(r)"] == "log10(q) is 0 for every job"


def test_forms_whose_terms_are_one_are_left_out_and_named():
    ranking = fit_scores(alike(6, np.linspace(0.1, 0.2, 6)))
    assert ranking.left_out["p*q + log10(r)"] == "its terms are collinear on these jobs"
    assert all(len(fit.coefficients) == 1 for fit in ranking.fits)
    with pytest.raises(InputError, match="could not be fitted: its terms are collinear"):
        ranking.choose("p*q+log10(r)")


@pytest.mark.parametrize("jobs", [1, 2, 6])
@pytest.mark.parametrize("intercept", [False, True])
def test_jobs_that_are_alike_determine_no_exponents(jobs, intercept):
    with pytest.raises(InputError, match="none of the 5 forms can be fitted"):
        fit_scores(alike(jobs, np.linspace(0.1, 0.2, jobs)), forms="thesis", intercept=intercept)


def test_few_jobs_are_fitted_or_left_out_and_nothing_breaks():
    for jobs in range(3, 12):
        table = score_table(lambda p, q, r: 0.03 + 1e-6 * p, jobs=jobs, seed=jobs, noise=0.01)
        for intercept in (False, True):
            ranking = fit_scores(table, forms="thesis", intercept=intercept)
            assert len(ranking.fits) + len(ranking.left_out) == 5


def test_one_sentence_is_left_when_no_form_can_be_fitted():
    with pytest.raises(InputError, match="none of the 400 forms can be fitted to 6 scores: its terms are"):
        fit_scores(alike(6, np.linspace(0.1, 0.2, 6)), intercept=True)


@pytest.mark.parametrize(
    ("column", "reason"),
    [([0.0] * 10, "0 for every job"), ([np.inf] + [1.0] * 9, "not finite"), ([1e308] * 10, "too large")],
)
def test_columns_that_cannot_be_fitted_are_refused(column, reason):
    problem = Problem(score_table(lambda p, q, r: p, jobs=10), weighted=True, folds=2, rng=None)
    with np.errstate(all="ignore"), pytest.raises(DegenerateFitError, match=reason):
        problem.solve(np.array(column)[:, None])


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"weights": "r"}, "choose one of area, none"),
        ({"forms": "x"}, "paper, thesis, all"),
        ({"folds": 0}, "at least 1"),
    ],
)
def test_unknown_settings_are_refused(settings, reason):
    with pytest.raises(InputError, match=reason):
        fit_scores(score_table(lambda p, q, r: p), **settings)


def test_a_fit_is_chosen_by_rank_or_by_any_of_its_writings():
    ranking = fit_scores(score_table(lambda p, q, r: 1e-6 * p * q + 0.03 * np.log10(r)))
    best = ranking.fits[0]
    assert ranking.choose("1") is best
    assert ranking.choose("p*q+log10(r)") is best
    assert ranking.choose("p/(1/q) + log10(r)") is best
    with pytest.raises(InputError, match="rank 401 does not exist: 400 forms"):
        ranking.choose("401")
    with pytest.raises(InputError, match="unknown form 'area'"):
        ranking.choose("area")


def test_a_policy_file_knows_what_it_was_learned_from(tmp_path):
    table = score_table(lambda p, q, r: 1e-6 * p * q + 0.03 * np.log10(r), noise=1e-4)
    table.save(tmp_path / "scores.csv")
    ranking = fit_scores(table)
    policy = ranking.policy_file(ranking.fits[0], file_facts(tmp_path / "scores.csv"))
    assert policy.formula == ranking.fits[0].policy
    assert policy.training["scores"]["file"] == "scores.csv"
    assert len(policy.training["scores"]["sha256"]) == 64
    assert (policy.training["scores"]["jobs"], policy.training["scores"]["tuples"]) == (320, 32)
    assert policy.training["fit"] == {"weights": "area", "intercept": False, "forms": "paper", "folds": 10}
    assert "schedlab" in policy.training["versions"]


def test_every_policy_is_a_scheduler_text(ranking):
    for fit in ranking.fits:
        assert Scheduler.parse(f"{fit.policy}+easy").policy.text == f'"{fit.policy}"'
