"""The world: all that a simulation is, in one record that kernels get by address.

Parts that a simulation does not have are None; what a kernel asks about them is decided before types are inferred.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from schedlab.engine.assembly import Parts
from schedlab.kernels import by_address, replacing


@by_address
class World(NamedTuple):
    """A simulation; its parts stand side by side.

    Parameters
    ----------
    jobs, state
        See `schedlab.engine.jobs.state`.
    seen
        The jobs as the order of the queue sees them.
    waiting, orders
        The queues and their orders.
    plan
        The plan of the passes: `Plan` for conservative backfilling, `Passes` for Slurm's, None for the others.
    rules
        The rules of the scheduler.
    nodes, site
        What is free on each node; partitions and limits. None on processors, or without any.
    forecasts, retries, needs, priority
        Parts, or None: predicted run times; runs that fail at their requests and are retried; dependencies;
        multifactor priority.
    rivals, hets
        The alternatives of moldable jobs; the components of heterogeneous ones.
    preemption, returns, gate, outages, wishes
        Preemption, requeued jobs that may not begin again yet, limits on submitted jobs, changes of nodes, and waits
        for fewer switches.
    """

    jobs: NDArray[Any]
    seen: NDArray[Any]
    state: Any
    waiting: Any
    orders: Any
    plan: Any
    rules: Any
    nodes: Any
    site: Any
    forecasts: Any = None
    retries: Any = None
    needs: Any = None
    priority: Any = None
    rivals: Any = None
    hets: Any = None
    preemption: Any = None
    returns: Any = None
    gate: Any = None
    outages: Any = None
    wishes: Any = None


MOVED = {
    "state": ("nodes", "site", "rivals", "hets"),
    "nodes": ("outages", "wishes"),
    "site": ("preemption", "returns", "gate"),
}
"""What stands in the world instead of in its state, nodes and site; there it is None."""

with_jobs = replacing("jobs", "seen")
"""Return a world with other jobs, for a kernel that is called where it is."""


def world_of(parts: Parts) -> World:
    """Return the world of a simulation: the same arrays, with the parts side by side."""
    state = parts.state
    nodes, site = state.nodes, state.site
    return World(
        jobs=parts.jobs,
        seen=parts.seen,
        state=_without(state, "state"),
        waiting=parts.waiting,
        orders=parts.orders,
        plan=parts.plan,
        rules=parts.rules,
        nodes=_without(nodes, "nodes"),
        site=_without(site, "site"),
        forecasts=parts.forecasts,
        retries=parts.retries,
        needs=parts.needs,
        priority=parts.priority,
        rivals=state.rivals,
        hets=state.hets,
        **{name: getattr(site, name, None) for name in MOVED["site"]},
        **{name: getattr(nodes, name, None) for name in MOVED["nodes"]},
    )


def _without(record: Any, name: str) -> Any:
    return None if record is None else record._replace(**dict.fromkeys(MOVED[name]))
