"""Requests of jobs in the output of sacct besides processors and time: nodes, memory, GPUs, partitions and so on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.workload._accounting import by_distinct, kilobytes, whole_numbers
from schedlab.workload._gres import SEVERAL_TYPES, counts_and_types, gpus_of_gres, gpus_of_tres, notes_on_others
from schedlab.workload._sacct_wishes import wishes_of
from schedlab.workload.columns import UNKNOWN

if TYPE_CHECKING:
    import pyarrow as pa

    from schedlab.workload._sacct_columns import SacctColumns

TRES = ("AllocTRES", "ReqTRES")
GRES = ("AllocGRES", "ReqGRES", "AllocGres", "ReqGres")
NAMES = {
    "partition": "Partition",
    "account": "Account",
    "qos": "QOS",
    "constraint": "Constraints",
    "reservation": "Reservation",
}
ARRAY_LIMIT = "ArrayLimit"
"""The most tasks of an array that may run at a time: not a column of sacct's text, but in its JSON."""
MOST_HOSTS = 10_000_000
PER_CORE_FLAG = 1 << 31
"""Slurm marks memory per core with this bit of a number of MiB; some versions print the mark as part of it."""


def requested(columns: SacctColumns, processors: NDArray[np.int64]) -> tuple[dict[str, Any], list[str]]:
    """Return the columns of `Resources` for which a file has data, and notes about them.

    Parameters
    ----------
    columns
        The columns, with a row per job.
    processors
        The processors of each job, -1 where unknown.
    """
    nodes, told = _nodes(columns)
    found: dict[str, Any] = {"nodes": nodes, "tasks": np.maximum(processors, 1)}
    found |= _memory(columns, np.maximum(nodes, 1), np.maximum(processors, 1))
    gpus, on_gpus = _gpus(columns)
    found |= gpus
    for name, label in NAMES.items():
        if label in columns:
            found[name] = columns.table[label].to_pandas()
    wishes, more = wishes_of(columns)
    notes = [*told, *_odd_memory(columns), *on_gpus, *more]
    return found | wishes | _licenses(columns) | _arrays(columns), notes


def _licenses(columns: SacctColumns) -> dict[str, Any]:
    """Return the licences that jobs requested, if they are trackable resources of the site."""
    if "ReqTRES" not in columns:
        return {}
    texts = columns.table["ReqTRES"].to_pylist()
    asked = [re.findall(r"(?:^|,)license/([^=,]+)=(\d{1,9})", text or "") for text in texts]
    if not any(asked):
        return {}
    return {"licenses": [",".join(f"{name}:{count}" for name, count in one) for one in asked]}


def _arrays(columns: SacctColumns) -> dict[str, Any]:
    """Return the arrays with a limit on running elements, and the limits, from records of pending elements such as
    123_[5-9%2]."""
    texts = [] if "JobID" not in columns else columns.table["JobID"].to_pylist()
    limits = [re.match(r"(\d+)_\[.*%(\d{1,9})\]$", text or "") for text in texts]
    most = {found[1]: int(found[2]) for found in limits if found}
    if ARRAY_LIMIT in columns:
        told = zip(texts, columns.numbers(ARRAY_LIMIT).tolist(), strict=True)
        most |= {text.partition("_")[0]: limit for text, limit in told if limit > 0 and "_" in text}
    if not most:
        return {}
    arrays = [(text or "").partition("_")[0] if "_" in (text or "") else "" for text in texts]
    limited = [array if array in most else "" for array in arrays]
    return {"array": limited, "array_limit": np.array([most.get(array, 0) for array in limited], dtype=np.int64)}


def memory_of_request(
    columns: SacctColumns, nodes: NDArray[np.int64], processors: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the kilobytes that each job requested in total, NaN where unknown; 4G is for the job, 4Gn and 4Gc are per
    node and core."""
    amount, per = _req_mem(columns)
    times = np.select([per == "n", per == "c"], [nodes, processors], 1)
    return np.where(times > 0, amount * times, np.nan)


def _req_mem(columns: SacctColumns) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Return ReqMem in kilobytes, NaN if it is unknown or 0, and the unit to which it refers: "", "n" or "c"."""
    amount, per = kilobytes(columns.table["ReqMem"])
    marked = (per == "n") & (amount >= PER_CORE_FLAG * 1024.0)
    amount = np.where(marked, amount - PER_CORE_FLAG * 1024.0, amount)
    return np.where(amount > 0, amount, np.nan), np.where(marked, "c", per)


def _odd_memory(columns: SacctColumns) -> list[str]:
    """Return a note of the jobs whose ReqMem is not used."""
    if "ReqMem" not in columns:
        return []
    odd = ~columns.table["ReqMem"].is_null().to_numpy() & np.isnan(kilobytes(columns.table["ReqMem"])[0])
    return [f"ReqMem is no amount that a machine has, and is not used: {int(odd.sum()):,}"] if odd.any() else []


def _nodes(columns: SacctColumns) -> tuple[NDArray[np.int64], list[str]]:
    """Return the nodes that each job was allocated or requested, 0 where unknown."""
    nodes = np.full(len(columns.table), UNKNOWN)
    if name := columns.first("NNodes", "AllocNodes"):
        nodes = columns.numbers(name)
    for name in TRES:
        if name in columns:
            nodes = np.where(nodes > 0, nodes, whole_numbers(_tres(columns, name, "node", r"\d{1,18}")))
    told = []
    if "NodeList" in columns:
        listed = by_distinct(columns.table["NodeList"], _counts)
        if other := int(np.count_nonzero((listed > 0) & (nodes > 0) & (listed != nodes))):
            told.append(f"NodeList has other nodes than NNodes says, counted as NNodes says: {other:,}")
        nodes = np.where(nodes > 0, nodes, listed)
    return np.maximum(nodes, 0), told


def _memory(
    columns: SacctColumns, nodes: NDArray[np.int64], processors: NDArray[np.int64]
) -> dict[str, NDArray[np.int64]]:
    """Return MiB per node and per core; memory of the whole job is divided among its nodes."""
    per_node, per_core = np.full(len(nodes), np.nan), np.full(len(nodes), np.nan)
    if "ReqMem" in columns:
        amount, per = _req_mem(columns)
        per_core = np.where(per == "c", amount, np.nan)
        per_node = np.select([per == "n", per == ""], [amount, amount / nodes], np.nan)
    for name in TRES:
        if name in columns:
            amount = kilobytes(_tres(columns, name, "mem", r"[^,]+"))[0] / nodes
            unknown = np.isnan(per_node) & np.isnan(per_core) & (amount > 0)
            per_node = np.where(unknown, amount, per_node)
    mebibytes = {"memory_per_node": per_node, "memory_per_core": per_core}
    return {name: np.ceil(np.nan_to_num(values) / 1024).astype(np.int64) for name, values in mebibytes.items()}


def _gpus(columns: SacctColumns) -> tuple[dict[str, Any], list[str]]:
    """Return the GPUs of each job, and their requested type (or the allocated one, if no request is recorded), and
    notes about what that leaves out."""
    tres, gres = ([name for name in names if name in columns] for names in (TRES, GRES))
    gpus = np.zeros(len(columns.table), dtype=np.int64)
    for name in tres:
        gpus = np.where(gpus > 0, gpus, counts_and_types(columns.table[name], gpus_of_tres)[0])
    found: dict[str, Any] = {"gpus": gpus}
    several = np.zeros(len(gpus), dtype=np.bool_)
    if source := columns.first("ReqTRES", "AllocTRES"):
        _, found["gpu_type"], several = counts_and_types(columns.table[source], gpus_of_tres)
    elif source := columns.first(*GRES):
        found["gpus_per_node"], found["gpu_type"], several = counts_and_types(columns.table[source], gpus_of_gres)
    told = [f"{SEVERAL_TYPES}: {int(np.count_nonzero(several)):,}"] if several.any() else []
    return found, [*told, *notes_on_others([columns.table[name] for name in (*tres, *gres)])]


def _tres(columns: SacctColumns, name: str, key: str, value: str) -> pa.ChunkedArray:
    """Return one of the trackable resources of each job as text, null where it is missing."""
    import pyarrow.compute as pc

    parts = pc.extract_regex(columns.table[name], rf"(?:^|,){key}=(?P<value>{value})(?:,|$)")
    return pc.struct_field(parts, "value")


def _counts(texts: pa.Array) -> NDArray[np.int64]:
    return np.array([count_hosts(text or "") for text in texts.to_pylist()], dtype=np.int64)


def count_hosts(text: str) -> int:
    """Return the number of nodes in a Slurm host list; 0 if it names none, or more than `MOST_HOSTS`.

    Examples
    --------
    >>> [count_hosts(text) for text in ("n1", "n[01-03,7],m2", "r[1-2]n[1-4]", "None assigned", "")]
    [1, 5, 8, 0, 0]
    """
    if not text or " " in text or text == "(null)":
        return 0
    total = 0
    for host in re.findall(r"(?:\[[^\]]*\]|[^,\[])+", text):
        nodes = 1
        for ranges in re.findall(r"\[([^\]]*)\]", host):
            ends = [re.fullmatch(r"(\d{1,18})(?:-(\d{1,18}))?", part) for part in ranges.split(",")]
            if not all(ends):
                return 0
            nodes *= sum(int(end[2] or end[1]) - int(end[1]) + 1 for end in ends if end)
        total += nodes
    return total if total <= MOST_HOSTS else 0
