"""Jobs that are cancelled while they wait, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schedlab.engine.part import Part
from schedlab.engine.parts.cancellations.kernels import NOT_CANCELLED, Cancellations, new_cancellations
from schedlab.engine.parts.cancellations.numbers import patience_by_job

if TYPE_CHECKING:
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> Cancellations | None:
    patience = patience_by_job(prepared.workload)
    return None if patience is None else new_cancellations(prepared.in_submission_order(patience))


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    return {"cancelled": prepared.in_workload_order(world.cancellations.left != NOT_CANCELLED)}


def _features(given: Given) -> tuple[str, ...]:
    return () if patience_by_job(given.workload) is None else ("cancelled",)


CANCELLATIONS = Part("cancellations", Cancellations, _new, output=_output, features=_features)
