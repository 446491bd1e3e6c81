"""Trial simulations: how well the jobs of a tuple fare when one of them is started first, over many random orders.

A tuple is a stretch of consecutive jobs of a workload: first S, which brings the machine into a state, then Q. In a
trial S starts in order of submission and Q after it in a random order, strictly: each job waits for its submission,
for the start of the one before it, and for processors. The score of a job of Q is the mean objective of the trials in
which it came first, as a share of the sum of these means over all jobs of Q: the lower, the better it is to start it
early.

The authors draw orders one by one. Where the jobs of one order take the lead in turn (`sampling="common"`), all
of them meet the same followers and the same number of trials, and what the followers do to the objective cancels out of
the scores; with the followers once forwards and once backwards (`"antithetic"`), so does the greater part of what is
left.

References
----------
Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and machine learning", SC 2017,
section 3.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.learn.trial_kernel import WIDTH_BITS, WIDTH_MASK, run_draws
from schedlab.schedule.metrics import TAU
from schedlab.workload.workload import Workload

Objective = Literal["bounded-slowdown", "wait", "flow", "per-processor-bounded-slowdown"]
Sampling = Literal["antithetic", "common", "independent"]
Shuffle = Literal["uniform", "biased"]

CHUNK_TRIALS = 16_384
"""Trials that are made at once, between two looks at the precision."""

FEWEST_LEADS = 32
"""How often each job comes first, on average, at the beginning of a curve of precision."""

LATEST = 2 ** (63 - WIDTH_BITS)
"""Seconds: no trial may last longer."""


@explained
@dataclass(frozen=True, slots=True)
class Trials:
    """How trials are made.

    Parameters
    ----------
    trials
        How many a tuple gets, at most.
    precision
        Stop a tuple earlier, when the standard error of each of its scores is at most this part of the score.
    state, queue
        Numbers of jobs in S and in Q.
    objective
        What a trial is measured by, as a mean over Q: "bounded-slowdown", "wait", "flow" (wait and run time), or
        "per-processor-bounded-slowdown".
    sampling
        "independent": each order is drawn independently. "common": each job of an order takes the lead in turn.
        "antithetic": like that, with the followers once forwards and once backwards.
    shuffle
        "uniform": all orders are equally likely. "biased": as in the programs of SC'17, whose shuffle prefers some.

    Raises
    ------
    InputError
        If a value is not possible.

    Examples
    --------
    >>> Trials(trials=1_000).trials_per_draw
    64
    """

    trials: int = 256_000
    precision: float | None = None
    state: int = 16
    queue: int = 32
    objective: Objective = "bounded-slowdown"
    sampling: Sampling = "antithetic"
    shuffle: Shuffle = "uniform"

    def __post_init__(self) -> None:
        for name, known in (("objective", Objective), ("sampling", Sampling), ("shuffle", Shuffle)):
            if getattr(self, name) not in get_args(known):
                raise InputError(f"unknown {name} {getattr(self, name)!r}; known are {', '.join(get_args(known))}")
        if self.state < 0 or self.queue < 2:
            raise InputError(f"a tuple needs 0 or more jobs in S and 2 or more in Q, not {self.state} and {self.queue}")
        if self.precision is not None and not self.precision > 0:
            raise InputError(f"precision {self.precision}: must be a fraction of the score, above 0")
        fewest = 2 * max(self.trials_per_draw, self.queue)
        if self.trials < fewest:
            raise InputError(
                f"{self.trials} trials are too few: with {self.sampling} sampling and {self.queue} jobs in Q needs "
                f"at least {fewest} for each job to come first and errors to be estimated"
            )
        if self.shuffle == "biased" and self.sampling != "independent":
            raise InputError("the biased shuffle needs independent sampling")

    @property
    def leads(self) -> int:
        """How many jobs of an order take the lead."""
        return 1 if self.sampling == "independent" else self.queue

    @property
    def trials_per_draw(self) -> int:
        """How many trials are made with one random order."""
        return self.leads * (2 if self.sampling == "antithetic" else 1)

    def to_dict(self) -> dict[str, Any]:
        """Return all values by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Problem(NamedTuple):
    """A tuple in the form of the kernels; see `schedlab.learn.trial_kernel.measure_order`."""

    submit: NDArray[np.int64]
    run: NDArray[np.int64]
    width: NDArray[np.int64]
    shift: NDArray[np.int64]
    scale: NDArray[np.float64]
    floor: float
    busy: NDArray[np.int64]
    free: int
    now: int


Measured = tuple[NDArray[np.int32], NDArray[np.float64]]
"""Who led each trial, and its measure; both of shape (draws, trials per draw)."""


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What trials say of the jobs in Q.

    Parameters
    ----------
    score, standard_error
        float64, one per job.
    trials
        How many there were.
    """

    score: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    trials: int

    @property
    def relative_error(self) -> NDArray[np.float64]:
        """Standard errors as parts of the scores; infinite for a job that has never come first."""
        errors = np.full(len(self.score), np.inf)
        np.divide(self.standard_error, self.score, out=errors, where=self.score > 0)
        return errors


@explained
def score_tuple(jobs: Workload, settings: Trials, *, processors: int, seed: int) -> Scores:
    """Make the trials of a tuple.

    Parameters
    ----------
    jobs
        The jobs of S and of Q, by submission. They run as long as they did and take what they were given.
    settings
        How trials are made.
    processors
        Size of the machine.
    seed
        Of the random orders, from 0 to 2**63 - 1.

    Returns
    -------
    Scores
        Standard errors come from the scatter between draws, to first order.

    Raises
    ------
    InputError
        If there are too few or too many jobs, or one of them can never run.

    Examples
    --------
    Of two jobs that need the whole machine, the short one should go first:

    >>> jobs = Workload.from_columns(
    ...     dict(submit_time=[0, 0], run_time=[1000, 10], requested_processors=[4, 4]), processors=4)
    >>> score_tuple(jobs, Trials(trials=100, state=0, queue=2), processors=4, seed=1).score.round(3).tolist()
    [0.981, 0.019]
    """
    problem = problem_of(jobs, settings, processors)
    draws = -(-settings.trials // settings.trials_per_draw)
    chunk = max(1, CHUNK_TRIALS // settings.trials_per_draw)
    sums = Sums.none(settings.queue)
    while sums.draws < draws:
        count = min(chunk, draws - sums.draws)
        sums = sums.and_also(*measure_draws(problem, settings, seed, sums.draws, count))
        scores = sums.scores(settings.trials_per_draw)
        if settings.precision is not None and scores.relative_error.max() <= settings.precision:
            break
    return scores


@explained
def precision_curves(
    jobs: Workload, settings: Trials, *, processors: int, seed: int
) -> dict[str, tuple[list[int], list[float]]]:
    """Return how precise the scores of a tuple are after how many trials, for each way of sampling.

    Parameters
    ----------
    jobs, settings, processors, seed
        As for `score_tuple`; of the settings, the sampling does not count, nor a precision to stop at.

    Returns
    -------
    dict
        By the name of the sampling (the biased shuffle knows one): numbers of trials, growing fourfold, and the mean
        over the jobs of the standard error over the score.
    """
    curves = {}
    for sampling in get_args(Sampling) if settings.shuffle == "uniform" else ("independent",):
        most = replace(settings, sampling=sampling, precision=None)
        numbers = [settings.trials]
        while numbers[-1] // 4 >= FEWEST_LEADS * settings.queue:
            numbers.append(numbers[-1] // 4)
        made = [score_tuple(jobs, replace(most, trials=n), processors=processors, seed=seed) for n in reversed(numbers)]
        curves[sampling] = (
            [one.trials for one in made],
            [float(one.relative_error.mean()) for one in made],
        )
    return curves


class Sums(NamedTuple):
    """What is kept of draws: the sums of x, x², x X and X², if x is what a leader brings to a draw, X what all do."""

    draws: int
    x: NDArray[np.float64]
    xx: NDArray[np.float64]
    xs: NDArray[np.float64]
    ss: float

    @classmethod
    def none(cls, jobs: int) -> Sums:
        """Return the sums of no draws."""
        return cls(0, np.zeros(jobs), np.zeros(jobs), np.zeros(jobs), 0.0)

    def and_also(self, leaders: NDArray[np.int32], measures: NDArray[np.float64]) -> Sums:
        """Return the sums with more draws."""
        draws, jobs = len(measures), len(self.x)
        if measures.shape[1] == 1:
            x, xx = (np.bincount(leaders[:, 0], measures[:, 0] ** power, jobs) for power in (1, 2))
            return Sums(self.draws + draws, self.x + x, self.xx + xx, self.xs + xx, self.ss + float(xx.sum()))
        by_job = np.empty((draws, jobs))
        np.put_along_axis(by_job, leaders[:, :jobs], measures.reshape(draws, -1, jobs).mean(axis=1), axis=1)
        whole = by_job.sum(axis=1)
        return Sums(
            self.draws + draws,
            self.x + by_job.sum(axis=0),
            self.xx + (by_job**2).sum(axis=0),
            self.xs + whole @ by_job,
            self.ss + float(whole @ whole),
        )

    def scores(self, trials_per_draw: int) -> Scores:
        """Return the ratios of the sums, and their standard errors."""
        total = self.x.sum()
        if not total > 0:
            raise InputError("the objective is 0 in all trials: with this objective, no job ever waits in this tuple")
        score = self.x / total
        scatter = np.maximum(self.xx - 2 * score * self.xs + score**2 * self.ss, 0)
        error = np.sqrt(scatter * self.draws / max(self.draws - 1, 1)) / total
        return Scores(score, error, self.draws * trials_per_draw)


def problem_of(jobs: Workload, settings: Trials, processors: int) -> Problem:
    """Check a tuple, run S, and bring Q into the form of the kernels; errors as for `score_tuple`."""
    if len(jobs) != settings.state + settings.queue:
        raise InputError(
            f"{jobs.name}: a tuple of {settings.state} + {settings.queue} jobs cannot be made of {len(jobs)}"
        )
    check_jobs(jobs, processors)
    submit = jobs.submit_time - jobs.submit_time[0]
    run, width = jobs.run_time, jobs.job_processors
    state = (column[: settings.state].tolist() for column in (submit, run, width))
    busy, free, now = _after_state(list(zip(*state, strict=True)), processors)
    submit, run, width = (np.ascontiguousarray(column[settings.state :]) for column in (submit, run, width))
    shift = np.zeros_like(run) if settings.objective == "wait" else run
    scale, floor = np.ones(len(run)), 0.0
    if "bounded" in settings.objective:
        scale, floor = np.maximum(run, TAU).astype(np.float64), 1.0
    if settings.objective == "per-processor-bounded-slowdown":
        scale = scale * width
    return Problem(submit, run, width, shift, scale, floor, busy, free, now)


def check_jobs(jobs: Workload, processors: int) -> None:
    """Raise InputError for the first job that cannot be part of a trial."""
    width, submit = jobs.job_processors, jobs.submit_time
    if processors > WIDTH_MASK:
        raise InputError(f"a machine of {processors} processors is too large for trials; at most {WIDTH_MASK}")
    checks: Sequence[tuple[NDArray[np.bool_], str]] = (
        (jobs.run_time < 1, "has no run time: clean the workload (clean(jobs))"),
        (width < 1, "has no number of processors: clean the workload (clean(jobs))"),
        (
            width > processors,
            f"is wider than the machine of {processors} processors: drop it (clean(jobs)) or take a larger one",
        ),
        (np.diff(submit, prepend=submit[:1]) < 0, "was submitted before the one above it: sort the workload"),
    )
    for bad, reason in checks:
        if bool(bad.any()):
            row = int(np.argmax(bad))
            raise InputError(f"{jobs.name}: job {jobs.job_id[row]} {reason}", row=row)
    if float(submit.max() - submit.min()) + float(jobs.run_time.sum(dtype=np.float64)) >= LATEST:
        raise InputError(f"{jobs.name}: the run times of its jobs add up to more than {LATEST} seconds")


def _after_state(jobs: list[tuple[int, int, int]], processors: int) -> tuple[NDArray[np.int64], int, int]:
    """Start the jobs of S strictly in order; return the packed releases, free processors, and the last start."""
    running: list[int] = []
    free, now = processors, 0
    for begin, length, needed in jobs:
        now = max(now, begin)
        while running and (running[-1] >> WIDTH_BITS <= now or free < needed):
            release = running.pop()
            now = max(now, release >> WIDTH_BITS)
            free += release & WIDTH_MASK
        free -= needed
        running.append(now + length << WIDTH_BITS | needed)
        running.sort(reverse=True)
    return np.array(running, dtype=np.int64), free, now


def measure_draws(problem: Problem, settings: Trials, seed: int, first: int, draws: int) -> Measured:
    """Make the trials of some draws, from number `first` on."""
    shape = (draws, settings.trials_per_draw)
    leaders, measures = np.empty(shape, dtype=np.int32), np.empty(shape)
    scratch = np.empty(settings.queue, dtype=np.int32), np.empty(settings.queue + len(problem.busy), dtype=np.int64)
    biased = settings.shuffle == "biased"
    run_draws(first, settings.leads, np.uint64(seed), biased, *problem, *scratch, leaders, measures)
    return leaders, measures
