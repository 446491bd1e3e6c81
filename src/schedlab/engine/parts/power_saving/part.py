"""Nodes that are switched off, outside of kernels: their numbers, and what the schedule tells of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.machine.output import placement_of
from schedlab.engine.machine.state import order_of
from schedlab.engine.part import Part
from schedlab.engine.parts.power_saving.kernels import PowerSaving
from schedlab.errors import InputError
from schedlab.schedule.sleeping import sleeps_of
from schedlab.scheduler.backfilling import Conservative, Slurm
from schedlab.scheduler.own_pass import OwnPass
from schedlab.wording import did_you_mean

if TYPE_CHECKING:
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World
    from schedlab.scheduler.scheduler import Scheduler

NAME = "power_saving"


class PowerSavingInputs(NamedTuple):
    """When nodes are switched off.

    Parameters
    ----------
    after
        int64 seconds, one per node in the order of the cluster: how long it has to be idle; NEVER: it stays on.
    shutdown, boot
        Seconds that it takes to switch a node off, and to boot it.
    looks, origin
        A job begins in the first second from its boot on that is so many times `looks` from `origin`.
    """

    after: NDArray[np.int64]
    shutdown: int
    boot: int
    looks: int
    origin: int


LOOKS = 30
"""Seconds between two looks of Slurm whether the nodes of a job have booted, those for limits on time."""


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Take from the cluster when its nodes are switched off."""
    if prepared.nodes is None or given.cluster is None or given.cluster.power_saving is None:
        return prepared
    saving, names = given.cluster.power_saving, prepared.nodes.names
    _refuse(given, prepared)
    place = {name: number for number, name in enumerate(names)}
    after = np.full(len(names), saving.suspend_time, dtype=np.int64)
    for name in saving.always_on:
        if name not in place:
            raise InputError(
                f"power_saving: always_on names node {name}, which the cluster does not have{did_you_mean(name, place)}"
            )
        after[place[name]] = NEVER
    looks, origin = _looks(given.scheduler)
    inputs = PowerSavingInputs(after, saving.shutdown_time, saving.boot_time, looks, origin)
    return prepared.with_numbers(NAME, inputs)


def inputs_of(prepared: Prepared) -> PowerSavingInputs | None:
    """Return when nodes are switched off; None if they never are."""
    return prepared.of_parts.get(NAME)


def _looks(scheduler: Scheduler) -> tuple[int, int]:
    """Return how often the scheduler looks whether nodes have booted, and from when on."""
    passes = scheduler.backfill
    if isinstance(passes, Slurm) and passes.interval > 0:
        return LOOKS, passes.origin
    return 1, 0


def _refuse(given: Given, prepared: Prepared) -> None:
    """Raise InputError for what nodes that are switched off do not go together with."""
    beside = {
        "conservative backfilling, whose plan knows of no boot": isinstance(given.scheduler.backfill, Conservative),
        "passes in Python": isinstance(given.scheduler.backfill, OwnPass),
        "node events": given.node_events is not None,
        "preemption": prepared.preemption is not None,
        "requests at which runs fail": prepared.asked is not None,
    }
    for what in (what for what, there in beside.items() if there):
        raise InputError(f"nodes that are switched off (power_saving) do not go with {what}: leave out one of them")


def _new(prepared: Prepared) -> PowerSaving | None:
    inputs, nodes = inputs_of(prepared), prepared.nodes
    if inputs is None or nodes is None:
        return None
    count = len(nodes.names)
    return PowerSaving(
        after=inputs.after[order_of(nodes)],
        lasts=np.array([inputs.shutdown, inputs.boot, inputs.looks, inputs.origin], dtype=np.int64),
        runs=np.zeros(count, dtype=np.int64),
        since=np.full(count, int(prepared.jobs["submit"][0]), dtype=np.int64),
        ready=np.full(count, -NEVER, dtype=np.int64),
        waited=np.zeros(len(prepared.jobs), dtype=np.int64),
    )


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    """Return where jobs ran, with when nodes were off or booted, and how long jobs waited for that."""
    waited = prepared.in_workload_order(world.power_saving.waited)
    if prepared.spread is not None:
        return {}
    placement, inputs = placement_of(prepared, world), inputs_of(prepared)
    assert inputs is not None
    start = prepared.in_workload_order(world.state.start)
    end = start + prepared.in_workload_order(prepared.jobs["duration"])
    idle_from = int(prepared.jobs["submit"][0])
    sleeps = sleeps_of(placement, (start - waited, end), inputs.after, (inputs.shutdown, inputs.boot), idle_from)
    return {"placement": replace(placement, sleeps=sleeps), "boot_wait": waited}


POWER_SAVING = Part(NAME, PowerSaving, _new, output=_output, numbers=_numbers)
