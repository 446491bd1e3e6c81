"""Dependencies, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.part import Part
from schedlab.engine.parts.dependencies.kernels import Needs, new_needs

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> Needs | None:
    limited = prepared.site is not None and prepared.site.gate is not None
    waits = prepared.workload.dependencies is not None or prepared.pilot.any() or limited
    return new_needs(prepared) if waits else None


def _grown(old: World, new: World, moves: Moves) -> None:
    """Record which jobs were ready and have ended while no job had dependencies."""
    needs: Needs = new.needs
    if old.needs is None:
        needs.ready[: moves.submitted] = True
        needs.ended[: moves.submitted] = old.state.start[: moves.submitted] >= 0
        needs.ended[old.state.completions.members()["job"]] = False
        if new.rivals is not None:  # the first alternative stands for the job
            ended = np.flatnonzero(needs.ended)
            needs.ended[new.rivals.first[ended]] = True


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    return {} if prepared.workload.dependencies is None else {"eligible": world.needs.eligible}


DEPENDENCIES = Part("needs", _new, _grown, output=_output)
