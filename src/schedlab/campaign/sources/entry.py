"""What the kinds of workload of a campaign have in common: one class each, from the entry to the jobs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from schedlab.campaign.sources.fields import Duration, Loads, Section
from schedlab.campaign.sources.input import Input
from schedlab.campaign.sources.machine import MachineFiles, OnMachine
from schedlab.campaign.sources.measures import Measured, Measuring, measured_jobs
from schedlab.durations import DAY
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.workload.sampling import windows
from schedlab.workload.workload import Workload


class Windows(Section):
    """Cut each workload into consecutive sequences, see `schedlab.workload.sampling.windows`.

    Parameters
    ----------
    length
        Of a sequence: seconds, or a text such as "15d".
    count
        How many, from the head of the workload, or "all".
    state
        Jobs at the head of each that fill the machine: they start in order of submission and are not counted.
    skip
        Numbers, from 0, of those to leave out.
    """

    length: Duration = 15 * DAY
    count: Annotated[int, Field(ge=1, lt=2**63)] | Literal["all"] = 10
    state: Annotated[int, Field(ge=0)] = 0
    skip: tuple[Annotated[int, Field(ge=0)], ...] = ()


class Entry(OnMachine):
    """A kind of workload: what its entry in a campaign says, the files it reads, and the jobs it makes.

    A new kind is one class: its fields, `inputs`, `workload` and `specification`; and its line in
    `schedlab.campaign.sources.kinds`.

    Parameters
    ----------
    name
        How results call it; by default, the name of the file or the model.
    load
        Offered loads to scale to, one or several, duplicates are ignored; without it, the load is not changed.
    repetitions
        How often what is random is drawn.
    windows
        How to cut it; without it, it is simulated whole.
    """

    name: str | None = None
    load: Loads = ()
    repetitions: Annotated[int, Field(ge=1)] | None = None
    windows: Windows | None = None

    @field_validator("name")
    @classmethod
    def _one_line(cls, value: str | None) -> str | None:
        if value is not None and (not value.strip() or not value.isprintable()):
            raise ValueError(f"{value!r} is not a valid name: use letters, digits and punctuation on one line")
        return value

    @field_validator("windows", mode="before")
    @classmethod
    def _flag_or_table(cls, value: Any) -> Any:
        return {} if value is True else None if value is False else value

    @model_validator(mode="after")
    def _countable(self) -> Self:
        if self.windows and self.windows.count == "all" and (self.load or self.users is not None):
            raise ValueError("windows with count = 'all' cannot be combined with load or resample; give a number")
        return self

    # What is known before anything is read

    @property
    def random(self) -> bool:
        """Whether its jobs are drawn, so that repetitions differ."""
        return True

    @property
    def users(self) -> dict[str, Any] | None:
        """How weeks of users are resampled; None if they are not."""
        return None

    @property
    def has_distributions(self) -> bool:
        """Whether the scheduler knows run-time distributions of some jobs."""
        return False

    @property
    def has_dependencies(self) -> bool:
        """Whether some jobs wait for others."""
        return False

    def missing(self, base: Path) -> list[str]:
        """Return the files and patterns of the entry that nothing is found for.

        Parameters
        ----------
        base
            Directory that relative paths start from.
        """
        return []

    # What the kinds differ in

    @abstractmethod
    def inputs(self, number: int, base: Path, known: Mapping[str, Input], machine: MachineFiles) -> Iterator[Input]:
        """Find, read and fingerprint the files of the entry, and yield its workloads.

        Parameters
        ----------
        number
            Position of the entry in the campaign.
        base
            Directory that relative paths start from.
        known
            What was found before for the same entry, by path: a file that has not changed is not read again.
        machine
            The files of the cluster, if there is one; part of the inputs.

        Raises
        ------
        InputError
            If a file is missing or cannot be read, or if it cannot give what the entry asks for.
        """

    @abstractmethod
    def workload(self, item: Input, seed: int | None, load: float | None) -> Workload:
        """Return the jobs, before a window is cut.

        Parameters
        ----------
        item
            One of `inputs`.
        seed
            Of the random generator that draws the jobs or their users; None if nothing is random.
        load
            Offered load that they are scaled to; None leaves it as it is.

        Raises
        ------
        InputError
            If a file has gone or changed.
        """

    @abstractmethod
    def specification(self, item: Input) -> dict[str, Any]:
        """Return everything that the jobs depend on, as plain values; the places of files are not part of it.

        The names of tasks are hashes of it.
        """

    def seed_name(self, item: Input) -> str:
        """Return the name that seeds are derived from: workloads with the same one draw the same numbers."""
        return item.workload

    def measured(self, schedule: Schedule, item: Input, seed: int | None, how: Measuring) -> Measured:
        """Return what is kept of a schedule of these jobs; the other parameters are those of `workload`."""
        return measured_jobs(schedule, how)

    # What they share

    def window_count(self, name: str, jobs: Workload | None = None) -> int:
        """Return how many windows are cut.

        Parameters
        ----------
        name
            Of the workload, for errors.
        jobs
            Those of a log that is cut as it is, which must have as many windows.

        Raises
        ------
        InputError
            If there are too few, or if it is not known how many there are.
        """
        wanted = self.windows
        if wanted is None:
            return 0
        if jobs is None:
            if wanted.count == "all":
                raise InputError(
                    f"{name}: the jobs of a model differ in each repetition: set count of windows to a number"
                )
            return wanted.count
        limit = None if wanted.count == "all" else wanted.count
        there = sum(1 for _ in islice(windows(jobs, int(wanted.length), wanted.state), limit))
        if limit is not None and there < limit:
            raise InputError(f"{name}: {limit} windows requested, but only {there} exist: lower count")
        if not set(range(there)) - set(wanted.skip):
            raise InputError(f"{name}: no window is left: skip removes all {there}")
        return there
