"""How much work a group of jobs brings for the nodes that it may use, and how much of it at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import DAY
from schedlab.engine.machine.fitting import room_on_nodes
from schedlab.engine.machine.numbers import NodeInputs
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.stretches import by_stretch
from schedlab.schedule.summary import duration
from schedlab.schedule.timeline import cores_held

BURST = 0.8
"""The share of the work of a group whose submission is looked at: the shortest time in which as much is submitted."""

MINUTE = 60

NEARLY_ALL = 0.95
"""The share of the work of a group whose requests say which nodes it may use."""

AT_ONCE = 0.1
"""The share of the log's length within which a group comes at once."""


@dataclass(frozen=True, slots=True)
class BroughtWork:
    """What a group of jobs brings.

    Parameters
    ----------
    seconds
        For which all nodes that it may use, of which no others would run anything, are busy with it.
    nodes
        How many these are.
    share, within
        The share of it that is submitted in the shortest time with `BURST` of it or more, and this time, in seconds.
    at_once
        Whether that is a small part of the log.
    """

    seconds: float
    nodes: int
    share: float
    within: int
    at_once: bool

    def __str__(self) -> str:
        nodes = f"all {self.nodes:,} nodes" if self.nodes > 1 else "the node"
        text = f"they bring {duration(self.seconds)} of work for {nodes} that they may use"
        if not self.at_once:
            return text
        return f"{text}, {self.share:.0%} of it submitted {self._within}"

    @property
    def _within(self) -> str:
        return f"within {duration(self.within)}" if self.within >= MINUTE else "in a minute"


def core_seconds(schedule: Schedule) -> NDArray[np.float64]:
    """Return the core-seconds that each job has held, on the nodes of its runs."""
    schedule = by_stretch(schedule)
    held, cores = schedule.held, cores_held(schedule)
    jobs = np.arange(len(cores)) if schedule.runs is None else schedule.runs["job"]
    work = np.bincount(jobs, weights=(held.end - held.start) * cores, minlength=len(schedule))
    return np.asarray(work, dtype=np.float64)


def brought_work(
    work: NDArray[np.float64], submit: NDArray[np.int64], rows: NDArray[np.intp], inputs: NodeInputs
) -> BroughtWork:
    """Return what a group of jobs brings.

    Parameters
    ----------
    work, submit
        Core-seconds and submission, in seconds, of all jobs.
    rows
        Those of the group.
    inputs
        The requests of all jobs.
    """
    there = np.any([room_on_nodes(inputs, request) > 0 for request in _usual(work[rows], inputs.shape[rows])], axis=0)
    order = rows[np.argsort(submit[rows], kind="stable")]
    share, within = _shortest(work[order], submit[order])
    seconds = float(work[rows].sum()) / max(int(inputs.cores[there].sum()), 1)
    return BroughtWork(seconds, int(there.sum()), share, within, within <= AT_ONCE * int(np.ptp(submit)))


def _usual(work: NDArray[np.float64], request: NDArray[np.int64]) -> list[int]:
    """Return the requests that bring nearly all the work, so that an odd job does not count for where it may run."""
    of_request = np.bincount(request, weights=work)
    order = np.argsort(-of_request, kind="stable")
    before = np.cumsum(of_request[order]) - of_request[order]
    found: list[int] = order[before < max(NEARLY_ALL * work.sum(), 1)].tolist()
    return found


def _shortest(work: NDArray[np.float64], submit: NDArray[np.int64]) -> tuple[float, int]:
    """Return the share of the work submitted in the shortest time with `BURST` of it or more, and this time."""
    until = np.concatenate([[0.0], np.cumsum(work)])
    last = np.searchsorted(until, until[:-1] + BURST * until[-1] * (1 - 1e-12), side="left")
    first = np.flatnonzero(last < len(until))
    if not until[-1] or not first.size:
        return 1.0, int(np.ptp(submit))
    times = submit[last[first] - 1] - submit[first]
    best = int(np.argmin(times))
    begin, end = first[best], np.searchsorted(submit, submit[last[first[best]] - 1], side="right")
    return float((until[end] - until[begin]) / until[-1]), int(times[best])


def offered_load(work: NDArray[np.float64], submit: NDArray[np.int64], inputs: NodeInputs) -> float:
    """Return the work of all jobs as a share of what all nodes can do from the first submission to the last."""
    return float(work.sum()) / max(int(inputs.cores.sum()) * int(np.ptp(submit)), 1)


def offered_sentences(load: float, submit: NDArray[np.int64]) -> list[str]:
    """Say how much work the log brings, if that is more than the machine can do meanwhile.

    Examples
    --------
    >>> offered_sentences(1.41, np.array([0, 604_800]))
    ['All jobs together bring 141% of what the nodes can do in the 7 d of the log: some wait, whatever the schedu...']
    >>> offered_sentences(0.9, np.array([0, 604_800]))
    ['All jobs together bring 90% of what the nodes can do in the 7 d of the log.']
    """
    span = int(np.ptp(submit))
    if span < DAY:
        return []  # of a short log, most of the work runs after the last submission
    end = ": some wait, whatever the scheduler does, until fewer jobs come." if load > 1 else "."
    return [f"All jobs together bring {load:.0%} of what the nodes can do in the {duration(span)} of the log{end}"]
