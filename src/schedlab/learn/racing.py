"""Candidates race over the training windows: those that fall behind the leader are stopped early.

All candidates of a race meet the windows in one random order, so that they are compared on the same windows. Nothing
depends on how many workers there are.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.learn.families import Coefficients, Family
from schedlab.learn.training import Losses
from schedlab.learn.workers import losses_of

FIRST_BLOCK = 8
"""Windows before the first decision; fewer do not say how much the differences scatter."""

STANDARD_ERRORS = 1.0
"""By how much a candidate must be worse than the leader to be stopped.

That is wrong now and then, and cheaper than to be certain: on 72 windows of two logs, with this and half of the
simulations CMA-ES finds what it finds without any stops; 2 and 0 are less good.
"""

FAILED = 1e6
"""The estimated loss of a candidate without a score for some job."""

Progress = Callable[[float, int, "Candidate | None"], None]
"""Called with the share of the budget that is used, the number of simulations, and the best candidate so far."""


class BudgetSpentError(Exception):
    """The search is over."""


class Budget:
    """What a search may cost: seconds, or simulations where the result must not depend on the speed of the machine.

    Examples
    --------
    >>> budget = Budget(simulations=100)
    >>> budget.spend(25)
    >>> budget.used
    0.25
    """

    def __init__(self, *, seconds: float = math.inf, simulations: float = math.inf) -> None:
        self._seconds = seconds
        self._limit = simulations
        self._begin = time.monotonic()
        self.simulations = 0

    def spend(self, simulations: int) -> None:
        """Count simulations."""
        self.simulations += simulations

    @property
    def elapsed(self) -> float:
        """Seconds since the begin."""
        return time.monotonic() - self._begin

    @property
    def used(self) -> float:
        """The share that is used, of 1."""
        return max(self.elapsed / self._seconds, self.simulations / self._limit)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A policy with its loss on every training window and, once it is known, on every validation window."""

    family: Family
    formula: str
    coefficients: Coefficients
    losses: Losses
    validation: Losses | None = None

    @property
    def loss(self) -> float:
        """The mean loss."""
        return float(self.losses.mean())

    @property
    def ratio(self) -> float:
        """The geometric mean of the metric over that of the baseline, penalties included."""
        return math.exp(self.loss)

    @property
    def validation_ratio(self) -> float | None:
        """The same on the validation windows, which the search has not optimised for."""
        return None if self.validation is None else math.exp(self.validation.mean())

    @property
    def final_ratio(self) -> float:
        """What policies are chosen by at the end: the ratio on the validation windows, if there are any."""
        return self.ratio if self.validation_ratio is None else self.validation_ratio


class RaceTrack:
    """Simulates candidates on training windows, and remembers the best of each family.

    Parameters
    ----------
    windows
        Number of training windows.
    executor
        Where `losses_of` runs, see `schedlab.learn.workers.training_workers`.
    workers
        How many of them there are.
    budget
        What all races may cost.
    rng
        Draws the order of the windows.
    stops_early
        Whether candidates of certain place are stopped; otherwise all are simulated on all windows.
    progress
        Called after each block.
    """

    def __init__(
        self,
        windows: int,
        executor: Executor,
        budget: Budget,
        rng: np.random.Generator,
        *,
        workers: int = 1,
        stops_early: bool = True,
        progress: Progress | None = None,
    ) -> None:
        self.budget = budget
        self.leaders: dict[str, Candidate] = {}
        self._windows = windows
        self._rng = rng
        self._executor = executor
        self._workers = workers
        self._stops_early = stops_early
        self._progress = progress

    @property
    def best(self) -> Candidate | None:
        """The best candidate of all families that was simulated on all windows."""
        return min(self.leaders.values(), key=lambda leader: leader.loss, default=None)

    def simulate(self, formulas: Sequence[str], windows: Sequence[int]) -> Losses:
        """Return the losses of some policies, one per row, on some windows.

        Raises
        ------
        BudgetSpentError
            If the budget is used up.
        """
        if self.budget.used >= 1:
            raise BudgetSpentError
        losses = self._losses(formulas, windows)
        self.budget.spend(losses.size)
        if self._progress:
            self._progress(min(self.budget.used, 1.0), self.budget.simulations, self.best)
        return losses

    def validate(self, windows: Sequence[int]) -> None:
        """Simulate the leader of each family on windows for validation, whatever is left of the budget."""
        names = list(self.leaders)
        losses = self._losses([self.leaders[name].formula for name in names], windows)
        for name, row in zip(names, losses, strict=True):
            self.leaders[name] = replace(self.leaders[name], validation=row)

    def _losses(self, formulas: Sequence[str], windows: Sequence[int]) -> Losses:
        pieces = math.ceil(2 * self._workers / len(formulas))  # enough for all workers, however few the formulas
        parts = [part.tolist() for part in np.array_split(np.asarray(windows), pieces) if len(part)]
        futures = [[self._executor.submit(losses_of, formula, part) for part in parts] for formula in formulas]
        return np.array([np.concatenate([future.result() for future in row]) for row in futures])

    def draw(self) -> list[list[int]]:
        """Return all windows in a new random order, in blocks that double how many have been seen."""
        blocks = np.split(self._rng.permutation(self._windows), ends_of_blocks(self._windows)[:-1])
        return [block.tolist() for block in blocks]

    def enter(self, family: Family, vector: NDArray[np.float64]) -> bool:
        """Simulate a family's first candidate on all windows; return False if it has no score for some job."""
        losses = self.simulate([family.formula(vector)], range(self._windows))[0]
        self.note(family, vector, losses)
        return bool(np.isfinite(losses).all())

    def race(self, family: Family, vectors: Sequence[NDArray[np.float64]]) -> Losses:
        """Return the estimated mean loss of each of some candidates of one family, whose leader is known.

        Notes
        -----
        The candidates meet the windows in an order that is drawn for this race, in blocks. After each block, those
        that are worse than the leader of the family on the same windows, by more than `STANDARD_ERRORS` of the mean
        difference (corrected for the windows being finitely many), are simulated no further. The estimate for such a
        candidate is the mean loss of the leader plus its mean difference from the leader so far.

        References
        ----------
        Heidrich-Meisner and Igel, "Hoeffding and Bernstein races for selecting policies in evolutionary direct policy
        search", ICML 2009.
        """
        formulas = [family.formula(vector) for vector in vectors]
        leader = self.leaders[family.name].losses
        losses = np.full((len(formulas), self._windows), np.nan)
        running = list(range(len(formulas)))
        for block in self.draw():
            losses[np.array(running)[:, None], block] = self.simulate([formulas[i] for i in running], block)
            running = [i for i in running if not (self._stops_early and is_worse(losses[i], leader))]
            if not running:
                break
        for i in running:
            self.note(family, vectors[i], losses[i])
        # Where a loss is infinite, so is the mean difference.
        estimates = leader.mean() + np.nanmean(losses - leader, axis=1)
        return np.where(np.isfinite(estimates), estimates, FAILED)

    def note(self, family: Family, vector: NDArray[np.float64], losses: Losses) -> None:
        """Make a candidate that was simulated on all windows the leader of its family if it is better."""
        leader = self.leaders.get(family.name)
        if np.isfinite(losses).all() and (leader is None or losses.mean() < leader.loss):
            rounded = family.rounded(vector)
            self.leaders[family.name] = Candidate(family, family.write(rounded), rounded, losses)


def ends_of_blocks(windows: int) -> list[int]:
    """Return how many windows have been seen at the end of each block of a race.

    Examples
    --------
    >>> ends_of_blocks(40)
    [8, 16, 32, 40]
    """
    ends = [FIRST_BLOCK]
    while ends[-1] < windows:
        ends.append(2 * ends[-1])
    return [*ends[:-1], windows]


def is_worse(losses: Losses, leader: Losses) -> bool:
    """Return whether a candidate is worse than the leader on the windows that it has seen, by `STANDARD_ERRORS`.

    Parameters
    ----------
    losses
        Of the candidate; NaN for windows not seen.
    leader
        Of the leader, on all windows.

    Examples
    --------
    >>> unseen = np.full(36, np.nan)
    >>> is_worse(np.array([1.0, 1.1, 0.9, 1.0, *unseen]), np.zeros(40))
    True
    >>> is_worse(np.array([1.0, -1.0, 1.0, -0.5, *unseen]), np.zeros(40))
    False
    """
    seen = ~np.isnan(losses)
    count = np.count_nonzero(seen)
    difference = losses[seen] - leader[seen]
    mean = float(difference.mean())
    if not math.isfinite(mean):
        return True
    # What is left to chance are the windows not seen yet.
    error = difference.std(ddof=1) / math.sqrt(count) * math.sqrt(1 - count / len(leader)) if count > 1 else math.inf
    return bool(mean > STANDARD_ERRORS * error)
