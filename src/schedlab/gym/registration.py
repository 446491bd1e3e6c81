"""The ids under which Gymnasium makes the environments."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import tsafrir_estimates
from schedlab.workload.cleaning import clean
from schedlab.workload.workload import Workload

PROCESSORS, WINDOW, LOAD = 256, 256, 1.1

IDS: dict[str, dict[str, Any]] = {
    "schedlab/Next-v0": {"decision": "next"},
    "schedlab/Backfill-v0": {"decision": "backfill"},
    "schedlab/Inspect-v0": {"decision": "inspect", "base": "saf"},
    "schedlab/Policy-v0": {"decision": "policy"},
    "schedlab/Commit-v0": {"decision": "next", "commit": True},
}
"""Environments by id; the jobs are drawn from the Lublin-Feitelson model, unless a workload is given."""


def model_jobs(rng: np.random.Generator, jobs: int = WINDOW, processors: int = PROCESSORS) -> Workload:
    """Return jobs of the Lublin-Feitelson model, with estimates as users give them."""
    return clean(tsafrir_estimates(lublin(jobs, processors, rng=rng, load=LOAD), rng=rng))


def _told(arguments: dict[str, Any]) -> dict[str, Any]:
    if "workload" not in arguments:
        arguments = {"window": WINDOW, "processors": PROCESSORS} | arguments
        arguments["workload"] = partial(model_jobs, jobs=arguments["window"], processors=arguments["processors"])
    return arguments


def make(**arguments: Any) -> Any:
    """Return an environment; arguments as for `schedlab.gym.SchedulingEnv`."""
    from schedlab.gym.environment import SchedulingEnv

    return SchedulingEnv(**_told(arguments))


def make_vector(**arguments: Any) -> Any:
    """Return environments side by side; arguments as for `schedlab.gym.SchedulingVectorEnv`."""
    from schedlab.gym.vector import SchedulingVectorEnv

    return SchedulingVectorEnv(**_told(arguments))


def register() -> None:
    """Tell Gymnasium the ids, if it is installed."""
    try:
        from gymnasium.envs import registration
    except ModuleNotFoundError:
        return
    for name, arguments in IDS.items():
        if name not in registration.registry:
            registration.register(
                name,
                entry_point="schedlab.gym.registration:make",
                vector_entry_point="schedlab.gym.registration:make_vector",
                kwargs=arguments,
            )
