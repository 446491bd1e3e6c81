"""Jobs of a statistical model as a workload of a campaign."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from schedlab.campaign.sources.entry import Entry
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.machine import MachineFiles
from schedlab.model.lublin_feitelson import lublin
from schedlab.model.tsafrir import tsafrir_estimates
from schedlab.workload.cleaning import clean
from schedlab.workload.workload import Workload


class ModelEntry(Entry):
    """Jobs drawn from a model, other ones in each repetition.

    Parameters
    ----------
    generate
        The model: "lublin", see `schedlab.model.lublin_feitelson.lublin`.
    jobs
        How many.
    processors
        Size of the machine.
    estimates
        Requested times: "tsafrir" draws them, see `schedlab.model.tsafrir.tsafrir_estimates`; "exact" are the run
        times.
    """

    generate: Literal["lublin"]
    jobs: Annotated[int, Field(ge=1, lt=2**53)]
    processors: Annotated[int, Field(ge=1, lt=2**53)]
    estimates: Literal["tsafrir", "exact"] = "tsafrir"

    def inputs(self, number: int, base: Path, known: Mapping[str, Input], machine: MachineFiles) -> Iterator[Input]:
        """Yield the one workload; no file is read."""
        name = self.name or self.generate
        yield Input(name, number, "", "", self.jobs, self.processors, self.window_count(name), machine=machine)

    def workload(self, item: Input, seed: int | None, load: float | None) -> Workload:
        """Return jobs at the offered load, which does not change which jobs are drawn, and their requested times."""
        rng = np.random.default_rng(seed)
        jobs = lublin(self.jobs, self.processors, rng=rng, load=load)
        return tsafrir_estimates(jobs, rng=rng) if self.estimates == "tsafrir" else clean(jobs, "fill-request")

    def specification(self, item: Input) -> dict[str, Any]:
        """Return the model and its parameters."""
        size = {"jobs": self.jobs, "processors": self.processors}
        return {"model": self.generate, **size, "estimates": self.estimates}
