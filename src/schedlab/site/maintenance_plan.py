"""Which maintenance is asked about: how long, of which nodes, announced when, and where in a log it could begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from schedlab.arguments import explained
from schedlab.cluster.hostlist import host_list
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.durations import DAY, HOUR, WEEK
from schedlab.errors import InputError
from schedlab.schedule.summary import duration
from schedlab.site.site import Site
from schedlab.wording import bounded, did_you_mean, shown
from schedlab.workload.workload import Workload

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

MONDAY = 4 * DAY
"""Unix time of the first midnight (UTC) of a Monday."""

_DATE = re.compile(r"(?:[A-Za-z]+\s+)?(\d{4}-\d{2}-\d{2})[\sT]+(\d{2}:\d{2})")
_DAY = re.compile(r"day\s+(\d{1,5}),?\s+(\d{1,2}):(\d{2})", re.IGNORECASE)
_AT = re.compile(r"(?:([A-Za-z]+)\s+)?(\d{1,2}):(\d{2})")


@explained
@dataclass(frozen=True, slots=True)
class MaintenancePlan:
    """A maintenance whose begin is open.

    Parameters
    ----------
    hours
        How long the nodes are closed.
    notice
        Seconds before its begin at which the scheduler is told; None: a week or, of a log of less than four weeks, a
        quarter of it.
    window
        Seconds at the end of the log in which it could begin: they stand for the time to come. What of them is before
        the log, or before a begin could be announced in it, has no begin.
    every
        Seconds between two possible begins, counted from midnight (UTC).
    at
        Begins instead of these: "06:00" of every day, "Tue 06:00" of every week, or a single one as answers name it,
        "2026-06-02 06:00" or, of a log without dates, "day 2, 06:00", in UTC.
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
    notice: int | None = None
    window: int = 2 * WEEK
    every: int = 4 * HOUR
    at: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= WEEK:
            raise InputError(f"hours={self.hours:g}: a maintenance takes more than 0 and at most {WEEK // HOUR} hours")
        if self.notice is not None and self.notice < 0:
            raise InputError(f"notice={self.notice}: must be 0 seconds or more before the begin")
        if self.window < DAY:
            raise InputError(f"a window of {self.window:,} s: must be a day or more, such as 3d")
        if self.every < 60 or DAY % self.every:
            raise InputError(
                f"a begin every {self.every:,} s: a day must have a whole number of them, such as 4h or 1d"
            )
        for text in self.at:
            if _second_of(text) is None:
                _parse_at(text)

    @property
    def seconds(self) -> int:
        """How long the nodes are closed."""
        return round(self.hours * HOUR)

    @property
    def told(self) -> int:
        """Seconds before its begin at which the scheduler is told, a week if that is open."""
        return WEEK if self.notice is None else self.notice

    def announced(self, jobs: Workload) -> MaintenancePlan:
        """Return the same with a notice that fits the log, if none is given: in whole hours, if it has some.

        Examples
        --------
        >>> jobs = Workload.from_columns({"submit_time": [0, 3 * DAY], "run_time": [1, 1]})
        >>> MaintenancePlan().announced(jobs).notice / HOUR, MaintenancePlan(notice=HOUR).announced(jobs).notice / HOUR
        (18.0, 1.0)
        """
        if self.notice is not None:
            return self
        quarter = int(jobs.submit_time.max() - jobs.submit_time.min()) // 4
        return replace(self, notice=min(WEEK, quarter - quarter % HOUR if quarter >= HOUR else quarter))

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
                near = did_you_mean(name, names)
                raise InputError(f"{site.name} has no node {shown(name)}{near}; it has {bounded(host_list(names))}")
        return tuple(dict.fromkeys(self.nodes)) or names

    def events(self, begin: int, nodes: tuple[str, ...]) -> NodeEvents:
        """Return the maintenance with a begin, as an event of nodes."""
        return NodeEvents((NodeEvent(begin, "maintenance", nodes, begin + self.seconds, begin - self.told),))


class PossibleBegin(NamedTuple):
    """A second of a log in which a maintenance could begin.

    Parameters
    ----------
    second
        Of the jobs.
    name
        Its date and time of day, UTC; or, without dates, the day of the log, from 1 on, and the hours of it.
    slot
        Its hour of the week, which it shares with those of other weeks.
    """

    second: int
    name: str
    slot: str


class PossibleBegins(NamedTuple):
    """Where in a log a maintenance could begin.

    Parameters
    ----------
    begins
        In order of time.
    too_early
        How many more lie in the window, but would have been announced before the log begins.
    """

    begins: list[PossibleBegin]
    too_early: int


def possible_begins(plan: MaintenancePlan, jobs: Workload) -> PossibleBegins:
    """Return where in a log a maintenance could begin so that it is announced after the first submission, and ends
    before the last one.

    Raises
    ------
    InputError
        If there is no such second, or a day of the week is asked of a log without dates.
    """
    plan = plan.announced(jobs)
    dated = jobs.start_time is not None
    first, last = int(jobs.submit_time.min()), int(jobs.submit_time.max())
    # A log without dates begins at the midnight of a first day.
    epoch = MONDAY if jobs.start_time is None else jobs.start_time
    weekly, single = set(_seconds_of_week(plan, dated=dated)), set(_single(plan, dated=dated))
    end = last - plan.seconds
    begin = max(end - plan.window, first)
    step = 60 if plan.at else plan.every
    start = -(-(epoch + begin + 1) // step) * step
    found, too_early = [], 0
    for absolute in range(start, epoch + end + 1, step):
        of_week, second = (absolute - MONDAY) % WEEK, absolute - epoch
        if of_week not in weekly and absolute not in single:
            continue
        if second - plan.told < first:
            too_early += 1
        else:
            found.append(PossibleBegin(second, _name(absolute, dated=dated), _slot(of_week, dated=dated)))
    if not found:
        raise InputError(_none_fits(plan, last - first, too_early))
    return PossibleBegins(found, too_early)


def _none_fits(plan: MaintenancePlan, span: int, too_early: int) -> str:
    """Say why no begin is possible, and what to do."""
    what = f"no begin of a maintenance of {plan.hours:g} h fits into the log of {duration(span)}"
    if too_early:
        return (
            f"{what}: all would be announced, {duration(plan.told)} before, when the log had not begun: give a "
            "shorter notice (--notice), or a longer log"
        )
    return (
        f"{what} so that it lies in its last {duration(plan.window)} and ends before the last submission: give a "
        "longer window (--window), or other times"
    )


def _seconds_of_week(plan: MaintenancePlan, *, dated: bool) -> Iterator[int]:
    if not plan.at:
        yield from range(0, WEEK, plan.every)
    for text in plan.at:
        if _second_of(text) is not None:
            continue
        day, second = _parse_at(text)
        if day is not None and not dated:
            raise InputError(f"at {shown(text)}: the jobs have no dates, so that no day of theirs is a {WEEKDAYS[day]}")
        yield from (number * DAY + second for number in (range(7) if day is None else (day,)))


def _single(plan: MaintenancePlan, *, dated: bool) -> Iterator[int]:
    """Give the single begins that are asked for; a log without dates begins at the midnight of a first day.

    Raises
    ------
    InputError
        If a date is asked of a log without dates, or a day of one with dates.
    """
    for text in plan.at:
        second = _second_of(text)
        if second is not None and dated == bool(_DAY.fullmatch(text.strip())):
            how = (
                "dates: name one, such as '2026-06-02 06:00'"
                if dated
                else "no dates: name a day of them, 'day 2, 06:00'"
            )
            raise InputError(f"at {shown(text)}: the jobs have {how}")
        if second is not None:
            yield second


def _second_of(text: str) -> int | None:
    """Return the second of a single begin, of one without a date from the first day on; None: it is another text."""
    if matched := _DAY.fullmatch(text.strip()):
        day, hour, minute = map(int, matched.groups())
        return MONDAY + (day - 1) * DAY + hour * HOUR + minute * 60 if day and hour < 24 and minute < 60 else None
    if matched := _DATE.fullmatch(text.strip()):
        try:
            return int(datetime.fromisoformat(f"{matched[1]}T{matched[2]}").replace(tzinfo=UTC).timestamp())
        except ValueError:
            return None
    return None


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
    raise InputError(
        f"at {shown(text)}: must be written HH:MM or DAY HH:MM, such as 06:00 or 'Tue 06:00', or be one begin, such "
        "as '2026-06-02 06:00' or, of jobs without dates, 'day 2, 06:00'"
    )


def _name(absolute: int, *, dated: bool) -> str:
    if dated:
        return f"{datetime.fromtimestamp(absolute, UTC):%A %Y-%m-%d %H:%M}"
    day, second = divmod(absolute - MONDAY, DAY)
    return f"day {day + 1:,}, {_clock(second)}"


def _slot(of_week: int, *, dated: bool) -> str:
    day, second = divmod(of_week, DAY)
    return f"{WEEKDAYS[day]} {_clock(second)}" if dated else f"day {day + 1} of every seven, {_clock(second)}"


def _clock(second: int) -> str:
    return f"{second // HOUR:02d}:{second % HOUR // 60:02d}"
