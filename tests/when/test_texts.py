"""What a person reads of a forecast."""

from __future__ import annotations

import numpy as np
import pytest

import schedlab as sl
from schedlab.when.texts import sentence


def found(waits, now=0, start_time=None):
    """Return a forecast for job 7 with these waits in seconds."""
    columns = {"job_id": [7], "submit_time": [0], "run_time": [60], "requested_time": [60], "requested_processors": [2]}
    jobs = sl.Workload.from_columns(columns, processors=4, start_time=start_time)
    return sl.when.StartForecast(now, jobs, np.array(waits)[:, None], len(waits), 1, 0)


@pytest.mark.parametrize(
    ("waits", "start_time", "text"),
    [
        ([0] * 9, None, "Job 7 starts at once."),
        ([120] * 9, None, "Job 7 will start at about day 1, 00:02."),
        # Of nine waits, the first, fifth and ninth are the quantiles 0.1, 0.5 and 0.9.
        (
            range(3_600, 9 * 3_600 + 1, 3_600),
            None,
            "On day 1, job 7 will probably start between 01:00 and 09:00, most likely about 05:00.",
        ),
        (
            range(0, 8 * 86_400 + 1, 86_400),
            86_400 * 20_000,
            "Job 7 may start at once (11%); it will probably start between 2024-10-04 00:00 and 2024-10-12 00:00, most "
            "likely about 2024-10-08 00:00.",
        ),
    ],
)
def test_a_sentence_says_when_a_job_will_start(waits, start_time, text):
    assert sentence(found(list(waits), start_time=start_time), 0) == text


def test_chances_are_the_shares_of_forks():
    forecast = found([0, 30, 60, 700, 4_000])
    assert [forecast.chance(seconds)[0] for seconds in (0, 60, 600, 3_600)] == [0.2, 0.6, 0.6, 0.8]
    (told,) = forecast.to_dicts()
    assert (told["job"], told["at_once"], told["within_1_min"], told["within_1_h"]) == (7, 0.2, 0.6, 0.8)
