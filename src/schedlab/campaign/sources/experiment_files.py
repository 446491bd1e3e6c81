"""The files of experiments: models and workflows, found, read and fingerprinted; and experiments made of them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np

from schedlab.campaign.sources.experiment import ExperimentEntry
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.source import ExperimentSource
from schedlab.errors import InputError
from schedlab.generate.experiment import Experiment
from schedlab.generate.special import special_pattern
from schedlab.model.edison import EDISON_TOY
from schedlab.model.model import WorkloadModel
from schedlab.workflow.files import read_workflow
from schedlab.workflow.workflow import Workflow
from schedlab.workload.files import file_sha256
from schedlab.workload.submissions import Handling

MODELS: Mapping[str, WorkloadModel] = MappingProxyType({"edison-toy": EDISON_TOY})
"""Models that are built in, by name."""

SAMPLE = 10_000
"""Jobs that are drawn to see how many an experiment has."""


def experiment_inputs(entry: ExperimentEntry, number: int, base: Path) -> Iterator[Input]:
    """Find, read and fingerprint the files of an experiment, and yield its variants.

    Parameters
    ----------
    entry
        The experiment.
    number
        Position of the entry in the campaign.
    base
        Directory that relative paths start from.

    Raises
    ------
    InputError
        If a file is missing or cannot be read, or a workflow does not fit on the machine.
    """
    path = entry.model if entry.model in MODELS else _place(entry.model, base, f"; built in are {', '.join(MODELS)}")
    model, sha256 = load_model(path)
    places = [_place(table.file, base) for table in entry.workflows]
    files = tuple((place, file_sha256(place)) for place in places)
    workflows = [load_workflow(place, fingerprint) for place, fingerprint in files]
    name = entry.name or "+".join(dict.fromkeys(workflow.name for workflow in workflows)) or "no workflows"
    jobs = _expected_jobs(entry, model)
    shares = tuple(zip(workflows, (table.share for table in entry.workflows), strict=True))
    for variant, (presence, handling) in enumerate(entry.variants()):
        _experiment(entry, model, shares, presence, handling)  # refuses what is not possible before anything runs
        label = entry.label(name, presence)
        called = f"{label}/{handling}" if entry.workflows else label
        facts = (called, number, path, sha256, jobs, model.processors, 0)
        yield Input(*facts, variant=variant, label=label, files=files)


def experiment_of(source: ExperimentSource) -> Experiment:
    """Return the experiment that a source describes.

    Raises
    ------
    InputError
        If a file has gone or changed, or if the experiment is not possible.
    """
    model, sha256 = load_model(source.model)
    if sha256 != source.model_sha256:
        raise InputError(f"{source.model} has changed since the campaign was planned; run the campaign again")
    workflows = tuple((load_workflow(path, sha256), share) for path, sha256, share in source.workflows)
    return _experiment(source, model, workflows, source.presence, source.handling)


def _experiment(
    fields: ExperimentEntry | ExperimentSource,
    model: WorkloadModel,
    workflows: tuple[tuple[Workflow, float], ...],
    presence: float | None,
    handling: Handling,
) -> Experiment:
    """Return one variant of an experiment; what an entry says and what a source says have the same names."""
    by_period = fields.workflow_policy == "period"
    return Experiment(
        model=model,
        workflows=workflows,
        workflow_policy=fields.workflow_policy,
        period=int(presence or 0) if by_period else 0,
        share=0.0 if by_period else presence or 0.0,
        handling=handling,
        fill_wait=int(fields.fill_wait),
        preload=int(fields.preload),
        duration=int(fields.duration),
        drain=int(fields.drain),
        pressure=fields.pressure,
        counted=fields.counted,
        rules=fields.rules,
    )


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


def _place(file: str, base: Path, hint: str = "") -> str:
    """Return where a file is."""
    path = base / os.path.expandvars(os.path.expanduser(file))
    if not path.is_file():
        raise InputError(f"{path} is missing (relative paths start from {base.resolve()}{hint})")
    return str(path)


def _expected_jobs(entry: ExperimentEntry, model: WorkloadModel) -> int:
    """Return about how many ordinary jobs an experiment has, or jobs of the pattern that replaces them."""
    seconds = entry.preload + entry.duration
    if entry.workflow_policy.startswith("sp-"):
        trigger, pattern = special_pattern(entry.workflow_policy)
        bursts = int((seconds - trigger.first) // trigger.period) + 1
        return bursts * sum(1 for _ in pattern.submit(0, np.random.default_rng(0)))
    arriving = seconds / model.mean_gap
    if not entry.pressure:
        return int(arriving)
    drawn = model.draw_jobs(np.random.default_rng(0), SAMPLE)
    work = float(np.dot(drawn["processors"], np.minimum(drawn["run_time"], drawn["requested_time"]))) / SAMPLE
    return int(max(arriving, entry.pressure * model.processors * seconds / max(work, 1.0)))
