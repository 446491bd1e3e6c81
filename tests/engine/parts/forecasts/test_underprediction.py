"""What under-predicted jobs do to a wide one: the starvation that SC'15 warns of, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.engine.simulation import simulate
from schedlab.workload.workload import Workload

WIDE = 3
"""Row of the job that needs both processors; it is submitted at second 20."""


def flow(length: int) -> Workload:
    """Return two processors, on which a user submits a short job and a long one every minute.

    Short jobs run 1 s and long ones 100 s; all request 1,000 s. With as many short as long ones, the user's median
    stays at 1 s. The first long job starts at second 10, and the last ends at 112 + 60 (length - 1).
    """
    rows = [(0, 1, 1, 1), (0, 1, 1, 1), (10, 100, 1, 1), (20, 100, 2, 2)]
    for minute in range(1, length):
        rows += [(10 + 60 * minute, 1, 1, 1), (12 + 60 * minute, 100, 1, 1)]
    submit, run, width, user = np.array(rows).T
    columns = {"submit_time": submit, "run_time": run, "requested_processors": width, "user_id": user}
    return Workload.from_columns(columns | {"requested_time": np.full(len(rows), 1_000)}, processors=2)


@pytest.mark.parametrize("backfill", ["easy", "easy:sjf", "conservative"])
def test_with_requests_a_wide_job_starts_when_the_first_long_one_ends(backfill: str):
    assert simulate(flow(10), f"fcfs+{backfill}").start_time[WIDE] == 110


@pytest.mark.parametrize("correction", ["requested", "incremental", "doubling"])
@pytest.mark.parametrize("length", [5, 20])
def test_behind_underpredicted_jobs_a_wide_one_waits_as_long_as_they_come(length: int, correction: str):
    for backfill in ("easy", "easy:sjf"):
        starved = simulate(flow(length), f"fcfs+{backfill}@median/{correction}")
        assert starved.start_time[WIDE] == 112 + 60 * (length - 1)


@pytest.mark.parametrize("scheduler", ["fcfs+easy:sjf@median,starvation=60", "fcfs+conservative@median"])
def test_neither_its_place_in_the_queue_nor_a_reservation_by_predictions_protects_it(scheduler: str):
    """It is the head already, and its reservation is put off by each correction."""
    assert simulate(flow(20), scheduler).start_time[WIDE] == 112 + 60 * 19


def test_starvation_protects_it_where_the_policy_passes_it_over_and_requests_are_used():
    """The long job running when it has waited more than 200 s, from second 192, is the last one before it."""
    assert simulate(flow(20), "saf+easy").start_time[WIDE] == 112 + 60 * 19
    assert simulate(flow(20), "saf+easy,starvation=200").start_time[WIDE] == 292
