"""Which applications of a log would gain."""

from __future__ import annotations

import numpy as np
import pytest

from schedlab.errors import InputError
from schedlab.speculate.applications import request_gains
from schedlab.speculate.costs import AffineCost, RequestLimits
from schedlab.speculate.tables import gains_text
from schedlab.workload.workload import Workload


def log_of(users: dict[int, tuple[list[int], int]], spacing: int = 1000) -> Workload:
    """Return a log in which each user submits jobs of some run times, all with one request, at even times."""
    rows = [
        (number * spacing, run_time, requested, user)
        for user, (run_times, requested) in users.items()
        for number, run_time in enumerate(run_times)
    ]
    submit, run, requested, user = (np.array(column) for column in zip(*sorted(rows), strict=True))
    return Workload.from_columns(
        {
            "submit_time": submit,
            "run_time": run,
            "requested_time": requested,
            "user_id": user,
            "requested_processors": np.full(len(run), 2),
        },
        processors=8,
    )


def test_applications_are_told_apart():
    rng = np.random.default_rng(1)
    short = rng.integers(80, 120, 40).tolist()
    log = log_of(
        {
            1: (short, 10_000),  # asks for a hundred times too much
            2: ([100] * 20 + [90, 900] * 10, 900),  # all past runs are equal
            3: ([*range(50, 70), *range(550, 570)], 600),  # changes its ways, after an honest request
            4: ([10, 20, 30], 60),
        }
    )
    found = {one.key: one for one in request_gains(log, ["user"]).applications}
    assert found[1,].verdict == "gains"
    assert found[1,].high < 0.05
    assert found[2,].verdict == "all past runs are equal"
    assert found[3,].verdict == "loses"
    assert (found[4,].verdict, found[4,].past) == ("too few past runs", 3)


def test_the_ratio_is_that_of_the_sums_of_the_later_jobs():
    # The past says: half of the runs take 10 s, half 1,000 s, so both requests are made.
    log = log_of({1: ([10, 1000] * 20, 2000)})
    (one,) = request_gains(log, ["user"]).applications
    assert one.sequence.requests == (10, 1000)
    # The last job before the middle has not ended by then.
    assert (one.past, one.future) == (19, 20)
    assert one.ratio == pytest.approx((10 * 10 + 10 * 1010) / (20 * 2000))
    assert one.saved == pytest.approx(2 * (20 * 2000 - 10_200) / 3600)
    assert one.low < one.ratio < one.high
    with_use = request_gains(log, ["user"], cost=AffineCost(1, 1, 0)).applications[0]
    assert with_use.ratio == pytest.approx((10 * 20 + 10 * (1010 + 1010)) / (20 * 2000 + 10 * 10 + 10 * 1000))


def test_jobs_that_had_not_ended_teach_nothing():
    log = log_of({1: ([5000, 6000] * 11, 20_000)}, spacing=100)
    assert request_gains(log, ["user"]).applications[0].past == 0


def test_jobs_of_unknown_users_are_left_out_and_counted():
    log = log_of({1: (list(range(100, 140)), 10_000), -1: (list(range(100, 130)), 10_000)})
    gains = request_gains(log, ["user"])
    assert [one.key for one in gains.applications] == [(1,)]
    assert gains.left_out == 30
    assert "left out: 30 jobs without a run time, a request or a known application" in gains_text(gains)
    with pytest.raises(InputError, match="does not say the user and group of any job with a request"):
        request_gains(log.replace(group_id=np.where(log.user_id == 1, -1, 5)), ["user", "group"])


def test_an_application_that_the_limits_leave_no_sequence_does_not_stop_the_others():
    log = log_of({1: ([10, 100] * 20, 2000), 2: ([10, 5000] * 20, 6000)})
    gains = request_gains(log, ["user"], limits=RequestLimits(longest=3600))
    assert {one.key: one.verdict for one in gains.applications} == {
        (1,): "gains",
        (2,): "no sequence within the limits",
    }
    assert "no sequence within the limits 1" in gains_text(gains)


def test_the_table_says_how_much_is_certain():
    text = gains_text(request_gains(log_of({1: (list(range(100, 140)), 10_000), 2: ([5], 60)}), ["user"]))
    assert "2 applications by user" in text
    assert "too few past runs 1" in text
    assert "saved by the 1 whose whole 95 % interval is below 1" in text


def test_two_runs_give_the_same_interval():
    log = log_of({1: ([10, 1000, 30] * 20, 2000)})
    assert request_gains(log, ["user"]).applications == request_gains(log, ["user"]).applications


def test_bad_input_is_refused():
    log = log_of({1: ([5, 6], 60)})
    with pytest.raises(InputError, match="unknown key 'name'"):
        request_gains(log, ["name"])
    with pytest.raises(InputError, match="does not say the executable"):
        request_gains(log)
    with pytest.raises(InputError, match="no job has both"):
        request_gains(log.replace(requested_time=np.full(2, -1)), ["user"])
