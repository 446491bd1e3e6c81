"""Direct search of a policy: CMA-ES over the coefficients of parametric families, judged by simulation.

The families share the budget by successive halving: in each round all that are left get the same share, and the better
half of them goes on. At the end the best of each family are compared on validation windows, if there are any, and the
best of these is chosen: what only suits the windows of the training falls back there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.learn.families import (
    KINDS,
    Family,
    JobSample,
    expected_families,
    form_families,
    linear_families,
    power_families,
)
from schedlab.learn.racing import Budget, BudgetSpentError, Candidate, Progress, RaceTrack
from schedlab.learn.training import Training

SCREENING = 0.25
"""Share of the budget for choosing among the forms of SC'17."""

FIRST_LOOK = 0.6
"""Share of that for the first block of windows."""

AT_ONCE = 32
"""Forms that are simulated together."""

FORMS = 4
"""Number of candidates that go on."""

CONVERGED = 1e-4
"""Where the estimates of a generation differ by less, 0.01 % of the metric, the next run begins."""


class Search:
    """A search, which may be interrupted: `best` and `leaders` are what has been found so far.

    Parameters
    ----------
    training
        Windows and objective, see `schedlab.learn.training.prepare_training`.
    executor
        Where simulations run, see `schedlab.learn.workers.training_workers`.
    budget
        Seconds or simulations, see `Budget`. Its clock runs from when it is made. Once it is used up no new block of
        simulations begins; the one that runs is finished.
    kinds
        Some of `KINDS`.
    seed
        Of everything random.
    workers
        How many the executor has; the result does not depend on it if the budget is in simulations.
    stops_early
        Whether candidates that cannot win any more are stopped, see `schedlab.learn.racing.RaceTrack.race`.
    progress
        Called after each block of simulations.

    Examples
    --------
    >>> from schedlab.learn.training import prepare_training
    >>> from schedlab.learn.workers import training_workers
    >>> from schedlab.model.lublin_feitelson import lublin
    >>> from schedlab.workload.cleaning import clean
    >>> parts = [clean(lublin(80, 64, rng=np.random.default_rng(seed), load=1.1)) for seed in range(4)]
    >>> training = prepare_training(parts)
    >>> with training_workers(training) as executor:
    ...     search = Search(training, executor, Budget(simulations=200), kinds=["power"])
    ...     best = search.run()
    >>> best.ratio <= 1.01
    True
    """

    def __init__(
        self,
        training: Training,
        executor: Executor,
        budget: Budget,
        *,
        kinds: Sequence[str] = KINDS,
        seed: int = 1,
        workers: int = 1,
        stops_early: bool = True,
        progress: Progress | None = None,
    ) -> None:
        check_kinds(kinds)
        self._kinds = kinds
        self._jobs = JobSample.of(training.windows[: len(training)])
        self._validation = range(len(training), len(training.windows))
        self._rng = np.random.default_rng(seed)
        self._track = RaceTrack(
            len(training),
            executor,
            budget,
            self._rng,
            workers=workers,
            stops_early=stops_early,
            progress=progress,
        )

    @property
    def best(self) -> Candidate | None:
        """The best policy so far, of those that were simulated on all windows to train on."""
        return next(iter(self.leaders), None)

    @property
    def leaders(self) -> list[Candidate]:
        """The best policy of each family so far, the best first: by the validation windows as soon as it is over."""
        return sorted(self._track.leaders.values(), key=lambda leader: leader.final_ratio)

    @property
    def budget(self) -> Budget:
        """What has been used."""
        return self._track.budget

    def run(self) -> Candidate:
        """Search until the budget is used up, and return the best policy.

        The validation comes on top of the budget: one simulation for each family and validation window.

        Raises
        ------
        InputError
            If the budget does not suffice for one policy.
        """
        with suppress(BudgetSpentError):
            self._run_rounds(self._first_climbs())
        if self.best is None:
            raise InputError("the budget of the search is too small to simulate one policy on all windows")
        if self._validation:
            self._track.validate(self._validation)
        return self.best

    def _first_climbs(self) -> list[Climb]:
        families: list[Family] = []
        if "power" in self._kinds:
            families += power_families(self._jobs)
        if "linear" in self._kinds:
            families += linear_families(self._jobs)
        if "expected" in self._kinds:
            families += expected_families(self._jobs)
        climbs = [Climb(self._track, family, self._rng) for family in families if self._enter(family)]
        if "forms" in self._kinds:
            forms = screen(self._track, form_families(self._jobs), self._rng, share=SCREENING, keep=FORMS)
            climbs += [Climb(self._track, form, self._rng) for form in forms if form.start]
        return climbs

    def _enter(self, family: Family) -> bool:
        return self._track.enter(family, np.array(family.start))

    def _run_rounds(self, climbs: list[Climb]) -> None:
        budget = self._track.budget
        rounds = math.ceil(math.log2(len(climbs))) + 1 if climbs else 0
        for left in range(rounds, 0, -1):
            until = budget.used + (1 - budget.used) / left
            for place, climb in enumerate(climbs):
                climb.advance(budget.used + (until - budget.used) / (len(climbs) - place))
            climbs.sort(key=lambda climb: climb.loss)
            del climbs[math.ceil(len(climbs) / 2) :]


def check_kinds(kinds: Sequence[str]) -> None:
    """Raise InputError unless all kinds of families are known."""
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(f"unknown family {kind!r}; known are {', '.join(KINDS)}, or all")


class Climb:
    """CMA-ES on one family, restarted with twice the candidates whenever it has converged (IPOP).

    It walks in steps of the family's spread, from the family's start; later runs begin at random places.

    References
    ----------
    Hansen, "The CMA evolution strategy: a tutorial", 2016; Auger and Hansen, "A restart CMA evolution strategy with
    increasing population size", CEC 2005.
    """

    def __init__(self, track: RaceTrack, family: Family, rng: np.random.Generator) -> None:
        self._track = track
        self._family = family
        self._rng = rng
        self._begin(np.zeros(len(family.start)), None)

    def _begin(self, place: NDArray[np.float64], population: int | None) -> None:
        from cmaes import CMA

        seed = int(self._rng.integers(2**32))
        self._cma = CMA(mean=place, sigma=1.0, seed=seed, population_size=population)

    @property
    def loss(self) -> float:
        """Of the best candidate of the family."""
        return self._track.leaders[self._family.name].loss

    def advance(self, until: float) -> None:
        """Go on until this share of the budget is used."""
        while self._track.budget.used < until:
            self._run_generation()

    def _run_generation(self) -> None:
        steps = [self._cma.ask() for _ in range(self._cma.population_size)]
        estimates = self._track.race(self._family, [self._vector(step) for step in steps])
        self._cma.tell(list(zip(steps, estimates.tolist(), strict=True)))
        if np.ptp(estimates) < CONVERGED or self._cma.should_stop():
            self._begin(self._rng.standard_normal(len(self._family.start)), 2 * self._cma.population_size)

    def _vector(self, step: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array(self._family.start) + np.array(self._family.spread) * step


def screen(
    track: RaceTrack, forms: Sequence[Family], rng: np.random.Generator, *, share: float, keep: int
) -> list[Family]:
    """Choose among many families by their first candidates: fewer and fewer of them see more and more windows.

    Parameters
    ----------
    track
        Where they run; the leaders of those chosen are known to it afterwards.
    forms
        The families.
    rng
        Draws the order in which they are tried; not all may be, if the budget is small.
    share
        Of the budget.
    keep
        How many to choose.
    """
    begin = track.budget.used
    first, *blocks = track.draw()
    losses: dict[int, NDArray[np.float64]] = {}
    order = rng.permutation(len(forms)).tolist()
    while order and (not losses or track.budget.used < begin + FIRST_LOOK * share):
        chosen, order = order[:AT_ONCE], order[AT_ONCE:]
        losses |= _looked_at(track, forms, chosen, first)
    ranking = _best_first(losses)
    fewer = (keep / len(ranking)) ** (1 / max(1, len(blocks))) if ranking else 1.0
    for block in blocks:
        ranking = ranking[: max(keep, round(fewer * len(ranking)))]
        more = _looked_at(track, forms, ranking, block)
        losses = {i: np.concatenate([losses[i], more[i]]) for i in ranking if i in more}
        ranking = _best_first(losses)
    windows = np.argsort(np.concatenate([first, *blocks]))
    for i in ranking[:keep]:
        track.note(forms[i], np.array(forms[i].start), losses[i][windows])
    return [forms[i] for i in ranking[:keep]]


def _looked_at(
    track: RaceTrack, forms: Sequence[Family], chosen: Sequence[int], block: Sequence[int]
) -> dict[int, NDArray[np.float64]]:
    """Return the losses of some families' first candidates on a block, if they have a score for every job."""
    if not chosen:
        return {}
    losses = track.simulate([forms[i].formula(np.array(forms[i].start)) for i in chosen], block)
    return {i: row for i, row in zip(chosen, losses, strict=True) if np.isfinite(row).all()}


def _best_first(losses: dict[int, NDArray[np.float64]]) -> list[int]:
    return sorted(losses, key=lambda i: losses[i].mean())
