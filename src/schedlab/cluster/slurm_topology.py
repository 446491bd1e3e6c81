"""Switches of a site: its topology.yaml (Slurm 25.05 and later), or its topology.conf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, TypeAdapter

from schedlab.cluster.cluster import IgnoredLine
from schedlab.cluster.hostlist import host_names
from schedlab.cluster.nodes import Switch
from schedlab.cluster.slurm_lines import config_lines, config_text
from schedlab.cluster.slurm_nodes import NodeLines
from schedlab.documents import checked
from schedlab.errors import InputError, located

YAML, CONF = "topology.yaml", "topology.conf"
OTHER_TOPOLOGY = "the default topology of the cluster holds for all partitions"
DEEPEST = 32
BLOCKS = "blocks are not modelled: nodes are chosen side by side, also across blocks"


class _Switch(BaseModel):
    """A switch of a tree."""

    model_config = ConfigDict(extra="ignore")

    switch: str
    children: str = ""
    nodes: str = ""


class _Tree(BaseModel):
    model_config = ConfigDict(extra="ignore")

    switches: list[_Switch]


class _Topology(BaseModel):
    """One of the topologies of a topology.yaml; which kind it is, a key says."""

    model_config = ConfigDict(extra="ignore")

    topology: str
    cluster_default: bool = False
    tree: _Tree | None = None
    block: dict[str, Any] | None = None


_TOPOLOGIES = TypeAdapter(list[_Topology])


def read_switches(main: Path, nodes: NodeLines, plugin: str) -> tuple[Switch, ...]:
    """Return the switches of a site, and enter the leaf switch of each node; none if Slurm has no tree of switches.

    As in Slurm, a topology.yaml stands for TopologyPlugin and topology.conf, and without it topology.conf is only read
    under topology/tree.

    Parameters
    ----------
    main
        The slurm.conf beside which the files are.
    nodes
        Those of slurm.conf.
    plugin
        TopologyPlugin, "" for none.

    Raises
    ------
    InputError
        If a file cannot be read, or a line is not about switches.
    """
    document, lines = main.with_name(YAML), main.with_name(CONF)
    if document.is_file():
        if lines.is_file():
            nodes.ignored.append(IgnoredLine(CONF, "(all lines)", f"Slurm ignores it beside {YAML}", by_slurm=True))
        return _of_yaml(document, nodes)
    if not lines.is_file():
        return ()
    if not plugin.lower().endswith("tree"):
        nodes.ignored.append(_not_read(plugin))
        return ()
    return _of_conf(lines, nodes)


def _not_read(plugin: str) -> IgnoredLine:
    """Return a topology.conf that has no effect under a plugin, and why."""
    if plugin.lower() in ("", "topology/none", "topology/default", "topology/flat"):
        reason = "Slurm does not read it, as TopologyPlugin is not topology/tree"
        return IgnoredLine(CONF, "(all lines)", reason, by_slurm=True)
    only = BLOCKS if plugin.lower().endswith("block") else "only trees of switches are modelled"
    return IgnoredLine(CONF, "(all lines)", f"TopologyPlugin={plugin}: {only}")


@dataclass(slots=True)
class _Leaves:
    """The switches of a tree, and the nodes that are connected one switch after the other."""

    nodes: NodeLines
    parents: dict[str, str] = field(default_factory=dict)

    def add(self, where: str, names: list[str], children: Iterable[str], hosts: str) -> None:
        """Enter switches, and the nodes of the first of them."""
        for name in names:
            self.parents.setdefault(name, "")
            self.parents |= dict.fromkeys(children, name)
        found = list(self.nodes.nodes) if hosts.upper() == "ALL" else host_names(hosts)
        strangers = [host for host in found if host not in self.nodes.nodes and host not in self.nodes.absent]
        if strangers:
            text = f"{strangers[0]}{f' and {len(strangers) - 1} more' if len(strangers) > 1 else ''}"
            self._ignore(where, text, "these nodes are not in slurm.conf")
        for host in dict.fromkeys(host for host in found if host in self.nodes.nodes):
            node = self.nodes.nodes[host]
            if node.group.switch:
                reason = f"below switch {node.group.switch} before, which counts: a node has one leaf switch here"
                self._ignore(where, f"{host} below {names[0]}", reason)
            else:
                node.group = replace(node.group, switch=names[0])

    def _ignore(self, where: str, text: str, reason: str) -> None:
        self.nodes.ignored.append(IgnoredLine(where, text, reason))

    def switches(self) -> tuple[Switch, ...]:
        return tuple(Switch(name, parent) for name, parent in self.parents.items())


def _of_conf(path: Path, nodes: NodeLines) -> tuple[Switch, ...]:
    """Return the switches of a topology.conf."""
    leaves = _Leaves(nodes)
    for line in config_lines(path, "topology"):
        options = line.options()
        if "switchname" not in options:
            nodes.ignored.append(IgnoredLine(line.where, line.text, "of topologies, trees of switches are read"))
            continue
        with located(f"{line.path}:{line.number}"):
            names = host_names(options["switchname"])
            if not names:
                raise InputError("SwitchName= names no switch")
            leaves.add(line.where, names, host_names(options.get("switches", "")), options.get("nodes", ""))
    return leaves.switches()


def _of_yaml(path: Path, nodes: NodeLines) -> tuple[Switch, ...]:
    """Return the switches of the topology of a topology.yaml that holds for the whole cluster."""
    found = _topologies(path)
    if not found:
        return ()
    chosen, *others = found
    for other in others:
        reason = f"{chosen.topology} is the default of the cluster, and holds for all partitions here"
        nodes.ignored.append(IgnoredLine(path.name, f"topology {other.topology}", reason))
    if chosen.tree is None:
        if chosen.block is not None:
            nodes.ignored.append(IgnoredLine(path.name, f"topology {chosen.topology}", BLOCKS))
        return ()
    leaves = _Leaves(nodes)
    for switch in chosen.tree.switches:
        with located(f"{path}: switch {switch.switch}"):
            leaves.add(path.name, host_names(switch.switch), host_names(switch.children), switch.nodes)
    return leaves.switches()


class _AsWritten(yaml.BaseLoader):  # type: ignore[misc]
    """Reads all values as texts, so that a name may look like a date or a number.

    Aliases are refused, with which a small file can stand for a huge one, and so is deep nesting.
    """

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent):
            raise yaml.MarkedYAMLError(problem="aliases are not read", problem_mark=event.start_mark)
        if self.depth == DEEPEST:
            raise yaml.MarkedYAMLError(problem="it is nested too deeply", problem_mark=event.start_mark)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _topologies(path: Path) -> list[_Topology]:
    """Return the topologies of a topology.yaml, first that which holds for the whole cluster."""
    try:
        document = yaml.load(config_text(path, "topology"), Loader=_AsWritten)
    except yaml.YAMLError as error:
        raise _not_yaml(path, error) from None
    found: list[_Topology] = checked(_TOPOLOGIES, document, str(path), "see topology.yaml of Slurm's manual")
    return sorted(found, key=lambda one: not one.cluster_default)


def as_topology_conf(path: Path) -> str:
    """Return the lines of a topology.conf that say what a topology.yaml says; none if its topology is no tree.

    Raises
    ------
    InputError
        If it is no topology.yaml.
    """
    chosen = next(iter(_topologies(path)), None)
    if chosen is None or chosen.tree is None:
        return ""
    options = [(one.switch, {"Switches": one.children, "Nodes": one.nodes}) for one in chosen.tree.switches]
    lines = [
        " ".join([f"SwitchName={name}", *(f"{key}={value}" for key, value in below.items() if value)])
        for name, below in options
    ]
    return "".join(f"{line}\n" for line in lines)


def _not_yaml(path: Path, error: yaml.YAMLError) -> InputError:
    mark = getattr(error, "problem_mark", None)
    where = str(path) if mark is None else f"{path}:{mark.line + 1}"
    return InputError(f"{where}: not YAML: {getattr(error, 'problem', None) or error}")


class TopologyEntry(NamedTuple):
    """A key of a topology.yaml.

    Parameters
    ----------
    line
        Where it is, from 1.
    kind
        The key of the topology that it is below, such as tree or block; "" above these.
    name
        The key.
    value
        As it is written, lists in one line; "" for one that other keys are below.
    counts
        Whether it is of the topology that holds for the whole cluster.
    """

    line: int
    kind: str
    name: str
    value: str
    counts: bool = True


def topology_entries(path: Path) -> list[TopologyEntry]:
    """Return all keys of a topology.yaml, in order.

    Raises
    ------
    InputError
        If it is no YAML.
    """
    try:
        root = yaml.compose(config_text(path, "topology"), Loader=_AsWritten)
    except yaml.YAMLError as error:
        raise _not_yaml(path, error) from None
    if not isinstance(root, yaml.SequenceNode):
        return []
    found = [list(_entries(one, 0, "")) for one in root.value]
    default = [any(one.name == "cluster_default" and one.value.lower() == "true" for one in mine) for mine in found]
    chosen = default.index(True) if any(default) else 0
    return [one._replace(counts=place == chosen) for place, mine in enumerate(found) for one in mine]


def _entries(node: yaml.Node, depth: int, kind: str) -> Iterator[TopologyEntry]:
    if isinstance(node, yaml.SequenceNode):
        for one in node.value:
            yield from _entries(one, depth, kind)
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        plain = isinstance(value, yaml.ScalarNode) or (
            isinstance(value, yaml.SequenceNode) and all(isinstance(one, yaml.ScalarNode) for one in value.value)
        )
        text = (
            value.value
            if isinstance(value, yaml.ScalarNode)
            else ",".join(one.value for one in value.value)
            if plain
            else ""
        )
        below = str(key.value) if depth == 0 and not plain else kind
        yield TopologyEntry(key.start_mark.line + 1, below, str(key.value), text)
        if not plain:
            yield from _entries(value, depth + 1, below)
