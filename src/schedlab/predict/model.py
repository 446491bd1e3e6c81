"""A built-in predictor with what it has learned: it goes on where it stopped, and answers about single jobs."""

from __future__ import annotations

from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.engine.jobs.state import JOB
from schedlab.engine.parts.forecasts.history import History, new_history, note_start
from schedlab.engine.parts.forecasts.kernels import Forecast, new_forecast, predict
from schedlab.errors import InputError
from schedlab.kernels import for_python, new_records
from schedlab.predict.events import START, Events, events_of, follow
from schedlab.predict.replay import Replay
from schedlab.scheduler.log_regression import LogRegression
from schedlab.scheduler.own_predictor import JobView, PythonPredictor
from schedlab.scheduler.predictor import ATTRIBUTES, Actual, Predictor, Regression
from schedlab.scheduler.predictor_text import as_predictor

_note_start = for_python(note_start)
_predict = for_python(predict)

OF_USERS = (
    "completed",
    "run_time",
    "processors",
    "last_end",
    "recent_run_times",
    "recent_submits",
    "recent_requests",
    "recent_processors",
)
"""The fields of a History that have one entry per user."""

OF_GROUPS = ("weight", "total")
"""The fields of a Groups that learning changes."""

OF_LEARNER = ("counters", "weights", "scales", "gradients")
"""The fields of a Regression that learning changes."""

PAST = "past"
"""One more of them, where pairs of jobs are learned from."""


class Memory(NamedTuple):
    """What a predictor knows at a moment.

    `users` are the users met so far, ascending; `history` and `learner` hold the arrays named in `OF_USERS` and
    `OF_LEARNER`; `groups` those named in `OF_GROUPS`, a line for each narrowest group in `keys` and a column from
    everybody's group to that one. `jobs` (records of type JOB), `start`, `user`, `attributes` and `inputs` belong to
    the jobs that have been submitted but have not ended, in order of submission: their starts and run times lie ahead
    and are used when their time comes.
    """

    users: NDArray[np.int64]
    history: dict[str, NDArray[Any]]
    groups: dict[str, NDArray[Any]]
    learner: dict[str, NDArray[Any]]
    jobs: NDArray[Any]
    start: NDArray[np.int64]
    user: NDArray[np.int64]
    attributes: NDArray[np.int64]
    inputs: NDArray[np.float64]


class PredictionModel:
    """A built-in predictor at a moment of its life.

    Parameters
    ----------
    predictor
        A `Predictor` or its text.
    processors
        Size of the machine.
    start_time
        Unix epoch of second 0 of the model's clock, or None if unknown.
    clock
        The last second that it has lived through, None before the first.
    memory
        What it knows; by default, nothing.

    Raises
    ------
    InputError
        If the predictor is not a built-in one, or needs to know the future.

    Notes
    -----
    The clock is that of the first workload. Workloads that follow are moved by the difference of the start times where
    both are known; else their clock is taken for a continuation.

    Examples
    --------
    >>> from schedlab.workload.workload import Workload
    >>> from schedlab.predict.validation import validate
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 50, 90], run_time=[10, 20, 5], requested_time=[60] * 3,
    ...                                   requested_processors=[1] * 3, user_id=[7] * 3), processors=4)
    >>> model = validate(jobs, "ave2").model
    >>> model.predict(JobView(job_id=4, submit_time=200, requested_time=60, processors=1, user_id=7))
    12
    """

    def __init__(
        self,
        predictor: str | Predictor,
        processors: int,
        *,
        start_time: int | None = None,
        clock: int | None = None,
        memory: Memory | None = None,
    ) -> None:
        self.predictor = as_predictor(predictor)
        if isinstance(self.predictor, PythonPredictor | Actual):
            raise InputError(
                f"@{self.predictor.text} cannot be saved as a model: only built-in predictors that do not "
                "know the future can"
            )
        self.processors = processors
        self.start_time = start_time
        self.clock = clock
        self._since = clock
        self._build(memory or _no_memory(self.predictor))

    def _build(self, memory: Memory, coming: int = 0) -> None:
        """Lay out the arrays: jobs and users, each with a spare place for a question; some jobs are still to come."""
        self._users = memory.users
        n, known = len(memory.jobs), len(memory.users)
        self._jobs = new_records(n + 1, JOB)
        self._jobs[:n] = memory.jobs
        self._jobs[n] = (0, 0, 1, 1)
        self._start = np.append(memory.start, -1)
        user = np.append(np.searchsorted(memory.users, memory.user), known)
        keys = memory.groups.get("keys", memory.attributes[:0])
        question = np.zeros((1, memory.attributes.shape[1]), np.int64)
        self._names = np.concatenate([keys, memory.attributes, question])
        blank = new_forecast(self.predictor, "requested", self._jobs["estimate"].copy(), user, self._names)
        self._groups = blank.groups
        for name in OF_GROUPS if memory.groups else ():
            getattr(blank.groups, name)[blank.groups.group[: len(keys)]] = memory.groups[name]
        groups = blank.groups._replace(group=blank.groups.group[len(keys) :])
        history = new_history(user, blank.history.recent_run_times.shape[1])
        for name, values in memory.history.items():
            getattr(history, name)[:known] = values
        for name, values in memory.learner.items():
            getattr(blank.learner.weights, name)[:] = values
        if memory.learner:
            blank.learner.weights.inputs[:n] = memory.inputs
        self._forecast: Forecast = blank._replace(history=history, groups=groups)
        self._events: Events = events_of(memory.jobs["submit"], memory.start, memory.jobs["duration"])
        self._place = 0
        if self.clock is not None:
            self._place = self._events.until(self.clock, of=n - coming)
            for job in self._events.job[: self._place][self._events.kind[: self._place] == START].tolist():
                _note_start(history, job)

    def memory(self) -> Memory:
        """Return what it knows now."""
        jobs = np.unique(self._events.job[self._place :])
        history, learner = self._forecast.history, self._forecast.learner.weights
        return Memory(
            self._users,
            {name: getattr(history, name)[: len(self._users)].copy() for name in OF_USERS},
            self._known_groups(),
            {name: getattr(learner, name).copy() for name in _parts_of(self.predictor)},
            self._jobs[jobs],
            self._start[jobs],
            self._users[history.user[jobs]],
            self._names[len(self._names) - len(self._jobs) :][jobs],
            learner.inputs[jobs] if self._trained else np.empty((len(jobs), 0)),
        )

    def after(self, replay: Replay) -> tuple[NDArray[np.int64], PredictionModel]:
        """Live through the submissions of further jobs, and through all else that happens until the last of them.

        Jobs of earlier workloads that have not ended yet go on: they are learned from when their time comes.

        Returns
        -------
        predicted
            int64 seconds: the prediction for each job, in order of submission.
        model
            The model at the last submission; this one stays as it is.

        Raises
        ------
        InputError
            If the machine is another one, or if the jobs come before what the model has lived through.
        """
        prepared = replay.prepared
        if prepared.processors != self.processors:
            raise InputError(
                f"the model was trained on a machine of {self.processors} processors, but {prepared.workload.name} has "
                f"{prepared.processors}"
            )
        epoch = prepared.workload.start_time
        fresh = self.clock is None
        origin = epoch if fresh else self.start_time
        shift = 0 if epoch is None or origin is None else epoch - origin
        jobs = prepared.jobs.copy()
        jobs["submit"] += shift
        self._check_time(int(jobs["submit"][0]), f"the first job of {prepared.workload.name}")
        memory = self.memory()
        user = prepared.column("user_id")
        users = np.union1d(memory.users, user)
        grown = memory._replace(
            users=users,
            history={name: _spread(values, memory.users, users) for name, values in memory.history.items()},
            jobs=np.concatenate([memory.jobs, jobs]),
            start=np.append(memory.start, replay.start + shift),
            user=np.append(memory.user, user),
            attributes=np.concatenate([memory.attributes, prepared.attributes(self.predictor.attributes)]),
            inputs=np.concatenate([memory.inputs, np.zeros((len(jobs), memory.inputs.shape[1]))]),
        )
        model = PredictionModel(self.predictor, self.processors, start_time=origin, clock=self.clock)
        model._build(grown, coming=len(jobs))
        model._go_on(int(jobs["submit"][-1]))
        model._since = model.clock
        return model._forecast.first[len(memory.jobs) : -1].copy(), model

    def predict(self, job: JobView) -> int:
        """Return the prediction, from 1 s to the request, for a job that is being submitted.

        Parameters
        ----------
        job
            The job. Its `submit_time` is a Unix time if the model knows its `start_time`, else on the model's clock.

        Raises
        ------
        InputError
            If it is submitted before what the model has learned from.
        """
        second = job.submit_time - (self.start_time or 0)
        self._check_time(second, f"job {job.job_id}")
        if self.clock is None or second > self.clock:
            self._go_on(second)
        assert self.clock is not None
        slot = len(self._jobs) - 1
        self._jobs[slot] = (second, 0, job.requested_time, job.processors)
        self._forecast.request[slot] = job.requested_time
        place = int(np.searchsorted(self._users, job.user_id))
        known = place < len(self._users) and self._users[place] == job.user_id
        self._forecast.history.user[slot] = place if known else len(self._users)
        self._forecast.groups.group[slot] = self._groups_of(job)
        return int(_predict(self._jobs, self._start, self._forecast, slot, self.clock))

    @property
    def present(self) -> int:
        """The last second that it has lived through, as `predict` takes submit times; 0 before the first."""
        return (self.clock or 0) + (self.start_time or 0)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file (JSON), see `schedlab.predict.model_file`."""
        from schedlab.predict.model_file import write_model

        write_model(self, path)

    @classmethod
    @explained
    def load(cls, path: str | PathLike[str]) -> PredictionModel:
        """Read a model from a file.

        Raises
        ------
        InputError
            If there is none, if it is damaged, or if another version wrote it.
        """
        from schedlab.predict.model_file import read_model

        return read_model(path)

    def _go_on(self, second: int) -> None:
        """Live through all that happens up to the submissions of a second."""
        last = self._events.until(second, of=len(self._jobs))
        follow(self._jobs, self._start, self._forecast, self._events, self._place, last)
        self._place, self.clock = last, second

    def _known_groups(self) -> dict[str, NDArray[Any]]:
        """Return what it knows of groups: the names of the narrowest ones, and for each what belongs to its levels."""
        if not self.predictor.attributes:
            return {}
        groups = self._groups
        learned = groups.weight[groups.group[:-1, -1]] > 0
        keys, first = np.unique(self._names[:-1][learned], axis=0, return_index=True)
        lines = groups.group[:-1][learned][first]
        return {"keys": keys} | {name: getattr(groups, name)[lines] for name in OF_GROUPS}

    def _groups_of(self, job: JobView) -> NDArray[np.int64]:
        """Return the groups of a job that is asked about; one that is not known is the last of all."""
        alike = np.ones(len(self._names) - 1, np.bool_)
        group = np.full(self._groups.group.shape[1], len(self._groups.weight) - 1)
        group[0] = 0
        for level, name in enumerate(self.predictor.attributes):
            alike &= self._names[:-1, level] == getattr(job, ATTRIBUTES[name])
            if alike.any():
                group[level + 1] = self._groups.group[np.argmax(alike), level + 1]
        return group

    @property
    def _trained(self) -> bool:
        return bool(_parts_of(self.predictor))

    def _check_time(self, second: int, what: str) -> None:
        """Refuse a moment that the model has left behind."""
        if self._since is not None and second < self._since:
            epoch = self.start_time or 0
            raise InputError(
                f"{what} is submitted at second {second + epoch}, but the model was trained until "
                f"second {self._since + epoch}: ask about later jobs, or correct the start time of the workload"
            )


def _no_memory(predictor: Predictor) -> Memory:
    """Return what a predictor knows before the first job."""
    nothing = np.empty(0, np.int64)
    depth = len(predictor.attributes)
    names = np.empty((0, depth), np.int64)
    one = np.zeros((1, depth), np.int64)
    blank = new_forecast(predictor, "requested", np.ones(1, np.int64), np.zeros(1, np.int64), one)
    history: History = blank.history
    parts = _parts_of(predictor)
    return Memory(
        nothing,
        {name: getattr(history, name)[:0] for name in OF_USERS},
        {"keys": names[:0], "weight": np.empty((0, depth + 1)), "total": np.empty((0, depth + 1, 2))} if depth else {},
        {name: getattr(blank.learner.weights, name) for name in parts},
        new_records(0, JOB),
        nothing,
        nothing,
        names,
        blank.learner.weights.inputs[:0] if parts else np.empty((0, 0)),
    )


def _parts_of(predictor: Predictor) -> tuple[str, ...]:
    """Return the fields of the learner that a predictor changes, if it has one."""
    if isinstance(predictor, LogRegression):
        return (*OF_LEARNER, PAST) if predictor.loss == "pairs" else OF_LEARNER
    return OF_LEARNER if isinstance(predictor, Regression) else ()


def _spread(values: NDArray[Any], users: NDArray[np.int64], wider: NDArray[np.int64]) -> NDArray[Any]:
    """Return the values of some users among those of more users, 0 for the new ones."""
    result = np.zeros((len(wider), *values.shape[1:]), values.dtype)
    result[np.searchsorted(wider, users)] = values
    return result
