"""Forms that scores are fitted with: sums of known functions of a job, each with a coefficient that a fit finds.

The candidates are those of SC'17, (c1 α(p)) op1 (c2 β(q)) op2 (c3 γ(r)) from left to right, where α, β and γ are among
log10, inv, sqrt and id, and the operators among · + ÷: 576 ways to write 400 functions. Each is linear in at most three
products of its coefficients, and these products are what is fitted here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Functions = Callable[[Values, Values, Values], Sequence[Values]]

TINY = 1e-10
"""What the authors add to an argument before they take its logarithm or divide by it."""

BASES: Mapping[str, Callable[[Values], Values]] = {
    "log10": lambda x: np.log10(x + TINY),
    "inv": lambda x: 1 / (x + TINY),
    "sqrt": np.sqrt,
    "id": lambda x: x,
}
OPERATORS = ("*", "+", "/")

_TEXTS = {"log10": "log10({})", "inv": "1/{}", "sqrt": "sqrt({})", "id": "{}"}
_OTHER_WAY = {("/", "inv"): ("*", "id"), ("*", "inv"): ("/", "id")}
"""Two ways to write one function, and the one that is kept."""

Part = TypeVar("Part")


@dataclass(frozen=True)
class Form:
    """A sum of functions of a job, with a coefficient for each.

    Parameters
    ----------
    text
        What the form is called: its formula without coefficients.
    coefficients
        What the coefficients are called.
    terms
        The functions as texts, for formulas of a scheduler text.
    functions
        Computes the functions from arrays of run times (s), processors and submit times (s).
    twins
        Other texts of the same form.
    constants
        Numbers in the functions that were found otherwise, such as exponents.
    """

    text: str
    coefficients: tuple[str, ...]
    terms: tuple[str, ...]
    functions: Functions = field(repr=False, compare=False)
    twins: tuple[str, ...] = ()
    constants: Mapping[str, float] = field(default_factory=dict)

    def basis(self, p: Values, q: Values, r: Values) -> Values:
        """Return the functions of each job, an array of shape (jobs, functions)."""
        return np.column_stack([np.broadcast_to(column, p.shape) for column in self.functions(p, q, r)])

    def formula(self, values: Sequence[float]) -> str:
        """Return the policy with these coefficients, as a formula for a scheduler text.

        All are divided by the size of the first that is not zero, which leaves the order of jobs as it is.

        Examples
        --------
        >>> form = next(form for form in candidate_forms() if form.text == "log10(p)*q + log10(r)")
        >>> form.formula([2e-6, 0.0017])
        'log10(p)*q + 850*log10(r)'
        """
        unit = next((abs(value) for value in values if value), 1.0)
        text = ""
        for value, term in zip(values, self.terms, strict=True):
            if not value:
                continue
            size = f"{abs(value) / unit:.10g}"
            sign = ("-" if value < 0 else "") if not text else (" - " if value < 0 else " + ")
            text += f"{sign}{term}" if size == "1" else f"{sign}{size}*{term}"
        return text or "0*p"


def candidate_forms() -> list[Form]:
    """Return the 400 distinct forms of SC'17; each knows its twins among the 576 ways to write them.

    References
    ----------
    Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC
    2017, section 3.3. The guards against 0 are those of the authors' program.

    Examples
    --------
    >>> forms = candidate_forms()
    >>> len(forms), sum(1 + len(form.twins) for form in forms)
    (400, 576)
    """
    ways: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for first, second, alpha, beta, gamma in product(OPERATORS, OPERATORS, BASES, BASES, BASES):
        way = (alpha, first, beta, second, gamma)
        kept = (alpha, *_OTHER_WAY.get((first, beta), (first, beta)), *_OTHER_WAY.get((second, gamma), (second, gamma)))
        ways.setdefault(kept, []).append(way)
    return [_candidate(*kept, twins=tuple(_text(*way) for way in same if way != kept)) for kept, same in ways.items()]


def _candidate(alpha: str, first: str, beta: str, second: str, gamma: str, *, twins: tuple[str, ...]) -> Form:
    def functions(p: Values, q: Values, r: Values) -> list[Values]:
        divisor_q, divisor_r = (TINY if operator == "/" else 0.0 for operator in (first, second))
        values = BASES[alpha](p), BASES[beta](q + divisor_q), BASES[gamma](r + divisor_r)
        return _terms(first, second, *values, lambda operator, x, y: x * y if operator == "*" else x / y)

    def join(operator: str, x: str, y: str) -> str:
        return f"{x}{operator}{y}"

    texts = _TEXTS[alpha].format("p"), _guarded(first, beta, "q"), _guarded(second, gamma, "r")
    names = _terms(first, second, "c1", "c2", "c3", join)
    return Form(
        _text(alpha, first, beta, second, gamma),
        tuple(names),
        tuple(_terms(first, second, *texts, join)),
        functions,
        twins,
    )


def _terms(first: str, second: str, a: Part, b: Part, c: Part, join: Callable[[str, Part, Part], Part]) -> list[Part]:
    """Return the summands of (a op1 b) op2 c: one, two or three."""
    left = [a, b] if first == "+" else [join(first, a, b)]
    return [*left, c] if second == "+" else [join(second, x, c) for x in left]


def _text(alpha: str, first: str, beta: str, second: str, gamma: str) -> str:
    a, b, c = (_TEXTS[base].format(variable) for base, variable in ((alpha, "p"), (beta, "q"), (gamma, "r")))
    # A quotient needs brackets behind another operator than the sum.
    b, c = (
        f"({text})" if base == "inv" and operator != "+" else text
        for text, base, operator in ((b, beta, first), (c, gamma, second))
    )
    left = f"{a} + {b}" if first == "+" else f"{a}{first}{b}"
    if second == "+":
        return f"{left} + {c}"
    return f"({left}){second}{c}" if first == "+" else f"{left}{second}{c}"


def _guarded(operator: str, base: str, variable: str) -> str:
    """Return a factor, divisor or summand of a formula that gives a number for every job there can be.

    r may be 0, and log10(q) is 0 for a serial job: in products and quotients 0/0 and 0·∞ are kept away by what the fit
    adds too. A summand stays bare, as log10(r) in the published policies: it puts the first job of all first.
    """
    argument = variable
    if operator == "/" and (variable == "r" or base == "log10"):
        argument += "+2e-10" if base == "log10" else "+1e-10"
        return f"({argument})" if base == "id" else _TEXTS[base].format(argument)
    if operator == "*" and variable == "r" and base == "log10":
        argument += "+1e-10"
    return _TEXTS[base].format(argument)
