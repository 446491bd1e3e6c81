"""What is free, now or at another second: so many processors, or something of each node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from schedlab.engine.prepared import Prepared
from schedlab.engine.twin.job import Job
from schedlab.engine.twin.nodes import Node, Part, Request, empty_nodes, requests_of
from schedlab.engine.twin.placement import Placement, new_placement


class View(Protocol):
    """What is free; views of the same machine at different seconds can be compared."""

    def place(self, job: Job) -> list[Part] | None:
        """Return what a job would get, None if it does not fit."""

    def take(self, parts: Iterable[Part]) -> None:
        """Let a job have its parts."""

    def lesser(self, other: View) -> View:
        """Return what is free both here and there."""


@dataclass
class Processors:
    """So many processors, one as good as the other."""

    free: int

    def place(self, job: Job) -> list[Part] | None:
        """Return a part with the processors of a job, if so many are free."""
        return [Part(0, job.processors, job.processors)] if job.processors <= self.free else None

    def take(self, parts: Iterable[Part]) -> None:
        """Let a job have its processors."""
        self.free -= sum(part.cores for part in parts)

    def lesser(self, other: View) -> Processors:
        """Return the smaller number."""
        assert isinstance(other, Processors)
        return Processors(min(self.free, other.free))


@dataclass
class Nodes:
    """What is free of each node; `requests` are those of all jobs."""

    nodes: list[Node]
    requests: list[Request]
    placement: Placement

    def place(self, job: Job) -> list[Part] | None:
        """Return the parts of nodes that a job gets, if it fits."""
        return self.placement.place(self.nodes, self.requests[job.number])

    def take(self, parts: Iterable[Part]) -> None:
        """Let a job have its parts of nodes."""
        for part in parts:
            self.nodes[part.node] = self.nodes[part.node].without(part)

    def lesser(self, other: View) -> Nodes:
        """Return what is free of each node in both views."""
        assert isinstance(other, Nodes)
        both = [one.lesser(another) for one, another in zip(self.nodes, other.nodes, strict=True)]
        return Nodes(both, self.requests, self.placement)


@dataclass
class Machine:
    """The machine of a simulation: processors, or nodes if it has any."""

    prepared: Prepared
    empty: Processors | Nodes = field(init=False)

    def __post_init__(self) -> None:
        inputs = self.prepared.nodes
        if inputs is None:
            self.empty = Processors(self.prepared.processors)
        else:
            self.empty = Nodes(empty_nodes(inputs), requests_of(inputs), new_placement(inputs))

    def beside(self, jobs: Iterable[Job]) -> View:
        """Return what is free while some jobs run."""
        match self.empty:
            case Processors(free):
                view: View = Processors(free)
            case Nodes(nodes, requests, placement):
                view = Nodes(list(nodes), requests, placement)
        for job in jobs:
            view.take(job.parts)
        return view
