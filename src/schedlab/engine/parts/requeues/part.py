"""The delay of requeued jobs, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.requeues.kernels import Requeues, new_requeues, take_over_requeues

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> Requeues | None:
    if prepared.nodes is None or prepared.limits is None:
        return None
    return new_requeues(len(prepared.jobs), prepared.preemption, prepared.outages)


def _grown(old: World, new: World, moves: Moves) -> None:
    if old.requeues is not None:
        take_over_requeues(old.requeues, new.requeues, moves.jobs)


REQUEUES = Part("requeues", Requeues, _new, _grown)
