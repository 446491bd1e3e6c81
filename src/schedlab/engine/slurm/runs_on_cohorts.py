"""On which cohorts of nodes the runs with several nodes lie, remembered within a plan.

A search asks this of run after run, and a run may have thousands of nodes, but they lie on few cohorts. Cohorts are
only ever cut, so what was found holds as long as each of them has as many nodes as then. A shortcut of ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.machine.cohorts import size_of
from schedlab.engine.machine.timeline_state import Timeline
from schedlab.kernels import inlined, inner_kernel, new_records

if TYPE_CHECKING:
    from schedlab.engine.world import World

LIES_ON = np.dtype([("cohort", "i8"), ("size", "i8")])
"""A cohort on which a run lies, and how many nodes it had when that was found."""


def lying_nowhere(nodes: int) -> NDArray[Any]:
    """Return room for what is found of runs on so many nodes: all of one run, and as much again of others."""
    return new_records(2 * nodes, LIES_ON)


@inlined
def forget_cohorts(world: World) -> None:
    """Forget on which cohorts runs lie, since there are others now."""
    groups = world.plan.groups[0]
    groups.plan += 1
    groups.lying = 0


@inlined
def find_cohorts(world: World, timeline: Timeline, listed: Any) -> None:
    """Let a listed run know its cohorts: `listed.cohorts` of `Passes.lies_on`, from `listed.first` on."""
    if not _are_known(world, timeline, listed):
        _find(world, timeline, listed)


@inlined
def _are_known(world: World, timeline: Timeline, listed: Any) -> bool:
    """Return whether the cohorts of a run have been found, and none has been cut since."""
    if listed.plan != world.plan.groups[0].plan:
        return False
    for i in range(listed.first, listed.first + listed.cohorts):
        if size_of(timeline, world.plan.lies_on[i].cohort) != world.plan.lies_on[i].size:
            return False
    return True


@inner_kernel
def _find(world: World, timeline: Timeline, listed: Any) -> None:
    """Go through the nodes of a run."""
    nodes, lies_on, groups = world.nodes, world.plan.lies_on, world.plan.groups[0]
    run = nodes.run[listed.job]
    first, behind = nodes.offsets[run], nodes.offsets[run + 1]
    if groups.lying + behind - first > lies_on.shape[0]:
        forget_cohorts(world)
    listed.plan, listed.first, listed.cohorts = groups.plan, groups.lying, 0
    for place in range(first, behind):
        cohort, known = timeline.cohort[nodes.places[place].node], False
        for i in range(groups.lying - 1, listed.first - 1, -1):
            if lies_on[i].cohort == cohort:
                known = True
                break
        if not known:
            lies_on[groups.lying].cohort, lies_on[groups.lying].size = cohort, size_of(timeline, cohort)
            groups.lying += 1
    listed.cohorts = groups.lying - listed.first
