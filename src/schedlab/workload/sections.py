"""The sections of an experiment, as seconds on the clock of its workload."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.workload.workload import Workload

_LINE = re.compile(r"\s*Note: sections begin=(-?\d+) start=(-?\d+) end=(-?\d+) cutoff=(-?\d+)\s*")


@explained
@dataclass(frozen=True, slots=True)
class Sections:
    """The beginnings of the sections of an experiment, in seconds on the clock of its workload.

    Parameters
    ----------
    begin
        The machine has been filled: the first second in which jobs of the model may be submitted.
    start
        The machine is in its usual state: from here on, jobs are measured.
    end
        The last second in which jobs are submitted and measured.
    cutoff
        Jobs that have not ended by now count as unfinished.

    Raises
    ------
    InputError
        If a section would end before it begins.

    Examples
    --------
    >>> Sections(begin=14_520, start=100_920, end=705_720, cutoff=727_320).line
    ' Note: sections begin=14520 start=100920 end=705720 cutoff=727320'
    """

    begin: int
    start: int
    end: int
    cutoff: int

    def __post_init__(self) -> None:
        if not 0 <= self.begin <= self.start <= self.end <= self.cutoff:
            raise InputError(
                f"the sections of an experiment must be in order, but begin, start, end and cutoff are {astuple(self)}"
            )

    @property
    def line(self) -> str:
        """The line of a workload's header that `sections_of` reads."""
        return f" Note: sections begin={self.begin} start={self.start} end={self.end} cutoff={self.cutoff}"


@explained
def sections_of(workload: Workload) -> Sections:
    """Return the sections of a generated experiment from its header.

    They are valid as long as the clock is not changed: `rebase` and `scale_load` move the jobs, but not the header.

    Raises
    ------
    InputError
        If the header lacks them.

    Examples
    --------
    >>> jobs = Workload.from_columns(dict(submit_time=[0], run_time=[60], requested_processors=[2]))
    >>> sections_of(jobs.replace(header=(Sections(0, 10, 20, 30).line,))).start
    10
    """
    for line in workload.header:
        if match := _LINE.fullmatch(line):
            return Sections(*map(int, match.groups()))
    raise InputError(f"{workload.name}: its header has no sections, as the headers of generated experiments have")
