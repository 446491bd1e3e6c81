"""Where the jobs of an instance come from, as plain facts that its name is the hash of."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from schedlab.speculate.generate import Application
from schedlab.workload.submissions import Handling


@dataclass(frozen=True, slots=True)
class Trace:
    """A log, cleaned; parameters as for `schedlab.campaign.sources.entry.TraceEntry`.

    Its path and that of its laws are not part of what it is: a campaign may move with its logs.
    """

    path: str
    sha256: str
    clean: str
    processors: int | None
    requests: str | None
    laws: str = ""
    laws_sha256: str = ""
    dependencies: str = "none"

    def specification(self) -> dict[str, Any]:
        """Return what makes it what it is."""
        unset = {"laws_sha256": "", "dependencies": "none"}.items()  # came later; results before keep their names
        fields = asdict(self).items()
        return {name: value for name, value in fields if name not in ("path", "laws") and (name, value) not in unset}


@dataclass(frozen=True, slots=True)
class Model:
    """Jobs of a model; parameters as for `schedlab.campaign.sources.entry.ModelEntry`."""

    model: str
    jobs: int
    processors: int
    estimates: str

    def specification(self) -> dict[str, Any]:
        """Return what makes it what it is."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Stochastic:
    """Jobs whose run times follow laws; parameters as for `schedlab.speculate.generate.stochastic_jobs`."""

    applications: tuple[Application, ...]
    processors: int

    def specification(self) -> dict[str, Any]:
        """Return what makes it what it is."""
        return {"model": "stochastic", **asdict(self)}


@dataclass(frozen=True, slots=True)
class ExperimentSource:
    """One variant of an experiment; parameters not described here are those of `ExperimentEntry`.

    The places of its files are not part of what it is.

    Parameters
    ----------
    label
        What it is called whatever the handling.
    model, model_sha256
        The workload model, a file or a name, and the fingerprint of its content.
    workflows
        Place, fingerprint of the content and share of each kind.
    presence
        Seconds of the period, or the share, of workflows; None without workflows.
    """

    label: str
    model: str
    model_sha256: str
    workflows: tuple[tuple[str, str, float], ...]
    workflow_policy: str
    presence: float | None
    handling: Handling
    fill_wait: int
    preload: int
    duration: int
    drain: int
    pressure: float
    counted: Literal["useful", "reserved"]
    rules: Literal["corrected", "scsf"]

    def specification(self) -> dict[str, Any]:
        """Return what makes it what it is."""
        facts = {name: value for name, value in asdict(self).items() if name not in ("label", "model")}
        kinds = [[sha256, share] for _, sha256, share in self.workflows]
        return {"model": "experiment", **facts, "workflows": kinds}


Source = Trace | Model | Stochastic | ExperimentSource
