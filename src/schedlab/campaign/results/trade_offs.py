"""Who pays for what a scheduler gains: long waits, wide jobs, and users who wait longer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.schedule.groups import SIZE_CLASSES, size_classes
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import durations
from schedlab.schedule.window import measured_window, started_by_all
from schedlab.wording import table

NOTICED = 60
"""Seconds by which the mean wait of a user must be longer to count."""

WIDE = SIZE_CLASSES.index("wide")


@dataclass(frozen=True, slots=True)
class Price:
    """What a scheduler asks of the jobs that wait longest, of wide jobs, and of users.

    Parameters
    ----------
    scheduler
        Its text.
    jobs
        How many count.
    mean_wait, median_wait, p95_wait, max_wait
        Seconds.
    wide_wait
        Mean wait of the jobs that need more than a quarter of the machine, in seconds; NaN without any.
    users
        Number of users; 0 if the jobs name fewer than two, or if there is nothing to compare with.
    worse
        How many of them wait longer on average than under the baseline, by a minute or more.
    worst_user
        The user whose mean wait grows most, -1 if that of none does.
    worst_change
        By how many seconds.
    """

    scheduler: str
    jobs: int
    mean_wait: float
    median_wait: float
    p95_wait: float
    max_wait: float
    wide_wait: float
    users: int = 0
    worse: int = 0
    worst_user: int = -1
    worst_change: float = 0.0


def prices(
    schedules: Mapping[str, Schedule], baseline: str | None = None, *, warm_up: float = 0, cool_down: float = 0
) -> list[Price]:
    """Return what each scheduler asks, in the order of the schedules.

    Parameters
    ----------
    schedules
        Of the same jobs, by scheduler text. One of fewer jobs, such as those whose wait is recorded, is not compared
        user by user. Jobs that any of the others has cancelled while they waited are left out of all.
    baseline
        What users are compared with; by default, the first.
    warm_up, cool_down
        What is left out, as for `Schedule.metrics`.

    Examples
    --------
    >>> from schedlab.campaign.results.comparison import compare
    >>> from schedlab.workload.workload import Workload
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 2], run_time=[500, 500, 400], user_id=[1, 2, 3],
    ...     requested_time=[500, 500, 400], requested_processors=[3, 4, 1]), processors=4)
    >>> [(price.max_wait, price.worse, price.users) for price in prices(compare(jobs, ["fcfs", "easy"]).schedules)]
    [(998.0, 0, 0), (499.0, 0, 3)]
    """
    first = schedules[next(iter(schedules)) if baseline is None else baseline]
    rows = started_by_all(schedules.values(), first, warm_up=warm_up, cool_down=cool_down).rows
    found = []
    for text, schedule in schedules.items():
        same = len(schedule) == len(first)
        mine = rows if same else measured_window(schedule, warm_up=warm_up, cool_down=cool_down).rows
        wait = schedule.wait_time[mine]
        wide = size_classes(schedule.workload.job_processors[mine], schedule.processors) == WIDE
        users = _of_users(first, schedule, rows) if same and schedule is not first else (0, 0, -1, 0.0)
        found.append(
            Price(
                text,
                len(wait),
                float(wait.mean()),
                float(np.median(wait)),
                float(np.percentile(wait, 95)),
                float(wait.max()),
                float(wait[wide].mean()) if wide.any() else np.nan,
                *users,
            )
        )
    return found


def _of_users(first: Schedule, other: Schedule, rows: NDArray[np.intp]) -> tuple[int, int, int, float]:
    """Return the number of users, of those who wait longer, the one who loses most, and how much."""
    rows = rows[first.workload.user_id[rows] >= 0]
    names, user = np.unique(first.workload.user_id[rows], return_inverse=True)
    if len(names) < 2:
        return 0, 0, -1, 0.0
    change = np.bincount(user, weights=(other.wait_time - first.wait_time)[rows]) / np.bincount(user)
    worst = int(change.argmax())
    worse = int(np.count_nonzero(change >= NOTICED))
    return (len(names), worse, int(names[worst]), float(change[worst])) if worse else (len(names), 0, -1, 0.0)


def price_table(found: Sequence[Price], labels: Mapping[int, str]) -> str:
    """Return mean waits of wide jobs, and the users who wait longer, as text; "" where neither is known.

    Parameters
    ----------
    found
        What `prices` returned.
    labels
        Names of users by number, as far as they are known.
    """
    head, rows = ["scheduler"], [[each.scheduler] for each in found]
    if not all(np.isnan(each.wide_wait) for each in found):
        head.append("wide jobs")
        texts = iter(durations([each.wide_wait for each in found if not np.isnan(each.wide_wait)]))
        for row, each in zip(rows, found, strict=True):
            row.append("-" if np.isnan(each.wide_wait) else next(texts))
    if any(each.users for each in found):
        head += ["users worse", "worst for"]
        changes = durations([each.worst_change for each in found])
        for row, each, change in zip(rows, found, changes, strict=True):
            who = labels.get(each.worst_user, f"user {each.worst_user}")
            row += [f"{each.worse:,} of {each.users:,}" if each.users else "-"]
            row += [f"{who} +{change}" if each.worse else "-"]
    return table(head, rows) if len(head) > 1 else ""
