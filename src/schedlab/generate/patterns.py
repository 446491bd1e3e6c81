"""What is submitted when a trigger goes off: patterns of jobs and workflows, which can be put together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.workflow.workflow import Workflow

if TYPE_CHECKING:
    from schedlab.model.model import WorkloadModel

MINUTE = 60

SHARES_TOLERANCE = 1e-6
"""Shares that differ from 1 by less than this, in sum, add up to 1: thirds have to be written somehow."""


class Pattern(Protocol):
    """What every pattern can do."""

    def submit(self, second: int, rng: np.random.Generator) -> Iterator[Submitted]:
        """Return what is submitted, and when, if the pattern is triggered at a second."""
        ...


@explained
@dataclass(frozen=True, slots=True)
class FixedJob:
    """The same job each time.

    Parameters
    ----------
    processors
        What it needs.
    run_time
        Seconds it really runs.
    requested_time
        Seconds it asks for; by default, those of the run time rounded up to minutes, and one minute more.

    Examples
    --------
    >>> FixedJob(24, run_time=121).requested_time
    240
    """

    processors: int
    run_time: int
    requested_time: int = 0

    def __post_init__(self) -> None:
        if self.processors < 1 or self.run_time < 0:
            raise InputError(f"a job must have at least 1 processor and a run time of 0 s or more: {self}")
        if not self.requested_time:
            object.__setattr__(self, "requested_time", (-(-self.run_time // MINUTE) + 1) * MINUTE)

    def submit(self, second: int, rng: np.random.Generator) -> Iterator[Submitted]:
        """Submit the job at once."""
        yield second, self


Submitted = tuple[int, FixedJob | Workflow]
"""A second, and what is submitted then."""


@dataclass(frozen=True, slots=True)
class ModelJob:
    """A job that is drawn from a model of the workload each time."""

    model: WorkloadModel

    def submit(self, second: int, rng: np.random.Generator) -> Iterator[Submitted]:
        """Submit one job at once."""
        job = self.model.draw_jobs(rng, 1)
        numbers = (int(job[field][0]) for field in ("processors", "run_time", "requested_time"))
        yield second, FixedJob(*numbers)


@dataclass(frozen=True, slots=True)
class OneWorkflow:
    """A workflow; how it becomes jobs is up to the experiment."""

    workflow: Workflow

    def submit(self, second: int, rng: np.random.Generator) -> Iterator[Submitted]:
        """Submit the workflow at once."""
        yield second, self.workflow


@dataclass(frozen=True, slots=True)
class Sequence:
    """Patterns one after the other.

    Parameters
    ----------
    steps
        Seconds after the trigger, and the pattern of that moment.

    Examples
    --------
    >>> wide = FixedJob(512, run_time=3600)
    >>> backfilled = Sequence(((0, FixedJob(24, 7200)), (60, wide), (120, Burst(FixedJob(24, 600), 2, every=10))))
    >>> [(second, job.processors) for second, job in backfilled.submit(1000, np.random.default_rng(1))]
    [(1000, 24), (1060, 512), (1120, 24), (1130, 24)]
    """

    steps: tuple[tuple[int, Pattern], ...]

    def __post_init__(self) -> None:
        if any(delay < 0 for delay, _ in self.steps):
            raise InputError("the steps of a sequence follow its trigger: their seconds must be 0 or more")

    def submit(self, second: int, rng: np.random.Generator) -> Iterator[Submitted]:
        """Trigger each pattern at its time."""
        for delay, pattern in self.steps:
            yield from pattern.submit(second + delay, rng)


@dataclass(frozen=True, slots=True)
class Burst:
    """The same pattern `count` times, once in `every` seconds."""

    pattern: Pattern
    count: int
    every: int

    def __post_init__(self) -> None:
        if self.count < 1 or self.every < 0:
            raise InputError(
                f"a burst needs 1 submission or more, at intervals of 0 s or more, not {self.count} and {self.every} s"
            )

    def submit(self, second: int, rng: np.random.Generator) -> Iterator[Submitted]:
        """Trigger the pattern again and again."""
        for repetition in range(self.count):
            yield from self.pattern.submit(second + repetition * self.every, rng)


@explained
@dataclass(frozen=True, slots=True)
class Choice:
    """One of several patterns, drawn each time with given shares.

    Parameters
    ----------
    options
        Shares and patterns. Nothing is drawn if there is only one pattern.
    rest
        What is taken with the share that the options leave.

    Raises
    ------
    InputError
        If shares are negative, add up to more than 1, or to less and there is no `rest`.

    Examples
    --------
    >>> choice = Choice(((0.25, FixedJob(1, 10)),), rest=FixedJob(2, 10))
    >>> rng = np.random.default_rng(1)
    >>> wide = sum(job.processors == 2 for n in range(1000) for _, job in choice.submit(n, rng))
    >>> 710 < wide < 790
    True
    """

    options: tuple[tuple[float, Pattern], ...]
    rest: Pattern | None = None

    def __post_init__(self) -> None:
        shares = [share for share, _ in self.options]
        total = sum(shares)
        if not shares or not all(0 <= share <= 1 for share in shares) or total > 1 + SHARES_TOLERANCE:
            raise InputError(f"shares must be from 0 to 1 and add up to at most 1, not {_sum_text(shares)}")
        if self.rest is None and total < 1 - SHARES_TOLERANCE:
            raise InputError(f"shares must add up to 1, but {_sum_text(shares)}")

    def submit(self, second: int, rng: np.random.Generator) -> Iterator[Submitted]:
        """Draw a pattern and trigger it."""
        yield from self._draw(rng).submit(second, rng)

    def _draw(self, rng: np.random.Generator) -> Pattern:
        if len(self.options) == 1 and self.rest is None:
            return self.options[0][1]
        drawn = rng.random()
        for share, pattern in self.options:
            drawn -= share
            if drawn < 0:
                return pattern
        return self.rest or self.options[-1][1]


def _sum_text(shares: list[float]) -> str:
    """Return an addition as text."""
    return f"{' + '.join(f'{share:g}' for share in shares) or 'nothing'} = {sum(shares):g}"
