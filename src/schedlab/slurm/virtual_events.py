"""What a laboratory has to do at given times: the ends of runs, and what comes again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedlab.slurm.job_table import Run

if TYPE_CHECKING:
    from schedlab.slurm.laboratory import Laboratory


@dataclass(frozen=True, slots=True)
class End:
    """The end of a run, which is told to slurmctld unless the run was ended before or moved."""

    laboratory: Laboratory
    run: Run
    instant: int

    def __call__(self) -> None:
        if self.laboratory.table.ends_at(self.run, self.instant):
            self.laboratory.complete(self.run.job, self.run.nodes)


@dataclass(frozen=True, slots=True)
class Tick:
    """What is done again and again while jobs are there; it gives none of them a reason to wait for it."""

    laboratory: Laboratory
    nanoseconds: int
    action: Callable[[], None]

    def __call__(self) -> None:
        self.action()
        self.laboratory.again(self, self.nanoseconds)


def is_stale(action: Callable[[], None]) -> bool:
    """Return whether an action is the end of a run that has ended before, or will end later."""
    return isinstance(action, End) and not action.laboratory.table.ends_at(action.run, action.instant)
