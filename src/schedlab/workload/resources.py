"""What jobs ask for besides processors and time: nodes, memory, GPUs, and where and for whom they run."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError

WHOLE = 1000
"""Thousandths of a GPU."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """A column of names.

    Parameters
    ----------
    codes
        int64, one per job: a position in `names`, or -1 for none.
    names
        Each once.

    Examples
    --------
    >>> Labels.of(["gpu", None, "cpu", "gpu"]).codes.tolist()
    [0, -1, 1, 0]
    """

    codes: NDArray[np.int64]
    names: tuple[str, ...]

    @classmethod
    def of(cls, values: Any) -> Labels:
        """Return the column of these names, in order of appearance; None and "" are no name."""
        places: dict[str, int] = {}
        codes = [places.setdefault(str(value), len(places)) if value else -1 for value in values]
        return cls(np.array(codes, dtype=np.int64), tuple(places))

    def select(self, rows: Any) -> Labels:
        """Return the column of some rows."""
        return Labels(self.codes[rows], self.names)

    def texts(self) -> list[str]:
        """Return the names, "" for none."""
        names = (*self.names, "")
        return [names[code] for code in self.codes.tolist()]


NUMBERS = {
    "nodes": 0,
    "tasks": 1,
    "tasks_per_node": 0,
    "cores_per_task": 1,
    "memory_per_node": 0,
    "memory_per_core": 0,
    "gpus": 0,
    "gpus_per_node": 0,
    "gpus_per_task": 0,
    "gpu_share": WHOLE,
    "exclusive": 0,
}
"""The columns of numbers, and what a job has that says nothing."""

LABELS = ("gpu_type", "constraint", "partition", "account", "qos")
"""The columns of names."""


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """Requests for resources, one row per job.

    Build them with `Resources.of`.

    Parameters
    ----------
    nodes
        Exactly so many nodes; 0: any number.
    tasks
        Processes, at least 1.
    tasks_per_node
        At most so many on one node; 0: no bound.
    cores_per_task
        At least 1. A job's processors are its tasks times this.
    memory_per_node, memory_per_core
        MiB on each node, and for each core; 0: none.
    gpus, gpus_per_node, gpus_per_task
        GPUs in all, on each node, for each task; 0: none.
    gpu_share
        Thousandths of one GPU that the job shares with others; 1000: its GPUs are its own.
    exclusive
        1 if no other job may run on its nodes, which it gets whole.
    gpu_type
        The type that its GPUs must have; none: any.
    constraint
        Features that its nodes must have, as in `ib&(a100|h100)`; none: any nodes.
    partition
        Where it may run: a name, or several separated by commas; none: the default partition.
    account, qos
        Who pays for it, and its quality of service.
    """

    nodes: NDArray[np.int64]
    tasks: NDArray[np.int64]
    tasks_per_node: NDArray[np.int64]
    cores_per_task: NDArray[np.int64]
    memory_per_node: NDArray[np.int64]
    memory_per_core: NDArray[np.int64]
    gpus: NDArray[np.int64]
    gpus_per_node: NDArray[np.int64]
    gpus_per_task: NDArray[np.int64]
    gpu_share: NDArray[np.int64]
    exclusive: NDArray[np.int64]
    gpu_type: Labels
    constraint: Labels
    partition: Labels
    account: Labels
    qos: Labels

    def __post_init__(self) -> None:
        for field in fields(self):
            column = getattr(self, field.name)
            values = column.codes if isinstance(column, Labels) else column
            if values.shape != self.nodes.shape:
                raise InputError(f"resources: column {field.name} has shape {values.shape}, not {self.nodes.shape}")

    @classmethod
    def of(cls, jobs: int, **columns: Any) -> Resources:
        """Return the requests of so many jobs from some columns; in the others, they say nothing.

        Examples
        --------
        >>> Resources.of(2, tasks=[4, 8], partition=["gpu", None]).partition.texts()
        ['gpu', '']
        """
        strangers = sorted(set(columns) - set(NUMBERS) - set(LABELS))
        if strangers:
            raise InputError(f"resources have no column {strangers[0]!r}; they have {', '.join((*NUMBERS, *LABELS))}")
        parts: dict[str, Any] = {}
        for name, usual in NUMBERS.items():
            values = columns.get(name)
            parts[name] = (
                np.full(jobs, usual, dtype=np.int64) if values is None else np.asarray(values).astype(np.int64)
            )
        for name in LABELS:
            values = columns.get(name, [None] * jobs)
            parts[name] = values if isinstance(values, Labels) else Labels.of(values)
        return cls(**parts)

    def __len__(self) -> int:
        return len(self.nodes)

    def select(self, rows: Any) -> Resources:
        """Return the requests of some rows."""
        parts: dict[str, Any] = {}
        for field in fields(self):
            column = getattr(self, field.name)
            parts[field.name] = column.select(rows) if isinstance(column, Labels) else column[rows]
        return Resources(**parts)
