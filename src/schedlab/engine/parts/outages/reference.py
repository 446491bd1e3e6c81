"""Nodes that are out of service, and announced closures of nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from schedlab.engine.parts.outages.numbers import (
    BREAKS,
    CLOSES,
    FOR_ALL,
    GPU_FAILS,
    GPU_RETURNS,
    LEAVES,
    OPENS,
    RETURNS,
    OutageInputs,
)


class Closure(NamedTuple):
    """A closure of a node between two seconds, announced at a third; for all jobs but those of a reservation."""

    node: int
    begin: int
    end: int
    known: int
    owner: int


@dataclass
class Outages:
    """Outages and closures of nodes; none without inputs. `changes` are to come; `out` are the nodes out of service.

    `gone` are the GPUs out of service: the node, and the number there.
    """

    inputs: OutageInputs | None
    changes: list[tuple[int, int, int, int]] = field(default_factory=list)
    closures: list[Closure] = field(default_factory=list)
    out: set[int] = field(default_factory=set)
    gone: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.inputs is not None:
            one = self.inputs
            self.changes = list(zip(*(c.tolist() for c in (one.second, one.node, one.kind, one.gpu)), strict=True))
            columns = (column.tolist() for column in (one.where, one.begin, one.end, one.known, one.owner))
            self.closures = [Closure(*values) for values in zip(*columns, strict=True)]

    def moments(self) -> list[int]:
        """Return the second of the next change."""
        return [second for second, *_ in self.changes[:1]]

    def turn(self, now: int) -> tuple[int, set[int], set[tuple[int, int]]]:
        """Apply the changes that are due; return their effect, and the nodes and GPUs that fail.

        2: nodes have left or returned to service, a closure was announced, or a reservation has begun or ended. 1:
        closures have begun or ended. 0: nothing.
        """
        due = [change for change in self.changes if change[0] <= now]
        self.changes = self.changes[len(due) :]
        for _, node, kind, gpu in due:
            if kind == LEAVES:
                self.out.add(node)
            elif kind == RETURNS:
                self.out.discard(node)
            elif kind == GPU_FAILS:
                self.gone.add((node, gpu))
            elif kind == GPU_RETURNS:
                self.gone.discard((node, gpu))
        weight = max((1 if kind in (CLOSES, OPENS) else 2 for _, _, kind, _ in due), default=0)
        failed = {node for _, node, kind, _ in due if kind == BREAKS}
        return weight, failed, {(node, gpu) for _, node, kind, gpu in due if kind == GPU_FAILS}

    def known(self, now: int) -> list[Closure]:
        """Return the closures that are announced and not over."""
        return [one for one in self.closures if one.known <= now < one.end]

    def shut(self, now: int, end: int) -> set[int]:
        """Return the nodes that are closed to all jobs, or will be before a second."""
        return self.out | {one.node for one in self.known(now) if one.begin < end and one.owner == FOR_ALL}

    def reserved(self, now: int, end: int) -> set[int]:
        """Return the nodes that are reserved, or will be before a second."""
        return {one.node for one in self.known(now) if one.begin < end and one.owner != FOR_ALL}

    def next_closing(self, now: int) -> int | None:
        """Return when the next closure begins."""
        return min((one.begin for one in self.known(now) if one.begin > now), default=None)
