"""What learners of other libraries are told of a job: the request, the time of day, and the user's history."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from schedlab.durations import DAY, WEEK
from schedlab.scheduler.own_predictor import JobView

FEATURES = (
    "requested_time",
    "processors",
    "user_id",
    "executable_id",
    "queue_id",
    "last_run_time",
    "last_run_time_2",
    "last_run_time_3",
    "mean_run_time",
    "mean_share_of_request",
    "completed_jobs",
    "unfinished_jobs",
    "since_last_submission",
    "day_cos",
    "day_sin",
    "week_cos",
    "week_sin",
)
"""Their names; times in seconds. What is not known yet is the request, a share of 1, or 0 for the time since."""


@dataclass
class _User:
    """What is known of a user."""

    run_times: deque[int] = field(default_factory=lambda: deque(maxlen=3))
    completed: int = 0
    unfinished: int = 0
    total_run_time: float = 0.0
    total_share: float = 0.0
    last_submission: int | None = None


class UserHistories:
    """The histories of all users, from what a predictor is told.

    Examples
    --------
    >>> histories = UserHistories()
    >>> job = JobView(job_id=1, submit_time=0, requested_time=100, processors=4, user_id=7)
    >>> before = histories.submitted(job)
    >>> histories.completed(job, 30) == before
    True
    >>> second = JobView(job_id=2, submit_time=60, requested_time=100, processors=4, user_id=7)
    >>> histories.submitted(second)["last_run_time"]
    30.0
    """

    def __init__(self) -> None:
        self._users: dict[int, _User] = {}
        self._features: dict[JobView, dict[str, float]] = {}

    def submitted(self, job: JobView) -> dict[str, float]:
        """Return the features of a job that is being submitted, by the names in `FEATURES`."""
        user = self._users.setdefault(job.user_id, _User())
        request = float(job.requested_time)
        last = [float(run_time) for run_time in reversed(user.run_times)]
        last += [request] * (3 - len(last))
        day, week = (2 * math.pi * (job.submit_time % period) / period for period in (DAY, WEEK))
        values = (
            request,
            float(job.processors),
            float(job.user_id),
            float(job.executable_id),
            float(job.queue_id),
            *last,
            user.total_run_time / user.completed if user.completed else request,
            user.total_share / user.completed if user.completed else 1.0,
            float(user.completed),
            float(user.unfinished),
            0.0 if user.last_submission is None else float(job.submit_time - user.last_submission),
            math.cos(day),
            math.sin(day),
            math.cos(week),
            math.sin(week),
        )
        user.unfinished += 1
        user.last_submission = job.submit_time
        features = dict(zip(FEATURES, values, strict=True))
        self._features[job] = features
        return features

    def completed(self, job: JobView, run_time: int) -> dict[str, float]:
        """Take notice of a completed job, and return its features as they were when it was submitted."""
        user = self._users[job.user_id]
        user.run_times.append(run_time)
        user.completed += 1
        user.unfinished -= 1
        user.total_run_time += run_time
        user.total_share += run_time / max(job.requested_time, 1)
        return self._features.pop(job)
