"""Whose jobs a variant of a site touches before it schedules them: requests cut, jobs killed, in pieces, left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.durations import HOUR
from schedlab.site.coverage import listed
from schedlab.site.effects import group_name, groups_of
from schedlab.site.time_limits import CUT, KILLED, LEFT_OUT, SPLIT, UNTOUCHED
from schedlab.wording import count_of, table
from schedlab.workload.workload import Workload

MOST_LOSERS = 3
"""Users that a sentence names."""

SPLITTING = "jobs that go on from a checkpoint need not be lost: --long split runs them in pieces"
"""What is to be asked where a new limit kills jobs."""

KINDS = ("all", "partition", "QOS", "account", "user", "size", "GPU")


@dataclass(frozen=True, slots=True)
class Affected:
    """What a variant does to the jobs of a group before it schedules them.

    Parameters
    ----------
    kind, group
        As of an `Effect`.
    jobs
        Of the group; of several samples, in all of them.
    cut
        Jobs that ask for less, and are done within it.
    killed, split, left_out
        Jobs that are killed at a limit, run in pieces, or cannot run.
    killed_today
        Those of the killed ones that end at the limit that they ask for today, too.
    killed_hours
        Core-hours that killed jobs have run until then.
    undone_hours
        Core-hours that the site as it is does for them, and the variant does not: the rest of jobs that are killed, and
        all of those that are left out.
    split_hours
        Core-hours of jobs that run in pieces.
    hours
        Core-hours of all its jobs at the site as it is.
    lost_today_hours
        Of `lost_hours`, those of jobs that end at the limit that they ask for today, and come to nothing already.
    """

    kind: str
    group: str
    jobs: int
    cut: int
    killed: int
    split: int
    left_out: int
    killed_today: int
    killed_hours: float
    undone_hours: float
    split_hours: float
    hours: float
    lost_today_hours: float

    @property
    def who(self) -> str:
        """The group in a sentence."""
        return group_name(self.kind, self.group)

    @property
    def lost_hours(self) -> float:
        """Core-hours that come to nothing: what killed jobs run until then, and what they and others do not run."""
        return self.killed_hours + self.undone_hours

    @property
    def newly_lost_hours(self) -> float:
        """Those of `lost_hours` that do not come to nothing already."""
        return self.lost_hours - self.lost_today_hours

    @property
    def newly_lost(self) -> int:
        """Jobs that are killed or left out, but those that end at their own limits today."""
        return self.killed - self.killed_today + self.left_out

    @property
    def same_work(self) -> bool:
        """Whether all the work of these jobs is done."""
        return self.killed == self.left_out == 0


def affected(
    jobs: Sequence[Workload],
    processors: int,
    fates: Iterable[tuple[NDArray[np.int8], NDArray[np.int64]]],
    cores: Sequence[NDArray[np.int64]],
) -> tuple[Affected, ...]:
    """Return what a variant does to the jobs of each group that it touches; those that lose most come first.

    Parameters
    ----------
    jobs
        Of each sample.
    processors
        Of the site.
    fates
        What becomes of each job of a sample, and how many seconds of it are not done; see `VariantAnswer`.
    cores
        That each job of a sample holds at the site as it is: of a node that it has alone, all.
    """
    found: dict[tuple[str, str], NDArray[np.float64]] = {}
    for sample, (fate, undone), held in zip(jobs, fates, cores, strict=True):
        seconds = np.minimum(sample.run_time, sample.requested_time)
        per_second = held / HOUR
        at_limit = sample.run_time >= sample.requested_time
        counts = [np.ones(len(sample)), *(fate == one for one in (CUT, KILLED, SPLIT, LEFT_OUT))]
        counts.append((fate == KILLED) & at_limit)
        lost_today = np.isin(fate, (KILLED, LEFT_OUT)) & at_limit
        lasting = [(fate == KILLED) * (seconds - undone), undone, (fate == SPLIT) * seconds]
        lasting += [seconds, lost_today * seconds]
        measures = [*counts, *(one * per_second for one in lasting), fate != UNTOUCHED]
        for kind, labels in groups_of(sample, processors):
            known = labels.codes >= 0
            sums = [np.bincount(labels.codes[known], one[known], len(labels.names)) for one in measures]
            for number, name in enumerate(labels.names):
                found[kind, name] = found.get((kind, name), 0) + np.array([one[number] for one in sums])
    rows = [
        Affected(kind, group, *(int(number) for number in sums[:6]), *(float(hours) for hours in sums[6:11]))
        for (kind, group), sums in found.items()
        if sums[11]
    ]
    return tuple(
        sorted(rows, key=lambda one: (KINDS.index(one.kind), -one.lost_hours, -one.split_hours, -one.cut, one.group))
    )


def sentences(found: Iterable[Affected]) -> list[str]:
    """Say what becomes of all jobs, of which one row speaks; nothing, if nothing does."""
    every = next((one for one in found if one.kind == "all"), None)
    if every is None:
        return []
    told = []
    if every.cut or every.split or every.killed:
        told.append(f"asking for more than the new limit: {_beyond(every)}")
    if every.left_out:
        told.append(f"cannot run, and left out on both sides: {count_of(every.left_out, 'job')}")
    if not every.same_work:
        told.append(f"not done on either side of the comparison: {every.undone_hours:,.0f} core-hours ({share(every)})")
    return told


def lost_texts(every: Affected) -> list[str]:
    """Say how many jobs are killed or left out, and how much work comes to nothing; then how much does so today, how.

    Examples
    --------
    >>> for clause in lost_texts(Affected("all", "all jobs", 90, 0, 9, 0, 0, 2, 190.0, 60.0, 0.0, 1000.0, 120.0)):
    ...     print(clause)
    kills 7 jobs more than today, and another 13.0% of all core-hours are lost
    with the 2 that end at their own limits today already, that is 9 jobs and 25.0% of all core-hours
    19.0% of all core-hours run without a result, and 6.0% are not run
    jobs that go on from a checkpoint need not be lost: --long split runs them in pieces
    """
    today = bool(every.killed_today or every.lost_today_hours)
    more = " more than today" if today else ""
    parts = [f"kills {count_of(every.killed - every.killed_today, 'job')}{more}"] if every.killed else []
    if every.left_out:
        parts.append(f"leaves out {count_of(every.left_out, 'job')}")
    run, undone, lost, added = (
        f"{hours / max(every.hours, 1e-9):.1%}"
        for hours in (
            every.killed_hours,
            every.undone_hours,
            every.lost_hours,
            every.lost_hours - every.lost_today_hours,
        )
    )
    told = [f"{' and '.join(parts)}, and {f'another {added}' if today else lost} of all core-hours are lost"]
    if today:
        whose = f"the {every.killed_today:,}" if every.killed_today else "those left out"
        end = "that ends at its own limit" if every.killed_today == 1 else "that end at their own limits"
        jobs = f"{count_of(every.killed, 'job')} and " if every.killed else ""
        told.append(f"with {whose} {end} today already, that is {jobs}{lost} of all core-hours")
    if every.killed_hours:
        told.append(f"{run} of all core-hours run without a result, and {undone} are not run")
    return [*told, *([SPLITTING] if every.killed and not every.split else [])]


def today_text(every: Affected) -> str:
    """Return the share of the work that comes to nothing in a variant and does so at the limits of today, as text."""
    return f"{every.lost_today_hours / max(every.hours, 1e-9):.1%}"


def whose_lost(found: Iterable[Affected]) -> str:
    """Say of which users the work is that comes to nothing only now, and how much of it is theirs who lose most; empty:
    of none that is known."""
    users = [one for one in found if one.kind == "user" and one.newly_lost]
    users.sort(key=lambda one: -one.newly_lost_hours)
    if not users:
        return ""
    if len(users) == 1:
        return f"of {users[0].who} alone"
    first = users if len(users) <= MOST_LOSERS else users[:MOST_LOSERS]
    named = listed([_with_jobs(one) for one in first])
    if first is users:
        return f"of {named}"
    part = sum(one.newly_lost_hours for one in first) / max(sum(one.newly_lost_hours for one in users), 1e-9)
    most = max(users, key=lambda one: one.newly_lost)
    known = most in first or most.newly_lost <= min(one.newly_lost for one in first)
    besides = "" if known else f"; also {_with_jobs(most)}"
    return f"of {count_of(len(users), 'user')}, {part:.0%} of it of {named}{besides}"


def _with_jobs(one: Affected) -> str:
    return f"{one.who} ({count_of(one.newly_lost, 'job')})"


def _beyond(every: Affected) -> str:
    """Say what becomes of jobs whose requests are beyond a new limit."""
    parts = []
    if every.cut:
        parts.append(f"{every.cut:,} end within it, and ask for less")
    if every.split:
        parts.append(
            f"{every.split:,} run in pieces, each within the limit and after the one before "
            f"({every.split_hours:,.0f} core-hours), and wait for all of these"
        )
    if every.killed:
        parts.append(
            f"{every.killed:,} {'is' if every.killed == 1 else 'are'} killed at it, after {every.killed_hours:,.0f} "
            "core-hours (--long split runs such jobs in pieces)"
        )
    number = every.cut + every.split + every.killed
    return f"{number:,} of {count_of(every.jobs, 'job')}, of which {'; '.join(parts)}"


def share(every: Affected) -> str:
    """Return the share of the work that is not done, as text."""
    return f"{every.undone_hours / every.hours:.1%}" if every.hours else "0.0%"


def affected_text(found: Iterable[Affected], *, most: int = 5) -> str:
    """Return the groups of each kind that lose most as a table in text, with the columns that are not empty."""
    shown, seen = [], {"": 0}
    for one in found:
        seen[one.kind] = seen.get(one.kind, 0) + 1
        if seen[one.kind] <= most:
            shown.append(one)
    columns = [(head, values) for head, values in columns_of(shown).items() if any(values)]
    rows = []
    for number, one in enumerate(shown):
        kind = one.kind if not number or shown[number - 1].kind != one.kind else ""
        numbers = [f"{values[number]:,.0f}" if values[number] else "-" for _, values in columns]
        rows.append([kind, one.group, f"{one.jobs:,}", *numbers])
    return table(["", "", "jobs", *(head for head, _ in columns)], rows)


def columns_of(found: Sequence[Affected]) -> dict[str, list[float]]:
    """Return the columns of a table of groups, by their heads."""
    return {
        "ask for less": [one.cut for one in found],
        "in pieces": [one.split for one in found],
        "core-hours in pieces": [one.split_hours for one in found],
        "killed": [one.killed for one in found],
        "killed today, too": [one.killed_today for one in found],
        "core-hours until then": [one.killed_hours for one in found],
        "cannot run": [one.left_out for one in found],
        "core-hours not done": [one.undone_hours for one in found],
        "core-hours lost today, too": [one.lost_today_hours for one in found],
    }
