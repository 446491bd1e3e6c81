"""How Slurm's backfill pass groups the ends of running jobs: it asks only once for a group whether a job fits.

A rule of Slurm (select/cons_tres). A group is a stretch of time. The first one begins with the first end and is short;
those behind it are the wider the later they are. All ends of a group count as one moment. Since 26.05, that is only
when a job is tried: it is planned for when the nodes are free that it gets then (`Rules.own_ends`).

Plainly, the same is `in_groups` in `schedlab.engine.reference.slurm_plan`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from schedlab.engine.jobs.calendar import Calendar, soonest_place
from schedlab.kernels import inlined

if TYPE_CHECKING:
    from schedlab.engine.rules import Rules

GROUP = 30
"""Seconds from the edge to the end of the first group, and those of which the edge is a multiple.

BACKFILL_INTERVAL of select/cons_tres.
"""

NO_EDGE = -1
"""No group has begun."""

GROUPS = np.dtype(
    [
        ("edge", "i8"),  # the multiple of 30 s behind the first end; the first group is over GROUP seconds later
        ("window", "i8"),  # seconds from the edge to the end of the present group
        ("place", "i8"),  # of the running job that is looked at next, in the calendar
        ("tried", "i8"),  # the last second with ends that has been tried
        ("counted", "i8"),  # 1 if room has been counted in the present search: on so many usable nodes ...
        ("spaces", "i8"),  # ... is room ...
        ("held", "i8"),  # ... for so many tasks
        ("released", "i8"),  # how many cohorts have been noted as released since, in Timeline.cohorts
        ("plan", "i8"),  # the number of the plan for which it is known on which cohorts runs lie ...
        ("lying", "i8"),  # ... of which so many have been found
    ]
)
"""The present group, and how far a search through the running jobs has come."""


@inlined
def begin_groups(groups: Any, running: Calendar, now: int) -> None:
    """Go to the running job that is expected to end first."""
    groups.edge, groups.window, groups.place, groups.tried = NO_EDGE, GROUP, soonest_place(running), now


@inlined
def open_group(groups: Any, rules: Rules, end: int) -> bool:
    """Let the first group begin with the first end; return False if it has begun before."""
    if groups.edge != NO_EDGE:
        return False
    groups.edge = end + GROUP - (end - rules.origin) % GROUP
    return True


@inlined
def leave_group(groups: Any, rules: Rules, end: int) -> bool:
    """Return whether an end is too late for the present group; the one that it belongs to is the present one then."""
    if not rules.grouped:
        return True
    too_late = end > groups.edge + groups.window
    while end > groups.edge + groups.window:
        groups.window *= 2
    return too_late
