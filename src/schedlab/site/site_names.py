"""What changes name: held against the names of a site, so that a slip is an error before anything is simulated."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from schedlab.cluster.hostlist import host_list, host_names
from schedlab.cluster.slurm_nodes import words
from schedlab.errors import Faults, InputError
from schedlab.site.changes import MORE_NODES, Change, parse_change
from schedlab.site.parameters import LISTS, known, parameters
from schedlab.site.site import Site
from schedlab.wording import shown

_SIZES = frozenset({"cpus", "procs", "boards", "sockets", "socketsperboard", "corespersocket"})
"""Options of which new nodes need one."""

_SHOWN = 6
_MOST_HOSTS = 5_000
"""Names of nodes among which one is looked for that was meant."""


@dataclass(slots=True)
class SiteNames:
    """The names that a change may mention; None: the site has no accounts, so those of users and QOS are unknown.

    `connected` are nodes that lines of topology.conf name, whether they exist or not: Slurm permits that, so a line may
    keep them as more are added to it.
    """

    partitions: list[str] = field(default_factory=list)
    node_lines: list[str] = field(default_factory=list)
    nodes: set[str] = field(default_factory=set)
    sets: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    connected: set[str] = field(default_factory=set)
    qos: list[str] | None = None
    accounts: list[str] | None = None
    users: list[str] | None = None

    @classmethod
    def of(cls, site: Site) -> SiteNames:
        """Return the names of a site, those of nodes and partitions that are out of service among them."""
        found = cls(
            _values(site, "PartitionName"),
            _values(site, "NodeName"),
            sets=_values(site, "NodeSet"),
            switches=_values(site, "SwitchName", "topology.conf"),
        )
        for line in found.node_lines:
            found.nodes.update(host_names(line))
        for entry in site.ledger.find("Nodes"):
            if entry.place == "topology.conf":
                found.connected.update(host_names(entry.value))
        who = None if site.machine is None else site.machine.accounting
        if who is not None:
            found.qos = [one.name for one in who.qos]
            found.accounts = [one.name for one in who.accounts]
            found.users = sorted({one.user for one in who.users})
        return found

    def add(self, change: Change) -> None:
        """Add what a change would create."""
        kind, options = change.key.lower(), _options(change)
        if kind == "nodename" and options & _SIZES and not (new := set(host_names(change.value))) & self.nodes:
            self.nodes |= new
            self.node_lines.append(change.value)
        for new_kind, lines, need in (
            ("partitionname", self.partitions, {"nodes"}),
            ("nodeset", self.sets, {"nodes", "feature"}),
            ("switchname", self.switches, {"nodes", "switches"}),
        ):
            if kind == new_kind and options & need and change.value.lower() not in map(str.lower, lines):
                lines.append(change.value)


def _values(site: Site, name: str, place: str = "") -> list[str]:
    lines = (line for line in site.ledger.lines if line.name.lower() == name.lower())
    return [line.value for line in lines if line.place == (place or name) and line.value.upper() not in ("DEFAULT", "")]


def _options(change: Change) -> set[str]:
    return {name.lower() for name, value in change.options if value}


def check_changes(site: Site, questions: Iterable[Sequence[str | Change]]) -> None:
    """Refuse changes that name what a site does not have, or a parameter where it does not belong.

    Parameters
    ----------
    site
        To be changed.
    questions
        Changes that are made together, once for each question.

    Raises
    ------
    InputError
        With what was meant, and how it is written; all that is wrong is told at once.
    """
    faults = Faults()
    for question in questions:
        names = SiteNames.of(site)
        changes: list[Change] = []
        for one in question:
            with faults.noted():
                changes.append(one if isinstance(one, Change) else parse_change(one))
        for change in changes:
            names.add(change)
        for change in changes:
            with faults.noted(f"change {shown(change.text)}"):
                _check(change, names)
        with faults.noted():
            _check_once(changes)
    faults.check()


def _check_once(changes: Iterable[Change]) -> None:
    """Refuse two values of the same thing: the last one would count, and the answer bear both."""
    given: dict[tuple[str, ...], str] = {}
    for change in changes:
        line = (change.key.lower(), change.value.lower() if change.options else change.option.lower())
        for name, value in change.options or (("", change.value),):
            if change.key == MORE_NODES or name.lower() == "nodes":  # further nodes make longer lists of them
                continue
            before = given.setdefault((*line, name.lower()), value)
            if before != value:
                what = name or change.option or change.key
                raise InputError(f"{what} is set twice, to {before} and to {value}: ask about each by itself (--over)")


def _check(change: Change, names: SiteNames) -> None:
    kind = change.key.lower()
    if kind == MORE_NODES:
        _check_like(change, names)
    elif kind in _OBJECTS:
        place, check = _OBJECTS[kind]
        for name, value in change.options:
            if known(place, name) is None:
                raise InputError(misplaced(name, value, place, names))
        check(change, names)
    elif change.option:
        place = next(one for one in LISTS if one.lower() == kind)
        if known(place, change.option) is None:
            raise InputError(misplaced(change.option, change.value.strip(), place, names))
    elif known("slurm.conf", kind) is None:
        if change.key.lower() == "partition":
            raise InputError(f"a change names a partition by PartitionName: write PartitionName={change.value}")
        raise InputError(misplaced(change.key, change.value, "slurm.conf", names))


def misplaced(name: str, value: str, place: str, names: SiteNames) -> str:
    """Return where a parameter belongs that stands elsewhere, and how the change is written there."""
    given = f"{name}={value}" if value else name
    for other in LISTS:
        if other != place and known(other, name) is not None:
            return f"{name} is an option of {other}: write {other}.{given}"
    if known("PartitionName", name) is not None:
        return f"{name} belongs to a partition: write {_example('PartitionName', names.partitions)} {given}; " + _have(
            "partition", names.partitions
        )
    if known("sacctmgr", name) is not None:
        return f"{name} belongs to a QOS, an account or a user: write {_example('QOS', names.qos)} {given}; " + _have(
            "QOS", names.qos
        )
    if known("NodeName", name) is not None:
        return f"{name} belongs to nodes: write {_example('NodeName', names.node_lines)} {given}; " + _have(
            "node line", names.node_lines
        )
    if known("slurm.conf", name) is not None:
        return f"{name} is a parameter of its own: write {given}"
    near = _meant(name, [one.name for (where, _), one in parameters().items() if where == place])
    if not near:
        near = _meant(name, [one.name for one in parameters().values() if one.place in ("slurm.conf", *LISTS)])
    return f"{place} has no {name!r}{near}"


def _example(key: str, have: Sequence[str] | None) -> str:
    return f"{key}={have[0] if have else 'NAME'}"


def _have(what: str, have: Sequence[str] | None) -> str:
    """Say which names a site has."""
    if have is None:
        return "the site has no accounts and QOS: import it with a dump or script of sacctmgr beside slurm.conf"
    if not have:
        return f"the site has no {what}"
    more = f" and {len(have) - _SHOWN:,} more" if len(have) > _SHOWN else ""
    return f"the site has {', '.join(have[:_SHOWN])}{more}"


def _meant(name: str, have: Iterable[str]) -> str:
    """Return the name that is nearly the same, or has it in it, in parentheses and with a blank before it."""
    folded = {one.lower(): one for one in have}
    near = get_close_matches(name.lower(), folded, 1) or [one for one in folded if name.lower() in one][:1]
    return f" (did you mean {folded[near[0]]}?)" if near else ""


def _is_there(what: str, name: str, have: Sequence[str] | None, hint: str = "") -> None:
    if have is None or name.lower() not in map(str.lower, have):
        near = _meant(name, have or ())
        raise InputError(f"there is no {what} {name!r}{near}; {_have(what, have)}{hint}")


def _check_partition(change: Change, names: SiteNames) -> None:
    if change.value.upper() != "DEFAULT":
        hint = f"; a new one needs its nodes: PartitionName={change.value} Nodes=..."
        _is_there("partition", change.value, names.partitions, hint)
    for name, value in change.options:
        if name.lower() == "nodes" and value.upper() != "ALL":
            for host in host_names(value):
                if host not in names.nodes and host not in names.sets and host.upper() != "ALL":
                    _no_node(host, names)
        many, have = _OF_PARTITIONS.get(name.lower(), ("", lambda _: None))
        if many and (there := have(names)) is not None:
            for word in words(value):
                if word.upper() not in ("ALL", "NONE"):
                    _is_there(many, word, there)


def _check_nodes(change: Change, names: SiteNames) -> None:
    if change.value.upper() == "DEFAULT" or change.value.lower() in map(str.lower, names.node_lines):
        return
    hosts = host_names(change.value)
    there = [host for host in hosts if host in names.nodes]
    if not there:
        like = names.node_lines[0] if names.node_lines else "NODES"
        size = f"new nodes need their size: NodeName={change.value} CPUs=..., or ask for "
        size += f'"{Change(MORE_NODES, like, str(len(hosts) or 1)).text}", which has all that they need'
        _no_node(hosts[0] if hosts else change.value, names, f"; {size}")
    lines = [line for line in names.node_lines if set(host_names(line)) & set(there)]
    if len(there) < len(hosts):
        new = host_list(host for host in hosts if host not in names.nodes)
        raise InputError(f"{host_list(there)} exist already (NodeName={lines[0]}), {new} would be new: name them apart")
    raise InputError(f"name the nodes exactly as their line does: {', '.join(lines[:_SHOWN])}")


def _check_like(change: Change, names: SiteNames) -> None:
    hosts = host_names(change.value)
    if not any(hosts and set(hosts) <= set(host_names(line)) for line in names.node_lines):
        missing = [host for host in hosts if host not in names.nodes]
        if missing and (line := _same_numbers(hosts, names)):
            raise InputError(f"there are no nodes {change.value} (did you mean {line}?)")
        if missing:
            _no_node(missing[0], names)
        raise InputError(f"give nodes of one line; {_have('node line', names.node_lines)}")


def _without_zeros(host: str) -> str:
    """Return the name of a node with its numbers as they are, without zeros before them: m001 is m1."""
    return re.sub(r"(?<!\d)0+(?=\d)", "", host.lower())


def _same_numbers(hosts: Sequence[str], names: SiteNames) -> str:
    """Return the node line that holds nodes of these numbers, written with other zeros; empty: none does."""
    meant = {_without_zeros(host) for host in hosts}
    return next((one for one in names.node_lines if meant and meant <= set(map(_without_zeros, host_names(one)))), "")


def _no_node(host: str, names: SiteNames, hint: str = "") -> None:
    padded = (f" (did you mean {one}?)" for one in names.nodes if _without_zeros(one) == _without_zeros(host))
    near = next(padded, "") or _meant(host, [*names.sets, *sorted(names.nodes)[:_MOST_HOSTS]])
    raise InputError(f"there is no node {host!r}{near}; {_have('node line', names.node_lines)}{hint}")


def _check_set(change: Change, names: SiteNames) -> None:
    _is_there("set of nodes", change.value, names.sets, "; a new one needs Nodes= or Feature=")


def _check_switch(change: Change, names: SiteNames) -> None:
    _is_there("switch", change.value, names.switches, "; a new one needs Nodes= or Switches=")
    for name, value in change.options:
        if name.lower() == "nodes" and value.upper() != "ALL":
            for host in host_names(value):
                if host not in names.nodes and host not in names.connected:
                    _no_node(host, names)


def _in_accounts(what: str, have: Callable[[SiteNames], list[str] | None]) -> Callable[[Change, SiteNames], None]:
    def check(change: Change, names: SiteNames) -> None:
        for name in words(change.value):
            _is_there(what, name, have(names))

    return check


_OF_PARTITIONS: dict[str, tuple[str, Callable[[SiteNames], list[str] | None]]] = {
    **dict.fromkeys(("qos", "allowqos", "denyqos"), ("QOS", lambda names: names.qos)),
    **dict.fromkeys(("allowaccounts", "denyaccounts"), ("account", lambda names: names.accounts)),
}
"""Options of a partition whose values are names."""

_OBJECTS: dict[str, tuple[str, Callable[[Change, SiteNames], None]]] = {
    "partitionname": ("PartitionName", _check_partition),
    "nodename": ("NodeName", _check_nodes),
    "nodeset": ("NodeSet", _check_set),
    "switchname": ("topology.conf", _check_switch),
    "downnodes": ("DownNodes", lambda change, names: None),
    "frontendname": ("FrontendName", lambda change, names: None),
    "qos": ("sacctmgr", _in_accounts("QOS", lambda names: names.qos)),
    "account": ("sacctmgr", _in_accounts("account", lambda names: names.accounts)),
    "user": ("sacctmgr", _in_accounts("user", lambda names: names.users)),
}
"""What a line begins with: the place of its options, and how its name is checked."""
