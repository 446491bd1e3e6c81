"""A summary of a workload: the machine, the period, the users, and how sizes and times are distributed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.display import as_html
from schedlab.durations import DAY
from schedlab.workload.cleaning import RULES, clean_with_report
from schedlab.workload.cleaning_report import CleaningReport
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.distribution import Distribution
from schedlab.workload.resource_summary import ResourceSummary, summary_of_resources
from schedlab.workload.sampling import offered_load
from schedlab.workload.workload import FIELDS, Workload

_USER = re.compile(r"\s*User:\s*(\d{1,18})\s+(\S.*)")

WIDTH = 98
"""Width of the summary in characters."""

EARLIEST_UNIX_TIME = 1_000_000_000
"""A log without a start time whose submit times are at least this (the year 2001) has Unix times."""


@dataclass(frozen=True, slots=True)
class UserShare:
    """The jobs of a user, the user's share of all processor-seconds, and the name if the header has it."""

    user_id: int
    jobs: int
    work: float
    name: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a workload; `print` shows it on a terminal.

    Parameters
    ----------
    name, jobs, processors
        The workload's name, number of jobs and machine size (None if unknown).
    first_submit, last_submit
        Seconds on the workload's clock.
    first_date, last_date
        The same as dates in UTC, if the log has a start time or its times are Unix times; otherwise None.
    users, groups
        The numbers of distinct known ones.
    offered_load
        As `schedlab.workload.sampling.offered_load` defines it, or None if it is not defined.
    unknown
        How many jobs lack a field, for each SWF field that any job lacks.
    processors_per_job, run_time, requested_time, accuracy, interarrival_time
        Distributions over the jobs for which they are known (None if for none); times in seconds. Accuracy is
        run time divided by requested time.
    serial, power_of_two
        Shares of the jobs with one processor, and with 2, 4, 8, ... processors.
    above_request
        The number of jobs that ran longer than requested.
    top_users
        The users with the largest shares, largest first.
    cleaning
        The report of cleaning, if requested.
    resources
        Requests of the jobs besides processors and time, if any are known.
    parts
        Lines of the log that are parts of checkpointed jobs with a line for the whole: they are not jobs, and are in no
        other number.
    """

    name: str
    jobs: int
    processors: int | None
    first_submit: int
    last_submit: int
    first_date: str | None
    last_date: str | None
    users: int
    groups: int
    offered_load: float | None
    unknown: dict[str, int]
    processors_per_job: Distribution | None
    run_time: Distribution | None
    requested_time: Distribution | None
    accuracy: Distribution | None
    interarrival_time: Distribution | None
    serial: float
    power_of_two: float
    above_request: int
    top_users: tuple[UserShare, ...]
    cleaning: CleaningReport | None = None
    resources: ResourceSummary | None = None
    parts: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as dictionaries and numbers."""
        return asdict(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def __str__(self) -> str:
        parts = [self.name, *self._facts(), "", *self._table()]
        if self.cleaning:
            parts += ["", "What cleaning would do:", str(self.cleaning)]
        return "\n".join(parts)

    def _facts(self) -> list[str]:
        """Return the lines above the table."""
        days = (self.last_submit - self.first_submit) / DAY
        period = f"{days:,.1f} days"
        if self.first_date and self.last_date:
            period = f"{self.first_date} to {self.last_date} (UTC), {period}"
        users = [f"{user.name or user.user_id} ({user.work:.1%}, {user.jobs:,} jobs)" for user in self.top_users]
        all_lack = [field for field, count in self.unknown.items() if count == self.jobs]
        some_lack = [f"{field} ({count:,})" for field, count in self.unknown.items() if count < self.jobs]
        facts = {
            "machine": f"{self.processors:,} processors" if self.processors else "unknown size",
            "period": period,
            "jobs": f"{self.jobs:,}"
            + (f", and {self.parts:,} lines of their partial executions, left out" if self.parts else ""),
            "users / groups": f"{self.users:,} / {self.groups:,}",
            "offered load": "not defined" if self.offered_load is None else f"{self.offered_load:.3f}",
            "sizes": f"{self.serial:.1%} serial, {self.power_of_two:.1%} other powers of two",
            "ran too long": f"{self.above_request:,} jobs longer than they asked for",
            "most work by": ", ".join(users) or "unknown",
            **({} if self.resources is None else self.resources.facts(max(self.jobs, 1))),
            "unknown for all": ", ".join(all_lack) or "nothing",
            "unknown for some": ", ".join(some_lack) or "nothing",
        }
        return [
            fill(fact, WIDTH, initial_indent=f"  {name:<18}", subsequent_indent=" " * 20)
            for name, fact in facts.items()
        ]

    def _table(self) -> list[str]:
        """Return the lines of the table of distributions."""
        quantities = {
            "processors": self.processors_per_job,
            "run time [s]": self.run_time,
            "requested time [s]": self.requested_time,
            "run / requested": self.accuracy,
            "inter-arrival [s]": self.interarrival_time,
            **({} if self.resources is None else self.resources.distributions()),
        }
        columns = ("min", "25 %", "median", "mean", "75 %", "95 %", "max")
        lines = [f"  {'':<18}" + "".join(f"{column:>11}" for column in columns)]
        for name, distribution in quantities.items():
            numbers = list(asdict(distribution).values())[1:] if distribution else []
            cells = "".join(f" {_readable(number):>10}" for number in numbers) or f"{'unknown':>11}"
            lines.append(f"  {name:<18}{cells}")
        return lines


@explained
def summarise(workload: Workload, *, rules: str | Sequence[str] | None = None, top_users: int = 3) -> Summary:
    """Describe a workload in numbers.

    Parameters
    ----------
    workload
        The jobs, as read or as cleaned. The parts of jobs that the rule "partial-executions" is about are only counted.
    rules
        Cleaning rules (see `schedlab.workload.cleaning.clean`) whose report to add; the workload is not changed.
    top_users
        The number of users to list.

    Raises
    ------
    InputError
        If there are rules, and one is unknown or they leave no job.

    Examples
    --------
    >>> jobs = Workload.from_columns(
    ...     dict(submit_time=[0, 80, 100], run_time=[9, 50, 30], requested_processors=[1, 4, 8]), processors=8
    ... )
    >>> summary = summarise(jobs)
    >>> summary.run_time.median, round(summary.offered_load, 3)
    (30.0, 0.561)
    """
    cleaning = None if rules is None else clean_with_report(workload, rules)[1]
    workload, of_parts = RULES["partial-executions"].apply(workload)
    submits = np.sort(workload.submit_time[workload.submit_time != UNKNOWN])
    first, last = (int(submits[0]), int(submits[-1])) if len(submits) else (0, 0)
    run_time, requested_time, sizes = workload.run_time, workload.requested_time, workload.job_processors
    both = (run_time >= 0) & (requested_time > 0)
    known_sizes = sizes[sizes > 0]
    power_of_two = (known_sizes > 1) & (known_sizes & (known_sizes - 1) == 0)
    epoch = _epoch(workload, first)
    return Summary(
        name=workload.name,
        jobs=len(workload),
        processors=workload.processors,
        first_submit=first,
        last_submit=last,
        first_date=None if epoch is None else _date(epoch + first),
        last_date=None if epoch is None else _date(epoch + last),
        users=_distinct(workload.user_id),
        groups=_distinct(workload.group_id),
        offered_load=offered_load(workload) if workload.processors and last > first else None,
        unknown=_unknown(workload),
        processors_per_job=Distribution.of(known_sizes),
        run_time=Distribution.of(run_time[run_time >= 0]),
        requested_time=Distribution.of(requested_time[requested_time > 0]),
        accuracy=Distribution.of(run_time[both] / requested_time[both]),
        interarrival_time=Distribution.of(np.diff(submits)),
        serial=float(np.mean(known_sizes == 1)) if len(known_sizes) else 0.0,
        power_of_two=float(np.mean(power_of_two)) if len(known_sizes) else 0.0,
        above_request=int(np.count_nonzero(both & (run_time > requested_time))),
        top_users=_top_users(workload, top_users),
        cleaning=cleaning,
        resources=summary_of_resources(workload),
        parts=of_parts.dropped,
    )


def _epoch(workload: Workload, first: int) -> int | None:
    """Return the Unix time of second 0, or None if it is unknown."""
    if workload.start_time is None and first >= EARLIEST_UNIX_TIME:
        return 0
    return workload.start_time


def _date(unix_time: int) -> str:
    return str(np.datetime64(unix_time, "s")).replace("T", " ")


def _distinct(identifiers: NDArray[np.int64]) -> int:
    return len(np.unique(identifiers[identifiers != UNKNOWN]))


def _unknown(workload: Workload) -> dict[str, int]:
    """Return how many jobs lack a field, for the fields that any job lacks, in the order of SWF."""
    counts = {field: int(np.count_nonzero(getattr(workload, field) == UNKNOWN)) for field in FIELDS}
    return {field: count for field, count in counts.items() if count}


def _top_users(workload: Workload, number: int) -> tuple[UserShare, ...]:
    """Return the known users with the largest share of the processor-seconds."""
    work = np.maximum(workload.run_time, 0) * np.maximum(workload.job_processors, 0).astype(np.float64)
    users, position, jobs = np.unique(workload.user_id, return_inverse=True, return_counts=True)
    shares = np.bincount(position, weights=work, minlength=len(users)) / max(work.sum(), 1.0)
    largest_first = [place for place in np.argsort(-shares, kind="stable") if users[place] != UNKNOWN]
    names = {int(found[1]): found[2] for found in map(_USER.match, workload.header) if found}
    return tuple(
        UserShare(user := int(users[place]), int(jobs[place]), float(shares[place]), names.get(user, ""))
        for place in largest_first[:number]
    )


def _readable(number: float) -> str:
    """Return a number with a readable number of digits."""
    if number == int(number) or number >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}"
