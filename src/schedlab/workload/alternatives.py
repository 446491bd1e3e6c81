"""Alternatives of moldable and malleable jobs: other sizes, each with its run time and requested time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from schedlab.arguments import explained
from schedlab.errors import InputError
from schedlab.wording import shown

COLUMN = "alternatives"
"""The column of tables that holds the alternatives of each job."""

LARGEST = 2**53
ONE = re.compile(r"(\d{1,16})x(\d{1,16})(?:/(\d{1,16}))?(?:@(\d{1,16}))?")
"""An alternative as text: processors, run time and, if known, requested time and nodes."""

MALLEABLE = "malleable"
"""The word behind the alternatives of a job that may change its size while it runs."""


@explained
@dataclass(frozen=True, slots=True, eq=False)
class Alternatives:
    """Other sizes of jobs: a scheduler runs each job with its own size or with one of these.

    A moldable job keeps the size with which it starts; a malleable one may change it while it runs.

    Build with `Alternatives.of`, which checks them, or with `schedlab.workload.moldable`.

    Parameters
    ----------
    offsets
        int64 of shape (n + 1,): the alternatives of the job in row j are at `offsets[j]` to `offsets[j + 1] - 1`, in
        the order of preference; the job's own size comes before them.
    processors
        int64, at least 1.
    run_time
        int64 seconds: the run time with that many processors.
    requested_time
        int64 seconds; -1: that of the job, in proportion to the run time.
    nodes
        The exact number of nodes, on a cluster of nodes; 0: as many for each processor as the job itself requests.
    malleable
        bool of shape (n,): which jobs may change their size while they run, under passes that know how to.

    Examples
    --------
    >>> sizes = Alternatives.of([0, 0], processors=[2, 1], run_time=[55, 100], jobs=2)
    >>> sizes.texts()
    ['2x55 1x100', '']
    """

    offsets: NDArray[np.int64]
    processors: NDArray[np.int64]
    run_time: NDArray[np.int64]
    requested_time: NDArray[np.int64]
    nodes: NDArray[np.int64]
    malleable: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for field in fields(self):
            view = getattr(self, field.name).view()
            view.flags.writeable = False
            object.__setattr__(self, field.name, view)

    @classmethod
    def of(
        cls,
        owner: ArrayLike,
        *,
        processors: ArrayLike,
        run_time: ArrayLike,
        requested_time: ArrayLike | None = None,
        nodes: ArrayLike | None = None,
        malleable: ArrayLike | bool = False,
        jobs: int,
    ) -> Alternatives:
        """Build alternatives from columns with one entry per alternative.

        Parameters
        ----------
        owner
            The row of the job; alternatives of a job keep their order.
        processors, run_time, requested_time, nodes
            As in the class; by default, requested times are -1 and nodes 0.
        malleable
            Whether the jobs may change their size while they run: for each job, or for all that have alternatives.
        jobs
            The number of jobs of the workload.

        Raises
        ------
        InputError
            If columns have different lengths, a row does not exist, or a value is not a whole number in its range;
            `row` of the error is the job's.
        """
        rows = np.asarray(owner)
        count = rows.shape
        columns = {
            "processors": (processors, 1),
            "run_time": (run_time, 0),
            "requested_time": (np.full(count, -1) if requested_time is None else requested_time, -1),
            "nodes": (np.zeros(count, np.int64) if nodes is None else nodes, 0),
        }
        place = _whole("owner", rows, 0, rows)
        if place.ndim != 1 or (len(place) and place.max() >= jobs):
            raise InputError(f"an alternative is of the job in row {place.max()}, but rows go from 0 to {jobs - 1}")
        found = {name: _whole(name, values, least, place) for name, (values, least) in columns.items()}
        for name, column in found.items():
            if column.shape != place.shape:
                raise InputError(f"alternatives: column {name} has {len(column)} entries, expected {len(place)}")
        order = np.argsort(place, kind="stable")
        counts = np.bincount(place, minlength=jobs)
        sorted_columns = {name: one[order] for name, one in found.items()}
        return cls(_offsets(counts), **sorted_columns, malleable=_malleable(malleable, counts))

    @classmethod
    @explained
    def from_texts(cls, texts: Iterable[str]) -> Alternatives:
        """Return the alternatives of jobs from one text per job, as `texts` writes them; "" for none.

        Raises
        ------
        InputError
            If a text cannot be read; `row` of the error is the job's.

        Examples
        --------
        >>> Alternatives.from_texts(["8x1900/2400 4x3600/4000@2", ""]).nodes.tolist()
        [0, 2]
        >>> Alternatives.from_texts(["8x1900 malleable", "4x90"]).malleable.tolist()
        [True, False]
        """
        owner: list[int] = []
        found: list[tuple[int, ...]] = []
        malleable: list[bool] = []
        row = -1
        for row, text in enumerate(texts):
            words = text.split()
            malleable.append(words[-1:] == [MALLEABLE])
            for word in words[: len(words) - malleable[-1]]:
                match = ONE.fullmatch(word)
                if match is None:
                    raise InputError(
                        f"column {COLUMN}, row {row}: {shown(word[:40])} is not "
                        "PROCESSORSxRUN_TIME/REQUESTED_TIME@NODES",
                        row=row,
                    )
                size, runs, asks, nodes = match.groups()
                owner.append(row)
                found.append((int(size), int(runs), -1 if asks is None else int(asks), int(nodes or 0)))
        size, runs, asks, on = np.array(found, dtype=np.int64).reshape(-1, 4).T
        rows = np.array(owner, dtype=np.int64)
        return cls.of(
            rows, processors=size, run_time=runs, requested_time=asks, nodes=on, malleable=malleable, jobs=row + 1
        )

    def texts(self) -> list[str]:
        """Return the alternatives of each job as `PROCESSORSxRUN_TIME/REQUESTED_TIME@NODES`; "" for none.

        Behind those of a malleable job stands "malleable".
        """
        columns = (self.processors, self.run_time, self.requested_time, self.nodes)
        words = [
            f"{size}x{runs}{f'/{asks}' if asks >= 0 else ''}{f'@{nodes}' if nodes else ''}"
            for size, runs, asks, nodes in zip(*(column.tolist() for column in columns), strict=True)
        ]
        ends = self.offsets.tolist()
        last = [[MALLEABLE] if one else [] for one in self.malleable.tolist()]
        return [" ".join(words[ends[row] : ends[row + 1]] + last[row]) for row in range(len(self))]

    @classmethod
    @explained
    def none(cls, jobs: int) -> Alternatives:
        """Return the alternatives of jobs without any."""
        nothing = np.empty(0, dtype=np.int64)
        never = np.zeros(jobs, dtype=np.bool_)
        return cls(np.zeros(jobs + 1, dtype=np.int64), nothing, nothing, nothing, nothing, never)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def owner(self) -> NDArray[np.int64]:
        """The row of the job, one per alternative."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    def requested_times(self, requested: NDArray[np.int64], run_time: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the requested times; where they are not known, those of the jobs in proportion to the run times.

        Parameters
        ----------
        requested, run_time
            int64 seconds, one per job: with its own size; -1 where unknown.
        """
        own, runs = requested[self.owner], np.maximum(run_time[self.owner], 1)
        scaled = np.where(own > 0, -(-own * np.maximum(self.run_time, 1) // runs), -1)
        return np.where(self.requested_time >= 0, self.requested_time, scaled)

    def select(self, rows: NDArray[np.intp]) -> Alternatives:
        """Return the alternatives of these jobs, in this order."""
        counts = np.diff(self.offsets)[rows]
        offsets = _offsets(counts)
        taken = np.repeat(self.offsets[:-1][rows] - offsets[:-1], counts) + np.arange(offsets[-1])
        processors, run_time, requested_time, nodes = (column[taken] for column in self._columns())
        return Alternatives(offsets, processors, run_time, requested_time, nodes, self.malleable[rows])

    def join(self, other: Alternatives) -> Alternatives:
        """Return these alternatives followed by those of other jobs.

        Examples
        --------
        >>> one = Alternatives.from_texts(["4x9", ""])
        >>> one.join(one).owner.tolist()
        [0, 2]
        """
        offsets = np.concatenate([self.offsets, self.offsets[-1] + other.offsets[1:]])
        pairs = zip(self._columns(), other._columns(), strict=True)
        processors, run_time, requested_time, nodes = (np.concatenate(pair) for pair in pairs)
        malleable = np.concatenate([self.malleable, other.malleable])
        return Alternatives(offsets, processors, run_time, requested_time, nodes, malleable)

    def _columns(self) -> Sequence[NDArray[np.int64]]:
        return self.processors, self.run_time, self.requested_time, self.nodes


def _offsets(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _malleable(given: Any, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which jobs are malleable, given for each of them, or for all that have alternatives."""
    told = np.asarray(given)
    if told.dtype.kind != "b" and told.size:
        raise InputError("alternatives: malleable must be True or False, for all jobs or for each")
    if told.ndim == 0:
        return bool(told) & (counts > 0)
    if told.shape != counts.shape:
        raise InputError(
            f"alternatives: malleable has {told.size} entries, expected one for each of {len(counts)} jobs"
        )
    if bool((told & (counts == 0)).any()):
        row = int(np.argmax(told & (counts == 0)))
        raise InputError(f"the job in row {row} is malleable, but has no other size: give alternatives", row=row)
    return told.astype(np.bool_)


def _whole(name: str, values: Any, least: int, rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return a column of whole numbers from `least` on."""
    column = np.asarray(values)
    if column.size == 0:
        return column.astype(np.int64)
    if column.dtype.kind not in "iuf":
        raise InputError(f"alternatives: column {name} must have numbers")
    bad = ~((column >= least) & (column < LARGEST) & (column == np.floor(column)))
    if bad.any():
        place = int(np.argmax(bad))
        row = int(rows[place]) if rows.dtype.kind in "iu" and place < len(rows) else None
        of = "" if row is None or name == "owner" else f" of the job in row {row}"
        raise InputError(
            f"alternatives: {name}{of} is {shown(str(column[place]))}, but must be a whole number from {least} on",
            row=row,
        )
    return column.astype(np.int64)
