"""What runs of jobs held of the nodes that they ran on, as `sacct` records it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from os import PathLike, fspath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.allocations import Allocations, allocations_of
from schedlab.errors import InputError
from schedlab.streams import workload_name
from schedlab.workload._sacct_columns import SacctColumns

_WANTED = {"AllocTRES": re.compile(r"mem|gres/gpu(:.+)?"), "ReqTRES": re.compile(r"license/.+")}
"""The resources that are taken from each column."""

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)([KMGTP]?)")
_MEBIBYTES = {"": 1 / (1 << 20), "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}


class Holdings(NamedTuple):
    """Runs of jobs with their nodes and what they held there, one entry each.

    Parameters
    ----------
    cluster
        The name of the cluster, that of the file if it does not say.
    allocations
        When they ran, and where.
    amounts
        What each held of all its nodes together, by name of the resource: "cpu", "mem" in MiB, "gres/gpu" (of no named
        type), "gres/gpu:TYPE", "license/NAME". float64.
    partitions, constraints
        One name or expression per run, "" for none.
    limits
        Seconds that each might run; -1: no limit.
    """

    cluster: str
    allocations: Allocations
    amounts: Mapping[str, NDArray[np.float64]]
    partitions: tuple[str, ...]
    constraints: tuple[str, ...]
    limits: NDArray[np.int64]


def read_holdings(path: str | PathLike[str], *, timezone: str = "UTC") -> Holdings:
    """Read what runs of jobs held from the text that `sacct --parsable2` prints; a run that is there twice counts once.

    Parameters
    ----------
    path
        The file. Needed are the columns NodeList and AllocCPUS (NCPUS, AllocTRES); memory and GPUs are those of
        AllocTRES, licences those of ReqTRES.
    timezone
        Zone of times without one.

    Raises
    ------
    InputError
        If the file is not such a text, lacks a column, is of several clusters, or no job ran.
    """
    cells = SacctColumns.read(path)
    cells.check_cluster()
    allocations, rows = allocations_of(cells, path, timezone)
    rows, kept = _once(cells, allocations, rows)
    if not rows:
        raise InputError(f"{fspath(path)}: no job has nodes (NodeList): none of them ran")
    limits = _limits(cells)[rows]
    names = cells.table["Cluster"].drop_null().unique().to_pylist() if "Cluster" in cells else []
    return Holdings(
        names[0] if names else workload_name(path),
        allocations.select(kept),
        dict(_amounts(cells, rows)),
        _texts(cells, "Partition", rows),
        _texts(cells, "Constraints", rows),
        limits,
    )


def _once(cells: SacctColumns, allocations: Allocations, rows: list[int]) -> tuple[list[int], list[int]]:
    """Return the rows of runs that are not there already, and their places among the allocations."""
    texts = cells.table[cells.first("JobIDRaw", "JobID")].to_pylist()
    places: dict[tuple[str, int], int] = {}
    for place, (row, start) in enumerate(zip(rows, allocations.start.tolist(), strict=True)):
        places[texts[row], start] = place  # the last record of a run has its end
    kept = sorted(places.values())
    return [rows[place] for place in kept], kept


def _limits(cells: SacctColumns) -> NDArray[np.int64]:
    if "TimelimitRaw" in cells:
        minutes = cells.numbers("TimelimitRaw")
        return np.where(minutes > 0, 60 * minutes, -1)
    if "Timelimit" in cells:
        return np.nan_to_num(cells.seconds("Timelimit"), nan=-1.0).astype(np.int64)
    return np.full(len(cells.table), -1)


def _texts(cells: SacctColumns, name: str, rows: list[int]) -> tuple[str, ...]:
    texts = cells.table[name].to_pylist() if name in cells else [None] * len(cells.table)
    return tuple(texts[row] or "" for row in rows)


def _amounts(cells: SacctColumns, rows: list[int]) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield each resource that some run held, and how much of it each run held."""
    cpus = np.maximum(cells.processors("allocated")[rows], 0).astype(np.float64)
    found: dict[str, NDArray[np.float64]] = {"cpu": cpus}
    for column, wanted in _WANTED.items():
        if column not in cells:
            continue
        texts = cells.table[column].to_pylist()
        parsed = {text: dict(_parts(text, wanted)) for text in set(texts) if text}
        for place, row in enumerate(rows):
            for name, amount in parsed.get(texts[row], {}).items():
                found.setdefault(name, np.zeros(len(rows)))[place] = amount
    typed = [amount for name, amount in found.items() if name.startswith("gres/gpu:")]
    if typed and "gres/gpu" in found:  # the sum over all types
        found["gres/gpu"] = np.maximum(found["gres/gpu"] - np.sum(typed, axis=0), 0)
    yield from ((name, amount) for name, amount in found.items() if amount.any())


def _parts(text: str, wanted: re.Pattern[str]) -> Iterator[tuple[str, float]]:
    """Yield some resources of a text such as cpu=4,mem=16G,gres/gpu:a100=2.

    Examples
    --------
    >>> dict(_parts("cpu=4,mem=16G,gres/gpu:a100=2,gres/gpumem=0", _WANTED["AllocTRES"]))
    {'mem': 16384.0, 'gres/gpu:a100': 2.0}
    """
    for part in text.split(","):
        name, _, value = part.partition("=")
        amount = _AMOUNT.fullmatch(value)
        if amount is not None and wanted.fullmatch(name):
            yield name, float(amount[1]) * (_MEBIBYTES[amount[2]] if name == "mem" else 1.0)
