"""Figures inside a page."""

from __future__ import annotations

import base64
from urllib.parse import unquote
from xml.etree import ElementTree

import pandas as pd
import pytest

from schedlab.report.campaigns import plot_distribution
from schedlab.report.illustrations import busy_period, class_figures, example_figures, illustrate
from schedlab.report.style import new_figure
from schedlab.schedule.schedule import COLUMNS, Schedule


def test_a_figure_is_inside_the_page_as_lines_or_as_pixels(results: pd.DataFrame) -> None:
    lines = illustrate(plot_distribution(results), "alt.", "caption")
    head, _, data = lines.source.partition(",")
    assert head == "data:image/svg+xml"
    drawing = ElementTree.fromstring(unquote(data))
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert "fcfs+easy" in "".join(drawing.itertext())
    pixels = illustrate(plot_distribution(results), "alt.", "caption", vector=False)
    head, _, data = pixels.source.partition(",")
    assert head == "data:image/png;base64"
    assert base64.b64decode(data).startswith(b"\x89PNG")
    assert (lines.alt, lines.caption) == (pixels.alt, pixels.caption) == ("alt.", "caption")


def test_the_words_of_a_figure_keep_their_spaces() -> None:
    figure = new_figure((4, 2))
    figure.suptitle("lab: partition C ; a < b")
    drawing = ElementTree.fromstring(unquote(illustrate(figure, "alt.", "caption").source.partition(",")[2]))
    assert "lab: partition C ; a < b" in "".join(drawing.itertext())


def test_the_busy_period_is_short_and_around_the_longest_queue(examples: dict[str, dict[str, Schedule]]) -> None:
    schedule = examples["north"]["fcfs+easy"]
    begin, end = busy_period(schedule)
    assert 3_600 <= end - begin <= 4 * 86_400
    submit = schedule.workload.submit_time
    origin = submit.min()
    waiting = [((submit <= now) & (schedule.start_time > now)).sum() for now in submit]
    peak = submit[max(range(len(waiting)), key=waiting.__getitem__)] - origin
    assert begin <= peak <= end


def test_a_short_schedule_is_its_own_busy_period(examples: dict[str, dict[str, Schedule]]) -> None:
    short = examples["north"]["fcfs+easy"]
    few = short.workload[:1]
    one = Schedule(few, *(getattr(short, name)[:1] for name in COLUMNS), scheduler="fcfs", processors=64)
    assert busy_period(one) == (0, max(int(one.end_time[0] - few.submit_time[0]), 1))


def test_classes_that_nobody_has_are_no_figure(results: pd.DataFrame) -> None:
    columns = [column for column in results if column.endswith("_users")]  # type: ignore[attr-defined]
    unknown = results.assign(**dict.fromkeys(columns, float("nan")))
    assert list(class_figures(unknown, ["fcfs+easy", "saf+easy"])) == ["By job size"]


@pytest.mark.parametrize("schedulers", [["fcfs+easy"], ["saf+easy", "fcfs+easy"]])
def test_an_example_shows_the_baseline_and_the_best(
    examples: dict[str, dict[str, Schedule]], schedulers: list[str]
) -> None:
    figures = example_figures(examples["north"], schedulers, "fcfs+easy")
    assert len(figures) == 2 + len(schedulers)
    assert [text in figure.alt for text, figure in zip(["fcfs+easy", "saf+easy"], figures[2:], strict=False)] == [
        True
    ] * len(schedulers)


def test_without_an_example_there_is_nothing_to_show() -> None:
    assert example_figures({}, ["fcfs"], "fcfs") == []
