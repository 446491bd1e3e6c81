"""Jobs at a limit that keep those behind them waiting, as under Slurm's assoc_limit_stop (`limits=stop` of +slurm).

Slurm tests limits of resources when it has chosen nodes, and treats a job that exceeds one like a job without room.
Other limits it tests before, and passes the job over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.engine.bookings import has_opened
from schedlab.engine.in_service import in_service
from schedlab.engine.needs import Needs, is_ready
from schedlab.engine.rivals import is_moldable
from schedlab.engine.rules import Rules
from schedlab.engine.site_state import Site, admitted, exceeds_resources_alone
from schedlab.engine.state import NOW, State, by_itself_within_limits
from schedlab.kernels import inlined, inner_kernel


@inlined
def stops_others(site: Site | None, jobs: NDArray[Any], state: State, rules: Rules, job: int) -> bool:
    """Return whether a job is at limits of resources, and nothing else keeps it from starting on idle nodes.

    A moldable job stops nobody: another of its alternatives may be within the limits. The last choice of nodes is lost.
    """
    if site is not None:
        now = state.clock[NOW]
        return (
            rules.stops_at_limits
            and has_opened(state.nodes, job, now)
            and not is_moldable(state.rivals, job)
            and exceeds_resources_alone(site, state.running, job, jobs[job].estimate, now)
            and in_service(state.nodes, job)
        )
    return False


@inlined
def is_at_limit(site: Site, jobs: NDArray[Any], state: State, rules: Rules, job: int) -> bool:
    """Return whether a job that `line_up` has listed may not start, and stops others."""
    if rules.stops_at_limits:
        return not admitted(site, state.running, job, jobs[job].estimate, state.clock[NOW])
    return False


@inner_kernel
def line_up(
    site: Site,
    jobs: NDArray[Any],
    state: State,
    order: NDArray[np.int64],
    count: int,
    needs: Needs | None,
    rules: Rules,
) -> int:
    """List the jobs of an order that are ready, and within limits or stop others, in `site.behind`; return how many.

    It overwrites the view of what is free.
    """
    listed = 0
    for i in range(count):
        job = order[i]
        if is_ready(needs, job) and (
            by_itself_within_limits(jobs, state, job) or stops_others(site, jobs, state, rules, job)
        ):
            site.behind[listed] = job
            listed += 1
    return listed
