"""A simulation with added jobs: the state so far, in arrays with room for them.

The simulation is built again with all its jobs, and the contents of the old arrays are copied. Jobs are numbered by
submission, so that jobs already submitted keep their numbers; later ones may move.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.calendar import Calendar
from schedlab.engine.forecast import NOTHING, Forecast, Forecasts
from schedlab.engine.gate_growth import take_over_gate
from schedlab.engine.groups import Groups
from schedlab.engine.history import History
from schedlab.engine.learners import Learner
from schedlab.engine.needs import Needs
from schedlab.engine.node_growth import take_over_nodes, take_over_site, with_room_for
from schedlab.engine.node_state import Nodes
from schedlab.engine.orders import Order
from schedlab.engine.parts import Parts
from schedlab.engine.plan import Plan
from schedlab.engine.prepared import Prepared
from schedlab.engine.priority import Priority
from schedlab.engine.queue import Queue, insert
from schedlab.engine.queue_list import QueueList
from schedlab.engine.regression import Regression
from schedlab.engine.retries import Retries, with_more_room
from schedlab.engine.rivals import Rivals
from schedlab.engine.shares import Shares
from schedlab.engine.site_state import reason_names
from schedlab.engine.slurm_timing import Passes
from schedlab.engine.state import State
from schedlab.kernels import bare_kernel

# How an array is copied; arrays that are not named below are copied to the beginning of the new ones.
JOBS = "jobs"  # one entry per job
ENTERED = "entered"  # one entry per job; for those not yet submitted, it follows from their numbers
USERS = "users"  # one entry per user
SHARES = "shares"  # one entry per association
FRESH = "fresh"  # follows from the jobs alone

RULES: dict[type, dict[str, str]] = {
    Parts: {"jobs": JOBS, "seen": JOBS},
    State: {
        **dict.fromkeys(("site", "rivals", "hets"), FRESH),
        **dict.fromkeys(("start", "noticed", "backfilled", "planned", "request"), JOBS),
        "entered": ENTERED,
    },
    Order: {"kind": FRESH, "score": JOBS, "program": FRESH, "request": JOBS},
    Plan: dict.fromkeys(("listed", "reserved", "length", "stamp", "until", "corrections"), JOBS),
    Passes: {
        **dict.fromkeys(("planned_end", "planned_in", "begins"), JOBS),
        **dict.fromkeys(("planning", "starting", "reserving"), FRESH),
    },
    QueueList: {"score": FRESH, "entered": FRESH, "tier": FRESH},
    Forecasts: {"pilot": FRESH},
    Forecast: {"request": JOBS, "first": JOBS, "corrections": JOBS},
    History: {
        "user": FRESH,
        "earlier": JOBS,
        "later": JOBS,
        **dict.fromkeys(("oldest", "newest", "completed", "run_time", "processors", "last_end"), USERS),
        **dict.fromkeys(("recent_run_times", "recent_submits", "recent_requests", "recent_processors"), USERS),
    },
    Learner: {"estimate": FRESH, "train": FRESH},
    Regression: {"inputs": JOBS},
    Retries: {
        **dict.fromkeys(("work", "place", "asked", "known", "run", "first", "back", "asks", "seen_request"), JOBS),
        **dict.fromkeys(
            ("offsets", "requests", "most", "growth", "distribution", "application", "distributions", "pilot"), FRESH
        ),
    },
    Needs: {
        **dict.fromkeys(("child_offsets", "children", "delay", "parent_offsets", "parents", "parent_delay"), FRESH),
        "workflow": FRESH,
        **dict.fromkeys(("open", "earliest", "ended", "ready", "eligible"), JOBS),
    },
    Priority: {
        **dict.fromkeys(("nodes", "whole", "partition", "qos", "tres", "association", "billing"), FRESH),
    },
    Shares: {
        **dict.fromkeys(("parent", "shares", "user", "among", "first", "order"), FRESH),
        **dict.fromkeys(("usage", "recent", "factor"), SHARES),
    },
}


class Moves(NamedTuple):
    """The new positions of jobs, users, associations and reasons of waiting, and how many jobs have been submitted."""

    jobs: NDArray[np.intp]
    users: NDArray[np.intp]
    shares: NDArray[np.intp]
    reasons: NDArray[np.intp]
    submitted: int


def moves_of(old: Prepared, new: Prepared, jobs: NDArray[np.intp], submitted: int) -> Moves:
    """Return the new numbers in a simulation to which jobs are added.

    Parameters
    ----------
    old, new
        The simulation before and after.
    jobs
        The new numbers of the old jobs.
    submitted
        How many have been submitted.
    """
    users = np.searchsorted(np.unique(new.workload.user_id), np.unique(old.workload.user_id))
    shares = reasons = np.arange(0)
    if old.associations is not None and new.associations is not None:
        shares = _places(old.associations.names, new.associations.names)
    if old.site is not None and new.site is not None:
        reasons = _places(reason_names(old.site), reason_names(new.site))
    return Moves(jobs, users, shares, reasons, submitted)


def _places(old: Iterable[Any], new: Iterable[Any]) -> NDArray[np.intp]:
    """Return the positions of the items of one list in another one."""
    place = {name: number for number, name in enumerate(new)}
    return np.array([place[name] for name in old], dtype=np.intp)


def grown(old: Parts, new: Parts, moves: Moves) -> Parts:
    """Return a simulation with added jobs, in the state of the old one.

    Parameters
    ----------
    old
        The simulation, between two events.
    new
        The same with more jobs, before its first event, assembled as open-ended; its arrays are written to.
    moves
        The new numbers.
    """
    if old.retries is not None and new.retries is not None:
        while len(new.retries.runs) < len(old.retries.runs):
            retries, state = with_more_room(new.retries, new.state)
            new = new._replace(retries=retries, state=state)
    new = new._replace(state=with_room_for(old.state, new.state))
    members = [None if queue is None else queue.members() for queue in old.waiting]
    if old.needs is None and new.needs is not None:
        _note_ready(old, new.needs, new.state.rivals, moves)
    for field, one, other in zip(Parts._fields, old, new, strict=True):
        if field != "waiting" and one is not None and other is not None:
            _take_over(Parts, field, one, other, moves)
    if old.state.site is not None and new.state.site is not None:
        running = moves.jobs[old.state.completions.members()["job"]]
        take_over_site(old.state.site, new.state.site, moves.jobs, moves.reasons, running)
        if new.state.site.gate is not None and new.needs is not None:
            if old.needs is not None and old.state.site.gate is None:
                new.needs.open[moves.jobs[moves.jobs >= moves.submitted]] += 1  # they are to be accepted yet
            take_over_gate(old.state.site.gate, new.state.site.gate, new.needs, moves.jobs, moves.submitted)
    for queue, who in zip(new.waiting, members, strict=True):
        if queue is not None and who is not None:
            _let_wait(queue, new.jobs, who)
    if new.state.hets is not None:
        new.state.hets.waits[members[0]] = True
        new.state.hets.entered[members[0]] = new.state.hets.entered[moves.jobs[old.state.start >= 0]] = True
        if old.state.hets is not None:
            new.state.hets.away[moves.jobs] = old.state.hets.away
            new.state.hets.entered[moves.jobs[old.state.hets.away]] = True
    if new.state.rivals is not None:
        _note_waiting(new.state.rivals, members[0], members[-1])
    return new


def _note_waiting(rivals: Rivals, visible: Any, beyond: NDArray[np.int64] | None) -> None:
    """Record which alternatives are in the queue."""
    rivals.waits[visible] = True
    if beyond is not None:
        rivals.waits[beyond] = rivals.hidden[beyond] = True


def _take_over(kind: type, field: str, old: Any, new: Any, moves: Moves) -> None:
    """Copy an old part, or array, into the new one."""
    rule = RULES.get(kind, {}).get(field)
    if rule == FRESH or old is None or new is None:
        return
    if isinstance(old, Forecast) and old.kind[0] == NOTHING:
        return
    if isinstance(old, Calendar):
        _take_over_calendar(old, new)
    elif isinstance(old, Nodes):
        take_over_nodes(old, new, moves.jobs)
    elif isinstance(old, Groups):
        place = new.group[moves.jobs]
        new.weight[place], new.total[place] = old.weight[old.group], old.total[old.group]
        if len(old.table):
            new.bins[place], new.table[moves.jobs] = old.bins[old.group], old.table
    elif hasattr(old, "_fields"):
        for name, one, other in zip(old._fields, old, new, strict=True):
            _take_over(type(old), name, one, other, moves)
    elif isinstance(old, np.ndarray):
        if rule == JOBS and len(old) == len(moves.jobs):
            new[moves.jobs] = old
        elif rule == ENTERED:
            new[: moves.submitted] = old[: moves.submitted]
        elif rule == USERS:
            new[moves.users] = old
        elif rule == SHARES:
            new[moves.shares] = old
        else:
            count = min(len(old), len(new))
            new[:count] = old[:count]


def _take_over_calendar(old: Any, new: Any) -> None:
    """Copy an old calendar, of any size, into the beginning of a new one."""
    for one, other in zip(old, new, strict=True):
        other[: len(one)] = one


@bare_kernel
def _let_wait(queue: Queue, jobs: NDArray[Any], who: NDArray[np.int64]) -> None:
    """Put jobs into an empty queue."""
    for i in range(who.shape[0]):
        insert(queue, jobs, who[i])


def _note_ready(old: Parts, needs: Needs, rivals: Rivals | None, moves: Moves) -> None:
    """Set the dependency state of jobs that were submitted while no job had dependencies."""
    needs.ready[: moves.submitted] = True
    start = old.state.start[: moves.submitted]
    needs.ended[: moves.submitted] = start >= 0
    needs.ended[old.state.completions.members()["job"]] = False
    if rivals is not None:  # the first alternative stands for the job
        ended = np.flatnonzero(needs.ended)
        needs.ended[rivals.first[ended]] = True
