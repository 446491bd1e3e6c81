"""Recalibrated quantiles: a level is read where, of past forecasts of its class, so many outcomes lay below.

Classes are the predicted lead and the processors of a job, both known when it is asked about. Past forecasts count as
soon as their jobs have started; the wait so far of one that still waits is a lower bound.
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
"""Past forecasts that a class needs to be judged by itself, and how many count at most."""


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


class Recalibration:
    """How forecasts are read, by what is known of past ones at a second.

    Parameters
    ----------
    past
        Forecasts and their outcomes.
    now
        The second; outcomes that lie behind it are unknown.

    Notes
    -----
    The level for a quantile tau is the quantile tau of the past outcomes' levels, by n of them moved outwards by
    2 (tau - 1/2) / (n + 1). A class of less than 150 past forecasts is judged with all of its predicted lead, and if
    these are less than 150, with all. The median is not moved.
    """

    def __init__(self, past: Outcomes, now: int) -> None:
        known = past.known(now)
        waiting = past.moment[past.moment < now][-MOST:] + past.outcome[past.moment < now][-MOST:] > now
        levels = levels_of(known.waits, known.outcome, np.random.default_rng(now))
        self.levels = np.where(waiting, np.maximum(levels, 0), levels)
        self._edges = np.quantile(known.processors, [1 / 3, 2 / 3]) if len(known.processors) else np.zeros(2)
        self._lead, self._width = known.lead(), known.width(self._edges)
        self._longest = float(np.quantile(known.outcome, 0.995)) if len(known.outcome) else np.inf

    def chosen(self, lead: int, width: int) -> NDArray[np.bool_]:
        """Return which past forecasts judge those of a class."""
        found = (self._lead == lead) & (self._width == width)
        if found.sum() < FEWEST:
            found = self._lead == lead
        return np.ones(len(found), dtype=np.bool_) if found.sum() < FEWEST else found

    def quantiles(self, forecast: Outcomes, taus: NDArray[np.float64] = TAUS) -> NDArray[np.float64]:
        """Return recalibrated quantiles of forecasts in seconds, of shape (jobs, quantiles); outcomes are not read."""
        raw = np.quantile(forecast.waits, taus, axis=0, method="weibull").T
        if len(self.levels) < FEWEST:
            return np.asarray(raw)
        found = raw.copy()
        classes = np.stack([forecast.lead(), forecast.width(self._edges)], axis=1)
        for lead, width in np.unique(classes, axis=0).tolist():
            rows = np.flatnonzero((classes == (lead, width)).all(axis=1))
            levels = self.levels[self.chosen(lead, width)]
            for column, tau in enumerate(taus.tolist()):
                if tau != 0.5:
                    outwards = np.clip(tau + (tau - 0.5) * 2 / (len(levels) + 1), 0, 1)
                    level = float(np.quantile(levels, outwards))
                    found[rows, column] = at_level(forecast.waits[:, rows], level, self._longest)
        low, high = taus < 0.5, taus > 0.5
        found[:, low] = np.minimum(found[:, low], raw[:, taus == 0.5]) if (taus == 0.5).any() else found[:, low]
        found[:, high] = np.maximum(found[:, high], raw[:, taus == 0.5]) if (taus == 0.5).any() else found[:, high]
        return np.sort(found, axis=1)
