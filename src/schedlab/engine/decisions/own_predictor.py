"""A predictor in Python in a simulation: it is told what has run, and asked about what enters the queue."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.decisions.job_views import JobViews
from schedlab.engine.prepared import Prepared
from schedlab.errors import InputError
from schedlab.scheduler.own_objects import copied_object
from schedlab.scheduler.own_predictor import JobView, OnlinePredictor


class PythonPredictorAdapter:
    """A predictor in Python, asked about the jobs of a simulation.

    Parameters
    ----------
    prepared
        The simulation.
    request
        int64 seconds: the present requested times.
    predictor
        The predictor; a copy is used, so that each simulation begins with the same state.
    """

    def __init__(self, prepared: Prepared, request: NDArray[np.int64], predictor: OnlinePredictor) -> None:
        self._name = type(predictor).__name__
        self.predictor = copied_object(predictor, f"predictor {self._name}")
        self._views, self._request = JobViews(prepared, request), request

    def learn(self, job: int, run_time: int) -> None:
        """Tell the predictor that a run has ended after `run_time` seconds."""
        self._call("learn", self._views.view(job), run_time)

    def predict(self, jobs: list[int]) -> list[int]:
        """Ask the predictor about the jobs that enter in a second; return its answers between 1 s and the requests.

        If it has `predict_many`, that is asked about several jobs at a time.
        """
        views = [self._views.view(job) for job in jobs]
        if len(jobs) > 1 and hasattr(self.predictor, "predict_many"):
            answers = self._call("predict_many", views)
            if np.shape(answers) != (len(jobs),):
                raise InputError(
                    f"predictor {self._name}: predict_many returned shape {np.shape(answers)} for {len(jobs)} jobs: "
                    "return a number of seconds per job"
                )
        else:
            answers = [self._call("predict", view) for view in views]
        return [self._checked(answer, job) for answer, job in zip(answers, jobs, strict=True)]

    def _call(self, method: str, about: JobView | list[JobView], *rest: int) -> Any:
        try:
            return getattr(self.predictor, method)(about, *rest)
        except (Exception, SystemExit) as error:
            named = ", ".join(str(job.job_id) for job in (about if isinstance(about, list) else [about]))
            raise InputError(
                f"predictor {self._name}: {method} failed for job {named}: {type(error).__name__}: {error}"
            ) from error

    def _checked(self, value: Any, job: int) -> int:
        """Return a prediction between 1 s and the request."""
        try:
            finite = math.isfinite(value)
        except TypeError:
            finite = False
        if not finite or value < 0:
            view = self._views.view(job)
            raise InputError(
                f"predictor {self._name}: the prediction for job {view.job_id} is {value!r}, "
                f"{'below 0' if finite else 'not a number of seconds'} (second {view.submit_time})"
            )
        return int(min(max(value, 1), self._request[job]))
