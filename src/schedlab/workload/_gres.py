"""GPUs and other generic resources in the texts of Slurm: counts, types, and what no column of `Resources` can hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from schedlab.workload._accounting import by_distinct

if TYPE_CHECKING:
    import pyarrow as pa

SEVERAL_TYPES = "GPUs of several types, counted as GPUs of any type"
PARTS_OF_GPUS = "shards or MPS of GPUs, which are not read, so that any number of such jobs may share one"
SHARES = ("shard", "mps")
MEASURES = ("gpumem", "gpuutil")
"""What jobs used of GPUs, which is no request."""

_TRES = re.compile(r"(?:^|,)gres/([^:=,]+)(?::([^=,]+))?=(\d{1,18})")
_GRES = re.compile(r"(?:^|,)(?:gres[:/])?([A-Za-z_]\w*)(?::([A-Za-z_][^:,(]*))?(?:[:=](\d{1,18}))?(?:\([^)]*\))?")


def gpus_of_tres(text: str | None) -> dict[str, int]:
    """Return the GPUs in a text of trackable resources by type; those of no type are what the total has more.

    Examples
    --------
    >>> gpus_of_tres("cpu=4,gres/gpu=3,gres/gpu:a100=1,gres/gpu:v100=2"), gpus_of_tres("gres/gpu=2")
    ({'a100': 1, 'v100': 2}, {'': 2})
    """
    return _by_type((kind, int(count)) for name, kind, count in _TRES.findall(text or "") if name == "gpu")


def gpus_of_gres(text: str | None) -> dict[str, int]:
    """Return the GPUs of a node in a text of generic resources, as Slurm wrote them before 20.11, by type.

    Examples
    --------
    >>> gpus_of_gres("gpu:a100:1,gpu:v100:2(S:0),nic:1"), gpus_of_gres("gres:gpu:2"), gpus_of_gres("gpu")
    ({'a100': 1, 'v100': 2}, {'': 2}, {'': 1})
    """
    return _by_type((kind, int(count or 1)) for name, kind, count in _GRES.findall(text or "") if name == "gpu")


def _by_type(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for kind, count in found:
        counts[kind] = max(counts.get(kind, 0), count) if kind == "" else counts.get(kind, 0) + count
    typed = sum(count for kind, count in counts.items() if kind)
    rest = counts.pop("", 0) - typed
    return {kind: count for kind, count in counts.items() if count} | ({"": rest} if rest > 0 else {})


def only_type(gpus: dict[str, int]) -> str | None:
    """Return the type that all GPUs have, None if they have several or none is said."""
    return next(iter(gpus)) or None if len(gpus) == 1 else None


def counts_and_types(
    column: pa.ChunkedArray, read: Callable[[str | None], dict[str, int]]
) -> tuple[NDArray[np.int64], NDArray[np.object_], NDArray[np.bool_]]:
    """Return how many GPUs the texts of a column name, their type (None: none, or several), and where it is several."""

    def counts(texts: pa.Array) -> NDArray[np.int64]:
        return np.array([sum(read(text).values()) for text in texts.to_pylist()], dtype=np.int64)

    def types(texts: pa.Array) -> NDArray[np.object_]:
        return np.array([only_type(read(text)) for text in texts.to_pylist()], dtype=np.object_)

    def several(texts: pa.Array) -> NDArray[np.bool_]:
        return np.array([len(read(text)) > 1 for text in texts.to_pylist()], dtype=np.bool_)

    return by_distinct(column, counts), by_distinct(column, types), by_distinct(column, several)


def notes_on_others(columns: Iterable[pa.ChunkedArray]) -> list[str]:
    """Return notes about the generic resources that are not read, with the number of jobs that have them in a column.

    `columns` are what jobs asked for and what they were given, as texts of trackable or of generic resources.
    """

    def others(texts: pa.Array) -> NDArray[np.object_]:
        return np.array([",".join(sorted(others_in(text))) for text in texts.to_pylist()], dtype=np.object_)

    found = [by_distinct(column, others) for column in columns]
    rows = np.flatnonzero(np.any([texts != "" for texts in found], axis=0)) if found else ()
    return notes_on_names({name for texts in found for name in texts[row].split(",") if name} for row in rows)


def notes_on_names(names_of_jobs: Iterable[Iterable[str]]) -> list[str]:
    """Return notes about the generic resources that are not read; each job has a collection of their names.

    Examples
    --------
    >>> notes_on_names([("nic", "fpga"), ("nic",), ()])
    ['generic resources that are not read, and jobs with them: fpga 1, nic 2']
    """
    counts: Counter[str] = Counter()
    shares = 0
    for names in map(set, names_of_jobs):
        shares += not names.isdisjoint(SHARES)
        counts.update(names.difference(SHARES))
    told = [f"ask for {PARTS_OF_GPUS}: {shares:,}"] if shares else []
    if counts:
        named = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
        told.append(f"generic resources that are not read, and jobs with them: {named}")
    return told


def others_in(text: str | None) -> set[str]:
    """Return the names of the generic resources in a text that are not GPUs.

    Examples
    --------
    >>> sorted(others_in("cpu=4,gres/shard:a100=2,gres/nic=1")), sorted(others_in("gpu:2,mps:50"))
    (['nic', 'shard'], ['mps'])
    """
    text = text or ""
    names = {name for name, _, _ in _TRES.findall(text)}
    if "=" not in text:
        names |= {name for name, _, _ in _GRES.findall(text)}
    return names.difference(("gpu", *MEASURES))
