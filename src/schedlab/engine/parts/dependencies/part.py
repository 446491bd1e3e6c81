"""Dependencies, outside of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.jobs.columns import pilots
from schedlab.engine.part import Part
from schedlab.engine.parts.dependencies.kernels import DependencyState, new_dependencies

if TYPE_CHECKING:
    from schedlab.engine.axes import Moves
    from schedlab.engine.part import Given
    from schedlab.engine.prepared import Prepared
    from schedlab.engine.world import World


def _new(prepared: Prepared) -> DependencyState | None:
    limited = prepared.submission_limits is not None
    waits = prepared.workload.dependencies is not None or prepared.pilot.any() or limited
    return new_dependencies(prepared) if waits else None


def _grown(old: World, new: World, moves: Moves) -> None:
    """Record which jobs were ready and have ended while no job had dependencies."""
    dependencies: DependencyState = new.dependencies
    if old.dependencies is None:
        dependencies.ready[: moves.submitted] = True
        dependencies.ended[: moves.submitted] = old.state.start[: moves.submitted] >= 0
        dependencies.ended[old.state.completions.members()["job"]] = False
        if new.moldable is not None:  # the first alternative stands for the job
            ended = np.flatnonzero(dependencies.ended)
            dependencies.ended[new.moldable.first[ended]] = True


def _output(prepared: Prepared, world: World) -> dict[str, Any]:
    return {} if prepared.workload.dependencies is None else {"eligible": world.dependencies.eligible}


def _features(given: Given) -> tuple[str, ...]:
    linked = given.workload if given.spread is None else given.spread.given
    found = () if given.workload.dependencies is None else ("dependencies",)
    shared = linked.workflows is not None and bool(pilots(linked).any())
    return (*found, "shared_places") if shared else found


DEPENDENCIES = Part("dependencies", DependencyState, _new, _grown, output=_output, features=_features)
