"""Waits for fewer switches, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.switch_waits.kernels import SwitchWaits, new_switch_waits
from schedlab.engine.parts.switch_waits.numbers import with_switch_waits
from schedlab.errors import InputError

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
    if nodes.switch_waits is not None and given.in_order:
        raise InputError(
            f"{scheduler.text}: in_order={given.in_order} does not go with jobs that wait for few switches: warm-up "
            "jobs start only as others end or are submitted, and no event tells that a job has waited long enough; "
            "leave in_order out, or the wishes for switches"
        )
    return prepared._replace(nodes=nodes)


SWITCH_WAITS = Part("switch_waits", SwitchWaits, _new, numbers=_numbers)
