"""Jobs of a model, drawn ahead in blocks and handed out by the work they bring."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError

if TYPE_CHECKING:
    from schedlab.model.model import WorkloadModel

BLOCK = 1 << 15
"""Jobs that are drawn at a time. Part of what a seed means: another value gives other jobs."""

Columns = dict[str, NDArray[np.int64]]


def draw_jobs(model: WorkloadModel, rng: np.random.Generator, count: int) -> Columns:
    """Draw jobs of a model.

    Returns
    -------
    dict of int64 arrays
        `processors`, `requested_time`, `run_time` and `user_id`; `accepted`, 1, or 0 for a job that the site would
        reject; and `work`, the core-seconds that the job brings, 0 if it is rejected.
    """
    jobs = model.draw_jobs(rng, count)
    accepted = ~model.rejects(jobs["processors"], jobs["run_time"])
    work = jobs["processors"] * np.minimum(jobs["run_time"], jobs["requested_time"]) * accepted
    return {**jobs, "accepted": accepted.astype(np.int64), "work": work}


class JobPool:
    """A sequence of jobs without end, of which some have been taken.

    Which jobs follow each other depends on the seed alone, not on how many are taken at a time.

    Examples
    --------
    >>> from schedlab.model.edison import EDISON_TOY
    >>> pool = JobPool(EDISON_TOY, np.random.default_rng(1))
    >>> count, work = pool.take(1_000_000)
    >>> work >= 1_000_000, count == pool.taken == len(pool.jobs()["work"])
    (True, True)
    """

    def __init__(self, model: WorkloadModel, rng: np.random.Generator) -> None:
        self._model = model
        self._rng = rng
        self._blocks: list[Columns] = []
        self._reached: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        """Work of the block that is in use, summed up, on top of that of the blocks before it."""
        self._next = 0
        """Position in that block of the next job."""
        self.taken = 0
        self._work_taken = 0

    def take(self, work: float) -> tuple[int, int]:
        """Take the fewest jobs that bring at least some work, more than 0.

        Returns
        -------
        count, work
            How many, and the work they bring.

        Raises
        ------
        InputError
            If the jobs of the model do no work.
        """
        wanted, count = self._work_taken + math.ceil(work), 0
        while not len(self._reached) or self._reached[-1] < wanted:
            count += len(self._reached) - self._next
            self._draw_block()
        end = int(self._reached.searchsorted(wanted)) + 1
        count += end - self._next
        brought = int(self._reached[end - 1]) - self._work_taken
        self._next = end
        self.taken += count
        self._work_taken += brought
        return count, brought

    def jobs(self) -> Columns:
        """Return all jobs that have been taken, in order."""
        if not self._blocks:
            return draw_jobs(self._model, self._rng, 0)
        return {name: np.concatenate([block[name] for block in self._blocks])[: self.taken] for name in self._blocks[0]}

    def _draw_block(self) -> None:
        block = draw_jobs(self._model, self._rng, BLOCK)
        if not block["work"].any():
            raise InputError(
                f"model {self._model.name}: its jobs contain no work or are rejected, so the pressure cannot be kept"
            )
        before = int(self._reached[-1]) if len(self._reached) else 0
        self._blocks.append(block)
        self._reached, self._next = before + np.cumsum(block["work"]), 0
