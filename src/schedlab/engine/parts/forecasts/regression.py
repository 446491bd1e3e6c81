"""Polynomial regression of degree 2, learned online by normalised adaptive gradients, as in SC'15.

References
----------
Gaussier, Glesser, Reis and Trystram, SC 2015, section 4; Ross, Mineiro and Langford, "Normalized online learning", UAI
2013. Where the authors' program differs from the paper, `features="code"` follows the program.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import Kept, PerJob, Scratch
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.parts.forecasts.history import History, recent
from schedlab.kernels import by_address, inlined, inner_kernel
from schedlab.scheduler.predictor import CHOICES
from schedlab.scheduler.predictor import Regression as Choice

SMALL = 1e-9
"""Where scales and sums begin."""

# Positions in Regression.choice: the loss of predictions that are too long or too short, its weight, and the features.
OVER, UNDER, WEIGHT, LIST = range(4)

CODE, PAPER = 0, 1
FEATURES = (19, 21)
"""The number of terms of degree 0 and 1."""

CROSSED = 16
"""The authors' program multiplies only the first 16 features with each other."""

DAY, WEEK = 86_400, 604_800

# Positions in Regression.counters.
NORM = 0  # the sum of squared scaled inputs, N
TIME = 1  # t, advancing by 2
COUNTERS_SIZE = 2


@by_address
class Regression(NamedTuple):
    """The learner, as arrays.

    `choice` holds, for each entry of `CHOICES`, which word is chosen; `constants` threshold, step and
    penalty. `inputs` holds the features of each job as they were when it was submitted. `basis` is scratch space for
    their products; weights, scales and sums of squared gradients have one entry for each of these. `past` and `other`
    are for pairs of jobs, see `schedlab.engine.parts.forecasts.log_regression`.
    """

    choice: Kept[NDArray[np.int64]]
    constants: Kept[NDArray[np.float64]]
    counters: Kept[NDArray[np.float64]]
    inputs: PerJob[NDArray[np.float64]]
    basis: Scratch[NDArray[np.float64]]
    weights: Kept[NDArray[np.float64]]
    scales: Kept[NDArray[np.float64]]
    gradients: Kept[NDArray[np.float64]]
    past: Kept[NDArray[np.float64]]
    other: Kept[NDArray[np.float64]]


class KnownJobs(NamedTuple):
    """What a learner may know when a job is submitted: users' histories, and all jobs with their starts."""

    history: History
    jobs: NDArray[Any]
    start: NDArray[np.int64]


def new_regression(choice: Choice, jobs: int) -> Regression:
    """Return the learner before the first job."""
    codes = np.array([known.index(getattr(choice, name)) for name, known in CHOICES.items()])
    features = FEATURES[codes[LIST]]
    return untrained(codes, (choice.threshold, choice.step, choice.penalty), (jobs, features))


def untrained(
    codes: NDArray[np.int64], constants: tuple[float, ...], shape: tuple[int, int], past: int = 0
) -> Regression:
    """Return a learner before the first job; `shape`: jobs and features, `past`: the length of that array."""
    features = shape[1]
    crossed = CROSSED if codes[LIST] == CODE else features - 1
    terms = features + crossed * (crossed - 1) // 2 + features - 1
    return Regression(
        codes,
        np.array(constants),
        np.array([SMALL, 1.0]),
        np.zeros(shape),
        np.empty(terms),
        np.zeros(terms),
        np.full(terms, SMALL),
        np.full(terms, SMALL),
        np.zeros(past),
        np.empty(terms if past else 0),
    )


@inner_kernel
def observe(learner: Regression, known: KnownJobs, request: int, job: int, now: int) -> None:
    """Record the features of a job at its submission."""
    x, processors = learner.inputs[job], known.jobs[job].processors
    about = _about_user(known, known.history.user[job], now)
    x[0] = 1.0
    if learner.choice[LIST] == PAPER:
        place = _features_of_paper(x, known.history, about, request, processors)
    else:
        place = _features_of_program(x, known.history, about, request, processors)
    for period in (DAY, WEEK):
        angle = 2 * math.pi * (known.jobs[job].submit % period) / period
        x[place] = math.cos(angle)
        x[place + 1] = math.sin(angle)
        place += 2
    if learner.choice[LIST] == CODE:
        x[place] = processors


class AboutUser(NamedTuple):
    """What is known of a user at a second: completed jobs, their means, seconds since the last end, running jobs.

    Of these, those that start in this second do not count yet.
    """

    user: int
    now: int
    completed: int
    run_time: float
    processors: float
    since_end: float
    running: int
    taken: float
    elapsed: float
    longest: float


@inlined
def _about_user(known: KnownJobs, user: int, now: int) -> AboutUser:
    history, start = known.history, known.start
    number, taken, elapsed, longest, job = 0, 0.0, 0.0, 0.0, history.oldest[user]
    while job != NO_JOB:
        if start[job] < now:  # the nodes of others may still boot
            number += 1
            taken += known.jobs[job].processors
            elapsed += now - start[job]
            longest = max(longest, float(now - start[job]))
        job = history.later[job]
    count = history.completed[user]
    run_time = history.run_time[user] / count if count > 0 else 0.0
    processors = history.processors[user] / count if count > 0 else 0.0
    since_end = float(now - history.last_end[user]) if count > 0 else 0.0
    return AboutUser(user, now, count, run_time, processors, since_end, number, taken, elapsed, longest)


@inlined
def _features_of_program(
    x: NDArray[np.float64], history: History, about: AboutUser, request: int, processors: int
) -> int:
    """Fill in what the program of SC'15 looks at; return the place behind it."""
    for age in range(3):
        old = recent(history, about.user, age)
        # The program intends the run time, but its test fails, and it uses the age of the job instead.
        x[1 + age] = request if old == NO_JOB else min(request, about.now - history.recent_submits[about.user, old])
    x[4] = request
    x[5] = (x[1] + x[2]) / 2 if about.completed >= 2 else x[1]
    x[6] = 0.33 * (x[1] + x[2] + x[3]) if about.completed >= 3 else x[5]  # the program uses 0.33 for one third
    x[7] = about.run_time
    x[8] = about.since_end
    x[9] = processors / about.processors if about.completed > 0 else 0.0
    x[10] = about.taken
    x[11] = about.elapsed
    x[12] = about.running
    x[13] = about.longest
    return 14


@inlined
def _features_of_paper(
    x: NDArray[np.float64], history: History, about: AboutUser, request: int, processors: int
) -> int:
    """Fill in Table 2 of SC'15; return the place behind it."""
    count = about.completed
    x[1] = request
    for age in range(3):
        old = recent(history, about.user, age)
        x[2 + age] = 0.0 if old == NO_JOB else history.recent_run_times[about.user, old]
    x[5] = (x[2] + x[3]) / min(count, 2) if count > 0 else 0.0
    x[6] = (x[2] + x[3] + x[4]) / min(count, 3) if count > 0 else 0.0
    x[7] = about.run_time
    x[8] = processors
    x[9] = about.processors
    x[10] = processors / about.processors if count > 0 else 0.0
    x[11] = about.taken / about.running if about.running > 0 else 0.0
    x[12] = about.running
    x[13] = about.longest
    x[14] = about.elapsed
    x[15] = about.taken
    x[16] = about.since_end
    return 17


@inner_kernel
def expand(learner: Regression, x: NDArray[np.float64], basis: NDArray[np.float64]) -> None:
    """Fill a basis with the features of a job and their products."""
    features = x.shape[0]
    crossed = CROSSED if learner.choice[LIST] == CODE else features - 1
    for i in range(features):
        basis[i] = x[i]
    place = features
    for a in range(1, crossed + 1):
        for b in range(a + 1, crossed + 1):
            basis[place] = x[a] * x[b]
            place += 1
    for a in range(1, features):
        basis[place] = x[a] * x[a]
        place += 1


@inner_kernel
def estimate(learner: Regression, job: int, request: int) -> int:
    """Return the prediction for a job that has been observed: the absolute value, from 1 to the request."""
    expand(learner, learner.inputs[job], learner.basis)
    value = abs(weighted(learner))
    if not value < request:  # a NaN weight predicts nothing
        return max(request, 1)
    return max(int(value), 1)


@inlined
def weighted(learner: Regression) -> float:
    """Return the weighted sum of the basis."""
    value = 0.0
    for i in range(learner.basis.shape[0]):
        value += learner.weights[i] * learner.basis[i]
    return value


@inner_kernel
def train(learner: Regression, jobs: NDArray[Any], job: int) -> None:
    """Learn from a job that has completed."""
    expand(learner, learner.inputs[job], learner.basis)
    run_time, processors = float(max(jobs[job].duration, 1)), float(jobs[job].processors)
    error = rescaled_value(learner) - run_time - learner.constants[0]
    descend(learner, _slope(learner.choice, error) * _weight(learner.choice[WEIGHT], run_time, processors))


@inner_kernel
def rescaled_value(learner: Regression) -> float:
    """Update the scales with the inputs in the basis, and return their weighted sum."""
    basis, weights, scales = learner.basis, learner.weights, learner.scales
    value = 0.0
    norm = 0.0
    for i in range(basis.shape[0]):
        size = abs(basis[i])
        if size > scales[i]:
            weights[i] *= scales[i] / size
            scales[i] = size
        norm += (basis[i] / scales[i]) ** 2
        value += weights[i] * basis[i]
    learner.counters[NORM] += norm
    return value


@inner_kernel
def descend(learner: Regression, slope: float) -> None:
    """Take a step against the gradient of a loss that has this slope at the weighted sum of the basis."""
    basis, weights, scales, gradients = learner.basis, learner.weights, learner.scales, learner.gradients
    step, penalty = learner.constants[1], learner.constants[2]
    rate = learner.counters[NORM] / learner.counters[TIME]
    for i in range(basis.shape[0]):
        gradient = slope * basis[i] + penalty * weights[i]
        gradients[i] += gradient * gradient
        weights[i] -= step * gradient / (scales[i] * math.sqrt(rate * gradients[i]))
    # The published algorithm counts examples; the program counts twice as fast.
    learner.counters[TIME] += 2.0


@inlined
def _slope(choice: NDArray[np.int64], error: float) -> float:
    """Return the derivative of the loss, without its weight."""
    if error > 0:
        return 2 * error if choice[OVER] == 0 else 1.0
    if error < 0:
        return 2 * error if choice[UNDER] == 0 else -1.0
    return 0.0


@inlined
def _weight(weight: int, run_time: float, processors: float) -> float:
    """Return the weight of an error; it may be negative, as in the authors' program."""
    if weight == 0:
        return 1.0
    if weight == 1:
        return 5 + math.log(run_time / processors)
    if weight == 2:
        return 5 + math.log(processors / run_time)
    if weight == 3:
        return 11 - math.log(processors * run_time)
    return 1 + math.log(processors * run_time)
