"""Malleable jobs, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.jobs.clock import STARTED
from schedlab.engine.part import Log, Part
from schedlab.engine.parts.malleable.kernels import STRETCHES, Malleable, new_malleable
from schedlab.engine.parts.malleable.numbers import resizes, sizes_of
from schedlab.errors import InputError
from schedlab.kernels import new_records
from schedlab.schedule.resizing import sizes_of_runs

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World

NAME = "malleable"


def _features(given: Given) -> tuple[str, ...]:
    """Return what is refused with what: jobs that are only moldable are alternatives as elsewhere."""
    sizes = given.workload.alternatives
    if sizes is None or not resizes(given.workload, given.scheduler):
        return ()
    return (NAME, "moldable") if bool(((np.diff(sizes.offsets) > 0) & ~sizes.malleable).any()) else (NAME,)


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Take the sizes of jobs; the order of the queue goes on to see their own ones."""
    if NAME not in prepared.features:
        return prepared
    if prepared.asked is not None:
        raise InputError(
            f"{given.workload.name}: malleable jobs run once; drop requests= and run-time distributions, or let no job "
            "be malleable"
        )
    sizes = sizes_of(given.workload, given.scheduler, prepared.processors, prepared.order, prepared.request)
    seen = prepared.jobs.copy() if prepared.seen is prepared.jobs else prepared.seen
    return prepared._replace(seen=seen).with_numbers(NAME, sizes)


def _new(prepared: Prepared) -> Malleable | None:
    sizes = prepared.of_parts.get(NAME)
    return None if sizes is None else new_malleable(sizes)


def _grown(old: World, new: World, moves: Moves) -> None:
    """Bring over sizes, by their places among those of the job, and the stretches, with the new numbers of jobs."""
    if old.malleable is None:
        return
    before, after = old.malleable, new.malleable
    for name in ("size", "before"):
        place = getattr(before, name) - before.offsets[:-1]
        getattr(after, name)[moves.jobs] = after.offsets[moves.jobs] + place
    count = int(before.counters[STRETCHES])
    after.stretches[:count] = before.stretches[:count]
    after.stretches["job"][:count] = moves.jobs[before.stretches["job"][:count]]


def _is_short(world: World) -> bool:
    """Return whether the log may be too short for the next second, as `lacks_stretches` does in kernels."""
    malleable: Malleable = world.malleable
    return bool(len(malleable.stretches) - malleable.counters[STRETCHES] < 2 * len(malleable.size))


def _longer(world: World) -> World:
    """Return the world with a log of twice the length."""
    old = world.malleable.stretches
    longer = new_records(2 * len(old), old.dtype)
    longer[: len(old)] = old
    return world._replace(malleable=world.malleable._replace(stretches=longer))


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    """Return the sizes of all runs, and how many sizes the machine is too small for."""
    malleable, ordered = world.malleable, prepared.in_workload_order
    changes = np.array(malleable.stretches[: malleable.counters[STRETCHES]])
    if prepared.order is not None:
        changes["job"] = prepared.order[changes["job"]]
    start = ordered(world.state.start)
    ran = np.zeros(len(start), dtype=np.bool_)
    ran[world.state.begun[: world.state.clock[STARTED]]] = True
    ran = ordered(ran)
    end, processors = start + ordered(world.jobs["duration"]), ordered(world.jobs["processors"])
    return {"sizes": sizes_of_runs(changes, start, end, processors, ran)}


MALLEABLE = Part(
    NAME,
    Malleable,
    _new,
    _grown,
    Log("stretches", _is_short, _longer),
    _output,
    features=_features,
    numbers=_numbers,
)
"""Malleable jobs: passes in Python change their sizes while they run."""
