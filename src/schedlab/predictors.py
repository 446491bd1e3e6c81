"""The predictors of run times, as classes, and what follows when a prediction has expired (`CORRECTIONS`).

>>> import schedlab as sl
>>> print(sl.Scheduler("fcfs", sl.backfilling.Easy(), runtimes=sl.predictors.RecentAverage()))
fcfs+easy@ave2/incremental
"""

from schedlab.scheduler.log_regression import LogRegression
from schedlab.scheduler.own_predictor import JobView, PythonPredictor
from schedlab.scheduler.predictor import (
    CORRECTIONS,
    Actual,
    GroupMean,
    Predictor,
    RecentAverage,
    Regression,
    Requested,
    SimilarQuantile,
    UserMean,
    UserQuantile,
)

__all__ = [
    "CORRECTIONS",
    "Actual",
    "GroupMean",
    "JobView",
    "LogRegression",
    "Predictor",
    "PythonPredictor",
    "RecentAverage",
    "Regression",
    "Requested",
    "SimilarQuantile",
    "UserMean",
    "UserQuantile",
]
