"""Logs as workloads of a campaign: found, read, cleaned, and scaled or resampled."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, field_validator, model_validator

from schedlab.campaign.sources.entry import Entry
from schedlab.campaign.sources.fields import Section, Texts, expanded
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.machine import MachineFiles, cluster_in
from schedlab.cluster.cluster import Cluster
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.engine.parts.limits.refusal import why_left_out
from schedlab.errors import InputError
from schedlab.speculate.assignment import assign_distributions, jobs_beyond_distributions, read_distributions
from schedlab.streams import file_sha256, workload_name
from schedlab.workload.checkpoint_rules import parse_checkpoint_rules, with_checkpoints
from schedlab.workload.cleaning import clean, parse_rules
from schedlab.workload.preceding import preceding_jobs
from schedlab.workload.reading import AS_IT_IS, Reading
from schedlab.workload.sampling import resample_users, scale_load
from schedlab.workload.workload import Workload


def _pairs(columns: Any) -> Any:
    """Return a table of columns as texts FIELD=COLUMN."""
    return [f"{field}={column}" for field, column in columns.items()] if isinstance(columns, dict) else columns


class Resample(Section):
    """Resample weeks of users for each repetition, see `schedlab.workload.sampling.resample_users`."""

    weeks: Annotated[int, Field(ge=1)] | None = None
    profile: Literal["trace", "span"] = "trace"


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
        Size of the machine, if it is not the one that the file gives; a cluster has its own.
    requests
        Whether jobs are killed at their requested times; by default, what the file says.
    resample
        Resample users' weeks in each repetition; true for the defaults.
    distributions
        A file that says which applications follow which run-time distribution, see
        `schedlab.speculate.assignment.read_distributions`; its path is like that of a trace.
    dependencies
        "preceding" lets jobs wait for their preceding jobs, see `schedlab.workload.preceding.preceding_jobs`.
    checkpoints
        Rules of the checkpoints of jobs, see `schedlab.workload.checkpoint_rules.parse_checkpoint_rules`.
    partition, timezone, default_limit, lenient, column
        How the log is read, see `schedlab.workload.reading.Reading`; `column` may be a table.
    """

    trace: Texts
    clean: str = "default"
    processors: Annotated[int, Field(ge=1)] | None = None
    requests: Literal["enforced", "advisory"] | None = None
    resample: Resample | None = None
    distributions: str | None = None
    dependencies: Literal["none", "preceding"] = "none"
    checkpoints: str | None = None
    partition: Texts = ()
    timezone: str | None = None
    default_limit: Texts = ()
    lenient: bool = False
    column: Annotated[Texts, BeforeValidator(_pairs)] = ()

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

    @field_validator("checkpoints")
    @classmethod
    def _known_checkpoints(cls, value: str | None) -> str | None:
        if value is not None:
            parse_checkpoint_rules(value)
        return value

    @field_validator("resample", mode="before")
    @classmethod
    def _flag_or_resample(cls, value: Any) -> Any:
        return {} if value is True else None if value is False else value

    @model_validator(mode="after")
    def _random(self) -> TraceEntry:
        if self.repetitions is not None and self.repetitions > 1 and not self.random:
            raise ValueError("repetitions of a log would all be equal: add resample or failures, or remove repetitions")
        return self

    @model_validator(mode="after")
    def _one_machine(self) -> TraceEntry:
        if self.cluster is not None and self.processors is not None:
            raise ValueError("the cluster says how many processors there are: remove processors, or cluster")
        return self

    @model_validator(mode="after")
    def _jobs_that_wait(self) -> TraceEntry:
        if self.dependencies != "none" and (self.resample or (self.windows and self.windows.state)):
            raise ValueError("jobs with dependencies cannot be resampled or form an initial state: remove dependencies")
        return self

    @property
    def random(self) -> bool:
        """Whether weeks of users or failures are drawn."""
        return self.resample is not None or self.failures is not None

    @property
    def users(self) -> dict[str, Any] | None:
        """How weeks of users are resampled; None if they are not."""
        return None if self.resample is None else self.resample.model_dump()

    @property
    def has_distributions(self) -> bool:
        """Whether a file gives jobs run-time distributions."""
        return self.distributions is not None

    @property
    def has_dependencies(self) -> bool:
        """Whether jobs wait for their preceding jobs."""
        return self.dependencies != "none"

    def missing(self, base: Path) -> list[str]:
        """Return the patterns that match no file."""
        return [pattern for pattern in self.trace if not _matches(pattern, base)]

    def inputs(self, number: int, base: Path, known: Mapping[str, Input], machine: MachineFiles) -> Iterator[Input]:
        """Read each log once, and yield what is known of it."""
        paths = list(dict.fromkeys(path for pattern in self.trace for path in _matches(pattern, base)))
        distributions = "" if self.distributions is None else str(base / expanded(self.distributions))
        for path in paths:
            stem = workload_name(path)
            name = stem if self.name is None else self.name if len(paths) == 1 else f"{self.name}/{stem}"
            yield self._input(number, name, path, distributions, machine, known.get(path))

    def _input(
        self, number: int, name: str, path: str, distributions: str, machine: MachineFiles, known: Input | None
    ) -> Input:
        sha256, distributions_sha256 = file_sha256(path), file_sha256(distributions) if distributions else ""
        if known is not None and (known.sha256, known.distributions_sha256, known.workload) == (
            sha256,
            distributions_sha256,
            name,
        ):
            return known
        jobs, left_out = self._read(path, distributions, cluster_in(machine))
        if jobs.processors is None:
            raise InputError(f"{path}: the size of the machine is unknown; give processors in the entry of {name}")
        count = self.window_count(name, jobs if not self.load and self.resample is None else None)
        beyond, with_distribution = jobs_beyond_distributions(jobs)
        facts = (
            name,
            number,
            path,
            sha256,
            len(jobs),
            jobs.processors,
            count,
            distributions,
            distributions_sha256,
            with_distribution,
        )
        return Input(*facts, beyond_distribution=beyond, machine=machine, left_out=left_out)

    def _read(self, path: str, distributions: str, cluster: Cluster | None) -> tuple[Workload, int]:
        """Return the jobs that can run, and the number of those that never could."""
        size = self.processors if cluster is None else cluster.processors
        waits, reading = self.dependencies, self._reading()
        jobs = read_trace(path, self.clean, size, self.requests, distributions, waits, reading)
        if self.checkpoints is not None:
            jobs = with_checkpoints(jobs, self.checkpoints)
        if cluster is None or self.clean == "none":
            return jobs, 0
        try:
            never = never_runs(jobs, cluster)
            left = jobs[never.codes < 0]
            if len(jobs) and not len(left):
                raise InputError("no job can run on the cluster: " + "; ".join(why_left_out(jobs, cluster, never)))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        return left, len(jobs) - len(left)

    def _reading(self) -> Reading:
        return Reading(self.partition, self.timezone, self.default_limit, self.lenient, self.column)

    def workload(self, item: Input, seed: int | None, load: float | None) -> Workload:
        """Return the jobs of a log: cleaned, then resampled, then scaled."""
        jobs = _read_unchanged(self, item)
        if self.resample is not None:
            weeks, profile = self.resample.weeks, self.resample.profile
            jobs = resample_users(jobs, rng=np.random.default_rng(seed), weeks=weeks, profile=profile)
        return jobs if load is None else scale_load(jobs, load=load)

    def specification(self, item: Input) -> dict[str, Any]:
        """Return the fingerprint of the log, and how it is read."""
        read_as = {"clean": self.clean, "processors": self.processors, "requests": self.requests}
        # Fields that came later stand there only if they are used: names of older results stay as they were.
        later = {"distributions_sha256": item.distributions_sha256, "dependencies": self.dependencies}
        later |= {"checkpoints": self.checkpoints} | asdict(self._reading())
        usual = {"distributions_sha256": "", "dependencies": "none", "checkpoints": None} | asdict(AS_IT_IS)
        used = {name: value for name, value in later.items() if value != usual[name]}
        return {"sha256": item.sha256, **read_as, **used}


@lru_cache(maxsize=1)
def _read_unchanged(entry: TraceEntry, item: Input) -> Workload:
    workload, _ = entry._read(item.path, item.distributions, cluster_in(item.machine))
    for path, sha256 in ((item.path, item.sha256), (item.distributions, item.distributions_sha256)):
        if path and file_sha256(path) != sha256:
            raise InputError(f"{path} has changed since the campaign was planned; run the campaign again")
    return workload


def _matches(pattern: str, base: Path) -> list[str]:
    """Return the files that a pattern matches, sorted."""
    name = expanded(pattern)
    # A file may have brackets in its name, and so may the directory that patterns start from.
    names = [name] if (base / name).is_file() else glob.glob(name, root_dir=base)
    return sorted(str(base / name) for name in names if (base / name).is_file())


def read_trace(
    path: str,
    rules: str,
    processors: int | None,
    requests: str | None,
    distributions: str = "",
    dependencies: str = "none",
    reading: Reading = AS_IT_IS,
) -> Workload:
    """Read and clean a log as an entry says; parameters as for `TraceEntry`, no file of distributions if empty."""
    workload = reading.read(path, processors)
    try:
        if dependencies == "preceding":
            workload = workload.replace(dependencies=preceding_jobs(workload)[0])
        workload = clean(workload, rules)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if distributions:
        workload = assign_distributions(workload, read_distributions(distributions))
    return workload if requests is None else workload.replace(requests_enforced=requests == "enforced")
