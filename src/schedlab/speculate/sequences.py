"""Sequences of requests, and their costs on a run-time distribution: the evaluator that compares all methods.

A job is run with the first request; whenever it is killed at its request, it is resubmitted with the next one, from its
beginning or from its last checkpoint. Its run time X is the same in every attempt.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.durations import duration_text, parse_duration
from schedlab.errors import InputError
from schedlab.speculate.costs import AffineCost
from schedlab.speculate.distributions import RunTimeDistribution

Values = NDArray[np.float64]

RETRY_FACTOR = 1.5
"""The factor from one request to the next after the end of a sequence."""

ROUNDING = 1e-12
"""Relative error of a duration that results from sums or conversions."""


class NoSequenceError(InputError):
    """No sequence of allowed requests covers the longest run."""


@explained
@dataclass(frozen=True, slots=True)
class RequestSequence:
    """Requests in the order in which they are made.

    Parameters
    ----------
    requests
        Their lengths in seconds.
    covered
        The run time up to which each request lets the job succeed; without checkpoints, its length. Ascending.
    checkpoints
        Whether a request ends with a checkpoint.
    restart
        Seconds that reading a checkpoint takes.

    Raises
    ------
    InputError
        If there is no request, one is not a finite time above 0, or they do not ascend.

    Examples
    --------
    >>> RequestSequence.plain([3600, 7200]).text
    '1h, 2h'
    """

    requests: tuple[float, ...]
    covered: tuple[float, ...]
    checkpoints: tuple[bool, ...]
    restart: float = 0.0

    def __post_init__(self) -> None:
        if not self.requests:
            raise InputError("a sequence needs at least one request")
        for request in (*self.requests, *self.covered):
            if not (math.isfinite(request) and request > 0):
                raise InputError(f"a request is {request:g} s long; it must be finite and above 0")
        for number, (one, next_one) in enumerate(zip(self.covered, self.covered[1:], strict=False), start=1):
            if next_one <= one:
                raise InputError(
                    f"the sequence does not ascend: request {number + 1} ({duration_text(next_one)}) "
                    f"covers no more than request {number} ({duration_text(one)})"
                )

    @staticmethod
    def plain(requests: Iterable[float]) -> RequestSequence:
        """Return a sequence of requests in seconds, without checkpoints.

        Raises
        ------
        InputError
            If one is not a valid time, or they do not ascend.
        """
        try:
            lengths = tuple(float(request) for request in requests)
        except (TypeError, ValueError):
            raise InputError(f"requests are numbers of seconds in a list, not {requests!r:.60}") from None
        return RequestSequence(lengths, lengths, (False,) * len(lengths))

    @staticmethod
    @explained
    def parse(text: str) -> RequestSequence:
        """Return the sequence of durations separated by commas.

        Raises
        ------
        InputError
            If one is not a duration, or they do not ascend.
        """
        return RequestSequence.plain([parse_duration(part) for part in text.split(",")])

    @staticmethod
    def of(sequence: RequestSequence | Iterable[float] | str) -> RequestSequence:
        """Return a sequence given as an object, in seconds, or as text.

        Raises
        ------
        InputError
            If it is not a valid sequence.
        """
        if isinstance(sequence, RequestSequence):
            return sequence
        return RequestSequence.parse(sequence) if isinstance(sequence, str) else RequestSequence.plain(sequence)

    def check_reaches(self, distribution: RunTimeDistribution) -> None:
        """Raise InputError if some runs of a distribution are longer than the sequence covers.

        Raises
        ------
        InputError
            The message gives the end of the support.
        """
        if self.covered[-1] < distribution.high * (1 - ROUNDING):
            raise InputError(
                f"the sequence ends at {duration_text(self.covered[-1])}, before the longest run "
                f"({duration_text(distribution.high)}); add a last request of that length"
            )

    @property
    def text(self) -> str:
        """The requests, in whole seconds from a minute on; "+c" marks those that end with a checkpoint."""
        # Rounded up, so that a run of exactly this length succeeds; rounding errors of sums are ignored.
        whole = (
            math.ceil(request * (1 - ROUNDING)) if request >= 60 else round(request, 3) for request in self.requests
        )
        pairs = zip(whole, self.checkpoints, strict=True)
        return ", ".join(duration_text(request) + ("+c" if saved else "") for request, saved in pairs)

    def __len__(self) -> int:
        return len(self.requests)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The mean costs of a sequence.

    Parameters
    ----------
    cost
        The objective of the method: the makespan at zeta > 0, otherwise the cost of the affine model.
    makespan
        E[T] in seconds: until the last request has ended and, at zeta > 0, the small jobs that arrived meanwhile are
        done.
    attempts
        Mean number of requests.
    requested
        Mean of the time requested in all attempts, in seconds.
    used
        Mean of the time used in all attempts, in seconds.
    """

    cost: float
    makespan: float
    attempts: float
    requested: float
    used: float

    @staticmethod
    @explained
    def of(
        model: AffineCost, zeta: float, makespan: float, attempts: float, requested: float, used: float
    ) -> Evaluation:
        """Return the evaluation with the cost computed from the means."""
        price = model.alpha * requested + model.beta * used + model.gamma * attempts
        return Evaluation(makespan if zeta else price, makespan, attempts, requested, used)

    def to_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        return {name: float(getattr(self, name)) for name in self.__slots__}


def check_share(zeta: Any) -> None:
    """Raise InputError for a share of small jobs outside [0, 1).

    Raises
    ------
    InputError
        The message gives the value.
    """
    if not isinstance(zeta, int | float | np.floating) or not 0 <= zeta < 1:
        raise InputError(f"zeta is {zeta}; the share of the machine that small jobs take lies in [0, 1)")


def check_objective(zeta: float, cost: AffineCost) -> None:
    """Raise InputError for a stream of small jobs together with a cost other than the makespan.

    Raises
    ------
    InputError
        If both are given, or zeta lies outside [0, 1).
    """
    check_share(zeta)
    if zeta and not cost.is_makespan:
        raise InputError("zeta above 0 minimises the makespan; leave out the cost, or let zeta be 0")


def evaluate_requests(
    distribution: RunTimeDistribution | str,
    sequence: RequestSequence | Iterable[float] | str,
    *,
    zeta: float = 0.0,
    cost: AffineCost | None = None,
) -> Evaluation:
    """Return the costs of a sequence on a run-time distribution.

    Parameters
    ----------
    distribution
        The run-time distribution, or its text; continuous, or a grid.
    sequence
        Requests in seconds, or a text such as "10h,20h"; the last one at least the longest run.
    zeta
        Share of the machine that a steady stream of small jobs takes, in [0, 1).
    cost
        The cost of an attempt; by default, the requested time.

    Raises
    ------
    InputError
        If the sequence does not ascend to the longest run, or zeta is combined with checkpoints or another cost.

    Notes
    -----
    The makespan of a run X that succeeds with request t after requests that sum to S is T = max(S + t, (S + X) / (1 -
    zeta)): the job is done at S + X, when zeta (S + X) of small work waits, and the gap to the end of the request may
    be enough for it or not. See the reference on requests.

    Examples
    --------
    >>> found = evaluate_requests("truncnorm(0h,20h,mu=8h,sigma=2h)", [13 * 3600, 20 * 3600], zeta=0.5)
    >>> round(found.makespan / 3600, 6), round(found.attempts, 4)
    (16.686236, 1.0062)
    """
    given = RequestSequence.of(sequence)
    model = AffineCost() if cost is None else cost
    check_objective(zeta, model)
    distribution = RunTimeDistribution.of(distribution)
    given.check_reaches(distribution)
    if zeta and any(given.checkpoints):
        raise InputError("zeta above 0 and checkpoints do not go together: the makespan of this case is not known")
    totals = np.zeros(4)
    below, lost, saved = -1.0, 0.0, 0.0
    for request, covered, checkpoint in zip(given.requests, given.covered, given.checkpoints, strict=True):
        begin = given.restart - saved if saved else 0.0
        totals += attempt(distribution, below, covered, request, begin, lost, zeta)
        below, lost = covered, lost + request
        saved = covered if checkpoint else saved
    makespan, attempts, requested, used = (float(total) for total in totals)
    return Evaluation.of(model, zeta, makespan, attempts, requested, used)


def attempt(
    distribution: RunTimeDistribution, below: Any, covered: Any, request: Any, begin: Any, lost: Any, zeta: float
) -> Values:
    """Return the contributions of one attempt to the means of makespan, attempts, requested time and used time.

    Parameters
    ----------
    distribution
        The run-time distribution.
    below
        The attempt is made only if the run time exceeds this; -1 before the first. May be an array, like the next four.
    covered
        The attempt succeeds if the run time is at most this.
    request
        The length of the request.
    begin
        A successful attempt uses the run time plus this.
    lost
        Sum of the earlier requests.
    zeta
        Share of the machine that small jobs take.

    Returns
    -------
    numpy.ndarray
        Shape (4, ...).
    """
    empty = (1 - zeta) * request - zeta * lost
    # Runs up to here end so early that no small job waits at the end of the request.
    turn = np.clip(empty, below, covered)
    known, at_turn, at_end = distribution.cdf(below), distribution.cdf(turn), distribution.cdf(covered)
    time_after = distribution.partial_mean(covered) - distribution.partial_mean(turn)
    makespan = (lost + request) * (at_turn - known) + (lost * (at_end - at_turn) + time_after) / (1 - zeta)
    successes = distribution.partial_mean(covered) - distribution.partial_mean(below) + begin * (at_end - known)
    return np.stack([makespan, 1 - known, request * (1 - known), successes + request * (1 - at_end)])


def costs_of_runs(
    sequence: RequestSequence | Iterable[float] | str,
    runs: ArrayLike,
    *,
    cost: AffineCost | None = None,
    factor: float = RETRY_FACTOR,
) -> Values:
    """Return the cost of each run under a sequence without checkpoints.

    Parameters
    ----------
    sequence
        The sequence of requests; it may end before the longest run.
    runs
        Run times in seconds.
    cost
        The cost of an attempt; by default, the requested time.
    factor
        The factor from one request to the next after the end of the sequence.

    Raises
    ------
    InputError
        If the sequence has checkpoints, a run is not a valid time, or requests would not grow.

    Examples
    --------
    >>> costs_of_runs([60, 120], [50, 100, 150]).tolist()
    [60.0, 180.0, 360.0]
    """
    given = RequestSequence.of(sequence)
    if any(given.checkpoints):
        raise InputError("runs are not replayed with checkpoints: what each one would leave behind is not known")
    model, values = cost or AffineCost(), np.asarray(runs, dtype=np.float64)
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise InputError("a run time is not a finite number of seconds, 0 or more")
    if not (factor > 1 and math.isfinite(factor)):
        raise InputError(f"factor={factor}: each request after the last one must be longer than the one before")
    requests = list(given.requests)
    while requests[-1] < values.max(initial=0.0):
        requests.append(factor * requests[-1])
    lengths = np.array(requests)
    last = np.searchsorted(lengths, values)
    failed = np.concatenate([[0.0], np.cumsum(lengths)])[last]
    requested, used = failed + lengths[last], failed + values
    return np.asarray(model.alpha * requested + model.beta * used + model.gamma * (last + 1))
