"""What the tests of predictors share: a log with users who differ, and predictors of every kind."""

from __future__ import annotations

import functools
from itertools import product

import numpy as np
from river import linear_model, preprocessing
from sklearn.tree import DecisionTreeRegressor

from schedlab.predict.adapters import RiverPredictor, SklearnPredictor
from schedlab.scheduler.own_predictor import PythonPredictor
from schedlab.scheduler.predictor import CHOICES, Predictor, Regression
from schedlab.scheduler.predictor_text import PREDICTORS
from schedlab.workload.workload import Workload


def log(jobs: int = 150, seed: int = 1, **attributes) -> Workload:
    """Return jobs of eight users on 16 processors with recorded waits; across a midnight; some have no length."""
    rng = np.random.default_rng(seed)
    user = rng.integers(1, 9, jobs)
    run_time = rng.integers(0, 40 * user)
    columns = {
        "job_id": 1000 + np.arange(jobs),
        "submit_time": 85_400 + np.cumsum(rng.integers(0, 30, jobs)),
        "wait_time": rng.integers(0, 200, jobs) * rng.integers(0, 2, jobs),
        "run_time": run_time,
        "requested_time": np.maximum(run_time + rng.integers(-20, 400, jobs), 1),
        "requested_processors": rng.integers(1, 17, jobs),
        "user_id": user,
        "executable_id": rng.integers(0, 4, jobs),
    }
    return Workload.from_columns(columns, **({"processors": 16, "name": "small"} | attributes))


class Last:
    """The last run time that it was told, whoever ran it."""

    def __init__(self) -> None:
        self.last: float | None = None

    def predict(self, job):
        return job.requested_time if self.last is None else self.last

    def learn(self, job, run_time):
        self.last = run_time


tree = functools.partial(DecisionTreeRegressor, max_depth=4, random_state=0)

LOSSES = [
    Regression(over, under, weight, features)
    for features, over, under, weight in product(*(CHOICES[name] for name in ("features", "over", "under", "weight")))
]
"""All 20 with both sets of features."""

FEW = [one for number, one in enumerate(LOSSES) if number % 7 == 0]
"""Each side of each loss, each weight and both sets of features; the code has no case for a combination of them."""

BUILT_IN: dict[str, Predictor] = {name: one for name, one in PREDICTORS.items() if one.learns}
BUILT_IN |= {one.text: one for one in LOSSES}

IN_PYTHON: dict[str, Predictor] = {
    "last": PythonPredictor(Last()),
    "sklearn": PythonPredictor(SklearnPredictor(tree, refit_every=20, window=60)),
    "sklearn by day": PythonPredictor(SklearnPredictor(tree, refit_every="day")),
    "river": PythonPredictor(RiverPredictor(preprocessing.StandardScaler() | linear_model.LinearRegression())),
}

ALL: dict[str, Predictor] = BUILT_IN | IN_PYTHON

SELDOM = {one.text for one in LOSSES if one not in FEW} - set(PREDICTORS)
"""Those that take long as plain Python, and learn as one of the others does."""
