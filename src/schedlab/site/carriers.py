"""Which groups of jobs carry the mean wait: groups found by themselves, one after the other, the most telling first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.site.asked import shared_by
from schedlab.workload.columns import distinct
from schedlab.workload.resources import Labels

MOST_CARRIERS = 5
LEAST_SHARE = 0.02
"""Of all waiting, that a carrier has; smaller groups are left to the rest."""

MOST_ATTRIBUTES = 4
"""By which a group is told apart."""

STANDS_OUT, LIFT = 0.25, 1.5
"""A group stands out if it has at least this share of all waiting, and this many times its share of the jobs."""


class Carrier(NamedTuple):
    """A group of jobs, and what it waited.

    Parameters
    ----------
    told_apart
        What makes the group: labels by attribute; empty for all jobs that are in no other group.
    shared
        What nearly all of its jobs share, by attribute.
    rows
        Its jobs.
    """

    told_apart: Mapping[str, str]
    shared: Mapping[str, str]
    rows: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class WaitShare:
    """What a group of jobs has of all waiting.

    Parameters
    ----------
    kind, group
        By what the group is told apart, and which one it is.
    jobs
        How many.
    share_of_jobs, share_of_waiting
        Of all.
    mean, median, p95
        Of its waits, in seconds.
    mean_without
        Mean wait of all other jobs, as they waited beside the group; NaN without others.
    """

    kind: str
    group: str
    jobs: int
    share_of_jobs: float
    share_of_waiting: float
    mean: float
    median: float
    p95: float
    mean_without: float


def wait_share(
    kind: str, group: str, waits: NDArray[np.int64] | NDArray[np.float64], rows: NDArray[np.intp]
) -> WaitShare:
    """Return what some jobs have of all waiting.

    Examples
    --------
    >>> found = wait_share("user", "ann", np.array([90, 10, 20]), np.array([0]))
    >>> found.share_of_waiting, found.mean, found.mean_without
    (0.75, 90.0, 15.0)
    """
    mine, total = waits[rows], float(waits.sum())
    others = len(waits) - len(rows)
    return WaitShare(
        kind,
        group,
        len(rows),
        len(rows) / len(waits),
        float(mine.sum()) / total if total else 0.0,
        float(mine.mean()),
        float(np.median(mine)),
        float(np.quantile(mine, 0.95)),
        (total - float(mine.sum())) / others if others else float("nan"),
    )


def carriers(waits: NDArray[np.int64], labels: Mapping[str, Labels]) -> list[Carrier]:
    """Return the groups that carry the mean wait, and the rest, without jobs in common.

    Parameters
    ----------
    waits
        int64 seconds, of each job.
    labels
        By what jobs may be told apart.

    Returns
    -------
    list of Carrier
        At most `MOST_CARRIERS`, each the most telling group of the jobs that were in none before, the one with the
        largest share of all waiting first; last the rest.

    Notes
    -----
    All conjunctions of up to four labels are tried. The most telling one has the largest mean-test statistic, the root
    of its number of jobs times the difference of its mean wait from that of all jobs that are left (Klösgen,
    "Explora: a multipattern and multistrategy discovery assistant", Advances in Knowledge Discovery and Data Mining,
    1996): it weighs how many jobs there are against how long they wait. Of equal ones, the first with fewest labels.
    """
    left = np.arange(len(waits))
    total = float(waits.sum())
    found: list[Carrier] = []
    while len(left) and len(found) < MOST_CARRIERS:
        best = _most_telling(waits[left], {name: column.select(left) for name, column in labels.items()})
        if best is None:
            break
        told_apart, mine = best
        rows = left[mine]
        if float(waits[rows].sum()) < LEAST_SHARE * total:
            break
        found.append(Carrier(told_apart, shared_by(labels, rows), rows))
        left = left[~mine]
    found.sort(key=lambda one: -float(waits[one.rows].sum()))
    return [*found, *([Carrier({}, {}, left)] if len(left) else [])]


def _most_telling(
    waits: NDArray[np.int64], labels: Mapping[str, Labels]
) -> tuple[dict[str, str], NDArray[np.bool_]] | None:
    """Return the conjunction of labels with the largest statistic, and which jobs have them; None if none waits more
    than the mean."""
    first, cell = distinct(*(column.codes for column in labels.values()))
    jobs = np.bincount(cell).astype(np.float64)
    sums = np.bincount(cell, weights=waits.astype(np.float64))
    codes = {name: column.codes[first] for name, column in labels.items()}
    mean, best, chosen = waits.mean(), 1e-9, None
    for names in _conjunctions([name for name, column in codes.items() if len(np.unique(column)) > 1]):
        places, group = distinct(*(codes[name] for name in names))
        counts, total = np.bincount(group, weights=jobs), np.bincount(group, weights=sums)
        statistic = (total / counts - mean) * np.sqrt(counts)
        statistic[_unlabelled([codes[name][places] for name in names])] = 0
        most = int(np.argmax(statistic))
        if statistic[most] > best * (1 + 1e-9):
            best, chosen = float(statistic[most]), (names, int(places[most]))
    if chosen is None:
        return None
    names, place = chosen
    mine = np.ones(len(waits), dtype=np.bool_)
    for name in names:
        mine &= labels[name].codes == codes[name][place]
    return {name: labels[name].names[codes[name][place]] for name in names}, mine


def _unlabelled(columns: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
    return np.asarray(np.min(columns, axis=0) < 0)


def _conjunctions(names: list[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, MOST_ATTRIBUTES + 1):
        yield from itertools.combinations(names, size)


def shares_by(kind: str, column: Labels, waits: NDArray[np.int64]) -> list[WaitShare]:
    """Return what each group of one kind has of all waiting, the largest share first; jobs without a label are none."""
    found = [
        wait_share(kind, name, waits, np.flatnonzero(column.codes == code))
        for code, name in enumerate(column.names)
        if (column.codes == code).any()
    ]
    return sorted(found, key=lambda one: (-one.share_of_waiting, one.group))


def stands_out(share: WaitShare) -> bool:
    """Return whether a group has a large share of all waiting, and far more than of the jobs."""
    return share.share_of_waiting >= STANDS_OUT and share.share_of_waiting >= LIFT * share.share_of_jobs
