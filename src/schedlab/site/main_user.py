"""The user who carries most of the waiting: a mean over all jobs is then mostly the wait of that one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from schedlab.cluster.membership import users_of
from schedlab.schedule.schedule import Schedule
from schedlab.site.carriers import stands_out, wait_share
from schedlab.site.effects import group_name
from schedlab.site.wait_text import wait_text
from schedlab.wording import count_of

MOSTLY = 0.5
"""Share of all waiting from which on it is said whose it is."""


class MainUser(NamedTuple):
    """A user, and what the user has of all waiting.

    Parameters
    ----------
    name
        Of the user.
    jobs
        How many.
    share
        Of all waiting.
    mean_without
        The mean wait of all other jobs beside them, in seconds.
    """

    name: str
    jobs: int
    share: float
    mean_without: float

    def __str__(self) -> str:
        return (
            f"{self.share:.0%} of all waiting is that of {count_of(self.jobs, 'job')} of "
            f"{group_name('user', self.name)}: the mean wait of all others is {wait_text(self.mean_without)}"
        )


def main_user(schedules: Sequence[Schedule]) -> MainUser | None:
    """Return the user who waits for most, beside others; None: no one has half of all waiting and few of the jobs.

    Parameters
    ----------
    schedules
        Of copies of the same jobs, of which means are told.

    Examples
    --------
    >>> import schedlab as sl
    >>> columns = {"submit_time": [0, 0, 0], "requested_processors": [1] * 3, "user_id": [7, 7, 8]}
    >>> columns |= dict.fromkeys(("run_time", "requested_time"), [3600] * 3)
    >>> jobs = sl.Workload.from_columns(columns, processors=1)
    >>> print(main_user([sl.simulate(jobs, "fcfs")]))
    67% of all waiting is that of 1 job of user 8: the mean wait of all others is 30 min
    """
    users = users_of(schedules[0].workload)
    known = users.codes >= 0
    waits = np.mean([one.wait_time for one in schedules], axis=0)
    sums = np.bincount(users.codes[known], weights=waits[known], minlength=len(users.names))
    if not known.any():
        return None
    first = int(sums.argmax())
    found = wait_share("user", users.names[first], waits, np.flatnonzero(users.codes == first))
    if found.share_of_waiting < MOSTLY or not stands_out(found):
        return None
    return MainUser(found.group, found.jobs, found.share_of_waiting, found.mean_without)
