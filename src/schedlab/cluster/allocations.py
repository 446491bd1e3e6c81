"""Which nodes jobs ran on, as `sacct` records it."""

from __future__ import annotations

from os import PathLike, fspath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.hostlist import host_names
from schedlab.errors import InputError
from schedlab.workload._sacct_columns import COMMAND, SacctColumns
from schedlab.workload.sacct import numbers_of_jobs

STILL_RUNNING = np.iinfo(np.int64).max
"""The end of a run that had not ended when sacct was called."""


class Allocations(NamedTuple):
    """Runs of jobs, one entry each, in the order of the file.

    Parameters
    ----------
    job_id
        int64, as in the workload that `read_sacct` reads from the file.
    submit, start, end
        int64, Unix times; `STILL_RUNNING` if a run had not ended.
    nodes
        The names of its nodes.
    """

    job_id: NDArray[np.int64]
    submit: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    nodes: tuple[tuple[str, ...], ...]

    def select(self, places: list[int]) -> Allocations:
        """Return some of the runs."""
        nodes = tuple(self.nodes[place] for place in places)
        return Allocations(self.job_id[places], self.submit[places], self.start[places], self.end[places], nodes)

    def since(self, epoch: int) -> Allocations:
        """Return the same in seconds from a Unix time on."""
        end = np.where(self.end == STILL_RUNNING, STILL_RUNNING, self.end - epoch)
        return self._replace(submit=self.submit - epoch, start=self.start - epoch, end=end)


def read_allocations(path: str | PathLike[str], *, timezone: str = "UTC") -> Allocations:
    """Read the nodes of all runs from the text that `sacct --parsable2` prints.

    Parameters
    ----------
    path
        The file.
    timezone
        Zone of times without one.

    Raises
    ------
    InputError
        If the file is not such a text, lacks the column NodeList, or names what is not a list of nodes.
    """
    return allocations_of(SacctColumns.read(path), path, timezone)[0]


def allocations_of(cells: SacctColumns, path: str | PathLike[str], timezone: str) -> tuple[Allocations, list[int]]:
    """Return the nodes of all runs, and the rows of the columns, without steps, that these are of.

    Raises
    ------
    InputError
        As for `read_allocations`.
    """
    cells.drop_steps()
    if "NodeList" not in cells:
        raise InputError(f"{fspath(path)}: lacks the column NodeList: create the file with: {COMMAND}")
    submit, start, end = (cells.times(name, timezone) for name in ("Submit", "Start", "End"))
    texts = cells.table["NodeList"].to_pylist()
    names: dict[str, tuple[str, ...]] = {}
    for text in texts:
        if text is not None and text not in names:
            try:
                names[text] = tuple(host_names(text))
            except InputError as error:
                raise InputError(f"{fspath(path)}: NodeList: {error}") from None
    rows = [row for row, text in enumerate(texts) if text is not None and start[row] >= 0]
    finished = np.where(end >= 0, end, STILL_RUNNING)
    found = Allocations(
        numbers_of_jobs(cells)[rows],
        submit[rows],
        start[rows],
        finished[rows],
        tuple(names[texts[row]] for row in rows),
    )
    return found, rows
