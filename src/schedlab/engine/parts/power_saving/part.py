"""Nodes that are switched off, outside of kernels: their numbers, and what the schedule tells of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.jobs.calendar import NEVER
from schedlab.engine.jobs.clock import STARTED
from schedlab.engine.machine.output import placement_of
from schedlab.engine.machine.state import order_of
from schedlab.engine.part import Log, Part
from schedlab.engine.parts.power_saving.kernels import (
    ALWAYS,
    BOOT,
    NODE,
    SHUTDOWN,
    SLEPT,
    SUSPENDED,
    PowerSaving,
    switch_off,
)
from schedlab.errors import InputError
from schedlab.kernels import for_python, new_records
from schedlab.permutations import inverse
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

_SWITCH_OFF = for_python(switch_off)


class PowerSavingInputs(NamedTuple):
    """When nodes are switched off.

    Parameters
    ----------
    after
        int64 seconds, one per node in the order of the cluster: how long it has to be idle; ALWAYS: it stays on.
    shutdown, boot
        Seconds that it takes to switch a node off, and to boot it.
    looks, origin
        A job begins in the first second from its boot on that is so many times `looks` from `origin`.
    suspend_rate, resume_rate
        How many nodes are switched off, and booted, in a minute at most; 0: as many as there are.
    forgets_shares
        Whether both are those of Slurm's version 22.05, see `schedlab.scheduler.slurm_versions`.
    """

    after: NDArray[np.int64]
    shutdown: int
    boot: int
    looks: int
    origin: int
    suspend_rate: int
    resume_rate: int
    forgets_shares: bool


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
        after[place[name]] = ALWAYS
    looks, origin = _looks(given.scheduler)
    rates = (saving.suspend_rate, saving.resume_rate)
    inputs = PowerSavingInputs(
        after, saving.shutdown_time, saving.boot_time, looks, origin, *rates, _forgets(given.scheduler)
    )
    return prepared._replace(nodes=prepared.nodes._replace(sleep=True)).with_numbers(NAME, inputs)


def inputs_of(prepared: Prepared) -> PowerSavingInputs | None:
    """Return when nodes are switched off; None if they never are."""
    return prepared.of_parts.get(NAME)


def _looks(scheduler: Scheduler) -> tuple[int, int]:
    """Return how often the scheduler looks whether nodes have booted, and from when on."""
    passes = scheduler.backfill
    if isinstance(passes, Slurm) and passes.interval > 0:
        return LOOKS, passes.origin
    return 1, 0


def _forgets(scheduler: Scheduler) -> bool:
    """Return whether rates are those of 22.05: passes that are not Slurm's have those of today."""
    passes = scheduler.backfill
    return isinstance(passes, Slurm) and passes.follows("rates_forget_shares")


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
    count, begin = len(nodes.names), int(prepared.jobs["submit"][0])
    rates = np.array([inputs.suspend_rate, inputs.resume_rate], dtype=np.int64)
    at_once = rates * NODE + NODE // 2 if inputs.forgets_shares else np.maximum(rates * NODE // 6, NODE) + 1
    return PowerSaving(
        after=inputs.after[order_of(nodes)],
        lasts=np.array([inputs.shutdown, inputs.boot, inputs.looks, inputs.origin], dtype=np.int64),
        rates=rates,
        most=at_once - NODE,
        shares=np.array([inputs.forgets_shares]),
        listed=inverse(order_of(nodes)).astype(np.int64),
        runs=np.zeros(count, dtype=np.int64),
        since=np.full(count, begin, dtype=np.int64),
        off=np.full(count, NEVER, dtype=np.int64),
        ready=np.full(count, -NEVER, dtype=np.int64),
        wakes=np.zeros(count, dtype=np.bool_),
        counts=np.zeros(2, dtype=np.int64),
        turns=np.full(2, begin, dtype=np.int64),
        slept=new_records(4 * count, SLEPT),
        sleeps=np.zeros(1, dtype=np.int64),
        waited=np.zeros(len(prepared.jobs), dtype=np.int64),
    )


def _is_short(world: World) -> bool:
    """Return whether the log may be too short for the next event, as `lacks_sleeps` does in kernels."""
    saving: PowerSaving = world.power_saving
    return bool(len(saving.slept) - saving.sleeps[0] < len(saving.runs))


def _longer(world: World) -> World:
    """Return the world with a log of twice the length."""
    old = world.power_saving.slept
    longer = new_records(2 * len(old), old.dtype)
    longer[: len(old)] = old
    return world._replace(power_saving=world.power_saving._replace(slept=longer))


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    """Return where jobs ran, with when nodes were off or booted, and how long jobs waited for that."""
    saving: PowerSaving = world.power_saving
    waited = prepared.in_workload_order(saving.waited)
    if prepared.spread is not None:
        return {}
    assert prepared.nodes is not None
    begun = world.state.begun[: world.state.clock[STARTED]]
    horizon = int((world.state.start[begun] + world.jobs["duration"][begun]).max(initial=prepared.jobs["submit"][0]))
    slept, asleep = np.array(saving.slept[: saving.sleeps[0]]), _asleep_at(saving, horizon)
    for nodes in (slept, asleep):
        nodes["node"] = order_of(prepared.nodes)[nodes["node"]]
    sleeps = sleeps_of(slept, asleep, (int(saving.lasts[SHUTDOWN]), int(saving.lasts[BOOT])))
    return {"placement": replace(placement_of(prepared, world), sleeps=sleeps), "boot_wait": waited}


def _asleep_at(saving: PowerSaving, second: int) -> NDArray[Any]:
    """Return the nodes that are switched off before a second, as if they were woken then."""
    off = saving.since + saving.after
    if saving.rates[SUSPENDED] > 0:
        off, counts, turns = saving.off.copy(), saving.counts.copy(), saving.turns.copy()
        _SWITCH_OFF(saving._replace(off=off, counts=counts, turns=turns), second)
    nodes = np.flatnonzero((saving.runs == 0) & (off < second))
    asleep = np.zeros(len(nodes), dtype=SLEPT)
    asleep["node"], asleep["off"], asleep["woken"] = nodes, off[nodes], second
    return asleep


POWER_SAVING = Part(NAME, PowerSaving, _new, log=Log("slept", _is_short, _longer), output=_output, numbers=_numbers)
