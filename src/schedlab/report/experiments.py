"""Figures of experiments: distributions, minutes, and submission modes of workflows beside each other.

The kinds of figures are those of Rodrigo et al., "ScSF: A scheduling simulation framework", JSSPP 2017.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.report.style import (
    COLOURS,
    duration_ticks,
    elapsed_unit,
    legend,
    line_look,
    percent_ticks,
    ratio_ticks,
    save_figure,
    styled_axes,
)
from schedlab.schedule.minutes import minutes_of
from schedlab.workload.submissions import SUBMISSION_MODES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from schedlab.campaign.results.compare_submissions import SubmissionComparison, SubmissionSummary
    from schedlab.schedule.analysis import Analysis, Distribution
    from schedlab.schedule.minutes import Minutes
    from schedlab.workload.sections import Sections

SUBMISSION_MODE_COLOURS = {name: COLOURS[place] for place, name in enumerate((*SUBMISSION_MODES, "-"))}

SMOOTHED = 10
"""Minutes that a curve of utilisation shows the mean of."""

POINTS = 2_000
"""Points of a curve: more cannot be seen."""

MEASURE_LABELS = {
    "wait": "wait",
    "run_time": "run time",
    "turnaround": "turnaround",
    "stretch": "stretch",
    "requested_time": "requested time",
}


@explained
def plot_distributions(distributions: Mapping[str, Distribution], ax: Axes | None = None) -> Axes:
    """Draw the share of values up to each, one curve for each name, with the histogram of the first behind them.

    Parameters
    ----------
    distributions
        Of one variable, by the name that the figure gives them.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Times on a logarithmic axis, values below a second at its left end.
    """
    shown = {name: found for name, found in distributions.items() if len(found.values)}
    if not shown:
        raise InputError("not enough data: no workflow has finished, so there is no distribution to draw")
    first = next(iter(shown.values()))
    is_time = first.variable.unit == "s"
    with styled_axes(ax) as axes:
        highest = max(float(found.values[-1]) for found in shown.values())
        if is_time:
            axes.set_xscale("log")
            axes.set_xlim(0.8, 1.2 * max(highest, 10.0))
            duration_ticks(axes.xaxis, 1, max(highest, 10.0))
        bins = np.geomspace(1, max(highest, 10.0), 60) if is_time else np.linspace(0, highest, 60)
        values = np.maximum(first.values, 1) if is_time else first.values
        axes.hist(values, bins.tolist(), weights=np.full(len(values), 1 / len(values)), color="#CCCCCC")
        for number, (name, found) in enumerate(shown.items()):
            values, shares = found.cumulative()
            chosen = np.unique(np.linspace(0, len(values) - 1, min(POINTS, len(values))).astype(np.int64))
            seen = np.maximum(values[chosen], 1) if is_time else values[chosen]
            text = f"{name}; {found.unfinished:,} not finished" if found.unfinished else name
            axes.step(seen, shares[chosen], where="post", label=text, **line_look(number))
        percent_ticks(axes.yaxis)
        axes.set_ylim(0, 1.02)
        label = MEASURE_LABELS.get(first.variable.name, first.variable.name)
        axes.set_xlabel(label.capitalize())
        axes.set_ylabel("Share up to this value")
        axes.set_title(f"Distribution of the {label} of {first.of}")
        legend(axes)
    return axes


@explained
def plot_minutes(minutes: Minutes, sections: Sections, title: str = "Utilisation", ax: Axes | None = None) -> Axes:
    """Draw the use of the machine over time, with the sections of the experiment.

    Parameters
    ----------
    minutes, sections
        Of the experiment.
    title
        What is shown.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        What jobs reserve, and what of it is used, as means of ten minutes.
    """
    unit, unit_name = elapsed_unit(sections.cutoff)
    count = len(minutes.begin) // SMOOTHED * SMOOTHED
    time = minutes.begin[:count:SMOOTHED] / unit
    with styled_axes(ax) as axes:
        for number, (name, values) in enumerate((("reserved", minutes.reserved), ("useful", minutes.useful))):
            means = values[:count].reshape(-1, SMOOTHED).mean(axis=1)
            if number == 0 or not np.allclose(minutes.useful, minutes.reserved):
                axes.plot(time, means, label=name, **line_look(number))
        places = {"begin": sections.begin, "start": sections.start, "end": sections.end}
        for name, second in places.items():
            axes.axvline(second / unit, color="#999999", linewidth=0.8)
            axes.annotate(name, (second / unit, 1.03), ha="center", fontsize=7, color="#555555", annotation_clip=False)
        percent_ticks(axes.yaxis)
        axes.set_title(title, pad=16)
        axes.set_xlim(0, sections.cutoff / unit)
        axes.set_ylim(0, 1.09)
        axes.set_xlabel(unit_name)
        axes.set_ylabel("Utilisation")
        legend(axes)
    return axes


@explained
def plot_median_waits(minutes: Mapping[str, Minutes], sections: Sections, ax: Axes | None = None) -> Axes:
    """Draw the median wait of the jobs submitted in each minute.

    Parameters
    ----------
    minutes
        Of experiments with the same sections, by name.
    sections
        When jobs count.
    ax
        Where to draw; by default, in a new figure.
    """
    unit, unit_name = elapsed_unit(sections.end)
    with styled_axes(ax) as axes:
        for number, (name, found) in enumerate(minutes.items()):
            there = ~np.isnan(found.median_wait) & (found.begin >= sections.begin) & (found.begin <= sections.end)
            look = {"color": line_look(number)["color"], "marker": ".", "markersize": 2, "linestyle": "none"}
            axes.plot(found.begin[there] / unit, found.median_wait[there] / 3_600, label=name, **look)
        axes.axvline(sections.start / unit, color="#999999", linewidth=0.8)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(unit_name)
        axes.set_ylabel("Median wait (hours)")
        axes.set_title("Median wait of the jobs submitted in each minute")
        legend(axes)
    return axes


@explained
def plot_submissions(
    found: SubmissionComparison, measure: str = "run_time", baseline: str | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the medians of workflows under each submission mode, side by side.

    Parameters
    ----------
    found
        From `schedlab.campaign.compare_submissions`.
    measure
        "wait", "run_time", "turnaround" or "stretch".
    baseline
        A submission mode; the figure then shows how many times shorter the medians of the others are, on workflows both
        have finished.
    ax
        Where to draw; by default, in a new figure.
    """
    rows = [row for row in found.summaries if row.submitted]
    experiments = list(dict.fromkeys(row.experiment for row in rows))
    if not experiments:
        raise InputError("no workflows to draw")
    names = [name for name in SUBMISSION_MODES if any(row.submission_mode == name for row in rows) and name != baseline]

    def height(experiment: str, submission_mode: str) -> float:
        if baseline is not None:
            ratio = _ratio(found, experiment, measure, submission_mode, baseline)
            return float("nan") if ratio is None else 1 / ratio
        mine = [row for row in rows if (row.experiment, row.submission_mode) == (experiment, submission_mode)]
        value = float(getattr(mine[0], measure)) if mine else float("nan")
        return value if measure == "stretch" else value / 3_600

    with styled_axes(ax, (max(8.0, 0.32 * len(experiments)), 4.2)) as axes:
        _bars(axes, experiments, names, height)
        label = MEASURE_LABELS[measure]
        if baseline is None:
            axes.set_ylabel(f"Median {label}" + ("" if measure == "stretch" else " (hours)"))
            axes.set_title(f"{label.capitalize()} of workflows (medians of those finished)")
        else:
            axes.axhline(1, color="#666666", linewidth=0.8)
            axes.set_yscale("log")
            ratio_ticks(axes.yaxis)
            axes.set_ylabel(f"Times shorter than {baseline}")
            axes.set_title(f"{label.capitalize()} of workflows, against {baseline} (on those that both have finished)")
    return axes


@explained
def plot_simulation_times(summaries: Sequence[SubmissionSummary], ax: Axes | None = None) -> Axes:
    """Draw the median time that a simulation takes, for each experiment and submission mode.

    Parameters
    ----------
    summaries
        Of a campaign, see `schedlab.campaign.SubmissionComparison`.
    ax
        Where to draw; by default, in a new figure.
    """
    experiments = list(dict.fromkeys(row.experiment for row in summaries))
    seconds = {(row.experiment, row.submission_mode): row.seconds for row in summaries}
    names = [name for name in SUBMISSION_MODE_COLOURS if any(row.submission_mode == name for row in summaries)]
    with styled_axes(ax, (max(8.0, 0.32 * len(experiments)), 4.2)) as axes:
        _bars(axes, experiments, names, lambda experiment, name: seconds.get((experiment, name), float("nan")))
        axes.set_yscale("log")
        ratio_ticks(axes.yaxis)
        axes.set_ylabel("Seconds")
        axes.set_title("Time to simulate one experiment (medians)")
    return axes


def save_analysis_figures(analysis: Analysis, directory: Path) -> list[Path]:
    """Write the figures of one experiment as PNG, and return the files.

    Raises
    ------
    OutputError
        If one cannot be written.
    """
    files = []
    minutes = minutes_of(analysis.schedule, analysis.sections)
    files.append(save_figure(plot_minutes(minutes, analysis.sections), directory / "utilisation.png"))
    waits = plot_median_waits({analysis.schedule.workload.name: minutes}, analysis.sections)
    files.append(save_figure(waits, directory / "median-waits.png"))
    for of, variables in (("jobs", ("wait", "run_time", "slowdown")), ("workflows", MEASURE_LABELS)):
        for name in variables:
            chosen = [one for one in analysis.distributions() if (one.of, one.variable.name) == (of, name)]
            if any(len(one.values) for one in chosen):
                axes = plot_distributions({one.subset: one for one in chosen})
                files.append(save_figure(axes, directory / f"{of}-{name.replace('_', '-')}.png"))
    return files


def save_submission_mode_figures(found: SubmissionComparison, directory: Path) -> list[Path]:
    """Write the figures of a campaign of experiments as PNG, and return the files.

    Raises
    ------
    OutputError
        If one cannot be written.
    """
    files = [save_figure(plot_simulation_times(found.summaries), directory / "simulation-times.png")]
    for measure in ("wait", "run_time", "turnaround", "stretch"):
        if any(row.submitted > row.unfinished for row in found.summaries):
            name = measure.replace("_", "-")
            files.append(save_figure(plot_submissions(found, measure), directory / f"workflows-{name}.png"))
    return files


def _bars(axes: Axes, experiments: Sequence[str], names: Sequence[str], height: Callable[[str, str], float]) -> None:
    """Draw a group of bars for each experiment."""
    places = np.arange(len(experiments))
    width = 0.8 / max(len(names), 1)
    for number, name in enumerate(names):
        heights = [height(experiment, name) for experiment in experiments]
        shift = (number - (len(names) - 1) / 2) * width
        label = "no workflows" if name == "-" else name
        axes.bar(places + shift, heights, width, color=SUBMISSION_MODE_COLOURS[name], label=label)
    axes.set_xticks(places, list(experiments), rotation=60, ha="right", fontsize=7)
    axes.grid(axis="x", visible=False)
    legend(axes)


def _ratio(
    found: SubmissionComparison, experiment: str, measure: str, submission_mode: str, baseline: str
) -> float | None:
    """Return a submission mode over the baseline; what is known is one of the two directions."""
    for name, other, power in ((submission_mode, baseline, 1), (baseline, submission_mode, -1)):
        for row in found.of(experiment, measure, name, other):
            if row.pair is not None and row.pair.ratio:
                return float(row.pair.ratio**power)
    return None
