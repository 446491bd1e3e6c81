"""The verbs of `learn`: policies from the scores of trial simulations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from schedlab.atomic import make_directory
from schedlab.cli.options import Json
from schedlab.cli.outputs import check_output
from schedlab.cli.terminal import note, show, show_json
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.learn.fit import Ranking

LEADERS = 10
"""Forms that are printed, unless it is said how many."""

OVERFITTED = 2
"""How much larger the cross-validated error may be before one is warned."""

NAMED = 3
"""Forms of those left out that a note names."""


def fit(
    scores: Annotated[
        Path, typer.Argument(metavar="SCORES", help="Scores of jobs: .parquet, .csv or .csv.gz, as published.")
    ],
    weights: Annotated[
        Literal["area", "none"],
        typer.Option(help="Weight of residuals: by the size of the job, as in SC'17, or all equal."),
    ] = "area",
    intercept: Annotated[
        bool, typer.Option("--intercept/--no-intercept", help="Add a constant to every form.")
    ] = False,
    forms: Annotated[
        Literal["paper", "thesis", "all"],
        typer.Option(help="Candidate forms: those of SC'17, the polynomials and powers of the thesis, or both."),
    ] = "paper",
    top: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", show_default="10; with --json, all", help="Number of forms to print."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Policy file to write, .json.")
    ] = None,
    choose: Annotated[str, typer.Option(metavar="FORM|RANK", help="Policy to write, by its rank or its form.")] = "1",
    plot: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Directory to write figures of the scores and the best forms to.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit functions of a job to scores, and print the best as policies."""
    from schedlab.learn.fit import file_facts, fit_scores
    from schedlab.learn.scores import read_scores
    from schedlab.learn.tables import ranking_text

    check_output(output, scores)
    if plot is not None:
        make_directory(plot)
    ranking = fit_scores(read_scores(scores), weights=weights, intercept=intercept, forms=forms)
    chosen = ranking.choose(choose)
    if output is not None:
        ranking.policy_file(chosen, file_facts(scores)).save(output)
        note(f"policy {output}: {chosen.policy}")
    if plot is not None:
        from schedlab.report.learning import save_learning_figures

        note(f"{count_of(len(save_learning_figures(ranking, plot)), 'figure')} are in {plot}")
    _note_left_out(ranking)
    if chosen.cross_validated_mae > OVERFITTED * chosen.mae:
        note(
            f"{chosen.form}: on tuples that it was not fitted to, its error is "
            f"{chosen.cross_validated_mae / chosen.mae:.0f} times as large; choose another form"
        )
    if as_json:
        show_json([one.to_dict() for one in ranking.fits[:top]])
    else:
        show(ranking_text(ranking, scores.name, LEADERS if top is None else top))


def _note_left_out(ranking: Ranking) -> None:
    """Say which forms have no fit, and why."""
    reasons: dict[str, list[str]] = {}
    for form, reason in ranking.left_out.items():
        reasons.setdefault(reason, []).append(form)
    for reason, forms in reasons.items():
        more = ", ..." if len(forms) > NAMED else ""
        note(f"left out, because {reason}: {count_of(len(forms), 'form')} ({', '.join(forms[:NAMED])}{more})")
