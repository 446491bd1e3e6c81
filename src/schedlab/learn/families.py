"""Parametric families of ordering policies: each makes the text of a formula over p q r w out of a vector of numbers.

Waiting time enters linearly as r: all waiting jobs age alike, so that `score - c*w` orders a queue as `score + c*r`
does, and the score stays fixed, which is several times faster to simulate. Only families whose ageing is not linear
have w.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from schedlab.learn.forms import candidate_forms
from schedlab.scheduler.formula import Formula
from schedlab.workload.workload import Workload

KINDS = ("forms", "power", "linear", "expected")
"""What `families` can be asked for; the last says something of its own only where p is a prediction."""

DIGITS = 4
"""Significant digits of a coefficient."""

SAMPLE = 2_000
"""Number of jobs from which the magnitudes of a formula's terms are estimated."""

STEEPEST = 2.0
"""Powers of p and q lie within this and its negative: beyond, a power only tells the largest, or the smallest, jobs
from all others, and a search drifts there to please single windows."""

STEEPEST_AGEING = 3.0
"""Powers of waiting times are at most this, that of WFP3, and at least 0: waiting does not set a job back."""

Coefficients = dict[str, float]


@dataclass(frozen=True, slots=True)
class JobSample:
    """Jobs that are typical of those that a policy is to order: what a formula sees of them, as int64 arrays.

    Examples
    --------
    >>> jobs = JobSample(*np.array([[60, 600], [1, 8], [0, 100]]))
    >>> jobs.spread_of("p*q")
    2370.0
    """

    p: NDArray[np.int64]
    q: NDArray[np.int64]
    r: NDArray[np.int64]

    @classmethod
    def of(cls, workloads: Iterable[Workload]) -> JobSample:
        """Return about `SAMPLE` jobs, evenly from all workloads; p is the requested time, or else the run time."""
        columns = [
            (np.where(jobs.requested_time > 0, jobs.requested_time, jobs.run_time), jobs.job_processors, since_first)
            for jobs in workloads
            for since_first in [jobs.submit_time - jobs.submit_time.min()]
        ]
        p, q, r = (np.concatenate(column) for column in zip(*columns, strict=True))
        step = max(1, len(p) // SAMPLE)
        return cls(np.maximum(p[::step], 1), q[::step], r[::step])

    def spread_of(self, term: str) -> float:
        """Return the standard deviation of a term over the jobs for which it is finite; 1 if it does not vary."""
        values = Formula(term).scores(self.p, self.q, self.r)
        spread = float(np.std(values[np.isfinite(values)])) if np.isfinite(values).any() else 0.0
        return spread if 0 < spread < np.inf else 1.0


@dataclass(frozen=True, slots=True)
class Family:
    """Formulas of one shape.

    Parameters
    ----------
    name
        How tables call it.
    start
        The vector that a search begins with.
    spread
        Standard deviation of its first steps, number by number.
    coefficients
        Makes the coefficients of the formula out of a vector.
    write
        Makes the text of the formula out of its coefficients.

    Examples
    --------
    >>> family = power_families(JobSample(*np.array([[60, 600], [1, 8], [0, 100]])))[0]
    >>> family.name, family.formula(np.array([1.0, 0.5, 7.0]))
    ('power', 'p*q**0.5 + 3.191e-5*r')
    """

    name: str
    start: tuple[float, ...]
    spread: tuple[float, ...]
    coefficients: Callable[[NDArray[np.float64]], Coefficients]
    write: Callable[[Coefficients], str]

    def rounded(self, vector: NDArray[np.float64]) -> Coefficients:
        """Return the coefficients for a vector, as they are printed."""
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a search may go anywhere
            return {name: float(f"{value:.{DIGITS}g}") for name, value in self.coefficients(vector).items()}

    def formula(self, vector: NDArray[np.float64]) -> str:
        """Return the formula for a vector."""
        return self.write(self.rounded(vector))


def power_families(jobs: JobSample) -> list[Family]:
    """Return products and a sum of powers of p and q, with ageing.

    `power`: p^a q^b + d r, where d is such that a job of typical size makes good its own score in 10^x seconds, x being
    searched for. `power-age`: p^a q^b / (1 + w/t)^c. `power-stretch`: p^a q^b / (1 + w/p)^c, as WFP3 ages.
    `power-sum`: p^a/a + c q^b/b + d r, where a power of 0 is the logarithm: between the smallest area first (a = b = 0,
    c = 1) and whatever is short or narrow first (a, b < 0). Powers are kept within `STEEPEST` and `STEEPEST_AGEING`.
    """
    size, width = (float(np.exp(np.log(values).mean())) for values in (jobs.p, jobs.q))

    def linear_ageing(vector: NDArray[np.float64]) -> Coefficients:
        *powers, age = vector
        a, b = _bounded(powers)
        return {"a": a, "b": b, "d": size**a * width**b / 10**age}

    def ageing(vector: NDArray[np.float64]) -> Coefficients:
        angle, c, age = vector
        return {"a": np.sqrt(2) * np.cos(angle), "b": np.sqrt(2) * np.sin(angle), "c": _ageing(c), "t": 10**age}

    def summing(vector: NDArray[np.float64]) -> Coefficients:
        *powers, proportion, age = vector
        a, b = _bounded(powers)
        return {"a": a, "b": b, "c": size**a / width**b * 10**proportion, "d": size**a / 10**age}

    def stretching(vector: NDArray[np.float64]) -> Coefficients:
        angle, c = vector
        return {"a": np.sqrt(2) * np.cos(angle), "b": np.sqrt(2) * np.sin(angle), "c": _ageing(c)}

    saf = np.pi / 4
    return [
        Family("power", (1.0, 1.0, 7.0), (0.5, 0.5, 1.0), linear_ageing, _written_power),
        Family("power-age", (saf, 0.3, 4.0), (0.3, 0.3, 1.0), ageing, _written_age),
        Family("power-stretch", (saf, 0.3), (0.3, 0.3), stretching, _written_stretch),
        Family("power-sum", (0.0, 0.0, 0.0, 7.0), (0.5, 0.5, 0.3, 1.0), summing, _written_sum_of_powers),
    ]


def _bounded(powers: Sequence[float]) -> list[float]:
    return [float(power) for power in np.clip(powers, -STEEPEST, STEEPEST)]


def _ageing(power: float) -> float:
    return min(max(power, 0.0), STEEPEST_AGEING)


def _written_power(numbers: Coefficients) -> str:
    return f"{_size_term(numbers)} + {number(numbers['d'])}*r"


def _written_age(numbers: Coefficients) -> str:
    return _aged(numbers, number(numbers["t"]))


def _written_stretch(numbers: Coefficients) -> str:
    return _aged(numbers, "p")


def _aged(numbers: Coefficients, scale: str) -> str:
    """Return the size over a power of the waiting time; a power of 0 is not written, and so costs nothing."""
    size = _size_term(numbers)
    return f"{size}/(1 + w/{scale})**{number(numbers['c'])}" if numbers["c"] else size


def _written_sum_of_powers(numbers: Coefficients) -> str:
    terms = [_integrated("p", numbers["a"], 1.0), _integrated("q", numbers["b"], numbers["c"])]
    return weighted_sum([*terms, (numbers["d"], "r")])


def _integrated(variable: str, exponent: float, weight: float) -> tuple[float, str]:
    """Return weight and text of x^a/a, the function whose slope over the logarithm of x is x^a."""
    if exponent == 0:
        return weight, f"log({variable})"
    return weight / exponent, _power(variable, exponent)


def _size_term(numbers: Coefficients) -> str:
    return f"{_power('p', numbers['a'])}*{_power('q', numbers['b'])}"


def linear_families(jobs: JobSample) -> list[Family]:
    """Return weighted sums of job characteristics, each weighted by its spread over the jobs.

    `linear`: p, q, r, p q, p/q and q/p. `linear-log`: all products up to the second degree of log p and log q, and r.

    References
    ----------
    Legrand, Trystram and Zrigui, "Adapting batch scheduling to workload characteristics: what can we expect from online
    learning?", IPDPS 2019: scores that are linear in characteristics of the job.
    """
    saf_of_logs = {"log(p)": 1.0, "log(q)": 1.0}
    squares = ("log(p)**2", "log(p)*log(q)", "log(q)**2")
    return [
        _weighted_sum("linear", ("p", "q", "r", "p*q", "p/q", "q/p"), {"p*q": 1.0}, jobs),
        _weighted_sum("linear-log", (*saf_of_logs, "r", *squares), saf_of_logs, jobs),
    ]


def expected_families(jobs: JobSample) -> list[Family]:
    """Return the ageing areas of expected run times: log(p) + b log(q) + c log(R) + r/t, fixed at submission.

    With b = 1 and c = 0 it is the area p q that counts e times less with each t of waiting; c draws p to the request R.
    """

    def weights(vector: NDArray[np.float64]) -> Coefficients:
        *powers, age = vector
        b, c = _bounded(powers)
        return {"b": b, "c": c, "t": 10**age}

    def write(numbers: Coefficients) -> str:
        powers = weighted_sum([(1.0, "log(p)"), (numbers["b"], "log(q)"), (numbers["c"], "log(R)")])
        return f"{powers} + r/{number(numbers['t'])}"

    return [Family("expected", (1.0, 0.0, 7.0), (0.5, 0.3, 1.0), weights, write)]


def _weighted_sum(name: str, features: Sequence[str], saf: Coefficients, jobs: JobSample) -> Family:
    """Return weighted sums of features; `saf` are the weights that order as smallest area first does."""
    spreads = np.array([jobs.spread_of(feature) for feature in features])
    start = np.array([saf.get(feature, 0.0) for feature in features]) * spreads

    def weights(vector: NDArray[np.float64]) -> Coefficients:
        leader = int(np.argmax(np.abs(vector)))
        raw = vector / spreads
        # Only proportions order jobs: the heaviest term gets the weight 1.
        raw /= abs(raw[leader]) or 1.0
        return dict(zip(features, raw.tolist(), strict=True))

    start /= np.linalg.norm(start)
    return Family(name, tuple(start.tolist()), (0.3,) * len(features), weights, _written_weights)


def _written_weights(weights: Coefficients) -> str:
    return weighted_sum([(weight, term) for term, weight in weights.items()])


def form_families(jobs: JobSample) -> list[Family]:
    """Return the candidate functions of SC'17 with every choice of signs.

    Each of the 400 functions is a sum of one to three terms. The first term has the weight 1 or -1; those of the others
    are free, and start where the terms vary alike over the jobs.

    References
    ----------
    Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC
    2017, equation 3.
    """
    forms = candidate_forms()
    spreads = {term: jobs.spread_of(term) for term in {term: None for form in forms for term in form.terms}}
    return [
        _form(form.terms, signs, [spreads[form.terms[0]] / spreads[term] for term in form.terms])
        for form in forms
        for signs in product((1, -1), repeat=len(form.terms))
    ]


def _form(terms: tuple[str, ...], signs: tuple[int, ...], balance: Sequence[float]) -> Family:
    names = [f"c{i + 1}" for i in range(len(terms))]

    def coefficients(vector: NDArray[np.float64]) -> Coefficients:
        sizes = [1.0, *(np.array(balance[1:]) * 10**vector).tolist()]
        return {name: sign * size for name, sign, size in zip(names, signs, sizes, strict=True)}

    def write(numbers: Coefficients) -> str:
        return weighted_sum([(numbers[name], term) for name, term in zip(names, terms, strict=True)])

    name = f"form {weighted_sum(list(zip(signs, terms, strict=True)))}"
    free = len(terms) - 1
    return Family(name, (0.0,) * free, (1.0,) * free, coefficients, write)


def weighted_sum(parts: Sequence[tuple[float, str]]) -> str:
    """Return the text of a sum of weighted terms.

    Examples
    --------
    >>> weighted_sum([(1, "p*q"), (-870, "log10(r)"), (0, "q")])
    'p*q - 870*log10(r)'
    """
    text = ""
    for weight, term in parts:
        if weight == 0:
            continue
        size = number(abs(weight))
        weighted = term if size == "1" else f"{size}{term[1:]}" if term.startswith("1/") else f"{size}*{term}"
        sign = "-" if weight < 0 else "+"
        text += f" {sign} {weighted}" if text else f"{'-' if weight < 0 else ''}{weighted}"
    return text or "0"


def number(value: float) -> str:
    """Return a number with `DIGITS` significant digits, briefly.

    Examples
    --------
    >>> number(12345678), number(0.5), number(1.0)
    ('1.235e7', '0.5', '1')
    """
    mantissa, letter, exponent = f"{value:.{DIGITS}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if letter else mantissa


def _exponent(value: float) -> str:
    return number(value) if value >= 0 else f"({number(value)})"


def _power(variable: str, exponent: float) -> str:
    return variable if exponent == 1 else f"{variable}**{_exponent(exponent)}"
