"""A cluster as text: what it has in one line, its groups and partitions as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from schedlab.durations import DAY, duration_text, time_limit_text
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.cluster.cluster import Cluster
    from schedlab.cluster.limits import QosLimits
    from schedlab.cluster.nodes import NodeGroup, Partition

WIDEST = 60
"""Characters of a host list, or of features."""


def resources_text(cluster: Cluster) -> str:
    """Return nodes, cores, memory and GPUs of a cluster."""
    if not cluster.groups:
        return count_of(cluster.processors, "processor")
    parts = [count_of(len(cluster.nodes), "node"), count_of(cluster.processors, "core")]
    if cluster.memory is not None:
        parts.append(f"{memory_text(cluster.memory)} of memory")
    gpus = cluster.gpus
    if gpus:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in gpus.items() if kind)
        parts.append(count_of(sum(gpus.values()), "GPU") + (f" ({kinds})" if kinds else ""))
    return ", ".join(parts)


def memory_text(mebibytes: int) -> str:
    """Return an amount of memory in the largest unit of which there is at least one.

    Examples
    --------
    >>> memory_text(512), memory_text(187_000), memory_text(4 << 20)
    ('512 MiB', '182.6 GiB', '4 TiB')
    """
    for unit, size in (("TiB", 1 << 20), ("GiB", 1 << 10)):
        if mebibytes >= size:
            return f"{mebibytes / size:,.1f}".removesuffix(".0") + f" {unit}"
    return f"{mebibytes} MiB"


def cluster_text(cluster: Cluster) -> str:
    """Return a summary, and tables of groups and partitions."""
    parts = [cluster.summary()]
    if cluster.groups:
        head = ("nodes", "count", "cores", "memory (MiB)", "GPUs", "weight", "features", "switch")
        parts.append(_table(head, map(_group_row, kinds_of_nodes(cluster)), "<>>><><<"))
    if cluster.partitions:
        head = ("partition", "default", "nodes", "cores", "tier", "max time", "max nodes", "rules")
        rows = (_partition_row(cluster, partition) for partition in cluster.partitions)
        parts.append(_table(head, rows, "<<>>><><"))
    if cluster.accounting is not None:
        who = cluster.accounting
        users = len({user.user for user in who.users})
        parts.append(f"{len(who.qos)} QOS, {count_of(len(who.accounts) - 1, 'account')}, {count_of(users, 'user')}")
        parts.append(_table(("QOS", "priority", "limits"), map(_qos_row, who.qos), "<><"))
    return "\n\n".join(parts)


def kinds_of_nodes(cluster: Cluster) -> list[NodeGroup]:
    """Return the groups of a cluster with those that are alike as one, wherever their nodes stand in the order."""
    names: dict[NodeGroup, list[str]] = {}
    for group in cluster.groups:
        names.setdefault(replace(group, names=("any",)), []).extend(group.names)
    return [replace(kind, names=tuple(hosts)) for kind, hosts in names.items()]


def _group_row(group: NodeGroup) -> list[str]:
    memory = "" if group.memory is None else f"{group.memory:,}"
    gpus = ", ".join(f"{count} {kind}".strip() for kind, count in group.gpus)
    features = _cut(",".join(sorted(group.features)))
    return [
        _cut(group.hosts),
        f"{len(group.names):,}",
        f"{group.cores}",
        memory,
        gpus,
        f"{group.weight}",
        features,
        group.switch,
    ]


def _partition_row(cluster: Cluster, partition: Partition) -> list[str]:
    nodes = set(cluster.nodes_of(partition))
    cores = sum(group.cores * len(nodes.intersection(group.names)) for group in cluster.groups)
    return [
        partition.name,
        "yes" if partition.default else "",
        f"{len(nodes):,}",
        f"{cores:,}",
        f"{partition.priority_tier}",
        "unlimited" if partition.max_time is None else _limit(partition.max_time),
        "" if partition.max_nodes is None else f"{partition.max_nodes:,}",
        ", ".join(_rules(partition)),
    ]


def _limit(seconds: int) -> str:
    """Return a time limit, as Slurm writes it where that is no number of days or hours with few digits."""
    short = duration_text(seconds)
    return short if short.endswith(("d", "h")) or seconds < DAY else time_limit_text(seconds)


def _qos_row(qos: QosLimits) -> list[str]:
    limits = ((field.name, getattr(qos.limits, field.name)) for field in fields(qos.limits))
    return [qos.name, f"{qos.priority}", ", ".join(f"{name} {_amount(name, value)}" for name, value in limits if value)]


def _amount(name: str, value: int | tuple[tuple[str, int], ...]) -> str:
    if isinstance(value, tuple):
        return ",".join(f"{kind}={amount}" for kind, amount in value)
    return _limit(value) if name.endswith("wall") else f"{value}"


def _rules(partition: Partition) -> Iterable[str]:
    if not partition.up:
        yield "down"
    if partition.exclusive:
        yield "whole nodes"
    if partition.exclusive_user:
        yield "one user per node"
    if partition.least_loaded:
        yield "least loaded nodes"
    for names, what in (
        (partition.allow_accounts, "accounts"),
        (partition.allow_qos, "QOS"),
        (partition.allow_groups, "groups"),
    ):
        if names:
            yield f"only {len(names)} {what}"
    denied = len(partition.deny_accounts) + len(partition.deny_qos)
    if denied:
        yield f"{denied} denied"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], alignment: str) -> str:
    body = list(rows)
    kept = [place for place in range(len(head)) if any(row[place] for row in body)]
    cells = [[row[place] for place in kept] for row in (head, *body)]
    alignment = "".join(alignment[place] for place in kept)
    widths = [max(len(row[place]) for row in cells) for place in range(len(kept))]
    return "\n".join(
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, alignment, widths, strict=True)).rstrip()
        for row in cells
    )


def _cut(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."
