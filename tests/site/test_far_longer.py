"""Jobs that wait by far longer are told, however few they are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from schedlab.site.effects import Effect
from schedlab.site.far_longer import FarLonger, far_longer
from schedlab.site.sweep import Paired
from schedlab.site.who_pays import payers_of
from schedlab.workload.workload import Workload

DAY, HOUR = 86_400, 3600


def answer(waits: list[int], users: list[int]) -> SimpleNamespace:
    number = len(waits)
    columns = {"submit_time": range(number), "run_time": [1] * number, "requested_processors": [1] * number}
    jobs = Workload.from_columns(columns | {"user_id": users}, header=(" User: 1 ann", " User: 2 bob"))
    return SimpleNamespace(schedule=SimpleNamespace(workload=jobs, wait_time=np.array(waits)))


def pair(before: list[int], after: list[int], users: list[int]) -> Paired:
    return Paired(answer(before, users), answer(after, users))


def test_jobs_that_wait_a_day_longer_in_each_copy_are_told_with_their_users():
    """Ann's first job waits 2 and 4 days longer; bob's a day longer in one copy alone; one waits a day less in both."""
    users = [1, 2, 1, 2]
    first = pair([0, 0, DAY, 0], [2 * DAY, DAY, 0, HOUR], users)
    second = pair([0, 0, 2 * DAY, 0], [4 * DAY, HOUR, DAY, 0], users)
    found = far_longer([first, second])
    assert (found.jobs, found.shorter, found.users) == (1, 1, (("ann", 1, 3.0 * DAY),))
    assert (found.longest_before, found.longest) == (1.5 * DAY, 3 * DAY)
    assert found.sentences("x") == [
        "Under x, 1 job waits a day or more longer in each copy, of user ann (1 job, +3 d), and 1 a day or more less, "
        "of user ann (1 job, -24 h); the longest wait goes from 1.5 d to 3 d.",
    ]
    assert found.sentences("x", who=False) == [
        "Under x, 1 job gains a day or more in each copy, of user ann (1 job, -24 h); the longest wait goes from 1.5 d "
        "to 3 d.",
    ]


def test_of_many_users_whose_jobs_wait_far_longer_those_named_are_told_with_their_part():
    """Eve has 4 of 9 jobs, bob and ann 2 each; joe's one is the rest."""
    far = FarLonger(9, 0, (("eve", 4, 9 * DAY), ("bob", 2, 3 * DAY), ("ann", 2, 2 * DAY), ("joe", 1, DAY)), 0.0, 0.0)
    assert far.clause == (
        "9 jobs wait a day or more longer, 8 of them of user eve (4 jobs, +9 d each), user bob (2 jobs, +3 d each) and "
        "user ann (2 jobs, +2 d each)"
    )


def test_where_no_group_surely_pays_those_who_wait_by_far_longer_are_joined_with_but():
    """The second sentence takes back what the first one seems to promise."""
    once = pair([0, 2 * DAY], [2 * DAY, 0], [1, 2])
    far = far_longer([once, once])
    one = SimpleNamespace(unchanged=False, effects=(Effect("all", "all jobs", 2, 60.0, 60.0, None),), far=far)
    assert payers_of(one) == [
        "no group of jobs surely waits longer",
        "but 1 job waits a day or more longer in each copy, of user ann (1 job, +2 d)",
    ]
    assert (
        far_longer([once]).clause == "1 job waits a day or more longer, of user ann (1 job, +2 d)"
    )  # in the only copy
    assert far.sentences("x", who=False) == [  # the longest wait stays as it is: that is no news
        "Under x, 1 job gains a day or more in each copy, of user bob (1 job, -2 d)."
    ]


def test_who_cannot_be_judged_stands_between_and_no_second_but_follows():
    once = pair([0, 2 * DAY], [2 * DAY, 0], [1, 2])
    longer = Effect("user", "ann", 90, HOUR, 20 * HOUR, None, copies=(18 * HOUR, 20 * HOUR))
    every = Effect("all", "all jobs", 100, 60.0, 60.0, None)
    one = SimpleNamespace(unchanged=False, effects=(every, longer), far=far_longer([once, once]))
    assert payers_of(one) == [
        "no group of jobs surely waits longer",
        "waits become longer in each copy for user ann (90 jobs, +19 h each); of other weeks that tells nothing, as "
        "these jobs come at one time",
        "1 job waits a day or more longer in each copy, of user ann (1 job, +2 d)",
    ]
    assert sum(text.count("but ") for text in payers_of(one)) == 0


def test_the_longest_wait_of_today_is_named_beside_that_of_the_same_work():
    """The table has 10 d in the row of the site as it is; without the work that is killed, it is 9 d."""
    found = far_longer([pair([0, 9 * DAY], [8 * DAY, 0], [1, 2])], [answer([0, 10 * DAY], [1, 2])])
    (told,) = found.sentences("x")
    assert told.endswith("; the longest wait goes from 10 d (9 d without the work that is not run) to 8 d.")
    assert far_longer([pair([0, DAY], [DAY, 0], [1, 2])], [answer([0, DAY], [1, 2])]).longest_today is None


def test_nothing_is_told_where_no_job_waits_by_far_longer():
    assert far_longer([pair([0, HOUR], [HOUR, 0], [1, 2])]).sentences("x") == []


def test_that_most_wait_less_and_the_slowest_longer_is_told():
    """Eighteen of twenty jobs gain an hour, two lose five: the mean falls by 24 min, the 95th percentile rises."""
    before, after = [2 * HOUR] * 18 + [4 * HOUR] * 2, [HOUR] * 18 + [9 * HOUR] * 2
    one = pair(before, after, [1] * 20)
    found = far_longer([one])
    assert found.p95 == (4 * HOUR, 9 * HOUR)
    told, why = found.sentences("x")
    assert told == "Under x, the mean wait becomes shorter and its 95th percentile longer, from 4 h to 9 h."
    assert why.startswith("Of the jobs that wait longest, some wait longer still")
    assert found.sentences("x", shorter=False) == []  # where an answer says that the mean cannot be told
    assert "from 4 h to 9 h, in each copy." in far_longer([one, one]).sentences("x")[0]
    assert far_longer([one, pair(before, [HOUR] * 20, [1] * 20)]).p95 is None  # not in each copy
    assert far_longer([pair(after, before, [1] * 20)]).p95 is None
