"""Figures of a campaign: they show the numbers of the results, and nothing overlaps."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from schedlab.campaign.results.ranking import ranking
from schedlab.campaign.results.statistics import INSTANCE, METRIC
from schedlab.errors import InputError
from schedlab.report.campaigns import (
    label_of,
    labels_of,
    plot_boxes,
    plot_by_class,
    plot_distribution,
    plot_heat_map,
    plot_ratios,
)
from schedlab.report.style import root_figure
from schedlab.schedule.groups import USER_CLASSES


def made_up(schedulers: int, workloads: int) -> pd.DataFrame:
    """Results of schedulers with long texts whose slowdowns span decades."""
    rng = np.random.default_rng(4)
    names = [f"log10(p)*q + {870 + number}*log10(r)+easy" for number in range(schedulers)]
    keys = itertools.product([f"a-cleaned-trace-of-{i}-2009" for i in range(workloads)], range(8), names)
    rows = [(workload, np.nan, 0, window, name, rng.lognormal(3, 2)) for workload, window, name in keys]
    return pd.DataFrame(rows, columns=[*INSTANCE, "scheduler", METRIC])


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Return the pairs of texts of a figure that cover each other, and those that its edge cuts."""
    figure.draw_without_rendering()
    hidden = {
        label
        for ax in figure.axes
        for axis in (ax.xaxis, ax.yaxis)
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        for label in (tick.label1, tick.label2)
        if not min(axis.get_view_interval()) <= tick.get_loc() <= max(axis.get_view_interval())
    }
    shown = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    boxes = [(text.get_text(), text.get_window_extent()) for text in shown if text not in hidden]
    page = figure.bbox
    cut = [(words, "edge") for words, box in boxes if box.x0 < page.x0 - 1 or box.x1 > page.x1 + 1]
    pairs = [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]
    return cut + pairs


@pytest.mark.parametrize(("schedulers", "workloads"), [(2, 1), (8, 6), (15, 6)])
def test_no_text_covers_another(schedulers: int, workloads: int) -> None:
    frame = made_up(schedulers, workloads)
    result = ranking(frame, frame.scheduler[0], resamples=100)
    assert overlaps(plot_boxes(frame)) == []
    assert overlaps(root_figure(plot_distribution(frame))) == []
    assert overlaps(root_figure(plot_ratios(result))) == []
    assert overlaps(root_figure(plot_heat_map(result))) == []


def test_boxes_have_the_quartiles_and_the_whiskers_of_the_study() -> None:
    values = [1.0, 2, 3, 4, 5, 6, 7, 8, 30]
    frame = pd.DataFrame(
        [("kth", 1.0, 0, window, "fcfs", value) for window, value in enumerate(values)],
        columns=[*INSTANCE, "scheduler", "max_queue_length"],
    )
    ax = plot_boxes(frame, "max_queue_length").axes[0]
    box = ax.patches[0].get_path().vertices[:, 0]
    assert (box.min(), box.max()) == (3, 7)
    ends = {float(x) for line in ax.lines for x in line.get_xdata()}
    # 1.5 times 4 beyond 7 is 13: the last value within is 8, and 30 is a dot.
    assert {1.0, 5.0, 8.0, 30.0} <= ends
    assert ax.get_title(loc="left") == "kth\n(9 instances)"


def test_there_is_a_panel_for_each_workload(results: pd.DataFrame) -> None:
    titles = [ax.get_title(loc="left") for ax in plot_boxes(results, "mean_wait").axes]
    assert titles == ["north\n(8 instances)", "south\n(8 instances)"]


def test_bars_of_a_class_are_means_over_the_instances_that_all_schedulers_have(results: pd.DataFrame) -> None:
    schedulers = sorted(set(results.scheduler))
    missing = (results.scheduler == schedulers[0]) & (results.window == 3) & (results.workload == "north")
    frame = results.copy()
    frame.loc[missing, "mean_wait_serial"] = np.nan
    ax = plot_by_class(frame).axes[0]
    kept = frame[~((frame.window == 3) & (frame.workload == "north"))]
    expected = [kept[kept.scheduler == text].mean_wait_serial.mean() for text in schedulers]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(expected)  # type: ignore[attr-defined]


def test_a_class_without_jobs_has_no_panel_and_no_class_at_all_is_refused(results: pd.DataFrame) -> None:
    frame = results.assign(mean_wait_heavy_users=np.nan)
    figure = plot_by_class(frame, classes=USER_CLASSES)
    assert [ax.get_title(loc="left").split("\n")[0] for ax in figure.axes if ax.axison] == [
        "medium users",
        "light users",
    ]
    with pytest.raises(InputError, match="no instance has jobs of each of the classes heavy_users"):
        plot_by_class(frame, classes=["heavy_users"])


def test_curves_end_at_all_instances(results: pd.DataFrame) -> None:
    ax = plot_distribution(results, schedulers=["saf+easy"])
    (line,) = ax.lines
    assert line.get_ydata()[-1] == 1
    assert line.get_xdata()[-1] == results[results.scheduler == "saf+easy"][METRIC].max()


def test_the_heat_map_has_the_ratio_of_each_workload(results: pd.DataFrame) -> None:
    result = ranking(results, "fcfs+easy")
    ax = plot_heat_map(result)
    shown = np.array([text.get_text() for text in ax.texts]).reshape(3, 2)
    order = [row.scheduler for row in result.of()]
    for column, workload in enumerate(("north", "south")):
        for row in result.of(workload):
            ratio = 1.0 if row.paired is None else row.paired.ratio
            assert shown[order.index(row.scheduler), column] == f"{ratio:.2f}"
    assert [label.get_text() for label in ax.get_xticklabels()] == ["north", "south"]


def test_a_scheduler_without_a_ratio_is_said_to_have_none(results: pd.DataFrame) -> None:
    frame = results.copy()
    frame.loc[frame.index[frame.scheduler == "saf+easy"][0], METRIC] = 0
    result = ranking(frame, "fcfs+easy")
    assert "no ratio" in [text.get_text().strip() for text in plot_ratios(result).texts]
    assert "-" in [text.get_text() for text in plot_heat_map(result).texts]


def test_long_texts_keep_both_ends() -> None:
    text = "log10(p)*q + 870*log10(r) + 0.0056*p*p*q+easy:sjf@ave2/incremental"
    label = label_of(text)
    head, tail = label.split("…")
    assert len(label) == 34
    assert text.startswith(head)
    assert text.endswith(tail)


def test_long_texts_that_differ_in_the_middle_have_labels_that_differ() -> None:
    texts = [f"log10(p)*q + {number}*log10(r) + 0.0056*p*p*q+easy:sjf@ave2/incremental" for number in range(12)]
    labels = labels_of([*texts, "fcfs"])
    assert len(set(labels)) == 13
    assert labels[-1] == "fcfs"
    assert max(map(len, labels)) < len(texts[0])
