"""More nodes of a kind that a site has, as changes of its configuration: their line, partitions and switch."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice

from schedlab.arguments import explained
from schedlab.cluster.hostlist import host_list, host_names
from schedlab.cluster.nodes import NodeGroup
from schedlab.errors import InputError
from schedlab.site.changes import MORE_NODES, TOPOLOGY, Change, changed, parse_change
from schedlab.site.ledger import LedgerLine
from schedlab.site.scheduling import in_partitions
from schedlab.site.site import Site
from schedlab.site.site_names import SiteNames, check_changes
from schedlab.wording import count_of, did_you_mean

_OWN = frozenset({"nodename", "nodeaddr", "nodehostname", "port", "bcastaddr", "reason", "state"})
"""Options of a line that new nodes do not share."""

_USUAL = {
    "boards": "1",
    "sockets": "1",
    "threadspercore": "1",
    "weight": "1",
    "corespeccount": "0",
    "memspeclimit": "0",
}
"""What Slurm takes where nothing is given: it undoes a later line for DEFAULT."""

_NUMBERED = re.compile(r"(.*?)(\d{1,18})(\D*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes that are alike, and belong to the same partitions.

    Parameters
    ----------
    lines
        Their lines (NodeName) as the site names them; the first one is what the kind is called.
    nodes
        Those in service.
    group
        What each of them is; its switch is that of the last one.
    partitions
        That hold all of them, and that new ones join.
    """

    lines: tuple[str, ...]
    nodes: tuple[str, ...]
    group: NodeGroup
    partitions: tuple[str, ...]

    @property
    def name(self) -> str:
        """What it is called."""
        return self.lines[0]

    @property
    def text(self) -> str:
        """The nodes and their partitions, in words."""
        gpus = f", {count_of(self.group.gpu_count, 'GPU')}" if self.group.gpu_count else ""
        where = f" of partition {', '.join(self.partitions)}" if self.partitions else ""
        return f"{count_of(len(self.nodes), 'node')}{where}, {count_of(self.group.cores, 'core')}{gpus} each"


@explained
def node_kinds(site: Site, names: Sequence[str] = (), partitions: Sequence[str] = ()) -> tuple[NodeKind, ...]:
    """Return the kinds of nodes of a site: lines whose nodes are alike and in the same partitions are one kind.

    Parameters
    ----------
    site
        With nodes.
    names
        Host lists, each of nodes of one line, all or some of them; empty: all kinds that a partition has.
    partitions
        That new nodes join; empty: those that hold all nodes of the kind.

    Raises
    ------
    InputError
        If there are no such nodes or partitions, no job can run on the nodes, or no partition holds all of them.
    """
    have = [one.name for one in site.cluster.partitions]
    for name in partitions:
        if name not in have:
            raise InputError(
                f"there is no partition {name!r}{did_you_mean(name, have)}; the site has {', '.join(have)}"
            )
    if names:
        found = [_kind(site, _line_of(site, name), partitions, asked=True) for name in names]
    else:
        found = [_kind(site, line, partitions, asked=False) for line in SiteNames.of(site).node_lines]
    merged: dict[tuple[NodeGroup, tuple[str, ...]], NodeKind] = {}
    for one in found:
        if one is not None:
            key = (replace(one.group, names=("n",), switch=""), one.partitions)
            merged[key] = _together(merged[key], one) if key in merged else one
    if not merged:
        raise InputError(f"{site.name}: no partition holds all nodes of a line (NodeName); name nodes and partitions")
    return tuple(merged.values())


def _together(one: NodeKind, other: NodeKind) -> NodeKind:
    lines = tuple(dict.fromkeys([*one.lines, *other.lines]))
    return replace(other, lines=lines, nodes=tuple(dict.fromkeys([*one.nodes, *other.nodes])))


def _line_of(site: Site, name: str) -> str:
    """Return the line that some nodes belong to."""
    lines, hosts = SiteNames.of(site).node_lines, set(host_names(name))
    found = next((line for line in lines if hosts and hosts.issubset(host_names(line))), None)
    if found is None:
        raise InputError(f"no line of the site has the nodes {name}; its lines (NodeName) are {', '.join(lines)}")
    return found


def _kind(site: Site, line: str, partitions: Sequence[str], *, asked: bool) -> NodeKind | None:
    """Return the kind of the nodes of a line; None: no new ones are of use, and the line was not asked for."""
    machine = site.cluster
    used = in_partitions(machine)
    nodes = tuple(name for name in host_names(line) if name in used)
    if not nodes:
        if asked:
            raise InputError(f"no job can run on the nodes {line}: they are in no partition, or out of service")
        return None
    holding = partitions or [one.name for one in machine.partitions if not one.nodes or set(nodes) <= {*one.nodes}]
    if machine.partitions and not holding:
        if asked:
            some = ", ".join(one.name for one in machine.partitions if set(nodes) & {*one.nodes})
            raise InputError(
                f"no partition holds all of {line}, though {some} {'hold' if ',' in some else 'holds'} some: say "
                "which partition new nodes join (partitions)"
            )
        return None
    group = next(one for one in machine.groups if nodes[-1] in one.names)
    return NodeKind((line,), nodes, group, tuple(holding))


def more_nodes(site: Site, kind: NodeKind, number: int) -> tuple[str, ...]:
    """Return the changes that add nodes of a kind, as texts for `schedlab.site.changed`.

    They have the next free names that no other switch has, belong to the partitions of the kind, and are connected to
    the switch of its last node.

    Parameters
    ----------
    site
        That has the kind.
    kind
        Of which more are added.
    number
        How many.

    Raises
    ------
    InputError
        If new nodes would not be like the others.
    """
    names = SiteNames.of(site)
    elsewhere = names.connected.difference(host_names(_connected(site, kind.group.switch)))
    new = new_names(kind.nodes[-1], names.nodes | elsewhere, number)
    hosts = host_list(new)
    options = " ".join(f"{name}={value}" for name, value in _options(site, kind).items())
    changes = [f"NodeName={hosts} {options}", *_in_partitions(site, kind, hosts), *_on_switch(site, kind, new)]
    return tuple(changes)


def expanded(site: Site, changes: Iterable[str | Change]) -> list[Change]:
    """Return changes in which `10 more nodes like n[1-8]` is the lines of these nodes, their partitions and switch.

    Parameters
    ----------
    site
        To be changed.
    changes
        Made together; nodes that one adds, the next one knows.

    Raises
    ------
    InputError
        If a change cannot be understood, there are no such nodes, or new ones would not be like them.
    """
    made = [parse_change(one) if isinstance(one, str) else one for one in changes]
    found: list[Change] = []
    here = site
    for number, change in enumerate(made):
        if change.key != MORE_NODES:
            found.append(change)
            continue
        check_changes(site, [[change]])
        (kind,) = node_kinds(site, [change.value])
        check_kind(site, kind)
        new = [parse_change(text) for text in more_nodes(here, kind, int(change.option))]
        found += new
        if any(one.key == MORE_NODES for one in made[number + 1 :]):
            here = changed(here, new)
    return found


def check_kind(site: Site, kind: NodeKind) -> None:
    """Refuse a kind of which no more can be added: a new node would be another one.

    Raises
    ------
    InputError
        If it would have other cores, memory, GPUs, features, switch or partitions.
    """
    other = changed(site, more_nodes(site, kind, 1)).cluster
    new = next(name for name in other.nodes if name not in set(site.cluster.nodes))
    group = next(one for one in other.groups if new in one.names)
    holding = {one.name for one in other.partitions if not one.nodes or new in one.nodes}
    alike = replace(group, names=("n",)) == replace(kind.group, names=("n",))
    if not alike or not holding.issuperset(kind.partitions):
        raise InputError(
            f"a line of slurm.conf for one more node like {kind.name} makes another kind of node: add it with --set "
            "of schedlab site what-if"
        )


def new_names(last: str, known: set[str], number: int) -> list[str]:
    """Return names that continue that of a node, and are free.

    Examples
    --------
    >>> new_names("n09-ib", {"n11-ib"}, 3), new_names("login", set(), 2)
    (['n10-ib', 'n12-ib', 'n13-ib'], ['login2', 'login3'])
    """
    matched = _NUMBERED.fullmatch(last)
    before, digits, after = matched.groups() if matched else (last, "1", "")
    names = (f"{before}{one:0{len(digits)}d}{after}" for one in count(int(digits) + 1))
    return list(islice((name for name in names if name not in known), number))


def _options(site: Site, kind: NodeKind) -> dict[str, str]:
    """Return the options of the line of new nodes, which stands behind all others, and behind all for DEFAULT."""
    defaults: dict[str, str] = {}
    given: dict[str, str] = {}
    for named in (line for line in site.ledger.find("NodeName") if line.place == "NodeName"):
        own = _beside(site, named)
        if named.value.upper() == "DEFAULT":
            defaults |= own
        elif named.value == kind.lines[-1]:
            given = defaults | own
    if kind.group.memory is not None:
        given.setdefault("realmemory", str(kind.group.memory))
    if kind.group.gpus:
        words = [word for word in given.get("gres", "").split(",") if word and word.partition(":")[0].lower() != "gpu"]
        devices = (f"gpu:{type_}:{many}" if type_ else f"gpu:{many}" for type_, many in kind.group.gpus)
        given["gres"] = ",".join([*words, *devices])
    later = {name: _usual(name, given) for name in defaults if name not in given and name not in _OWN}
    return {name: value for name, value in (given | later).items() if name not in _OWN}


def _usual(name: str, given: Mapping[str, str]) -> str:
    if name in ("cpus", "procs"):
        parts = ("boards", "sockets", "corespersocket", "threadspercore")
        product = 1
        for part in parts:
            product *= int(given.get(part, "1"))
        return str(product)
    if name not in _USUAL:
        raise InputError(f"a line NodeName=DEFAULT gives {name} to all lines that are added: take it out, or name it")
    return _USUAL[name]


def _beside(site: Site, named: LedgerLine) -> dict[str, str]:
    """Return the options on the line of an entry of the ledger, names in lower case."""
    mine = (line for line in site.ledger.lines if line.where == named.where and line.place == named.place)
    return {line.name.lower(): line.value for line in mine if line is not named and "/" not in line.name}


def _in_partitions(site: Site, kind: NodeKind, hosts: str) -> list[str]:
    there = {line.value: _beside(site, line) for line in site.ledger.find("PartitionName")}
    found = []
    for partition in site.cluster.partitions:
        if partition.name in kind.partitions:
            named = there.get(partition.name, {}).get("nodes") or host_list(partition.nodes)
            if named and "ALL" not in named.upper().split(","):
                found.append(f"PartitionName={partition.name} Nodes={named},{hosts}")
    return found


def _on_switch(site: Site, kind: NodeKind, new: Sequence[str]) -> list[str]:
    leaf = kind.group.switch
    if not site.cluster.switches or not leaf:
        return []
    if TOPOLOGY not in site.files or "topology.yaml" in site.files:
        raise InputError(f"switch {leaf} of {kind.name} is not in {TOPOLOGY}: nodes cannot be added to it")
    named = _connected(site, leaf)
    left = [name for name in new if name not in set(host_names(named))]
    return [f"SwitchName={leaf} Nodes={named},{host_list(left)}"] if left else []


def _connected(site: Site, leaf: str) -> str:
    """Return the nodes that the line of a switch names, be there such nodes or not."""
    lines = [line for line in site.ledger.find("SwitchName") if line.place == TOPOLOGY and line.value == leaf]
    return next((_beside(site, line).get("nodes", "") for line in lines), "")
