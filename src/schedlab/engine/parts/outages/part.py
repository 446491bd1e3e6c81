"""Nodes that change, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.outages.kernels import Outages, new_outages
from schedlab.engine.parts.outages.numbers import outage_inputs
from schedlab.engine.parts.reservations.numbers import booked
from schedlab.scheduler import compatible

if TYPE_CHECKING:
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared


def _new(prepared: Prepared) -> Outages | None:
    if prepared.nodes is None or prepared.outages is None:
        return None
    return new_outages(prepared.outages, prepared.nodes)


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Take what happens to nodes, and requests within advance reservations."""
    nodes, events = prepared.nodes, given.node_events
    if nodes is None or given.cluster is None or events is None:
        return prepared
    outages = outage_inputs(events, nodes, int(prepared.jobs["submit"][0]))
    compatible.check(prepared.scheduler, closures=any(event.end is not None for event in events))
    if events.reservations and prepared.limits is not None:
        nodes, bookings = booked(prepared.workload, given.cluster, events, prepared.order, nodes, prepared.limits)
        outages = outages._replace(bookings=bookings)
    return prepared._replace(nodes=nodes, outages=outages)


def _cuts_runs(given: Given) -> bool:
    return given.node_events is not None and given.node_events.breaks


OUTAGES = Part("outages", Outages, _new, cuts_runs=_cuts_runs, numbers=_numbers)
