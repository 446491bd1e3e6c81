"""Whose waiting most of it is."""

from __future__ import annotations

import pytest

from schedlab.engine.simulation import simulate
from schedlab.site.main_user import main_user
from schedlab.workload.workload import Workload

HOUR = 3600


def schedule(users, submit=None):
    """Jobs of an hour on one processor, one after the other: they wait 0, 1, 2 ... hours."""
    number = len(users)
    columns = {"submit_time": submit or [0] * number, "requested_processors": [1] * number, "user_id": users}
    columns |= dict.fromkeys(("run_time", "requested_time"), [HOUR] * number)
    return simulate(Workload.from_columns(columns, processors=1), "fcfs")


def test_a_user_with_half_of_all_waiting_is_named_with_what_the_others_wait():
    found = main_user([schedule([1, 1, 2, 2])])  # 0 and 1, 2 and 3 hours
    assert (found.name, found.jobs, found.share) == ("user 2", 2, pytest.approx(5 / 6))
    assert found.mean_without == HOUR / 2
    assert str(found) == "83% of all waiting is that of 2 jobs of user 2: the mean wait of all others is 30 min"


def test_of_copies_means_are_told():
    found = main_user([schedule([1, 2, 2, 3]), schedule([1, 2, 2, 3], [0, HOUR, HOUR, HOUR])])
    # 0, 1, 2 and 3 hours, or 0, 0, 1 and 2: in all 4.5 hours, of which user 3 has 2.5.
    assert (found.name, found.share) == ("user 3", pytest.approx(2.5 / 4.5))


@pytest.mark.parametrize("users", [[1, 2, 3, 4, 5], [1, 1, 1], [-1, -1, -1], [1], [1, 2, 1, 2, 2]])
def test_where_no_one_has_half_or_hardly_more_than_their_jobs_there_is_nothing_to_tell(users):
    assert main_user([schedule(users)]) is None
