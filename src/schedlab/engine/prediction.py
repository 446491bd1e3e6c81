"""Run a simulation whose scheduler reckons with predictions: compiled ones in one go, those of Python step by step."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.agenda import NEVER
from schedlab.engine.case import Case
from schedlab.engine.conservative import NEXT_START, Plan, new_plan
from schedlab.engine.forecast import Forecast, keep_up, new_forecast
from schedlab.engine.predicted import (
    happen,
    plan_predicted,
    run_conservative_predicted,
    run_scanned_predicted,
    scan_predicted,
)
from schedlab.engine.scores import Scores, asked_of_python, check_scores, entry_scores, new_scores, refresh
from schedlab.engine.state import ARRIVED, COMPLETED, NOW, SUBMITTED, WAITING, State
from schedlab.errors import InputError
from schedlab.scheduler.backfilling import Conservative, Easy
from schedlab.scheduler.policy import Policy
from schedlab.scheduler.predictor import JobView, OnlinePredictor, PythonPredictor


def run_predicted(case: Case, state: State) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Run a simulation with predictions, from the state given to the end.

    Returns
    -------
    predicted
        int64 seconds: the first prediction for each job.
    corrections
        How often it was corrected while the job ran.

    Raises
    ------
    InputError
        If a score is not a number, or if a predictor in Python fails or predicts what is no time.
    """
    scheduler = case.scheduler
    assert scheduler.correction is not None
    # The requests: what `prepare` takes for estimates before there are predictions.
    request = case.jobs["estimate"].copy()
    forecast = new_forecast(scheduler.runtimes, scheduler.correction, request, case.column("user_id"))
    consultant = (
        Consultant(case, scheduler.runtimes.predictor) if isinstance(scheduler.runtimes, PythonPredictor) else None
    )
    run = _run_conservative if isinstance(scheduler.backfill, Conservative) else _run_scanned
    return forecast.first, forecast.corrections + run(case, state, forecast, consultant)


class Consultant:
    """A predictor in Python, asked about the jobs of a simulation.

    Parameters
    ----------
    case
        The simulation.
    predictor
        The predictor; a copy of it is asked, so that each simulation begins with the same one.
    """

    def __init__(self, case: Case, predictor: OnlinePredictor) -> None:
        self._predictor = copy.deepcopy(predictor)
        self._name = type(predictor).__name__
        names = ("job_id", "user_id", "group_id", "executable_id", "queue_id", "partition_id")
        self._columns = {name: case.column(name) for name in names}
        self._jobs = case.jobs
        self._request = case.jobs["estimate"].copy()

    def consult(self, state: State, forecast: Forecast) -> None:
        """Tell it of the jobs that the last event completed, and ask it about those that it submitted."""
        clock = state.clock
        for job in state.ended[: clock[COMPLETED]].tolist():
            self.learn(job)
        for job in range(int(clock[SUBMITTED] - clock[ARRIVED]), int(clock[SUBMITTED])):
            predicted = self.predict(job)
            self._jobs["estimate"][job] = predicted
            forecast.first[job] = predicted

    def learn(self, job: int) -> None:
        """Tell it of a job that has completed."""
        self._call("learn", self.view(job), int(self._jobs["duration"][job]))

    def predict(self, job: int) -> int:
        """Ask it about a job that is being submitted; return its answer between 1 s and the request."""
        return self._checked(self._call("predict", self.view(job)), job)

    def view(self, job: int) -> JobView:
        """Return what it may know of a job."""
        columns = {name: int(column[job]) for name, column in self._columns.items()}
        return JobView(
            submit_time=int(self._jobs["submit"][job]),
            requested_time=int(self._request[job]),
            processors=int(self._jobs["processors"][job]),
            **columns,
        )

    def _call(self, method: str, job: JobView, *rest: int) -> Any:
        try:
            return getattr(self._predictor, method)(job, *rest)
        except Exception as error:
            raise InputError(
                f"predictor {self._name}: {method} failed for job {job.job_id}: {type(error).__name__}: {error}"
            ) from error

    def _checked(self, value: Any, job: int) -> int:
        """Return a prediction between 1 s and the request."""
        try:
            finite = math.isfinite(value)
        except TypeError:
            finite = False
        if not finite:
            name = int(self._columns["job_id"][job])
            raise InputError(
                f"predictor {self._name}: the prediction for job {name} is {value!r}, not a number of seconds"
            )
        return int(min(max(value, 1), self._request[job]))


def _run_scanned(case: Case, state: State, forecast: Forecast, consultant: Consultant | None) -> Any:
    jobs, scheduler = case.jobs, case.scheduler
    waiting = np.empty(len(jobs), dtype=np.int64)
    queue, queue_entry = _orders(scheduler.policy, jobs)
    own_candidates = scheduler.order is not None
    candidates, candidates_entry = (queue, queue_entry) if scheduler.order is None else _orders(scheduler.order, jobs)
    rules = (
        isinstance(scheduler.backfill, Easy),
        own_candidates,
        -1 if scheduler.starvation is None else scheduler.starvation,
        len(jobs) if scheduler.window is None else scheduler.window,
        case.in_order,
    )
    arrays = (jobs, state, forecast, waiting, queue, candidates, queue_entry, candidates_entry)
    asked = asked_of_python(scheduler, queue, candidates, at_submission=True)
    if consultant is None and not asked:
        blamed = run_scanned_predicted(*arrays, *rules, case.one_by_one, case.gated)
        check_scores(scheduler, jobs, state, blamed)
        return 0
    while happen(jobs, state, forecast, NEVER, case.one_by_one):
        _step(case, state, forecast, consultant, waiting, asked)
        blamed = scan_predicted(*arrays, *rules, case.gated)
        check_scores(scheduler, jobs, state, blamed)
    return 0


def _run_conservative(case: Case, state: State, forecast: Forecast, consultant: Consultant | None) -> Any:
    jobs, scheduler = case.jobs, case.scheduler
    waiting = np.empty(len(jobs), dtype=np.int64)
    queue, queue_entry = _orders(scheduler.policy, jobs)
    plan: Plan = new_plan(jobs, case.processors)
    arrays = (jobs, state, forecast, plan, waiting, queue, queue_entry, case.processors)
    asked = asked_of_python(scheduler, queue, queue, at_submission=True)
    if consultant is None and not asked:
        blamed = run_conservative_predicted(*arrays, case.one_by_one)
        check_scores(scheduler, jobs, state, blamed)
        return plan.corrections
    while happen(jobs, state, forecast, int(plan.counters[NEXT_START]), case.one_by_one):
        _step(case, state, forecast, consultant, waiting, asked)
        blamed = plan_predicted(*arrays)
        check_scores(scheduler, jobs, state, blamed)
    return plan.corrections


def _orders(policy: Policy, jobs: NDArray[Any]) -> tuple[Scores, Scores]:
    """Return the scores of an order, and those of jobs that are being submitted."""
    return new_scores(policy, jobs, at_submission=True), entry_scores(policy, jobs)


def _step(
    case: Case,
    state: State,
    forecast: Forecast,
    consultant: Consultant | None,
    waiting: NDArray[np.int64],
    asked: list[tuple[Policy, Scores]],
) -> None:
    """Have Python do its part between an event and the pass that follows."""
    keep_up(case.jobs, state, forecast)
    if consultant is not None:
        consultant.consult(state, forecast)
    clock = state.clock
    submitted = np.arange(clock[SUBMITTED] - clock[ARRIVED], clock[SUBMITTED])
    present = np.concatenate([waiting[: clock[WAITING]], submitted])
    for policy, scores in asked:
        refresh(policy, scores, case.jobs, present, int(clock[NOW]))
