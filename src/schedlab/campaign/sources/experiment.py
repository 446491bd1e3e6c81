"""Experiments with workflows as an entry of a campaign: the fields, and the variants that their lists multiply to."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from schedlab.campaign.sources.entry import Entry
from schedlab.campaign.sources.fields import LONGEST, Duration, Section, listed, seconds
from schedlab.durations import DAY
from schedlab.generate.fill import fill_count
from schedlab.generate.special import special_pattern
from schedlab.schedule.summary import duration
from schedlab.workload.submissions import Handling

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
        raise ValueError("give either each workflow a share, or none of them")
    return tuple(one | {"share": 1 / len(given)} for one in without) or given


class ExperimentEntry(Entry):
    """Experiments as ScSF defines them: ordinary jobs of a model, and workflows among them.

    Lists of `period`, `share` and `handling` multiply: each combination is a workload of its own. All of them, and all
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
    handling
        How workflows are submitted, one or several of "pilot", "chained" and "aware".
    fill_wait, preload, duration, drain
        Durations: the wait that the fill phase induces, what is generated before jobs count, for how long they count,
        and until when they have to end.
    pressure
        Submitted work per work that the machine can do; 0 leaves it to the model.
    counted
        Which work of pilot jobs makes pressure: "useful", so that all handlings see the same jobs and workflows, or
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
    handling: Annotated[tuple[Handling, ...], BeforeValidator(listed), AfterValidator(_distinct)] = ("aware",)
    fill_wait: Period = 4 * 3_600
    preload: Period = DAY
    duration: Duration = 7 * DAY
    drain: Period = 6 * 3_600
    pressure: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 1.0
    counted: Literal["useful", "reserved"] = "useful"
    rules: Literal["corrected", "scsf"] = "corrected"

    @field_validator("handling")
    @classmethod
    def _some_handling(cls, value: tuple[Handling, ...]) -> tuple[Handling, ...]:
        if not value:
            raise ValueError("the list of handlings is empty; give pilot, chained or aware")
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
            raise ValueError("experiments have pressure and sections of their own; leave load and windows out")
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
                    + (f"needs {name}" if wanted else f"has no use for {name}; leave it out")
                )
        if bool(self.workflows) != (self.workflow_policy in ("period", "share")):
            what = "has no use for workflows; leave them out" if self.workflows else "needs workflows"
            raise ValueError(f"workflow_policy {self.workflow_policy} {what}")
        total = sum(table.share for table in self.workflows)
        if self.workflows and abs(total - 1) > SHARES_TOLERANCE:
            raise ValueError(f"the shares of workflows add up to {total:g}; they must add up to 1")
        return self

    @property
    def has_laws(self) -> bool:
        """Whether run times of some jobs follow a law: none does."""
        return False

    @property
    def has_dependencies(self) -> bool:
        """Whether tasks of workflows are jobs that wait for others."""
        return bool(self.workflows) and any(handling != "pilot" for handling in self.handling)

    def presences(self) -> list[float | None]:
        """Return how often workflows come: the periods or shares, or one None."""
        given: tuple[float, ...] = self.period or self.share
        return list(given) or [None]

    def variants(self) -> Iterator[tuple[float | None, Handling]]:
        """Yield presence and handling of each workload, handlings running fastest; one without workflows is alone."""
        if self.workflows:
            yield from itertools.product(self.presences(), self.handling)
        else:
            yield None, self.handling[0]

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
