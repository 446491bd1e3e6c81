"""What jobs carry beside the fields of SWF, in one place: selected, joined and checked together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.workload.dependencies import Dependencies
from schedlab.workload.own_columns import OwnColumns
from schedlab.workload.resources import Resources
from schedlab.workload.run_time_distributions import RunTimeDistributions
from schedlab.workload.submissions import WorkflowJobs

DISTRIBUTIONS = ("law", "laws", "sequences")
"""What `Workload.replace` calls the fields of run-time distributions."""

PARTS = ("dependencies", "workflows", "distributions", "resources", "own")


@dataclass(frozen=True, slots=True, eq=False)
class Extras:
    """The parts, each None or with an entry per job, and each with a length, `select` and `join`.

    Parameters
    ----------
    dependencies
        Which jobs wait for others to end. None: no job does.
    workflows
        Which jobs belong to workflows. None: no job does.
    distributions
        Which distributions run times follow. None: no job's.
    resources
        What jobs ask for besides processors and time. None: nothing.
    own
        Own columns of the user. None: there are none.
    """

    dependencies: Dependencies | None = None
    workflows: WorkflowJobs | None = None
    distributions: RunTimeDistributions | None = None
    resources: Resources | None = None
    own: OwnColumns | None = None

    def parts(self) -> Iterator[tuple[str, Any]]:
        """Yield the names and values of the parts that are there."""
        for name in PARTS:
            if (part := getattr(self, name)) is not None:
                yield name, part

    def check(self, jobs: int) -> None:
        """Raise InputError if a part is not of so many jobs."""
        for name, part in self.parts():
            if len(part) != jobs:
                raise InputError(f"{name} are of {len(part)} jobs, expected {jobs}")

    def replaced(self, changes: Mapping[str, Any]) -> Extras:
        """Return these with some parts replaced; `law`, `laws` and `sequences` are those of the distributions."""
        parts = {name: value for name, value in changes.items() if name in PARTS}
        told = {name: value for name, value in changes.items() if name in DISTRIBUTIONS}
        if "law" in told and told["law"] is None:
            parts["distributions"] = None
        elif told and (self.distributions is not None or "law" in told):
            now = self.distributions
            known: dict[str, Any] = {} if now is None else {name: getattr(now, name) for name in DISTRIBUTIONS}
            parts["distributions"] = RunTimeDistributions(**(known | told))
        return replace(self, **parts)

    def select(self, rows: NDArray[np.intp]) -> Extras:
        """Return what these rows carry, in this order."""
        return Extras(**{name: part.select(rows) for name, part in self.parts()})

    def join(self, other: Extras, mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> Extras:
        """Return what these jobs and others below them carry.

        Parameters
        ----------
        other
            What the others carry.
        mine, theirs
            int64: the processors of the jobs of both, which say what a job asks for that says nothing else.
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


class WithExtras:
    """What has jobs that carry more than the fields of SWF: each part by its name."""

    __slots__ = ()
    extras: Extras

    @property
    def law(self) -> NDArray[np.int64] | None:
        """Which of `laws` the run time of each job follows, -1 if none is known; None: no job has a distribution."""
        return None if self.extras.distributions is None else self.extras.distributions.law

    @property
    def laws(self) -> tuple[str, ...]:
        """Run-time distributions as texts, see `schedlab.requests.Law.parse`."""
        return () if self.extras.distributions is None else self.extras.distributions.laws

    @property
    def sequences(self) -> tuple[str, ...]:
        """Of each distribution, what its jobs ask for in turn, such as "3h, 8h"; "" if not given. Empty: of none."""
        return () if self.extras.distributions is None else self.extras.distributions.sequences

    @property
    def dependencies(self) -> Dependencies | None:
        """Which jobs wait for others to end. None: no job does."""
        return self.extras.dependencies

    @property
    def workflows(self) -> WorkflowJobs | None:
        """Which jobs belong to workflows. None: no job does."""
        return self.extras.workflows

    @property
    def resources(self) -> Resources | None:
        """What jobs ask for besides processors and time. None: nothing."""
        return self.extras.resources

    @property
    def own(self) -> OwnColumns | None:
        """Own columns, see `with_columns`; `workload["name"]` is one as an array. None: there are none."""
        return self.extras.own


def _nothing(kind: type, processors: NDArray[np.int64], beside: Any) -> Any:
    """Return a part of jobs that say nothing."""
    if kind is Resources:
        return Resources.of_processors(processors)
    return beside.unknown(len(processors)) if kind is OwnColumns else kind.none(len(processors))  # type: ignore[attr-defined]
