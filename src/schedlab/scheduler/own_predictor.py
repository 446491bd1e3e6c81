"""User-defined predictors in Python: the methods that they need, and the data that they receive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

from schedlab.errors import InputError
from schedlab.scheduler.own_objects import kept_arguments
from schedlab.scheduler.predictor import Predictor
from schedlab.workload.columns import UNKNOWN


@runtime_checkable
class OnlinePredictor(Protocol):
    """The methods of a user-defined predictor, which need not inherit from this class."""

    def predict(self, job: JobView) -> float:
        """Return the expected run time, in seconds, of a job that is being submitted."""
        ...

    def learn(self, job: JobView, run_time: int) -> None:
        """Learn from the run time, in seconds, of a job that has just completed."""
        ...


@dataclass(frozen=True, slots=True)
class JobView:
    """What a predictor may know of a job: its properties at submission.

    Parameters
    ----------
    job_id
        The number in the trace.
    submit_time
        Second of the submission, which is the present for a job to be predicted.
    requested_time, processors
        The requests of the user.
    user_id, group_id, executable_id, queue_id, partition_id
        Numbers in the trace; -1 is unknown.
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
    """A user-defined predictor in Python; every simulation begins with a copy of its present state.

    Parameters
    ----------
    predictor
        An object with `predict(job)` and `learn(job, run_time)`, see `OnlinePredictor`.
    source
        The text "MODULE:CLASS" that it was read from, if there is one.

    Raises
    ------
    InputError
        If one of the two methods is missing.
    """

    name: ClassVar[str] = "python"
    predictor: Any
    source: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.predictor, type) or not isinstance(self.predictor, OnlinePredictor):
            lacks = "it needs methods predict(job) and learn(job, run_time)"
            if isinstance(self.predictor, type) and hasattr(self.predictor, "predict"):
                lacks = f"it is a class: make one with {self.predictor.__name__}()"
            raise InputError(f"{self.predictor!r} is not a predictor: {lacks}")

    @property
    def text(self) -> str:
        """The text that it was read from, otherwise the name of its class, with arguments that it keeps."""
        return self.source or type(self.predictor).__name__ + kept_arguments(self.predictor)
