"""The cluster file: a cluster as a document of TOML or JSON, strict in both directions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.hostlist import host_list, host_names
from schedlab.cluster.nodes import NodeGroup, Partition, Switch
from schedlab.documents import first_problem, line_of, path_in
from schedlab.durations import duration_text, parse_duration
from schedlab.errors import InputError, located

FORMAT: Final = "schedlab cluster"
VERSION: Final = 1
TIMES = ("max_time", "default_time")


def _hosts(value: Any) -> Any:
    return host_names(value) if isinstance(value, str) else value


def _seconds(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    seconds = parse_duration(value)
    if seconds < 0 or seconds != int(seconds):
        raise ValueError(f"{value!r} is not a whole number of seconds")
    return int(seconds)


def _kinds(value: Any) -> Any:
    return ({"": value} if value else {}) if isinstance(value, int) and not isinstance(value, bool) else value


Hosts = Annotated[list[str], BeforeValidator(_hosts)]
Seconds = Annotated[int, BeforeValidator(_seconds)]
Gpus = Annotated[dict[str, int], BeforeValidator(_kinds)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class GroupTable(_Table):
    """One of `groups`: the parameters of `NodeGroup`."""

    nodes: Hosts
    cores: int
    memory: int | None = None
    gpus: Gpus = {}
    features: list[str] = []
    weight: int = 1
    sockets: int = 1
    switch: str = ""
    threads: int = 1

    def group(self) -> NodeGroup:
        """Return the nodes that it describes."""
        given = self.model_dump()
        return NodeGroup.of(given.pop("nodes"), **given)


class PartitionTable(_Table):
    """One of `partitions`: the parameters of `Partition`."""

    name: str
    nodes: Hosts = []
    default: bool = False
    priority_tier: int = 1
    max_time: Seconds | None = None
    default_time: Seconds | None = None
    min_nodes: int = 1
    max_nodes: int | None = None
    memory_per_core: int | None = None
    memory_per_node: int | None = None
    exclusive: bool = False
    allow_accounts: list[str] = []
    allow_qos: list[str] = []
    deny_accounts: list[str] = []
    deny_qos: list[str] = []
    up: bool = True
    max_memory_per_core: int | None = None
    max_memory_per_node: int | None = None
    max_cores_per_node: int | None = None
    priority_factor: int = 1
    allow_groups: list[str] = []
    exclusive_user: bool = False
    qos: str = ""

    def partition(self) -> Partition:
        """Return the partition that it describes."""
        given = self.model_dump()
        lists = {name: frozenset(value) for name, value in given.items() if name.startswith(("allow_", "deny_"))}
        return Partition(**given | lists | {"nodes": tuple(self.nodes)})


class SwitchTable(_Table):
    """One of `switches`: the parameters of `Switch`."""

    name: str
    parent: str = ""

    def switch(self) -> Switch:
        """Return the switch that it describes."""
        return Switch(self.name, self.parent)


class ClusterTable(_Table):
    """The whole document."""

    format: Literal["schedlab cluster"] = FORMAT
    version: Literal[1] = VERSION
    name: str = "cluster"
    processors: int | None = None
    licenses: dict[str, int] = {}
    groups: list[GroupTable] = []
    partitions: list[PartitionTable] = []
    switches: list[SwitchTable] = Field(default=[])


def cluster_of(document: Any, source: str, text: str | None = None) -> Cluster:
    """Return the cluster that a document describes.

    Parameters
    ----------
    document
        As `document_of` gives it.
    source
        Where it comes from: messages begin with it.
    text
        The TOML that it was read from, to name lines.

    Raises
    ------
    InputError
        If something in it is wrong; the message names the first place.
    """
    try:
        table = ClusterTable.model_validate(document if isinstance(document, dict) else dict(document))
    except ValidationError as error:
        location = error.errors(include_url=False)[0]["loc"]
        raise InputError(f"{_place(source, text, document, location)}: {_problem(error)}") from None
    except RecursionError:
        raise InputError(f"{source}: it is nested too deeply") from None
    except (TypeError, ValueError):
        raise InputError(f"{source}: a cluster is a table of fields, not {type(document).__name__}") from None
    built: dict[str, list[Any]] = {"groups": [], "partitions": [], "switches": []}
    for field, make in (("groups", "group"), ("partitions", "partition"), ("switches", "switch")):
        for number, one in enumerate(getattr(table, field)):
            try:
                built[field].append(getattr(one, make)())
            except InputError as error:  # to find a line takes longer than to build a group
                raise InputError(f"{_place(source, text, document, (field, number))}: {error}") from None
    return _assembled(table, built, source)


def _assembled(table: ClusterTable, built: Mapping[str, Sequence[Any]], source: str) -> Cluster:
    groups, partitions, switches = (tuple(built[field]) for field in ("groups", "partitions", "switches"))
    cores = sum(len(group.names) * group.cores for group in groups)
    if not groups and table.processors is None:
        raise InputError(f"{source}: it has neither groups of nodes nor a number of processors")
    processors = table.processors if table.processors is not None else cores
    with located(source):
        return Cluster(processors, groups, partitions, table.name, switches, tuple(table.licenses.items()))


def _place(source: str, text: str | None, document: Any, location: Sequence[int | str]) -> str:
    line = line_of(text, path_in(location, document)) if text is not None and location else None
    return f"{source}:{line}" if line else source


def _problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    said = first_problem(error)
    if problem["type"] == "extra_forbidden":
        return f"unknown field {'.'.join(map(str, problem['loc']))}"
    if problem["loc"][:1] == ("version",):
        return f"version {problem['input']!r} of the cluster file is not one that this schedlab reads ({VERSION})"
    return said


def document_of(cluster: Cluster) -> dict[str, Any]:
    """Return a cluster as a document: what is as usual is left out."""
    document: dict[str, Any] = {"format": FORMAT, "version": VERSION, "name": cluster.name}
    if cluster.licenses:
        document["licenses"] = dict(cluster.licenses)
    if not cluster.groups:
        return document | {"processors": cluster.processors}
    document["groups"] = [_table_of(group) for group in cluster.groups]
    if cluster.partitions:
        document["partitions"] = [_table_of(partition) for partition in cluster.partitions]
    if cluster.switches:
        document["switches"] = [_table_of(switch) for switch in cluster.switches]
    return document


def _table_of(subject: NodeGroup | Partition | Switch) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for field in fields(subject):
        value = getattr(subject, field.name)
        if field.default is not MISSING and value == field.default:
            continue
        if field.name in ("names", "nodes"):
            table["nodes"] = host_list(value)
        elif field.name in TIMES:
            table[field.name] = duration_text(value)
        elif field.name == "gpus":
            table["gpus"] = value[0][1] if [kind for kind, _ in value] == [""] else dict(value)
        else:
            table[field.name] = sorted(value) if isinstance(value, frozenset) else value
    return table


def json_text(document: Mapping[str, Any]) -> str:
    """Return a document as JSON."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def toml_text(document: Mapping[str, Any]) -> str:
    """Return a document as TOML: values first, then one table for each of its parts.

    Examples
    --------
    >>> print(toml_text({"name": "a", "groups": [{"nodes": "n1", "gpus": {"a100": 2}}]}), end="")
    name = "a"
    <BLANKLINE>
    [[groups]]
    nodes = "n1"
    gpus = {"a100" = 2}
    """
    tables = {key: value for key, value in document.items() if isinstance(value, list)}
    lines = [f"{key} = {_toml(value)}" for key, value in document.items() if key not in tables]
    for key, parts in tables.items():
        for part in parts:
            lines += ["", f"[[{key}]]", *(f"{name} = {_toml(value)}" for name, value in part.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(key)} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
