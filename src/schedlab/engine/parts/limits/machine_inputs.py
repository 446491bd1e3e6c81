"""Partitions and limits of a cluster for the engine: from `Cluster` and `Resources` to numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.membership import Membership, membership
from schedlab.cluster.nodes import Partition
from schedlab.engine.machine.fitting import fitting
from schedlab.engine.machine.memory_limits import beyond_memory
from schedlab.engine.machine.named_nodes import name_nodes
from schedlab.engine.machine.numbers import UNLIMITED, NodeInputs
from schedlab.engine.machine.requests import fits_empty, node_inputs, unchecked_inputs
from schedlab.engine.parts.limits.associations import JOBS, most_nodes
from schedlab.engine.parts.limits.numbers import LimitInputs
from schedlab.engine.parts.limits.on_all_jobs import course_of, is_held_back
from schedlab.engine.parts.limits.qos_flags import Flags, flags_of
from schedlab.engine.parts.limits.refusal import refuse
from schedlab.engine.parts.limits.tres import allocated, billed, on_each_node
from schedlab.engine.parts.limits.uses import first_of, limits_on, offsets_of
from schedlab.errors import InputError
from schedlab.workload.columns import distinct
from schedlab.workload.job_requests import job_requests
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

NOWHERE = -1


class _Options(NamedTuple):
    """Where jobs may run: one entry per option.

    `job` is the row of the workload, `partition` a position in the cluster's; `refused` has, for each job, the reason
    why the last partition of its list does not admit it.
    """

    job: NDArray[np.int64]
    partition: NDArray[np.int64]
    refused: Labels


def machine_inputs(
    workload: Workload,
    cluster: Cluster,
    order: NDArray[np.intp] | None = None,
    placement: str | None = None,
    *,
    always: bool = False,
    owner: NDArray[np.int64] | None = None,
) -> tuple[NodeInputs, LimitInputs | None]:
    """Return the nodes of a cluster with the requests of jobs, and its partitions and limits if these have any effect.

    Parameters and errors as for `limit_inputs`. One partition without any limit equals the whole machine, and is left
    out unless `always` is set. If the jobs are alternatives, `owner` has the job of each.
    """
    if _is_open(cluster) and not always and not is_held_back(workload, cluster) and not name_nodes(workload):
        return node_inputs(workload, cluster, order, placement), None
    nodes, limits = limit_inputs(workload, cluster, order, placement, owner)
    parts = (cluster.preemption, limits.submission_limits, limits.reserves)
    decides = len(limits.tier) > 1 or len(limits.limit) > 0 or any(part is not None for part in (*parts, nodes.named))
    return nodes, limits if always or decides else None


def limit_inputs(
    workload: Workload,
    cluster: Cluster,
    order: NDArray[np.intp] | None = None,
    placement: str | None = None,
    owner: NDArray[np.int64] | None = None,
) -> tuple[NodeInputs, LimitInputs]:
    """Return nodes, partitions and limits of a cluster, and the requests of jobs, in order of submission.

    Parameters
    ----------
    workload
        The jobs; partition, account and QOS of each are in its `resources`, users in its columns and header.
    cluster
        A cluster of nodes.
    order
        The rows of the workload in order of submission, None if they are in it.
    placement
        The rule for the choice of nodes.
    owner
        The job of each row, if these are alternatives of moldable jobs.

    Returns
    -------
    tuple
        The nodes with the requests; the shape of a job is that of its first option. Then the site.

    Raises
    ------
    InputError
        If a job can never run: the message names it and the reason; `never_runs` returns the reasons of all jobs.
    """
    built = _build(workload, cluster, placement, owner)
    refuse(workload, cluster, built.never)
    return built.ordered(order)


def never_runs(workload: Workload, cluster: Cluster, owner: NDArray[np.int64] | None = None) -> Labels:
    """Return for each job the reason, in Slurm's words, why it can never run on a cluster; none if it can.

    If the jobs are alternatives, `owner` has the job of each.

    Raises
    ------
    InputError
        If a job requests a type of GPU or a constraint that is not valid.

    Examples
    --------
    >>> site = Cluster.from_dict({"groups": [{"nodes": "n1", "cores": 4}],
    ...                           "partitions": [{"name": "short", "default": True, "max_time": "1h"}]})
    >>> jobs = Workload.from_columns(dict(submit_time=[0, 0, 0], run_time=[9, 9, 9], requested_time=[60, 7200, 60],
    ...                                   requested_processors=[1, 1, 5]))
    >>> never_runs(jobs, site).texts()
    ['', 'PartitionTimeLimit', 'Resources']
    """
    if _is_open(cluster) and not is_held_back(workload, cluster):
        return Labels(np.where(fits_empty(workload, cluster), -1, 0), ("Resources",))
    return _build(workload, cluster, None, owner).never


def longest_requests(workload: Workload, cluster: Cluster) -> NDArray[np.int64]:
    """Return the longest request that any partition, the account and the QOS of each job allow.

    It is in seconds, at least 1 and at most `UNLIMITED`. Slurm refuses longer ones (EnforcePartLimits, DenyOnLimit), or
    lets them wait for ever.

    Raises
    ------
    InputError
        If a job requests a type of GPU or a constraint that is not valid.
    """
    if _is_open(cluster):
        return np.full(len(workload), UNLIMITED, dtype=np.int64)
    return _build(workload, cluster, None).longest


def _is_open(cluster: Cluster) -> bool:
    """Return whether all jobs may use all nodes."""
    return not cluster.partitions and cluster.accounting is None


class _Built(NamedTuple):
    nodes: NodeInputs
    options: _Options
    limits: LimitInputs
    never: Labels
    longest: NDArray[np.int64]

    def ordered(self, order: NDArray[np.intp] | None) -> tuple[NodeInputs, LimitInputs]:
        """Return the inputs with jobs in order of submission."""
        if order is None:
            return self.nodes, self.limits
        limits = self.limits
        offset, (partition, shape) = _reordered(
            limits.option_offset, order, limits.option_partition, limits.option_shape
        )
        uses, (limit, amount) = _reordered(limits.use_offset, order, limits.use_limit, limits.use_amount)
        limits = limits._replace(option_offset=offset, option_partition=partition, option_shape=shape)
        limits = limits._replace(use_offset=uses, use_limit=limit, use_amount=amount)
        if limits.reserves is not None:
            limits = limits._replace(reserves=limits.reserves[order])
        if (submission_limits := self.limits.submission_limits) is not None:
            uses, (limit, amount) = _reordered(
                submission_limits.use_offset, order, submission_limits.use_limit, submission_limits.use_amount
            )
            submission_limits = submission_limits._replace(
                use_offset=uses, use_limit=limit, use_amount=amount, batch=submission_limits.batch[order]
            )
            limits = limits._replace(submission_limits=submission_limits)
        return self.nodes._replace(shape=self.nodes.shape[order]), limits


def _reordered(
    offset: NDArray[np.int64], order: NDArray[np.intp], *columns: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Return lists of several entries per job for another order of the jobs."""
    lengths = np.diff(offset)[order]
    after = offsets_of(lengths)
    place = np.repeat(offset[:-1][order] - after[:-1], lengths) + np.arange(after[-1])
    return after, [column[place] for column in columns]


def _build(
    workload: Workload, cluster: Cluster, placement: str | None, owner: NDArray[np.int64] | None = None
) -> _Built:
    """Return all inputs in the workload's order; jobs that can never run have no option."""
    who = membership(workload, cluster)
    flags = flags_of(cluster, who)
    options = _admitted(workload, cluster, who, flags)
    nodes, options = _with_shapes(workload, cluster, options, placement, who)
    offset = offsets_of(np.bincount(options.job, minlength=len(workload)))
    first = np.full(len(workload), NOWHERE, dtype=np.int64)
    first[options.job[::-1]] = nodes.shape[::-1]
    partitions = cluster.partitions or (Partition("all"),)
    of_first = np.full(len(workload), NOWHERE, dtype=np.int64)
    of_first[options.job[::-1]] = options.partition[::-1]
    uses, submission_limits, alone = limits_on(
        workload, cluster, who, partitions, of_first, _amounts(nodes, first, of_first, cluster)
    )
    if submission_limits is not None:
        submission_limits = submission_limits if owner is None else submission_limits.of_first(owner)
        alone = alone._replace(exceeded=first_of(alone.exceeded, submission_limits.never()))
    limits = LimitInputs(
        tier=np.array([one.priority_tier for one in partitions], dtype=np.int64),
        nodes=_partition_nodes(cluster, nodes, partitions),
        option_offset=offset,
        option_partition=options.partition,
        option_shape=nodes.shape,
        **uses._asdict(),
        submission_limits=submission_limits,
        reserves=None if flags.reserves.all() else flags.reserves,
        course=course_of(cluster, uses.reason, uses.limit),
        partitioned=bool(cluster.partitions),
    )
    refused = Labels(np.where(np.diff(offset) > 0, -1, options.refused.codes), options.refused.names)
    longest = np.ones(len(workload), dtype=np.int64)
    np.maximum.at(
        longest, options.job, np.array([_or(one.max_time, UNLIMITED) for one in partitions])[options.partition]
    )
    longest[flags.over_max_time] = UNLIMITED
    longest = np.maximum(np.minimum(longest, alone.longest), 1)
    made = nodes._replace(shape=np.maximum(first, 0))
    return _Built(made, options, limits, first_of(refused, alone.exceeded), longest)


def _partition_nodes(cluster: Cluster, inputs: NodeInputs, partitions: tuple[Partition, ...]) -> NDArray[np.bool_]:
    place = {name: number for number, name in enumerate(inputs.names)}
    found = np.zeros((len(partitions), len(place)), dtype=np.bool_)
    for row, partition in enumerate(partitions):
        found[row, [place[name] for name in cluster.nodes_of(partition)]] = True
    return found


def _admitted(workload: Workload, cluster: Cluster, who: Membership, flags: Flags) -> _Options:
    """Return the partitions that admit each job: of higher tiers first, then in the order named."""
    jobs = len(workload)
    if not cluster.partitions:
        return _Options(np.arange(jobs), np.zeros(jobs, dtype=np.int64), Labels.none(jobs))
    columns = (who.partition, who.account, who.qos)
    first, case = distinct(*(column.codes for column in columns))
    rules = _Admission(cluster)
    lists, reasons = [], []
    for names in zip(*(column.select(first).texts() for column in columns), strict=True):
        found, reason = rules.of(*names)
        lists.append(found)
        reasons.append(reason)
    longest = max(map(len, lists), default=0)
    table = np.full((len(lists), max(longest, 1)), NOWHERE, dtype=np.int64)
    for row, found in enumerate(lists):
        table[row, : len(found)] = found
    refused = Labels.of(reasons)
    refused = Labels(refused.codes[case], refused.names)
    return _within(workload, cluster, table[case], refused, flags)


class _Admission:
    """The admission rules of partitions."""

    def __init__(self, cluster: Cluster) -> None:
        self.partitions = cluster.partitions
        self.place = {partition.name.lower(): place for place, partition in enumerate(cluster.partitions)}
        who = cluster.accounting
        self.above = {one.name: {up.name for up in who.above(one.name)} for one in who.accounts} if who else {}

    def of(self, text: str, account: str, qos: str) -> tuple[list[int], str]:
        """Return the partitions of a list that admit an account and a QOS, and why the last one did not."""
        found: list[int] = []
        reason = "PartitionName"
        for name in text.split(","):
            place = self.place.get(name.strip().lower())
            if place is None:
                continue
            why = self._why_not(self.partitions[place], account, qos)
            if why:
                reason = why
            elif place not in found:
                found.append(place)
        return sorted(found, key=lambda place: -self.partitions[place].priority_tier), "" if found else reason

    def _why_not(self, partition: Partition, account: str, qos: str) -> str:
        accounts = self.above.get(account, set()) | {account}
        if not partition.up:
            return "PartitionDown"
        if partition.allow_accounts:
            if not accounts & partition.allow_accounts:
                return "AccountNotAllowed"
        elif accounts & partition.deny_accounts:
            return "AccountNotAllowed"
        if partition.allow_qos:
            return "" if qos in partition.allow_qos else "QOSNotAllowed"
        return "QOSNotAllowed" if qos in partition.deny_qos else ""


def _within(workload: Workload, cluster: Cluster, table: NDArray[np.int64], refused: Labels, flags: Flags) -> _Options:
    """Return the options among a table of partitions, with a row per job, that satisfy the bounds on time and nodes."""
    longest, fewest, most = (
        np.array([_or(value, usual) for value in values], dtype=np.int64)
        for values, usual in (
            ([one.max_time for one in cluster.partitions], UNLIMITED),
            ([one.min_nodes for one in cluster.partitions], 0),
            ([one.max_nodes for one in cluster.partitions], UNLIMITED),
        )
    )
    nodes = np.zeros(len(workload), dtype=np.int64) if workload.resources is None else workload.resources.nodes
    there = table >= 0
    slow = there & (workload.requested_time[:, None] > longest[table]) & ~flags.over_max_time[:, None]
    counted = nodes[:, None] > 0
    many = (nodes[:, None] > most[table]) & ~flags.over_max_nodes[:, None]
    few = (nodes[:, None] < fewest[table]) & ~flags.under_min_nodes[:, None]
    wide = there & counted & (many | few)
    kept = there & ~slow & ~wide
    none = ~kept.any(axis=1)
    why = np.select(
        [none & slow.any(axis=1), none & wide.any(axis=1)],
        [np.full(len(workload), len(refused.names)), np.full(len(workload), len(refused.names) + 1)],
        refused.codes,
    )
    job, column = np.nonzero(kept)
    names = (*refused.names, "PartitionTimeLimit", "PartitionNodeLimit")
    return _Options(job.astype(np.int64), table[job, column], Labels(why.astype(np.int64), names))


def _or(value: int | None, usual: int) -> int:
    return usual if value is None else value


def _with_shapes(
    workload: Workload, cluster: Cluster, options: _Options, placement: str | None, who: Membership
) -> tuple[NodeInputs, _Options]:
    """Return the nodes with a request for each option, and the options whose request fits the empty partition."""
    asking = _asking(workload, cluster, options)
    try:
        nodes = unchecked_inputs(asking, cluster, placement, _most_nodes(cluster, options, who))
    except InputError as error:  # the rows of `asking` are options
        raise InputError(str(error), row=None if error.row is None else int(options.job[error.row])) from None
    over = beyond_memory(nodes, nodes.shape, options.partition, cluster)
    fits = fitting(nodes) & ~over
    kept = _Options(options.job[fits], options.partition[fits], options.refused)
    lost = np.ones(len(workload), dtype=np.bool_)
    lost[kept.job] = False
    unfit = np.zeros(len(workload), dtype=np.bool_)
    unfit[options.job[~fits]] = True
    large = np.zeros(len(workload), dtype=np.bool_)
    large[options.job[over]] = True
    names = (*options.refused.names, "Resources", "MaxMemPerLimit")
    codes = [len(names) - 1, len(names) - 2]
    why = np.select([lost & large, lost & unfit], codes, options.refused.codes)
    return nodes._replace(shape=nodes.shape[fits]), kept._replace(refused=Labels(why, names))


def _most_nodes(cluster: Cluster, options: _Options, who: Membership) -> NDArray[np.int64] | None:
    """Return how many nodes limits of accounts and QOS let the job of each option have, None without limits."""
    if cluster.accounting is None:
        return None
    qos = Labels.of([partition.qos for partition in cluster.partitions or (Partition("all"),)])
    whose = Membership(*(column.select(options.job) for column in who))
    return most_nodes(cluster.accounting, whose, qos.select(options.partition))


def _asking(workload: Workload, cluster: Cluster, options: _Options) -> Workload:
    """Return a workload with a row per option, each for its partition alone."""
    resources = job_requests(workload)
    jobs = workload.replace(dependencies=None, workflows=None)[options.job]
    asked = resources.select(options.job)
    if not cluster.partitions:
        return jobs.replace(resources=asked)
    names = tuple(partition.name for partition in cluster.partitions)
    columns = {field: getattr(asked, field) for field in Resources.__dataclass_fields__}
    return jobs.replace(resources=Resources(**columns | {"partition": Labels(options.partition, names)}))


def _amounts(
    inputs: NodeInputs, shape: NDArray[np.int64], partition: NDArray[np.int64], cluster: Cluster
) -> dict[str, NDArray[np.int64]]:
    """Return how much of each resource jobs use, by their shapes and partitions, for limits."""
    found = allocated(inputs, shape, cluster)
    billing = np.floor(billed(found, partition, cluster.partitions)).astype(np.int64)
    held = {"billing": billing, JOBS: (shape >= 0).astype(np.int64)}
    return found | held | on_each_node(inputs, shape, cluster)
