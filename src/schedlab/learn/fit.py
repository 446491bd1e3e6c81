"""Scores turned into policies: all forms are fitted, and ranked by their error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.learn.forms import Form, candidate_forms
from schedlab.learn.least_squares import DegenerateFitError, Problem, Solution
from schedlab.learn.scores import ScoreTable
from schedlab.learn.shapes import DEGREES, fit_power, polynomial, power
from schedlab.schedule.provenance import versions
from schedlab.scheduler.policy_file import PolicyFile
from schedlab.streams import file_sha256
from schedlab.wording import count_of

Weights = Literal["area", "none"]
Forms = Literal["paper", "thesis", "all"]

FOLDS = 10


@dataclass(frozen=True)
class Fit:
    """A form and the coefficients with which it fits the scores best.

    Parameters
    ----------
    form
        The formula without coefficients.
    mae
        Mean absolute error of all scores, unweighted: what forms are ranked by.
    cross_validated_mae
        The same, each score being predicted by a fit that did not see its tuple; NaN if there is only one tuple.
    objective
        The sum of squares that the fit minimised, weighted if the fit is.
    coefficients
        By name. Where a form has factors, only products of c1, c2 and c3 are determined.
    policy
        A formula that orders jobs as the fit does, for a scheduler text.
    twins
        Other ways to write the form among the candidates of SC'17.
    """

    form: str
    mae: float
    cross_validated_mae: float
    objective: float
    coefficients: Mapping[str, float]
    policy: str
    twins: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all that is known of the fit."""
        return asdict(self)


@dataclass(frozen=True)
class Ranking:
    """All fits, best first.

    Parameters
    ----------
    fits
        By their mean absolute error.
    left_out
        Forms that could not be fitted, and why.
    constant_mae
        The mean absolute error of a constant, the mean score: what a form without an intercept is up against.
    settings
        What the fit was told.
    scores
        What was fitted.
    """

    fits: tuple[Fit, ...]
    left_out: Mapping[str, str]
    constant_mae: float
    settings: Mapping[str, Any]
    scores: ScoreTable

    def choose(self, form: str) -> Fit:
        """Return the fit at a rank, counted from 1, or of a form in any of its writings.

        Raises
        ------
        InputError
            If there is no such rank or form; if the form could not be fitted, the message says why.
        """
        wanted = form.replace(" ", "")
        if wanted.isdigit():
            if not 1 <= int(wanted) <= len(self.fits):
                raise InputError(f"rank {form} does not exist: {count_of(len(self.fits), 'form')} could be fitted")
            return self.fits[int(wanted) - 1]
        for fit in self.fits:
            if wanted in (text.replace(" ", "") for text in (fit.form, *fit.twins)):
                return fit
        for text, reason in self.left_out.items():
            if wanted == text.replace(" ", ""):
                raise InputError(f"the form {text} could not be fitted: {reason}")
        raise InputError(f"unknown form {form!r}; give a rank, or a form as in the list, such as {self.fits[0].form}")

    def policy_file(self, fit: Fit, source: Mapping[str, Any] | None = None) -> PolicyFile:
        """Return a policy that can be saved, with what it was learned from.

        Parameters
        ----------
        fit
            One of `fits`.
        source
            What is known of the file of scores.
        """
        training = {
            "form": fit.form,
            "mae": fit.mae,
            "cross_validated_mae": None if np.isnan(fit.cross_validated_mae) else fit.cross_validated_mae,
            "rank": self.fits.index(fit) + 1,
            "fit": dict(self.settings),
            "scores": {
                **(source or {}),
                "jobs": len(self.scores),
                "tuples": len(np.unique(self.scores.group)),
                "provenance": dict(self.scores.provenance),
            },
            "versions": versions(),
        }
        return PolicyFile(fit.policy, dict(fit.coefficients), training)


@explained
def fit_scores(
    scores: ScoreTable,
    *,
    weights: Weights = "area",
    intercept: bool = False,
    forms: Forms = "paper",
    folds: int = FOLDS,
    rng: np.random.Generator | int | None = None,
) -> Ranking:
    """Fit all forms to scores, exactly, and rank them.

    Parameters
    ----------
    scores
        What is to be fitted.
    weights
        "area": a residual counts as much as its job is large (run time times processors), before it is squared, as in
        SC'17. "none": all count alike.
    intercept
        Whether each form has a constant too. Policies leave it out: it changes no order.
    forms
        "paper": the candidates of SC'17. "thesis": polynomials and powers, see `schedlab.learn.shapes`. Or "all".
    folds
        Parts of the tuples for the cross-validated error, at most.
    rng
        Draws the folds (a generator, or the seed of one); without it, tuples are dealt out in their order.

    Raises
    ------
    InputError
        If not one form can be fitted.

    References
    ----------
    Carastan-Santos and de Camargo, SC 2017, section 3.3 and table 3; equations 4 and 5.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> p, q, r = rng.integers(1, 10_000, 320), rng.integers(1, 64, 320), rng.integers(1, 5_000, 320)
    >>> score = 1e-6 * p * q + 0.01 * np.log10(r)
    >>> unknown, tuples = np.full(320, np.nan), np.repeat(np.arange(10), 32)
    >>> best = fit_scores(ScoreTable(p, q, r, score, unknown, np.full(320, -1), tuples)).fits[0]
    >>> best.form, best.policy
    ('p*q + log10(r)', 'p*q + 10000*log10(r)')
    """
    rng = None if rng is None else np.random.default_rng(rng)
    for name, value, known in (("weights", weights, get_args(Weights)), ("forms", forms, get_args(Forms))):
        if value not in known:
            raise InputError(f"{name}={value!r}: choose one of {', '.join(known)}")
    if folds < 1:
        raise InputError(f"folds={folds}: must be at least 1")
    problem = Problem(scores, weighted=weights == "area", folds=folds, rng=rng)
    columns = (scores.run_time, scores.processors, scores.submit_time)
    fits: list[Fit] = []
    left_out: dict[str, str] = {}
    silent = [f"log10({name})" for name, column in zip("pqr", columns, strict=True) if (column == 1).all()]
    for name, attempt in _attempts(problem, forms, intercept):
        try:
            for term in silent:
                if term in name:  # but for the guard against 0, which is all that a fit would see
                    raise DegenerateFitError(f"{term} is 0 for every job")
            with np.errstate(all="ignore"):  # what is not finite is seen, named and left out
                form, solution = attempt()
            fits.append(_fit(form, solution, intercept))
        except DegenerateFitError as error:
            left_out[name] = str(error)
    if not fits:
        reason = next(iter(left_out.values()))
        given = count_of(len(scores), "score")
        raise InputError(f"none of the {len(left_out)} forms can be fitted to {given}: {reason}")
    fits.sort(key=lambda fit: fit.mae)
    settings = {"weights": weights, "intercept": intercept, "forms": forms, "folds": problem.folds}
    constant = float(np.abs(scores.score - scores.score.mean()).mean())
    return Ranking(tuple(fits), left_out, constant, settings, scores)


def _attempts(
    problem: Problem, forms: Forms, intercept: bool
) -> Iterator[tuple[str, Callable[[], tuple[Form, Solution]]]]:
    """Give each form's name, and what fits it."""

    def linear(form: Form) -> tuple[Form, Solution]:
        basis = form.basis(problem.p, problem.q, problem.r)
        return form, problem.solve(np.column_stack([basis, np.ones(len(basis))]) if intercept else basis)

    if forms != "thesis":
        for form in candidate_forms():
            yield form.text, partial(linear, form)
    if forms != "paper":
        for degree in DEGREES:
            form = polynomial(degree)
            yield form.text, partial(linear, form)
        for age in (False, True):
            yield power(1, 1, age=age).text, partial(fit_power, problem, age=age, intercept=intercept)


def _fit(form: Form, solution: Solution, intercept: bool) -> Fit:
    values = solution.coefficients.tolist()
    names = (*form.coefficients, "intercept") if intercept else form.coefficients
    return Fit(
        form.text,
        solution.mae,
        solution.cross_validated_mae,
        solution.objective,
        {**form.constants, **dict(zip(names, values, strict=True))},
        form.formula(values[: len(form.terms)]),
        form.twins,
    )


def file_facts(path: str | PathLike[str]) -> dict[str, str]:
    """Return the name and the SHA-256 of a file, for the provenance of what was made from it.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    return {"file": Path(path).name, "sha256": file_sha256(path)}
