"""How often a number of jobs is reached that a pass looks at, and a window that is too short, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.scheduler import Scheduler
from schedlab.site.pass_depths import reach_texts, window_text
from schedlab.workload.resources import Resources
from schedlab.workload.workload import Workload

HOUR = 3600


def passes(arguments: str):
    return Scheduler.parse(f"fcfs+slurm({arguments})").backfill


def waited(users: list[int], submit: list[int], start: list[int], partitions: list[str] | None = None) -> Schedule:
    """Return jobs of an hour that wait from an hour to another one."""
    number = len(users)
    columns = {"submit_time": np.array(submit) * HOUR, "run_time": [HOUR] * number, "user_id": users}
    columns |= {"requested_time": [HOUR] * number, "requested_processors": [1] * number}
    asked = Resources.of(number, partition=partitions) if partitions else None
    jobs = Workload.from_columns(columns, resources=asked, processors=9)
    begins = np.array(start) * HOUR
    return Schedule(
        jobs,
        begins,
        begins + HOUR,
        backfilled=np.zeros(number, bool),
        killed=np.zeros(number, bool),
        predicted_run_time=jobs.requested_time,
        corrections=np.zeros(number, int),
        scheduler="",
        processors=9,
    )


# Of the first user 5 jobs wait from 0 to 10 h, of the second one 2 from 4 to 6 h: 5, then 7, then 5.
QUEUE = waited([1] * 5 + [2] * 2, [0] * 5 + [4] * 2, [10] * 5 + [6] * 2)


def test_a_depth_that_no_queue_exceeds_is_never_reached():
    (told,) = reach_texts(passes("depth=100"), passes("depth=7"), [QUEUE])
    assert told == (
        "bf_max_job_test: a backfill pass has at most 7 jobs to look at, never more than 7: both numbers do the same "
        "on this log"
    )


def test_the_hours_in_which_a_depth_bounds_are_counted():
    (told,) = reach_texts(passes("depth=6"), passes("depth=100"), [QUEUE])
    assert told.endswith("at most 7 jobs to look at, more than 6 for 2.0 of the 10 hours in which jobs wait")


def test_a_bound_per_user_leaves_fewer_jobs_to_a_pass_and_is_named():
    """At most 3 of each user: 3, then 5 between 4 and 6 h, then 3."""
    base, other = passes("depth=100,user_depth=3"), passes("depth=4,user_depth=3")
    (told,) = reach_texts(base, other, [QUEUE])
    assert told == (
        "bf_max_job_test: a backfill pass has at most 5 jobs to look at, more than 4 for 2.0 of the 10 hours in which "
        "jobs wait. Up to 7 wait, but bf_max_job_user=3 leaves it no more"
    )


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (
            "queue_depth=50",
            "queue_depth=9",
            "default_queue_depth: a main pass has at most 7 jobs to look at, never",
        ),
        (
            "user_depth=50",
            "user_depth=4",
            "bf_max_job_user: at most 5 jobs of a user wait at a time, more than 4 for 10",
        ),
        (
            "user_depth=all",
            "user_depth=5",
            "bf_max_job_user: at most 5 jobs of a user wait at a time, never more",
        ),
    ],
)
def test_other_numbers_of_jobs_are_counted_likewise(before: str, after: str, told: str):
    (found,) = reach_texts(passes(before), passes(after), [QUEUE])
    assert found.startswith(told)


def test_nothing_is_said_of_numbers_that_stay_or_where_jobs_name_several_partitions():
    assert list(reach_texts(passes("interval=30"), passes("interval=60"), [QUEUE])) == []
    several = waited([1, 1], [0, 0], [1, 1], ["a,b", "a"])
    assert list(reach_texts(passes("depth=9"), passes("depth=5"), [several])) == []
    assert list(reach_texts(Scheduler.parse("fcfs+easy").backfill, passes("depth=5"), [QUEUE])) == []


def test_a_window_shorter_than_what_jobs_ask_for_is_warned_of():
    """Jobs ask for an hour."""
    told = window_text(passes("window=86400"), passes("window=1800"), QUEUE.workload)
    assert told.startswith("bf_window is 30 min then, and jobs ask for up to 60 min. Jobs that are planned")
    assert window_text(passes("window=86400"), passes("window=3600"), QUEUE.workload) == ""
    assert window_text(passes("window=1800"), passes("window=1800"), QUEUE.workload) == ""  # as it is
