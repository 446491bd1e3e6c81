"""How patient users are: estimated from a log, and drawn."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.workload.cleaning import clean
from schedlab.workload.patience import Patience
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

LOG = Workload.from_columns(
    {
        "submit_time": [0, 1, 2, 3, 4, 5, 6],
        "wait_time": [10, 30, 5, 20, 40, -1, -1],
        "run_time": [0, 0, 9, 9, 9, 9, -1],
        "status": [5, 5, 1, 1, 1, 1, 5],
        "requested_time": [20] * 7,
        "requested_processors": [1] * 7,
    },
    processors=8,
)


def test_jobs_that_started_count_as_long_as_they_waited():
    # At 10, four jobs had waited so long, and one was cancelled: 3/4. At 30, one of two: 3/8. Of two, nothing is known.
    found = Patience.of(LOG)
    assert (found.seconds.tolist(), found.waiting.tolist()) == ([10, 30], [0.75, 0.375])
    kept = Patience.of(clean(LOG, "cancelled"))
    assert (kept.seconds.tolist(), kept.waiting.tolist()) == ([10, 30], [0.75, 0.375])


def test_drawn_patience_has_these_shares():
    jobs = Workload.from_columns({"submit_time": range(40_000), "requested_processors": [2] * 40_000})
    drawn = Patience.of(LOG).draw(jobs, np.random.default_rng(5))
    seconds, counts = np.unique(drawn["patience"], return_counts=True)
    assert seconds.tolist() == [0, 10, 30]
    # Three standard deviations of a share of 40,000 jobs are below 0.0075.
    assert counts / 40_000 == pytest.approx([0.375, 0.25, 0.375], abs=0.0075)
    assert drawn["tasks"].tolist() == [2] * 40_000


def test_components_of_a_job_get_one_patience():
    names = [f"h{row // 2}" for row in range(100)]
    jobs = Workload.from_columns({"submit_time": [0] * 100}, resources=Resources.of(100, het_job=names))
    drawn = Patience.of(LOG).draw(jobs, np.random.default_rng(5))["patience"]
    assert np.array_equal(drawn[::2], drawn[1::2])
    assert len(np.unique(drawn)) == 3


def test_a_log_without_cancelled_jobs_says_nothing():
    with pytest.raises(InputError, match="no job was cancelled before it ran after a wait that is known"):
        Patience.of(clean(LOG))
