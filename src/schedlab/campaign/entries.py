"""Where the jobs of a campaign come from: the entries of its list of workloads."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from schedlab.campaign.fields import LONGEST, Duration, Loads, Section, Texts, seconds
from schedlab.durations import DAY
from schedlab.speculate.generate import Application
from schedlab.speculate.laws import Law
from schedlab.workload.cleaning import parse_rules

GENERATORS = ("lublin", "stochastic", "experiment")
"""What `generate` may be, in whatever kind of entry."""


def _known_generator(value: Any) -> Any:
    if value not in GENERATORS:
        raise ValueError(f"unknown generator {value!r}; known are {', '.join(GENERATORS)}")
    return value


class Windows(Section):
    """Cut each workload into consecutive sequences, see `schedlab.workload.sampling.windows`.

    Parameters
    ----------
    length
        Of a sequence: seconds, or a text such as "15d".
    count
        How many, from the head of the workload, or "all".
    state
        Jobs at the head of each that fill the machine: they start in order of submission and are not counted.
    skip
        Numbers, from 0, of those to leave out.
    """

    length: Duration = 15 * DAY
    count: Annotated[int, Field(ge=1)] | Literal["all"] = 10
    state: Annotated[int, Field(ge=0)] = 0
    skip: tuple[Annotated[int, Field(ge=0)], ...] = ()


class Resample(Section):
    """Draw weeks of users anew for each repetition, see `schedlab.workload.sampling.resample_users`."""

    weeks: Annotated[int, Field(ge=1)] | None = None
    profile: Literal["trace", "span"] = "trace"


class Entry(Section):
    """What the entries of all kinds of workloads have in common.

    Parameters
    ----------
    name
        How results call it; by default, the name of the file or the model.
    load
        Offered loads to scale to, one or several, doubles count once; without it, the load is what it is.
    repetitions
        How often what is random is drawn.
    windows
        How to cut it; without it, it is simulated whole.
    """

    name: str | None = None
    load: Loads = ()
    repetitions: Annotated[int, Field(ge=1)] | None = None
    windows: Windows | None = None

    @property
    def has_dependencies(self) -> bool:
        """Whether some jobs wait for others, as far as that is known before anything is read."""
        return False

    @field_validator("name")
    @classmethod
    def _one_line(cls, value: str | None) -> str | None:
        if value is not None and (not value.strip() or not value.isprintable()):
            raise ValueError(f"{value!r} is not a name; take letters, digits and signs on one line")
        return value

    @field_validator("windows", mode="before")
    @classmethod
    def _flag_or_table(cls, value: Any) -> Any:
        return {} if value is True else None if value is False else value

    @model_validator(mode="after")
    def _countable(self) -> Entry:
        if self.windows and self.windows.count == "all" and (self.load or getattr(self, "resample", None)):
            raise ValueError("windows with count = 'all' cannot be combined with load or resample; give a number")
        return self


class TraceEntry(Entry):
    """One or more logs.

    Parameters
    ----------
    trace
        Files, patterns such as "logs/*.swf.gz", or a list of these; relative to the campaign file. `~` and environment
        variables are expanded.
    clean
        Rules of cleaning, as for `schedlab.workload.cleaning.clean`.
    processors
        Size of the machine, if it is not the one that the file gives.
    requests
        Whether jobs are killed at their requested times; by default, what the file says.
    resample
        Draw users' weeks anew in each repetition; true for the defaults.
    laws
        A file that says which applications follow which law of run times, see
        `schedlab.speculate.assignment.read_laws`; its path is like that of a trace.
    dependencies
        "preceding" lets jobs wait for their preceding jobs, see `schedlab.workload.preceding.preceding_jobs`.
    """

    trace: Texts
    clean: str = "default"
    processors: Annotated[int, Field(ge=1)] | None = None
    requests: Literal["enforced", "advisory"] | None = None
    resample: Resample | None = None
    laws: str | None = None
    dependencies: Literal["none", "preceding"] = "none"

    @field_validator("trace")
    @classmethod
    def _some_trace(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value:
            raise ValueError("the list of traces is empty")
        return value

    @field_validator("clean")
    @classmethod
    def _known_rules(cls, value: str) -> str:
        parse_rules(value)
        return value

    @field_validator("resample", mode="before")
    @classmethod
    def _flag_or_resample(cls, value: Any) -> Any:
        return {} if value is True else None if value is False else value

    @model_validator(mode="after")
    def _random(self) -> TraceEntry:
        if self.repetitions is not None and self.repetitions > 1 and self.resample is None:
            raise ValueError("a log has nothing random to repeat; add resample, or leave repetitions out")
        return self

    @model_validator(mode="after")
    def _jobs_that_wait(self) -> TraceEntry:
        if self.dependencies != "none" and (self.resample or (self.windows and self.windows.state)):
            raise ValueError("jobs that wait for others cannot be resampled or form a state; leave dependencies out")
        return self

    @property
    def has_laws(self) -> bool:
        """Whether run times of some jobs follow a law."""
        return self.laws is not None


class ModelEntry(Entry):
    """Jobs drawn from a model, anew in each repetition.

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

    generate: Annotated[Literal["lublin"], BeforeValidator(_known_generator)]
    jobs: Annotated[int, Field(ge=1)]
    processors: Annotated[int, Field(ge=1)]
    estimates: Literal["tsafrir", "exact"] = "tsafrir"

    @property
    def has_laws(self) -> bool:
        """Whether run times of some jobs follow a law: none does that a scheduler knows."""
        return False


class ApplicationTable(Section):
    """Jobs whose run times follow one law; the fields are those of `schedlab.speculate.generate.Application`."""

    law: str
    jobs: Annotated[int, Field(ge=1)]
    processors: Annotated[int, Field(ge=1)] | Literal["full", "half", "truncnorm", "beta"] = "full"
    over: Annotated[float, BeforeValidator(seconds), Field(ge=0, le=LONGEST, allow_inf_nan=False)] = 0
    requests: Literal["method", "longest", "exact"] = "method"

    @field_validator("law")
    @classmethod
    def _canonical_law(cls, value: str) -> str:
        return Law.parse(value).text

    def application(self) -> Application:
        """Return what the generator is told."""
        return Application(self.law, self.jobs, self.processors, int(self.over), self.requests)


class StochasticEntry(Entry):
    """Jobs of applications whose run times follow laws, drawn anew in each repetition.

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
            raise ValueError("the load of stochastic jobs follows from their laws and numbers; leave load out")
        for one in self.applications:
            if isinstance(one.processors, int) and one.processors > self.processors:
                raise ValueError(f"jobs of {one.processors} processors do not fit on a machine of {self.processors}")
        return self

    @property
    def has_laws(self) -> bool:
        """Whether some jobs ask by the method of the scheduler."""
        return any(one.requests == "method" for one in self.applications)

    @property
    def jobs(self) -> int:
        """How many there are."""
        return sum(one.jobs for one in self.applications)
