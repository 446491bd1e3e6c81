"""What a campaign is: workloads, how they are sampled, and schedulers; the fields of a campaign file.

A campaign is a grid. Its rows are *instances* of workloads: sources (logs, models) x offered loads x repetitions x
windows. Its columns are schedulers. Every scheduler sees the same instances, so that differences between schedulers are
differences between schedulers (common random numbers).
"""

from __future__ import annotations

import itertools
import math
import re
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    field_validator,
    model_validator,
)

from schedlab.campaign.sources.entry import ModelEntry, StochasticEntry, TraceEntry
from schedlab.campaign.sources.experiment import ExperimentEntry
from schedlab.campaign.sources.fields import Duration, Section, Texts, listed, seconds
from schedlab.imports import named_classes
from schedlab.naming import checked_name, distinct_labels, label_of, split_name
from schedlab.schedule.groups import class_metric_names
from schedlab.schedule.metrics import TAU, metric_names
from schedlab.schedule.own_metrics import as_metric
from schedlab.scheduler.agent import with_whole_path
from schedlab.scheduler.compatible import refusal
from schedlab.scheduler.grammar import BACKFILLING
from schedlab.scheduler.policy_file import with_formulas
from schedlab.scheduler.scheduler import Scheduler

MOST_SCHEDULERS = 10_000
"""Of a campaign: all of them are parsed before anything runs."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class SchedulerGrid(Section):
    """Schedulers by their parts; lists multiply.

    An `order` is for EASY alone. `order_runtimes` are the run times that policy and order assume, if not `runtimes`.

    Examples
    --------
    >>> SchedulerGrid(policy=["fcfs", "saf"], backfill=["none", "easy"]).texts()
    ['fcfs', 'fcfs+easy', 'saf', 'saf+easy']
    >>> SchedulerGrid(policy="saf", backfill=["none", "easy"], order_runtimes=["similar", "actual"]).texts()
    ['saf@similar', 'saf@actual', 'saf@similar+easy@requested', 'saf@actual+easy@requested']
    """

    policy: Texts
    backfill: Texts = ("none",)
    order: Texts = ()
    order_runtimes: Texts = ()
    runtimes: Texts = ("requested",)
    starvation: Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(listed)] = ()
    window: Annotated[tuple[Annotated[int, Field(ge=1)], ...], BeforeValidator(listed)] = ()

    @field_validator("policy", "order")
    @classmethod
    def _formulas(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(with_whole_path(with_formulas(text)) for text in value)

    @field_validator("backfill")
    @classmethod
    def _known_backfill(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        known = ("none", *BACKFILLING)
        for name in value:
            if name.partition("(")[0] not in known:
                raise ValueError(f"unknown backfilling {name!r}; known are {', '.join(known)}")
        return value

    @model_validator(mode="after")
    def _known_schedulers(self) -> SchedulerGrid:
        if self.order and "easy" not in self.backfill:
            raise ValueError("an order of candidates belongs to easy backfilling; add it, or leave order out")
        if len(self) > MOST_SCHEDULERS:
            raise ValueError(f"the lists make {len(self):,} schedulers; {MOST_SCHEDULERS:,} are the most")
        for text in self.texts():
            Scheduler.parse(text)
        return self

    def __len__(self) -> int:
        lists = (self.policy, self.backfill, self.order, self.runtimes, self.starvation, self.window)
        return math.prod(max(len(values), 1) for values in lists)

    def texts(self) -> list[str]:
        """Return the scheduler texts of all combinations, the last list running fastest."""
        parts = (self.policy, self.backfill, self.order or (None,), self.order_runtimes or (None,), self.runtimes)
        options = (self.starvation or (None,), self.window or (None,))
        return [self._text(*chosen) for chosen in itertools.product(*parts, *options)]

    @staticmethod
    def _text(
        policy: str,
        backfill: str,
        order: str | None,
        order_runtimes: str | None,
        runtimes: str,
        starvation: int | None,
        window: int | None,
    ) -> str:
        text = policy
        if backfill == "none":
            runtimes, order_runtimes = order_runtimes or runtimes, None
        else:
            text += f"@{order_runtimes}" if order_runtimes else ""
            text += f"+{backfill}" + (f":{order}" if order and backfill == "easy" else "")
        if runtimes != "requested" or order_runtimes:
            text += f"@{runtimes}"
        for name, value in (("starvation", starvation), ("window", window)):
            text += f",{name}={value}" if value is not None else ""
        return text


def _with_names(schedulers: Any) -> Any:
    """Return a list of schedulers, given as a list, as one, or as a table of names and texts."""
    if isinstance(schedulers, dict) and schedulers and not schedulers.keys() & SchedulerGrid.model_fields.keys():
        return [f"{checked_name(name)}={text}" if isinstance(text, str) else text for name, text in schedulers.items()]
    return listed(schedulers)


def _form(item: Any) -> str:
    return "<text>" if isinstance(item, str) else "<parts>"


SchedulerEntry = Annotated[
    Annotated[str, AfterValidator(lambda text: Scheduler.parse(with_whole_path(text)).text), Tag("<text>")]
    | Annotated[SchedulerGrid, Tag("<parts>")],
    Discriminator(_form),
]


KINDS = {"stochastic": "<stochastic>", "experiment": "<experiment>"}
"""Tags of kinds of entries that are generated, all others being models."""


def _kind(entry: Any) -> str:
    """Return the tag of an entry's kind, which is no name of a field: it stands in the places that errors name."""
    generated = entry.get("generate") if isinstance(entry, dict) else getattr(entry, "generate", None)
    return "<trace>" if generated is None else KINDS.get(str(generated), "<generate>")


WorkloadEntry = Annotated[
    Annotated[TraceEntry, Tag("<trace>")]
    | Annotated[ModelEntry, Tag("<generate>")]
    | Annotated[StochasticEntry, Tag("<stochastic>")]
    | Annotated[ExperimentEntry, Tag("<experiment>")],
    Discriminator(_kind),
]


class Metrics(Section):
    """How schedules are measured, see `schedlab.schedule.metrics.schedule_metrics`.

    Parameters
    ----------
    warm_up, cool_down
        Shares of the jobs (below 1) or durations that do not count.
    tau
        Bound of the bounded slowdown, in seconds.
    own
        Metrics of the user's own, as texts MODULE:FUNCTION, see `schedlab.schedule.own_metrics.OwnMetric`.
    main
        The metric that tables and reports are about, unless one asks for another.
    """

    warm_up: Annotated[float, BeforeValidator(seconds), Field(ge=0, allow_inf_nan=False)] = 0
    cool_down: Annotated[float, BeforeValidator(seconds), Field(ge=0, allow_inf_nan=False)] = 0
    tau: Annotated[int, Field(ge=1)] = TAU
    own: Texts = ()
    main: str = "mean_bounded_slowdown"

    @field_validator("own")
    @classmethod
    def _own_metrics(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(as_metric(text).name for text in value)

    @field_validator("main")
    @classmethod
    def _known_metric(cls, value: str, info: ValidationInfo) -> str:
        known = [*metric_names(), *class_metric_names(), *info.data.get("own", ())]
        if value not in known:
            near = get_close_matches(value, known, 1)
            raise ValueError(
                f"unknown metric {value!r}; " + (f"do you mean {near[0]}?" if near else "see the reference")
            )
        return value

    @model_validator(mode="after")
    def _something_remains(self) -> Metrics:
        if self.warm_up < 1 and self.cool_down < 1 and self.warm_up + self.cool_down >= 1:
            raise ValueError(f"warm_up {self.warm_up:g} and cool_down {self.cool_down:g} leave no jobs")
        return self


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
        ignored. A text may begin with a name: "today=fcfs+easy".
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
    schedules
        Whether whole schedules are kept, one file each.
    timeout
        Seconds, or a text such as "10 min", after which a simulation is given up.

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
    schedulers: Annotated[tuple[SchedulerEntry, ...], BeforeValidator(_with_names)]
    baseline: str | None = None
    metrics: Metrics = Metrics()
    events: Literal["batched", "pyss", "sc17"] = "batched"
    engine: Literal["schedlab", "slurm"] = "schedlab"
    schedules: bool = False
    timeout: Duration | None = None

    @field_validator("name")
    @classmethod
    def _names_a_directory(cls, value: str) -> str:
        if not _NAME.fullmatch(value) or value.startswith("index.sqlite"):
            raise ValueError(f"{value!r} is not a name; take letters, digits and . _ - (it names a directory)")
        return value

    @field_validator("workloads")
    @classmethod
    def _some_workload(cls, value: tuple[WorkloadEntry, ...]) -> tuple[WorkloadEntry, ...]:
        if not value:
            raise ValueError("the grid is empty: there is no workload")
        return value

    @field_validator("schedulers")
    @classmethod
    def _some_scheduler(cls, value: tuple[str | SchedulerGrid, ...]) -> tuple[str | SchedulerGrid, ...]:
        texts = _canonical(value)
        if not texts:
            raise ValueError("the grid is empty: there is no scheduler")
        distinct_labels(texts)
        return value

    @field_validator("baseline")
    @classmethod
    def _canonical_baseline(cls, value: str | None, info: ValidationInfo) -> str | None:
        named = distinct_labels(_canonical(info.data.get("schedulers", ())))
        if value is None or value in named:
            return value
        text = Scheduler.parse(with_whole_path(value)).text
        same = [label for label, known in named.items() if text in (known, split_name(known)[1])]
        return same[0] if same else text

    @model_validator(mode="after")
    def _baseline_is_there(self) -> Campaign:
        if self.baseline is not None and self.baseline not in map(label_of, self.scheduler_texts()):
            raise ValueError(f"the baseline {self.baseline} is not among the schedulers")
        return self

    @model_validator(mode="after")
    def _what_slurm_can(self) -> Campaign:
        if self.engine == "slurm":
            from schedlab.slurm.translation import check_scheduler

            if self.events != "batched":
                raise ValueError(f"the real Slurm has its own order of events; leave events = {self.events!r} out")
            for text in self.scheduler_texts():
                check_scheduler(Scheduler.parse(text))
        return self

    @model_validator(mode="after")
    def _schedulers_for_workloads(self) -> Campaign:
        for number, entry in enumerate(self.workloads):
            for scheduler in map(Scheduler.parse, self.scheduler_texts()):
                if reason := refusal(scheduler, events=self.events, dependencies=entry.has_dependencies):
                    where = f"workloads[{number}]: " if entry.has_dependencies else ""
                    raise ValueError(f"{where}{reason}")
                if scheduler.needs_laws and not entry.has_laws:
                    raise ValueError(
                        f"{scheduler} is for jobs whose run times follow a law, and workloads[{number}] has none: "
                        "give a trace laws = FILE, or take the scheduler or the workload out"
                    )
        return self

    def scheduler_texts(self) -> list[str]:
        """Return the canonical texts of all schedulers, each once, in the order given."""
        return _canonical(self.schedulers)

    def named_classes(self) -> list[str]:
        """Return the classes and functions of the user's own that it names, each once."""
        texts = [*self.scheduler_texts(), *self.metrics.own]
        return list(dict.fromkeys(itertools.chain.from_iterable(map(named_classes, texts))))

    @property
    def compared_with(self) -> str:
        """The scheduler that the others are compared with, as results name it."""
        return self.baseline or label_of(self.scheduler_texts()[0])


def _canonical(schedulers: tuple[str | SchedulerGrid, ...]) -> list[str]:
    texts = itertools.chain.from_iterable([item] if isinstance(item, str) else item.texts() for item in schedulers)
    return list(dict.fromkeys(Scheduler.parse(text).text for text in texts))


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
