"""Multifactor priorities, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.priority.kernels import Priority, new_priority
from schedlab.scheduler.multifactor import Multifactor

if TYPE_CHECKING:
    from schedlab.engine.prepared import Prepared


def _new(prepared: Prepared) -> Priority | None:
    return new_priority(prepared) if isinstance(prepared.scheduler.policy, Multifactor) else None


PRIORITY = Part("priority", _new)
