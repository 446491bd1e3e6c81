"""Attributes of jobs besides the fields of SWF: selected, joined and checked together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.workload.alternatives import Alternatives
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.own_columns import OwnColumns
from schedlab.workload.resources import Resources
from schedlab.workload.run_time_distributions import RunTimeDistributions
from schedlab.workload.submissions import WorkflowJobs

DISTRIBUTIONS = ("distribution", "distributions", "sequences")
"""The fields of run-time distributions in `Workload.replace`."""

PARTS = ("dependencies", "workflows", "distributions", "resources", "own", "alternatives")


@explained
@dataclass(frozen=True, slots=True, eq=False)
class Extras:
    """The parts, each None or with an entry per job, and each with a length, `select` and `join`.

    Parameters
    ----------
    dependencies
        The dependencies between jobs. None: there are none.
    workflows
        The jobs that belong to workflows. None: there are none.
    distributions
        The run-time distributions of jobs. None: there are none.
    resources
        Requests of jobs besides processors and time. None: there are none.
    own
        The user's own columns. None: there are none.
    alternatives
        Other sizes of moldable and malleable jobs. None: there are none.
    """

    dependencies: Dependencies | None = None
    workflows: WorkflowJobs | None = None
    distributions: RunTimeDistributions | None = None
    resources: Resources | None = None
    own: OwnColumns | None = None
    alternatives: Alternatives | None = None

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and values of the parts that are not None."""
        for name in PARTS:
            if (part := getattr(self, name)) is not None:
                yield name, part

    def check(self, jobs: int) -> None:
        """Raise InputError if a part is not of `jobs` jobs."""
        for name, part in self.parts():
            if len(part) != jobs:
                raise InputError(f"{name} has {len(part)} jobs, expected {jobs}")

    def replaced(self, changes: Mapping[str, Any]) -> Extras:
        """Return a copy with some parts replaced; the names in `DISTRIBUTIONS` belong to one part."""
        parts = {name: value for name, value in changes.items() if name in PARTS}
        told = {name: value for name, value in changes.items() if name in DISTRIBUTIONS}
        if "distribution" in told and told["distribution"] is None:
            parts["distributions"] = None
        elif told and (self.distributions is not None or "distribution" in told):
            now = self.distributions
            known: dict[str, Any] = {} if now is None else {name: getattr(now, name) for name in DISTRIBUTIONS}
            parts["distributions"] = RunTimeDistributions(**(known | told))
        return replace(self, **parts)

    def select(self, rows: NDArray[np.intp]) -> Extras:
        """Return the attributes of these rows, in this order."""
        return Extras(**{name: part.select(rows) for name, part in self.parts()})

    def join(self, other: Extras, mine: int, theirs: int) -> Extras:
        """Return the attributes of these jobs, followed by those of others.

        Parameters
        ----------
        other
            The attributes of the others.
        mine, theirs
            How many jobs these and the others are. Resources are given to both or to none, see `joined`.
        """
        parts: dict[str, Any] = {}
        for name in PARTS:
            one, next_one = getattr(self, name), getattr(other, name)
            if one is not None or next_one is not None:
                kind = type(one if one is not None else next_one)
                first = _nothing(kind, mine, next_one) if one is None else one
                parts[name] = first.join(_nothing(kind, theirs, one) if next_one is None else next_one)
        return Extras(**parts)


NOTHING = Extras()


@explained
class WithExtras:
    """The base of classes with extra attributes of jobs: each part as a property."""

    __slots__ = ()
    extras: Extras

    @property
    def distribution(self) -> NDArray[np.int64] | None:
        """Which of `distributions` the run time of each job follows, -1 if none is known; None: no job has one."""
        return None if self.extras.distributions is None else self.extras.distributions.distribution

    @property
    def distributions(self) -> tuple[str, ...]:
        """Run-time distributions as texts, see `schedlab.requests.RunTimeDistribution.parse`."""
        return () if self.extras.distributions is None else self.extras.distributions.distributions

    @property
    def sequences(self) -> tuple[str, ...]:
        """The sequence of requests of each distribution, such as "3h, 8h"; "" if not given. Empty: no sequences."""
        return () if self.extras.distributions is None else self.extras.distributions.sequences

    @property
    def dependencies(self) -> Dependencies | None:
        """The dependencies between jobs. None: there are none."""
        return self.extras.dependencies

    def upward_rank(self, run_times: str = "requested_time") -> NDArray[np.int64]:
        """Return the length of the longest path from the begin of each job to the end of all that wait for it.

        It is HEFT's upward rank on equal processors, see `schedlab.workload.graphs.upward_rank`. As a column, a policy
        can use it: the job with the longest path behind it first.

        Parameters
        ----------
        run_times
            The column that says how long jobs are expected to run; unknown values count as 0.

        Raises
        ------
        InputError
            If there is no such column, or it holds no numbers.

        Examples
        --------
        >>> from schedlab.workload.workload import Workload
        >>> columns = dict(submit_time=[0, 0, 0], run_time=[9, 9, 9], requested_time=[10, 20, 5],
        ...                requested_processors=[1, 1, 1])
        >>> after = Dependencies.from_pairs([1], [0], jobs=3)
        >>> Workload.from_columns(columns).replace(dependencies=after).upward_rank().tolist()
        [30, 20, 5]
        """
        from schedlab.workload.graphs import upward_rank

        workload: Any = self
        length = workload[run_times]
        if length.dtype.kind not in "iuf":
            raise InputError(f"{run_times} is not a column of run times")
        after = Dependencies.none(len(workload)) if self.dependencies is None else self.dependencies
        return upward_rank(after, np.maximum(np.nan_to_num(length), 0).astype(np.int64))

    @property
    def workflows(self) -> WorkflowJobs | None:
        """The jobs that belong to workflows. None: there are none."""
        return self.extras.workflows

    @property
    def resources(self) -> Resources | None:
        """Requests of jobs besides processors and time. None: there are none."""
        return self.extras.resources

    @property
    def own(self) -> OwnColumns | None:
        """Own columns, see `with_columns`; `workload["name"]` is one as an array. None: there are none."""
        return self.extras.own

    @property
    def alternatives(self) -> Alternatives | None:
        """Other sizes of moldable and malleable jobs, see `schedlab.workload.moldable`. None: there are none."""
        return self.extras.alternatives


def _nothing(kind: type, jobs: int, beside: Any) -> Any:
    """Return a part for jobs without data."""
    return beside.unknown(jobs) if kind is OwnColumns else kind.none(jobs)  # type: ignore[attr-defined]
