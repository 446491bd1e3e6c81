"""Run-time predictions in the loop: made at a submission, learned from completions, corrected when they expire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.axes import ByPart, Fixed, Kept, PerJob, Scratch
from schedlab.engine.jobs.calendar import NEVER, add, pop, soonest
from schedlab.engine.jobs.clock import COMPLETED, CORRECTED, ENTERING, NOW, STARTED
from schedlab.engine.jobs.state import NO_JOB
from schedlab.engine.machine.processors import correct
from schedlab.engine.parts.forecasts.groups import (
    Groups,
    expect,
    expected_share,
    learn_share,
    new_groups,
)
from schedlab.engine.parts.forecasts.history import History, new_history, note_end, note_gone, note_start, recent
from schedlab.engine.parts.forecasts.learners import Learner, new_learner
from schedlab.engine.parts.forecasts.log_regression import new_log_regression
from schedlab.engine.parts.forecasts.regression import KnownJobs, new_regression
from schedlab.engine.parts.retries.kernels import tells_run_time
from schedlab.engine.queue.statistics import expect_number
from schedlab.kernels import by_address, call, inlined, inner_kernel
from schedlab.scheduler.log_regression import LogRegression
from schedlab.scheduler.predictor import (
    CORRECTIONS,
    GroupMean,
    Predictor,
    RecentAverage,
    SimilarQuantile,
    UserMean,
    UserQuantile,
)
from schedlab.scheduler.predictor import Regression as RegressionChoice

if TYPE_CHECKING:
    from schedlab.engine.world import World

PYTHON, AVERAGE, MEAN, QUANTILE, SIMILAR, GROUPS, REGRESSION, LOG_REGRESSION, NOTHING = range(9)

SHAPE, REQUEST, ANY = range(3)
"""What similar jobs have in common: the request and the processors, the request, or only the user."""

INCREMENTS = np.array([60, 300, 900, 1_800, 3_600, 7_200, 18_000, 36_000, 72_000, 180_000, 360_000])
"""Seconds that the incremental correction adds to the first prediction, step by step."""


@by_address
class Forecast(NamedTuple):
    """A predictor and a correction in use; kind NOTHING is none.

    `kind` holds which predictor, which correction, and 1 if it serves order and reservations; `parameters` the number
    of jobs and the quantile. `request` and `first` are the requested time and the first prediction of each job, in
    seconds; `corrections` counts.
    """

    kind: Kept[NDArray[np.int64]]
    parameters: Kept[NDArray[np.float64]]
    request: PerJob[NDArray[np.int64]]
    first: PerJob[NDArray[np.int64]]
    corrections: PerJob[NDArray[np.int64]]
    history: History
    groups: ByPart[Groups]
    learner: Learner
    scratch: Scratch[NDArray[np.int64]]


@by_address
class Forecasts(NamedTuple):
    """The forecasts of the reservations and of the queue order; the same object if they share one.

    `pilot` marks the jobs that the order sees as part of a pilot job, whose run time it uses; it is empty if there are
    none.
    """

    reservations: Forecast
    order: Forecast
    pilot: Fixed[NDArray[np.bool_]]


def new_forecast(
    predictor: Predictor,
    correction: str,
    request: NDArray[np.int64],
    user: NDArray[np.int64],
    attributes: NDArray[np.int64] | None = None,
    table: NDArray[np.float64] | None = None,
) -> Forecast:
    """Return a predictor before it has seen any job.

    Parameters
    ----------
    predictor, correction
        Their names.
    request
        Requested time of each job, in order of submission, at least 1 s.
    user
        User of each job, any numbers.
    attributes
        A row per job: the columns that `GroupMean.attributes` names.
    table
        A row per job: filled with the statistics of `GroupMean`'s distribution; None if they are not used.
    """
    kind, jobs, quantile, memory = PYTHON, 1, 0.5, 1
    n, groups = len(request), GroupMean()
    attributes = np.zeros((1, 0), np.int64) if attributes is None else attributes
    weights = new_regression(RegressionChoice(), 0)
    if isinstance(predictor, RecentAverage):
        kind, jobs, memory = AVERAGE, predictor.jobs, predictor.jobs
    elif isinstance(predictor, UserMean):
        kind = MEAN
    elif isinstance(predictor, UserQuantile):
        kind, jobs, quantile, memory = QUANTILE, predictor.jobs, predictor.quantile, predictor.jobs
    elif isinstance(predictor, SimilarQuantile):
        kind, jobs, quantile, memory = SIMILAR, predictor.jobs, predictor.quantile, predictor.memory
    elif isinstance(predictor, GroupMean):
        kind, groups = GROUPS, predictor
    elif isinstance(predictor, RegressionChoice):
        kind, memory, weights = REGRESSION, 3, new_regression(predictor, n)
    elif isinstance(predictor, LogRegression):
        kind, memory, groups = LOG_REGRESSION, 3, GroupMean(predictor.by)
        weights = new_log_regression(predictor, n, 1 + attributes.shape[1])
    return Forecast(
        np.array([kind, CORRECTIONS.index(correction), 0]),
        np.array([jobs, quantile]),
        request,
        request.copy(),
        np.zeros(n, np.int64),
        new_history(np.unique(user, return_inverse=True)[1].astype(np.int64), memory),
        new_groups(groups, attributes, table),
        new_learner(predictor, weights),
        np.empty(jobs, np.int64),
    )


def no_forecast(request: NDArray[np.int64]) -> Forecast:
    """Return the predictor that predicts nothing."""
    one = np.ones(1, np.int64)
    blank = new_forecast(RecentAverage(1), "requested", one, np.zeros(1, np.int64))
    return blank._replace(kind=np.array([NOTHING, 0, 0]), request=request)


@inlined
def next_expiry(world: World) -> int:
    """Return when a prediction expires, NEVER if none does; events that are processed one by one do not wait for it."""
    return NEVER if world.rules.one_by_one else soonest(world.state.alarms)


@inner_kernel
def correct_expired(world: World, now: int) -> None:
    """Correct the predictions that have expired by now, and count them."""
    forecast = world.forecasts.reservations
    while soonest(world.state.alarms) <= now:
        job = pop(world.state.alarms)
        longer = _corrected(forecast, job, world.jobs[job].estimate)
        if longer > world.jobs[job].estimate:
            world.state.clock[CORRECTED] += 1
            forecast.corrections[job] += 1
            correct(world, job, longer)
            if world.state.start[job] + longer < world.state.noticed[job]:
                add(world.state.alarms, world.state.start[job] + longer, job, world.jobs[job].processors)


@inlined
def _corrected(forecast: Forecast, job: int, estimate: int) -> int:
    """Return the next prediction for a job that has outlived its last one."""
    request = forecast.request[job]
    if forecast.kind[1] == 1:
        count = forecast.corrections[job]
        if count < INCREMENTS.shape[0]:
            return min(request, forecast.first[job] + INCREMENTS[count])
    elif forecast.kind[1] == 2:
        return 2 * estimate
    return request


@inner_kernel
def learn_from_ends(world: World) -> None:
    """Learn from the runs that the last event completed."""
    _learn_from_ends(world, world.forecasts.reservations)
    if not shared(world.forecasts):
        _learn_from_ends(world, world.forecasts.order)


@inner_kernel
def _learn_from_ends(world: World, forecast: Forecast) -> None:
    """Teach one predictor; runs that were cut short are ignored."""
    if forecast.kind[0] == NOTHING:
        return
    for i in range(world.state.clock[COMPLETED]):
        job = world.state.ended[i]
        if tells_run_time(world, job):
            learn(world.jobs, forecast, job, world.state.start[job] + world.jobs[job].duration)
        else:
            note_gone(forecast.history, job)


@inlined
def shared(forecasts: Forecasts) -> bool:
    """Return whether one predictor serves the order and the reservations."""
    return forecasts.order.kind[2] == 1


@inner_kernel
def predict_for_entries(world: World) -> None:
    """Predict for the jobs that the last event lets into the queue; predictors in Python have done so already.

    A job that has failed speculatively keeps its prediction.
    """
    now = world.state.clock[NOW]
    reserving, ordering = world.forecasts.reservations, world.forecasts.order
    for i in range(world.state.clock[ENTERING]):
        job = world.state.entering[i]
        if world.retries is not None and world.retries.first[job]:
            if reserving.kind[0] != NOTHING:
                world.jobs[job].estimate = reserving.first[job]
            continue
        if reserving.kind[0] != NOTHING:
            if reserving.kind[0] != PYTHON:
                reserving.first[job] = predict(world.jobs, world.state.start, reserving, job, now)
            world.jobs[job].estimate = reserving.first[job]
            reserving.corrections[job] = 0
        if ordering.kind[0] != NOTHING:
            if ordering.kind[0] != PYTHON and not shared(world.forecasts):
                ordering.first[job] = predict(world.jobs, world.state.start, ordering, job, now)
            if world.forecasts.pilot.shape[0] == 0 or not world.forecasts.pilot[job]:
                world.seen[job].estimate = ordering.first[job]
            elif ordering.groups.table.shape[0] > 0:
                expect_number(ordering.groups.table[job], world.seen[job].estimate)


@inner_kernel
def note_starts(world: World, before: int) -> None:
    """Record the runs that a pass has started; `before` of them had started earlier."""
    for i in range(before, world.state.clock[STARTED]):
        job = world.state.begun[i]
        if world.forecasts.reservations.kind[0] != NOTHING:
            note_start(world.forecasts.reservations.history, job)
        if world.forecasts.order.kind[0] != NOTHING and not shared(world.forecasts):
            note_start(world.forecasts.order.history, job)


@inner_kernel
def learn(jobs: NDArray[Any], forecast: Forecast, job: int, now: int) -> None:
    """Learn from a job that has completed."""
    note_end(forecast.history, jobs, job, forecast.request[job], now)
    if forecast.kind[0] == REGRESSION or forecast.kind[0] == LOG_REGRESSION:
        call(forecast.learner.train, (forecast.learner.weights, jobs, job, forecast.request[job]))
    if forecast.kind[0] == GROUPS or forecast.kind[0] == LOG_REGRESSION:
        learn_share(forecast.groups, job, jobs[job].duration, forecast.request[job])


@inner_kernel
def predict(jobs: NDArray[Any], start: NDArray[np.int64], forecast: Forecast, job: int, now: int) -> int:
    """Return the prediction for a job that is being submitted, from 1 s to its request."""
    history, request = forecast.history, forecast.request[job]
    user = history.user[job]
    count = history.completed[user]
    kind = forecast.kind[0]
    predicted = request
    if kind in (REGRESSION, LOG_REGRESSION):
        learner = forecast.learner
        known = KnownJobs(history, jobs, start)
        predicted = call(learner.estimate, (learner.weights, forecast.groups, known, request, job, now))
    elif kind == GROUPS:
        predicted = int(min(request * expected_share(forecast.groups, job), float(request)))
        if forecast.groups.table.shape[0] > 0:
            expect(forecast.groups, job, request)
    elif kind == MEAN:
        if count > 0:
            predicted = int(history.run_time[user] / count)
    elif kind == AVERAGE:
        wanted = int(forecast.parameters[0])
        if count >= wanted:
            total = 0
            for age in range(wanted):
                total += history.recent_run_times[user, recent(history, user, age)]
            predicted = total // wanted
    elif kind == QUANTILE and count > 0:
        predicted = _quantile(forecast, jobs[job].processors, job, ANY)
    elif kind == SIMILAR and count > 0:
        for likeness in (SHAPE, REQUEST, ANY):
            predicted = _quantile(forecast, jobs[job].processors, job, likeness)
            if predicted >= 0:
                break
    return max(1, min(predicted, request))


@inner_kernel
def _quantile(forecast: Forecast, processors: int, job: int, likeness: int) -> int:
    """Return a quantile of the run times of the user's last completed jobs that are similar to a job; -1 if none is."""
    history, scratch = forecast.history, forecast.scratch
    user, request = history.user[job], forecast.request[job]
    count = 0
    age = 0
    place = recent(history, user, age)
    while place != NO_JOB and count < scratch.shape[0]:
        like = likeness == ANY or history.recent_requests[user, place] == request
        if likeness == SHAPE and history.recent_processors[user, place] != processors:
            like = False
        if like:
            run_time = history.recent_run_times[user, place]
            i = count
            while i > 0 and scratch[i - 1] > run_time:
                scratch[i] = scratch[i - 1]
                i -= 1
            scratch[i] = run_time
            count += 1
        age += 1
        place = recent(history, user, age)
    if count == 0:
        return -1
    # In floating point, 0.07 * 100 is slightly more than 7.
    return scratch[max(int(np.ceil(count * forecast.parameters[1] - 1e-9)), 1) - 1]
