"""Which nodes are in service at a moment, as `sinfo` or `scontrol show node` print it: text, or JSON."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from schedlab.cluster.hostlist import host_names
from schedlab.cluster.node_states import Service, service_of
from schedlab.documents import read_json, read_text
from schedlab.errors import InputError, located

COMMAND = "scontrol show node"

_NODE = re.compile(r"(?m)^NodeName=(\S+)")
_RESERVED = re.compile(r"\+?\b(MAINT|MAINTENANCE|RESV|RESERVED)\b", re.IGNORECASE)
_STATE = re.compile(r"(?<!\S)State=(\S+)")


def read_services(path: str | os.PathLike[str], *, reserved: bool = True) -> dict[str, Service]:
    """Return for each node whether it is down, drained, off to save power, or in service.

    Parameters
    ----------
    path
        What `scontrol show node` (also with `--oneliner` or `--json`), `sinfo --json` or `sinfo -N` printed.
    reserved
        Whether a node that is reserved or in maintenance counts as drained; False where reservations are known.

    Raises
    ------
    InputError
        If it is none of these, or a node has a state that is not known.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "nodes.txt"
    >>> _ = path.write_text("NODELIST   NODES PARTITION STATE\\nn1    1 batch* idle\\nn2    1 batch* drain*\\n")
    >>> read_services(path)
    {'n1': 'in service', 'n2': 'drain'}
    """
    text, name = read_text(path, "states of nodes"), os.fspath(path)
    if text.lstrip().startswith("{"):
        pairs = _of_json(read_json(path, "states of nodes"), name)
    elif _NODE.search(text):
        pairs = _of_scontrol(text)
    else:
        pairs = _of_sinfo(text, name)
    found: dict[str, Service] = {}
    for hosts, state in pairs:
        with located(name):
            service = service_of(state if reserved else _unreserved(state))
            found |= dict.fromkeys(host_names(hosts), service)
    if not found:
        raise InputError(f"{name}: no node is in it; create the file with: {COMMAND}")
    return found


def _unreserved(state: str) -> str:
    """Return a state without the words that say that a node is reserved."""
    return _RESERVED.sub("", state.replace("$", "")).strip("+") or "IDLE"


def _of_scontrol(text: str) -> Iterator[tuple[str, str]]:
    begins = [*_NODE.finditer(text)]
    for one, after in zip(begins, [*(other.start() for other in begins[1:]), len(text)], strict=True):
        state = _STATE.search(text, one.end(), after)
        if state is not None:
            yield one[1], state[1]


def _of_sinfo(text: str, name: str) -> Iterator[tuple[str, str]]:
    lines = [line for line in text.splitlines() if line.strip()]
    bar = "|" if lines and "|" in lines[0] else None
    header = [label.strip().upper() for label in lines[0].split(bar)] if lines else []
    if not {"NODELIST", "STATE"} <= set(header):
        raise InputError(f"{name}: the column NODELIST or STATE is missing; create the file with: {COMMAND}")
    for line in lines[1:]:
        cells = [cell.strip() for cell in line.split(bar)]
        if len(cells) < len(header):
            raise InputError(f"{name}: a line has {len(cells)} cells instead of {len(header)}: it is cut short")
        yield cells[header.index("NODELIST")], cells[header.index("STATE")]


def _of_json(document: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield the nodes of `scontrol show nodes` and sinfo of Slurm 22.05, or the groups of nodes of a newer sinfo."""
    told = document if isinstance(document, Mapping) else {}
    nodes, groups = told.get("nodes"), told.get("sinfo")
    if not isinstance(nodes, list) and not isinstance(groups, list):
        raise InputError(f"{name}: it has no list of nodes; create the file with: {COMMAND}")
    try:
        for node in nodes if isinstance(nodes, list) else ():
            yield node["name"], _state(node["state"], node.get("state_flags", ()))
        for group in groups if isinstance(groups, list) else ():
            yield from ((host, _state(group["node"]["state"], ())) for host in group["nodes"]["nodes"])
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{name}: a node lacks {error}; create the file with: {COMMAND}") from None


def _state(state: str | list[str], flags: list[str] | tuple[str, ...]) -> str:
    words = [state] if isinstance(state, str) else state
    return "+".join([*words, *flags])
