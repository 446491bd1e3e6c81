"""A cluster as lines of a slurm.conf: its nodes, partitions and licences."""

from __future__ import annotations

from collections.abc import Iterator

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_list
from schedlab.cluster.nodes import NodeGroup, Partition
from schedlab.durations import time_limit_text


def as_slurm_conf(cluster: Cluster) -> str:
    """Return the lines of a slurm.conf that describe a cluster of nodes.

    Accounts, switches and rules of preemption are not written; of partitions, what `sinfo` knows.

    Parameters
    ----------
    cluster
        With nodes.

    Examples
    --------
    >>> from schedlab.cluster.nodes import NodeGroup
    >>> nodes = NodeGroup.of("n[1-2]", cores=4, memory=100, gpus={"a100": 2})
    >>> print(as_slurm_conf(Cluster.of_nodes(nodes, Partition("batch", default=True, max_time=5400))), end="")
    SelectType=select/cons_tres
    SelectTypeParameters=CR_CPU_Memory
    GresTypes=gpu
    NodeName=n[1-2] CPUs=4 RealMemory=100 Gres=gpu:a100:2
    PartitionName=batch Nodes=ALL Default=YES MaxTime=0-01:30:00
    """
    memory = all(group.memory for group in cluster.groups)
    lines = ["SelectType=select/cons_tres", f"SelectTypeParameters=CR_CPU{'_Memory' if memory else ''}"]
    if cluster.gpus:
        lines.append("GresTypes=gpu")
    if cluster.licenses:
        lines.append(f"Licenses={','.join(f'{name}:{count}' for name, count in cluster.licenses)}")
    lines += (_line({"NodeName": group.hosts} | dict(_of_nodes(group, memory=memory))) for group in cluster.groups)
    lines += (_line(dict(_of_partition(one))) for one in cluster.partitions or (Partition("all", default=True),))
    return "\n".join([*lines, ""])


def _line(options: dict[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in options.items())


def _of_nodes(group: NodeGroup, *, memory: bool) -> Iterator[tuple[str, str]]:
    yield "CPUs", str(group.cores)
    per_socket, rest = divmod(group.cores, group.sockets * group.threads)
    if group.threads > 1 and not rest:
        yield from (("Sockets", str(group.sockets)), ("CoresPerSocket", str(per_socket)))
        yield "ThreadsPerCore", str(group.threads)
    if memory:
        yield "RealMemory", str(group.memory)
    if group.gpus:
        yield "Gres", ",".join(f"gpu:{kind}:{count}" if kind else f"gpu:{count}" for kind, count in group.gpus)
    if group.features:
        yield "Feature", ",".join(sorted(group.features))
    if group.weight != 1:
        yield "Weight", str(group.weight)


def _of_partition(partition: Partition) -> Iterator[tuple[str, str]]:
    yield "PartitionName", partition.name
    yield "Nodes", host_list(partition.nodes) if partition.nodes else "ALL"
    if partition.default:
        yield "Default", "YES"
    yield "MaxTime", "INFINITE" if partition.max_time is None else time_limit_text(partition.max_time)
