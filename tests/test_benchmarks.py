"""The history of benchmarks: what is compared, and what counts as slower."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("history"), importlib.import_module("result").Result


@pytest.mark.parametrize(
    ("figure", "cost"),
    [
        ("12.5 s; the next process 1.1 s", 12.5),
        ("4 min", 240),
        ("5,000 x real time", 1 / 5000),
        ("2.0 times saf+easy, 3.0 s", 3),
        ("152 MB", None),
        ("peak 1.2 GB", None),
    ],
)
def test_a_figure_says_a_time_or_a_speed(history, figure, cost):
    assert history[0].cost(figure) == (None if cost is None else pytest.approx(cost))


def test_a_figure_is_compared_with_the_best_one_before_on_the_same_machine(history, tmp_path):
    module, result = history
    runs = [("here", "2.00 s", "100 x real time"), ("here", "1.00 s", "80 x real time"), ("there", "0.10 s", "9 x")]
    for machine, seconds, speed in runs:
        found = [result("easy", seconds, "-", True, "-", True), result("lab", speed, "-", True, "-", True)]
        module.add(tmp_path / "history.jsonl", found, machine, "0.1")
    before = module.read(tmp_path / "history.jsonl")
    now = [result("easy", "1.04 s", "-", True, "-", True), result("lab", "50 x real time", "-", True, "-", True)]
    assert list(module.slower(before, now, "here")) == ["lab: 50 x real time, 2.00 times the best time before"]
    assert list(module.slower(before, now, "elsewhere")) == []
