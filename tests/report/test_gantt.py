"""The Gantt chart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from schedlab.errors import InputError
from schedlab.report import gantt
from schedlab.report.figures import plot_gantt
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload

DAY = 86_400


@pytest.fixture
def three_jobs() -> Schedule:
    """A wide job, then a killed one beside a backfilled one, on a machine of 10."""
    workload = Workload.from_columns(
        {"submit_time": [100, 101, 102], "run_time": [50, 50, 25], "requested_processors": [10, 6, 4]},
        name="three",
        processors=10,
    )
    return Schedule(
        workload,
        start_time=np.array([100, 150, 150]),
        end_time=np.array([150, 200, 175]),
        backfilled=np.array([False, False, True]),
        killed=np.array([False, True, False]),
        predicted_run_time=workload.run_time,
        corrections=np.zeros(3, dtype=np.int64),
        scheduler="by hand",
        processors=10,
    )


def rectangles(ax: Axes) -> list[list[float]]:
    """Return left, right, low and high of each rectangle."""
    boxes = [path.get_extents() for path in ax.collections[0].get_paths()]
    return [[box.x0, box.x1, box.y0, box.y1] for box in boxes]


def kind_of(colour: np.ndarray) -> int | None:
    """Return the kind of job that a colour stands for, None for white."""
    for kind, shades in enumerate(gantt.SHADES):
        if any(np.allclose(colour[:3], to_rgb(shade), atol=0.01) for shade in shades):
            return kind
    return None


def test_each_job_is_a_rectangle_of_its_processors_and_time_with_its_number(three_jobs: Schedule) -> None:
    ax = plot_gantt(three_jobs)
    minutes = np.array([1 / 60, 1 / 60, 1, 1])
    expected = np.array([[0, 50, 0, 10], [50, 100, 0, 6], [50, 75, 6, 10]]) * minutes
    assert np.allclose(rectangles(ax), expected)
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3"]
    assert ax.get_xlabel().startswith("Minutes")


def test_colours_say_how_a_job_came_to_run(three_jobs: Schedule) -> None:
    ax = plot_gantt(three_jobs)
    assert [kind_of(colour) for colour in ax.collections[0].get_facecolor()] == [0, 2, 1]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["started in order", "backfilled", "killed at its request"]


def test_a_window_cuts_the_jobs_that_reach_out_of_it(three_jobs: Schedule) -> None:
    ax = plot_gantt(three_jobs, begin=60, end=90)
    assert np.allclose(rectangles(ax), [[1, 1.5, 0, 6], [1, 1.25, 6, 10]])
    assert ax.get_xlim() == (1, 1.5)


@pytest.mark.parametrize(("begin", "end"), [(50, 50), (90, 10), (1_000, None)])
def test_an_empty_window_is_refused(three_jobs: Schedule, begin: int, end: int | None) -> None:
    with pytest.raises(InputError, match="empty"):
        plot_gantt(three_jobs, begin=begin, end=end)


def test_a_window_in_which_nothing_runs_is_refused(three_jobs: Schedule) -> None:
    with pytest.raises(InputError, match="no job runs"):
        plot_gantt(three_jobs, begin=200, end=300)


def test_many_rectangles_are_painted_as_one_image(three_jobs: Schedule, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gantt, "MOST_RECTANGLES", 2)
    ax = plot_gantt(three_jobs)
    assert not ax.collections
    image = np.asarray(ax.images[0].get_array())
    rows, columns = image.shape[:2]

    def kind_at(second: float, processor: float) -> int | None:
        return kind_of(image[int(processor / 10 * rows), int(second / 100 * columns)])

    assert [kind_at(25, 3.5), kind_at(60, 3.5), kind_at(60, 8.5), kind_at(90, 8.5)] == [0, 2, 1, None]


def test_a_large_chart_has_no_labels(schedules: Mapping[str, Schedule]) -> None:
    ax = plot_gantt(schedules["scheduler 0"])
    assert not ax.texts
    assert ax.get_xlabel() == "Date (UTC)"


def test_a_record_that_has_used_more_than_the_machine_is_drawn_on_what_it_takes(three_jobs: Schedule) -> None:
    """Jobs that shared cores, or ran on nodes that are gone: ten processors of nine."""
    assert plot_gantt(replace(three_jobs, processors=9)).get_ylim() == (0, 10)
