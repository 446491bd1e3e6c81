"""What jobs ask for and how long they run: drawn variable by variable, or together as they were observed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.model.empirical import EmpiricalDistribution
from schedlab.workload.columns import UNKNOWN

COLUMNS = ("processors", "requested_time", "run_time", "user_id")

Jobs = dict[str, NDArray[np.int64]]
"""The columns of some jobs: times in seconds, users -1 where unknown."""

Rules = Literal["corrected", "scsf"]

MINUTE = 60


@dataclass(frozen=True)
class NodeScale:
    """How the processors of jobs change when a model is moved to a machine of another size.

    Parameters
    ----------
    ratio
        Processors of the new machine over those of the old one.
    processors
        Of the new machine: no job has more.
    cores_per_node
        Of the new machine: jobs have whole nodes. 1: they have processors.
    """

    ratio: float
    processors: int
    cores_per_node: int = 1

    def __call__(self, sizes: NDArray[Any]) -> NDArray[np.int64]:
        """Return the nearest size, at least a node, for each of some sizes."""
        nodes = np.floor(sizes * self.ratio / self.cores_per_node + 0.5)
        most = self.processors // self.cores_per_node
        return (np.clip(nodes, 1, most) * self.cores_per_node).astype(np.int64)


@explained
@dataclass(frozen=True)
class IndependentJobs:
    """Jobs whose processors, request, accuracy and user know nothing of each other, as ScSF draws them.

    Parameters
    ----------
    processors
        Distribution of the size.
    requested_time
        Distribution of the requested time, in seconds.
    accuracy
        Distribution of run time over requested time.
    users
        Distribution of the user numbers, or None.
    rules
        "scsf": the run time is the integer part of request times accuracy, and the request is cut to whole minutes
        (at least one) only then, so that jobs of an accuracy near 1 run into it. "corrected": the request is a whole
        number of seconds first, the run time at least 1 s, and above the request only if the accuracy is above 1.
    """

    processors: EmpiricalDistribution
    requested_time: EmpiricalDistribution
    accuracy: EmpiricalDistribution
    users: EmpiricalDistribution | None = None
    rules: Rules = "corrected"

    def __post_init__(self) -> None:
        if self.processors.low[0] < 1 or self.requested_time.low[0] < 0 or self.accuracy.low[0] < 0:
            raise InputError("jobs need at least 1 processor, and requested times and accuracies of 0 or more")

    @property
    def widest(self) -> float:
        """The most processors that a job may have."""
        return float((self.processors.low if self.processors.in_bin == "low" else self.processors.high)[-1])

    def draw(self, rng: np.random.Generator, n: int) -> Jobs:
        """Return `n` jobs."""
        processors = _whole(self.processors.draw(rng, n))
        requested = self.requested_time.draw(rng, n)
        accuracy = self.accuracy.draw(rng, n)
        if self.rules == "scsf":
            run_time = np.floor(requested * accuracy)
            requested = MINUTE * np.maximum(np.floor(requested / MINUTE), 1)
        else:
            requested = np.maximum(np.rint(requested), 1)
            run_time = np.maximum(np.rint(requested * accuracy), 1)
        users = np.full(n, UNKNOWN, np.int64) if self.users is None else _whole(self.users.draw(rng, n))
        return {
            "processors": processors,
            "requested_time": _whole(requested),
            "run_time": _whole(run_time),
            "user_id": users,
        }

    def mean_work(self) -> float:
        """Return the expected core-seconds of a job."""
        return self.processors.mean * self.requested_time.mean * self.accuracy.mean

    def scaled(self, scale: NodeScale) -> IndependentJobs:
        """Return the jobs for a machine of another size."""
        sizes = self.processors.mapped(scale)
        return IndependentJobs(sizes, self.requested_time, self.accuracy, self.users, self.rules)

    def to_dict(self) -> dict[str, Any]:
        """Return what a model file holds."""
        parts = {"processors": self.processors, "requested_time": self.requested_time, "accuracy": self.accuracy}
        users = None if self.users is None else self.users.to_dict()
        return {"kind": "independent", **{name: part.to_dict() for name, part in parts.items()}, "users": users}


@explained
@dataclass(frozen=True, eq=False)
class JointJobs:
    """Jobs of the log, drawn as they are, with replacement.

    Parameters
    ----------
    rows
        int64, shape (k, 4): processors, requested time, run time and user of each kind of job.
    counts
        int64, shape (k,): how many jobs there were of each kind.
    """

    rows: NDArray[np.int64]
    counts: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.rows.ndim != 2 or self.rows.shape[1] != 4 or self.counts.shape != self.rows.shape[:1]:
            raise InputError("jobs drawn together need rows of processors, requested time, run time and user, counted")
        if not len(self.rows) or (self.counts < 1).any() or (self.rows[:, :2] < 1).any() or (self.rows[:, 2] < 0).any():
            raise InputError("jobs drawn together need processors and requested times of at least 1, and run times")

    @classmethod
    @explained
    def of(cls, jobs: Jobs) -> JointJobs:
        """Return the joint distribution of some jobs."""
        return cls(*np.unique(np.column_stack([jobs[name] for name in COLUMNS]), axis=0, return_counts=True))

    @property
    def widest(self) -> float:
        """The most processors that a job may have."""
        return float(self.rows[:, 0].max())

    def draw(self, rng: np.random.Generator, n: int) -> Jobs:
        """Return `n` jobs."""
        last = self._last
        rows = self.rows[np.searchsorted(last, rng.integers(last[-1], size=n), side="right")]
        return {name: np.ascontiguousarray(rows[:, column]) for column, name in enumerate(COLUMNS)}

    @cached_property
    def _last(self) -> NDArray[np.int64]:
        """How many jobs there are up to and with each row."""
        return np.cumsum(self.counts)

    def mean_work(self) -> float:
        """Return the expected core-seconds of a job."""
        work = self.rows[:, 0].astype(np.float64) * self.rows[:, 2]
        return float(np.average(work, weights=self.counts))

    def scaled(self, scale: NodeScale) -> JointJobs:
        """Return the jobs for a machine of another size."""
        return JointJobs(np.column_stack((scale(self.rows[:, 0]), self.rows[:, 1:])), self.counts)

    def to_dict(self) -> dict[str, Any]:
        """Return what a model file holds: columns, as they are shorter than rows."""
        columns = {name: self.rows[:, column].tolist() for column, name in enumerate(COLUMNS)}
        return {"kind": "joint", **columns, "counts": self.counts.tolist()}


def jobs_from_dict(document: Mapping[str, Any], rules: Rules) -> IndependentJobs | JointJobs:
    """Return the jobs that a model file holds.

    Raises
    ------
    InputError
        If something is missing or wrong.
    """
    try:
        if document["kind"] == "joint":
            rows = np.column_stack([np.array(document[name], dtype=np.int64) for name in COLUMNS])
            return JointJobs(rows, np.array(document["counts"], dtype=np.int64))
        processors, requested_time, accuracy = (
            EmpiricalDistribution.from_dict(document[name]) for name in ("processors", "requested_time", "accuracy")
        )
        users = None if document["users"] is None else EmpiricalDistribution.from_dict(document["users"])
        return IndependentJobs(processors, requested_time, accuracy, users, rules)
    except KeyError as error:
        raise InputError(f"its jobs have no {error.args[0]}") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"its jobs are damaged: {error}") from None


def _whole(values: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.rint(values).astype(np.int64)
