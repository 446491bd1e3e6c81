"""The nodes of a snapshot: where its jobs run, and which nodes are out of service, reserved or to be maintained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_list, host_names
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.node_states import Service
from schedlab.errors import InputError
from schedlab.schedule.placement import Placement
from schedlab.site.site import Site
from schedlab.when.snapshots import Snapshot
from schedlab.wording import count_of
from schedlab.workload.workload import Workload

BEFORE_ALL = 0
"""The second, behind the epoch, from which on nodes that are out of service are so."""


@dataclass(frozen=True, slots=True)
class SeenPlacement:
    """Where the jobs of a queue run, and what was strange about that."""

    placement: Placement
    notes: tuple[str, ...]

    def select(self, rows: NDArray[np.intp]) -> Placement:
        """Return where some of the jobs run."""
        return self.placement.select(rows)


def placement_of(
    on: Iterable[tuple[tuple[str, int], ...]], jobs: Workload, cluster: Cluster, services: Mapping[str, Service]
) -> tuple[SeenPlacement, NDArray[np.bool_]]:
    """Return where jobs run, and which run on nodes that the cluster does not have.

    Parameters
    ----------
    on
        Per job: host lists, with the cores that it holds on each node, 0 if that is not told.
    jobs, cluster
        The jobs and the nodes.
    services
        The nodes whose states were seen; empty if none were.
    """
    names = cluster.nodes
    size = {name: group.cores for group in cluster.groups for name in group.names}
    place = {name: row for row, name in enumerate(names)}
    offsets, node, held, lost, unseen = [0], [], [], [], set[str]()
    for cores, told in zip(jobs.job_processors.tolist(), on, strict=True):
        hosts = [(name, count) for text, count in told for name in host_names(text)]
        unknown = [name for name, _ in hosts if name not in place]
        lost.append(bool(unknown))
        unseen |= {name for name, _ in hosts if services and name not in services}
        for name, count in () if unknown else hosts:
            node.append(place[name])
            held.append(min(count or -(-cores // len(hosts)), size[name]))
        offsets.append(len(node))
    notes = []
    if any(lost):
        notes.append(
            f"{count_of(sum(lost), 'running job')} left out, on nodes that the site's slurm.conf lacks: import it again"
        )
    if unseen:
        notes.append(f"jobs run on {host_list(sorted(unseen))}, of which no state was seen: taken to be in service")
    cores_of = np.array([size[name] for name in names], dtype=np.int64)
    places, amounts = (np.array(column, dtype=np.int64) for column in (node, held))
    none = np.zeros(len(names), dtype=np.int64)
    where = Placement(names, cores_of, none, np.array(offsets), places, amounts, np.zeros_like(places))
    return SeenPlacement(where, tuple(notes)), np.array(lost, dtype=np.bool_)


def events_of(snapshot: Snapshot, site: Site, epoch: int) -> tuple[NodeEvents | None, list[str]]:
    """Return what a snapshot tells of nodes as events in seconds behind an epoch, and notes."""
    there, notes = set(site.cluster.nodes), list[str]()
    out = [name for name, service in snapshot.services.items() if service in ("down", "drain") and name in there]
    events = [NodeEvent(BEFORE_ALL, "drain", tuple(out))] if out else []
    if out:
        notes.append(f"{count_of(len(out), 'node')} out of service ({host_list(out)}), taken to stay so")
    if strange := [name for name in snapshot.services if name not in there]:
        notes.append(f"slurm.conf of the site lacks {host_list(strange)}, which Slurm has: import it again")
    for one in snapshot.reservations:
        nodes = tuple(name for name in one.nodes if name in there)
        if one.end is not None and one.end > snapshot.now and nodes:
            event = replace(one, second=one.second - epoch, end=one.end - epoch, nodes=nodes)
            try:
                NodeEvents((*events, event))
            except InputError as error:
                notes.append(f"the reservation {one.name} is left out: {error}")
                continue
            events.append(event)
    return NodeEvents(tuple(events)) if events else None, notes
