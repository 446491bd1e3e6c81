"""Why a job started when it did; all expectations are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schedlab.engine import simulate
from schedlab.errors import InputError
from schedlab.workload.workload import Workload

# On four processors: 1 holds three until 10; 2 needs all four; 3 fits beside 1; 4 needs two and waits behind 2.
JOBS = Workload.from_columns(
    {
        "submit_time": [0, 1, 2, 3],
        "run_time": [10, 10, 5, 4],
        "requested_time": [10, 10, 5, 4],
        "requested_processors": [3, 4, 1, 2],
    },
    processors=4,
)


def test_a_job_that_was_backfilled_names_the_head_and_its_reservation() -> None:
    told = simulate(JOBS, "fcfs+easy").explain(3)
    assert (told.wait_time, told.backfilled, told.head, told.reservation) == (0, True, 2, (10, 0))
    assert (told.waiting_at_submission, told.ahead, told.overtook) == ((2,), (2,), (2,))
    assert told.free_at_submission == 1


def test_a_job_that_waited_says_for_what() -> None:
    told = simulate(JOBS, "fcfs+easy").explain(2)
    assert (told.start_time, told.ended_at_start, told.overtaken_by) == (10, (1,), (3,))
    assert (told.free_at_start, told.fitting, told.backfilled) == (4, 0, False)
    assert "second 10, started: job 1 ended; 4 processors free; it was next in the queue" in str(told)


def test_free_processors_that_a_job_could_not_have_are_counted() -> None:
    told = simulate(JOBS, "fcfs").explain(4)
    # Without backfilling, 3 and 4 wait behind 2, which runs from 10 to 20; two processors were never free before.
    assert (told.start_time, told.fitting, told.ahead) == (20, 0, (2, 3))
    # 3 needs one, and one was free from 2 to 10.
    assert simulate(JOBS, "fcfs").explain(3).fitting == 8


def test_the_order_is_that_of_the_policy() -> None:
    told = simulate(JOBS, "saf+easy").explain(4)
    # Areas: 2 has 40, 4 has 8; 3 started at once.
    assert (told.ahead, told.score) == ((), 8.0)


def test_an_order_that_the_schedule_does_not_tell_is_not_guessed() -> None:
    schedule = replace(simulate(JOBS, "fcfs+easy"), scheduler="by hand")
    told = schedule.explain(3)
    assert (told.ahead, told.head, told.reservation, told.score) == (None, None, None, None)
    assert "it was backfilled ahead of the head of the queue" in str(told)
    named = replace(simulate(JOBS, "fcfs+easy"), scheduler="fcfs+easy@somewhere:Class")
    assert named.explain(3).ahead is None, "the text of a schedule, which may come from a file, imports nothing"


def test_a_job_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match="no job has the number 9"):
        simulate(JOBS, "fcfs").explain(9)
