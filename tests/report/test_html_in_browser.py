"""The report in a real browser, as a reader opens it from a mail attachment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from schedlab.report.html import Evidence, write_report


@pytest.fixture(scope="module")
def report(evidence: Evidence, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(evidence, tmp_path_factory.mktemp("report") / "report.html")


@pytest.mark.parametrize("width", [375, 768, 1_280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_without_complaint_or_request_and_never_scrolls_sideways(
    browser: Any, report: Path, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    complaints: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    shown, available = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    broken = page.evaluate("[...document.images].filter(image => !image.complete || !image.naturalWidth).length")
    context.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith("data:")] == [report.as_uri()]
    assert shown <= available
    assert broken == 0


def test_wide_tables_and_figures_scroll_inside_their_own_box_on_a_phone(browser: Any, report: Path) -> None:
    context = browser.new_context(viewport={"width": 375, "height": 800})
    page = context.new_page()
    page.goto(report.as_uri())
    scrolling = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth).length"
    )
    outside = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(element => !element.closest('.scroll')"
        " && element.getBoundingClientRect().right > document.documentElement.clientWidth + 1).length"
    )
    context.close()
    assert scrolling > 0
    assert outside == 0


def test_it_works_without_scripts(browser: Any, report: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.get_by_role("heading", name="The answer").is_visible()
    page.locator("summary", has_text="north").click()
    assert page.get_by_role("table", name="Mean bounded slowdown, north").is_visible()
    context.close()


def test_it_prints_with_every_table_open_and_within_the_width_of_the_paper(browser: Any, report: Path) -> None:
    # A4 without its margins of 14 mm: 182 mm are 688 pixels.
    context = browser.new_context(viewport={"width": 688, "height": 1_000})
    page = context.new_page()
    page.emulate_media(media="print")
    page.goto(report.as_uri())
    widest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('main *')].map(element => element.getBoundingClientRect().right))"
    )
    hidden = page.evaluate(
        "[...document.querySelectorAll('table')].filter(table => !table.getBoundingClientRect().height).length"
    )
    # A button in the head of a table is not painted where the head is shown again, on the next page.
    in_heads = page.evaluate(
        "[...document.querySelectorAll('thead button')].filter(each => getComputedStyle(each).display !== 'contents'"
        " && getComputedStyle(each).display !== 'none').length"
    )
    paper = page.pdf(format="A4")
    context.close()
    assert widest <= 689
    assert hidden == 0
    assert in_heads == 0
    assert paper.startswith(b"%PDF")
