"""From a run-time distribution to optimal requests: the optimum, its convergence, and the costs of alternatives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from schedlab.errors import InputError
from schedlab.speculate.atoptimal import atoptimal
from schedlab.speculate.costs import AffineCost, Checkpointing, RequestLimits
from schedlab.speculate.discretise import discretise
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.history import evaluate_last_maximum
from schedlab.speculate.point_distributions import DiscreteDistribution
from schedlab.speculate.sequences import Evaluation, RequestSequence, check_objective, evaluate_requests
from schedlab.speculate.toptimal import toptimal

POINTS = 200
"""Intervals of the grid at zeta = 0."""

POINTS_WITH_SMALL_JOBS = 100
"""Intervals of the grid at zeta > 0."""

MOST_POINTS = 6_400
"""Intervals of the finest grid that is tried by default."""

WORTH_IT = 1e-3
"""A grid twice as fine is used if it lowers the cost by more than this share."""

MOST_ATOMS = 1_000
"""Maximum number of points of a discrete distribution that is solved on its points instead of a grid."""

FINEST = {"never": 50_000, "always": 50_000, "adaptive": 2_000}
"""Maximum intervals at zeta = 0 by checkpointing: time grows with their square or cube, to seconds and below 1 GB."""

FINEST_WITH_SMALL_JOBS = 600
"""Maximum intervals at zeta > 0: time grows with their fourth power, memory with their cube, to 30 s and 0.4 GB."""

CONVERGENCE = (10, 25, 50, 100, 200)


@dataclass(frozen=True, slots=True)
class Objective:
    """The objective that a sequence minimises, and the constraints.

    Parameters
    ----------
    zeta
        Share of the machine that a steady stream of small jobs takes.
    cost
        The cost of an attempt.
    limits
        The limits on requests.
    checkpointing
        Whether failed attempts keep their progress.

    Raises
    ------
    InputError
        If zeta lies outside [0, 1), or is above 0 together with another cost or with checkpoints.
    """

    zeta: float = 0.0
    cost: AffineCost = field(default_factory=AffineCost)
    limits: RequestLimits = field(default_factory=RequestLimits)
    checkpointing: Checkpointing = field(default_factory=Checkpointing)

    def __post_init__(self) -> None:
        check_objective(self.zeta, self.cost)
        if self.zeta and self.checkpointing.mode != "never":
            raise InputError("zeta above 0 and checkpoints do not go together; let zeta be 0, or take no checkpoints")


@dataclass(frozen=True, slots=True)
class RequestPlan:
    """The best sequence of requests for a run-time distribution.

    Parameters
    ----------
    distribution
        The run-time distribution.
    objective
        The objective that is minimised.
    sequence
        The sequence of requests.
    evaluation
        Its costs on the distribution.
    points
        Intervals of the grid; 0 if the points are those of a discrete distribution.
    grid_cost
        Its cost on the grid, which is slightly higher.
    """

    distribution: RunTimeDistribution
    objective: Objective
    sequence: RequestSequence
    evaluation: Evaluation
    points: int
    grid_cost: float

    def evaluate(self, sequence: RequestSequence | Iterable[float] | str) -> Evaluation:
        """Return the costs of another sequence on the distribution."""
        return evaluate_requests(self.distribution, sequence, zeta=self.objective.zeta, cost=self.objective.cost)

    def alternatives(self, last: int = 10) -> dict[str, Evaluation]:
        """Return the costs of other methods: always the longest run, and the maximum of the last runs.

        Parameters
        ----------
        last
            Number of runs of which the maximum is requested.
        """
        of_last = evaluate_last_maximum(self.distribution, last, zeta=self.objective.zeta, cost=self.objective.cost)
        return {
            "always the longest run": self.evaluate([self.distribution.high]),
            f"maximum of the last {last}": of_last,
        }

    def convergence(self, points: Iterable[int] = CONVERGENCE) -> list[RequestPlan]:
        """Return the plans of several grids, including this one, from coarse to fine."""
        grids = sorted({*points, self.points} - {0})
        return [self if n == self.points else _solve(self.distribution, self.objective, n) for n in grids]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values; durations in seconds."""
        return {
            "distribution": self.distribution.text,
            "zeta": self.objective.zeta,
            "cost_model": asdict(self.objective.cost),
            "points": self.points,
            "requests": list(self.sequence.requests),
            "checkpoints": list(self.sequence.checkpoints),
            "grid_cost": self.grid_cost,
            **self.evaluation.to_dict(),
        }


def optimal_requests(
    distribution: RunTimeDistribution | str,
    *,
    zeta: float = 0.0,
    points: int | None = None,
    cost: AffineCost | None = None,
    limits: RequestLimits | None = None,
    checkpointing: Checkpointing | None = None,
) -> RequestPlan:
    """Return the sequence of requests of least mean cost for jobs with a given run-time distribution.

    Parameters
    ----------
    distribution
        The run-time distribution, or its text.
    zeta
        Share of the machine that a steady stream of small jobs takes, in [0, 1). 0 selects TOptimal, more selects
        ATOptimal.
    points
        Number of intervals of the grid. By default 200, and at zeta 0 doubled as long as that lowers the cost by a
        thousandth, unless checkpoints are free or adaptive; with zeta above 0, 100. At most 50,000; 2,000 with adaptive
        checkpoints, 600 with zeta above 0. A discrete distribution is solved on its own points if none is given and
        zeta is 0.
    cost
        The cost of an attempt, at zeta 0; by default the requested time.
    limits
        The allowed requests.
    checkpointing
        Whether failed attempts keep their progress, at zeta 0.

    Raises
    ------
    InputError
        If an argument is out of range, or the options are incompatible.

    References
    ----------
    Gainaru, Pallez, Sun and Raghavan, "Speculative scheduling for stochastic HPC applications", ICPP 2019.

    Examples
    --------
    >>> plan = optimal_requests("truncnorm(0h,20h,mu=8h,sigma=2h)")
    >>> plan.sequence.text
    '10.8h, 13.4h, 15.4h, 17.1h, 18.7h, 20h'
    >>> round(plan.evaluation.makespan / 3600, 3), round(plan.evaluation.attempts, 3)
    (11.937, 1.084)
    >>> optimal_requests("truncnorm(0h,20h,mu=8h,sigma=2h)", zeta=0.9).sequence.text
    '17.4h, 20h'
    """
    if points is not None and (not isinstance(points, int | np.integer) or points < 1):
        raise InputError(f"the distribution is to be cut into {points} intervals; give a whole number, at least one")
    objective = Objective(zeta, cost or AffineCost(), limits or RequestLimits(), checkpointing or Checkpointing())
    plan = _solve(RunTimeDistribution.of(distribution), objective, points)
    saving = objective.checkpointing
    # With free checkpoints, twice as many requests are always better.
    finer_is_never_enough = saving.mode == "always" and saving.cost == saving.restart == objective.cost.gamma == 0
    if points is None and plan.points and not zeta and saving.mode != "adaptive" and not finer_is_never_enough:
        plan = _refined(plan)
    return plan


def _refined(plan: RequestPlan) -> RequestPlan:
    """Return the plan of a grid that is refined until it hardly improves, since distributions may have long tails."""
    while plan.points < MOST_POINTS:
        finer = _solve(plan.distribution, plan.objective, 2 * plan.points)
        if finer.evaluation.cost > (1 - WORTH_IT) * plan.evaluation.cost:
            break
        plan = finer
    return plan


def _solve(distribution: RunTimeDistribution, objective: Objective, points: int | None) -> RequestPlan:
    """Return the plan on a grid, or on the points of a discrete distribution."""
    grid = None if points else _own_points(distribution, objective.zeta)
    if points:
        _check_points(points, objective)
    if grid is None:
        points = points or (POINTS_WITH_SMALL_JOBS if objective.zeta else POINTS)
        grid = discretise(distribution, points)
    if objective.zeta:
        best = atoptimal(grid, objective.zeta, objective.limits)
    else:
        best = toptimal(grid, objective.cost, objective.limits, objective.checkpointing)
    evaluation = evaluate_requests(distribution, best.sequence, zeta=objective.zeta, cost=objective.cost)
    return RequestPlan(distribution, objective, best.sequence, evaluation, points or 0, best.cost)


def _check_points(points: int, objective: Objective) -> None:
    """Raise InputError for a grid whose solution would take minutes, or more memory than most machines have."""
    mode = objective.checkpointing.mode
    most = FINEST_WITH_SMALL_JOBS if objective.zeta else FINEST[mode]
    if points > most:
        case = "zeta above 0" if objective.zeta else f"checkpoints {mode}"
        power = "fourth power" if objective.zeta else "cube" if mode == "adaptive" else "square"
        raise InputError(
            f"{points:,} intervals are too many: with {case} the time grows with their {power}; take at most {most:,}"
        )


def _own_points(distribution: RunTimeDistribution, zeta: float) -> DiscreteDistribution | None:
    """Return a distribution that is solved on its own points; None for others."""
    return (
        distribution
        if isinstance(distribution, DiscreteDistribution) and not zeta and len(distribution.points) <= MOST_ATOMS
        else None
    )
