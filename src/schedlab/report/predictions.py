"""Figures of predictions: how their errors, and the predictions themselves, are distributed."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.predict.validation import Validation
from schedlab.report.style import legend, line_look, percent_ticks, save_figures, styled_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HOUR = 3_600

POINTS = 1_000
"""Points of a curve: more cannot be seen."""

ERROR_RANGE = (-24.0, 24.0)
"""Hours of error that are shown, if there are larger ones."""


@explained
def plot_prediction_errors(validations: Validation | Sequence[Validation], ax: Axes | None = None) -> Axes:
    """Draw which share of the predictions has at most a given error, one curve per predictor.

    Parameters
    ----------
    validations
        Of the same jobs.
    ax
        Where to draw; by default, in a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        Errors are predictions less run times, in hours; those beyond a day lie outside the axes.

    References
    ----------
    Gaussier, Glesser, Reis and Trystram, SC 2015, figure 4.
    """
    shown = _listed(validations)
    errors = [validation.error / HOUR for validation in shown]
    low = max(min(float(error.min()) for error in errors), ERROR_RANGE[0])
    high = min(max(float(error.max()) for error in errors), ERROR_RANGE[1])
    with styled_axes(ax) as axes:
        grid = np.linspace(min(low, -1.0), max(high, 1.0), POINTS)
        for number, (validation, error) in enumerate(zip(shown, errors, strict=True)):
            axes.plot(grid, _ecdf(error, grid), label=validation.predictor, **line_look(number))
        axes.axvline(0, color="#888888", linewidth=0.8)
        axes.set_xlabel("Prediction − run time (hours)")
        _finish(axes, "Errors of the predictions", shown)
    return axes


@explained
def plot_predicted_values(validations: Validation | Sequence[Validation], ax: Axes | None = None) -> Axes:
    """Draw which share of the predictions is at most a given time, one curve per predictor, and one of the run times.

    Parameters
    ----------
    validations
        Of the same jobs.
    ax
        Where to draw; by default, in a new figure.

    References
    ----------
    Gaussier, Glesser, Reis and Trystram, SC 2015, figure 5.
    """
    shown = _listed(validations)
    curves: list[tuple[str, NDArray[Any]]] = [(validation.predictor, validation.predicted) for validation in shown]
    most = max(int(shown[0].run_time.max()), *(int(values.max()) for _, values in curves), HOUR) / HOUR
    with styled_axes(ax) as axes:
        grid = np.linspace(0, most, POINTS)
        for number, (name, values) in enumerate(curves):
            axes.plot(grid, _ecdf(values / HOUR, grid), label=name, **line_look(number))
        axes.plot(grid, _ecdf(shown[0].run_time / HOUR, grid), label="run times", color="black", linewidth=1.0)
        axes.set_xlabel("Time (hours)")
        _finish(axes, "Predicted run times", shown)
    return axes


PREDICTION_FIGURES = {"prediction-errors": plot_prediction_errors, "predicted-values": plot_predicted_values}


def save_prediction_figures(validations: Sequence[Validation], directory: str | PathLike[str]) -> list[Path]:
    """Write both figures as PNG, and return the files.

    Raises
    ------
    OutputError
        If the directory cannot be made or written to.
    """
    return save_figures(PREDICTION_FIGURES, validations, directory)


def _listed(validations: Validation | Sequence[Validation]) -> list[Validation]:
    shown = [validations] if isinstance(validations, Validation) else list(validations)
    if not shown:
        raise InputError("no validation to plot")
    return shown


def _ecdf(values: NDArray[Any], grid: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return which share of the values is at most each point of the grid."""
    return np.searchsorted(np.sort(values), grid, side="right") / len(values)


def _finish(axes: Axes, what: str, shown: Sequence[Validation]) -> None:
    axes.set_ylabel("Share of the jobs")
    axes.set_ylim(0, 1.02)
    percent_ticks(axes.yaxis)
    axes.set_title(f"{what} ({shown[0].workload.name})")
    legend(axes)
