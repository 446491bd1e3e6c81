"""The four functions that regression finds best: Table 3 of SC'17 and Table 3.2 of the thesis, from the same scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from schedlab.learn import fit_scores, read_scores
from schedlab_papers.reproduction import Part, Reproduction, Row

SCORES = "sc17/score-distribution.csv.gz"
"""Beside the directory of traces."""


@dataclass(frozen=True, slots=True)
class Function:
    """One of the four, as printed.

    Parameters
    ----------
    name, form
        What the paper calls it, and what it is without its coefficients.
    constant
        Of log10(r), the other coefficient being 1.
    mae
        Mean absolute error; only the thesis prints it.
    """

    name: str
    form: str
    constant: float
    mae: float


FUNCTIONS = (
    Function("F1", "log10(p)*q + log10(r)", 8.70e2, 5.278e-3),
    Function("F2", "sqrt(p)*q + log10(r)", 2.56e4, 5.317e-3),
    Function("F3", "p*q + log10(r)", 6.86e6, 5.408e-3),
    Function("F4", "p*sqrt(q) + log10(r)", 5.30e5, 5.482e-3),
)

CUT_OFF = "The authors cut their constants off after three digits."
FROM_PRINTED = "Theirs was computed from coefficients printed with ten decimals, of which one is 0.0000000049."


def regression_tables(traces: Path, scores: Path | None, study: str, *, errors: bool = False) -> tuple[Part, ...]:
    """Fit all candidates to the published scores, and return the four best beside the published ones.

    Parameters
    ----------
    traces
        Directory with the traces; the scores are looked for beside it.
    scores
        Where they are instead.
    study
        Of which table this is.
    errors
        Whether the study prints their mean absolute errors.

    Raises
    ------
    InputError
        If `scores` is given and cannot be read.
    """
    path = traces.absolute().parent / SCORES if scores is None else scores
    what = "constants of the four best functions, by their rank among the 400 candidates"
    if scores is None and not path.is_file():
        return (Reproduction(f"{study}: {what}", "", (Row("scores", "", notes=(f"not found: {path}",)),)),)
    ranking = fit_scores(read_scores(path))
    constants, maes = [], []
    for function in FUNCTIONS:
        fit = ranking.choose(function.form)
        label = f"{function.name}, rank {ranking.fits.index(fit) + 1}"
        constant = fit.coefficients["c3"] / fit.coefficients["c1*c2"]
        note = FROM_PRINTED if function.name == "F3" else CUT_OFF
        constants.append(Row(label, function.form, function.constant, ours=constant, notes=(note,)))
        maes.append(Row(label, function.form, function.mae, ours=fit.mae))
    maes.append(Row("a constant", "", ours=ranking.constant_mae))
    tables = [Reproduction(f"{study}: {what}", "", tuple(constants))]
    if errors:
        tables.append(Reproduction(f"{study}: their mean absolute errors", "", tuple(maes)))
    return tuple(tables)
