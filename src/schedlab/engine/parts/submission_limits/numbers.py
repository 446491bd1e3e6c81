"""Limits on submitted jobs as numbers, for the engine and its reference.

Who would exceed such a limit is refused by sbatch, an array as a whole. The jobs of a workload were accepted once, and
their users do not give up: a refused submission is made again as soon as the limits allow it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.workload.columns import distinct
from schedlab.workload.resources import Labels
from schedlab.workload.workload import Workload


class SubmissionLimitInputs(NamedTuple):
    """How many jobs may be submitted, waiting or running, at a time.

    Parameters
    ----------
    limit
        int64, one per limit.
    reason
        The reason of a job that would exceed it, as sbatch gives it.
    use_offset
        int64, one per job in order of submission and one more: where its limits begin in the next two arrays.
    use_limit, use_amount
        int64: which limits, and how much of each it uses.
    batch
        int64, one per job: its submission; an array is one, and so are the alternatives of a moldable job.
    """

    limit: NDArray[np.int64]
    reason: tuple[str, ...]
    use_offset: NDArray[np.int64]
    use_limit: NDArray[np.int64]
    use_amount: NDArray[np.int64]
    batch: NDArray[np.int64]

    @property
    def job(self) -> NDArray[np.int64]:
        """The job of each use."""
        return np.repeat(np.arange(len(self.batch)), np.diff(self.use_offset))

    def never(self) -> Labels:
        """Return for each job the reason of a limit that its submission exceeds by itself, none if there is none."""
        found = np.full(len(self.batch), -1, dtype=np.int64)
        count, names = len(self.limit), list(dict.fromkeys(self.reason))
        case = self.batch[self.job] * count + self.use_limit
        which, place = np.unique(case, return_inverse=True)
        used = np.bincount(place, self.use_amount, len(which))
        for one in which[used > self.limit[which % count]].tolist():
            rows = self.batch == one // count
            found[rows & (found < 0)] = names.index(self.reason[one % count])
        return Labels(found, tuple(names))

    def of_first(self, owner: NDArray[np.int64]) -> SubmissionLimitInputs:
        """Return the same for alternatives of jobs, of which `owner` has the job: a job counts once."""
        follows = np.zeros(len(owner), dtype=np.bool_)
        follows[1:] = owner[1:] == owner[:-1]
        first = np.maximum.accumulate(np.where(follows, 0, np.arange(len(owner))))
        return self._replace(use_amount=np.where(follows[self.job], 0, self.use_amount), batch=self.batch[first])


def batches(workload: Workload) -> NDArray[np.int64]:
    """Return the submission of each job: components of a job, or elements of an array of the same second, have one."""
    if workload.resources is None:
        return np.arange(len(workload))
    array, het_job = workload.resources.array.codes, workload.resources.het_job.codes
    alone = np.where((array < 0) & (het_job < 0), np.arange(len(workload)), -1)
    _, batch = distinct(array, het_job, workload.submit_time, alone)
    return batch.astype(np.int64)
