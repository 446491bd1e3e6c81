"""Requests besides processors and time: nodes, memory, GPUs, partition, account and others."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload.columns import as_column, below, take

if TYPE_CHECKING:
    import pandas as pd

WHOLE = 1000
"""Thousandths of a GPU."""

LARGEST = 2**53
"""The largest request: larger numbers would lose digits in data frames with missing values."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """A column of names.

    Parameters
    ----------
    codes
        int64, one per job: a position in `names`, or -1 for none.
    names
        The distinct names.

    Examples
    --------
    >>> Labels.of(["gpu", None, "cpu", "gpu"]).codes.tolist()
    [0, -1, 1, 0]
    """

    codes: NDArray[np.int64]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.codes.ndim != 1 or self.codes.dtype.kind not in "iu":
            raise InputError("a column of names needs one whole number per job")
        if self.codes.min(initial=-1) < -1 or self.codes.max(initial=-1) >= len(self.names):
            raise InputError(f"a column of names has numbers outside its {len(self.names)} names")
        if len(set(self.names)) < len(self.names) or "" in self.names:
            raise InputError("the names of a column must be unique and not empty")
        view = self.codes.astype(np.int64, copy=False).view()
        view.flags.writeable = False
        object.__setattr__(self, "codes", view)

    @classmethod
    def of(cls, values: Any) -> Labels:
        """Return the column of these names, in order of appearance; None, NaN and "" are no name."""
        places: dict[str, int] = {}
        codes = [
            -1 if value is None or str(value) in ("", "nan") else places.setdefault(str(value), len(places))
            for value in values
        ]
        return cls(np.array(codes, dtype=np.int64), tuple(places))

    @classmethod
    def none(cls, jobs: int) -> Labels:
        """Return a column without any name; it takes no memory."""
        return cls(np.broadcast_to(np.int64(-1), (jobs,)), ())

    def __len__(self) -> int:
        return len(self.codes)

    def select(self, rows: Any) -> Labels:
        """Return the column of some rows."""
        return Labels(take(self.codes, rows), self.names)

    def join(self, other: Labels) -> Labels:
        """Return the column followed by the rows of another one.

        Examples
        --------
        >>> Labels.of(["a", "b"]).join(Labels.of(["c", None, "a"])).texts()
        ['a', 'b', 'c', '', 'a']
        """
        places = {name: place for place, name in enumerate(self.names)}
        codes = [places.setdefault(name, len(places)) for name in other.names]
        renumbered = np.array([*codes, -1], dtype=np.int64)
        return Labels(below(self.codes, take(renumbered, other.codes)), tuple(places))

    def in_order(self) -> Labels:
        """Return the column with only the names that occur, in order of appearance."""
        used, first, number = np.unique(self.codes, return_index=True, return_inverse=True)
        order = [place for place in np.argsort(first, kind="stable").tolist() if used[place] >= 0]
        renumbered = np.full(len(used), -1, dtype=np.int64)
        renumbered[order] = np.arange(len(order))
        return Labels(renumbered[number], tuple(self.names[used[place]] for place in order))

    def counts(self) -> dict[str, int]:
        """Return how many jobs have each name that occurs, the most frequent first.

        Examples
        --------
        >>> Labels.of(["gpu", None, "cpu", "cpu"]).counts()
        {'cpu': 2, 'gpu': 1}
        """
        number = np.bincount(self.codes[self.codes >= 0], minlength=len(self.names))
        return {self.names[code]: int(number[code]) for code in np.argsort(-number, kind="stable") if number[code]}

    def texts(self) -> list[str]:
        """Return the names, "" for none."""
        names = (*self.names, "")
        return [names[code] for code in self.codes.tolist()]


_ASKED: tuple[str, ...] = ("nodes", "tasks", "tasks_per_node", "cores_per_task", "memory_per_node", "memory_per_core")
_ASKED += ("gpus", "gpus_per_node", "gpus_per_task", "gpu_share", "exclusive", "array_limit", "switches", "switch_wait")
CHECKPOINTS = ("checkpoint_interval", "checkpoint_cost", "restart_cost", "checkpoint_when_told")
NUMBERS = dict.fromkeys((*_ASKED, "patience", *CHECKPOINTS), 0) | {"tasks": 1, "cores_per_task": 1, "gpu_share": WHOLE}
"""The columns of numbers, and their defaults."""

LABELS = (
    *("gpu_type", "constraint", "partition", "account", "qos", "licenses", "array", "reservation", "het_job"),
    *("exclude", "nodelist"),
)
"""The columns of names."""

RARE: tuple[str, ...] = ("array_limit", "switches", "switch_wait", "patience", "licenses", "array", "reservation")
RARE += ("het_job", "exclude", "nodelist", *CHECKPOINTS)
"""Columns that are in tables and digests only if they are used, as all are that were added later."""


@dataclass(frozen=True, slots=True, eq=False)
class Resources:
    """Requests for resources, one row per job.

    Build with `Resources.of`.

    Parameters
    ----------
    nodes
        The exact number of nodes; 0: any number.
    tasks
        Processes, at least 1.
    tasks_per_node
        Maximum number of tasks on one node, only on nodes that have room for all of them; 0: any number.
    cores_per_task
        Cores of each task, at least 1. A job's processors are its tasks times this.
    memory_per_node, memory_per_core
        MiB on each node, and for each core; 0: none.
    gpus, gpus_per_node, gpus_per_task
        GPUs in total, on each node, for each task; 0: none.
    gpu_share
        Thousandths of one GPU that the job shares with others; 1000: its GPUs are exclusive.
    exclusive
        1 if no other job may run on its nodes, which are allocated whole.
    gpu_type
        The type that its GPUs must have; none: any.
    constraint
        Features that its nodes must have, as in `ib&(a100|h100)`; none: any nodes.
    partition
        The partitions in which it may run: a name, or several separated by commas; none: the default partition.
    account, qos
        The account that is charged, and the quality of service.
    licenses
        Licences of the cluster that it holds while it runs, as in `matlab:2,ansys`; none: no licence.
    array, array_limit
        The job array of which it is an element, and how many elements may run at a time; none, 0: any number.
    reservation
        The advance reservation in which it has to run; none: no reservation.
    het_job
        The heterogeneous job of which it is a component: all components start together. Those of one job are in
        consecutive rows and have the same submission; none: it is a job by itself.
    exclude
        Nodes that it must not have, as a host list such as `n[1-3],n7`; none: it may have any.
    nodelist
        Nodes that it must have, as a host list; none: any. If they cannot hold it, it may run anywhere.
    switches, switch_wait
        The most leaf switches that it wants, and for how many seconds it waits for them under Slurm's passes; 0: any
        number, and for as long as the scheduler lets it.
    patience
        For how many seconds after its submission it waits before it is cancelled; 0: for ever.
    checkpoint_interval, checkpoint_cost, restart_cost
        Seconds of work between two checkpoints, 0: it writes none on its way; and seconds to write one, and to read it
        when the job goes on from it.
    checkpoint_when_told
        1 if it writes one when it is told to end: at its limit, and in the grace time of preemption.
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
    array_limit: NDArray[np.int64]
    switches: NDArray[np.int64]
    switch_wait: NDArray[np.int64]
    patience: NDArray[np.int64]
    checkpoint_interval: NDArray[np.int64]
    checkpoint_cost: NDArray[np.int64]
    restart_cost: NDArray[np.int64]
    checkpoint_when_told: NDArray[np.int64]
    gpu_type: Labels
    constraint: Labels
    partition: Labels
    account: Labels
    qos: Labels
    licenses: Labels
    array: Labels
    reservation: Labels
    het_job: Labels
    exclude: Labels
    nodelist: Labels

    def __post_init__(self) -> None:
        for field in fields(self):
            column = getattr(self, field.name)
            values = column.codes if isinstance(column, Labels) else column
            if values.shape != self.nodes.shape:
                raise InputError(f"resources: column {field.name} has shape {values.shape}, not {self.nodes.shape}")
            if values is column:
                view = values.view()
                view.flags.writeable = False
                object.__setattr__(self, field.name, view)

    @classmethod
    def of(cls, jobs: int, **columns: Any) -> Resources:
        """Return the requests of `jobs` jobs from some columns; the others have their defaults.

        Parameters
        ----------
        jobs
            The number of jobs.
        **columns
            Array-likes of whole numbers, or of names (None, NaN and "" are none), by the name of the column.

        Raises
        ------
        InputError
            If a column is unknown or has another length, if a number is out of its range, or if the numbers of GPUs
            of a job contradict each other; `row` of the error is the job's.

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
            parts[name] = (
                _number_column(name, columns[name])
                if columns.get(name) is not None
                else np.broadcast_to(np.int64(usual), (jobs,))
            )
        for name in LABELS:
            values = columns.get(name)
            parts[name] = (
                values if isinstance(values, Labels) else Labels.none(jobs) if values is None else Labels.of(values)
            )
        for name, values in parts.items():
            if len(values) != jobs:
                raise InputError(f"resources: column {name} has {len(values)} rows, expected {jobs}")
        resources = cls(**parts)
        _refuse_contradictions(resources)
        return resources

    @classmethod
    def of_processors(cls, processors: NDArray[np.int64]) -> Resources:
        """Return the requests of jobs that request only processors: as many tasks, on any nodes.

        Examples
        --------
        >>> Resources.of_processors(np.array([4, -1])).tasks.tolist()
        [4, 1]
        """
        return cls.of(len(processors), tasks=np.maximum(processors, 1))

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Resources | None:
        """Return the requests in the columns of a data frame with their names; None if there are none."""
        columns: dict[str, Any] = {
            name: frame[name].fillna(usual).to_numpy() for name, usual in NUMBERS.items() if name in frame
        }
        columns |= {name: _labels_of_series(frame[name]) for name in LABELS if name in frame}
        return cls.of(len(frame), **columns) if columns else None

    def __len__(self) -> int:
        return len(self.nodes)

    def select(self, rows: Any) -> Resources:
        """Return the requests of some rows."""
        parts: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(self)}
        parts = {k: v.select(rows) if isinstance(v, Labels) else take(v, rows) for k, v in parts.items()}
        return Resources(**parts)

    def in_order(self) -> Resources:
        """Return the requests with only the names that occur, in order of appearance."""
        names = {name: column.in_order() for name in LABELS if (column := getattr(self, name)).names}
        return replace(self, **names)

    def join(self, other: Resources) -> Resources:
        """Return these requests followed by those of other jobs.

        Examples
        --------
        >>> Resources.of(1, tasks=[4]).join(Resources.of(2, qos=["high", None])).tasks.tolist()
        [4, 1, 1]
        """
        parts: dict[str, Any] = {}
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            parts[field.name] = mine.join(theirs) if isinstance(mine, Labels) else below(mine, theirs)
        return Resources(**parts)

    def columns(self) -> dict[str, Any]:
        """Return the columns by name, for a data frame: arrays of numbers, and categories of names."""
        import pandas as pd

        there = set(self.said).union(NUMBERS, LABELS) - set(RARE).difference(self.said)
        numbers = {name: getattr(self, name) for name in NUMBERS if name in there}
        labels = {name: getattr(self, name) for name in LABELS if name in there}
        return numbers | {name: pd.Categorical.from_codes(one.codes, one.names) for name, one in labels.items()}

    @property
    def said(self) -> tuple[str, ...]:
        """The columns in which any job has a request."""
        numbers = [name for name, usual in NUMBERS.items() if bool((getattr(self, name) != usual).any())]
        return (*numbers, *(name for name in LABELS if bool((getattr(self, name).codes >= 0).any())))

    @property
    def is_held_back(self) -> bool:
        """Whether any job requests licences, or belongs to an array with a limit on running elements."""
        return bool((self.licenses.codes >= 0).any() or (self.array_limit > 0).any())

    @property
    def gpus_in_all(self) -> NDArray[np.int64]:
        """GPUs of each job over all its nodes; for a job without tasks and nodes, those of one.

        Examples
        --------
        >>> Resources.of(2, nodes=[2, 0], gpus_per_node=[4, 0], gpus_per_task=[0, 1], tasks=[2, 3]).gpus_in_all.tolist()
        [8, 3]
        """
        each = np.maximum(self.gpus_per_node * np.maximum(self.nodes, 1), self.gpus_per_task * self.tasks)
        return np.where(self.gpus > 0, self.gpus, each)


def _labels_of_series(values: pd.Series[Any]) -> Labels:
    """Return the names in a column of a data frame, of texts or of categories."""
    import pandas as pd

    codes, names = pd.factorize(values.astype(object).where(values.notna() & (values.astype(object) != ""), None))
    return Labels(codes.astype(np.int64), tuple(str(name) for name in names))


def _number_column(name: str, values: Any) -> NDArray[np.int64]:
    """Return a column of whole numbers in their range."""
    array = np.asarray(values)
    column, rounded = as_column(name, array.astype(np.int64) if array.dtype.kind == "b" else array)
    least = 1 if name in ("tasks", "cores_per_task", "gpu_share") else 0
    most = {"gpu_share": WHOLE, "exclusive": 1, "checkpoint_when_told": 1}.get(name, LARGEST)
    bad = (column < least) | (column > most)
    if rounded:
        bad |= column != array
    if bad.any():
        row = int(np.argmax(bad))
        until = f" to {most}" if most < LARGEST else " on"
        raise InputError(
            f"resources: column {name}, row {row}: {shown(array[row].item())}, but must be a whole number from "
            f"{least}{until}",
            row=row,
        )
    return column


def _refuse_contradictions(resources: Resources) -> None:
    """Raise InputError at the first job whose numbers of GPUs contradict each other."""
    nodes, tasks, share = resources.nodes, resources.tasks, resources.gpu_share
    gpus, per_node, per_task = resources.gpus, resources.gpus_per_node, resources.gpus_per_task
    several = (gpus > 1) | (per_node > 1) | (per_task > 1) | (nodes > 1)
    rules = (
        ((gpus > 0) & (nodes > 0) & (per_node > 0) & (gpus != nodes * per_node), "gpus is not nodes x gpus_per_node"),
        ((gpus > 0) & (per_node > 0) & (gpus % np.maximum(per_node, 1) > 0), "gpus is no multiple of gpus_per_node"),
        ((gpus > 0) & (per_task > 0) & (gpus != tasks * per_task), "gpus is not tasks x gpus_per_task"),
        ((resources.array_limit > 0) & (resources.array.codes < 0), "array_limit is of no array"),
        ((share < WHOLE) & several, "gpu_share is a share of one GPU, on one node, but it asks for several"),
    )
    for bad, what in rules:
        if bad.any():
            row = int(np.argmax(bad))
            told = ", ".join(
                f"{name} {getattr(resources, name)[row]}"
                for name in ("nodes", "tasks", "gpus", "gpus_per_node", "gpus_per_task", "gpu_share", "array_limit")
                if getattr(resources, name)[row] != NUMBERS[name]
            )
            raise InputError(f"resources, row {row}: {what} ({told}); correct the request", row=row)
