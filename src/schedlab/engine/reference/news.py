"""What happens in a second, as passes are told."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

from schedlab.engine.reference.job import Job


class News(NamedTuple):
    """The events of a second: jobs that were submitted, ended, entered the queue (`entered` at its end, or `resumed`
    their position) or became ready, or `left` the queue without starting; whether predictions were corrected, and
    priorities computed; how many of the entering jobs were preempted before, and whether the exemption of a run has
    ended (`awake`).
    """

    submitted: list[Job]
    ended: list[Job]
    resumed: list[Job]
    entered: list[Job]
    ready: list[Job]
    left: list[Job]
    corrected: bool = False
    computed: bool = False
    turned: int = 0
    back: int = 0
    awake: bool = False

    @property
    def events(self) -> bool:
        """Whether anything happened to a job."""
        return bool(self.ended or self.entered or self.ready or self.left)


class Pass(Protocol):
    """A scheduling pass, which starts jobs."""

    def moments(self) -> list[int]:
        """Return the seconds in which it is due without an event."""

    def schedule(self, news: News) -> None:
        """Start jobs, if it is due."""


@runtime_checkable
class TellsColumns(Protocol):
    """A part that adds to the schedule."""

    def told(self) -> dict[str, Any]:
        """Return, when all is over, arguments of `schedlab.engine.simulation.to_schedule`."""
