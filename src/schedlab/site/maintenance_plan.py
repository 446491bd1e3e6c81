"""Which maintenance is asked about: how long, of which nodes, announced when, and where in a log it could begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.durations import DAY, HOUR, WEEK
from schedlab.errors import InputError
from schedlab.site.site import Site
from schedlab.wording import did_you_mean, shown
from schedlab.workload.workload import Workload

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

MONDAY = 4 * DAY
"""Unix time of the first midnight (UTC) of a Monday."""

_AT = re.compile(r"(?:([A-Za-z]+)\s+)?(\d{1,2}):(\d{2})")


@dataclass(frozen=True, slots=True)
class MaintenancePlan:
    """A maintenance whose begin is open.

    Parameters
    ----------
    hours
        How long the nodes are closed.
    notice
        Seconds before its begin at which the scheduler is told.
    window
        Seconds at the end of the log in which it could begin: they stand for the time to come.
    every
        Seconds between two possible begins, counted from midnight (UTC).
    at
        Begins instead of these: "06:00" of every day, or "Tue 06:00" of every week, in UTC.
    nodes
        Which are closed; none: all.

    Raises
    ------
    InputError
        If a time is not positive, a day has no whole number of `every`, or a text of `at` is not understood.

    Examples
    --------
    >>> MaintenancePlan(hours=4, at=("Tue 06:00",)).seconds
    14400
    """

    hours: float = 8.0
    notice: int = WEEK
    window: int = 2 * WEEK
    every: int = 4 * HOUR
    at: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= WEEK:
            raise InputError(f"hours={self.hours:g}: a maintenance takes more than 0 and at most {WEEK // HOUR} hours")
        if self.notice < 0:
            raise InputError(f"notice={self.notice}: must be 0 seconds or more before the begin")
        if self.window < DAY:
            raise InputError(f"window={self.window}: must be a day or more")
        if self.every < 60 or DAY % self.every:
            raise InputError(f"every={self.every}: a day must have a whole number of them, such as 4h or 1d")
        for text in self.at:
            _parse_at(text)

    @property
    def seconds(self) -> int:
        """How long the nodes are closed."""
        return round(self.hours * HOUR)

    def nodes_of(self, site: Site) -> tuple[str, ...]:
        """Return the nodes that are closed.

        Raises
        ------
        InputError
            If the site has no node of a name.
        """
        names = site.cluster.nodes
        known = frozenset(names)
        for name in self.nodes:
            if name not in known:
                raise InputError(f"{site.name} has no node {shown(name)}{did_you_mean(name, names)}")
        return tuple(dict.fromkeys(self.nodes)) or names

    def events(self, begin: int, nodes: tuple[str, ...]) -> NodeEvents:
        """Return the maintenance with a begin, as an event of nodes."""
        return NodeEvents((NodeEvent(begin, "maintenance", nodes, begin + self.seconds, begin - self.notice),))


class PossibleBegin(NamedTuple):
    """A second of a log in which a maintenance could begin.

    Parameters
    ----------
    second
        Of the jobs.
    name
        Its date, or the second.
    slot
        Its hour of the week, which it shares with those of other weeks.
    """

    second: int
    name: str
    slot: str


def possible_begins(plan: MaintenancePlan, jobs: Workload) -> list[PossibleBegin]:
    """Return where in a log a maintenance could begin so that it ends before the last submission.

    Raises
    ------
    InputError
        If there is no such second, or a day of the week is asked of a log without dates.
    """
    dated = jobs.start_time is not None
    first, last = int(jobs.submit_time.min()), int(jobs.submit_time.max())
    # A log without dates begins at the midnight of a first day.
    epoch = MONDAY if jobs.start_time is None else jobs.start_time
    wanted = set(_seconds_of_week(plan, dated=dated))
    end = last - plan.seconds
    begin = max(end - plan.window, first)
    step = 60 if plan.at else plan.every
    start = -(-(epoch + begin + 1) // step) * step
    found = []
    for absolute in range(start, epoch + end + 1, step):
        of_week = (absolute - MONDAY) % WEEK
        if of_week in wanted:
            second = absolute - epoch
            name = f"{datetime.fromtimestamp(absolute, UTC):%Y-%m-%d %H:%M}" if dated else f"second {second}"
            found.append(PossibleBegin(second, name, _slot(of_week, dated=dated)))
    if not found:
        raise InputError(
            f"{jobs.name}: no begin of a maintenance of {plan.hours:g} h lies in the last {plan.window / DAY:g} days "
            "of the log so that it ends before the last submission: give a longer --window, or other times"
        )
    return found


def _seconds_of_week(plan: MaintenancePlan, *, dated: bool) -> Iterator[int]:
    if not plan.at:
        yield from range(0, WEEK, plan.every)
    for text in plan.at:
        day, second = _parse_at(text)
        if day is not None and not dated:
            raise InputError(f"at {shown(text)}: the jobs have no dates, so that no day of theirs is a {WEEKDAYS[day]}")
        yield from (number * DAY + second for number in (range(7) if day is None else (day,)))


def _parse_at(text: str) -> tuple[int | None, int]:
    """Return the day of the week (None: every day) and the second of the day."""
    matched = _AT.fullmatch(text.strip())
    if matched is not None and int(matched[2]) < 24 and int(matched[3]) < 60:
        second = int(matched[2]) * HOUR + int(matched[3]) * 60
        if matched[1] is None:
            return None, second
        days = [number for number, name in enumerate(WEEKDAYS) if name.lower().startswith(matched[1].lower())]
        if len(matched[1]) >= 2 and len(days) == 1:
            return days[0], second
    raise InputError(f"at {shown(text)}: must be written HH:MM or DAY HH:MM, such as 06:00 or 'Tue 06:00'")


def _slot(of_week: int, *, dated: bool) -> str:
    day, second = divmod(of_week, DAY)
    clock = f"{second // HOUR:02d}:{second % HOUR // 60:02d}"
    return f"{WEEKDAYS[day]} {clock}" if dated else f"day {day + 1} of 7, {clock}"
