"""The page of a backtest of start forecasts: how often intervals held, beside what operators could tell without it."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.report.illustrations import Illustration, illustrate
from schedlab.report.page import Page, write_page
from schedlab.report.style import COLOURS, duration_ticks, legend, line_look, percent_ticks, styled_axes
from schedlab.report.tables import Cell, Table, seconds_cell, waits_cells
from schedlab.schedule.provenance import versions
from schedlab.when.backtests import Backtest
from schedlab.when.methods import CHOSEN, FORKED
from schedlab.when.recalibration import FEWEST, TAUS
from schedlab.when.scores import Score, covered
from schedlab.when.texts import at_once_sentences, lead_sentence
from schedlab.wording import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 50
"""Missed forecasts that the page names."""

PROMISED = 0.8

FEW = 30
"""Judged jobs below which the figure leaves a class out."""

ABOUT_SCORES = (
    "The pinball loss is twice its mean over the quantiles 10 % to 90 %, about the CRPS; of a point, it is the "
    "mean absolute error. Intervals of shares are of 95 %, by resampling weeks."
)


def write_backtest(found: Backtest, path: str | PathLike[str], *, command: str = "") -> Path:
    """Write a backtest as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    found
        The backtest.
    path
        The file; an existing one is replaced.
    command
        What the user typed.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    return write_page(path, lambda: render_backtest(found, command=command))


def render_backtest(found: Backtest, *, command: str = "") -> str:
    """Return a backtest as HTML; see `write_backtest`."""
    scores = {method: found.score(method) for method in found.methods}
    return Page().render(
        "schedule.html.j2",
        kind="Backtest of start forecasts",
        title=f"{found.name}: {scores[CHOSEN].coverage:.0%} of the 80 % intervals held",
        lead=f"{count_of(scores[CHOSEN].jobs, 'job')} that had to wait, each forecast at its submission",
        sentences=[lead_sentence(found, scores)],
        details=[*at_once_sentences(found), *_grounds(found, scores)],
        leading=[_methods(scores), _classes(found)],
        chart=_figures(found),
        chart_heading="Forecasts and what came",
        over_time=[],
        tables=[_missed(found)],
        command=command,
        provenance=versions() | {"scheduler": found.scheduler, "seed": str(found.seed)},
    )


def _grounds(found: Backtest, scores: dict[str, Score]) -> list[str]:
    """Return how the forecasts compare, and what they rest on."""
    used, best = len(found) - int(found.judged.sum()), scores[CHOSEN]
    told = []
    for name in found.baselines:
        one = scores[name]
        share, held = one.width / max(best.width, 1.0), f"{one.coverage:.0%} held"
        told.append(f"Intervals of the {name} are {share:.1f} times as wide as those of the forecasts, and {held}.")
    told.append(
        f"{count_of(used, 'forecast')} of the first half served to recalibrate and to choose the method"
        f"{'' if used >= FEWEST else f'; at least {FEWEST} are needed, so nothing was recalibrated at first'}."
    )
    told.append("Each forecast used only what was known at its moment; the settings of the method are fixed.")
    if found.left_out:
        told.append(f"{count_of(found.left_out, 'job')} left out: the state at the submission could not be simulated.")
    return told


def _methods(scores: dict[str, Score]) -> Table:
    head = [Cell("Forecast", words=True), Cell("Median error"), Cell("Pinball loss"), Cell("80 % hold")]
    head += [Cell("By weeks"), Cell("Width"), Cell("Within 10 min"), Cell("Within a factor 2")]
    rows = []
    for name, one in scores.items():
        row = [Cell(name, words=True), seconds_cell(one.median_error), seconds_cell(one.pinball), *_held(one)]
        row.append(Cell("–") if np.isnan(one.coverage) else seconds_cell(one.width))
        rows.append([*row, _share(one.within_10_min), _share(one.within_factor_2)])
    return Table("Methods", "How good each forecast was", head, rows, ABOUT_SCORES)


def _classes(found: Backtest) -> Table:
    head = [Cell("Predicted lead, processors", words=True), Cell("Jobs"), Cell("80 % hold"), Cell("By weeks")]
    head += [Cell("Width"), Cell("Median error")]
    rows = []
    for (lead, width), one in found.scores_by_class(CHOSEN).items():
        row = [Cell(f"{lead}, {width}", words=True), Cell(f"{one.jobs:,}", one.jobs), *_held(one)]
        rows.append([*row, seconds_cell(one.width), seconds_cell(one.median_error)])
    note = "Both are known beforehand. A third of the jobs of the first half was narrow, a third medium, a third wide."
    return Table("Classes", "Forecasts of the chosen methods, by class", head, rows, note)


def _held(one: Score) -> list[Cell]:
    if np.isnan(one.coverage):
        return [Cell("–"), Cell("–")]
    return [_share(one.coverage), Cell(f"{one.coverage_low:.0%} – {one.coverage_high:.0%}", one.coverage_low)]


def _share(value: float) -> Cell:
    return Cell(f"{value:.0%}", value)


def _missed(found: Backtest) -> Table:
    """Return the forecasts whose intervals were missed by most."""
    quantiles, rows = found.quantiles(CHOSEN), np.flatnonzero(found.judged)
    outcome = found.outcomes.outcome[rows]
    off = np.maximum(quantiles[:, 0] - outcome, outcome - quantiles[:, -1])
    missed = np.flatnonzero(~covered(outcome, quantiles))
    order = missed[np.argsort(-off[missed], kind="stable")][:MOST]
    head = [Cell("Job"), Cell("Processors"), Cell("Waited"), Cell("10 %"), Cell("Median"), Cell("90 %"), Cell("Off by")]
    body = [
        [
            Cell(str(found.job_id[rows[one]])),
            Cell(f"{found.outcomes.processors[rows[one]]:,}", float(found.outcomes.processors[rows[one]])),
            *waits_cells(outcome[one], *quantiles[one, [0, 4, 8]], off[one]),
        ]
        for one in order.tolist()
    ]
    note = f"{count_of(len(missed), 'interval')} of {len(rows):,} did not hold; a fifth is expected."
    return Table("Missed", "The jobs whose start lay farthest outside of their interval", head, body, note)


def _figures(found: Backtest) -> list[Illustration]:
    return [
        illustrate(
            plot_reliability(found),
            "Share of the starts that came before each quantile, for each method; the table has the shares of 80 %.",
            "On the dashed line, as many starts came before a quantile as it says. Above it, jobs start sooner than "
            "told; below it, later.",
        ),
        illustrate(
            plot_held(found),
            "Share of the 80 % intervals that held in each class, with its interval; the numbers are in the table.",
            f"Dots: shares; lines: 95 % by weeks; dashed: the promised 80 %. Classes of less than {FEW} jobs are left "
            "out.",
        ),
        illustrate(
            plot_medians(found),
            "Predicted median wait and actual wait of each judged job, on logarithmic axes.",
            "A dot for each job: the wait that was told as the most likely one, and the one that came; dashed: equal.",
            vector=False,
        ),
    ]


def plot_reliability(found: Backtest, ax: Axes | None = None) -> Axes:
    """Draw which share of the starts came before each quantile, a line for each method with intervals.

    Parameters
    ----------
    found
        The backtest.
    ax
        Where to draw; by default, in a new figure.
    """
    outcome = found.outcomes.outcome[found.judged]
    with styled_axes(ax, (8.0, 4.0)) as axes:
        axes.plot([0, 1], [0, 1], color="#888888", linewidth=1.0, linestyle="--")
        for number, method in enumerate((CHOSEN, FORKED, *found.baselines)):
            before = (outcome[:, None] <= np.ceil(found.quantiles(method))).mean(axis=0)
            axes.plot(TAUS, before, marker="o", markersize=4, label=method, **line_look(number))
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        percent_ticks(axes.xaxis)
        percent_ticks(axes.yaxis)
        axes.set_xlabel("Quantile that was told")
        axes.set_ylabel("Starts before it")
        legend(axes)
    return axes


def plot_held(found: Backtest, ax: Axes | None = None) -> Axes:
    """Draw the share of the intervals that held in each class, with its interval by weeks.

    Parameters
    ----------
    found
        The backtest.
    ax
        Where to draw; by default, in a new figure.
    """
    classes = {key: one for key, one in found.scores_by_class(CHOSEN).items() if one.jobs >= FEW}
    every = {("all jobs", ""): found.score(CHOSEN), **classes}
    with styled_axes(ax, (8.0, 1.2 + 0.3 * len(every))) as axes:
        place = -np.arange(len(every))
        held: NDArray[np.float64] = np.array([[one.coverage_low, one.coverage_high] for one in every.values()])
        axes.axvline(PROMISED, color="#888888", linewidth=1.0, linestyle="--")
        axes.hlines(place, held[:, 0], held[:, 1], color=COLOURS[0], linewidth=2)
        axes.plot([one.coverage for one in every.values()], place, "o", color=COLOURS[0])
        names = [f"{', '.join(filter(None, key))} ({one.jobs:,})" for key, one in every.items()]
        axes.set_yticks(place, names)
        axes.set_xlim(min(0.5, float(held.min()) - 0.02), 1.0)
        percent_ticks(axes.xaxis)
        axes.set_xlabel("80 % intervals that held")
    return axes


def plot_medians(found: Backtest, ax: Axes | None = None) -> Axes:
    """Draw the predicted median and the actual wait of each judged job.

    Parameters
    ----------
    found
        The backtest.
    ax
        Where to draw; by default, in a new figure.
    """
    told, came = found.quantiles(CHOSEN)[:, 4], found.outcomes.outcome[found.judged].astype(np.float64)
    shown = [np.maximum(values, 10.0) for values in (told, came)]
    low, high = 8.0, 1.3 * float(np.concatenate(shown).max())
    with styled_axes(ax, (6.5, 5.0)) as axes:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.plot([low, high], [low, high], color="#888888", linewidth=1.0, linestyle="--")
        axes.plot(*shown, "o", markersize=3, alpha=0.5, color=COLOURS[0], markeredgewidth=0)
        axes.set_xlim(low, high)
        axes.set_ylim(low, high)
        duration_ticks(axes.xaxis, low, high)
        duration_ticks(axes.yaxis, low, high)
        axes.set_xlabel("Wait that was told (median)")
        axes.set_ylabel("Wait that came")
    return axes
