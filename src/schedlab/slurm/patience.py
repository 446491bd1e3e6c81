"""When a laboratory gives up: nothing happens any more, or too much time has passed although something does.

Jobs that are preempted again and again may keep others from starting, and themselves from ending, for ever.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from schedlab.errors import InputError
from schedlab.slurm.clock import SECOND
from schedlab.slurm.components import number_of
from schedlab.slurm.job_table import array_size
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.slurm.jobs import JobList
    from schedlab.slurm.laboratory import Laboratory
    from schedlab.slurm.results import SlurmRun

_AWHILE = 600
_PATIENCE, _LONG_PATIENCE = 3600, 30 * 86400
"""Virtual seconds without any event after which jobs that still wait count as never started: passes alone do not help
them; the longer ones if `time_may_help`."""

_TIMED = re.compile(r"BeginTime|Reserv(?!ation \S+ was deleted)|NotAvail|Minutes")
"""Slurm's reasons that time alone can remove: begins, reservations, usage that decays."""

_TIMES_OVER = 10
"""How often all jobs could run one after the other, behind the last submission, before a run counts as endless."""

_NAMED = 5


def time_may_help(reasons: str) -> bool:
    """Return whether some jobs wait for what time alone may bring, by Slurm's reasons.

    Examples
    --------
    >>> time_may_help("Reservation"), time_may_help("Reservation r was deleted"), time_may_help("Resources")
    (True, False, False)
    """
    return _TIMED.search(reasons) is not None


class EndlessRunError(InputError):
    """A run in the laboratory was given up at its latest second, while jobs still waited or ran.

    Parameters
    ----------
    message
        One sentence.
    run
        What the laboratory had until then; runs that went on end there.
    """

    def __init__(self, message: str, run: SlurmRun) -> None:
        super().__init__(message)
        self.run = run


class Patience:
    """How long a laboratory has been waiting for anything but its own ticks."""

    def __init__(self, laboratory: Laboratory) -> None:
        self.laboratory = laboratory
        self.idle_since = laboratory.clock.now()

    def is_over(self, lonely: bool) -> bool:
        """Return whether jobs that still wait never start; `lonely` tells whether nothing has happened now."""
        now = self.laboratory.clock.now()
        if not lonely:
            self.idle_since = now
        idle = (now - self.idle_since) / SECOND
        if idle < _AWHILE:
            return False
        reasons = self.laboratory.reasons()
        return not reasons or idle > (_LONG_PATIENCE if time_may_help(reasons) else _PATIENCE)


def latest_second(jobs: JobList) -> float:
    """Return the second at which a run of these jobs counts as endless.

    It is thirty days and ten times the sum of all run times, which limits bound, behind the last submission or command.
    """
    limits = jobs.workload.requested_time.tolist()
    total = sum(
        array_size(job.options) * (min(job.run_time, limit) if limit > 0 else job.run_time)
        for job, limit in zip(jobs.jobs, limits, strict=True)
    )
    last = max([*(job.submit for job in jobs.jobs), *(command.second for command in jobs.commands)], default=0)
    return last + _TIMES_OVER * total + _LONG_PATIENCE


def say_who_is_left(laboratory: Laboratory, jobs: JobList, until: float) -> str:
    """Return a sentence about the jobs that still wait or run."""
    names = jobs.workload.job_id.tolist()
    rows = {number: row for row, number in laboratory.numbers.items()}
    left: dict[str, list[str]] = {"waiting": [], "running": [], "to be submitted": []}
    for line in laboratory.command(["squeue", "-h", "-S", "i", "-o", "%i %t"]).stdout.splitlines():
        shown, state = line.split()
        row = rows.get(number_of(shown.partition("_")[0]))
        left["waiting" if state == "PD" else "running"].append(shown if row is None else str(names[row]))
    known = {*laboratory.numbers, *laboratory.rejected}
    left["to be submitted"] = [str(name) for row, name in enumerate(names) if row not in known]
    what = ", ".join(f"{count_of(len(who), 'job')} {how} ({_listed(who)})" for how, who in left.items() if who)
    return (
        f"{jobs.workload.name}: at second {until:.0f} there are still {what}; jobs that preempt each other may go on "
        "for ever: the error's `run` has all until then, and until= is how long to go on"
    )


def _listed(names: list[str]) -> str:
    return ", ".join(sorted(set(names), key=names.index)[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
