"""How the schedules of a campaign are measured."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from schedlab.campaign.sources.fields import Section, Texts, seconds
from schedlab.energy.measures import OF_ENERGY
from schedlab.schedule.groups import class_metric_names
from schedlab.schedule.metrics import TAU, metric_names
from schedlab.schedule.own_metrics import as_metric


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
        known = [*metric_names(), *class_metric_names(), *OF_ENERGY, *info.data.get("own", ())]
        if value not in known:
            near = get_close_matches(value, known, 1)
            raise ValueError(
                f"unknown metric {value!r}; " + (f"do you mean {near[0]}?" if near else "see the reference")
            )
        return value

    @model_validator(mode="after")
    def _something_remains(self) -> Metrics:
        if self.warm_up < 1 and self.cool_down < 1 and self.warm_up + self.cool_down >= 1:
            raise ValueError(f"warm_up {self.warm_up:g} and cool_down {self.cool_down:g} leave no job to measure")
        return self
