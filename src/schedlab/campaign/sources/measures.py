"""What is kept of a schedule: a row of metrics and, for some kinds of workload, tables beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from schedlab.schedule.groups import class_metrics
from schedlab.schedule.own_metrics import as_metric, own_metrics
from schedlab.schedule.schedule import Schedule

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Measuring:
    """How schedules are measured; parameters as for `schedlab.campaign.definition.metrics.Metrics`."""

    warm_up: float
    cool_down: float
    tau: int
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """What is kept of one simulation.

    Parameters
    ----------
    metrics
        By name.
    names
        Texts that results have beside the workload and the scheduler.
    tables
        What else is kept, by the part of the run directory that it belongs to: one row each.
    """

    metrics: dict[str, Any]
    names: dict[str, str] = field(default_factory=dict)
    tables: dict[str, pa.Table] = field(default_factory=dict)


def measured_jobs(schedule: Schedule, how: Measuring) -> Measured:
    """Return all metrics of a schedule, the most important ones also by size class and class of users."""
    trim: dict[str, Any] = {"warm_up": how.warm_up, "cool_down": how.cool_down}
    metrics = schedule.metrics(**trim, tau=how.tau) | class_metrics(schedule, **trim, tau=how.tau)
    return Measured(metrics | own_metrics(schedule, map(as_metric, how.own), **trim))
