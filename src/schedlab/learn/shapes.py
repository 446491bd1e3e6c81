"""Forms that the thesis proposes to try: polynomials of a job's numbers, and powers of its run time and size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from schedlab.learn.forms import BASES, Form, Values
from schedlab.learn.least_squares import DegenerateFitError, Problem, Solution

Real = NDArray[np.float64]

DEGREES = (1, 2, 3)

STARTS = (-1.0, -0.5, 0.25, 0.5, 1.0, 1.5)
"""Exponents from which the search begins: the best pair of these."""

LARGEST_EXPONENT = 5.0


def polynomial(degree: int) -> Form:
    """Return the polynomial of p, q and r of this total degree, without its constant.

    References
    ----------
    Carastan-Santos' thesis, section 3.4.

    Examples
    --------
    >>> polynomial(2).terms
    ('p', 'q', 'r', 'p*p', 'p*q', 'p*r', 'q*q', 'q*r', 'r*r')
    """
    monomials = [factors for size in range(1, degree + 1) for factors in combinations_with_replacement("pqr", size)]
    names = tuple("*".join(factors) for factors in monomials)

    def functions(p: Values, q: Values, r: Values) -> list[Values]:
        values = {"p": p, "q": q, "r": r}
        return [np.prod([values[factor] for factor in factors], axis=0) for factors in monomials]

    return Form(f"polynomial of degree {degree}", names, names, functions)


def power(a: float, b: float, *, age: bool) -> Form:
    """Return p^a q^b, with or without a term log10(r), for given exponents.

    References
    ----------
    Carastan-Santos' thesis, section 3.4.

    Examples
    --------
    >>> power(0.5, 1, age=True).formula([2.0, -3.0])
    'p**0.5*q**1 - 1.5*log10(r)'
    """

    def functions(p: Values, q: Values, r: Values) -> list[Values]:
        area = p**a * q**b
        return [area, BASES["log10"](r)] if age else [area]

    return Form(
        "p**a*q**b + log10(r)" if age else "p**a*q**b",
        ("k", "c") if age else ("k",),
        (f"p**{a:.10g}*q**{b:.10g}", "log10(r)") if age else (f"p**{a:.10g}*q**{b:.10g}",),
        functions,
        constants={"a": a, "b": b},
    )


def fit_power(problem: Problem, *, age: bool, intercept: bool) -> tuple[Form, Solution]:
    """Find the exponents and the coefficients of `power` that fit best.

    For given exponents the rest is linear, so only the two exponents are searched for (variable projection, Golub and
    Pereyra 1973), from the best of a fixed set of starts. For the cross-validated error they are searched for again in
    each fold.

    Raises
    ------
    DegenerateFitError
        If there is no such best pair: run times and sizes do not vary enough, the exponents run away, or the terms
        cannot be told apart.
    """

    def basis(exponents: Real) -> Real:
        a, b = exponents
        columns = power(a, b, age=age).basis(problem.p, problem.q, problem.r)
        return np.column_stack([columns, np.ones(len(columns))]) if intercept else columns

    shape = np.column_stack([np.ones(len(problem.p)), np.log(problem.p), np.log(problem.q)])
    if np.linalg.matrix_rank(shape) < shape.shape[1]:
        raise DegenerateFitError("run times and sizes do not vary enough for two exponents")
    everything = np.ones(len(problem.target), dtype=bool)
    starts = [np.array([a, b]) for a in STARTS for b in STARTS]
    best, _ = _search(problem, basis, everything, starts)
    if np.abs(best).max() > 0.999 * LARGEST_EXPONENT:
        raise DegenerateFitError(f"its exponents diverge beyond {LARGEST_EXPONENT:g}")
    solution = problem.solve(basis(best))
    validated = np.nan
    if problem.folds > 1:
        errors = np.empty(len(problem.target))
        for fitted, left_out in problem.held_out():
            exponents, coefficients = _search(problem, basis, fitted, [best])
            errors[left_out] = np.abs(problem.target - basis(exponents) @ coefficients)[left_out]
        validated = float(errors.mean())
    a, b = (float(exponent) for exponent in best)
    form = power(a, b, age=age)
    return form, Solution(solution.coefficients, solution.objective, solution.mae, validated)


def _search(
    problem: Problem, basis: Callable[[Real], Real], rows: NDArray[np.bool_], starts: Sequence[Real]
) -> tuple[Real, Real]:
    """Return the exponents, and the coefficients of the basis that they give, that fit some rows best."""
    from scipy.optimize import least_squares

    weight = problem.weight[rows]
    target = problem.target[rows] * weight

    def project(exponents: Real) -> tuple[Real, Real]:
        if not np.isfinite(exponents).all():
            raise DegenerateFitError("its exponents cannot be determined")
        columns = basis(exponents)[rows] * weight[:, None]
        scale = np.linalg.norm(columns, axis=0)
        coefficients = np.linalg.lstsq(columns / scale, target)[0] / scale
        return coefficients, columns @ coefficients - target

    begin = min(starts, key=lambda exponents: float(np.sum(project(exponents)[1] ** 2)))

    def residual(exponents: Real) -> Real:
        return project(exponents)[1]

    bounds = (-LARGEST_EXPONENT, LARGEST_EXPONENT)
    found = least_squares(residual, begin, jac="3-point", bounds=bounds, ftol=1e-14, xtol=1e-12, gtol=None)
    return found.x, project(found.x)[0]
