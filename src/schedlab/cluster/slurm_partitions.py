"""Partitions of a slurm.conf."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from schedlab.cluster.cluster import IgnoredLine
from schedlab.cluster.hostlist import host_list, host_names, name_order
from schedlab.cluster.nodes import LARGEST, Partition
from schedlab.cluster.slurm_cores import whole
from schedlab.cluster.slurm_lines import ConfigLine
from schedlab.cluster.slurm_nodes import SelectRules, words
from schedlab.cluster.tres_weights import tres_weights
from schedlab.durations import parse_time_limit
from schedlab.errors import Faults, InputError, located
from schedlab.wording import did_you_mean, shown

UNUSED = {
    "preemptmode": "only OFF, CANCEL, REQUEUE and SUSPEND are simulated",
    "hidden": "does not matter to jobs",
    "powerdownonidle": "nodes are not switched off",
    "disablerootjobs": "does not matter to jobs",
    "rootonly": "does not matter to jobs",
    "reqresv": "reservations are not read from slurm.conf",
    "selecttypeparameters": "one rule for all partitions is read",
    "defcpupergpu": "requests are not completed by the number of GPUs",
    "jobdefaults": "requests are not completed by the number of GPUs",
    "alternate": "jobs are not sent to other partitions",
    "cpubind": "cores are not bound",
    "maxcpuspersocket": "sockets are not placed on",
    "topology": "the default topology of the cluster holds for all partitions",
    **dict.fromkeys(("suspendtime", "suspendtimeout", "resumetimeout"), "nodes are not switched off"),
    "allocnodes": "jobs are submitted from anywhere",
}
"""Options of a line of a partition that are not used, and why."""

NEVER = 1 << 62
"""Seconds of no limit."""

_INFINITE = ("infinite", "unlimited", "-1")


def _limit(text: str) -> int | None:
    """Read a limit in seconds; slurmctld counts in minutes begun."""
    return None if text.lower() in _INFINITE else -(-parse_time_limit(text) // 60) * 60


def _default_time(text: str) -> int | None:
    return None if text.lower() == "none" else _limit(text)


def _number(text: str) -> int | None:
    return None if text.lower() in _INFINITE else whole({"": text}, "", 0)


def _memory(text: str) -> int | None:
    return _number(text) or None  # 0: no limit


def _yes(text: str) -> bool:
    if text.lower() in ("yes", "true", "up", "1"):
        return True
    if text.lower() in ("no", "false", "down", "0"):
        return False
    raise InputError(f"{shown(text)} is not YES or NO")


def _names(text: str) -> frozenset[str]:
    return frozenset() if text.upper() == "ALL" else frozenset(words(text))


def _seconds(text: str) -> int:
    """Read a time that is in seconds if it is a number."""
    return int(text) if text.isdigit() else parse_time_limit(text)


def _overtime(text: str) -> int:
    """Read minutes; no limit is longer than any job."""
    return LARGEST if text.lower() in _INFINITE else whole({"": text}, "", 0) * 60


def _mode(text: str) -> str | None:
    """Return what becomes of jobs that give way, None if that is not simulated; of several, the last counts."""
    found = [mode for mode in words(text.lower()) if mode in ("off", "cancel", "requeue", "suspend")]
    return found[-1] if found else None


def _state(text: str) -> bool:
    if text.upper() not in ("UP", "DOWN", "DRAIN", "INACTIVE"):
        raise InputError(f"{shown(text)} is not UP, DOWN, DRAIN or INACTIVE")
    return text.upper() == "UP"


_FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "default": ("default", _yes),
    "prioritytier": ("priority_tier", _number),
    "priorityjobfactor": ("priority_factor", _number),
    "maxtime": ("max_time", _limit),
    "defaulttime": ("default_time", _default_time),
    "minnodes": ("min_nodes", _number),
    "maxnodes": ("max_nodes", _number),
    "defmempercpu": ("memory_per_core", _memory),
    "defmempernode": ("memory_per_node", _memory),
    "defmempergpu": ("memory_per_gpu", _memory),
    "maxmempercpu": ("max_memory_per_core", _memory),
    "maxmempernode": ("max_memory_per_node", _memory),
    "maxcpuspernode": ("max_cores_per_node", _number),
    "allowaccounts": ("allow_accounts", _names),
    "denyaccounts": ("deny_accounts", _names),
    "allowqos": ("allow_qos", _names),
    "denyqos": ("deny_qos", _names),
    "allowgroups": ("allow_groups", _names),
    "exclusiveuser": ("exclusive_user", _yes),
    "lln": ("least_loaded", _yes),
    "qos": ("qos", str),
    "preemptmode": ("preempt_mode", _mode),
    "gracetime": ("grace_time", _seconds),
    "overtimelimit": ("overtime", _overtime),
    "tresbillingweights": ("billing", tres_weights),
    "state": ("up", _state),
}
"""Options of a line of a partition: the field of `Partition`, and how to read the value."""

_GLOBAL = ("defmempercpu", "defmempernode", "defmempergpu", "maxmempercpu", "maxmempernode")
_EITHER = {
    "defmempercpu": "defmempernode",
    "defmempernode": "defmempercpu",
    "maxmempercpu": "maxmempernode",
    "maxmempernode": "maxmempercpu",
}


@dataclass(slots=True)
class PartitionLines:
    """Reads lines of partitions one after the other; a line for DEFAULT changes those that follow.

    Parameters
    ----------
    rules
        Of the whole file.
    parameters
        Those of slurm.conf that hold for all partitions.
    nodes
        Names of all nodes, in order.
    sets
        Names of nodes of each set (`NodeSet=`).
    closed
        Nodes on which no job can run, some of `nodes` or others, and why; partitions may name them.
    """

    rules: SelectRules
    parameters: Mapping[str, str]
    nodes: tuple[str, ...]
    sets: Mapping[str, tuple[str, ...]]
    closed: Mapping[str, str] = field(default_factory=dict)
    partitions: dict[str, Partition] = field(default_factory=dict)
    ignored: list[IgnoredLine] = field(default_factory=list)
    _defaults: dict[str, str] = field(default_factory=dict)
    _defaulting: dict[str, str] = field(default_factory=dict)

    def add(self, line: ConfigLine) -> None:
        """Take a line `PartitionName=...`.

        Raises
        ------
        InputError
            If something on it is wrong, or it names an unknown node, or the partition was defined before.
        """
        options = line.options()
        name = options.pop("partitionname")
        self._note_unused(line, options)
        if name.upper() == "DEFAULT":
            self._defaults = _over(self._defaults, options)
            return
        if name in self.partitions:
            raise line.error(f"partition {name} is defined twice")
        shared = {key: self.parameters[key] for key in _GLOBAL if key in self.parameters}
        given = _over(_over(shared, self._defaults), options)
        with located(f"{line.path}:{line.number}"):
            named = self._nodes_of(name, given.get("nodes", ""))
            nodes = self._in_service(line, name, named)
            if not nodes:
                reason = "a partition without nodes" if not named else "a partition whose nodes are all out of service"
                self.ignored.append(IgnoredLine(line.where, line.text, reason))
                return
            fields = self._fields(given)
            if (fields.get("default_time") or 0) > fields.get("max_time", NEVER):
                self.ignored.append(
                    IgnoredLine(line.where, f"DefaultTime of {name}", "longer than MaxTime: Slurm drops it")
                )
                del fields["default_time"]
            if self.rules.linear and fields.pop("max_cores_per_node", None) is not None:
                reason = "select/linear gives whole nodes and does not look at it"
                self.ignored.append(IgnoredLine(line.where, f"MaxCPUsPerNode of {name}", reason))
            self.partitions[name] = Partition(name, () if nodes == self.nodes else nodes, **fields)
            if fields.get("default"):
                self._one_default(line, name)

    def _one_default(self, line: ConfigLine, name: str) -> None:
        """Keep one partition as the default: to slurmctld, the last line that says so."""
        for other, partition in self.partitions.items():
            if other != name and partition.default:
                reason = f"{line.where} makes {name} the default"
                self.ignored.append(IgnoredLine(line.path.name, f"Default=YES of {other}", reason))
                self.partitions[other] = replace(partition, default=False)

    def _fields(self, given: Mapping[str, str]) -> dict[str, Any]:
        fields = {}
        faults = Faults()
        for key, (name, read) in _FIELDS.items():
            if key in given:
                with faults.noted(), located(key):
                    value = read(given[key])
                    if value is not None:
                        fields[name] = value
        faults.check()
        if "priority" in given:  # deprecated: tier and factor in one; slurmctld takes it even if the two are given
            fields["priority_tier"] = fields["priority_factor"] = _number(given["priority"])
        flags = {word.strip().lower() for word in self.parameters.get("priorityflags", "").split(",")}
        fields["billing_largest"] = "max_tres" in flags and "billing" in fields
        shared = given.get("oversubscribe", given.get("shared", "")).upper().partition(":")[0]
        fields["least_loaded"] = fields.get("least_loaded", False) or self.rules.least_loaded
        given_memory = fields.get("memory_per_core") or fields.get("memory_per_node")
        fields["whole_memory"] = self.rules.memory and not self.rules.linear and not given_memory
        fields["exclusive"] = shared == "EXCLUSIVE" or (self.rules.linear and shared not in ("YES", "FORCE"))
        return fields

    def _nodes_of(self, name: str, text: str) -> tuple[str, ...]:
        """Return the nodes that a line names, in order, those that are not there behind the others."""
        if text.upper() == "ALL":
            return self.nodes
        chosen: set[str] = set()
        known = {*self.nodes, *self.closed}
        for host in host_names(text) if text.lower() != "(null)" else ():
            if host.upper() == "ALL":
                return self.nodes
            if host not in known and host not in self.sets:
                near = did_you_mean(host, [*self.sets, *self.nodes[:1000]])
                raise InputError(f"partition {name} names node {host}, which no line defines{near}")
            chosen.update(self.sets.get(host, (host,)))
        there = tuple(node for node in self.nodes if node in chosen)
        return (*there, *sorted(chosen.difference(there), key=name_order))

    def _in_service(self, line: ConfigLine, name: str, named: tuple[str, ...]) -> tuple[str, ...]:
        """Return those of the nodes on which jobs can run; the others are counted by the reason."""
        reasons: dict[str, list[str]] = {}
        for node in named:
            if node in self.closed:
                reasons.setdefault(self.closed[node], []).append(node)
        for reason, nodes in reasons.items():
            self.ignored.append(IgnoredLine(line.where, f"{host_list(nodes)} of {name}", reason))
        return tuple(node for node in named if node not in self.closed)

    def _note_unused(self, line: ConfigLine, options: Mapping[str, str]) -> None:
        for key, value in options.items():
            if key in _FIELDS or key in ("nodes", "priority"):
                if key == "preemptmode" and _mode(value) is None:
                    self.ignored.append(IgnoredLine(line.where, f"{key}={value}", UNUSED[key]))
                continue
            if key in ("oversubscribe", "shared"):
                if re.match("force|yes", value, re.IGNORECASE):
                    self.ignored.append(IgnoredLine(line.where, f"{key}={value}", "jobs do not share cores"))
                continue
            reason = UNUSED.get(key, "not known to schedlab")
            if value.lower() not in ("no", "none", "all"):
                self.ignored.append(IgnoredLine(line.where, f"{key}={value}", reason))


def _over(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Return options where later ones win; memory per core and per node replace each other."""
    replaced = {_EITHER[key] for key in after if key in _EITHER}
    return {key: value for key, value in before.items() if key not in replaced} | dict(after)
