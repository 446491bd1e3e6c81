"""Which turns a pass of Slurm's considers: limits per user, partition ...; and for which jobs it reserves nothing.

Rules of Slurm, each an option: `Rules` names them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schedlab.engine.jobs.clock import NOW
from schedlab.engine.parts.heterogeneous.queue_order import own_score
from schedlab.engine.slurm.state import NO_GROUP, Depths
from schedlab.kernels import inlined

if TYPE_CHECKING:
    from schedlab.engine.world import World


@inlined
def take_look(depths: Depths, number: int, turn: int) -> bool:
    """Let the pass of this number consider a turn, and count that, if limits per user, partition ... allow it.

    Return whether they do.
    """
    for kind in range(depths.most.shape[0]):
        group = depths.group[kind, turn]
        if group == NO_GROUP:
            continue
        if depths.looked_in[group] != number:
            depths.looked_in[group], depths.looked_at[group] = number, 0
        if depths.looked_at[group] >= depths.most[kind]:
            return False
    for kind in range(depths.most.shape[0]):
        if depths.group[kind, turn] != NO_GROUP:
            depths.looked_at[depths.group[kind, turn]] += 1
    return True


@inlined
def is_never_looked_at(depths: Depths, turn: int) -> bool:
    """Return whether no pass considers a turn, as it may consider none of its user, partition ..."""
    never = False
    for kind in range(depths.most.shape[0]):
        never = never or (depths.group[kind, turn] != NO_GROUP and depths.most[kind] == 0)
    return never


@inlined
def is_young(world: World, job: int) -> bool:
    """Return whether a job has not waited long enough for a reservation, and keeps nobody waiting."""
    waited = world.state.clock[NOW] - world.seen[job].submit
    return world.rules.reserve_age > 0 and waited < world.rules.reserve_age


@inlined
def is_minor(world: World, job: int) -> bool:
    """Return whether the priority of a job, its negated score, is too low to reserve or to keep others waiting."""
    least = world.rules.reserve_priority
    return least > 0 and -own_score(world.heterogeneous, world.waiting.queue, job) < least
