"""Models as JSON files: which predictor, on which machine, until when, and what it knows.

Floating-point numbers are written so that reading gives the same bits. Times are Unix times where the model knows the
`start_time` of its clock, else seconds of its clock; user numbers are those of the log.
"""

from __future__ import annotations

import hashlib
import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from schedlab.atomic import atomic_path
from schedlab.engine.state import JOB
from schedlab.errors import InputError
from schedlab.predict.model import Memory, PredictionModel
from schedlab.scheduler.predictor_text import predictor_from_text

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
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot read the model: {error.strerror or error}") from None
    except ValueError:
        raise InputError(f"{path} is no model, or a damaged one: it is not JSON") from None
    if not isinstance(document, dict) or "schema" not in document:
        raise InputError(f"{path} is no model: write one with schedlab predict --save")
    if document.pop("schema") != SCHEMA:
        raise InputError(f"{path} is a model of another version of schedlab: train it again with this one")
    if document.pop("checksum", None) != _checksum(document):
        raise InputError(f"{path} is damaged: its checksum is wrong; train the model again")
    return _from_content(document)


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
        "learner": {name: values.tolist() for name, values in memory.learner.items()},
        "unfinished_jobs": {
            "submit_time": (jobs["submit"] + epoch).tolist(),
            "start_time": (memory.start + epoch).tolist(),
            "run_time": jobs["duration"].tolist(),
            "requested_time": jobs["estimate"].tolist(),
            "processors": jobs["processors"].tolist(),
            "user_id": memory.user.tolist(),
            "inputs": memory.inputs.tolist(),
        },
    }


def _from_content(content: dict[str, Any]) -> PredictionModel:
    epoch = content["start_time"] or 0
    blank = PredictionModel(predictor_from_text(content["predictor"]), content["processors"]).memory()
    users = np.array(content["users"], np.int64)
    pending = {
        name: np.array(values, np.int64) for name, values in content["unfinished_jobs"].items() if name != "inputs"
    }
    jobs = np.recarray(len(pending["user_id"]), dtype=JOB)
    jobs["submit"] = pending["submit_time"] - epoch
    jobs["duration"] = pending["run_time"]
    jobs["estimate"] = pending["requested_time"]
    jobs["processors"] = pending["processors"]
    history = {}
    for name, like in blank.history.items():
        values = np.array(content["history"][name], like.dtype).reshape(len(users), *like.shape[1:])
        history[name] = values - epoch if name in TIMES else values
    memory = Memory(
        users,
        history,
        {name: np.array(content["learner"][name], like.dtype) for name, like in blank.learner.items()},
        jobs,
        pending["start_time"] - epoch,
        pending["user_id"],
        np.array(content["unfinished_jobs"]["inputs"], np.float64).reshape(len(jobs), blank.inputs.shape[1]),
    )
    clock = content["clock"]
    return PredictionModel(
        content["predictor"],
        content["processors"],
        start_time=content["start_time"],
        clock=None if clock is None else clock - epoch,
        memory=memory,
    )
