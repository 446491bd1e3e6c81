"""Schedules in a notebook: the widget carries the same data, and a picture for where widgets do not run."""

from __future__ import annotations

import json
import sys
from itertools import pairwise

import numpy as np
import pytest

from schedlab import display
from schedlab.campaign.results.comparison import compare
from schedlab.errors import InputError
from schedlab.report import notebook
from schedlab.report.container import Container
from schedlab.schedule.recorded import recorded
from schedlab.schedule.schedule import Schedule
from schedlab.workload.workload import Workload


def test_the_widget_carries_the_blocks_of_the_index(schedules: dict[str, Schedule]) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed (extra notebook)")
    schedule = schedules["scheduler 0"]
    widget = schedule.explore()
    index = json.loads(widget.index)
    limits = index["limits"]
    container = Container([widget.data[begin:end] for begin, end in pairwise(limits)])
    submitted = container.read(index["columns"]["submit"]) + schedule.workload.submit_time.min()
    assert submitted.tolist() == schedule.workload.submit_time.tolist()
    assert "export" in widget._esm


def test_a_picture_stands_where_widgets_do_not_run(schedules: dict[str, Schedule]) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed (extra notebook)")
    bundle = schedules["scheduler 0"].explore()._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "data:image/png;base64," in data["text/html"]


def test_a_comparison_is_explored_from_its_baseline(workload: Workload) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed (extra notebook)")
    comparison = compare(workload, ["fcfs", "fcfs+easy"])
    assert json.loads(comparison.explore(baseline="fcfs+easy").index)["first"] == 1


def test_without_anywidget_one_sentence_says_what_to_install(
    schedules: dict[str, Schedule], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    notebook._widget_class.cache_clear()
    with pytest.raises(InputError, match=r'pip install "\.\[notebook\]" in the checkout'):
        schedules["scheduler 0"].explore()
    notebook._widget_class.cache_clear()


def test_names_in_notebooks_are_text(workload: Workload) -> None:
    comparison = compare(workload.replace(name="<b>x</b>"), ["fcfs"])
    schedule = comparison.schedules["fcfs"]
    shown = "".join(each._repr_mimebundle_()["text/html"] for each in (schedule, schedule.workload))
    assert "<b>" not in shown
    assert shown.count("&lt;b&gt;x") >= 2


def test_a_kernel_shows_schedules_comparisons_and_workloads_as_widgets(
    workload: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed (extra notebook)")
    comparison = compare(workload, ["fcfs"])
    subjects = (comparison, comparison.schedules["fcfs"], workload)
    assert not any("application/vnd.jupyter.widget-view+json" in each._repr_mimebundle_() for each in subjects)
    monkeypatch.setattr(display, "_in_a_kernel", lambda: True)
    for each in subjects:
        bundle = each._repr_mimebundle_()
        assert "application/vnd.jupyter.widget-view+json" in bundle
        assert bundle["text/plain"] == repr(each)
        assert each._display_().comm is not None
    assert "text/html" in workload[:0]._repr_mimebundle_()


def test_a_workload_is_shown_as_recorded_or_without_waits(workload: Workload) -> None:
    alone = recorded(workload)
    assert alone.wait_time.tolist() == [0] * len(workload)
    assert alone.processors >= workload.processors
    waits = np.arange(len(workload))
    shown = recorded(workload.replace(wait_time=waits))
    assert shown.scheduler == "as recorded"
    assert shown.wait_time.tolist() == waits.tolist()
