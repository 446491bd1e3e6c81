"""Simulations without parts that have been prepared, kept with their workloads.

A small simulation takes 15 microseconds in its kernel: to ask all parts once more whether they are there, as they were
not a moment ago, would take a third as long. What depends on the jobs, the scheduler, a number of processors and the
order of events alone is the same each time, but for the arrays that a simulation writes to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from schedlab.engine.jobs.columns import MOST_COLUMNS, own_arrays

if TYPE_CHECKING:
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.workload.workload import Workload

_KEPT: WeakKeyDictionary[Workload, dict[tuple[Any, ...], Prepared]] = WeakKeyDictionary()

MOST_KEPT = 512
"""Maximum simulations of a workload that are kept."""


def kept_preparation(given: Given) -> Prepared | None:
    """Return a simulation that has been prepared before, with arrays of its own; None if it is not kept."""
    try:
        kept = _KEPT[given.workload][_key(given)]
    except (KeyError, TypeError):  # unknown, or a part of the scheduler is not hashable
        return None
    return _with_own_arrays(kept, given)


def keep(prepared: Prepared, given: Given) -> None:
    """Keep a simulation if it has no parts that take anything from cluster or workload, and has not begun."""
    parts = prepared.nodes, prepared.asked, prepared.spread, prepared.associations, prepared.tres
    if prepared.features or prepared.of_parts or any(part is not None for part in parts):
        return
    if len(prepared.jobs) > MOST_COLUMNS:
        return
    try:
        hash(key := _key(given))
    except (KeyError, TypeError):
        return
    kept = _KEPT.setdefault(given.workload, {})
    if len(kept) >= MOST_KEPT:
        kept.clear()
    nobody: Any = None
    kept[key] = _with_own_arrays(prepared, given)._replace(workload=nobody)  # it would be kept for ever by itself


def _key(given: Given) -> tuple[Any, ...]:
    if given.cluster is not None or given.node_events is not None or given.requests is not None:
        raise KeyError("only what is given with a cluster, events of nodes or requests could be something else")
    sizes = given.processors, given.in_order
    return given.scheduler, given.events, sizes, tuple(map(type, sizes))  # 1.0 is as large as 1, and refused


def _with_own_arrays(kept: Prepared, given: Given) -> Prepared:
    """Return a simulation with its own arrays where it writes to them: the first fields, of which some are the same."""
    fields: tuple[Any, ...] = kept
    made: Any = type(kept)
    return made(
        given.workload,
        *own_arrays(kept.jobs, kept.seen, kept.pilot, kept.request, kept.seen_request),
        *fields[6:9],
        given.scheduler,
        *fields[10:],
    )
