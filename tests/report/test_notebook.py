"""Schedules in a notebook: the widget carries the same data, and a picture for where widgets do not run."""

from __future__ import annotations

import json
import sys
from itertools import pairwise

import pytest

from schedlab.campaign.compare import compare
from schedlab.errors import InputError
from schedlab.report import notebook
from schedlab.report.container import Container
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
    with pytest.raises(InputError, match=r"pip install 'schedlab\[notebook\]'"):
        schedules["scheduler 0"].explore()
    notebook._widget_class.cache_clear()


def test_names_in_notebooks_are_text(workload: Workload) -> None:
    comparison = compare(workload.replace(name="<b>x</b>"), ["fcfs"])
    shown = comparison.schedules["fcfs"]._repr_html_() + comparison.schedules["fcfs"].workload._repr_html_()
    assert "<b>" not in shown
    assert shown.count("&lt;b&gt;x") >= 2
