"""A site month by month: waits, use, and the error of its twin, so that one sees when it was right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.durations import DAY, WEEK
from schedlab.schedule.columns import in_columns
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.timeline import Steps, busy_processors, queue_length
from schedlab.site.calibration import Calibration
from schedlab.site.omissions import Omissions
from schedlab.site.past import replayed
from schedlab.site.site import Site
from schedlab.site.standing import without_waits
from schedlab.site.wait_text import wait_text
from schedlab.wording import count_of, percent_change, sentence, table

Length = Literal["month", "week", "day"]

SHORTEST: Mapping[Length, int] = {"month": 62 * DAY, "week": 2 * WEEK}
"""Seconds of a log from which on it is cut into months, and into weeks; a shorter one is cut into days."""

FEWEST = 30
"""Jobs of a period below which its error says little."""

MANY = 12
"""Periods from which on it is told whether long waits go with much work: of fewer, that would be chance."""

HALF = 0.5
"""A period of a shorter part than this of its length, at the begin or the end of the log, is not compared."""


@dataclass(frozen=True, slots=True)
class PeriodUse:
    """A month of a site, or a week or a day.

    Parameters
    ----------
    name
        Such as "2026-04", or "week 3" of a log without dates.
    begin, end
        Seconds of the jobs, cut to the first and the last submission.
    complete
        Whether more than half of it is in the log.
    jobs
        Submitted within it.
    work
        Processor-seconds of these, as a share of what the machine has in that time.
    recorded, simulated
        Mean, median and 95th percentile of their waits, in seconds; recorded: None if no waits are.
    use, queue
        Mean share of the machine in use, and mean number of waiting jobs, recorded (NaN: not known) and in the twin.
    """

    name: str
    begin: int
    end: int
    complete: bool
    jobs: int
    work: float
    recorded: tuple[float, float, float] | None
    simulated: tuple[float, float, float]
    use: tuple[float, float]
    queue: tuple[float, float]

    @property
    def error(self) -> float:
        """Relative error of the twin's mean wait; NaN if nothing is recorded or no job waited."""
        if self.recorded is None or not self.recorded[0]:
            return float("nan")
        return (self.simulated[0] - self.recorded[0]) / self.recorded[0]


@dataclass(frozen=True, slots=True, repr=False)
class SiteMonths:
    """A site period by period.

    Parameters
    ----------
    site
        Its name.
    length
        "month", "week" or "day".
    periods
        In order of time.
    twin
        Its jobs under its own scheduler.
    calibration
        The twin beside what was recorded; None: no waits are recorded.
    omissions
        What is approximated, ignored and left out.
    """

    site: str
    length: Length
    periods: tuple[PeriodUse, ...]
    twin: Schedule
    calibration: Calibration | None
    omissions: Omissions

    def sentences(self) -> list[str]:
        """Return what is to be seen, in plain sentences: when waits were long, how sure that is, and why."""
        return [self._when(), *self._how_sure(), *self._why()]

    def _how_sure(self) -> Iterator[str]:
        if self.calibration is None:
            yield "All figures here are those of the twin."
            yield from without_waits(len(self.twin)).details()
            return
        yield from self.calibration.sentences()[:2]
        judged = [one for one in self.periods if one.complete and one.jobs >= FEWEST and np.isfinite(one.error)]
        if len(judged) > 1:
            worst, best = (some(judged, key=lambda one: abs(one.error)) for some in (max, min))
            within = sum(abs(one.error) <= 0.25 for one in judged)
            yield (
                f"The twin is within 25% of the recorded mean wait in {within} of {len(judged)} {self.length}s with "
                f"{FEWEST} jobs or more. It is worst {self._in} {worst.name} ({percent_change(worst.error)}), and best "
                f"{self._in} {best.name} ({percent_change(best.error)})."
            )

    @property
    def _in(self) -> str:
        return "on" if self.length == "day" else "in"

    @property
    def _compared(self) -> list[PeriodUse]:
        """Periods with jobs of which more than half is in the log."""
        return [one for one in self.periods if one.complete and one.jobs]

    def _when(self) -> str:
        known = self.calibration is not None
        source = "by the record, " if known else f"{without_waits(len(self.twin)).brief} says: "
        full = self._compared
        if len(full) < 2:
            return f"The log has {count_of(len(self.periods), self.length)}: too few to compare."
        longest = max(full, key=lambda one: (one.recorded or one.simulated)[0])
        wait = (longest.recorded or longest.simulated)[0]
        waits = np.array([(one.recorded or one.simulated)[0] for one in full])
        return sentence(
            f"{source}the longest waits were {self._in} {longest.name}: {wait_text(wait)} on average; half of the "
            f"{self.length}s had {wait_text(float(np.median(waits)))} or less"
        )

    def _why(self) -> Iterator[str]:
        full = self._compared
        waits = np.array([(one.recorded or one.simulated)[0] for one in full])
        loads = np.array([one.work for one in full])
        if len(full) >= MANY and waits.std() and loads.std():
            share = float(np.corrcoef(waits.argsort().argsort(), loads.argsort().argsort())[0, 1])
            go = "go with" if share >= 0.5 else "hardly go with"
            over = f"over {len(full)} {self.length}s"
            yield f"Long waits {go} the work that was submitted: the rank correlation {over} is {share:.2f}."

    def to_document(self) -> dict[str, Any]:
        """Return the periods as numbers and texts, for JSON."""
        return {
            "site": self.site,
            "scheduler": self.twin.scheduler,
            "verdict": None if self.calibration is None else self.calibration.verdict,
            "sentences": self.sentences(),
            "length": self.length,
            "periods": [asdict(one) | {"error": one.error} for one in self.periods],
            "omissions": self.omissions.to_document(),
        }

    def __str__(self) -> str:
        known = self.calibration is not None
        head = [self.length, "jobs", "work submitted"]
        head += ["mean wait, recorded", "mean wait, twin", "error"] if known else ["mean wait"]
        head += ["p95 wait, recorded", "p95 wait, twin"] if known else ["median wait", "p95 wait"]
        head += ["in use, recorded", "in use, twin"] if known else ["in use"]
        rows = [_row(one, known) for one in self.periods]
        return "\n".join([*self.sentences(), "", table(head, in_columns(rows))])

    def __repr__(self) -> str:
        return f"SiteMonths({self.site}: {count_of(len(self.periods), self.length)})"


def _row(one: PeriodUse, known: bool) -> list[str | float]:
    name = one.name if one.complete else f"{one.name} (part)"
    if not one.jobs:
        return [name, "0", f"{one.work:.0%}", *["-"] * (5 if known else 3), *_use(one, known)]
    waits: list[str | float]
    if one.recorded is None:
        waits = [*one.simulated]
    else:
        error = percent_change(one.error) if np.isfinite(one.error) else "-"
        waits = [one.recorded[0], one.simulated[0], error, one.recorded[2], one.simulated[2]]
    return [name, f"{one.jobs:,}", f"{one.work:.0%}", *waits, *_use(one, known)]


def _use(one: PeriodUse, known: bool) -> list[str]:
    return [f"{value:.0%}" for value in (one.use if known else one.use[1:])]


@explained
def months(site: Site | str | PathLike[str], length: Length | None = None) -> SiteMonths:
    """Replay the jobs of a site, and return its waits and use month by month, beside what was recorded.

    Parameters
    ----------
    site
        With jobs; or its directory, which then keeps the verdict of the calibration.
    length
        "month", "week" or "day"; None: months if the log has two or more, else weeks if it has two, else days. Months
        and days are those of the calendar (UTC), or 30 days and days of a log without dates; weeks count from the day
        of the first submission.

    Returns
    -------
    SiteMonths
        The twin replays the whole log at once: what waits at the end of a month waits on in the next.

    Raises
    ------
    InputError
        If no job can be replayed.
    """
    past = replayed(site)
    twin, found = past.twin, past.calibration
    recorded = None if found is None else found.recorded
    submit = twin.workload.submit_time
    begin, end = int(submit.min()), int(submit.max()) + 1
    usual: Length = next((one for one, least in SHORTEST.items() if end - begin >= least), "day")
    chosen = length or usual
    edges = list(_edges(chosen, begin, end, twin.workload.start_time))
    periods = tuple(_periods(edges, begin, end, twin, recorded))
    return SiteMonths(past.site.name, chosen, periods, twin, found, past.omissions)


def _edges(length: Length, begin: int, end: int, start_time: int | None) -> Iterator[tuple[int, str]]:
    """Yield the begin of each period with its name, and the end of the last."""
    if length == "month" and start_time is not None:
        first = datetime.fromtimestamp(start_time + begin, UTC).replace(day=1, hour=0, minute=0, second=0)
        while (second := int(first.timestamp()) - start_time) < end:
            yield second, f"{first:%Y-%m}"
            first = (first + timedelta(days=32)).replace(day=1)
        yield second, ""
        return
    seconds = {"month": 30 * DAY, "week": WEEK, "day": DAY}[length]
    begin -= 0 if start_time is None else (start_time + begin) % DAY  # what has a date begins at midnight
    for number, second in enumerate(range(begin, end + seconds, seconds), 1):
        date = "" if start_time is None else f"{datetime.fromtimestamp(start_time + second, UTC):%Y-%m-%d}"
        what = "30 days" if length == "month" else length
        yield second, f"{what} from {date}" if date and length != "day" else date or f"{what} {number}"
        if second >= end:
            return


def _periods(
    edges: list[tuple[int, str]], begin: int, end: int, twin: Schedule, past: Schedule | None
) -> Iterator[PeriodUse]:
    submit = twin.workload.submit_time
    work = twin.workload.job_processors.astype(np.float64) * twin.run_time
    busy = [None if one is None else busy_processors(one) for one in (past, twin)]
    queues = [None if one is None else queue_length(one) for one in (past, twin)]
    for (first, name), (last, _) in pairwise(edges):
        low, high = max(first, begin), min(last, end)
        mine = np.flatnonzero((submit >= first) & (submit < last))
        capacity = twin.processors * float(high - low)
        yield PeriodUse(
            name,
            low,
            high,
            high - low > HALF * (last - first),
            len(mine),
            float(work[mine].sum()) / capacity,
            None if past is None else _measures(past.wait_time[mine]),
            _measures(twin.wait_time[mine]),
            _both(busy, low, high, twin.processors),
            _both(queues, low, high, 1),
        )


def _measures(waits: NDArray[np.int64]) -> tuple[float, float, float]:
    if not len(waits):
        return float("nan"), float("nan"), float("nan")
    return float(waits.mean()), float(np.median(waits)), float(np.quantile(waits, 0.95))


def _both(functions: list[Steps | None], begin: int, end: int, whole: int) -> tuple[float, float]:
    means = [float("nan") if one is None else one.integral(begin, end) / (end - begin) / whole for one in functions]
    return means[0], means[1]
