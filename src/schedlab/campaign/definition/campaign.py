"""What a campaign is: workloads, how they are sampled, and schedulers; the fields of a campaign file.

A campaign is a grid. Its rows are *instances* of workloads: sources (logs, models) x offered loads x repetitions x
windows. Its columns are schedulers. Every scheduler sees the same instances, so that differences between schedulers are
differences between schedulers (common random numbers).
"""

from __future__ import annotations

import itertools
import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from schedlab.campaign.definition.metrics import Metrics
from schedlab.campaign.definition.schedulers import SchedulerEntry, SchedulerGrid, canonical_texts, with_names
from schedlab.campaign.sources.fields import Duration, Section, listed
from schedlab.campaign.sources.kinds import WorkloadEntry
from schedlab.imports import named_classes
from schedlab.naming import distinct_labels, label_of, split_name
from schedlab.scheduler.agent import with_whole_path
from schedlab.scheduler.compatible import refusal
from schedlab.scheduler.scheduler import Scheduler
from schedlab.scheduler.slurm_versions import NEWEST

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Campaign(Section):
    """A campaign: every scheduler on every instance of every workload.

    Parameters
    ----------
    name
        Of the campaign, and of its run directory.
    workloads
        Entries: tables with `trace` or with `generate`, see `schedlab.campaign.sources.entry`.
    schedulers
        Scheduler texts and tables of their parts (see `SchedulerGrid`), or a table of names and texts; duplicates are
        ignored. A text may begin with a name: "today=fcfs+easy". In Python, also `Scheduler` objects; own policies,
        passes and predictors in them must be in modules that workers can import.
    baseline
        The scheduler that the others are compared with, by its name or text; by default, the first.
    description
        A sentence for the report: what is asked.
    seed
        Of everything that is random; results record what came of it.
    repetitions
        Of random workloads that do not say how many.
    metrics
        How schedules are measured.
    events
        Order of events, as for `schedlab.simulate`.
    engine
        "slurm": every simulation is run on the real Slurm instead, see `schedlab.slurm.run`.
    slurm
        The version of Slurm that schedulers follow whose text names none (default: the newest known); with
        engine="slurm", which Slurm runs (default: see `schedlab.slurm.run`).
    schedules
        Whether whole schedules are kept, one file each.
    timeout
        Seconds, or a text such as "10 min", after which a simulation is stopped and counts as failed.

    Raises
    ------
    pydantic.ValidationError
        If a field is unknown or wrong.

    Examples
    --------
    >>> campaign = Campaign(
    ...     name="small", schedulers=["easy", {"policy": ["saf", "spf"], "backfill": "easy"}],
    ...     workloads=[{"generate": "lublin", "jobs": 100, "processors": 64, "load": [0.7, 0.9], "repetitions": 5}])
    >>> campaign.scheduler_texts()
    ['fcfs+easy', 'saf+easy', 'spf+easy']
    """

    name: str
    description: str = ""
    seed: Annotated[int, Field(ge=0)] = 1
    repetitions: Annotated[int, Field(ge=1)] = 1
    workloads: tuple[WorkloadEntry, ...]
    schedulers: Annotated[tuple[SchedulerEntry, ...], BeforeValidator(with_names)]
    baseline: str | None = None
    metrics: Metrics = Metrics()
    events: Literal["batched", "pyss", "sc17"] = "batched"
    engine: Literal["schedlab", "slurm"] = "schedlab"
    slurm: Literal["22.05", "24.11", "26.05"] | None = None
    schedules: bool = False
    timeout: Duration | None = None

    @field_validator("name")
    @classmethod
    def _names_a_directory(cls, value: str) -> str:
        if not is_campaign_name(value):
            raise ValueError(
                f"{value!r} is not a valid name: use letters, digits and . _ - (it becomes the name of a directory)"
            )
        return value

    @field_validator("workloads")
    @classmethod
    def _some_workload(cls, value: tuple[WorkloadEntry, ...]) -> tuple[WorkloadEntry, ...]:
        if not value:
            raise ValueError("the campaign has no workload: add an entry to workloads")
        return value

    @field_validator("schedulers")
    @classmethod
    def _some_scheduler(cls, value: tuple[str | SchedulerGrid, ...]) -> tuple[str | SchedulerGrid, ...]:
        texts = canonical_texts(value)
        if not texts:
            raise ValueError("the campaign has no scheduler: add one to schedulers")
        distinct_labels(texts)
        return value

    @field_validator("baseline")
    @classmethod
    def _canonical_baseline(cls, value: str | None, info: ValidationInfo) -> str | None:
        named = distinct_labels(canonical_texts(info.data.get("schedulers", ())))
        if value is None or value in named:
            return value
        text = Scheduler.parse(with_whole_path(value)).text
        same = [label for label, known in named.items() if text in (known, split_name(known)[1])]
        return same[0] if same else text

    @model_validator(mode="after")
    def _baseline_is_there(self) -> Campaign:
        if self.baseline is not None and self.baseline not in map(label_of, self.scheduler_texts()):
            raise ValueError(f"the baseline {self.baseline} is not one of the schedulers")
        return self

    @field_validator("slurm")
    @classmethod
    def _newest_slurm(cls, value: str | None, info: ValidationInfo) -> str | None:
        return NEWEST if value is None and info.data.get("engine") == "schedlab" else value

    @model_validator(mode="after")
    def _what_slurm_can(self) -> Campaign:
        if self.engine == "slurm":
            from schedlab.slurm.translation import check_scheduler

            if any(entry.cluster is not None for entry in self.workloads):
                raise ValueError(
                    "on the real Slurm, campaigns run on a number of processors: remove cluster; what-if questions to "
                    "a site can be confirmed there on its nodes"
                )
            if any(entry.enforce_cap for entry in self.workloads):
                raise ValueError("on the real Slurm, campaigns keep to no power cap: remove enforce_cap")
            if self.events != "batched":
                raise ValueError(f"the real Slurm has its own event order: remove events = {self.events!r}")
            for text in self.scheduler_texts():
                check_scheduler(Scheduler.parse(text))
        return self

    @model_validator(mode="after")
    def _schedulers_for_workloads(self) -> Campaign:
        for number, entry in enumerate(self.workloads):
            for scheduler in map(Scheduler.parse, self.scheduler_texts()):
                if reason := refusal(
                    scheduler,
                    events=self.events,
                    dependencies=entry.has_dependencies,
                    nodes=entry.cluster is not None,
                ):
                    where = f"workloads[{number}]: " if entry.has_dependencies or entry.cluster is not None else ""
                    raise ValueError(f"{where}{reason}")
                if scheduler.needs_distributions and not entry.has_distributions:
                    raise ValueError(
                        f"{scheduler} is for jobs with run-time distributions, and workloads[{number}] has none: "
                        "give a trace distributions = FILE, or take the scheduler or the workload out"
                    )
        return self

    def scheduler_texts(self) -> list[str]:
        """Return the canonical texts of all schedulers, each once, in the order given."""
        return canonical_texts(self.schedulers)

    def named_classes(self) -> list[str]:
        """Return the classes and functions of the user's own that it names, each once."""
        texts = [*self.scheduler_texts(), *self.metrics.own]
        return list(dict.fromkeys(itertools.chain.from_iterable(map(named_classes, texts))))

    @property
    def compared_with(self) -> str:
        """The scheduler that the others are compared with, as results name it."""
        return self.baseline or label_of(self.scheduler_texts()[0])


def is_campaign_name(text: Any) -> bool:
    """Return whether a run directory may be called so.

    Examples
    --------
    >>> is_campaign_name("a-study"), is_campaign_name("../a"), is_campaign_name(7)
    (True, False, False)
    """
    return isinstance(text, str) and _NAME.fullmatch(text) is not None and not text.startswith("index.sqlite")


def importing_texts_in(definition: Any) -> list[str]:
    """Return all texts of a definition, which has not been checked yet, that may name what is to be imported.

    Examples
    --------
    >>> importing_texts_in({"schedulers": ["easy", {"policy": "saf", "runtimes": ["ave2"]}], "baseline": "fcfs"})
    ['fcfs', '@ave2', 'saf', 'easy']
    """
    fields = definition if isinstance(definition, dict) else {}
    rest, texts = [fields.get("schedulers"), fields.get("baseline"), fields.get("metrics")], []
    while rest:
        value = rest.pop()
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict):
            rest += [f"@{one}" if name == "runtimes" else one for name, part in value.items() for one in listed(part)]
        elif isinstance(value, list | tuple):
            rest += value
    return texts
