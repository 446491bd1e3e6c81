"""Metrics of a user's own: functions of a schedule, given as such or as texts MODULE:FUNCTION."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.imports import load_named
from schedlab.schedule.metrics import metric_names
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.window import measured_window
from schedlab.wording import shown

Measure = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class OwnMetric:
    """A metric that a function computes.

    Parameters
    ----------
    name
        What tables call it: its text, or the name of the function.
    function
        Takes a `Schedule` and, if it has a second argument, the int64 positions of the jobs that count (what warm-up
        and cool-down leave, in order of submission); returns a number. Less of it is better.

    Raises
    ------
    InputError
        If it takes anything else, or has the name of one of schedlab's own metrics.

    Examples
    --------
    >>> from schedlab.engine.simulation import simulate
    >>> from schedlab.workload.workload import Workload
    >>> def late(schedule, rows):
    ...     return (schedule.wait_time[rows] > 5).mean()
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1], run_time=[10, 10], requested_time=[10, 10],
    ...                                   requested_processors=[3, 4]), processors=4)
    >>> as_metric(late).measure(simulate(jobs))
    0.5
    """

    name: str
    function: Measure

    def __post_init__(self) -> None:
        try:
            arguments = len(inspect.signature(self.function).parameters)
        except (TypeError, ValueError):
            arguments = 0
        if self.name in metric_names():
            raise InputError(f"metric {self.name}: schedlab has one of that name; give yours another")
        if arguments not in (1, 2):
            raise InputError(f"metric {self.name}: must be a function of (schedule) or of (schedule, rows that count)")

    def measure(self, schedule: Schedule, *, warm_up: float = 0, cool_down: float = 0) -> float:
        """Return the value of a schedule.

        Raises
        ------
        InputError
            If the function fails or returns no number; the message names it and the scheduler.
        """
        given: list[Any] = [schedule]
        if len(inspect.signature(self.function).parameters) == 2:
            rows: NDArray[np.intp] = measured_window(schedule, warm_up=warm_up, cool_down=cool_down).rows
            given.append(rows)
        where = f"{schedule.workload.name} under {schedule.scheduler}"
        try:
            value = float(self.function(*given))
        except Exception as error:
            raise InputError(f"metric {self.name} failed for {where}: {type(error).__name__}: {error}") from error
        if math.isnan(value):
            raise InputError(f"metric {self.name} of {where} is not a number")
        return value


def as_metric(given: str | Measure, name: str | None = None) -> OwnMetric:
    """Return the metric of a function, or of the text MODULE:FUNCTION, under its own name unless another is given.

    Raises
    ------
    InputError
        If there is no such function.
    """
    if callable(given):
        return OwnMetric(name or str(getattr(given, "__name__", type(given).__name__)), given)
    if isinstance(given, str) and given in metric_names():
        raise InputError(f"metric {given}: each comparison has it; metrics= is for functions of your own")
    if isinstance(given, str) and ":" not in given:
        raise InputError(f"metric {shown(given)}: give a function of a schedule, or a text MODULE:FUNCTION")
    function = load_named(given, "metric")
    if isinstance(function, type) or not callable(function):
        raise InputError(f"metric {given}: {shown(function)} is not a function")
    return OwnMetric(name or given.strip(), function)


def as_metrics(given: str | Measure | Iterable[str | Measure] | Mapping[str, str | Measure]) -> list[OwnMetric]:
    """Return metrics given as functions or texts; a mapping names them.

    Raises
    ------
    InputError
        If one of them is no metric.

    Examples
    --------
    >>> [metric.name for metric in as_metrics({"rows": len})]
    ['rows']
    """
    if isinstance(given, str) or callable(given):
        given = [given]
    if isinstance(given, Mapping):
        return [as_metric(metric, name) for name, metric in given.items()]
    return [as_metric(metric) for metric in given]


def own_metrics(
    schedule: Schedule, metrics: Iterable[OwnMetric], *, warm_up: float = 0, cool_down: float = 0
) -> dict[str, float]:
    """Return the values of metrics by their names."""
    return {metric.name: metric.measure(schedule, warm_up=warm_up, cool_down=cool_down) for metric in metrics}
