"""A simulation with added jobs: the state so far, in arrays with room for them.

The simulation is built again with all its jobs, and the contents of the old arrays are copied. Jobs are numbered by
submission, so that jobs already submitted keep their numbers; later ones may move.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.logs import lengths_of, with_room
from schedlab.engine.parts.dependencies.kernels import Needs
from schedlab.engine.parts.forecasts.groups import Groups
from schedlab.engine.parts.forecasts.kernels import NOTHING, Forecast
from schedlab.engine.parts.limits.state import reason_names
from schedlab.engine.parts.moldable.kernels import Rivals
from schedlab.engine.parts.submission_limits.growth import take_over_gate
from schedlab.engine.prepared import Prepared
from schedlab.engine.queue.operations import Queue, insert
from schedlab.engine.steps.growth_rules import ENTERED, FRESH, HAND, JOBS, PART, RULES, SCRATCH, SHARES, USERS
from schedlab.engine.steps.node_growth import take_over_nodes, take_over_site
from schedlab.engine.world import World
from schedlab.kernels import bare_kernel


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


def grown(old: World, new: World, moves: Moves) -> World:
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
    new = with_room(new, lengths_of(old))
    members = [None if queue is None else queue.members() for queue in old.waiting]
    if old.needs is None and new.needs is not None:
        _note_ready(old, new.needs, new.rivals, moves)
    _take_over_fields(old, new, moves)
    if old.nodes is not None and new.nodes is not None:
        take_over_nodes(old, new, moves.jobs)
    if old.site is not None and new.site is not None:
        running = moves.jobs[old.state.completions.members()["job"]]
        take_over_site(old, new, moves.jobs, moves.reasons, running)
        if new.gate is not None and new.needs is not None:
            if old.needs is not None and old.gate is None:
                new.needs.open[moves.jobs[moves.jobs >= moves.submitted]] += 1  # they are to be accepted yet
            take_over_gate(old.gate, new.gate, new.needs, moves.jobs, moves.submitted)
    elif new.site is not None:  # the first limit comes with the added jobs: nobody has held anything of it
        new.site.since[moves.jobs] = old.state.start
    for queue, who in zip(new.waiting, members, strict=True):
        if queue is not None and who is not None:
            _let_wait(queue, new.jobs, who)
    if new.hets is not None:
        new.hets.waits[members[0]] = True
        new.hets.entered[members[0]] = new.hets.entered[moves.jobs[old.state.start >= 0]] = True
        if old.hets is not None:
            new.hets.counters[:] = old.hets.counters
            new.hets.away[moves.jobs] = old.hets.away
            new.hets.entered[moves.jobs[old.hets.away]] = True
    if new.rivals is not None:
        _note_waiting(new.rivals, members[0], members[-1])
    return new


def _note_waiting(rivals: Rivals, visible: Any, beyond: NDArray[np.int64] | None) -> None:
    """Record which alternatives are in the queue."""
    rivals.waits[visible] = True
    if beyond is not None:
        rivals.waits[beyond] = rivals.hidden[beyond] = True


def _take_over_fields(old: Any, new: Any, moves: Moves) -> None:
    """Copy the fields of an old part into the new one, each by its rule; those by hand come later."""
    for field, rule in RULES[type(old)].items():
        one, other = getattr(old, field), getattr(new, field)
        if one is not None and other is not None and rule not in (FRESH, SCRATCH, HAND):
            _take_over(rule, one, other, moves)
    if isinstance(old, Forecast) and old.kind[0] != NOTHING:
        _take_over_groups(old.groups, new.groups, moves)


def _take_over(rule: str, old: Any, new: Any, moves: Moves) -> None:
    """Copy an old part, or array, into the new one."""
    if isinstance(old, Forecast) and old.kind[0] == NOTHING:
        return
    if rule == PART:
        _take_over_fields(old, new, moves)
    elif rule == JOBS and len(old) == len(moves.jobs):
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


def _take_over_groups(old: Groups, new: Groups, moves: Moves) -> None:
    place = new.group[moves.jobs]
    new.weight[place], new.total[place] = old.weight[old.group], old.total[old.group]
    if len(old.table):
        new.bins[place], new.table[moves.jobs] = old.bins[old.group], old.table


@bare_kernel
def _let_wait(queue: Queue, jobs: NDArray[Any], who: NDArray[np.int64]) -> None:
    """Put jobs into an empty queue."""
    for i in range(who.shape[0]):
        insert(queue, jobs, who[i])


def _note_ready(old: World, needs: Needs, rivals: Rivals | None, moves: Moves) -> None:
    """Set the dependency state of jobs that were submitted while no job had dependencies."""
    needs.ready[: moves.submitted] = True
    start = old.state.start[: moves.submitted]
    needs.ended[: moves.submitted] = start >= 0
    needs.ended[old.state.completions.members()["job"]] = False
    if rivals is not None:  # the first alternative stands for the job
        ended = np.flatnonzero(needs.ended)
        needs.ended[rivals.first[ended]] = True
