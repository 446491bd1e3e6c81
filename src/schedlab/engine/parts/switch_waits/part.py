"""Waits for fewer switches, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.switch_waits.kernels import Wishes, new_wishes

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared


def _new(prepared: Prepared) -> Wishes | None:
    nodes = prepared.nodes
    return None if nodes is None or nodes.wishes is None else new_wishes(nodes.wishes)


SWITCH_WAITS = Part("wishes", _new)
