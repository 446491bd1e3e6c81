"""Submissions that sbatch would refuse, as too many jobs are there already: whose, and how long each has to wait."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from schedlab.cluster.membership import users_of
from schedlab.durations import HOUR
from schedlab.schedule.summary import three_digits
from schedlab.site.coverage import listed
from schedlab.site.effects import group_name
from schedlab.site.sweep import Paired
from schedlab.wording import count_of

MOST_USERS = 3
"""Users that a sentence names."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """Submissions that a variant refuses, and that the site as it is takes: means over the copies of the jobs.

    Parameters
    ----------
    jobs, before
        How many, and how many the site as it is refuses.
    hours
        How long all that is refused waits outside the queue, beyond what it does at the site as it is.
    users
        Of the first: the user, and how many; who has most comes first.
    """

    jobs: float
    before: float
    hours: float
    users: tuple[tuple[str, float], ...]

    def sentences(self, under: str) -> Iterator[str]:
        """Say whose submissions these are under a variant, and what the replay does with them, if there are some."""
        if round(self.jobs) < 1:
            return
        shown = [(user, round(jobs)) for user, jobs in self.users[:MOST_USERS] if round(jobs)]
        whose = listed([f"{group_name('user', user)} ({jobs:,})" for user, jobs in shown])
        today = f", beside {round(self.before):,} today" if round(self.before) else ""
        yield (
            f"{under} sbatch would refuse {count_of(round(self.jobs), 'submission')}{today}, as there are as many jobs "
            f"as a limit on submitted jobs allows{f': of {whose}' if whose else ''}."
        )
        yield (
            f"The replay submits each as soon as the limit permits, and counts its wait from the first try: "
            f"{three_digits(self.hours)} of the hours of waiting."
        )


def refusals(pairs: Sequence[Paired]) -> Refusals:
    """Return which submissions a variant refuses that the site as it is takes.

    Parameters
    ----------
    pairs
        The answers of both on each copy of the same jobs.
    """
    users = users_of(pairs[0].base.schedule.workload)
    counts = np.zeros(len(users.names))
    jobs = before = hours = 0.0
    for base, other in pairs:
        new = (other.refused > 0) & (base.refused == 0)
        jobs += int(new.sum())
        before += int((base.refused > 0).sum())
        hours += float(other.refused.sum() - base.refused.sum()) / HOUR
        codes = users.codes[new]
        counts += np.bincount(codes[codes >= 0], minlength=len(counts))
    number = len(pairs)
    order = np.argsort(-counts, kind="stable").tolist()
    found = tuple((users.names[code], counts[code] / number) for code in order if counts[code])
    return Refusals(jobs / number, before / number, hours / number, found)
