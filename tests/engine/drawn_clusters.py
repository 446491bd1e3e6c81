"""Random clusters with everything that a cluster can have, for the fuzzer of the engine."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any, NamedTuple

from drawing import OFTEN, Draw, Table, whole

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.node_events import NodeEvent, NodeEvents
from schedlab.cluster.power_saving import PowerSaving
from schedlab.errors import InputError
from schedlab.workload.workload import Workload

USERS = ("1", "2", "3")
ACCOUNTS = ("a", "b")
Document = dict[str, Any]


def amount(name: str, low: int, high: int) -> Any:
    """Return a function that draws an amount of one resource."""
    return lambda draw: {name: draw.randint(low, high)}


GROUP_AMOUNTS: Table = {
    "cpu": (1, whole(2, 12)),
    "gres/gpu": (0.3, whole(1, 3)),
    "mem": (0.2, whole(100, 800)),
    "node": (0.3, whole(1, 3)),
}
LIMITS: Table = {
    "grp_tres": (0.3, lambda draw: draw.few(GROUP_AMOUNTS, 2)),
    "grp_jobs": (0.3, whole(1, 2)),
    "grp_submit_jobs": (0.3, whole(1, 4)),
    "grp_tres_run_mins": (0.3, amount("cpu", 1, 12)),
    "max_tres_per_job": (0.1, amount("cpu", 2, 4)),
    "max_tres_per_node": (0.1, amount("cpu", 1, 4)),
    "max_tres_mins_per_job": (0.1, amount("cpu", 1, 6)),
    "max_wall": (0.1, (20, 40, 80)),
}
"""Those over all past use, `grp_tres_mins` and `grp_wall`, are not simulated."""
LIMITS_OF_QOS: Table = {
    **LIMITS,
    "min_tres_per_job": (0.1, ({"cpu": 2},)),
    "max_tres_per_user": (0.3, amount("cpu", 2, 5)),
    "max_tres_per_account": (0.3, amount("cpu", 2, 6)),
    "max_jobs_per_user": (0.3, whole(1, 2)),
    "max_jobs_per_account": (0.3, whole(1, 2)),
    "max_submit_per_user": (0.3, whole(1, 3)),
    "max_submit_per_account": (0.3, whole(1, 4)),
    "max_tres_run_mins_per_user": (0.3, amount("cpu", 1, 6)),
    "max_tres_run_mins_per_account": (0.3, amount("cpu", 1, 8)),
}
LIMITS_OF_ASSOCIATION: Table = {**LIMITS, "max_jobs": (0.4, whole(1, 2)), "max_submit": (0.3, whole(1, 3))}
MOST_LIMITS = 2
"""Limits that one account, user or QOS has."""
MOST_AT_A_TIME = 3
"""How many if a case is about limits, of which others of its accounts, users or QOS have others."""
MOST_FIELDS = 3
"""Fields that one partition or QOS has, beside its name."""
QOS: Table = {
    "usage_factor": (0.5, (0.5, 2.0, 0.0)),
    "preempt_mode": (0.4, ("cancel", "requeue")),
    "grace_time": (0.4, (10, 40)),
    "exempt_time": (0.4, (0, 20)),
    "over_partition": (0.2, (True,)),
    "over_max_time": (0.35, (True,)),
    "over_max_nodes": (0.35, (True,)),
    "under_min_nodes": (0.35, (True,)),
    "reserves": (0.15, (False,)),
}
BILLED = ("cpu", "node", "mem", "gres/gpu")
PARTITION: Table = {
    "priority_tier": (0.7, (1, 2, 3)),
    "max_time": (0.4, (60, 120)),
    "max_nodes": (0.4, (2, 3)),
    "exclusive": (0.1, (True,)),
    "max_cores_per_node": (0.4, (3, 5)),
    "least_loaded": (0.35, (True,)),
    "preempt_mode": (0.6, ("cancel", "requeue", "suspend", "off")),
    "grace_time": (0.25, (15,)),
    "billing": (0.3, lambda draw: {kind: draw.one(0.0, 0.5, 1.0, 2.0) for kind in draw.sample(BILLED, 2)}),
    "billing_largest": (0.2, (True,)),
    "overtime": (0.4, (0, 20)),
    "max_memory_per_core": (0.25, (60,)),
    "max_memory_per_node": (0.25, (100, 250)),
    "memory_per_gpu": (0.1, (40, 150)),
    "whole_memory": (0.3, (True,)),
    "allow_accounts": (0.08, (["a"], ["a", "b"])),
    "deny_accounts": (0.08, (["b"],)),
}
PREEMPTION: Table = {
    "exempt_time": (0.5, (5, 30)),
    "requeue_delay": (1, (1, 10, 121)),
    "youngest_first": (0.5, (True,)),
    "reorder": (1, (0, 0, 0, 3)),
}


class Machine(NamedTuple):
    """How many groups of nodes, nodes in each and cores on each; one of each is taken at random."""

    groups: tuple[int, ...]
    nodes: tuple[int, ...]
    cores: tuple[int, ...]


ANY_MACHINE = Machine((1, 1, 2, 3), (1, 2, 2, 3, 4), (1, 2, 2, 4, 4, 8))
MACHINES = {
    "reorder": Machine((1,), (1,), (24,)),
    "crowded": Machine((1,), (2, 3, 4), (4,)),
    "many nodes": Machine((1, 2), (4, 6), (1, 2, 4)),
    "few switches": Machine((3,), (2,), (2, 4)),
    "queue": Machine((1, 1, 2), (2, 3), (2, 4)),
}
"""A node for many jobs; few cores, so that jobs take those of others; nodes to choose from; a switch for each group."""


IN_PARTITIONS = {"partitions", "partition_reserve", "partition_depth", "user_partition_depth", "partition_queue_depth"}
"""What is about several partitions."""


def drawn_cluster(draw: Draw) -> Document:
    """Return the document of a cluster of up to twelve nodes, mostly few; see `Cluster.from_dict`."""
    switched = draw.has("switches", 0.4)
    groups = _groups(draw, switched)
    document: Document = {"groups": groups}
    if switched:
        tops = [{"parent": "top"} if draw.chance(0.8) else {} for _ in range(3)]
        document["switches"] = [{"name": "top"}, *({"name": f"s{i}", **top} for i, top in enumerate(tops, 1))]
    qualities = [f"q{number}" for number in range(1, draw.randint(3 if "by qos" in draw.wanted else 1, 4))]
    if draw.has("accounting", 0.6):
        document |= _accounting(draw, qualities)
    else:
        qualities = []
    preempts = draw.has("preemption", 0.1 if "queue" in draw.wanted else 0.45)
    fewest = 2 if preempts or draw.wanted & IN_PARTITIONS else 0
    partitions = [_partition(draw, number, groups, qualities) for number in range(draw.randint(fewest, 3))]
    if preempts:
        document["preemption"] = _preemption(draw, by_qos=bool(qualities) and draw.has("by qos", 0.5))
        for tier, one in enumerate(partitions):  # most of which share nodes
            one.update(draw.fields({"priority_tier": (1 if "crowded" in draw.wanted else 0.8, (tier + 1,))}))
            if "crowded" in draw.wanted or draw.chance(0.6):
                one.pop("nodes", None)
                one.pop("min_nodes", None)
        ends = bool(draw.wanted & {"youngest_first", "reorder"})  # which are about runs that end
        for one in partitions:
            if ends or (document["preemption"]["by"] == "qos" and one.get("preempt_mode") == "suspend"):
                one.pop("preempt_mode", None)
    if draw.chance(0.35):
        document["licenses"] = {"L": draw.randint(1, 4), "M": draw.randint(1, 2)}
    return document | ({"partitions": partitions} if partitions else {})


def with_power_saving(cluster: Cluster, workload: Workload, scheduler: str) -> Cluster:
    """Return a cluster that switches its idle nodes off, in one case of four that this goes together with.

    That is decided by the case itself: nothing else is drawn otherwise than without it.
    """
    number = zlib.crc32(f"{scheduler} {workload.submit_time.tolist()}".encode())
    if number % 4 or "conservative" in scheduler or workload.distribution is not None:
        return cluster
    times = (number // 4 % 40, number // 160 % 25, number // 4_000 % 8)
    always_on = cluster.nodes[:1] if number // 32_000 % 2 else ()
    rates = (number // 128_000 % 3, number // 384_000 % 4) if number // 64_000 % 2 else (0, 0)
    saving = PowerSaving(*times, always_on=always_on, suspend_rate=rates[0], resume_rate=rates[1])
    return replace(cluster, power_saving=saving)


def _groups(draw: Draw, switched: bool) -> list[Document]:
    groups, first = [], 0
    kind = next((kind for name, kind in MACHINES.items() if draw.has(name, 0.0)), ANY_MACHINE)
    for number in range(draw.choice(kind.groups)):
        count = draw.choice(kind.nodes)
        names, cores = f"n[{first}-{first + count - 1}]", draw.choice(kind.cores)
        group = {"nodes": names, "cores": cores, "weight": draw.randint(1, 3)}
        first += count
        group |= draw.fields({"memory": (0.6, (100, 400, 1000)), "features": (0.75, (["x"], ["x", "y"], ["y"]))})
        gpus = draw.one(1, 2) if "gpus" in draw.wanted else draw.one(0, 0, 1, 2, 4)
        if gpus:
            kinds = draw.one(0, {"a": gpus}, {"a": gpus, "b": draw.randint(1, 2)})
            group["gpus"] = kinds or gpus
        if switched:
            group["switch"] = f"s{number + 1 if kind is MACHINES['few switches'] else draw.randint(1, 3)}"
        groups.append(group)
    return groups


def _accounting(draw: Draw, qualities: list[str]) -> Document:
    table = LIMITS_OF_QOS
    if "over_partition" in draw.wanted:  # of limits of other kinds, both hold
        table = {name: (1, LIMITS_OF_QOS[name][1]) for name in draw.sample(sorted(LIMITS_OF_QOS), MOST_LIMITS)}
    qos = [{"name": name, **draw.few(QOS, MOST_FIELDS), **_limits(draw, "limits of qos", table)} for name in qualities]
    for place, one in enumerate(qos):
        below = draw.some(qualities[place + 1 :], OFTEN if "by qos" in draw.wanted else 0.6)
        if below:
            one["preempts"] = below
    shares: Table = {"shares": (0.6, (1, 2, 0, "parent"))}
    root: Document = {"name": "root", "parent": ""}
    if qualities:
        root |= {"qos": qualities, "default_qos": draw.choice(qualities)}
    accounts = [
        root,
        {"name": "a", **_limits(draw, "limits of accounts", LIMITS_OF_ASSOCIATION), **draw.fields(shares)},
        {"name": "b", "parent": draw.one("root", "a"), **_limits(draw, "limits of accounts", LIMITS_OF_ASSOCIATION)},
    ]
    users = [
        {
            **{"user": user, "account": draw.choice(ACCOUNTS), "default": True},
            **_limits(draw, "limits of users", LIMITS_OF_ASSOCIATION),
            **draw.fields(shares),
        }
        for user in USERS
    ]
    users += [
        {**{name: one[name] for name in ("user", "account")}, "partition": draw.one("p0", "p1"), "limits": limits}
        for one in users
        if draw.has("users in partitions", 0.1)
        if (limits := draw.few(LIMITS_OF_ASSOCIATION, MOST_LIMITS))
    ]
    return {"qos": qos, "accounts": accounts, "users": users} if qos else {"accounts": accounts, "users": users}


def _limits(draw: Draw, whose: str, table: Table) -> Document:
    """Return limits of an account, a user or a QOS; few if a case is about what they would hide, such as others."""
    share = 0.1 if any(name.startswith(("limits of", "crowded", "queue")) for name in draw.wanted) else 0.55
    if not draw.has(whose, share):
        return {}
    found = draw.few(table, MOST_LIMITS)
    return {"limits": {name: found[name] for name in draw.sample(sorted(found), min(len(found), MOST_AT_A_TIME))}}


def _partition(draw: Draw, number: int, groups: list[Document], qualities: list[str]) -> Document:
    most = 1 if draw.wanted & {"queue", "crowded"} else 2 * MOST_FIELDS
    fields = {} if "reorder" in draw.wanted else draw.few(PARTITION, most)  # many of which keep wide jobs out
    made = {"name": f"p{number}", "default": number == 0, **fields}
    if draw.has("partitions", 0.1 if "queue" in draw.wanted else 0.3 if draw.wanted else 0.6):
        made["nodes"] = ",".join(draw.sample(nodes_of(groups), draw.randint(1, len(nodes_of(groups)))))
        if draw.chance(0.35) and "," in made["nodes"]:
            made["min_nodes"] = 2
    if "under_min_nodes" in draw.wanted:
        made["min_nodes"] = 2
    memory = draw.fields({"memory_per_core": (0.25, (20, 60)), "memory_per_node": (0.25, (100,))})
    made |= memory if len(memory) < 2 else {}
    if qualities and draw.has("partition's qos", 0.3):
        made["qos"] = draw.choice(qualities)
    return made


def nodes_of(groups: list[Document]) -> list[str]:
    """Return the names of all nodes of some groups."""
    last = int(groups[-1]["nodes"].rstrip("]").partition("-")[2])
    return [f"n{number}" for number in range(last + 1)]


def _preemption(draw: Draw, *, by_qos: bool) -> Document:
    modes = (
        ("requeue", "requeue", "cancel") if by_qos else ("requeue", "requeue", "cancel", "suspend", "suspend", "off")
    )
    if "crowded" in draw.wanted and not by_qos:
        modes = ("requeue", "requeue", "cancel", "suspend")[: 3 if draw.wanted & {"youngest_first", "reorder"} else 4]
    return {"by": "qos" if by_qos else "partition", "mode": draw.choice(modes), **draw.fields(PREEMPTION)}


KINDS_OF_EVENTS = ("drain", "failing gpus", "maintenance", "reservation")
"""Beside nodes that fail."""


def drawn_events(draw: Draw, groups: list[Document]) -> NodeEvents | None:
    """Return some events of the nodes of a cluster; None if these do not go together."""
    names = nodes_of(groups)
    events = [event for number in range(draw.randint(1, 4)) for event in _event(draw, groups, names, number)]
    if draw.chance(0.15):  # which comes back only with a later event, or not at all
        events.append(NodeEvent(draw.randint(0, 200), draw.one("down", "drain"), (draw.choice(names),)))
    delay = draw.fields({"requeue_delay": (0.6, (0, 5, 121))})
    try:
        return NodeEvents(tuple(events), draw.one("requeue", "lost"), **delay) if events else None
    except InputError:
        return None


def _event(draw: Draw, groups: list[Document], names: list[str], number: int) -> list[NodeEvent]:
    second = draw.randint(0, 250)
    some = tuple(draw.sample(names, draw.randint(1, min(2, len(names)))))
    about = [kind for kind in KINDS_OF_EVENTS if kind in draw.wanted]
    kind = draw.choice(about) if about and draw.chance(OFTEN) else draw.one("down", "down", *KINDS_OF_EVENTS)
    if kind in ("down", "drain"):
        return [NodeEvent(second, kind, some), NodeEvent(second + draw.randint(0, 90), "up", some)]
    if kind == "failing gpus":
        return _failing_gpus(draw, groups, second)
    if kind == "maintenance":
        known = draw.one(None, None, max(0, second - 20), second)
        return [NodeEvent(second, kind, some, second + draw.randint(1, 60), known)]
    nodes, known = draw.one(tuple(names), some), draw.one(None, max(0, second - 30))
    users = USERS[: draw.randint(1, 3)]
    return [NodeEvent(second, kind, nodes, second + draw.randint(5, 120), known, f"R{number}", users)]


def _failing_gpus(draw: Draw, groups: list[Document], second: int) -> list[NodeEvent]:
    having = [group for group in groups if "gpus" in group]
    if not having:
        return []
    group = draw.choice(having)
    count = group["gpus"] if isinstance(group["gpus"], int) else sum(group["gpus"].values())
    gpus = tuple(draw.sample(range(count), draw.randint(1, count)))
    node = (f"n{group['nodes'][2:].partition('-')[0]}",)
    later = second + draw.randint(0, 90)
    return [NodeEvent(second, "gpu-down", node, gpus=gpus), NodeEvent(later, "gpu-up", node, gpus=gpus)]
