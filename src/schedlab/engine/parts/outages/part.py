"""Nodes that change, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.outages.kernels import Outages, new_outages

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared


def _new(prepared: Prepared) -> Outages | None:
    if prepared.nodes is None or prepared.outages is None:
        return None
    return new_outages(prepared.outages, prepared.nodes)


OUTAGES = Part("outages", _new)
