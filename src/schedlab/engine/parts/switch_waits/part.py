"""Waits for fewer switches, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.switch_waits.kernels import SwitchWaits, new_switch_waits

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared


def _new(prepared: Prepared) -> SwitchWaits | None:
    nodes = prepared.nodes
    return None if nodes is None or nodes.switch_waits is None else new_switch_waits(nodes.switch_waits)


SWITCH_WAITS = Part("switch_waits", _new)
