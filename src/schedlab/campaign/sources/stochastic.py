"""Jobs with known run-time distributions as a workload of a campaign."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, field_validator, model_validator

from schedlab.campaign.sources.entry import Entry
from schedlab.campaign.sources.fields import LONGEST, Section, seconds
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.machine import MachineFiles
from schedlab.speculate.distributions import RunTimeDistribution
from schedlab.speculate.generate import Application, stochastic_jobs
from schedlab.workload.workload import Workload


class ApplicationTable(Section):
    """Jobs of one run-time distribution; the fields are those of `schedlab.speculate.generate.Application`."""

    distribution: str
    jobs: Annotated[int, Field(ge=1, lt=2**53)]
    processors: Annotated[int, Field(ge=1)] | Literal["full", "half", "truncnorm", "beta"] = "full"
    over: Annotated[float, BeforeValidator(seconds), Field(ge=0, le=LONGEST, allow_inf_nan=False)] = 0
    requests: Literal["method", "longest", "exact"] = "method"

    @field_validator("distribution")
    @classmethod
    def _canonical_distribution(cls, value: str) -> str:
        return RunTimeDistribution.parse(value).text

    def application(self) -> Application:
        """Return what the generator is told."""
        return Application(self.distribution, self.jobs, self.processors, int(self.over), self.requests)


class StochasticEntry(Entry):
    """Jobs of applications with known run-time distributions, other ones in each repetition.

    Parameters
    ----------
    generate
        "stochastic", see `schedlab.speculate.generate.stochastic_jobs`.
    processors
        Size of the machine.
    applications
        One or more.
    """

    generate: Literal["stochastic"]
    processors: Annotated[int, Field(ge=1)]
    applications: tuple[ApplicationTable, ...]

    @field_validator("applications")
    @classmethod
    def _some_application(cls, value: tuple[ApplicationTable, ...]) -> tuple[ApplicationTable, ...]:
        if not value:
            raise ValueError("the list of applications is empty")
        return value

    @model_validator(mode="after")
    def _possible(self) -> StochasticEntry:
        if self.load:
            raise ValueError("the load of stochastic jobs follows from their distributions and numbers: remove load")
        for one in self.applications:
            if isinstance(one.processors, int) and one.processors > self.processors:
                raise ValueError(f"jobs of {one.processors} processors do not fit a machine of {self.processors}")
        return self

    @property
    def has_distributions(self) -> bool:
        """Whether some jobs ask by the method of the scheduler."""
        return any(one.requests == "method" for one in self.applications)

    @property
    def jobs(self) -> int:
        """How many there are."""
        return sum(one.jobs for one in self.applications)

    def inputs(self, number: int, base: Path, known: Mapping[str, Input], machine: MachineFiles) -> Iterator[Input]:
        """Yield the one workload; no file is read."""
        name = self.name or self.generate
        yield Input(name, number, "", "", self.jobs, self.processors, self.window_count(name), machine=machine)

    def workload(self, item: Input, seed: int | None, load: float | None) -> Workload:
        """Return the jobs of all applications."""
        applications = tuple(one.application() for one in self.applications)
        return stochastic_jobs(applications, self.processors, rng=np.random.default_rng(seed))

    def specification(self, item: Input) -> dict[str, Any]:
        """Return the applications and the size of the machine."""
        applications = [asdict(one.application()) for one in self.applications]
        return {"model": self.generate, "applications": applications, "processors": self.processors}
