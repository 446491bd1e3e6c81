"""What jobs with stochastic run times ask for, in the form of the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NO_LAW = -1


class Laws(NamedTuple):
    """Laws of run times as tables: of law i, entry k belongs to second `begin[i] + k * step[i]`.

    `below` is the probability of at most so many seconds, `part` the expectation of the run time over those runs alone.
    """

    begin: NDArray[np.float64]
    step: NDArray[np.float64]
    below: NDArray[np.float64]
    part: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """What the jobs of a workload ask for, one entry per job in the workload's order unless said otherwise.

    Parameters
    ----------
    offsets, lengths
        int64: job j asks for `lengths[offsets[j]:offsets[j + 1]]` seconds, one after the other; at least one each.
    most
        int64 seconds: what it asks for at most.
    growth
        float64: where its sequence ends, the next request is so many times the last one; 0: the job is given up.
    law
        int64: number of its law, -1 for none.
    application
        int64: number of its application, -1 for none.
    history
        If not 0, jobs of an application ask at first for the longest of its last so many that were done.
    laws
        The laws, as tables.
    """

    offsets: NDArray[np.int64]
    lengths: NDArray[np.int64]
    most: NDArray[np.int64]
    growth: NDArray[np.float64]
    law: NDArray[np.int64]
    application: NDArray[np.int64]
    history: int
    laws: Laws

    def in_order(self, order: NDArray[np.intp]) -> Requests:
        """Return the same with the jobs in another order."""
        count = np.diff(self.offsets)[order]
        offsets = np.concatenate([[0], np.cumsum(count)])
        rows = np.repeat(self.offsets[:-1][order] - offsets[:-1], count) + np.arange(offsets[-1])
        columns = (getattr(self, name)[order] for name in ("most", "growth", "law", "application"))
        return Requests(offsets, self.lengths[rows], *columns, self.history, self.laws)


def no_laws() -> Laws:
    """Return the tables of no laws."""
    return Laws(np.empty(0), np.empty(0), np.empty((0, 1)), np.empty((0, 1)))


