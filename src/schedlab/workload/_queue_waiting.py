"""What waiting jobs wait for: tasks of arrays one by one, jobs that are held, and jobs that wait for others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedlab.errors import InputError
from schedlab.wording import shown
from schedlab.workload.dependencies import Dependencies

if TYPE_CHECKING:
    import pandas as pd

MOST_TASKS = 10_000_000
"""Tasks in all arrays of a file together."""

MOST_PAIRS = 20_000_000
"""Dependencies between two jobs each: one array of 4,000 tasks that waits for another has 16 million."""

HELD_STATES = ("REQUEUE_HOLD", "SPECIAL_EXIT", "RH", "SE")
HELD_REASONS = ("JobHeldUser", "JobHeldAdmin")
NEVER = "DependencyNeverSatisfied"

_SPAN = re.compile(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?")
_PARENT = re.compile(r"(\d{1,15})(?:_(\d{1,9}|\*))?(?:\+\d+)?(?:\((\w+)\))?")


class Tasks(NamedTuple):
    """The tasks that a text names, how many may run at a time (0: any number), and whether Slurm cut the text."""

    numbers: list[int]
    limit: int = 0
    cut: bool = False


def tasks_of(text: str) -> Tasks:
    """Return the tasks of an array in Slurm's notation.

    Raises
    ------
    InputError
        If the text is not valid.

    Examples
    --------
    >>> tasks_of("0-6:2,11%5"), tasks_of("1,3,5,1...")
    (Tasks(numbers=[0, 2, 4, 6, 11], limit=5, cut=False), Tasks(numbers=[1, 3, 5], limit=0, cut=True))
    """
    parts, _, most = text.partition("%")
    cut = "..." in parts
    spans = parts.split("...")[0].split(",")
    if cut:
        spans = spans[:-1]  # the last one may have lost digits
    found = [_SPAN.fullmatch(span) for span in spans]
    if None in found or not (most == "" or (most.isdecimal() and len(most) < 10)):
        raise InputError(f"the tasks of an array are {shown(text)}, not numbers such as 1-100%5 or 0-6:2,11")
    numbers: list[int] = []
    for one in found:
        assert one is not None
        first, last, step = int(one[1]), int(one[2] or one[1]), int(one[3] or 1)
        span = range(first, last + 1, max(step, 1))
        if len(numbers) + len(span) > MOST_TASKS:
            raise InputError(f"the tasks of an array are {shown(text)}, more than {MOST_TASKS:,}")
        numbers.extend(span)
    return Tasks(numbers, int(most or 0), cut)


def one_row_per_task(rows: Sequence[dict[str, Any]], name: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the records with one for each task of an array, and notes.

    Slurm keeps the tasks of an array that wait in one record until they start.

    Raises
    ------
    InputError
        If a list of tasks is not valid, or there are more than `MOST_TASKS`.
    """
    found, records, tasks, cut = [], 0, 0, 0
    for row in rows:
        if not row["task_text"]:
            found.append(row | {"task": -1})
            continue
        try:
            told = tasks_of(row["task_text"])
        except InputError as error:
            raise InputError(f"{name}, job {row['job_id']}: {error}") from None
        cut += told.cut
        if len(told.numbers) > 1:
            records, tasks = records + 1, tasks + len(told.numbers)
        if tasks > MOST_TASKS:
            raise InputError(f"{name}: its arrays have more than {MOST_TASKS:,} tasks")
        limit = row["array_limit"] or told.limit
        found += [row | {"task": task, "array_limit": limit} for task in told.numbers]
    notes = [f"tasks of arrays, in {records:,} records of the file: {tasks:,}"] if records else []
    if cut:
        notes.append(
            f"arrays whose list of tasks Slurm cut short, without those behind the cut: {cut:,} (run the command with "
            "SLURM_BITSTR_LEN=0)"
        )
    return found, notes


class Waiting(NamedTuple):
    """Which jobs can start, what they wait for, and notes."""

    can_start: NDArray[np.bool_]
    children: NDArray[np.int64]
    parents: NDArray[np.int64]
    notes: list[str]

    def among(self, jobs: int) -> Dependencies | None:
        """Return the dependencies among all jobs; None if there are none."""
        return Dependencies.from_pairs(self.children, self.parents, jobs=jobs) if len(self.children) else None


def waiting_of(table: pd.DataFrame, waits: NDArray[np.bool_]) -> Waiting:
    """Return what the jobs of a queue wait for besides resources.

    Parameters
    ----------
    table
        One row per job, with `state`, `reason`, `priority` and `dependency`.
    waits
        Which jobs wait; all others run.
    """
    is_held = table["reason"].isin(HELD_REASONS) | table["state"].isin(HELD_STATES) | (table["priority"] == 0)
    is_dependent = (table["dependency"] != "") | table["reason"].isin(("Dependency", NEVER))
    held = waits & is_held.to_numpy(dtype=np.bool_)
    reader = _Reader(table)
    out = held.copy()
    dependent = waits & is_dependent.to_numpy(dtype=np.bool_) & ~out
    for row in np.flatnonzero(dependent).tolist():
        if not reader.read(row):
            out[row] = True
    children, parents = np.array(reader.children, dtype=np.int64), np.array(reader.parents, dtype=np.int64)
    while (late := out[parents] & ~out[children]).any():
        out[children[late]] = True
    stay = ~out[children] & ~out[parents]
    return Waiting(~out, children[stay], parents[stay], _notes(held, dependent, out, reader))


def _notes(held: NDArray[np.bool_], dependent: NDArray[np.bool_], out: NDArray[np.bool_], reader: _Reader) -> list[str]:
    """Return notes about jobs that are held or wait for others."""
    notes = [f"held, left out: {int(held.sum()):,}"] if held.any() else []
    if dependent.any():
        lost = int((out & dependent).sum())
        why = "what they wait for is held, has failed, or is not in the file"
        told = f", {lost:,} of them left out: {why}" if lost else ""
        notes.append(f"waiting for other jobs: {int(dependent.sum()):,}{told}")
    notes += [f"{what}: {count:,}" for what, count in reader.taken_as.items()]
    return notes


class _Reader:
    """Reads the dependencies of jobs into pairs of rows."""

    def __init__(self, table: pd.DataFrame) -> None:
        self.texts = table["dependency"].tolist()
        self.numbers, self.tasks = table["job_id"].tolist(), table["task"].tolist()
        self.by_number: dict[int, list[int]] = defaultdict(list)
        self.by_task: dict[tuple[int, int], int] = {}
        for row, (number, array, identifier) in enumerate(
            zip(self.numbers, table["array"], table["identifier"], strict=True)
        ):
            names = {number, int(array or number), int(str(identifier).partition("+")[0])}
            for one in names:
                self.by_number[one].append(row)
            self.by_task[int(array or number), self.tasks[row]] = row
        self.earlier = _by_name(table)
        self.children: list[int] = []
        self.parents: list[int] = []
        self.taken_as: dict[str, int] = defaultdict(int)

    def read(self, row: int) -> bool:
        """Add the dependencies of a job; return whether it can ever start."""
        text = self.texts[row]
        any_of = "?" in text
        chosen: list[int] = []
        kinds: set[str] = set()
        possible = 0
        for kind, parents in self._terms(text, row):
            kinds.add(kind)
            if parents is not None:
                chosen += parents
                possible += 1
            elif not any_of:
                return False
        if not possible:
            return False
        if any_of and possible > 1:
            self.taken_as["waiting for any of several jobs, taken as for all of them"] += 1
        if "after" in kinds:
            self.taken_as["waiting for the start of other jobs, taken as for their end"] += 1
        mine = [parent for parent in dict.fromkeys(chosen) if parent != row]
        if len(self.children) + len(mine) > MOST_PAIRS:
            raise InputError(f"the jobs of the queue wait for more than {MOST_PAIRS:,} others in all")
        self.children += [row] * len(mine)
        self.parents += mine
        return True

    def _terms(self, text: str, row: int) -> Iterator[tuple[str, list[int] | None]]:
        """Yield the kind of each part, with the rows that it waits for; None if it cannot be fulfilled."""
        kind = ""
        for part in re.split(r"[,?]", text):
            for piece in part.split(":"):
                word = piece.partition("(")[0]
                if word.isalpha():
                    kind = word
                    if kind == "singleton":
                        yield kind, self.earlier.get(row, [])
                elif found := _PARENT.fullmatch(piece):
                    yield kind, self._rows(kind, found, row)
                else:
                    yield kind, None

    def _rows(self, kind: str, parent: re.Match[str], row: int) -> list[int] | None:
        """Return the rows of one parent."""
        number, task = int(parent[1]), parent[2]
        if parent[3] in ("failed", "fulfilled"):
            return None if parent[3] == "failed" else []
        if kind == "afternotok":
            return None  # no job fails where run times are assumed
        if kind == "aftercorr" and (number, self.tasks[row]) in self.by_task:
            return [self.by_task[number, self.tasks[row]]]
        if task in (None, "*"):
            return self.by_number.get(number)
        place = self.by_task.get((number, int(task)))
        return None if place is None else [place]


def _by_name(table: pd.DataFrame) -> dict[int, list[int]]:
    """Return for each singleton the earlier jobs of its user and name that it waits for.

    The one before it, if that is a singleton, waits for all earlier ones itself.
    """
    single = table["dependency"].str.contains("singleton", regex=False).tolist()
    if not any(single):
        return {}
    found: dict[int, list[int]] = {}
    before: dict[tuple[Any, Any], list[int]] = defaultdict(list)
    order = np.lexsort((table["task"], table["job_id"])).tolist()
    users, names = table["user_id"].tolist(), table["executable_id"].tolist()
    for row in order:
        key = users[row], names[row]
        if single[row]:
            found[row], before[key] = before[key], [row]
        else:
            before[key].append(row)
    return found
