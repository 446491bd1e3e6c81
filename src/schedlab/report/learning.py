"""Figures of learned policies: the scores of trials, how precise they are, and what a policy prefers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.atomic import make_directory
from schedlab.errors import InputError
from schedlab.learn.fit import Ranking
from schedlab.learn.scores import ScoreTable
from schedlab.report.style import (
    COLOURS,
    legend,
    new_figure,
    percent_ticks,
    ratio_ticks,
    save_figure,
    styled,
    styled_axes,
)
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.policy_text import policy_from_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

VARIABLES = {"p": "Run time p (s)", "q": "Processors q", "r": "Submit time r (s)"}
PAIRS = (("p", "q"), ("p", "r"), ("q", "r"))

BINS = 10
"""Boxes along an axis, each of about as many jobs."""

CELLS = 120
"""Cells along each side of a heat map."""

LEADERS = 4
"""Policies whose heat maps `save_learning_figures` draws, as many as the paper's figure shows."""


@explained
def plot_trial_scores(scores: ScoreTable, group: int | None = None, ax: Axes | None = None) -> Axes:
    """Draw the scores of the jobs of one tuple, as bars from their mean.

    Parameters
    ----------
    scores
        The scores.
    group
        Number of the tuple; by default, that of the first row.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Jobs stand in the order of their submission; a bar downwards says that starting this job first was good. Black
        lines are standard errors, where they are known.

    References
    ----------
    Carastan-Santos and de Camargo, SC 2017, figure 1.
    """
    number = scores.group[0] if group is None else group
    rows = np.flatnonzero(scores.group == number)
    if not len(rows):
        raise InputError(f"tuple {number} is not in these scores")
    rows = rows[np.argsort(scores.submit_time[rows], kind="stable")]
    score, error = scores.score[rows], scores.standard_error[rows]
    mean = float(score.mean())
    with styled_axes(ax) as axes:
        place = np.arange(1, len(rows) + 1)
        colours = np.where(score < mean, COLOURS[2], COLOURS[1]).tolist()
        axes.bar(place, score - mean, bottom=mean, color=colours, width=0.7)
        if np.isfinite(error).any():
            axes.errorbar(place, score, error, fmt="none", ecolor="black", elinewidth=0.9, capsize=2)
        axes.axhline(mean, color="black", linewidth=1.0)
        axes.grid(visible=False, axis="x")
        axes.set_xlim(0.3, len(rows) + 0.7)
        axes.set_xlabel("Job of the tuple, by submission")
        axes.set_ylabel("Score")
        axes.set_title(f"Scores of tuple {number}\nbelow the mean of {mean:.4f}: better started first")
    return axes


@explained
def plot_scores_by_job(scores: ScoreTable) -> Figure:
    """Draw how scores depend on run time, processors and submit time, over all tuples.

    Returns
    -------
    matplotlib.figure.Figure
        A box per tenth of the jobs, equal jobs being kept together: quartiles and median; the whiskers leave out 5 % at
        either end. The line is the mean score.
    """
    with styled():
        figure = new_figure((11.0, 3.8))
        panels: Any = figure.subplots(1, 3, sharey=True)
        columns = (scores.run_time, scores.processors, scores.submit_time)
        for axes, label, values in zip(panels, VARIABLES.values(), columns, strict=True):
            _draw_boxes(axes, values, scores.score)
            axes.axhline(scores.score.mean(), color="black", linewidth=0.8)
            axes.grid(visible=False, axis="x")
            axes.set_xlabel(f"{label}, median of the box")
        panels[0].set_ylabel("Score")
        panels[0].set_title(f"Scores of {len(scores):,} jobs")
    return figure


@explained
def plot_score_precision(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]], *, target: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how precise scores are after how many trials.

    Parameters
    ----------
    curves
        By name, numbers of trials and, for each, the standard error of a score over the score; see
        `schedlab.learn.trials.precision_curves`.
    target
        A precision to be marked.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Both axes are logarithmic.

    Raises
    ------
    InputError
        If a curve has no points, or one that cannot be drawn.

    References
    ----------
    Carastan-Santos and de Camargo, SC 2017, figure 2.
    """
    from matplotlib.ticker import LogLocator

    with styled_axes(ax, (6.4, 4.2)) as axes:
        for place, (name, points) in enumerate(curves.items()):
            number, error = (np.asarray(values, dtype=np.float64) for values in points)
            if number.ndim != 1 or not len(number) or number.shape != error.shape:
                raise InputError(f"{name}: {number.size} numbers of trials do not go with {error.size} errors")
            if number.min() <= 0 or not np.all(error > 0):
                raise InputError(f"{name}: numbers of trials and errors must be greater than 0")
            axes.loglog(number, error, marker="o", markersize=4, color=COLOURS[place], label=name)
        if target is not None:
            axes.axhline(target, color="black", linewidth=0.8, linestyle="--", label=f"target {100 * target:g}%")
        ratio_ticks(axes.xaxis)
        percent_ticks(axes.yaxis)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter("")
        axes.set_xlabel("Trials of a tuple")
        axes.set_ylabel("Standard error / score")
        axes.set_title("Precision of the scores")
        legend(axes)
    return axes


@explained
def plot_policies(
    policies: Mapping[str, Policy | str] | Policy | str,
    *,
    largest: Sequence[int] = (100_000, 256, 100_000),
    fixed: Sequence[int] = (1_000, 8, 10_000),
) -> Figure:
    """Draw which jobs policies prefer: heat maps over p and q, p and r, q and r, a row per policy.

    Parameters
    ----------
    policies
        By the name that the figure gives them, or a single one; a text is a policy's name or formula. Policies that use
        the waiting time are drawn for jobs that have not waited.
    largest
        Ends of the axes for p and q, which are logarithmic, and for r, which is not.
    fixed
        Values of p, q and r where they are not on an axis.

    Returns
    -------
    matplotlib.figure.Figure
        The darker, the earlier; a colour is the share of the map that goes first, so that policies can be compared
        whatever their unit.

    References
    ----------
    Carastan-Santos and de Camargo, SC 2017, figure 3.
    """
    named = dict(policies) if isinstance(policies, Mapping) else {getattr(policies, "text", policies): policies}
    if not named:
        raise InputError("no policy to plot")
    with styled():
        figure = new_figure((10.0, 0.8 + 2.7 * len(named)))
        panels: Any = figure.subplots(len(named), len(PAIRS), squeeze=False)
        for row, (name, given) in zip(panels, named.items(), strict=True):
            policy = policy_from_text(given) if isinstance(given, str) else given
            for axes, pair in zip(row, PAIRS, strict=True):
                mesh = _draw_map(axes, policy, pair, dict(zip("pqr", largest, strict=True)), fixed)
            row[0].set_title(name)
        bar = figure.colorbar(mesh, ax=panels, shrink=min(1.0, 2.0 / len(named)), pad=0.02)
        bar.set_label("Share of the map that goes first")
        percent_ticks(bar.ax.yaxis)
    return figure


def save_learning_figures(ranking: Ranking, directory: str | PathLike[str]) -> list[Path]:
    """Write the figures of scores and of the leading policies as PNG, and return the files.

    Raises
    ------
    OutputError
        If the directory cannot be made or written to.
    """
    scores = ranking.scores
    columns = (scores.run_time, scores.processors, scores.submit_time)
    leaders = {f"{rank}. {fit.form}": fit.policy for rank, fit in enumerate(ranking.fits[:LEADERS], start=1)}
    largest = [max(2, int(column.max())) for column in columns]
    middle = [int(np.median(column)) for column in columns]
    figures: dict[str, Figure | Axes] = {
        "trial-scores": plot_trial_scores(scores),
        "scores-by-job": plot_scores_by_job(scores),
        "policies": plot_policies(leaders, largest=largest, fixed=middle),
    }
    target = make_directory(directory)
    return [save_figure(figure, target / f"{name}.png") for name, figure in figures.items()]


def save_trial_figures(
    scores: ScoreTable,
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    directory: str | PathLike[str],
) -> list[Path]:
    """Write the figures of scores and of their precision as PNG, and return the files; see `plot_score_precision`.

    Raises
    ------
    OutputError
        If the directory cannot be made or written to.
    """
    figures: dict[str, Figure | Axes] = {
        "trial-scores": plot_trial_scores(scores),
        "scores-by-job": plot_scores_by_job(scores),
        "precision": plot_score_precision(curves),
    }
    target = make_directory(directory)
    return [save_figure(figure, target / f"{name}.png") for name, figure in figures.items()]


def _draw_boxes(axes: Axes, values: NDArray[np.int64], score: NDArray[np.float64]) -> None:
    """Draw a box of scores for each tenth of the values; equal values stay together."""
    from matplotlib.ticker import EngFormatter

    edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)))
    box = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, max(0, len(edges) - 2))
    shown = np.unique(box)
    middle = [float(np.median(values[box == one])) for one in shown]
    axes.boxplot(
        [score[box == one] for one in shown],
        tick_labels=[EngFormatter(sep="", places=0)(value) for value in middle],
        widths=0.6,
        whis=(5, 95),
        showfliers=False,
        patch_artist=True,
        boxprops={"facecolor": COLOURS[3], "edgecolor": COLOURS[0]},
        medianprops={"color": COLOURS[0]},
    )


def _draw_map(
    axes: Axes, policy: Policy, pair: tuple[str, str], largest: Mapping[str, int], fixed: Sequence[int]
) -> Any:
    """Draw one heat map: the place of each cell in the order of the policy."""
    edges = [
        np.linspace(0, largest[variable], CELLS + 1)
        if variable == "r"
        else np.geomspace(1, largest[variable], CELLS + 1)
        for variable in pair
    ]
    across, up = np.meshgrid(*((edge[1:] + edge[:-1]) / 2 for edge in edges))
    jobs = {variable: np.full(across.size, value) for variable, value in zip("pqr", fixed, strict=True)}
    for variable, values in zip(pair, (across, up), strict=True):
        jobs[variable] = np.rint(values).astype(np.int64).ravel()
    scores = policy.scores(**jobs, w=np.zeros(across.size, np.int64))
    _, place, cells = np.unique(scores, return_inverse=True, return_counts=True)
    order = ((np.cumsum(cells) - cells / 2) / scores.size)[place]
    mesh = axes.pcolormesh(*edges, order.reshape(across.shape), vmin=0, vmax=1, cmap="viridis", rasterized=True)
    axes.grid(visible=False)
    for variable, axis, scale in zip(pair, (axes.xaxis, axes.yaxis), (axes.set_xscale, axes.set_yscale), strict=True):
        if variable != "r":
            scale("log")
        ratio_ticks(axis)
        axis.set_minor_formatter("")
    (other,) = set("pqr") - set(pair)
    axes.set_xlabel(f"{VARIABLES[pair[0]]}, with {other} = {fixed['pqr'.index(other)]:,}")
    axes.set_ylabel(VARIABLES[pair[1]])
    return mesh
