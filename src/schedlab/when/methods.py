"""The methods that answer, each recalibrated on what came of its earlier forecasts, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from schedlab.when.levels import logarithm
from schedlab.when.queue_forest import PastQueues, QueueForest
from schedlab.when.recalibration import Outcomes, PastLevels, Recalibration
from schedlab.when.scores import covered, pinball

PLAN, FORKED, RECALIBRATED = "plan with requested times", "forks", "forks, recalibrated"
QUEUE, BOTH, CHOSEN = "state of the queue", "forks and state of the queue", "chosen"
"""The forecasts that are judged: a conservative plan without further arrivals, as Slurm makes one; forks; these with
quantiles recalibrated on what was known of earlier forecasts; what jobs waited that saw a similar queue; the same with
the quantiles of the forks as part of what is similar; and, at each moment, the best of the last three."""

QBETS, LAST_WEEK = "binomial bounds (QBETS)", "last week of the partition"
"""What operators could tell without a model; they never answer."""

METHODS = (RECALIBRATED, QUEUE, BOTH)
"""Those that may answer."""

BLOCK = 30
"""Forecasts after which all is learned again."""

LEAST_COVERAGE = 0.7
"""The share of past intervals of 80 % that must have held for a method to be chosen, if one of them did so well."""

FEW_OF_LEAD = 60
"""Past forecasts of a predicted lead by which the method for it is chosen; of fewer, all forecasts count."""


def only(outcomes: Outcomes, rows: NDArray[np.intp]) -> Outcomes:
    """Return some of the forecasts."""
    return Outcomes(outcomes.moment[rows], outcomes.waits[:, rows], outcomes.outcome[rows], outcomes.processors[rows])


def blocks_of(moment: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield forecasts in blocks, each with the moment of its first: what is learned for it must have come before."""
    for rows in np.array_split(np.arange(len(moment)), max(1, len(moment) // BLOCK)):
        if len(rows):
            yield int(moment[rows[0]]), rows


def similar_waits(
    past: PastQueues, view: NDArray[np.float64], moment: NDArray[np.int64], forks: int
) -> NDArray[np.int64]:
    """Return what jobs waited that saw a similar queue before each block: int64 seconds of shape (forks, jobs).

    Where nothing is known before, they are taken not to wait.
    """
    found = np.zeros((forks, len(moment)), dtype=np.int64)
    for now, rows in blocks_of(moment):
        known = past.known(now)
        if len(known.wait):
            found[:, rows] = QueueForest(known).draw(view[rows], forks)
    return found


def with_forks(view: NDArray[np.float64], waits: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return views of jobs with quantiles of their forks beside them, on the logarithmic scale."""
    quantiles = np.quantile(waits, [0.1, 0.3, 0.5, 0.7, 0.9], axis=0, method="weibull")
    return np.concatenate([view, logarithm(quantiles).T], axis=1)


def recalibrated(outcomes: Outcomes) -> NDArray[np.float64]:
    """Return the quantiles 0.1 ... 0.9 of forecasts, each recalibrated by what was known before its block."""
    found = [
        Recalibration(PastLevels.of(outcomes, now)).quantiles(only(outcomes, rows))
        for now, rows in blocks_of(outcomes.moment)
    ]
    return np.concatenate(found)


def chosen_method(
    quantiles: Mapping[str, NDArray[np.float64]], forks: Outcomes, now: int, lead: int | None = None
) -> str:
    """Return the method of the lowest pinball loss over the forecasts that had come true by a second.

    Parameters
    ----------
    quantiles
        Of each method that may answer, for all forecasts.
    forks
        The forecasts by forks, with their outcomes.
    now
        The second.
    lead
        The class of the lead that forks predict for the job that is asked about; None: of any.
    """
    known = (forks.moment < now) & (forks.moment + forks.outcome <= now)
    of_lead = known if lead is None else known & (forks.lead() == lead)
    rows = np.flatnonzero(of_lead if of_lead.sum() >= FEW_OF_LEAD else known)
    if not len(rows):
        return RECALIBRATED
    outcome = forks.outcome[rows]
    loss = {method: float(pinball(outcome, found[rows]).mean()) for method, found in quantiles.items()}
    held = [one for one, found in quantiles.items() if covered(outcome, found[rows]).mean() >= LEAST_COVERAGE]
    return min(held or loss, key=lambda one: loss[one])


def chosen(quantiles: Mapping[str, NDArray[np.float64]], forks: Outcomes) -> NDArray[np.float64]:
    """Return the quantiles of the method that had been best before each block, by predicted lead."""
    found, lead = quantiles[RECALIBRATED].copy(), forks.lead()
    for now, rows in blocks_of(forks.moment):
        for one in np.unique(lead[rows]).tolist():
            of = rows[lead[rows] == one]
            found[of] = quantiles[chosen_method(quantiles, forks, now, one)][of]
    return found
