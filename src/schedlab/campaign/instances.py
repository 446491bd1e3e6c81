"""Make the jobs of an instance: read or generate, clean, draw users anew, scale the load, cut a window.

What comes before the last step is kept for the next instance: those of one source follow each other.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from schedlab.campaign.enumeration import Instance, Users
from schedlab.campaign.experiment_inputs import experiment_of
from schedlab.campaign.inputs import read_trace
from schedlab.campaign.sources import ExperimentSource, Model, Source, Stochastic, Trace
from schedlab.errors import InputError
from schedlab.generate.generation import Generated, generate_experiment
from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import tsafrir_estimates
from schedlab.speculate.generate import stochastic_jobs
from schedlab.workload.cleaning import clean
from schedlab.workload.files import file_sha256
from schedlab.workload.sampling import resample_users, scale_load, windows
from schedlab.workload.workload import Workload


def make_workload(instance: Instance) -> Workload:
    """Return the jobs of an instance.

    Raises
    ------
    InputError
        If the log has gone or changed, or if there is no such window.

    Examples
    --------
    >>> instance = Instance("small", Model("lublin", 50, 64, "exact"), seed=7, load=0.5)
    >>> make_workload(instance)
    <Workload small: 50 jobs, 64 processors>
    """
    parts = (instance.source, instance.seed, instance.users, instance.load)
    if instance.window is None:
        workload = _whole(*parts)
    else:
        sequences = _sequences(*parts, instance.window.length, instance.window.state)
        if instance.window.number >= len(sequences):
            raise InputError(f"{instance.workload}: there are only {len(sequences)} windows; lower their count")
        workload = sequences[instance.window.number]
    return workload.replace(name=instance.workload)


@lru_cache(maxsize=1)
def _sequences(
    source: Source, seed: int | None, users: Users | None, load: float | None, length: int, state: int
) -> tuple[Workload, ...]:
    return tuple(windows(_whole(source, seed, users, load), length, state))


@lru_cache(maxsize=1)
def _whole(source: Source, seed: int | None, users: Users | None, load: float | None) -> Workload:
    if isinstance(source, Stochastic):
        return stochastic_jobs(source.applications, source.processors, rng=np.random.default_rng(seed))
    if isinstance(source, ExperimentSource):
        return generated(source, seed).workload
    if isinstance(source, Model):
        return _drawn(source, seed, load)
    workload = _read(source)
    if users is not None:
        rng = np.random.default_rng(seed)
        workload = resample_users(workload, rng=rng, weeks=users.weeks, profile=users.profile)
    return workload if load is None else scale_load(workload, load=load)


@lru_cache(maxsize=1)
def generated(source: ExperimentSource, seed: int | None) -> Generated:
    """Return the workload of an experiment, and how it came out."""
    return generate_experiment(experiment_of(source), rng=np.random.default_rng(seed))


def _drawn(model: Model, seed: int | None, load: float | None) -> Workload:
    rng = np.random.default_rng(seed)
    workload = lublin(model.jobs, model.processors, rng=rng, load=load)
    return tsafrir_estimates(workload, rng=rng) if model.estimates == "tsafrir" else clean(workload, "fill-request")


@lru_cache(maxsize=1)
def _read(source: Trace) -> Workload:
    workload = read_trace(
        source.path, source.clean, source.processors, source.requests, source.laws, source.dependencies
    )
    for path, sha256 in ((source.path, source.sha256), (source.laws, source.laws_sha256)):
        if path and file_sha256(path) != sha256:
            raise InputError(f"{path} has changed since the campaign was planned; run the campaign again")
    return workload
