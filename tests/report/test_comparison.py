"""Figures that compare schedules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from schedlab.errors import InputError
from schedlab.report.figures import (
    plot_queue_length,
    plot_slowdown_distribution,
    plot_utilisation,
    plot_wait_by_size,
    plot_weekly_means,
)
from schedlab.schedule.schedule import Schedule

PLOTS = [
    plot_slowdown_distribution,
    plot_wait_by_size,
    plot_utilisation,
    plot_queue_length,
    plot_weekly_means,
]
Plot = Callable[..., Axes]
Schedules = Mapping[str, Schedule]


def texts_of(ax: Axes) -> list[str]:
    """Return the names that a figure shows: of its legend and of its ticks."""
    legend = ax.get_legend()
    names = [text.get_text() for text in legend.get_texts()] if legend else []
    return names + [label.get_text() for label in ax.get_yticklabels()]


@pytest.mark.parametrize("plot", PLOTS)
def test_every_scheduler_is_named(plot: Plot, schedules: Schedules) -> None:
    assert set(schedules) <= set(texts_of(plot(schedules)))


@pytest.mark.parametrize("plot", PLOTS)
def test_a_single_schedule_is_named_in_the_title(plot: Plot, schedules: Schedules) -> None:
    ax = plot(schedules["scheduler 3"])
    assert "(sample, scheduler 3)" in ax.get_title(loc="left")
    assert ax.get_legend() is None


@pytest.mark.parametrize("plot", PLOTS)
def test_a_list_of_schedules_is_named_by_schedulers(plot: Plot, schedules: Schedules) -> None:
    assert {"scheduler 0", "scheduler 1"} <= set(texts_of(plot(list(schedules.values())[:2])))


@pytest.mark.parametrize("plot", PLOTS)
def test_given_axes_are_drawn_on(plot: Plot, schedules: Schedules) -> None:
    figure = Figure()
    ax = figure.add_subplot()
    assert plot(schedules, ax=ax) is ax
    assert figure.axes == [ax]


@pytest.mark.parametrize("plot", PLOTS)
def test_a_figure_leaves_the_style_of_others_alone(plot: Plot, schedules: Schedules) -> None:
    # Which backend there is, Matplotlib finds out when it is first asked.
    before = {key: value for key, value in mpl.rcParams.copy().items() if key != "backend"}
    plot(schedules)
    assert {key: value for key, value in mpl.rcParams.items() if key != "backend"} == before


@pytest.mark.parametrize("plot", PLOTS)
def test_nothing_but_the_background_reaches_the_edge_of_the_picture(plot: Plot, schedules: Schedules) -> None:
    long = {f"a rather long name of a scheduler, number {name}": one for name, one in schedules.items()}
    figure = plot(long).get_figure()
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    assert box.x0 >= 0
    assert box.x1 <= figure.get_figwidth()
    assert box.y1 <= figure.get_figheight()


@pytest.mark.parametrize("plot", PLOTS)
@pytest.mark.parametrize("nothing", [[], {}])
def test_nothing_to_plot_is_refused(plot: Plot, nothing: Any) -> None:
    with pytest.raises(InputError, match="no schedule"):
        plot(nothing)


@pytest.mark.parametrize("plot", PLOTS)
def test_an_empty_schedule_is_refused(plot: Plot, schedules: Schedules) -> None:
    one = schedules["scheduler 0"]
    columns = ("start_time", "end_time", "backfilled", "killed", "predicted_run_time", "corrections")
    empty = replace(one, workload=one.workload[:0], **{name: getattr(one, name)[:0] for name in columns})
    with pytest.raises(InputError, match="not enough jobs"):
        plot(empty)


def test_two_schedules_of_one_scheduler_need_names(schedules: Schedules) -> None:
    one = schedules["scheduler 0"]
    with pytest.raises(InputError, match="same scheduler"):
        plot_utilisation([one, one])


def test_the_distribution_starts_with_the_jobs_that_are_slowed_down_and_only_falls(
    schedules: Schedules,
) -> None:
    ax = plot_slowdown_distribution(schedules)
    assert len(ax.lines) == len(schedules)
    for line, schedule in zip(ax.lines, schedules.values(), strict=True):
        shares = np.asarray(line.get_ydata())
        assert shares[0] == pytest.approx((schedule.bounded_slowdown > 1).mean())
        assert (np.diff(shares) <= 0).all()
        assert shares[-1] > 0


def test_a_distribution_of_jobs_that_never_waited_is_drawn(schedules: Schedules) -> None:
    one = schedules["scheduler 0"]
    at_once = replace(one, start_time=one.workload.submit_time, end_time=one.workload.submit_time + one.run_time)
    plot_slowdown_distribution(at_once).get_figure().draw_without_rendering()


def test_more_schedules_than_colours_still_differ(schedules: Schedules) -> None:
    looks = {(line.get_color(), line.get_linestyle()) for line in plot_weekly_means(schedules).lines}
    assert len(looks) == len(schedules)


def test_a_bar_spans_the_quartiles_of_its_size_class(schedules: Schedules) -> None:
    one = schedules["scheduler 0"]
    ax = plot_wait_by_size(one)
    serial = one.wait_time[one.workload.job_processors == 1]
    low, high = np.percentile(serial, (25, 75))
    assert ax.patches[0].get_y() == pytest.approx(low)  # type: ignore[attr-defined]
    assert ax.patches[0].get_height() == pytest.approx(high - low)  # type: ignore[attr-defined]
    labels = [label.get_text().split("\n")[0] for label in ax.get_xticklabels()]
    assert labels == ["serial", "narrow", "medium", "wide"]


def test_strips_carry_their_means(schedules: Schedules) -> None:
    shown = {name: schedules[name] for name in ("scheduler 0", "scheduler 1")}
    notes = [text.get_text() for text in plot_utilisation(shown).texts]
    assert notes == ["mean"] + [f"{one.metrics()['utilisation']:.1%}" for one in shown.values()]
    notes = [text.get_text() for text in plot_queue_length(shown).texts]
    assert notes == ["mean"] + [f"{one.metrics()['mean_queue_length']:,.1f}" for one in shown.values()]


@pytest.mark.parametrize(("measure", "unit"), [("wait", 3_600), ("turnaround", 3_600), ("bounded_slowdown", 1)])
def test_the_last_weekly_mean_is_that_of_all_jobs(schedules: Schedules, measure: str, unit: int) -> None:
    one = schedules["scheduler 0"]
    line = plot_weekly_means(one, measure=measure).lines[0]
    assert np.asarray(line.get_ydata())[-1] * unit == pytest.approx(one.metrics()[f"mean_{measure}"])


def test_an_unknown_measure_is_refused_with_the_known_ones(schedules: Schedules) -> None:
    with pytest.raises(InputError, match="bounded_slowdown"):
        plot_weekly_means(schedules, measure="wiat")
