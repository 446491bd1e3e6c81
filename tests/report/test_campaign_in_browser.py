"""The grid of a campaign in a real browser: metrics, the runs behind a cell, links, keyboard readers and phones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schedlab.campaign.definition.campaign_file import read_campaign
from schedlab.campaign.run.coordinator import run_campaign
from schedlab.report.evidence import evidence_of_campaign
from schedlab.report.html import write_report

CAMPAIGN = """
name = "order"
seed = 7
schedulers = ["fcfs+easy", "saf+easy"]
[[workloads]]
generate = "lublin"
jobs = 60
processors = 32
load = [0.8, 1.0]
repetitions = 6
"""


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("campaign")
    (directory / "order.toml").write_text(CAMPAIGN, encoding="utf-8")
    run = run_campaign(read_campaign(directory / "order.toml"), directory / "run", workers=1)
    return write_report(evidence_of_campaign(run), directory / "page.html")


def test_a_cell_shows_its_runs_and_a_link_shows_them_again(look: Callable[..., Any], campaign: Path) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect  # it waits for what a click shows
    page = look(campaign)
    grid = page.locator("#schedlab-campaign-view")
    cells = grid.locator(".sl-heat-map .sl-cell")
    assert cells.count() == 4
    assert grid.locator(".sl-multiples circle").count() == 24
    grid.get_by_label("Metric").select_option("max_wait")
    expect(grid.locator("caption").first).to_contain_text("max wait")
    grid.locator(".sl-heat-map .sl-cell").nth(3).click()
    runs = grid.locator("table", has_text="Runs of").locator("tbody tr")
    expect(runs).to_have_count(6)
    texts = runs.all_inner_texts()
    assert all("schedlab campaign task" in text for text in texts)
    # The view of one instance keeps its own part of the link beside that of the grid.
    page.evaluate("document.getElementById('schedlab-explorer').explorer.choose(7)")
    for _ in range(100):  # the link follows the view a moment later
        if "job=" in page.evaluate("location.hash"):
            break
        page.wait_for_timeout(100)
    again = look(campaign, page.evaluate("location.hash"))
    assert again.locator("#schedlab-campaign-view").get_by_label("Metric").input_value() == "max_wait"
    shown = again.locator("#schedlab-campaign-view table", has_text="Runs of").locator("tbody tr")
    assert shown.all_inner_texts() == texts
    assert again.locator(".sl-job h3").inner_text() == page.locator(".sl-job h3").inner_text()


@pytest.mark.parametrize("fragment", ["#v=1&grid=none&cell=9.9", "#v=1&cell=x", "#grid"])
def test_a_damaged_link_shows_the_grid(look: Callable[..., Any], campaign: Path, fragment: str) -> None:
    grid = look(campaign, fragment).locator("#schedlab-campaign-view")
    assert grid.get_by_label("Metric").input_value() == "mean_bounded_slowdown"
    assert grid.get_by_text("Runs of").count() == 0


@pytest.mark.parametrize(("scheme", "width"), [("light", 375), ("dark", 1_280)])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    look: Callable[..., Any], campaign: Path, scheme: str, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed (extra test)")
    page = look(campaign, "#v=1&cell=0.1", width=width, scheme=scheme, bypass_csp=True)
    page.locator("#schedlab-campaign-view").scroll_into_view_if_needed()
    found = axe.Axe().run(page).response["violations"]
    assert [(entry["id"], entry["nodes"][0]["html"][:200]) for entry in found] == []
    shown, available = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert shown <= available
