"""Advice for one job: which of several requests has its result first, and how likely it is killed at its limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.schedule.columns import in_columns
from schedlab.schedule.recorded import recorded
from schedlab.schedule.summary import duration
from schedlab.site.site import Site
from schedlab.when.forks import Forking
from schedlab.when.past_runs import PastRuns, Runs
from schedlab.when.pieces import Pieces, asked_pieces, pieces_in
from schedlab.when.run_time_levels import levels_of_runs, recalibrated
from schedlab.when.run_times import RunTimes
from schedlab.when.site_forecast import SiteForecast, asked_job, at_site
from schedlab.when.snapshots import Snapshot
from schedlab.when.start_forecast import StartForecast
from schedlab.wording import table
from schedlab.workload.workload import Workload

ALLOWED = 0.01
"""The chance to be killed up to which a request is advised."""

RESULTS = (2, 3, 4)
"""The columns of a table of requests or clusters that tell when the result is there: they have one unit."""


@dataclass(frozen=True, slots=True)
class RequestOption:
    """One request of the job.

    Parameters
    ----------
    words
        What it changes, as options of sbatch.
    waits
        int64 seconds per fork: how long it waits; in pieces, until the first begins; empty if it can never start.
    result
        float64 seconds per fork: until the result, infinite where the job is killed.
    killed
        The chance to be killed at its limit.
    refused
        Why it can never start; "": it can.
    """

    words: tuple[str, ...]
    waits: NDArray[np.int64]
    result: NDArray[np.float64]
    killed: float
    refused: str = ""

    @property
    def median(self) -> float:
        """Seconds: the median time to the result, infinite where there is none."""
        return float(np.median(self.result))


@explained
def advise(
    site: Site,
    snapshot: Snapshot,
    job: Sequence[str],
    options: Sequence[Sequence[str]],
    *,
    user: str | None = None,
    how: Forking = Forking(),  # noqa: B008
) -> tuple[RequestOption, ...]:
    """Return how several requests of one job would fare, each asked about by itself: the first result first.

    Those that can never start come last, with the reason.

    Parameters
    ----------
    site, snapshot, how
        As for `at_site`.
    job
        The job as its user would submit it, options of sbatch with a time: how long it may run is what its user's past
        runs have used of such a request.
    options
        What other requests add or change, such as `[["--time=2:00:00"], ["--partition=short"]]`; or how it is split
        into pieces, an array of equal parts of its work and time: `["--pieces=4"]` side by side, `["--pieces=4%1"]` one
        after the other, each of which takes `--restart=10:00` longer.
    user
        Whose job it is.

    Raises
    ------
    InputError
        If none of the requests can ever start.

    Notes
    -----
    The same fork has the same run time in all options. A job with another number of cores is taken to run for as long:
    how it scales is not known. Pieces end all that they have begun, and lose nothing between them.
    """
    asking = _Asking(site, snapshot, user, how)
    found: list[RequestOption] = []
    for words in ((), *map(tuple, options)):
        pieces, changed = pieces_in(words)
        try:
            found.append(asking.of(words, (*job, *changed), pieces))
        except InputError as error:
            found.append(RequestOption(words, np.empty(0, np.int64), np.full(1, np.inf), 0.0, str(error)))
    if all(one.refused for one in found):
        raise InputError(f"no request of the job can start: {found[0].refused}")
    return tuple(sorted(found, key=lambda one: (bool(one.refused), one.killed > ALLOWED, one.median)))


@dataclass(slots=True)
class _Asking:
    """Asks about one request after the other; how long the job runs is known from the first that can start."""

    site: Site
    snapshot: Snapshot
    user: str | None
    how: Forking
    lasts: NDArray[np.int64] | None = None

    def of(self, words: tuple[str, ...], request: tuple[str, ...], pieces: Pieces | None) -> RequestOption:
        """Return how a request fares, in pieces or not."""
        if pieces is None:
            starts, lasts = self._asked(asked_job(request, self.user), None)
            waits, limit = starts.waits[:, 0], int(starts.jobs.requested_time[0])
            return RequestOption(words, waits, results(waits, lasts, limit), float((lasts > limit).mean()))
        array, seconds = asked_pieces(request, self.user, pieces)
        if self.lasts is None:
            self._asked(array, seconds)
        assert self.lasts is not None
        limit, each = pieces.limit(seconds), pieces.last(self.lasts)
        waits = self._at_site(array, np.minimum(each, limit)).starts.waits
        result = pieces.results(waits, each[: len(waits)], limit)
        return RequestOption(words, waits.min(axis=1), result, float((each > limit).mean()))

    def _asked(self, job: Workload, seconds: int | None) -> tuple[StartForecast, NDArray[np.int64]]:
        """Return when a request starts, and how long the job runs, of which so many seconds are asked for."""
        answer = self._at_site(job, None)
        if self.lasts is None:
            self.lasts = run_times_of(answer, self.how, seconds)
        return answer.starts, self.lasts

    def _at_site(self, job: Workload, lasts: NDArray[np.int64] | None) -> SiteForecast:
        return at_site(self.site, self.snapshot, new=job, how=self.how, lasts=lasts)


def run_times_of(answer: SiteForecast, how: Forking, request: int | None = None) -> NDArray[np.int64]:
    """Return a run time of a job that was asked about for each fork, by what its user's past runs used of requests.

    Levels are recalibrated by the last runs of the log, so that run times are beyond a limit as often as they say.

    Parameters
    ----------
    answer
        The forecast of it, or of its pieces.
    how
        As the forecast had it.
    request
        How many seconds it asks for as a whole; None: as many as the job of the forecast.
    """
    starts, log = answer.starts, answer.state.log
    runs = Runs.of(recorded(starts.jobs[:0]) if log is None else log)
    past, rng = PastRuns.grouped(runs), np.random.default_rng([how.seed, starts.now, 2])
    seen = levels_of_runs(runs, past, starts.now, how.sampling, rng)
    request = int(starts.jobs.requested_time[0]) if request is None else request
    known = RunTimes(past, starts.now, how.sampling).of(int(starts.jobs.user_id[0]), request)
    level = np.random.default_rng([how.seed, starts.now, 1]).random(how.forks)
    return known.quantile(recalibrated(level, seen), request, -1)


def results(waits: NDArray[np.int64], lasts: NDArray[np.int64], limit: int) -> NDArray[np.float64]:
    """Return the seconds until the result in each fork that was made, infinite where the job is killed at its limit."""
    made = lasts[: len(waits)]  # with a bound on time, there are fewer forks than run times
    return np.where(made <= limit, waits + made, np.inf)


def advice_text(options: Sequence[RequestOption], job: Sequence[str]) -> str:
    """Return advice as text: a sentence, and a table of the requests."""
    able = [one for one in options if not one.refused]
    best, own = able[0], next((one for one in able if not one.words), None)
    if best.killed > ALLOWED:
        first = "Every request that was asked about is killed at its limit too often: ask for more time."
    elif own is None:
        words = " ".join(best.words)
        first = f"With {words}, its result is there in {duration(best.median)} (median); as it is, it cannot start."
    elif own is best:
        first = f"Submit it as it is: its result is there in {duration(best.median)} (median)."
    else:
        sooner = own.median - best.median
        first = (
            f"With {' '.join(best.words)}, its result is there in {duration(best.median)} (median), "
            f"{duration(max(sooner, 0.0))} sooner than as it is."
        )
    regrets: list[float | str] = ["-" if one is best else until(max(one.median - best.median, 0.0)) for one in able]
    rows: list[list[float | str]] = [
        [" ".join(one.words) or "as it is", *waits_and_results(one.waits, one.result), f"{one.killed:.0%}", regret]
        for one, regret in zip(able, regrets, strict=True)
    ]
    header = ["request", "wait 50%", "result 10%", "result 50%", "result 90%", "killed", "regret"]
    alone = "Each is asked about alone: if all users follow such advice, it is no longer true."
    refused = [f"{' '.join(one.words) or 'as it is'}: {one.refused}." for one in options if one.refused]
    return "\n".join([f"{first} {alone}", "", table(header, in_columns(rows, together=RESULTS)), *refused])


def waits_and_results(waits: NDArray[np.int64], result: NDArray[np.float64]) -> list[float | str]:
    """Return the median wait, and the times after which a tenth, half and nine tenths of the results are there."""
    quantiles = np.quantile(result, [0.1, 0.5, 0.9], method="inverted_cdf").tolist()
    return [float(np.median(waits)), *map(until, quantiles)]


def until(seconds: float) -> float | str:
    """Return the time to a result for a table; infinite: the job is killed."""
    return seconds if np.isfinite(seconds) else "killed"
