"""Learners of scikit-learn and river as predictors in the loop."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import DAY
from schedlab.errors import InputError
from schedlab.predict.features import UserHistories
from schedlab.scheduler.own_predictor import JobView


class SklearnPredictor:
    """A regressor with `fit` and `predict`, as in scikit-learn, refitted periodically to the last completed jobs.

    Before it has been fitted for the first time, predictions are the requests.

    Parameters
    ----------
    make_estimator
        Returns a fresh regressor, such as the class itself or `functools.partial(Class, random_state=0)`; a function
        with a name can be pickled, and thus be used in campaigns, a lambda cannot.
    refit_every
        Number of completions between two fits, or "day": before the first prediction of each day of the clock.
    window
        To how many of the last completed jobs it is fitted.
    threads
        How many threads its library has during a simulation; None leaves that to the library.

    Raises
    ------
    InputError
        If a number is not a whole number of at least 1.

    Notes
    -----
    The features are those of `schedlab.predict.features.FEATURES`. For the same bits in every simulation the regressor
    needs a `random_state`, if it has one.

    Examples
    --------
    >>> class Mean:
    ...     def fit(self, features, run_times):
    ...         self.mean = run_times.mean()
    ...     def predict(self, features):
    ...         return np.full(len(features), self.mean)
    >>> predictor = SklearnPredictor(Mean, refit_every=2)
    >>> jobs = [JobView(number, 60 * number, requested_time=100, processors=1) for number in range(3)]
    >>> [predictor.predict(job) for job in jobs[:2]]
    [100.0, 100.0]
    >>> predictor.learn(jobs[0], 20), predictor.learn(jobs[1], 30), predictor.predict(jobs[2])
    (None, None, 25.0)
    """

    def __init__(
        self,
        make_estimator: Callable[[], Any],
        *,
        refit_every: int | Literal["day"] = 500,
        window: int = 10_000,
        threads: int | None = 1,
    ) -> None:
        if refit_every != "day":
            _check_count("refit_every", refit_every)
        _check_count("window", window)
        if threads is not None:
            _check_count("threads", threads)
        self.threads = threads
        self._make_estimator = make_estimator
        self._refit_every = refit_every
        self._histories = UserHistories()
        self._examples: deque[tuple[list[float], int]] = deque(maxlen=window)
        self._estimator: Any = None
        self._new_examples = 0
        self._day: int | None = None

    def predict(self, job: JobView) -> float:
        """Return what the regressor predicts, or the request before it has been fitted."""
        return float(self.predict_many([job])[0])

    def predict_many(self, jobs: Sequence[JobView]) -> NDArray[np.float64]:
        """Return what the regressor predicts for the jobs of one second: it is called once for all of them."""
        features = np.array([list(self._histories.submitted(job).values()) for job in jobs])
        day = jobs[0].submit_time // DAY
        if self._refit_every == "day" and day != self._day:
            self._refit()
            self._day = day
        if self._estimator is None:
            return features[:, 0]
        return np.maximum(np.asarray(self._estimator.predict(features), dtype=np.float64), 0.0)  # lines go below 0

    def learn(self, job: JobView, run_time: int) -> None:
        """Note a completed job, and fit the regressor if it is time."""
        features = self._histories.completed(job, run_time)
        self._examples.append((list(features.values()), run_time))
        self._new_examples += 1
        if self._new_examples == self._refit_every:
            self._refit()

    def _refit(self) -> None:
        """Fit a fresh regressor to the jobs in the window, if any of them is new."""
        if self._new_examples:
            features, run_times = zip(*self._examples, strict=True)
            self._estimator = self._make_estimator()
            self._estimator.fit(np.array(features), np.array(run_times, dtype=np.float64))
            self._new_examples = 0


class RiverPredictor:
    """A regressor with `learn_one` and `predict_one`, as in river, that learns from each completed job.

    Before the first completed job, predictions are the requests.

    Parameters
    ----------
    model
        The regressor; every simulation begins with a copy of it as it is now.

    Notes
    -----
    It is given the features of `schedlab.predict.features.FEATURES` by name.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._histories = UserHistories()
        self._learned = False

    def predict(self, job: JobView) -> float:
        """Return what the regressor predicts, or the request before it has learned."""
        features = self._histories.submitted(job)
        return max(float(self._model.predict_one(features)), 0.0) if self._learned else features["requested_time"]

    def learn(self, job: JobView, run_time: int) -> None:
        """Let the regressor learn from a completed job."""
        self._model.learn_one(self._histories.completed(job, run_time), run_time)
        self._learned = True


def _check_count(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InputError(f"{name}={value!r} is not a whole number of at least 1")
