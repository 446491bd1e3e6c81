"""Predictors of one's own, in Python: what they have to do, and what they are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from schedlab.errors import InputError
from schedlab.scheduler.predictor import Predictor
from schedlab.workload.columns import UNKNOWN


@runtime_checkable
class OnlinePredictor(Protocol):
    """What a predictor of one's own has to do; it need not inherit from this."""

    def predict(self, job: JobView) -> float:
        """Return the run time, in seconds, that a job is expected to have; it is being submitted."""
        ...

    def learn(self, job: JobView, run_time: int) -> None:
        """Take notice of the run time, in seconds, of a job that has just completed."""
        ...


@dataclass(frozen=True, slots=True)
class JobView:
    """What a predictor may know of a job: what was known when it was submitted.

    Parameters
    ----------
    job_id
        Of the trace.
    submit_time
        Second of the submission: the present, for a job that is to be predicted.
    requested_time, processors
        What the user asked for.
    user_id, group_id, executable_id, queue_id, partition_id
        Of the trace; -1 is unknown.
    """

    job_id: int
    submit_time: int
    requested_time: int
    processors: int
    user_id: int = UNKNOWN
    group_id: int = UNKNOWN
    executable_id: int = UNKNOWN
    queue_id: int = UNKNOWN
    partition_id: int = UNKNOWN


@dataclass(frozen=True, eq=False)
class PythonPredictor(Predictor):
    """A predictor of one's own in Python; every simulation begins with a copy of it as it is now.

    Parameters
    ----------
    predictor
        An object with `predict(job)` and `learn(job, run_time)`, see `OnlinePredictor`.
    source
        The text "MODULE:CLASS" that it was made from, if there is one.

    Raises
    ------
    InputError
        If it lacks one of the two.
    """

    name: ClassVar[str] = "python"
    predictor: Any
    source: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.predictor, type) or not isinstance(self.predictor, OnlinePredictor):
            lacks = "it needs methods predict(job) and learn(job, run_time)"
            raise InputError(f"{self.predictor!r} is not a predictor: {lacks}")

    @property
    def text(self) -> str:
        """The text that it was made from, else the name of its class."""
        return self.source or type(self.predictor).__name__
