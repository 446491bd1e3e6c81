"""Further jobs are those of whole past weeks, at the same hour of the week."""

from __future__ import annotations

import numpy as np

import schedlab as sl
from schedlab.durations import DAY, WEEK
from schedlab.when.arrivals import MOST_WEEKS, PastArrivals


def weekly(weeks):
    """Return jobs of 100 s, one in each week, 30 s behind its begin; the last one runs for three weeks."""
    run_time = np.full(weeks, 100)
    run_time[-1] = 3 * WEEK
    jobs = sl.Workload.from_columns(
        {
            "submit_time": WEEK * np.arange(weeks) + 30,
            "run_time": run_time,
            "requested_time": np.full(weeks, 4 * WEEK),
            "requested_processors": np.ones(weeks, dtype=int),
            "user_id": np.ones(weeks, dtype=int),
        },
        processors=4,
    )
    return sl.simulate(jobs, "fcfs")


def test_jobs_of_a_past_week_come_at_the_same_hour():
    jobs, known = PastArrivals(weekly(3), 3 * WEEK).of(0, 2)
    assert jobs.submit_time.tolist() == [3 * WEEK + 30]
    assert jobs.job_id.tolist() == [2]
    assert (jobs.run_time.tolist(), known.tolist()) == ([100], [True])


def test_the_second_week_ahead_is_that_behind_the_one_that_was_drawn():
    jobs, _ = PastArrivals(weekly(3), 3 * WEEK).of(1, 3)
    assert jobs.submit_time.tolist() == [4 * WEEK + 30]
    assert jobs.job_id.tolist() == [2]


def test_a_job_that_has_not_ended_has_no_known_run_time():
    jobs, known = PastArrivals(weekly(3), 3 * WEEK).of(0, 1)
    assert (jobs.job_id.tolist(), known.tolist()) == ([3], [False])
    assert jobs.run_time.tolist() == [4 * WEEK]  # its request, until one is drawn


def test_weeks_are_drawn_among_those_that_lie_wholly_in_the_past():
    rng = np.random.default_rng(1)
    drawn = PastArrivals(weekly(5), 4 * WEEK + 40).draw_weeks(500, 0, rng)
    assert sorted(set(drawn.tolist())) == [1, 2, 3, 4]
    later = PastArrivals(weekly(5), 4 * WEEK + 40).draw_weeks(500, 2, rng)
    assert sorted(set(later.tolist())) == [3, 4]


def test_not_more_than_a_quarter_of_a_year_is_drawn_from():
    assert PastArrivals(weekly(40), 39 * WEEK).weeks == MOST_WEEKS == 13


def test_in_the_first_hour_of_a_log_no_job_arrives():
    arrivals = PastArrivals(weekly(3), 30 + 3_599)
    back = arrivals.draw_weeks(3, 0, np.random.default_rng(1))
    assert (arrivals.weeks, back.tolist()) == (0, [0, 0, 0])
    assert len(arrivals.of(0, 0)[0]) == 0


def test_of_a_log_of_less_than_a_day_the_last_hours_come_once_more():
    # Jobs at seconds 0, 4,000 and 7,300; at 7,500, two whole hours are known: those after 300, every two hours.
    jobs = sl.Workload.from_columns(
        {
            "submit_time": [0, 4_000, 7_300],
            "run_time": [10] * 3,
            "requested_time": [10] * 3,
            "requested_processors": [1] * 3,
        },
        processors=4,
    )
    arrivals = PastArrivals(sl.simulate(jobs, "fcfs"), 7_500)
    assert arrivals.draw_weeks(3, 0, np.random.default_rng(1)).tolist() == [1, 1, 1]
    coming, ended = arrivals.of(0, 1)
    assert np.sort(coming.submit_time).tolist() == [11_200, 14_500]
    assert ended.all()
    assert len(arrivals.of(1, 1)[0]) == 0
    assert arrivals.text == "the submissions of the last 2 h once more"


def test_weeks_of_a_log_that_ended_long_before_come_at_the_same_hour():
    """Of five weeks, the last job came 15 days and 4 minutes ago: what came three weeks ago and before comes again."""
    arrivals = PastArrivals(weekly(5), 4 * WEEK + 15 * DAY + 270)
    assert arrivals.weeks == 3  # before second 3 * WEEK + DAY + 270
    drawn = arrivals.draw_weeks(200, 0, np.random.default_rng(1))
    assert sorted(set(drawn.tolist())) == [1, 2, 3]
    for back in (1, 2, 3):
        jobs, _ = arrivals.of(0, back)
        assert jobs.submit_time.tolist() == [7 * WEEK + 30]
    assert arrivals.text == "arrivals of the last 3 weeks of the log, which ended 15 d ago"


def test_a_short_log_that_ended_days_before_comes_again_without_the_days_since():
    """Two days with a job at noon each, asked about three days after the second one: one comes each noon."""
    columns = {"submit_time": [DAY // 2, DAY + DAY // 2, 2 * DAY], "requested_processors": [1] * 3}
    jobs = sl.Workload.from_columns(columns | dict.fromkeys(("run_time", "requested_time"), [10] * 3), processors=4)
    arrivals = PastArrivals(sl.simulate(jobs, "fcfs"), 5 * DAY)
    assert (arrivals.weeks, arrivals.repeated) == (0, DAY)
    coming = arrivals.of(0, 1)[0].submit_time
    assert sorted(coming.tolist())[:4] == [5 * DAY + DAY // 2, 6 * DAY, 6 * DAY + DAY // 2, 7 * DAY]
    later = arrivals.of(1, 1)[0].submit_time
    assert later.min() > 5 * DAY + WEEK >= coming.max()
    assert len(coming) == 2 * 7
    assert arrivals.text == "the submissions of the last 24 h of the log, which ended 3 d ago again and again"


def test_a_log_that_was_as_quiet_before_has_not_ended():
    assert PastArrivals(weekly(5), 4 * WEEK + 9 * DAY).weeks == 5
