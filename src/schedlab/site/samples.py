"""Which jobs of a site are replayed: those of its log, of a part of it, or resampled."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from schedlab.arguments import explained
from schedlab.durations import WEEK
from schedlab.errors import InputError
from schedlab.site.copies import perturbed
from schedlab.site.modelled import model_of_jobs, with_think_times
from schedlab.wording import shown
from schedlab.workload.sampling import resample_users
from schedlab.workload.workload import Workload

FEWEST_WEEKS = 4
"""Of a log whose users' weeks are resampled."""

_PART = re.compile(r"(\d{1,3}(?:\.\d+)?)-(\d{1,3}(?:\.\d+)?)%?")


@explained
@dataclass(frozen=True, slots=True)
class SiteSample:
    """Which jobs are replayed.

    Parameters
    ----------
    begin, end
        The part of the log, between 0 and 1, in which they were submitted.
    seed
        None: those that were recorded. A number: jobs resampled with this seed.
    drawn
        How: every user's "weeks" (`schedlab.workload.sampling.resample_users`), or from a "model" of arrivals and jobs
        (`schedlab.site.modelled.model_of_jobs`).
    think
        None: jobs come when they were recorded to come. Seconds: what a user submitted within this time after the end
        of an earlier job comes as long after its simulated end (`schedlab.site.modelled.with_think_times`).
    copy
        0: jobs come at these seconds. A number: at other ones, which it draws (`schedlab.site.copies.perturbed`).

    Examples
    --------
    >>> SiteSample(0, 2 / 3).text, SiteSample(seed=4).text
    ('the log to 67%', 'resampled, seed 4')
    """

    begin: float = 0.0
    end: float = 1.0
    seed: int | None = None
    drawn: Literal["weeks", "model"] = "weeks"
    think: int | None = None
    copy: int = 0

    @property
    def original(self) -> SiteSample:
        """The same jobs at the seconds at which they came."""
        return replace(self, copy=0)

    @property
    def text(self) -> str:
        """In words."""
        reaction = "" if self.think is None else ", with think times"
        if self.seed is not None:
            what = "resampled" if self.drawn == "weeks" else "model"
            return f"{what}, seed {self.seed}{reaction}"
        return f"{self._part}{reaction}"

    @property
    def _part(self) -> str:
        if (self.begin, self.end) == (0, 1):
            return "the log"
        if self.begin == 0:
            return f"the log to {100 * self.end:.0f}%"
        to = "" if self.end == 1 else f" to {100 * self.end:.0f}%"
        return f"the log from {100 * self.begin:.0f}%{to}"

    @classmethod
    @explained
    def parse(cls, text: str) -> SiteSample:
        """Read a part of a log, in per cent of its time.

        Raises
        ------
        InputError
            If it is not written FROM-TO, or is empty.

        Examples
        --------
        >>> SiteSample.parse("25-50").text
        'the log from 25% to 50%'
        """
        matched = _PART.fullmatch(text.strip())
        begin, end = (float(part) / 100 for part in matched.groups()) if matched else (1.0, 0.0)
        if not begin < end <= 1:
            raise InputError(f"part {shown(text)}: must be written FROM-TO in per cent of the log, such as 25-50")
        return cls(begin, end)

    def of(self, jobs: Workload) -> Workload:
        """Return those of some jobs, in order of submission.

        Raises
        ------
        InputError
            If there are none, or too few weeks to draw from.
        """
        jobs = jobs.sorted_by_submit()
        if self.seed is not None and self.drawn == "model":
            jobs = model_of_jobs(jobs, self.seed)
        elif self.seed is not None:
            if int(np.ptp(jobs.submit_time)) < FEWEST_WEEKS * WEEK:
                raise InputError(
                    f"{jobs.name}: a log of less than {FEWEST_WEEKS} weeks has too few weeks to sample from"
                )
            jobs = resample_users(jobs, rng=self.seed)
        submit = jobs.submit_time
        first, length = int(submit[0]), int(submit[-1] - submit[0])
        inside = (submit >= first + self.begin * length) & ((submit < first + self.end * length) | (self.end == 1))
        if not inside.any():
            raise InputError(f"{jobs.name}: no job lies in {self.text}")
        chosen = jobs if inside.all() else jobs[inside]
        return perturbed(chosen if self.think is None else with_think_times(chosen, self.think), self.copy)


THE_LOG = SiteSample()
"""The jobs that were recorded."""
