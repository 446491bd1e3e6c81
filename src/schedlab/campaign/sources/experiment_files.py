"""The files of experiments: models and workflows, found, read and fingerprinted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from schedlab.campaign.sources.fields import expanded
from schedlab.errors import InputError
from schedlab.generate.special import special_pattern
from schedlab.model.edison import EDISON_TOY
from schedlab.model.model import WorkloadModel
from schedlab.streams import file_sha256
from schedlab.workflow.files import read_workflow
from schedlab.workflow.workflow import Workflow

MODELS: Mapping[str, WorkloadModel] = MappingProxyType({"edison-toy": EDISON_TOY})
"""Models that are built in, by name."""

SAMPLE = 10_000
"""Jobs that are drawn to see how many an experiment has."""


def load_model(path: str) -> tuple[WorkloadModel, str]:
    """Return a model, built in or from a file, and its fingerprint."""
    if path in MODELS:
        model = MODELS[path]
        text = json.dumps(model.to_dict(), sort_keys=True)
        return model, hashlib.sha256(text.encode()).hexdigest()
    sha256 = file_sha256(path)
    return _model(path, sha256), sha256


@lru_cache(maxsize=2)
def _model(path: str, sha256: str) -> WorkloadModel:
    return WorkloadModel.load(path)


@lru_cache(maxsize=64)
def load_workflow(path: str, sha256: str) -> Workflow:
    """Return the workflow of a file with a known fingerprint.

    Raises
    ------
    InputError
        If the file has gone, cannot be read, or has changed.
    """
    workflow = read_workflow(path)
    if file_sha256(path) != sha256:
        raise InputError(f"{path} has changed since the campaign was planned; run the campaign again")
    return workflow


def place_of(file: str, base: Path, hint: str = "") -> str:
    """Return where a file is.

    Parameters
    ----------
    file
        As the entry has it.
    base
        Directory that relative paths start from.
    hint
        What an error says at its end.

    Raises
    ------
    InputError
        If there is none.
    """
    path = base / expanded(file)
    if not path.is_file():
        raise InputError(f"{path} does not exist (relative paths start from {base.resolve()}{hint})")
    return str(path)


def expected_jobs(workflow_policy: str, seconds: float, pressure: float, model: WorkloadModel) -> int:
    """Return about how many ordinary jobs an experiment has, or jobs of the pattern that replaces them."""
    if workflow_policy.startswith("sp-"):
        trigger, pattern = special_pattern(workflow_policy)
        bursts = int((seconds - trigger.first) // trigger.period) + 1
        return bursts * sum(1 for _ in pattern.submit(0, np.random.default_rng(0)))
    arriving = seconds / model.mean_gap
    if not pressure:
        return int(arriving)
    drawn = model.draw_jobs(np.random.default_rng(0), SAMPLE)
    work = float(np.dot(drawn["processors"], np.minimum(drawn["run_time"], drawn["requested_time"]))) / SAMPLE
    return int(max(arriving, pressure * model.processors * seconds / max(work, 1.0)))
