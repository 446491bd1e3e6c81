"""Nodes, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedlab.engine.jobs.columns import has_nodes
from schedlab.engine.machine.growth import take_over_nodes
from schedlab.engine.machine.output import placement_of
from schedlab.engine.machine.placement import with_placement
from schedlab.engine.machine.placement_exceptions_numbers import by_version, with_ways
from schedlab.engine.machine.state import LOGGED, Nodes, new_nodes, with_more_places
from schedlab.engine.part import Log, Part
from schedlab.scheduler.backfilling import Conservative, Slurm
from schedlab.scheduler.own_pass import OwnPass

if TYPE_CHECKING:
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> Nodes | None:
    inputs, outages = prepared.nodes, prepared.outages
    if inputs is None:
        return None
    nodes = new_nodes(
        inputs,
        prepared.limits,
        plans=prepared.limits is not None or isinstance(prepared.scheduler.backfill, Conservative | OwnPass | Slurm),
        retries=prepared.asked is not None,
        closures=0 if outages is None else len(outages.where) + len(inputs.cores),
        bookings=prepared.bookings,
    )
    return with_placement(nodes, inputs)


def _is_short(world: World) -> bool:
    """Return whether the log may be too short for the next event: runs on all cores."""
    nodes: Nodes = world.nodes
    return bool(nodes.counters[LOGGED] + nodes.machine.total > len(nodes.places))


def _longer(world: World) -> World:
    return world._replace(nodes=with_more_places(world.nodes))


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    return {"placement": placement_of(prepared, world)}


def _features(given: Given) -> tuple[str, ...]:
    return ("nodes",) if has_nodes(given.cluster) else ()


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Note which requests come to their nodes by another way than the rule of placement."""
    if prepared.nodes is None:
        return prepared
    return prepared._replace(nodes=with_ways(by_version(prepared.nodes, prepared.scheduler), prepared.scheduler))


NODES = Part(
    "nodes",
    Nodes,
    _new,
    take_over_nodes,
    Log("places", _is_short, _longer),
    _output,
    features=_features,
    numbers=_numbers,
)
