"""What a variant of a site does to its jobs, group by group: paired differences of waits, with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.arguments import explained
from schedlab.cluster.membership import users_of
from schedlab.durations import DAY, WEEK
from schedlab.errors import InputError
from schedlab.schedule.groups import SIZE_CLASSES, size_classes
from schedlab.site.answers import VariantAnswer
from schedlab.site.intervals import FEWEST_BLOCKS, Interval, Spread, between_copies, of_waits, spread_of, sure_among
from schedlab.site.lost_work import cancelled, lost_work
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Paired
from schedlab.site.time_limits import KILLED, LEFT_OUT
from schedlab.workload.resources import Labels, Resources
from schedlab.workload.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

FEWEST_JOBS = 30
"""Jobs of a group that is shown; of all jobs, any number."""

BLOCKS = 20
"""Of a log shorter than this many weeks, blocks are days; of one shorter than that many days, twentieths."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a variant does to a group of jobs.

    Parameters
    ----------
    kind, group
        "all", "partition", "QOS", "account", "user", "size" or "GPU", and which of them.
    jobs
        How many run in both; of several samples, in all of them.
    before, after
        Their mean waits at the site as it is, and in the variant, in seconds.
    interval
        Of the difference at a level of 95 %; None: there are too few blocks or samples.
    same_work
        Whether all the work of the group is done in the variant; otherwise some of its jobs are killed or left out.
    copies
        The smallest and the largest difference among the copies of the jobs; None: there is one copy.
    alone
        Whether it is sure only if one asks for this group alone: among all groups, such an interval may be chance.
    today
        The mean wait of the same jobs at the site as it is with all its work; None: that is `before`.
    told
        Whether most of its jobs are in another group that surely changes in the same direction.
    """

    kind: str
    group: str
    jobs: int
    before: float
    after: float
    interval: Interval | None
    same_work: bool = True
    copies: Interval | None = None
    alone: bool = False
    today: float | None = None
    told: bool = False

    @property
    def difference(self) -> float:
        """Seconds by which the mean wait changes."""
        return self.after - self.before

    @property
    def verdict(self) -> str:
        """Whether the group "wins", "pays", or neither is sure (""); "less work" is done for one that cannot win."""
        sure = self.excludes_none and not self.alone
        if sure and self.difference > 0:
            return "pays"
        if not self.same_work:
            return "less work"
        return "wins" if sure else ""

    @property
    def negligible(self) -> bool:
        """Whether it is surely below a second."""
        return self.interval is not None and max(map(abs, (*self.interval, self.difference))) < 1

    @property
    def is_none(self) -> bool:
        """Whether the mean wait stays as it is, to a second; without an interval, on these jobs."""
        return self.negligible or (self.interval is None and abs(self.difference) < 1)

    @property
    def excludes_none(self) -> bool:
        """Whether its interval is without 0."""
        return self.interval is not None and not self.interval[0] <= 0 <= self.interval[1]

    def to_document(self) -> dict[str, Any]:
        """Return it as numbers and texts, for JSON."""
        return asdict(self) | {"difference": self.difference, "verdict": self.verdict}

    @property
    def who(self) -> str:
        """The group in a sentence: a partition and a QOS of one name are told apart."""
        return group_name(self.kind, self.group)


@explained
def effects(pairs: Iterable[Paired], today: Iterable[VariantAnswer] = ()) -> list[Effect]:
    """Return what a variant does to the jobs, group by group, the largest groups first.

    Parameters
    ----------
    pairs
        The answers of the site as it is and of the variant on each copy of each sample, see `Sweep.pair`.
    today
        Of each pair, the answer of the site as it is with all its work; none: that is the one of the pair.

    Raises
    ------
    InputError
        If they are not of the same jobs, or one sample has more copies than another.

    Notes
    -----
    Jobs are paired: the difference of a group is the mean over its jobs, and over the copies, of wait in the variant
    minus wait at the site as it is. With six samples or more, each is one observation of that mean. With fewer, each is
    cut into blocks by submission (weeks, days or twentieths of the log), which are not quite independent: a queue of
    one day is waited for on the next. The interval has the spread between blocks and that between copies, see
    `schedlab.site.intervals.spread_of`.

    Each group is tested at 95 %, and of many groups some seem to win or pay by chance. So which of them are sure is
    decided for all groups of the answer together, see `schedlab.site.intervals.sure_among`.
    """
    copies: dict[SiteSample, list[tuple[Paired, VariantAnswer]]] = {}
    for pair, now in zip_longest(pairs, today):
        copies.setdefault(pair.other.sample.original, []).append((pair, now or pair.base))
    both = [_Paired.of(*zip(*found, strict=True)) for found in copies.values()]
    if len({len(one.change) for one in both}) > 1:
        raise InputError("each sample needs the same number of copies")
    if len(both) >= FEWEST_BLOCKS:
        block = np.concatenate([np.full(len(one.block), number) for number, one in enumerate(both)])
    else:
        ends = np.cumsum([0, *(int(one.block.max(initial=-1)) + 1 for one in both)])
        block = np.concatenate([one.block + first for one, first in zip(both, ends, strict=False)])
    before = np.concatenate([np.stack([one.before, one.today]) for one in both], axis=1)
    change = np.concatenate([one.change for one in both], axis=1)
    losers = frozenset().union(*(one.losers for one in both))
    found: list[_Found] = []
    for kind in both[0].groups:
        codes, names = _merged([one.groups[kind] for one in both])
        order = np.argsort(-np.bincount(codes[codes >= 0], minlength=len(names)), kind="stable")
        for number in order.tolist():
            mine = np.flatnonzero(codes == number)
            if len(mine) >= FEWEST_JOBS or (kind == "all" and len(mine)):
                group = (kind, names[number])
                paired = (before[:, mine], change[:, mine], block[mine])
                found.append(_Found(*_effect(*group, *paired, same_work=group not in losers), mine))
    return _without_those_told(_among_all(found), found) if found else []


class _Found(NamedTuple):
    """An effect, its spread, and the rows of its jobs."""

    effect: Effect
    spread: Spread | None
    rows: NDArray[np.intp]


def _among_all(found: Sequence[_Found]) -> list[Effect]:
    """Return effects of which those of groups are sure among all groups; that on all jobs is what was asked for."""
    chances = {
        number: spread.chance
        for number, (one, spread, _) in enumerate(found)
        if spread is not None and one.kind != "all" and one.difference  # without a difference, there is nothing to test
    }
    sure = sure_among([*chances.values()])
    by_chance = {
        number for number, told in zip(chances, sure, strict=True) if not told and found[number].effect.excludes_none
    }
    return [replace(one.effect, alone=number in by_chance) for number, one in enumerate(found)]


def _without_those_told(effects: Sequence[Effect], found: Sequence[_Found]) -> list[Effect]:
    """Mark groups most of whose jobs are in one that surely wins or pays, and whose change has the same sign.

    A group with most of all jobs tells nothing of one of them.
    """
    every = max(one.jobs for one in effects)
    sure = [
        (one.difference > 0, rows)
        for one, (_, _, rows) in zip(effects, found, strict=True)
        if 2 * one.jobs <= every and one.excludes_none and not one.alone
    ]

    def told(one: Effect, rows: NDArray[np.intp]) -> bool:
        return any(
            2 * len(np.intersect1d(rows, others, assume_unique=True)) > len(rows)
            for longer, others in sure
            if longer == (one.difference > 0) and others is not rows
        )

    return [replace(one, told=told(one, rows)) for one, (_, _, rows) in zip(effects, found, strict=True)]


@dataclass(frozen=True, slots=True)
class _Paired:
    """The jobs of a site as it is and of a variant, one row for each.

    Parameters
    ----------
    before, today
        Their waits at the site as it is, with the work of the variant and with all work, means over the copies.
    change
        Waits in the variant minus these, shape (copies, jobs).
    block
        The block of time of each.
    groups
        Labels by kind.
    losers
        Kind and name of the groups that lose work.
    """

    before: NDArray[np.float64]
    today: NDArray[np.float64]
    change: NDArray[np.float64]
    block: NDArray[np.int64]
    groups: Mapping[str, Labels]
    losers: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, copies: Sequence[Paired], today: Sequence[VariantAnswer]) -> _Paired:
        base, other = copies[0]
        for one in copies:
            if not np.array_equal(base.rows, one.base.rows) or not np.array_equal(base.rows, one.other.rows):
                raise InputError(
                    f"{other.variant.name}: it and the site as it is have run different jobs; take Sweep.pair, which "
                    "gives the answers of the same ones"
                )
        jobs = base.schedule.workload
        before, after = (
            np.array([side.schedule.wait_time for side in sides], dtype=np.float64)
            for sides in zip(*copies, strict=True)
        )
        return cls(
            before.mean(axis=0),
            np.mean([one.schedule.wait_time[np.searchsorted(one.rows, base.rows)] for one in today], axis=0),
            after - before,
            blocks_of(jobs.submit_time),
            dict(groups_of(jobs, base.schedule.processors)),
            frozenset(_losers(base, other)),
        )


def _losers(base: VariantAnswer, other: VariantAnswer) -> Iterator[tuple[str, str]]:
    """Give kind and name of the groups of which a variant kills or cancels jobs, or leaves them out."""
    lost = np.isin(other.fate, (KILLED, LEFT_OUT))
    here, there = (lost_work([one.schedule], [one.cores[one.rows]]) for one in (base, other))
    if there.exceeds(here):
        lost[other.rows[cancelled(other.schedule) & ~cancelled(base.schedule)]] = True
    for kind, labels in groups_of(other.jobs, base.schedule.processors) if lost.any() else ():
        for code in np.unique(labels.codes[lost]).tolist():
            if code >= 0:
                yield kind, labels.names[code]


def group_name(kind: str, group: str) -> str:
    """Return what a sentence calls a group of jobs.

    Examples
    --------
    >>> group_name("QOS", "long"), group_name("size", "serial"), group_name("GPU", "with GPUs")
    ('QOS long', 'serial jobs', 'jobs with GPUs')
    >>> group_name("user", "user007"), group_name("account", "physics")
    ('user007', 'account physics')
    """
    if kind in ("all", "GPU"):
        return group if kind == "all" else f"jobs {group}"
    return f"{group} jobs" if kind == "size" else group if group.startswith(kind) else f"{kind} {group}"


def blocks_of(submit: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the block of time in which each job was submitted, by its number: weeks, days or twentieths of the log."""
    elapsed = submit - (submit.min() if len(submit) else 0)
    span = int(elapsed.max(initial=0)) + 1
    length = WEEK if span >= BLOCKS * WEEK else DAY if span >= BLOCKS * DAY else max(-(-span // BLOCKS), 1)
    return np.asarray(elapsed // length, dtype=np.int64)


def groups_of(jobs: Workload, processors: int) -> Iterator[tuple[str, Labels]]:
    """Give the groups of the jobs of a site: kind, and the label of each job; size classes are those of a machine."""
    asked = jobs.resources or Resources.of(len(jobs))
    yield "all", Labels(np.zeros(len(jobs), dtype=np.int64), ("all jobs",))
    yield "partition", asked.partition
    yield "QOS", asked.qos
    yield "account", asked.account
    yield "user", users_of(jobs)
    yield "size", Labels(size_classes(jobs.job_processors, processors).astype(np.int64), SIZE_CLASSES)
    yield "GPU", Labels((asked.gpus_in_all > 0).astype(np.int64), ("without GPUs", "with GPUs"))


def _merged(labels: list[Labels]) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return the labels of several samples as numbers of one list of names."""
    names = tuple(dict.fromkeys(name for one in labels for name in one.names))
    place = {name: number for number, name in enumerate(names)}
    columns = []
    for one in labels:
        mine = np.array([*(place[name] for name in one.names), -1], dtype=np.int64)
        columns.append(mine[one.codes])
    return np.concatenate(columns), names


def _effect(
    kind: str,
    group: str,
    before: NDArray[np.float64],
    change: NDArray[np.float64],
    block: NDArray[np.int64],
    *,
    same_work: bool,
) -> tuple[Effect, Spread | None]:
    of_copies = change.mean(axis=1)
    mean, today = before.mean(axis=1).tolist()
    after = mean + float(of_copies.mean())
    spread, around = spread_of(change, block), between_copies(of_copies)
    interval = None if spread is None else of_waits(spread.interval, mean)
    found = Effect(kind, group, before.shape[1], mean, after, interval, same_work, around)
    return replace(found, today=None if today == mean else today), spread


@explained
def effects_frame(found: Iterable[Effect]) -> pd.DataFrame:
    """Return effects as a table: one row each, the interval in two columns (NaN: none)."""
    import pandas as pd

    rows = []
    for one in found:
        low, high = one.interval or (np.nan, np.nan)
        row = {"kind": one.kind, "group": one.group, "jobs": one.jobs, "before": one.before, "after": one.after}
        rows.append(row | {"difference": one.difference, "low": low, "high": high, "verdict": one.verdict})
    return pd.DataFrame(rows)
