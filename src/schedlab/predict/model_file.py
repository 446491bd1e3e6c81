"""Models as JSON files: which predictor, on which machine, until when, and what it knows.

Floating-point numbers are written so that reading gives the same bits. Times are Unix times where the model knows the
`start_time` of its clock, else seconds of its clock; user numbers are those of the log.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from os import PathLike
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from schedlab.atomic import atomic_path
from schedlab.documents import checked, read_json
from schedlab.engine.jobs.state import JOB
from schedlab.errors import InputError
from schedlab.imports import named_classes
from schedlab.kernels import new_records
from schedlab.predict.model import Memory, PredictionModel
from schedlab.scheduler.predictor_text import predictor_from_text
from schedlab.wording import shown

SCHEMA = 1
"""Version of what a file holds; files of other versions are refused."""

TIMES = ("last_end", "recent_submits")
"""Of the history, what is a second of the clock."""


def write_model(model: PredictionModel, path: str | PathLike[str]) -> None:
    """Write a model to a file.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    content = _to_content(model)
    document = {"schema": SCHEMA, "checksum": _checksum(content), **content}
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(document), encoding="utf-8")


def read_model(path: str | PathLike[str]) -> PredictionModel:
    """Read a model; parameters and errors as for `PredictionModel.load`."""
    document = read_json(path, "model")
    if not isinstance(document, dict) or "schema" not in document:
        raise InputError(f"{path} is not a prediction model: write one with PredictionModel.save or schedlab predict")
    if document.pop("schema") != SCHEMA:
        raise InputError(f"{path} is a model of another version of schedlab: train the model again with this version")
    if document.pop("checksum", None) != _checksum(document):
        raise InputError(f"{path} is damaged: its checksum is wrong; train the model again")
    content = checked(CONTENT, document, f"{path} is not a valid model", "train the model again")
    try:
        return _from_content(content)
    except (InputError, ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{path} is not a valid model: {error}; train the model again") from None


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _to_content(model: PredictionModel) -> dict[str, Any]:
    memory, epoch = model.memory(), model.start_time or 0
    history = {name: values + epoch if name in TIMES else values for name, values in memory.history.items()}
    jobs = memory.jobs
    return {
        "predictor": model.predictor.text,
        "processors": model.processors,
        "start_time": model.start_time,
        "clock": None if model.clock is None else model.clock + epoch,
        "users": memory.users.tolist(),
        "history": {name: values.tolist() for name, values in history.items()},
        "groups": {name: values.tolist() for name, values in memory.groups.items()},
        "learner": {name: values.tolist() for name, values in memory.learner.items()},
        "unfinished_jobs": {
            "submit_time": (jobs["submit"] + epoch).tolist(),
            "start_time": (memory.start + epoch).tolist(),
            "run_time": jobs["duration"].tolist(),
            "requested_time": jobs["estimate"].tolist(),
            "processors": jobs["processors"].tolist(),
            "user_id": memory.user.tolist(),
            "attributes": memory.attributes.tolist(),
            "inputs": memory.inputs.tolist(),
        },
    }


Seconds = Annotated[int, Field(ge=-(2**53), le=2**53)]
"""Exact also as a floating-point number, and far from where 64 bits overflow."""

Counts = list[Annotated[int, Field(ge=1, le=2**53)]]


class UnfinishedJobs(BaseModel):
    """Jobs that have been submitted and have not ended."""

    model_config = ConfigDict(extra="forbid", strict=True)

    submit_time: list[Seconds]
    start_time: list[Seconds]
    run_time: list[Annotated[int, Field(ge=0, le=2**53)]]
    requested_time: Counts
    processors: Counts
    user_id: list[Seconds]
    attributes: list[list[Seconds]] = []
    inputs: list[list[float]]


class Content(BaseModel):
    """What a file holds beside its version and checksum."""

    model_config = ConfigDict(extra="forbid", strict=True)

    predictor: str
    processors: Annotated[int, Field(ge=1, le=2**53)]
    start_time: Seconds | None
    clock: Seconds | None
    users: list[Seconds]
    history: dict[str, list[Any]]
    groups: dict[str, list[Any]] = {}
    learner: dict[str, list[float]]
    unfinished_jobs: UnfinishedJobs


CONTENT = TypeAdapter(Content)

MOST_REMEMBERED = 1_000_000
"""Jobs that a predictor remembers of each user."""


def _from_content(content: Content) -> PredictionModel:
    """Return the model of a file; raise InputError or ValueError if its parts do not fit together."""
    if named_classes(content.predictor):
        raise ValueError(f"it names {shown(content.predictor)}, and only built-in predictors can be saved as models")
    predictor = predictor_from_text(content.predictor)
    remembered = [getattr(predictor, name) for name in ("jobs", "memory") if hasattr(predictor, name)]
    if max(remembered, default=0) > MOST_REMEMBERED:
        raise ValueError(f"{shown(content.predictor)} remembers more than {MOST_REMEMBERED:,} jobs of a user")
    epoch = content.start_time or 0
    blank = PredictionModel(predictor, content.processors).memory()
    users = np.array(content.users, np.int64)
    if (np.diff(users) <= 0).any():
        raise ValueError("its users are not in ascending order")
    jobs, start, user = _unfinished(content, users, epoch)
    _same_names("history", content.history, blank.history)
    _same_names("groups", content.groups, blank.groups)
    _same_names("learner", content.learner, blank.learner)
    history = {name: _array(name, content.history[name], like, len(users)) for name, like in blank.history.items()}
    for name in TIMES:
        history[name] = history[name] - epoch
    known = len(content.groups.get("keys", []))
    groups = {name: _array(name, content.groups[name], like, known) for name, like in blank.groups.items()}
    learner = {name: _array(name, content.learner[name], like, len(like)) for name, like in blank.learner.items()}
    attributes = np.array(content.unfinished_jobs.attributes, np.int64).reshape(len(jobs), blank.attributes.shape[1])
    inputs = np.array(content.unfinished_jobs.inputs, np.float64).reshape(len(jobs), blank.inputs.shape[1])
    return PredictionModel(
        predictor,
        content.processors,
        start_time=content.start_time,
        clock=None if content.clock is None else content.clock - epoch,
        memory=Memory(users, history, groups, learner, jobs, start, user, attributes, inputs),
    )


def _unfinished(
    content: Content, users: NDArray[np.int64], epoch: int
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Return jobs, starts and users of the jobs that have not ended, once known to be possible."""
    told = content.unfinished_jobs
    columns = {
        name: np.array(getattr(told, name), np.int64)
        for name in UnfinishedJobs.model_fields
        if name not in ("attributes", "inputs")
    }
    jobs = new_records(len(columns["user_id"]), JOB)
    if any(len(column) != len(jobs) for column in columns.values()):
        raise ValueError("the columns of its unfinished jobs differ in length")
    submit, start = columns["submit_time"], columns["start_time"]
    if (np.diff(submit) < 0).any() or (start < submit).any():
        raise ValueError("its unfinished jobs are not in order of submission, or start before they are submitted")
    if not np.isin(columns["user_id"], users).all() or (columns["processors"] > content.processors).any():
        raise ValueError("an unfinished job is of an unknown user, or larger than the machine")
    jobs["submit"], jobs["duration"] = submit - epoch, columns["run_time"]
    jobs["estimate"], jobs["processors"] = columns["requested_time"], columns["processors"]
    return jobs, start - epoch, columns["user_id"]


def _same_names(what: str, told: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    if set(told) != set(known):
        raise ValueError(f"its {what} must have the parts {', '.join(known) or 'none'}")


def _array(name: str, values: list[Any], like: NDArray[Any], rows: int) -> NDArray[Any]:
    """Return numbers as an array of the type and shape of another one, with a given number of rows."""
    array = np.array(values) if len(values) else np.empty((0, *like.shape[1:]), like.dtype)
    shape = (rows, *like.shape[1:])
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
    whole = like.dtype.kind == "i"
    if array.dtype.kind not in ("i" if whole else "if") or (whole and np.abs(array).max(initial=0) > 2**53):
        raise ValueError(f"{name} must hold {'whole ' if whole else ''}numbers of at most 53 bits")
    return array.astype(like.dtype)
