"""Requeued jobs that may not begin again yet, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.requeues.kernels import Returns, new_returns, take_over_returns

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> Returns | None:
    if prepared.nodes is None or prepared.site is None:
        return None
    return new_returns(len(prepared.jobs), prepared.site.preemption, prepared.outages)


def _grown(old: World, new: World, moves: Moves) -> None:
    if old.returns is not None:
        take_over_returns(old.returns, new.returns, moves.jobs)


REQUEUES = Part("returns", _new, _grown)
