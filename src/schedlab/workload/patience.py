"""For how long users let jobs wait before they cancel them: estimated from a log, and drawn for other jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.workload.cancelling import CANCELLED
from schedlab.workload.job_requests import job_requests
from schedlab.workload.workload import Workload


@dataclass(frozen=True, slots=True, eq=False)
class Patience:
    """The distribution of patience.

    Parameters
    ----------
    seconds
        int64, ascending: after which times jobs are cancelled.
    waiting
        float64: the share of the jobs that would still wait behind each of them. What is left behind the last one waits
        for ever.

    Examples
    --------
    Two jobs were cancelled, after 10 and 30 s, and three started, after 5, 20 and 40 s. Of the four that waited for 10
    s, one was cancelled then; of the two that waited for 30 s, one.

    >>> log = Workload.from_columns(dict(submit_time=[0] * 5, wait_time=[10, 30, 5, 20, 40], run_time=[0, 0, 9, 9, 9],
    ...                                  status=[5, 5, 1, 1, 1]))
    >>> found = Patience.of(log)
    >>> found.seconds.tolist(), found.waiting.tolist()
    ([10, 30], [0.75, 0.375])
    """

    seconds: NDArray[np.int64]
    waiting: NDArray[np.float64]

    @classmethod
    @explained
    def of(cls, log: Workload) -> Patience:
        """Estimate the patience of the users of a log, by the product-limit estimator.

        Of a job that started, the log only says that its user's patience was longer than its wait. To take the waits of
        cancelled jobs alone would make users far less patient than they are.

        Parameters
        ----------
        log
            As it was read: cleaning drops the jobs that were cancelled, unless by the rules "cancelled".

        Raises
        ------
        InputError
            If no job of the log was cancelled before it ran, after a wait that is known.

        References
        ----------
        Kaplan and Meier, "Nonparametric estimation from incomplete observations", JASA 53(282), 1958.
        """
        patience = log["patience"]
        cancelled = (log.status == CANCELLED) & ((log.run_time <= 0) | (patience > 0))
        waited = np.where(patience > 0, patience, np.where(cancelled, np.maximum(log.wait_time, 1), log.wait_time))
        known = np.where(cancelled, (patience > 0) | (log.wait_time >= 0), (log.wait_time >= 0) & (log.run_time >= 0))
        cancelled, waited = cancelled[known], waited[known]
        if not cancelled.any():
            raise InputError(
                f"{log.name}: no job was cancelled before it ran after a wait that is known, so that nothing says how "
                "patient users are; take another log, and do not clean it"
            )
        seconds, counts = np.unique(waited[cancelled], return_counts=True)
        at_risk = len(waited) - np.searchsorted(np.sort(waited), seconds)
        return cls(seconds.astype(np.int64), np.cumprod(1 - counts / at_risk, dtype=np.float64))

    def draw(self, workload: Workload, rng: np.random.Generator) -> Workload:
        """Return jobs with a patience each; those that would wait for ever have none.

        Parameters
        ----------
        workload
            The jobs. Components of a heterogeneous job get one patience.
        rng
            Draws it.
        """
        share = rng.random(len(workload))
        place = np.searchsorted(-self.waiting, -share)  # the first second behind which no larger share still waits
        drawn = np.append(self.seconds, 0)[place]
        resources = job_requests(workload)
        rows = np.flatnonzero(resources.het_job.codes >= 0)
        _, first, job = np.unique(resources.het_job.codes[rows], return_index=True, return_inverse=True)
        drawn[rows] = drawn[rows[first]][job]
        return workload.replace(resources=replace(resources, patience=drawn))
