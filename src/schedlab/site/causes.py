"""What jobs wait for: free nodes, their turn, limits, other jobs; every second of every wait has one cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.numbers import NodeInputs
from schedlab.schedule.reasons import KINDS
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.timeline import Steps, count_present
from schedlab.site.fitting import ROOM, STATES, Fitting, StateSteps

RESOURCES, PRIORITY, LIMITS, OTHER = "resources", "priority", "limits", "other"
"""The kinds of causes."""

KIND_WORDS: Final = {
    RESOURCES: "is for resources (no node that the job may use has room)",
    PRIORITY: "is for its turn (there is room, but other jobs come first)",
    LIMITS: "is at limits of accounts or QOS",
    OTHER: "is for other jobs to end, for reservations, or for nodes out of service",
}

IN_TURN = ("Priority", "Resources")
"""Slurm's reasons of jobs that nothing but other jobs, running or before them, keeps waiting."""


@dataclass(frozen=True, slots=True, eq=False)
class WaitCauses:
    """For how long each job waited for what.

    Parameters
    ----------
    seconds
        By cause, int64 for each job: "cores", "memory" and "GPUs" (no node that it may use had room, for want of
        these), "parts" (many cores were free, but in parts of nodes), "turn" (there was room), and Slurm's reasons of
        limits and other holds.
    inside
        Those of the seconds that pass until the last submission; the others, while the log drains.
    elsewhere
        int64: those of the seconds without room in which there was room on nodes that the job may not use.
    steps
        The states of the waiting jobs of each distinct request over time; None: none waits.
    queues
        How many jobs of each request wait over time.
    request
        int64: the request of each job.
    """

    seconds: Mapping[str, NDArray[np.int64]]
    inside: Mapping[str, NDArray[np.int64]]
    elsewhere: NDArray[np.int64]
    steps: tuple[StateSteps | None, ...]
    queues: tuple[Steps | None, ...]
    request: NDArray[np.int64]

    def of_kind(self, kind: str) -> NDArray[np.int64]:
        """Return the seconds of each job of one of RESOURCES, PRIORITY, LIMITS and OTHER."""
        found = [column for cause, column in self.seconds.items() if kind_of(cause) == kind]
        total: NDArray[np.int64] = sum(found, np.zeros(len(self.request), dtype=np.int64))
        return total

    def totals(self, rows: NDArray[np.intp] | slice = slice(None), *, inside: bool = False) -> dict[str, int]:
        """Return the seconds of some jobs by cause, in all or until the last submission, the longest first."""
        sums = {cause: int(column[rows].sum()) for cause, column in (self.inside if inside else self.seconds).items()}
        return dict(sorted(((cause, one) for cause, one in sums.items() if one), key=lambda each: -each[1]))


def kind_of(cause: str) -> str:
    """Return the kind of a cause.

    Examples
    --------
    >>> [kind_of(one) for one in ("cores", "turn", "QOSMaxJobsPerUserLimit", "Dependency")]
    ['resources', 'priority', 'limits', 'other']
    """
    if cause in STATES[1:]:
        return RESOURCES
    if cause == "turn":
        return PRIORITY
    return OTHER if cause in KINDS else LIMITS


def wait_causes(schedule: Schedule, inputs: NodeInputs) -> WaitCauses:
    """Return for how long each job of a schedule waited for what.

    Parameters
    ----------
    schedule
        On nodes, with what the engine says of limits (`waited_for`).
    inputs
        The requests of its jobs, see `schedlab.engine.machine.requests.unchecked_inputs`.

    Notes
    -----
    Slurm's reason of nearly all waiting jobs is Priority: only the first that waits for a partition has Resources. Here
    a job waits for resources while no node that it may use has room for it, and for its turn while some have, which are
    kept for jobs before it, or which no pass has given it yet. Where more jobs with the same request wait than there is
    room for, each waits for its turn in that proportion, and for resources for the rest. Seconds at limits are those
    that the engine counts; of a job that was held at a limit for a part of its wait, seconds with room count as held
    first, and those until the last submission in proportion.
    """
    begin, end = schedule.queued_since, schedule.start_time.astype(np.int64)
    inside = np.clip(schedule.workload.submit_time.max(), begin, end)
    told = schedule.waited_for or {}
    held = {name: column for name, column in told.items() if name not in IN_TURN and column.any()}
    states, elsewhere, steps, queues = _in_states(Fitting(schedule, inputs), begin, (end, inside))
    seconds = _by_cause(states[0], end - begin, held)
    part = (inside - begin) / np.maximum(end - begin, 1)
    held_inside = {name: np.rint(column * part).astype(np.int64) for name, column in held.items()}
    before = _within(_by_cause(states[1], inside - begin, held_inside), seconds)
    without = sum((seconds[state] for state in STATES[1:]), np.zeros(len(begin), dtype=np.int64))
    other_room = np.minimum(np.rint(elsewhere).astype(np.int64), without)
    return WaitCauses(seconds, before, other_room, steps, queues, inputs.shape)


def _by_cause(
    states: NDArray[np.float64], waits: NDArray[np.int64], held: Mapping[str, NDArray[np.int64]]
) -> dict[str, NDArray[np.int64]]:
    """Return the whole seconds of each cause, of which those of limits are known."""
    stopped: NDArray[np.int64] = sum(held.values(), np.zeros(len(waits), dtype=np.int64))
    free = np.maximum(waits - stopped, 0)
    turn = np.clip(np.rint(states[ROOM]).astype(np.int64) - stopped, 0, free)
    short = _to_sum(states[1:], free - turn)
    return dict(zip(STATES[1:], short, strict=True)) | {"turn": turn} | dict(held)


def _within(
    part: Mapping[str, NDArray[np.int64]], whole: Mapping[str, NDArray[np.int64]]
) -> dict[str, NDArray[np.int64]]:
    """Return the seconds of a part of each wait, of no cause more than of the whole, with the same sums.

    Both are rounded, and seconds at limits are known of the whole alone: what one cause has too much, others get.
    """
    found = {cause: np.minimum(column, whole[cause]) for cause, column in part.items()}
    missing: NDArray[np.int64] = np.sum([column - found[cause] for cause, column in part.items()], axis=0)
    for cause, most in whole.items():
        more = np.minimum(missing, most - found[cause])
        found[cause] += more
        missing -= more
    return found


def _in_states(
    fitting: Fitting, begin: NDArray[np.int64], ends: tuple[NDArray[np.int64], ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[StateSteps | None, ...], tuple[Steps | None, ...]]:
    """Return the seconds of each wait in each state until some ends, those with room elsewhere until the first of them,
    and the states and the queue of each request."""
    shape = fitting.inputs.shape
    states = np.zeros((len(ends), len(STATES), len(begin)))
    elsewhere = np.zeros(len(begin))
    order = np.argsort(shape, kind="stable")
    bounds = np.searchsorted(shape[order], np.arange(len(fitting.inputs.nodes) + 1))
    steps: list[StateSteps | None] = [None] * len(fitting.inputs.nodes)
    queues: list[Steps | None] = [None] * len(fitting.inputs.nodes)
    for request in range(len(fitting.inputs.nodes)):
        rows = order[bounds[request] : bounds[request + 1]]
        rows = rows[ends[0][rows] > begin[rows]]
        if not rows.size:
            continue
        queues[request] = waiting = count_present(begin[rows], ends[0][rows])
        steps[request] = found = fitting.states(request, waiting)
        for number, end in enumerate(ends):
            for state in range(len(STATES)):
                states[number, state, rows] = found.seconds(state, begin[rows], end[rows])
        if states[0, 1:, rows].any():
            # Whoever has room has it among all nodes, too: what is more is on nodes that the request may not use.
            anywhere = fitting.anywhere(request, waiting).seconds(ROOM, begin[rows], ends[0][rows])
            elsewhere[rows] = np.maximum(anywhere - states[0, ROOM, rows], 0)
    return states, elsewhere, tuple(steps), tuple(queues)


def _to_sum(parts: NDArray[np.float64], total: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return whole numbers in proportion to parts with given sums; where all parts are 0, all is of the first."""
    sums = parts.sum(axis=0)
    scaled = parts * (total / np.maximum(sums, 1))
    whole: NDArray[np.int64] = np.floor(scaled).astype(np.int64)
    whole[np.argmax(parts, axis=0), np.arange(parts.shape[1])] += total - whole.sum(axis=0)
    return whole
