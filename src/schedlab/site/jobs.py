"""The jobs of a site as a simulation takes them: completed by what its configuration says, counted if left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.membership import Membership, membership
from schedlab.cluster.node_events import NodeEvents
from schedlab.durations import DAY
from schedlab.engine.machine.named_nodes import among_known
from schedlab.engine.parts.heterogeneous.numbers import never_together, owners_of
from schedlab.engine.parts.limits.machine_inputs import never_runs
from schedlab.engine.parts.limits.refusal import in_words
from schedlab.engine.parts.reservations.numbers import may_not_reserve
from schedlab.engine.simulation import simulate
from schedlab.errors import InputError
from schedlab.schedule.schedule import Schedule
from schedlab.scheduler.scheduler import Scheduler, as_scheduler
from schedlab.site.scheduling import Numbers
from schedlab.wording import count_of, shown
from schedlab.workload.columns import UNKNOWN
from schedlab.workload.job_requests import job_requests
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

_KINDS = {"Partition": "partition_id", "Queue": "queue_id", "Group": "group_id"}
"""What header lines call the names of partitions, QOS and accounts, and their columns."""

YEAR = 365 * DAY
"""The limit with which Slurm's backfill plans jobs without one (backfill.c, YEAR_MINUTES)."""


NAMED = 5
"""Unknown partitions that a note names; of more, it counts the others."""


class SiteJobs(NamedTuple):
    """The jobs of a site.

    Parameters
    ----------
    jobs
        All of them, with what applies where they are silent.
    notes
        What was filled in, in sentences.
    """

    jobs: Workload
    notes: tuple[str, ...]


def completed(workload: Workload, cluster: Cluster) -> SiteJobs:
    """Return the jobs of a site, with partition, account, QOS and time limit where they name none.

    The columns of partitions, QOS and accounts number the names of `resources`, from 1.

    Parameters
    ----------
    workload
        As its log was read.
    cluster
        Its default partition, users and accounts say what applies.
    """
    resources = job_requests(workload)
    who = membership(workload, cluster)
    jobs = workload.replace(resources=_with_names(resources, who))
    jobs, unknown = without_unknown_nodes(jobs, cluster)
    columns, header = _numbered(jobs)
    request, given = _time_limits(jobs, cluster)
    endless = request <= 0
    request = np.where(endless, YEAR, request)
    notes = [
        f"{count_of(int(added.sum()), 'job')} without {what}: {source}"
        for what, added, source in (
            ("a partition", (resources.partition.codes < 0) & (who.partition.codes >= 0), "the default one"),
            ("an account", (resources.account.codes < 0) & (who.account.codes >= 0), "the user's default account"),
            ("a QOS", (resources.qos.codes < 0) & (who.qos.codes >= 0), "that of the user, of the account, or normal"),
            ("a time limit", given, "that of the partition"),
            ("a time limit, also of the partition", endless, "a year, with which Slurm plans them"),
        )
        if added.any()
    ]
    told = (*notes, *unknown, *_of_unknown_partitions(resources.partition, cluster))
    return SiteJobs(jobs.replace(requested_time=request, header=header, **columns), told)


def _of_unknown_partitions(partition: Labels, cluster: Cluster) -> Iterator[str]:
    """Say which partitions jobs name that the cluster does not have, if it has any, and how many jobs these are."""
    known = {one.name.lower() for one in cluster.partitions}
    counts = np.bincount(partition.codes[partition.codes >= 0], minlength=len(partition.names))
    strange = [
        f"{count_of(int(count), 'job')} of partition {shown(text)[1:-1]}"
        for text, count in zip(partition.names, counts.tolist(), strict=True)
        if count and not any(name.strip().lower() in known for name in text.split(","))
    ]
    if known and strange:
        more = f" and {count_of(len(strange) - NAMED, 'other partition')}" if len(strange) > NAMED else ""
        yield f"{', '.join(strange[:NAMED])}{more}: slurm.conf has none of that name, and they are not replayed"


def without_unknown_nodes(jobs: Workload, cluster: Cluster) -> tuple[Workload, list[str]]:
    """Return jobs that name and exclude only nodes that there are, and what was left out, in sentences."""
    if jobs.resources is None:
        return jobs, []
    columns = {field: getattr(jobs.resources, field) for field in Resources.__dataclass_fields__}
    notes = []
    for name in ("nodelist", "exclude"):
        labels, changed = among_known(columns[name], frozenset(cluster.nodes), all_or_none=name == "nodelist")
        if changed.any():
            columns[name] = labels
            notes.append(f"{count_of(int(changed.sum()), 'job')} with unknown nodes in --{name}: these are left out")
    return (jobs.replace(resources=Resources(**columns)) if notes else jobs), notes


def _with_names(resources: Resources, who: Membership) -> Resources:
    columns = {field: getattr(resources, field) for field in Resources.__dataclass_fields__}
    named = {"partition": who.partition, "account": who.account, "qos": who.qos}
    return Resources(**columns | {name: one.in_order() for name, one in named.items()})


def _numbered(jobs: Workload) -> tuple[dict[str, NDArray[np.int64]], tuple[str, ...]]:
    """Return the columns that number names, and the header that says which is which."""
    assert jobs.resources is not None
    labels = {"Partition": jobs.resources.partition, "Queue": jobs.resources.qos, "Group": jobs.resources.account}
    of_names = tuple(f" {kind}: " for kind in _KINDS) + tuple(f" Max{kind}s: " for kind in _KINDS)
    header = [line for line in jobs.header if not line.startswith(of_names)]
    columns = {}
    for kind, one in labels.items():
        columns[_KINDS[kind]] = np.where(one.codes >= 0, one.codes + 1, UNKNOWN)
        header += [f" {kind}: {number} {name}" for number, name in enumerate(one.names, 1)]
    return columns, tuple(header)


def numbers_of(jobs: Workload | None, cluster: Cluster) -> Numbers:
    """Return the numbers of partitions and QOS in the columns of jobs; without jobs, those in the cluster's order."""
    if jobs is None or jobs.resources is None:
        qos = () if cluster.accounting is None else cluster.accounting.qos
        partitions = {one.name: number for number, one in enumerate(cluster.partitions, 1)}
        return Numbers(partitions, {one.name: number for number, one in enumerate(qos, 1)})
    partition, qos_names = jobs.resources.partition.names, jobs.resources.qos.names
    return Numbers(
        {name: number for number, name in enumerate(partition, 1)},
        {name: number for number, name in enumerate(qos_names, 1)},
    )


def _time_limits(jobs: Workload, cluster: Cluster) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return what jobs ask for, with the DefaultTime of their partition (or its MaxTime) where they say nothing."""
    assert jobs.resources is not None
    request, partition = jobs.requested_time, jobs.resources.partition
    limits = {one.name.lower(): one.default_time or one.max_time or UNKNOWN for one in cluster.partitions}
    usual = [limits.get(name.split(",")[0].strip().lower(), UNKNOWN) for name in partition.names]
    silent = request <= 0
    filled = np.where(silent, np.array([*usual, UNKNOWN], dtype=np.int64)[partition.codes], request)
    return filled, silent & (filled > 0)


@dataclass(frozen=True, slots=True)
class Replayable:
    """The jobs that a simulation can replay.

    Parameters
    ----------
    jobs
        Those.
    rows
        Their rows among all.
    left_out
        How many were left out, by reason.
    """

    jobs: Workload
    rows: NDArray[np.intp]
    left_out: dict[str, int]

    def notes(self) -> list[str]:
        """Return what was left out, in sentences."""
        return left_out_texts(self.left_out)


def left_out_texts(left_out: Mapping[str, int]) -> list[str]:
    """Return how many jobs were left out for each reason; reasons are about a single job.

    Examples
    --------
    >>> left_out_texts({"it asks for too much": 2, "asks for the reservation c": 1})
    ['2 jobs left out, each because it asks for too much', '1 job left out: it asks for the reservation c']
    """
    told = []
    for reason, count in left_out.items():
        why = f"it {reason}" if reason.startswith("asks ") else reason
        each = ", each because" if count > 1 and re.search(r"\bits?\b", why) else ":"
        told.append(f"{count_of(count, 'job')} left out{each} {why}")
    return told


def replayable(
    jobs: Workload,
    cluster: Cluster,
    node_events: NodeEvents | None = None,
    *,
    unwanted: NDArray[np.object_] | None = None,
) -> Replayable:
    """Return the jobs that ran, and that can run on a cluster; the others are counted by reason.

    With reservations among the node events, these are also jobs that may not use the one that they ask for. `unwanted`
    has the reason why a job is left out in any case, or "".

    Raises
    ------
    InputError
        If none remains.
    """
    unknown = {
        "never started": (jobs.run_time < 0) & (jobs.wait_time < 0),
        "had not ended": (jobs.run_time < 0) & (jobs.wait_time >= 0),
        "no processors known": jobs.job_processors <= 0,
    }
    jobs = without_unknown_nodes(jobs, cluster)[0]
    reason = np.full(len(jobs), "", dtype=object) if unwanted is None else unwanted.copy()
    for why, those in unknown.items():
        reason[those & (reason == "")] = why
    rows = np.flatnonzero(reason == "")
    never = never_runs(jobs[rows], cluster) if rows.size else Labels.none(0)
    reason[rows] = in_words(jobs[rows], cluster, never) if rows.size else []
    rows = np.flatnonzero(reason == "")
    if node_events is not None and rows.size:
        reason[rows] = may_not_reserve(jobs[rows], cluster, node_events).texts()
    owner = owners_of(jobs)
    if owner is not None:
        lost = np.isin(owner, owner[reason != ""]) & (reason == "")
        reason[lost] = "another component of its heterogeneous job is"
        rows = np.flatnonzero(reason == "")
        if rows.size:
            reason[rows[never_together(jobs[rows], cluster)]] = "the components of its job never fit at the same time"
    kept = np.flatnonzero(reason == "")
    names, counts = np.unique(reason[reason != ""].astype(str), return_counts=True)
    left_out = {str(name): int(count) for name, count in zip(names, counts, strict=True)}
    if not kept.size:
        told = "; ".join(f"{name}: {count:,}" for name, count in left_out.items())
        raise InputError(f"{jobs.name}: of {count_of(len(jobs), 'job')}, none can be replayed ({told})")
    return Replayable(jobs[kept], kept, left_out)


def replay(
    jobs: Workload,
    scheduler: str | Scheduler,
    cluster: Cluster,
    *,
    nodes: bool,
    node_events: NodeEvents | None = None,
) -> Schedule:
    """Return the schedule of a site's jobs on its nodes, with what happens to these, or on as many processors."""
    if nodes:
        return simulate(jobs, scheduler, cluster=cluster, node_events=node_events)
    return simulate(jobs, replace(as_scheduler(scheduler), placement=None), processors=cluster.processors)


def of_cluster(events: NodeEvents | None, cluster: Cluster) -> NodeEvents | None:
    """Return the events of nodes that a cluster has; None: there are none."""
    if events is None:
        return None
    there = set(cluster.nodes)
    parts = (
        replace(one, nodes=tuple(name for name in one.nodes if name in there)) for one in events if there & {*one.nodes}
    )
    kept = replace(events, events=tuple(parts))
    return kept if len(kept) else None
