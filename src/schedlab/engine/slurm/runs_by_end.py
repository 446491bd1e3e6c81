"""The running jobs by their expected ends, in one row: a search for a plan goes through them.

A shortcut of ours: calendars have the same runs, in blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from schedlab.engine.jobs.calendar import next_place, record_at, soonest_place
from schedlab.engine.jobs.clock import NOW
from schedlab.engine.machine.state import CHANGED, RUNS
from schedlab.engine.parts.preemption.state import has_preemption
from schedlab.engine.slurm.state import BACKFILL_PASSES, LISTED, LISTED_AT
from schedlab.kernels import inlined, inner_kernel

if TYPE_CHECKING:
    from schedlab.engine.world import World

SEVERAL = -1
"""In place of the node of a run that has several."""

NO_PLAN = -1
"""For which nothing is known."""

RUN = np.dtype(
    [
        ("end", "i8"),
        ("job", "i8"),
        ("node", "i8"),  # or SEVERAL
        ("plan", "i8"),  # for which it is known on which cohorts of nodes it lies, see `runs_on_cohorts`: ...
        ("first", "i8"),  # ... from this place on ...
        ("cohorts", "i8"),  # ... on so many
    ]
)
"""A running job, and when it is expected to end."""


@inlined
def list_runs(world: World) -> None:
    """List the running jobs, soonest end first, unless they have been since the last start or end in this plan."""
    number = world.nodes.counters[RUNS] + world.nodes.counters[CHANGED]
    if has_preemption(world) or world.plan.counters[LISTED_AT] != number:
        lasts = _list_runs(world)
        world.plan.counters[LISTED_AT] = number if lasts else -1


@inner_kernel
def _list_runs(world: World) -> bool:
    """List them; return whether the list holds behind the present pass.

    The pass that starts a job plans it from now on, though it begins later where its nodes have to boot.
    """
    nodes, running, plan, count, lasts = world.nodes, world.state.running, world.plan, 0, True
    place = soonest_place(running)
    while place >= 0:
        record, at = record_at(running, place), count
        end = record.end
        boots = world.state.start[record.job] - world.state.clock[NOW]
        if boots > 0 and plan.planned_in[record.job] == plan.counters[BACKFILL_PASSES]:
            end, lasts = end - boots, False
            while at > 0 and plan.runs[at - 1].end > end:
                plan.runs[at] = plan.runs[at - 1]
                at -= 1
        listed = plan.runs[at]
        first, behind = nodes.offsets[nodes.run[record.job]], nodes.offsets[nodes.run[record.job] + 1]
        listed.end, listed.job, listed.plan = end, record.job, NO_PLAN
        listed.node = nodes.places[first].node if behind == first + 1 else SEVERAL
        place = next_place(running, place)
        count += 1
    plan.counters[LISTED] = count
    return lasts
