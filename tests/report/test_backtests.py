"""The page of a backtest of start forecasts: its sentences, tables and figures, also in a browser."""

from __future__ import annotations

import re

import numpy as np
import pytest

from schedlab.report.backtests import plot_held, plot_medians, plot_reliability, render_backtest, write_backtest
from schedlab.when.at_once import AtOnce
from schedlab.when.backtests import Backtest
from schedlab.when.methods import LAST_WEEK, QBETS
from schedlab.when.queue_views import COLUMNS
from schedlab.when.recalibration import Outcomes

WEEK = 7 * 86_400


@pytest.fixture(scope="module")
def found():
    """Eighty jobs that are told to wait one to two hours; of the forty that are judged, ten wait for a day."""
    moment = np.arange(80) * WEEK // 10
    waits = np.tile(np.linspace(3_600, 7_200, 20).astype(np.int64)[:, None], (1, 80))
    outcome = np.full(80, 5_400)
    outcome[40::4] = 86_400
    wide = np.tile(np.linspace(600, 90_000, 9), (80, 1))
    return Backtest(
        name="lab",
        scheduler="fcfs+easy",
        outcomes=Outcomes(moment, waits, outcome, np.arange(80) % 16 + 1),
        plan=np.full(80, 20_000),
        view=np.zeros((80, COLUMNS)),
        queue=waits,
        job_id=np.arange(1, 81),
        judged_from=int(moment[40]),
        seed=1,
        baselines={LAST_WEEK: wide, QBETS: 1.5 * wide},
        at_once=AtOnce(moment, np.linspace(0, 1, 80), np.arange(80) >= 40),
    )


def test_the_page_says_first_how_often_intervals_held(found):
    page = render_backtest(found, command="schedlab when --backtest")
    assert "lab: 75% of the 80 % intervals held" in page
    assert "an AUC of 1.000" in page
    assert re.search(r"Intervals of the last week of the partition are \d+\.\d times as wide", page)
    assert "schedlab when --backtest" in page


def test_missed_jobs_are_those_that_waited_for_a_day(found):
    page = render_backtest(found)
    table = page[page.index("The jobs whose start lay farthest") :]
    assert sorted(map(int, re.findall(r'<th scope="row"><bdi>(\d+)</bdi>', table))) == list(range(41, 81, 4))


def test_the_figures_have_a_line_for_each_method_and_a_dot_for_each_job(found):
    assert len(plot_reliability(found).get_lines()) == 5  # the diagonal, the chosen method, forks and two others
    assert len(plot_medians(found).get_lines()[1].get_xdata()) == 40
    (told,) = [line for line in plot_held(found).get_lines() if line.get_marker() == "o"]
    assert told.get_xdata()[0] == pytest.approx(0.75)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1_280, "light"), (1_280, "dark"), (375, "light")])
def test_in_a_browser_rows_are_filtered_and_nothing_is_cut(found, look, tmp_path, width, scheme):
    page = look(write_backtest(found, tmp_path / "page.html"), width=width, scheme=scheme, ready="main")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rows = "[...document.querySelectorAll('section:has(#leading-1) tbody tr')].filter(row => row.offsetParent).length"
    assert page.evaluate(rows) == len(found.methods)
    page.locator("section:has(#leading-1) input").fill("QBETS")
    page.wait_for_function(f"{rows} === 1")
