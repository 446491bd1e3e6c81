"""What a run directory says in a few columns: of its campaign, and of its tasks, done or failed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from schedlab.campaign.results.statistics import INSTANCE
from schedlab.campaign.run.directory import RunDirectory
from schedlab.campaign.run.outcome import Failure

if TYPE_CHECKING:
    import pyarrow as pa

COORDINATES = (*INSTANCE, "scheduler")
"""The columns that say which task of a campaign a result is of."""

NO_METRICS = frozenset({"task", *COORDINATES, "experiment", "submission_mode", "specification", "seconds"})
"""The columns of results that are no metrics: `seconds` depends on the host, and on what else it does."""


@dataclass(frozen=True, slots=True)
class Overview:
    """A campaign in one line.

    Parameters
    ----------
    name, description
        Of the campaign.
    directory
        The run directory.
    schedlab, commit
        The version by which it was last run, and the commit of a checkout; empty if it is not known.
    planned, done, failed
        Numbers of tasks.
    command
        What the user typed.
    """

    name: str
    description: str
    directory: str
    schedlab: str
    commit: str
    planned: int
    done: int
    failed: int
    command: str

    @classmethod
    def of(cls, run: RunDirectory, *, done: int, failed: int) -> Overview:
        """Return that of a run directory of which one knows how many tasks are done and have failed."""
        facts = run.facts
        versions = facts["provenance"]
        return cls(
            name=facts["name"],
            description=facts["definition"].get("description", ""),
            directory=str(run.path.resolve()),
            schedlab=versions.get("schedlab", ""),
            commit=versions.get("commit", ""),
            planned=len(run.plan),
            done=done,
            failed=failed,
            command=facts["command"],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as a dictionary."""
        return asdict(self)


def metric_names(table: pa.Table) -> list[str]:
    """Return the columns of results that are metrics, in their order."""
    return [name for name in table.column_names if name not in NO_METRICS]


def failure_row(failure: Failure) -> dict[str, Any]:
    """Return the task of a failure with its coordinates, as results have them, and what happened."""
    specification = failure.specification
    load, window = specification["load"], specification["window"]
    return {
        "task": failure.task,
        "workload": specification["workload"],
        "load": float("nan") if load is None else load,
        "repetition": specification["repetition"],
        "window": -1 if window is None else window["number"],
        "scheduler": specification["scheduler"],
        "kind": failure.kind,
        "reason": failure.reason,
        "traceback": failure.traceback,
        "host": failure.host,
        "time": failure.time,
    }
