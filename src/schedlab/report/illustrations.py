"""The figures of a report, as data that an HTML page carries inside itself, each with words for who cannot see it."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from schedlab.campaign.results.ranking import SchedulerRanking
from schedlab.durations import DAY
from schedlab.report.campaigns import (
    labels_of,
    metric_label,
    plot_boxes,
    plot_by_class,
    plot_distribution,
    plot_heat_map,
    plot_ratios,
)
from schedlab.report.comparison import plot_queue_length, plot_utilisation
from schedlab.report.gantt import plot_gantt
from schedlab.report.style import root_figure, styled
from schedlab.schedule.groups import SIZE_CLASSES, USER_CLASSES
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.timeline import queue_length

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 130
"""Of figures with too many parts to be drawn as lines: sharp on a phone, small in a mail."""

MOST_LINES = 2_000
"""Results up to which figures are SVG; beyond, the dots and steps weigh more than pixels."""

EXCERPT_JOBS = 120
"""About how many jobs the excerpt of a Gantt chart shows."""

HOUR = 3_600

CLASS_MEASURES = ("mean_wait", "mean_bounded_slowdown")


@dataclass(frozen=True, slots=True)
class Illustration:
    """A figure in a page.

    Parameters
    ----------
    source
        The picture as a data URI.
    alt
        What it shows, for who cannot see it.
    caption
        How to read it.
    """

    source: str
    alt: str
    caption: str


def illustrate(drawn: Figure | Axes, alt: str, caption: str, *, vector: bool = True) -> Illustration:
    """Return a figure as part of a page: as SVG, or as PNG if it has too many parts for that."""
    import matplotlib

    from schedlab.report.canvas import only_drawable

    only_drawable(root_figure(drawn))
    buffer = BytesIO()
    # With names that depend on nothing but the content, the same results give the same file. Words stay words: their
    # outlines would be a third of it.
    with styled(), matplotlib.rc_context({"svg.hashsalt": "schedlab", "svg.fonttype": "none"}):
        if vector:
            root_figure(drawn).savefig(buffer, format="svg", metadata={"Date": None})
        else:
            root_figure(drawn).savefig(buffer, format="png", dpi=DPI)
    return Illustration(_vector_uri(buffer.getvalue()) if vector else _pixel_uri(buffer), alt, caption)


def _vector_uri(svg: bytes) -> str:
    """Return a drawing of Matplotlib as a data URI of a quarter of its size.

    It is plain text, with coordinates to a hundredth of a point, and without the records of who made it.
    """
    text = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<metadata>.*?</metadata>|<!--.*?-->", "", svg.decode(), flags=re.DOTALL)
    text = re.sub(r' (?:d|x|y)="[^"]*"', lambda found: _rounded(found[0]), text)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r">\s+<", "><", re.sub(r"\s+", " ", text))
    # In tags alone: the colon of a title keeps its space.
    text = re.sub(r"<[^>]*>", lambda tag: re.sub(r"\s*([<>;:]|\b[MLCQz]\b)\s*", r"\1", tag[0]), text)
    return "data:image/svg+xml," + quote(text, safe=" =/:;,(){}*+!@$?|^`[]~")


def _rounded(attribute: str) -> str:
    """Return an attribute whose numbers have two decimals at most."""
    return re.sub(r"-?\d+\.\d{3,}", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), attribute)


def _pixel_uri(png: BytesIO) -> str:
    """Return a drawing in pixels as a data URI: 256 colours are enough for lines, areas and their edges."""
    from PIL import Image

    small = BytesIO()
    Image.open(png).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(small, format="png", optimize=True)
    return f"data:image/png;base64,{base64.b64encode(small.getvalue()).decode()}"


def answer_figures(result: SchedulerRanking) -> list[Illustration]:
    """Return the ratios to the baseline with their intervals, and by workload if there are several."""
    what, baseline = metric_label(result.metric), result.baseline
    figures = []
    if any(row.paired and row.paired.ratio_interval for row in result.of()):
        figures.append(
            illustrate(
                plot_ratios(result),
                f"Ratio of the {what} of each scheduler to that of {baseline}; the numbers are in the table below.",
                "Dots: geometric means of the ratios. Lines: their intervals. Grey: not surely better or worse than "
                f"{baseline}.",
            )
        )
    if len(result.workloads()) > 1:
        figures.append(
            illustrate(
                plot_heat_map(result),
                f"Ratio of the {what} to that of {baseline}, by workload; the numbers are in the tables below.",
                "The same by workload.",
            )
        )
    return figures


def distribution_figures(frame: pd.DataFrame, metric: str, schedulers: Sequence[str]) -> list[Illustration]:
    """Return the distribution of the metric over the instances, as boxes and as curves."""
    what, vector = metric_label(metric), len(frame) <= MOST_LINES
    return [
        illustrate(
            plot_boxes(frame, metric, schedulers),
            f"Boxplots of the {what} over the instances, for each workload and scheduler.",
            "Boxes reach from quartile to quartile, with a stroke at the median; whiskers to the last value within 1.5 "
            "times their width; dots are the values beyond.",
            vector=vector,
        ),
        illustrate(
            plot_distribution(frame, metric, schedulers),
            f"Cumulative distribution of the {what} over the instances, one curve for each scheduler.",
            "The share of the instances in which the value is at most that on the axis.",
            vector=vector,
        ),
    ]


def class_figures(frame: pd.DataFrame, schedulers: Sequence[str]) -> dict[str, list[Illustration]]:
    """Return the figures by size class and by user group, as far as the results have them."""
    figures: dict[str, list[Illustration]] = {}
    for heading, classes in (("By job size", SIZE_CLASSES), ("By user group", USER_CLASSES)):
        for measure in CLASS_MEASURES:
            columns = [column for column in (f"{measure}_{name}" for name in classes) if column in frame]
            if len(columns) < len(classes) or frame[columns].isna().all(axis=None):
                continue
            what = metric_label(measure)
            figures.setdefault(heading, []).append(
                illustrate(
                    plot_by_class(frame, measure, classes, schedulers),
                    f"{what.capitalize()} of the classes {', '.join(classes).replace('_', ' ')}, for each scheduler.",
                    "Means over the instances in which every scheduler has jobs of the class.",
                )
            )
    return figures


def example_figures(example: Mapping[str, Schedule], schedulers: Sequence[str], baseline: str) -> list[Illustration]:
    """Return utilisation and queue over time, and an excerpt of the Gantt charts of the baseline and of the best."""
    shown = {text: example[text] for text in schedulers if text in example}
    if not shown:
        return []
    labelled = dict(zip(labels_of(list(shown)), shown.values(), strict=True))
    figures = [
        illustrate(
            plot_utilisation(labelled),
            "Share of the machine in use over time, one strip for each scheduler.",
            "How much of the machine is in use, over time.",
            vector=False,
        ),
        illustrate(
            plot_queue_length(labelled),
            "Number of waiting jobs over time, one strip for each scheduler.",
            "How many jobs wait, over time.",
            vector=False,
        ),
    ]
    first = shown.get(baseline, next(iter(shown.values())))
    begin, end = busy_period(first)
    best = next((schedule for text, schedule in shown.items() if text != baseline), first)
    for schedule in dict.fromkeys([first, best]):
        if not _runs(schedule, begin, end):
            continue
        figures.append(
            illustrate(
                plot_gantt(schedule, begin=begin, end=end),
                f"Gantt chart of a busy period under {schedule.scheduler}: processors over time.",
                f"The time around the longest queue under {first.scheduler}, here under {schedule.scheduler}.",
                vector=False,
            )
        )
    return figures


def busy_period(schedule: Schedule) -> tuple[int, int]:
    """Return begin and end, in seconds after the first submission, of a period around the longest queue.

    It is long enough for about `EXCERPT_JOBS` jobs, but between an hour and four days.
    """
    origin = int(schedule.workload.submit_time.min())
    last = int(schedule.end_time.max()) - origin
    length = int(np.clip(last * EXCERPT_JOBS / len(schedule), HOUR, 4 * DAY))
    if last <= length:
        return 0, max(last, 1)
    queue = queue_length(schedule)
    peak = int(queue.times[np.argmax(queue.values)]) - origin
    begin = int(np.clip(peak - length // 2, 0, last - length))
    return begin, begin + length


def _runs(schedule: Schedule, begin: int, end: int) -> bool:
    """Say whether a job runs in a period after the first submission."""
    origin = schedule.workload.submit_time.min()
    return bool(((schedule.start_time < origin + end) & (schedule.end_time > origin + begin)).any())
