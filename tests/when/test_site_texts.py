"""A person reads a sentence first: when, and what decides."""

from __future__ import annotations

from types import SimpleNamespace
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import schedlab as sl
from schedlab.cluster.node_events import NodeEvent
from schedlab.durations import WEEK
from schedlab.when.forks import WEEKS
from schedlab.when.site_texts import start_text, until_midnight
from schedlab.when.start_forecast import StartForecast
from schedlab.when.waits_for import WaitsFor

UTC, STOCKHOLM = ZoneInfo("UTC"), ZoneInfo("Europe/Stockholm")

# Second 0 is 2026-04-01 10:00 UTC, noon in Stockholm.
EPOCH = 1_775_037_600


def forecast(waits, *, ahead=0, own=0, group=0, limit="", closures=(), reason="Priority"):
    jobs = sl.Workload.from_columns({"submit_time": [0], "run_time": [9], "requested_processors": [1], "job_id": [7]})
    starts = StartForecast(0, jobs, np.array(waits)[:, None], len(waits), 1, 0)
    state = SimpleNamespace(epoch=EPOCH, state=SimpleNamespace(jobs=jobs))
    return SimpleNamespace(
        starts=starts, state=state, waits_for=(WaitsFor(reason, ahead, own, group, limit, closures),)
    )


# Of nine waits of 1 to 9 hours, the r-th is the quantile r / 10.
HOURS = [3_600 * hour for hour in range(1, 10)]


@pytest.mark.parametrize(
    ("found", "zone", "text"),
    [
        (
            forecast(HOURS, ahead=3, own=1, group=1),
            UTC,
            "Job 7 will probably start between 11:00 and 19:00, most likely about 15:00; 3 jobs before it in the queue "
            "(1 of its user, 1 of its group) decide.",
        ),
        (
            forecast(HOURS, closures=(NodeEvent(6 * 3_600, "maintenance", ("n1", "n2"), 9 * 3_600),)),
            STOCKHOLM,
            "Job 7 will probably start between 13:00 and 21:00, most likely about 17:00; a maintenance of 2 nodes from "
            "18:00 decides.",
        ),
        (
            forecast([86_400 + one for one in HOURS], limit="AssocGrpCpuLimit", ahead=2),
            UTC,
            "Job 7 will probably start between tomorrow 11:00 and tomorrow 19:00, most likely about tomorrow 15:00; 2 "
            "jobs before it in the queue and a limit (AssocGrpCpuLimit) decide.",
        ),
        (
            forecast(HOURS, reason="Resources"),
            UTC,
            "Job 7 will probably start between 11:00 and 19:00, most likely about 15:00; it waits for nodes to "
            "become free.",
        ),
        (forecast([0] * 9), UTC, "Job 7 will start at once (100%)."),
        (forecast([0] * 19 + [HOURS[0]]), UTC, "Job 7 will probably start at once (95%)."),
        (
            forecast([0, 0, *HOURS[2:]]),
            UTC,
            "Job 7 may start at once (22%); it will probably start between 10:00 and 19:00, most likely about 15:00; "
            "it waits for jobs of higher priority.",
        ),
        (forecast([WEEKS * WEEK] * 9, reason=""), UTC, "Job 7 will probably not start within nine weeks."),
    ],
)
def test_the_sentence_of_a_job(found, zone, text):
    assert start_text(found, 0, zone) == text


def test_the_day_ends_at_midnight_of_the_zone():
    assert until_midnight(forecast(HOURS), UTC) == 14 * 3_600
    assert until_midnight(forecast(HOURS), STOCKHOLM) == 12 * 3_600
