"""How good the predictions of a predictor are that lives through a log, with every label as late as in reality."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import WEEK
from schedlab.engine.decisions.own_predictor import PythonPredictorAdapter
from schedlab.engine.decisions.threads import limited_threads
from schedlab.predict.events import END, END_AT_ONCE, SUBMISSION, events_of
from schedlab.predict.measures import error_measures
from schedlab.predict.model import PredictionModel
from schedlab.predict.replay import Replay, replay_of
from schedlab.schedule.groups import SIZE_CLASSES, USER_CLASSES, size_classes, user_classes
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.own_predictor import OnlinePredictor, PythonPredictor
from schedlab.scheduler.predictor import Actual, Predictor
from schedlab.scheduler.predictor_text import as_predictor
from schedlab.scheduler.scheduler import Scheduler
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """Predictions for the jobs of a workload, each made when the job was submitted.

    Parameters
    ----------
    workload
        The jobs.
    predictor, replay
        What predicted, and whose waits it lived through: "log" or a scheduler text.
    processors
        Size of the machine.
    predicted, run_time
        int64 seconds, one per job in the workload's order: the prediction, and how long the job occupied the machine.
    model
        The predictor after the last submission; None for one that cannot be kept.
    """

    workload: Workload
    predictor: str
    replay: str
    processors: int
    predicted: NDArray[np.int64]
    run_time: NDArray[np.int64]
    model: PredictionModel | None = field(default=None)

    def __len__(self) -> int:
        return len(self.predicted)

    @property
    def error(self) -> NDArray[np.int64]:
        """Prediction less run time of each job, in seconds."""
        return self.predicted - self.run_time

    def measures(self, rows: Any = slice(None)) -> dict[str, float]:
        """Return the measures of `schedlab.predict.measures.error_measures`, of all jobs or of some rows."""
        width = self.workload.job_processors
        return error_measures(self.predicted[rows], self.run_time[rows], width[rows])

    def by_user_class(self) -> pd.DataFrame:
        """Return the measures of the jobs of heavy, medium and light users, see `schedlab.schedule.groups`."""
        width = self.workload.job_processors.astype(np.float64)
        return self._by(user_classes(self.workload.user_id, self.run_time * width), USER_CLASSES, "user_class")

    def by_size_class(self) -> pd.DataFrame:
        """Return the measures of serial, narrow, medium and wide jobs, see `schedlab.schedule.groups`."""
        return self._by(size_classes(self.workload.job_processors, self.processors), SIZE_CLASSES, "size_class")

    def by_week(self) -> pd.DataFrame:
        """Return the measures of each week, counted from the first submission, in which jobs were submitted."""
        week = (self.workload.submit_time - self.workload.submit_time.min()) // WEEK
        return self._by(week, range(int(week.max()) + 1), "week")

    def _by(self, code: NDArray[Any], names: Any, what: str) -> pd.DataFrame:
        """Return one line of measures for each class that has jobs."""
        import pandas as pd

        lines = {
            name: self.measures(code == number) for number, name in enumerate(names) if bool(np.any(code == number))
        }
        return pd.DataFrame.from_dict(lines, orient="index").rename_axis(what)

    def to_frame(self) -> pd.DataFrame:
        """Return one line per job: `job_id`, `submit_time`, `user_id`, `processors`, and the times in seconds."""
        import pandas as pd

        return pd.DataFrame(
            {
                "job_id": self.workload.job_id,
                "submit_time": self.workload.submit_time,
                "user_id": self.workload.user_id,
                "processors": self.workload.job_processors,
                "requested_time": self.workload.requested_time,
                "run_time": self.run_time,
                "predicted_run_time": self.predicted,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all but the predictions themselves: names, measures, and measures by class and week."""
        return {
            "workload": self.workload.name,
            "predictor": self.predictor,
            "replay": self.replay,
            "measures": self.measures(),
            "by_user_class": self.by_user_class().to_dict(orient="index"),
            "by_size_class": self.by_size_class().to_dict(orient="index"),
            "by_week": self.by_week().to_dict(orient="index"),
        }

    def __str__(self) -> str:
        from schedlab.predict.tables import validation_text

        return validation_text(self)

    def __repr__(self) -> str:
        return f"<Validation of {self.predictor} on {self.workload.name}, {len(self)} jobs>"


def validate(
    workload: Workload,
    predictor: str | Predictor | OnlinePredictor | PredictionModel,
    *,
    replay: str | Scheduler | Schedule | Replay | None = None,
    processors: int | None = None,
) -> Validation:
    """Let a predictor live through a workload: it predicts at each submission, and learns at each end.

    Parameters
    ----------
    workload
        The jobs; each needs a run time, processors and a requested time.
    predictor
        A `Predictor` or its text; an object with `predict` and `learn`; or a `PredictionModel`, which goes on from
        where it is and stays as it is.
    replay
        When jobs start: "log", as recorded; as a scheduler or its text decides; as in a schedule of these jobs; or what
        `schedlab.predict.replay.replay_of` made of one of these. None is the log if it has the waits of all jobs, else
        "fcfs+easy".
    processors
        Size of the machine; None takes the workload's.

    Returns
    -------
    Validation
        The predictions and what is to be said of them.

    Raises
    ------
    InputError
        If a job lacks what is needed, or if a predictor in Python fails or predicts what is no time.

    Notes
    -----
    In each second, jobs end before others are submitted, and those start last. If requests are enforced, the run time
    that is learned is the one up to the kill.

    References
    ----------
    Grzenda, Gomes and Bifet, "Delayed labelling evaluation for data streams", Data Mining and Knowledge Discovery 2020:
    progressive validation with delayed labels.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 1, 50, 90], run_time=[10, 20, 30, 40], user_id=[7] * 4,
    ...                                   requested_time=[60] * 4, requested_processors=[1] * 4), processors=4)
    >>> validate(jobs, "ave2").predicted.tolist()
    [60, 60, 15, 25]
    """
    lived = replay if isinstance(replay, Replay) else replay_of(workload, replay, processors=processors)
    duration = lived.prepared.jobs["duration"]
    if isinstance(predictor, PredictionModel):
        name, (predicted, model) = predictor.predictor.text, predictor.after(lived)
    else:
        chosen = as_predictor(predictor)
        name = chosen.text
        if isinstance(chosen, PythonPredictor):
            predicted, model = _ask(lived, chosen.predictor), None
        elif isinstance(chosen, Actual):
            predicted, model = np.maximum(duration, 1), None
        else:
            fresh = PredictionModel(chosen, lived.prepared.processors)
            predicted, model = fresh.after(lived)
    place = _places(lived)
    return Validation(
        workload, name, lived.name, lived.prepared.processors, predicted[place], np.asarray(duration)[place], model
    )


def _ask(replay: Replay, predictor: OnlinePredictor) -> NDArray[np.int64]:
    """Let a predictor in Python live through a replay, and return its predictions in order of submission."""
    adapter = PythonPredictorAdapter(replay.prepared, replay.prepared.request, predictor)
    jobs = replay.prepared.jobs
    predicted = np.empty(len(jobs), np.int64)
    events = events_of(jobs["submit"], replay.start, jobs["duration"])
    with limited_threads([adapter.predictor]):
        for kind, job in zip(events.kind.tolist(), events.job.tolist(), strict=True):
            if kind == SUBMISSION:
                predicted[[job]] = adapter.predict([job])
            elif kind in (END, END_AT_ONCE):
                adapter.learn(job, int(jobs["duration"][job]))
    return predicted


def _places(replay: Replay) -> NDArray[np.intp]:
    """Return where each job of the workload stands in order of submission."""
    n = len(replay.prepared.jobs)
    place = np.arange(n)
    if replay.prepared.order is not None:
        place[replay.prepared.order] = np.arange(n)
    return place
