"""Experiments with workflows as workloads of a campaign: fields, and the variants that their lists multiply to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from schedlab.campaign.sources.entry import Entry
from schedlab.campaign.sources.experiment_files import MODELS, expected_jobs, load_model, load_workflow, place_of
from schedlab.campaign.sources.fields import LONGEST, Duration, Section, listed, seconds
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.machine import MachineFiles
from schedlab.campaign.sources.measures import Measured, Measuring
from schedlab.durations import DAY
from schedlab.errors import InputError
from schedlab.generate.experiment import Experiment
from schedlab.generate.fill import fill_count
from schedlab.generate.generation import Generated, generate_experiment
from schedlab.generate.special import special_pattern
from schedlab.model.model import WorkloadModel
from schedlab.schedule.analysis import Analysis
from schedlab.schedule.groups import class_metrics
from schedlab.schedule.metrics import schedule_metrics
from schedlab.schedule.own_metrics import as_metric, own_metrics
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.summary import duration
from schedlab.streams import file_sha256
from schedlab.workflow.workflow import Workflow
from schedlab.workload.submissions import SubmissionMode
from schedlab.workload.workload import Workload

SEED_NAME = "experiment"
"""What the seeds of all experiments are derived from, instead of the name of a workload."""

Period = Annotated[float, BeforeValidator(seconds), Field(ge=0, le=LONGEST, allow_inf_nan=False)]

SHARES_TOLERANCE = 1e-9


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


class WorkflowTable(Section):
    """A kind of workflow: its file, and its share of the submissions."""

    file: str
    share: Annotated[float, Field(gt=0, le=1)] = 1.0


def _workflow_tables(value: Any) -> Any:
    """Return files and tables without shares as tables of equal shares."""
    given = [{"file": one} if isinstance(one, str) else one for one in listed(value)]
    without = [one for one in given if isinstance(one, dict) and "share" not in one]
    if without and len(without) < len(given):
        raise ValueError("give a share to each workflow or to none")
    return tuple(one | {"share": 1 / len(given)} for one in without) or given


class ExperimentEntry(Entry):
    """Experiments as ScSF defines them: ordinary jobs of a model, and workflows among them.

    Lists of `period`, `share` and `submission_mode` multiply: each combination is a workload. All of them, and all
    entries of this kind in a campaign, draw the same ordinary jobs in the same repetition.

    Parameters
    ----------
    generate
        "experiment", see `schedlab.generate.experiment.Experiment`.
    model
        File of a workload model, relative to the campaign file, or the name of one that is built in: "edison-toy".
    workflows
        Files of workflows, or tables with `file` and `share`; shares add up to 1.
    workflow_policy
        "none", "period", "share", or a special string that replaces all other jobs.
    period
        Of workflows, one or several; durations.
    share
        Of workflows in the useful work, one or several, from 0 to 1.
    submission_mode
        How workflows are submitted, one or several of "pilot", "chained" and "aware".
    fill_wait, preload, duration, drain
        Durations: the wait that the fill phase induces, what is generated before jobs count, for how long they count,
        and until when they have to end.
    pressure
        Submitted work per work that the machine can do; 0 leaves it to the model.
    counted
        Which work of pilot jobs makes pressure: "useful", so that all modes see the same jobs and workflows, or
        "reserved", so that a pilot job makes more pressure than the other ways to submit the same workflow.
    rules
        "corrected", or "scsf" for those of the program ScSF, in generation and analysis.
    """

    generate: Literal["experiment"]
    model: str
    workflows: Annotated[tuple[WorkflowTable, ...], BeforeValidator(_workflow_tables)] = ()
    workflow_policy: str = "none"
    period: Annotated[tuple[Duration, ...], BeforeValidator(listed), AfterValidator(_distinct)] = ()
    share: Annotated[
        tuple[Annotated[float, Field(gt=0, le=1)], ...], BeforeValidator(listed), AfterValidator(_distinct)
    ] = ()
    submission_mode: Annotated[tuple[SubmissionMode, ...], BeforeValidator(listed), AfterValidator(_distinct)] = (
        "aware",
    )
    fill_wait: Period = 4 * 3_600
    preload: Period = DAY
    duration: Duration = 7 * DAY
    drain: Period = 6 * 3_600
    pressure: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    counted: Literal["useful", "reserved"] = "useful"
    rules: Literal["corrected", "scsf"] = "corrected"

    @field_validator("submission_mode")
    @classmethod
    def _some_submission_mode(cls, value: tuple[SubmissionMode, ...]) -> tuple[SubmissionMode, ...]:
        if not value:
            raise ValueError("the list of submission modes is empty; give pilot, chained or aware")
        return value

    @field_validator("fill_wait")
    @classmethod
    def _fillable(cls, value: float) -> float:
        if value >= 1:
            fill_count(int(value))
        return value

    @model_validator(mode="after")
    def _possible(self) -> ExperimentEntry:
        if self.load or self.windows:
            raise ValueError("experiments have their own pressure and sections: remove load and windows")
        if self.workflow_policy.startswith("sp-"):
            special_pattern(self.workflow_policy)
        elif self.workflow_policy not in ("none", "period", "share"):
            raise ValueError(
                f"unknown workflow_policy {self.workflow_policy!r}; known are none, period, share, sp-sat-... sp-bf-..."
            )
        for name in ("period", "share"):
            given, wanted = bool(getattr(self, name)), self.workflow_policy == name
            if given != wanted:
                raise ValueError(
                    f"workflow_policy {self.workflow_policy} "
                    + (f"needs {name}" if wanted else f"does not use {name}: remove it")
                )
        if bool(self.workflows) != (self.workflow_policy in ("period", "share")):
            what = "has no use for workflows; leave them out" if self.workflows else "needs workflows"
            raise ValueError(f"workflow_policy {self.workflow_policy} {what}")
        total = sum(table.share for table in self.workflows)
        if self.workflows and abs(total - 1) > SHARES_TOLERANCE:
            raise ValueError(f"the shares of workflows add up to {total:g}; they must add up to 1")
        return self

    @property
    def has_dependencies(self) -> bool:
        """Whether tasks of workflows are jobs that wait for others."""
        return bool(self.workflows) and any(submission_mode != "pilot" for submission_mode in self.submission_mode)

    def presences(self) -> list[float | None]:
        """Return how often workflows come: the periods or shares, or one None."""
        given: tuple[float, ...] = self.period or self.share
        return list(given) or [None]

    def variants(self) -> Iterator[tuple[float | None, SubmissionMode]]:
        """Yield presence and submission mode of each workload, modes fastest; one without workflows is alone."""
        if self.workflows:
            yield from itertools.product(self.presences(), self.submission_mode)
        else:
            yield None, self.submission_mode[0]

    def label(self, base: str, presence: float | None) -> str:
        """Return how tables call an experiment, however its workflows are submitted.

        Examples
        --------
        >>> entry = ExperimentEntry(
        ...     generate="experiment", model="edison-toy", workflows="a.json", workflow_policy="share", share=0.25)
        >>> entry.label("montage", 0.25)
        'montage/25%'
        """
        if presence is None:
            return base
        return f"{base}/{100 * presence:g}%" if self.share else f"{base}/every {duration(presence)}"

    def inputs(self, number: int, base: Path, known: Mapping[str, Input], machine: MachineFiles) -> Iterator[Input]:
        """Read the files of the experiment, and yield its variants."""
        hint = f"; built in are {', '.join(MODELS)}"
        path = self.model if self.model in MODELS else place_of(self.model, base, hint)
        model, sha256 = load_model(path)
        places = [place_of(table.file, base) for table in self.workflows]
        files = tuple((place, file_sha256(place)) for place in places)
        workflows = [load_workflow(place, fingerprint) for place, fingerprint in files]
        name = self.name or "+".join(dict.fromkeys(workflow.name for workflow in workflows)) or "no workflows"
        jobs = expected_jobs(self.workflow_policy, self.preload + self.duration, self.pressure, model)
        for variant, (presence, submission_mode) in enumerate(self.variants()):
            self._experiment(model, workflows, presence, submission_mode)  # refuses what is impossible before the runs
            label = self.label(name, presence)
            called = f"{label}/{submission_mode}" if self.workflows else label
            facts = (called, number, path, sha256, jobs, model.processors, 0)
            yield Input(*facts, variant=variant, label=label, files=files, machine=machine)

    def workload(self, item: Input, seed: int | None, load: float | None) -> Workload:
        """Return ordinary jobs, and those of workflows among them."""
        return _generated(self, item, seed).workload

    def specification(self, item: Input) -> dict[str, Any]:
        """Return the fingerprints of the files, the variant, and the fields that have one value."""
        presence, submission_mode = self.variant(item)
        kinds = [[sha256, table.share] for (_, sha256), table in zip(item.files, self.workflows, strict=True)]
        return {
            "model": self.generate,
            "model_sha256": item.sha256,
            "workflows": kinds,
            "workflow_policy": self.workflow_policy,
            "presence": presence,
            "submission_mode": submission_mode,
            "fill_wait": int(self.fill_wait),
            "preload": int(self.preload),
            "duration": int(self.duration),
            "drain": int(self.drain),
            "pressure": self.pressure,
            "counted": self.counted,
            "rules": self.rules,
        }

    def seed_name(self, item: Input) -> str:
        """Return the same name for all experiments: they draw the same ordinary jobs."""
        return SEED_NAME

    def measured(self, schedule: Schedule, item: Input, seed: int | None, how: Measuring) -> Measured:
        """Return the metrics of the section that counts, and what became of workflows and of distributions."""
        import pyarrow as pa

        analysis = Analysis(schedule, rules=self.rules)
        window = analysis.window
        if not len(window.rows):  # where all jobs are those of workflows, job metrics are of these
            window = replace(window, rows=window.submitted)
        metrics = schedule_metrics(schedule, tau=how.tau, window=window)
        metrics |= class_metrics(schedule, tau=how.tau, window=window)
        metrics |= own_metrics(schedule, map(as_metric, how.own))
        made = _generated(self, item, seed)
        pressure = {"reserved_pressure": made.reserved_pressure, "useful_pressure": made.useful_pressure}
        metrics |= analysis.counts() | pressure | {"workflow_share": made.workflow_share}
        workflows = analysis.workflows.drop(columns=["name", "submission_mode"]).rename(columns={"group": "workflow"})
        tables = {"workflows": pa.Table.from_pandas(workflows, preserve_index=False)}
        tables["distributions"] = pa.Table.from_pylist([found.to_dict() for found in analysis.distributions()])
        names = {"experiment": item.label, "submission_mode": self.variant(item)[1]}
        return Measured(metrics, names, tables)

    def variant(self, item: Input) -> tuple[float | None, SubmissionMode]:
        """Return the presence and the submission mode of one of `inputs`."""
        return list(self.variants())[item.variant]

    def experiment(self, item: Input) -> Experiment:
        """Return the experiment of one of `inputs`.

        Raises
        ------
        InputError
            If a file has gone or changed.
        """
        model, sha256 = load_model(item.path)
        if sha256 != item.sha256:
            raise InputError(f"{item.path} has changed since the campaign was planned; run the campaign again")
        return self._experiment(model, [load_workflow(*file) for file in item.files], *self.variant(item))

    def _experiment(
        self, model: WorkloadModel, workflows: list[Workflow], presence: float | None, submission_mode: SubmissionMode
    ) -> Experiment:
        by_period = self.workflow_policy == "period"
        return Experiment(
            model=model,
            workflows=tuple(zip(workflows, (table.share for table in self.workflows), strict=True)),
            workflow_policy=self.workflow_policy,
            period=int(presence or 0) if by_period else 0,
            share=0.0 if by_period else presence or 0.0,
            submission_mode=submission_mode,
            fill_wait=int(self.fill_wait),
            preload=int(self.preload),
            duration=int(self.duration),
            drain=int(self.drain),
            pressure=self.pressure,
            counted=self.counted,
            rules=self.rules,
        )


@lru_cache(maxsize=1)
def _generated(entry: ExperimentEntry, item: Input, seed: int | None) -> Generated:
    return generate_experiment(entry.experiment(item), rng=np.random.default_rng(seed))
