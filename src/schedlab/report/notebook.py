"""Schedules in a notebook: the view of the report as a widget, with a picture where widgets do not run."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from schedlab.arguments import explained
from schedlab.campaign.results.comparison import Comparison
from schedlab.errors import InputError
from schedlab.report.container import Container
from schedlab.report.contents import contents, index_json
from schedlab.report.definitions import DEFINITIONS
from schedlab.report.illustrations import example_figures
from schedlab.report.page import built
from schedlab.schedule.recorded import recorded
from schedlab.schedule.schedule import Schedule
from schedlab.wording import install
from schedlab.workload.workload import Workload


@explained
def explore(
    subject: Schedule | Comparison | Workload | Mapping[str, Schedule],
    *,
    baseline: str | None = None,
    unit: str = "processor",
) -> Any:
    """Return a widget to look into schedules: Gantt chart, queue, why a job waited, what differs.

    It is the view of the reports that `--report` writes. Where widgets do not run, as on a web page made of a notebook,
    a picture stands in its place.

    Parameters
    ----------
    subject
        A schedule, a comparison, schedules of the same jobs by name, or a workload: its jobs with the waits that the
        trace has recorded or, without any, as if each had started at once.
    baseline
        The schedule that is shown first; by default, the first.
    unit
        What the machine is counted in, singular: "processor", "node", "GPU".

    Returns
    -------
    anywidget.AnyWidget
        For JupyterLab, Jupyter Notebook, VS Code, marimo and Colab.

    Raises
    ------
    InputError
        If anywidget is not installed, or if there is nothing to show.
    """
    if isinstance(subject, Workload):
        subject = recorded(subject)
    if isinstance(subject, Schedule):
        schedules: Mapping[str, Schedule] = {subject.scheduler: subject}
    else:
        schedules = subject.schedules if isinstance(subject, Comparison) else subject
    if not schedules or not all(len(schedule) for schedule in schedules.values()):
        raise InputError("the schedule has no jobs to explore")
    container = Container()
    index = contents(schedules, container, baseline=baseline, unit=unit)
    index["limits"] = np.cumsum([0, *map(len, container.blocks)]).tolist()
    first = list(schedules.values())[index["first"]]
    widget = _widget_class()(
        index=index_json(index), definitions=index_json(DEFINITIONS), data=b"".join(container.blocks)
    )
    widget.shown = first
    return widget


@cache
def _widget_class() -> Any:
    """Return the class of the widgets; anywidget is an extra."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise InputError(f"explore() needs anywidget: {install('notebook')}") from None

    class Explorer(anywidget.AnyWidget):
        """The view of schedules."""

        _esm = built("widget.js")
        index = traitlets.Unicode().tag(sync=True)
        definitions = traitlets.Unicode().tag(sync=True)
        data = traitlets.Bytes().tag(sync=True)
        shown: Schedule

        def _repr_mimebundle_(self, **options: Any) -> Any:
            bundle = super()._repr_mimebundle_(**options)
            data = bundle[0] if isinstance(bundle, tuple) else bundle
            if data is not None:
                data["text/html"] = picture(self.shown)
            return bundle

    return Explorer


def picture(schedule: Schedule) -> str:
    """Return a schedule as static HTML: its summary, and its Gantt chart around the longest queue."""
    figures = example_figures({schedule.scheduler: schedule}, [schedule.scheduler], schedule.scheduler)
    images = "".join(
        f'<img src="{figure.source}" alt="{html.escape(figure.alt)}" style="max-width: 100%">' for figure in figures
    )
    return f"<pre>{html.escape(str(schedule))}</pre>{images}"
