"""A site month by month: waits, use and the error of the twin are put into the right months."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from schedlab.cli.app import app
from schedlab.cluster.cluster import Cluster
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.report.site_months import render_months
from schedlab.site.ledger import Ledger
from schedlab.site.months import months
from schedlab.site.site import Settings, Site
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

DAY, HOUR = 86_400, 3600
CLUSTER = Cluster.of_nodes([NodeGroup.of("n1", cores=4)], [Partition("batch", default=True)], name="lab")


def site_of(submit: list[int], run: list[int], waits: list[int], start: datetime | None = None) -> Site:
    """Return a site of one node whose jobs take all its cores, first come, first served."""
    count = len(submit)
    columns = {"submit_time": submit, "run_time": run, "requested_time": run, "wait_time": waits}
    columns |= {"requested_processors": [4] * count, "user_id": [1] * count}
    when = None if start is None else int(start.timestamp())
    asked = Resources.of(count, tasks=[4] * count, partition=["batch"] * count)
    jobs = Workload.from_columns(columns, name="lab", processors=4, resources=asked, start_time=when)
    return Site(CLUSTER, jobs, Settings("fcfs"), Ledger())


JANUARY = datetime(2026, 1, 11, tzinfo=UTC)
"""The first job comes on January 11, 21 days before February; the second and third on February 1; the last in March."""


def dated() -> Site:
    submit = [0, 21 * DAY, 21 * DAY, (21 + 28 + 21) * DAY]
    return site_of(submit, [DAY, DAY, DAY, HOUR], [0, 0, 2 * DAY, 0], JANUARY)


def test_months_are_those_of_the_calendar_and_have_the_jobs_submitted_in_them():
    found = months(dated())
    assert found.length == "month"
    assert [(one.name, one.jobs) for one in found.periods] == [("2026-01", 1), ("2026-02", 2), ("2026-03", 1)]
    january, february, march = found.periods
    # Recorded: 0 and two days; the twin starts the second job of February after the first, a day after its submission.
    assert february.recorded is not None
    assert february.recorded[:2] == (DAY, DAY)
    assert february.simulated[:2] == (DAY / 2, DAY / 2)
    assert february.error == -0.5
    assert (january.begin, january.end, january.complete) == (0, 21 * DAY, True)
    assert (march.begin, march.complete) == (49 * DAY, True)
    # Use: January's job runs 1 of 21 days; February's two, of which the record has the second from the third day on.
    assert january.use == (pytest.approx(1 / 21), pytest.approx(1 / 21))
    assert february.use == (pytest.approx(2 / 28), pytest.approx(2 / 28))
    assert february.work == pytest.approx(2 / 28)
    assert february.queue == (pytest.approx(2 / 28), pytest.approx(1 / 28))


def test_a_month_of_which_less_than_half_is_in_the_log_is_a_part():
    site = site_of([0, 5 * DAY, 70 * DAY], [HOUR] * 3, [0] * 3, datetime(2026, 1, 28, tzinfo=UTC))
    found = months(site)
    assert [one.complete for one in found.periods] == [False, True, True, False]
    assert "2026-01 (part)" in str(found)


def test_a_log_without_dates_is_cut_from_its_first_submission():
    site = site_of([100, 100 + 8 * DAY, 100 + 20 * DAY], [HOUR] * 3, [0] * 3)
    found = months(site)
    assert [(one.name, one.jobs) for one in found.periods] == [("week 1", 1), ("week 2", 1), ("week 3", 1)]
    assert [one.name for one in months(site, "month").periods] == ["30 days 1"]
    short = months(site_of([0, DAY, 3 * DAY], [HOUR] * 3, [0] * 3))
    assert (short.length, [one.jobs for one in short.periods]) == ("day", [1, 1, 0, 1])
    assert "day 3" in str(short)


def test_days_and_weeks_of_a_dated_log_begin_at_midnight_whenever_its_first_job_came():
    """The log begins at 13:02:10; a job of 23:59:59 is of the first day, and one of 00:00:01 of the second."""
    begin = datetime(2026, 3, 2, 13, 2, 10, tzinfo=UTC)
    midnight = 24 * HOUR - (13 * HOUR + 2 * 60 + 10)
    submit = [0, midnight - 1, midnight + 1, midnight + DAY + 5]
    found = months(site_of(submit, [60] * 4, [0] * 4, begin))
    assert [(one.name, one.jobs) for one in found.periods] == [("2026-03-02", 2), ("2026-03-03", 1), ("2026-03-04", 1)]
    weeks = months(site_of(submit, [60] * 4, [0] * 4, begin), "week")
    assert [one.name for one in weeks.periods] == ["week from 2026-03-02"]
    assert (weeks.periods[0].begin, weeks.periods[0].jobs) == (0, 4)


def test_without_recorded_waits_all_figures_are_those_of_the_twin_and_it_says_so():
    site = dated()
    jobs = site.jobs.replace(wait_time=np.full(4, -1))
    found = months(Site(CLUSTER, jobs, site.settings, site.ledger))
    assert found.calibration is None
    assert found.sentences()[0].startswith("A twin that cannot be calibrated says: ")
    assert np.isnan(found.periods[1].error)
    assert "error" not in str(found)
    assert "recorded" not in render_months(found).split("<table>")[1].split("</table>")[0]


def test_sentences_name_the_worst_month_and_the_longest_waits():
    """Three months of 40 jobs; the record has 100 s for each, and 200 s in February, where the twin has none."""
    submit = np.concatenate([month * 31 * DAY + np.arange(40) * 5 * HOUR for month in range(3)])
    waits = np.repeat([100, 200, 100], 40)
    found = months(site_of(submit.tolist(), [60] * 120, waits.tolist(), datetime(2026, 1, 1, tzinfo=UTC)))
    told = " ".join(found.sentences())
    assert "The twin is within 25% of the recorded mean wait in 0 of 2 months" in told
    assert "By the record, the longest waits were in 2026-02: 3.33 min on average" in told


def test_the_page_and_the_document_have_the_months(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    where, page = dated().save(tmp_path / "site"), tmp_path / "months.html"
    app(["site", "months", str(where), "--report", str(page), "--json"], standalone_mode=False)
    document = json.loads(capsys.readouterr().out)
    assert len(document["sentences"]) > 1
    assert [one["name"] for one in document["periods"]] == ["2026-01", "2026-02", "2026-03"]
    assert document["periods"][1]["error"] == -0.5
    text = page.read_text()
    assert "2026-02" in text
    assert "Mean wait recorded" in text
    assert "−50%" in text or "-50%" in text
