"""What a calibration has judged: which partitions, how many users, and whether one user has most of the jobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.cluster.cluster import Cluster
from schedlab.cluster.membership import users_of
from schedlab.site.wait_errors import FEWEST, WaitErrors
from schedlab.wording import count_of
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

MINUTE = 60

MOST_NAMES = 5
"""Partitions that a sentence names before it counts the others."""


@dataclass(frozen=True, slots=True)
class JudgedPartition:
    """A partition whose waits were compared.

    Parameters
    ----------
    name
        Of the partition.
    jobs
        How many were compared.
    recorded, simulated
        Their mean waits, in seconds.
    """

    name: str
    jobs: int
    recorded: float
    simulated: float

    @property
    def error(self) -> float | None:
        """Relative error of the mean wait; None: none of the jobs is recorded to wait."""
        return (self.simulated - self.recorded) / self.recorded if self.recorded else None

    def within(self, tolerance: float) -> bool:
        """Whether the error is at most a tolerance, or less than a minute."""
        difference = abs(self.simulated - self.recorded)
        return difference < MINUTE or difference <= tolerance * self.recorded

    def __str__(self) -> str:
        short = 0 < max(self.recorded, self.simulated) < MINUTE
        how = "waits below a minute" if short else error_text(self.error)
        return f"{self.name} ({count_of(self.jobs, 'job')}, {how})"


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a calibration has judged.

    Parameters
    ----------
    jobs
        How many were compared.
    users
        Of how many users; 0: users are not known.
    partitions
        With at least `FEWEST` compared jobs, the largest first.
    unjudged
        The other partitions of the site.
    main_user, main_jobs, main_place
        The user whose jobs have most of the recorded waiting, how many these are, and where they ran if it was one
        partition; empty: elsewhere.
    main_share
        Their share of all recorded waiting; 0: no job waited, or it is not known.
    others_error
        Relative error of the mean wait of all other users' jobs; None: none of them is recorded to wait.
    """

    jobs: int
    users: int
    partitions: tuple[JudgedPartition, ...] = ()
    unjudged: tuple[str, ...] = ()
    main_user: str = ""
    main_jobs: int = 0
    main_place: str = ""
    main_share: float = 0.0
    others_error: float | None = None

    def sentences(self, tolerance: float | None) -> list[str]:
        """Say what was judged, and for what a verdict does not hold: errors beyond its tolerance, if it has one."""
        told = [f"{count_of(self.jobs, 'job')} of {count_of(self.users, 'user') if self.users else 'unknown users'}"]
        if self.partitions:
            told.append(f"in {_partitions([str(one) for one in self.partitions])}")
        text = [f"It is judged on {' '.join(told)}."]
        far = [one.name for one in self.partitions if tolerance is not None and not one.within(tolerance)]
        if far:
            text.append(f"It does not hold for {_partitions(far)}.")
        if self.unjudged:
            text.append(f"It says nothing about {_partitions(self.unjudged)}: fewer than {FEWEST} jobs were compared.")
        return [*text, *self._one_user(tolerance)]

    def others_text(self, tolerance: float | None) -> str:
        """Return how far the twin is for all but the user who waits most, if that is beyond a tolerance; "" if not."""
        far = self.others_error is not None and tolerance is not None and abs(self.others_error) > tolerance
        return f"{error_text(self.others_error)} without {self.main_user}" if self._is_of_one and far else ""

    @property
    def _is_of_one(self) -> bool:
        return 2 * self.main_share > 1 and self.users > 1

    def _one_user(self, tolerance: float | None) -> Iterator[str]:
        if self._is_of_one:
            where = f" in {self.main_place}" if self.main_place else ""
            jobs = f"{self.main_jobs:,} of these {count_of(self.jobs, 'job')}"
            yield f"{self.main_share:.0%} of the recorded waiting is that of one user ({self.main_user})."
            yield f"The verdict is mostly about that user's jobs: {jobs}{where}."
            if others := self.others_text(tolerance):
                yield f"It does not hold for all others: their mean wait is {others.partition(' without')[0]}."


def error_text(error: float | None) -> str:
    """Return a relative error of a mean wait in words.

    Examples
    --------
    >>> error_text(-0.57), error_text(0.042), error_text(0.0001)
    ('57% too short', '4.2% too long', 'as recorded')
    """
    if error is None:
        return "no wait recorded"
    size = abs(100 * error)
    if size < 0.05:
        return "as recorded"
    return f"{f'{size:.0f}' if size >= 10 else f'{size:.1f}'}% too {'short' if error < 0 else 'long'}"


def listed(names: Iterable[str], most: int = MOST_NAMES) -> str:
    """Return names as a sentence lists them.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed("abcdefg")
    ('a', 'a, b and c', 'a, b, c, d, e and 2 others')
    """
    shown = list(names)
    if len(shown) > most + 1:
        shown = [*shown[:most], f"{len(shown) - most} others"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def _partitions(names: Sequence[str]) -> str:
    return f"partition{'' if len(names) == 1 else 's'} {listed(names)}"


def coverage(
    jobs: Workload,
    rows: NDArray[np.intp],
    errors: Sequence[WaitErrors],
    cluster: Cluster | None,
    replayed: NDArray[np.int64],
) -> Coverage:
    """Return what was judged.

    Parameters
    ----------
    jobs, rows
        Those that were replayed, and which of them were compared.
    errors
        Of the partitions.
    cluster
        The machine with its partitions; None: a number of processors.
    replayed
        The waits of the jobs in the replay.
    """
    judged = tuple(JudgedPartition(one.group, one.jobs, one.recorded[0], one.simulated[0]) for one in errors)
    names = () if cluster is None else tuple(one.name for one in cluster.partitions)
    mine = jobs[rows]
    users = users_of(mine).counts()
    partition = (mine.resources or Resources.of(len(mine))).partition
    unjudged = tuple(name for name in names if name not in {one.name for one in judged})
    if not users:
        return Coverage(len(rows), 0, judged, unjudged)
    waits = np.maximum(mine.wait_time, 0)
    whose = users_of(mine)
    waiting = np.bincount(whose.codes[whose.codes >= 0], weights=waits[whose.codes >= 0], minlength=len(whose.names))
    main = whose.names[int(waiting.argmax())]
    theirs = np.flatnonzero(whose.codes == int(waiting.argmax()))
    share = float(waiting.max() / max(waits.sum(), 1))
    others = whose.codes != int(waiting.argmax())
    known = float(waits[others].sum())
    error = float(replayed[rows][others].sum()) / known - 1 if known else None
    place = _place(partition.select(theirs), cluster)
    return Coverage(len(rows), len(users), judged, unjudged, main, len(theirs), place, share, error)


def _place(partition: Labels, cluster: Cluster | None) -> str:
    """Return the one partition of some jobs with its size in words; empty if there are several or none."""
    names = partition.counts()
    if len(names) != 1 or cluster is None:
        return ""
    (name,) = names
    for one in cluster.partitions:
        if one.name == name:
            nodes = set(cluster.nodes_of(one))
            cores = sum(group.cores for group in cluster.groups for node in group.names if node in nodes)
            return f"partition {name} of {count_of(len(nodes), 'node')} with {count_of(cores, 'core')}"
    return f"partition {name}"
