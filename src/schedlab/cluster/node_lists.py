"""Clusters from lists of nodes: Alea's `.machines` files and Alibaba's node list."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from itertools import groupby
from operator import attrgetter

from schedlab.cluster.cluster import Cluster, IgnoredLine
from schedlab.cluster.hostlist import MOST_NAMES
from schedlab.cluster.nodes import NodeGroup
from schedlab.errors import InputError, located
from schedlab.streams import read_whole, workload_name
from schedlab.wording import shown

ALIBABA = ("sn", "cpu_milli", "memory_mib", "gpu", "model")
MACHINES = ("number", "name", "nodes", "processors", "speed", "memory")
MILLI = 1000


def read_machines(path: str | os.PathLike[str]) -> Cluster:
    """Read an Alea `.machines` file: clusters of alike nodes.

    A line has, separated by blanks, the number of the cluster, its name, its nodes, the processors and the relative
    speed of a node, and its memory in KiB. Nodes are named by the cluster and a number. Speeds are not used: a job's
    run time does not depend on where it runs.

    Raises
    ------
    InputError
        If a line is something else.

    References
    ----------
    The Alea simulator, https://github.com/aleasimulator/alea.
    """
    groups, ignored = [], []
    for number, words in enumerate(map(str.split, _text(path).splitlines()), 1):
        if not words or words[0].startswith(("#", ";")):
            continue
        where = f"{os.fspath(path)}:{number}"
        if len(words) < len(MACHINES):
            raise InputError(f"{where}: expected {', '.join(MACHINES)}, found {len(words)} words")
        _, name, nodes, cores, speed, memory = words[: len(MACHINES)]
        count = whole_number(where, "nodes", nodes)
        if count > MOST_NAMES:
            raise InputError(f"{where}: {count:,} nodes are more than {MOST_NAMES:,}")
        names = tuple(f"{name}{place}" for place in range(1, count + 1))
        with located(where):
            kibibytes = whole_number(where, "memory", memory)
            groups.append(NodeGroup(names, whole_number(where, "processors", cores), kibibytes // 1024 or None))
        if speed not in ("1", "1.0"):
            ignored.append(IgnoredLine(where, f"speed {speed}", "run times do not depend on nodes"))
    with located(os.fspath(path)):
        return Cluster.of_nodes(groups, name=cluster_name(path), ignored=ignored)


def read_alibaba(path: str | os.PathLike[str]) -> Cluster:
    """Read Alibaba's list of nodes (`openb_node_list_*.csv`): one node a line, in the order of the file.

    Thousandths of processors are rounded down to whole ones. The model of a node's GPUs is one of its features, too.

    Raises
    ------
    InputError
        If a column is missing, or a value is not a number.

    References
    ----------
    Weng et al., "Beware of fragmentation", USENIX ATC 2023.
    """
    rows = csv.DictReader(io.StringIO(_text(path), newline=""))
    try:
        missing = [name for name in ALIBABA if name not in (rows.fieldnames or ())]
        if missing:
            raise InputError(
                f"{os.fspath(path)}: the column {missing[0]!r} is missing; a node list has {', '.join(ALIBABA)}"
            )
        nodes = list(_alibaba_nodes(os.fspath(path), rows))
    except csv.Error as error:
        raise InputError(f"{os.fspath(path)}:{rows.line_num + 1}: not a CSV file ({error})") from None
    with located(os.fspath(path)):
        return Cluster.of_nodes(merged(nodes), name=cluster_name(path))


def _alibaba_nodes(path: str, rows: csv.DictReader[str]) -> Iterator[NodeGroup]:
    for row in rows:
        where = f"{path}:{rows.line_num}"
        cores, memory, gpus = (whole_number(where, name, row[name]) for name in ("cpu_milli", "memory_mib", "gpu"))
        with located(where):
            kinds = {row["model"] or "": gpus} if gpus else {}
            features = [row["model"]] if kinds and row["model"] else []  # pods may ask for one of several models
            yield NodeGroup.of([row["sn"]], cores=cores // MILLI, memory=memory, gpus=kinds, features=features)


def merged(groups: Iterable[NodeGroup]) -> Iterator[NodeGroup]:
    """Yield neighbours that are alike as one group; the order of nodes stays."""
    kind = attrgetter(*(field.name for field in fields(NodeGroup) if field.name != "names"))
    for _, alike in groupby(groups, key=kind):
        parts = list(alike)
        yield replace(parts[0], names=tuple(name for part in parts for name in part.names))


def cluster_name(path: str | os.PathLike[str]) -> str:
    """Return what a cluster is called that has no name in its file."""
    return workload_name(path).removesuffix(".swf.machines").removesuffix(".machines")


def _text(path: str | os.PathLike[str]) -> str:
    try:
        return read_whole(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{os.fspath(path)}: the list of nodes is not text in UTF-8") from None


def whole_number(where: str, what: str, text: str | None) -> int:
    """Return the whole number that stands somewhere, or raise InputError."""
    if text is None or not text.isdecimal() or len(text) > 18:
        raise InputError(f"{where}: {what} is {shown(text)}, not a whole number")
    return int(text)
