"""Recalibrated forecasts: a level is read where, of past forecasts of its class, so many outcomes lay below.

Classes are the predicted lead and the processors of a job, both known when it is asked about; small classes lean on
larger ones. Past forecasts count as soon as their jobs have started; the wait so far of one that still waits is a
lower bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.when.levels import at_level, levels_of

LEADS = (600, 3_600, 4 * 3_600, 86_400)
"""Seconds that separate the classes of predicted leads."""

LEAD_NAMES = ("below 10 min", "10 min to 1 h", "1 h to 4 h", "4 h to 1 d", "above 1 d")
WIDTH_NAMES = ("narrow", "medium", "wide")

TAUS = np.arange(1, 10) / 10
"""The levels of quantiles that are told and scored."""

FEWEST, MOST = 150, 3_000
"""Past forecasts that are needed to recalibrate, and how many count at most."""

OF_LEAD, OF_ALL = 20.0, 10.0
"""As how many forecasts of the class those of its lead count at most, and those of other leads."""

HALF_LIFE = 200.0
"""A forecast counts half as much as the one that was made so many later."""


class Outcomes(NamedTuple):
    """Forecasts and what came of them, in the order of their moments.

    Parameters
    ----------
    moment
        int64 seconds: when each forecast was made.
    waits
        int64 seconds of shape (forks, jobs): the forecasts.
    outcome
        int64 seconds: how long each job waited from its moment on.
    processors
        Of each job.
    """

    moment: NDArray[np.int64]
    waits: NDArray[np.int64]
    outcome: NDArray[np.int64]
    processors: NDArray[np.int64]

    def known(self, now: int) -> Outcomes:
        """Return what is known at a second: forecasts made before it; waits that go on end with it."""
        seen = np.flatnonzero(self.moment < now)[-MOST:]
        moment, outcome = self.moment[seen], self.outcome[seen]
        return Outcomes(moment, self.waits[:, seen], np.minimum(outcome, now - moment), self.processors[seen])

    def lead(self) -> NDArray[np.int64]:
        """Return the class of the predicted lead of each forecast."""
        return np.digitize(np.median(self.waits, axis=0), LEADS)

    def width(self, edges: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the class of the processors of each job."""
        return np.digitize(self.processors, edges)


class PastLevels(NamedTuple):
    """At which levels of their forecasts past outcomes lay, in the order of the moments.

    Parameters
    ----------
    level
        The levels, see `levels_of`.
    lead
        The class of each predicted lead.
    processors
        Of each job.
    longest
        Seconds that recalibrated waits do not exceed, unless a fork does.
    """

    level: NDArray[np.float64]
    lead: NDArray[np.int64]
    processors: NDArray[np.int64]
    longest: float

    @classmethod
    def of(cls, past: Outcomes, now: int) -> PastLevels:
        """Return what is known at a second; outcomes that lie behind it are bounds."""
        known = past.known(now)
        waiting = past.moment[past.moment < now][-MOST:] + past.outcome[past.moment < now][-MOST:] > now
        levels = levels_of(known.waits, known.outcome, np.random.default_rng(now))
        longest = float(np.quantile(known.outcome, 0.995)) if len(known.outcome) else np.inf
        return cls(np.where(waiting, np.maximum(levels, 0), levels), known.lead(), known.processors, longest)


class Recalibration:
    """How forecasts are read, by what is known of past ones.

    Parameters
    ----------
    past
        Where past outcomes lay.

    Notes
    -----
    The level for a quantile tau is the weighted quantile tau of the past outcomes' levels, by n of them moved outwards
    by 2 (tau - 1/2) / (n + 1). Forecasts of the class count one each, those of the same lead together as 20 at most
    and all others as 10 at most; and each half as much as the one 200 later. The median is not moved.
    """

    def __init__(self, past: PastLevels) -> None:
        self._past = past
        known = past.processors
        self._edges = np.quantile(known, [1 / 3, 2 / 3]) if len(known) else np.zeros(2)
        self._width = np.digitize(known, self._edges)
        self._age = 0.5 ** (np.arange(len(known) - 1, -1, -1) / HALF_LIFE)

    def weights(self, lead: int, width: int) -> NDArray[np.float64]:
        """Return how much each past forecast counts for those of a class."""
        of_lead = self._past.lead == lead
        own = of_lead & (self._width == width)
        found = np.where(own, self._age, 0.0)
        for others, most in ((of_lead & ~own, OF_LEAD), (~of_lead, OF_ALL)):
            total = float(self._age[others].sum())
            found[others] = self._age[others] * min(1.0, most / max(total, 1e-9))
        return found

    def levels(self, lead: int, width: int, taus: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the levels at which quantiles of a class are read."""
        weight, order = self.weights(lead, width), np.argsort(self._past.level)
        behind = np.cumsum(weight[order])
        place = (behind - weight[order] / 2) / behind[-1]
        count = behind[-1] ** 2 / float((weight**2).sum())
        outwards = np.clip(taus + (taus - 0.5) * 2 / (count + 1), 0, 1)
        return np.asarray(np.interp(outwards, place, self._past.level[order]))

    def quantiles(self, forecast: Outcomes, taus: NDArray[np.float64] = TAUS) -> NDArray[np.float64]:
        """Return recalibrated quantiles of forecasts in seconds, of shape (jobs, quantiles); outcomes are not read."""
        raw = np.asarray(np.quantile(forecast.waits, taus, axis=0, method="weibull").T)
        if len(self._past.level) < FEWEST:
            return raw
        found, middle = raw.copy(), np.median(forecast.waits, axis=0)
        classes = np.stack([forecast.lead(), forecast.width(self._edges)], axis=1)
        for lead, width in np.unique(classes, axis=0).tolist():
            rows = np.flatnonzero((classes == (lead, width)).all(axis=1))
            for column, level in enumerate(self.levels(lead, width, taus).tolist()):
                if taus[column] != 0.5:
                    found[rows, column] = at_level(forecast.waits[:, rows], level, self._past.longest)
        low, high = taus < 0.5, taus > 0.5
        found[:, low] = np.minimum(found[:, low], middle[:, None])
        found[:, high] = np.maximum(found[:, high], middle[:, None])
        return np.sort(found, axis=1)

    def waits(self, forecast: Outcomes) -> NDArray[np.int64]:
        """Return the recalibrated waits of forecasts, of the shape of theirs: each fork keeps its rank.

        Forks in which a job starts at once stay so: only forecasts of jobs that had to wait were judged.
        """
        forks = len(forecast.waits)
        found = self.quantiles(forecast, np.arange(1, forks + 1) / (forks + 1))
        rank = np.argsort(np.argsort(forecast.waits, axis=0, kind="stable"), axis=0, kind="stable")
        moved = np.rint(np.take_along_axis(found.T, rank, axis=0)).astype(np.int64)
        return np.where(forecast.waits == 0, 0, moved)
