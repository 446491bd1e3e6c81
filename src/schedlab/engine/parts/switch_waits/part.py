"""Waits for fewer switches, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.switch_waits.kernels import SwitchWaits, new_switch_waits
from schedlab.engine.parts.switch_waits.numbers import with_switch_waits
from schedlab.scheduler.backfilling import Slurm

if TYPE_CHECKING:
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared


def _new(prepared: Prepared) -> SwitchWaits | None:
    nodes = prepared.nodes
    return None if nodes is None or nodes.switch_waits is None else new_switch_waits(nodes.switch_waits)


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Take the requests of jobs while they wait for few switches."""
    if prepared.nodes is None:
        return prepared
    nodes, limits, scheduler = prepared.nodes, prepared.limits, prepared.scheduler
    nodes = with_switch_waits(nodes, limits, prepared.bookings, given.workload, scheduler, prepared.order)
    return prepared._replace(nodes=nodes)


def _features(given: Given) -> tuple[str, ...]:
    asked, cluster = given.workload.resources, given.cluster
    wishes = asked is not None and cluster is not None and bool(cluster.switches) and bool(asked.switches.any())
    return ("switch_waits",) if wishes and isinstance(given.scheduler.backfill, Slurm) else ()


SWITCH_WAITS = Part("switch_waits", SwitchWaits, _new, numbers=_numbers, features=_features)
