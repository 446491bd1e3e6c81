"""The forecast of a site's waiting jobs in files: for programs, for Prometheus, as a page; complete or not at all."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from schedlab.errors import InputError
from schedlab.report.starts import write_starts
from schedlab.when.forks import Forking
from schedlab.when.site_forecast import at_site
from schedlab.when.snapshots import read_snapshot

sys.path.append(str(Path(__file__).parents[1] / "when"))
from site_samples import MOMENT, printed, small_site

UTC = ZoneInfo("UTC")


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    where = tmp_path_factory.mktemp("site")
    return at_site(small_site(where), read_snapshot(printed(where), MOMENT), how=Forking(forks=20))


def test_the_json_names_jobs_with_moments_in_order_and_chances_that_grow(found, tmp_path):
    document = json.loads(write_starts(found, tmp_path / "when.json", UTC).read_text())
    assert (document["format"], document["version"], document["asked_at"]) == ("schedlab when", 1, MOMENT)
    assert [(job["job"], job["user"], job["partition"]) for job in document["jobs"]] == [
        (9, "ann", "batch"),
        (10, "bob", "batch"),
    ]
    for job in document["jobs"]:
        assert MOMENT <= job["start_10"] <= job["start_50"] <= job["start_90"]
        chances = job["chances"]
        assert chances["within_1_min"] <= chances["within_10_min"] <= chances["within_1_h"] <= chances["within_1_d"]
    assert document["never"] == {"11": "it is held (JobHeldUser) and waits until it is released"}


def test_prometheus_gets_one_value_per_line_in_its_text_format(found, tmp_path):
    lines = write_starts(found, tmp_path / "when.prom", UTC).read_text().splitlines()
    values = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? \d+', line) for line in values)
    assert 'schedlab_when_waiting_jobs{partition="batch"} 2' in values
    assert f"schedlab_when_asked_at_seconds {MOMENT}" in values


def test_the_page_has_a_row_for_each_job_and_loads_nothing(found, tmp_path):
    page = write_starts(found, tmp_path / "when.html", UTC, every=60).read_text()
    assert re.findall(r"<tr><td>(\d+)</td><td>(\w+)</td>", page) == [("10", "bob"), ("9", "ann")]
    assert '<meta http-equiv="refresh" content="60">' in page
    assert "src=" not in page
    assert "href=" not in page


def test_the_page_says_of_jobs_that_do_not_start_why(found, tmp_path):
    page = write_starts(found, tmp_path / "when.html", UTC).read_text()
    assert '<tr><td>11</td><td colspan="7">it is held (JobHeldUser) and waits until it is released</td></tr>' in page


def test_another_suffix_is_refused_and_nothing_is_left(found, tmp_path):
    with pytest.raises(InputError, match=r"unknown suffix; known are \.json, \.html, \.prom"):
        write_starts(found, tmp_path / "when.txt", UTC)
    assert list(tmp_path.iterdir()) == []
