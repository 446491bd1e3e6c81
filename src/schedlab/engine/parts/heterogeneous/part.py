"""Components of heterogeneous jobs, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.part import Part
from schedlab.engine.parts.heterogeneous.kernels import Components, new_components
from schedlab.engine.parts.heterogeneous.numbers import check_together, owners_of, patience_of

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> Components | None:
    owner = owners_of(prepared.workload)
    if owner is None:
        return None
    nodes = 0 if prepared.nodes is None else len(prepared.nodes.cores)
    return new_components(prepared.in_submission_order(owner), nodes, patience_of(prepared.scheduler))


def _grown(old: World, new: World, moves: Moves) -> None:
    """Record which components are in the queue, and which have been there."""
    components: Components = new.heterogeneous
    waiting = old.waiting.queue.members()
    components.waits[waiting] = True
    components.entered[waiting] = components.entered[moves.jobs[old.state.start >= 0]] = True
    if old.heterogeneous is not None:
        components.entered[moves.jobs[old.heterogeneous.away]] = True


def _features(given: Given) -> tuple[str, ...]:
    return () if owners_of(given.workload) is None else ("heterogeneous",)


def _numbers(given: Given, prepared: Prepared) -> Prepared:
    """Refuse jobs whose components could never run together."""
    check_together(prepared.workload, prepared.order, prepared.nodes, prepared.limits, prepared.processors)
    return prepared


HETEROGENEOUS = Part("heterogeneous", Components, _new, _grown, features=_features, numbers=_numbers)
