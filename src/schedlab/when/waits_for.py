"""What waiting jobs wait for: behind whom in the queue, for which limit, before which reservation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.membership import membership
from schedlab.cluster.node_events import NodeEvent
from schedlab.scheduler.multifactor import Multifactor
from schedlab.scheduler.scheduler import as_scheduler
from schedlab.when.forks import simulation_of
from schedlab.when.site_state import SiteState
from schedlab.when.start_forecast import StartForecast
from schedlab.when.state import MachineState

LIMITS = ("Assoc", "QOS", "Licenses", "JobArrayTaskLimit", "PartitionTimeLimit", "PartitionNodeLimit")
"""What Slurm's reasons begin with where a limit keeps a job waiting."""


class WaitsFor(NamedTuple):
    """What a job waits for.

    Parameters
    ----------
    reason
        Slurm's word for it; empty for a job that is not submitted yet.
    ahead
        How many waiting jobs of a partition in common stand before it in the queue.
    own, group
        How many of these are of its user, and of other users of its account.
    limit
        The limit that keeps it waiting, in Slurm's word; empty: none that is known.
    closures
        Reservations and maintenance that a run from its median start on would reach into, or that lie before it, on
        nodes of its partition.
    """

    reason: str
    ahead: int
    own: int
    group: int
    limit: str
    closures: tuple[NodeEvent, ...]


def waits_for(found: SiteState, starts: StartForecast, cluster: Cluster) -> tuple[WaitsFor, ...]:
    """Return what each job of a forecast waits for."""
    state = found.state
    new = len(starts) and starts.jobs.job_id[0] not in state.jobs.job_id
    if new:
        state = state.with_jobs(starts.jobs)
    place = _places(found, state)
    who = membership(state.jobs, cluster)
    user, account = state.jobs.user_id, who.account.codes
    partitions = [frozenset(name.split(",")) for name in who.partition.texts()]
    rows = {int(job): row for row, job in enumerate(state.jobs.job_id.tolist())}
    medians, told = starts.quantiles([0.5])[:, 0], []
    for number, job in enumerate(starts.jobs.job_id.tolist()):
        row = rows[int(job)]
        before = np.flatnonzero((place < place[row]) & (state.start_time < 0))
        rivals = np.array([one for one in before.tolist() if partitions[one] & partitions[row]], dtype=np.int64)
        reason = "" if row >= len(found.reasons) else found.reasons[row]
        told.append(
            WaitsFor(
                reason,
                len(rivals),
                int((user[rivals] == user[row]).sum()),
                int(((user[rivals] != user[row]) & (account[rivals] == account[row]) & (account[row] >= 0)).sum()),
                reason if reason.startswith(LIMITS) else "",
                _closures(found, cluster, partitions[row], medians[number], int(state.jobs.requested_time[row])),
            )
        )
    return tuple(told)


def _places(found: SiteState, state: MachineState) -> NDArray[np.int64]:
    """Return the place of each job in the queue, by priority where there is one, else by submission."""
    jobs = state.jobs
    if isinstance(as_scheduler(found.twin.scheduler).policy, Multifactor):
        order = simulation_of(found.twin, state).priorities().row
    else:
        order = np.lexsort((np.arange(len(jobs)), jobs.submit_time))
    place = np.full(len(jobs), len(jobs), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


def _closures(
    found: SiteState, cluster: Cluster, partitions: frozenset[str], wait: float, request: int
) -> tuple[NodeEvent, ...]:
    """Return the reservations and maintenance between now and the end of a run that begins after a wait."""
    events = found.twin.node_events
    if events is None:
        return ()
    nodes = {name for one in cluster.partitions if one.name in partitions for name in cluster.nodes_of(one)}
    nodes = nodes or set(cluster.nodes)
    until = found.state.now + wait + request
    return tuple(one for one in events if one.end is not None and one.second < until and nodes & set(one.nodes))
