"""What repeating a published experiment gives: the paper's numbers and ours, row by row, and why they differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from schedlab import InputError
from schedlab.text import table

Number = int | float | None

OWN_DECIMALS = 2
"""Of our numbers where there are none of the authors."""


@dataclass(frozen=True, slots=True)
class Row:
    """One number of a paper and ours.

    Parameters
    ----------
    experiment
        What was simulated.
    scheduler
        Under which scheduler, or what else the number is.
    published
        As the paper prints it; None if it does not.
    exact
        With all digits, where the authors have made their results public.
    ours
        What we get, the simulation set up as the authors set it up; None if that was not possible.
    alternative
        What we get when it is set up otherwise, see `Reproduction.alternative`.
    notes
        Why the numbers differ, or why there is none; a sentence or two each.
    """

    experiment: str
    scheduler: str
    published: Number = None
    exact: Number = None
    ours: Number = None
    alternative: Number = None
    notes: tuple[str, ...] = ()

    @property
    def difference(self) -> float | None:
        """Ours against theirs, relative, as exactly as theirs is known; None if either is missing or theirs is 0."""
        theirs = self.exact if self.exact is not None else self.published
        if not theirs or self.ours is None:
            return None
        return self.ours / theirs - 1


@dataclass(frozen=True, slots=True)
class Reproduction:
    """The numbers of a paper beside ours.

    Parameters
    ----------
    title
        The paper and what its numbers are.
    alternative
        What the rows' `alternative` is, in a word or two; empty if they have none.
    rows
        One per number.
    meaning
        What the `alternative` is, in a sentence that stands below the table.

    Examples
    --------
    >>> rows = (
    ...     Row("KTH", "fcfs+easy", 92.6, 92.5765, ours=92.5766, alternative=92.6877), missing("CTC", "ctc.swf.gz"))
    >>> print(Reproduction("Mean bounded slowdown", "batched", rows))
    Mean bounded slowdown
    <BLANKLINE>
                                      authors'                         ours,
    experiment  scheduler  published     exact     ours  difference  batched  notes
    ----------  ---------  ---------  --------  -------  ----------  -------  -----
    KTH         fcfs+easy       92.6   92.5765  92.5766      +0.00%  92.6877
    CTC                            -         -        -           -        -      1
    <BLANKLINE>
    1  trace not found: ctc.swf.gz
    """

    title: str
    alternative: str
    rows: tuple[Row, ...]
    meaning: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and numbers, the difference as a fraction."""
        rows = [asdict(row) | {"difference": row.difference} for row in self.rows]
        return {"title": self.title, "alternative": self.alternative, "meaning": self.meaning, "rows": rows}

    def _known(self) -> bool:
        """Say whether there is any number that is not ours."""
        return any(row.published is not None or row.exact is not None for row in self.rows)

    def _differences(self) -> list[float | None]:
        return [row.difference for row in self.rows]

    def __str__(self) -> str:
        published, exact = [row.published for row in self.rows], [row.exact for row in self.rows]
        decimals = max(_decimals(published), _decimals(exact)) if self._known() else OWN_DECIMALS
        notes = list(dict.fromkeys(note for row in self.rows for note in row.notes))
        columns = {
            "experiment": [row.experiment for row in self.rows],
            "scheduler": [row.scheduler for row in self.rows],
            "published": [_shown(number, _decimals(published)) for number in published],
            "authors' exact": [_shown(number, _decimals(exact)) for number in exact],
            "ours": [_shown(row.ours, decimals) for row in self.rows],
            "difference": [_percent(difference) for difference in self._differences()],
            (alternative := f"ours, {self.alternative}"): [_shown(row.alternative, decimals) for row in self.rows],
            "notes": [" ".join(str(notes.index(note) + 1) for note in row.notes) for row in self.rows],
        }
        needed: dict[str, Sequence[object]] = {
            "published": published,
            "authors' exact": exact,
            "difference": self._differences(),
            alternative: [row.alternative for row in self.rows],
            "notes": notes,
        }
        for name, known in needed.items():
            if all(value is None for value in known):
                del columns[name]
        lines = [self.title, "", table(list(columns), zip(*columns.values(), strict=True)), ""]
        lines += [f"{number}  {note}" for number, note in enumerate(notes, start=1)]
        lines += [f"ours, {self.alternative}: {self.meaning}"] if self.meaning and alternative in columns else []
        return "\n".join(lines).rstrip()


@dataclass(frozen=True, slots=True)
class TextTable:
    """Words and numbers of ours, and of a paper that prints claims and curves rather than numbers.

    Parameters
    ----------
    title
        The paper and what is shown.
    columns
        Their names.
    rows
        A cell for each; None is an empty one.
    decimals
        Of numbers that are no whole ones.
    notes
        Below the table.

    Examples
    --------
    >>> print(TextTable("Gains", ("method", "factor"), (("SAF", 1.25), ("SPF", None)), decimals=1))
    Gains
    <BLANKLINE>
    method  factor
    ------  ------
    SAF        1.2
    SPF          -
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Number, ...], ...]
    decimals: int = OWN_DECIMALS
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries, numbers with all their digits."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}

    def __str__(self) -> str:
        rows = [[cell if isinstance(cell, str) else _shown(cell, self.decimals) for cell in row] for row in self.rows]
        lines = [self.title, "", table(self.columns, rows)]
        lines += ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        return "\n".join(lines)


class Part(Protocol):
    """A table that can be printed and written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dictionaries and numbers."""
        ...


@dataclass(frozen=True, slots=True)
class Reproductions:
    """Several tables of a paper, one below the other.

    Parameters
    ----------
    tables
        Each a `Reproduction`, or something else that has a text and a dictionary.
    """

    tables: tuple[Part, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the dictionaries of all tables."""
        return {"tables": [table.to_dict() for table in self.tables]}

    def __str__(self) -> str:
        return "\n\n\n".join(map(str, self.tables))


def require_some(traces: Path, files: Iterable[str]) -> None:
    """Raise InputError unless at least one of the files is in the directory."""
    names = list(files)
    if not any((traces / name).is_file() for name in names):
        raise InputError(f"{traces} has none of the traces this paper needs: {', '.join(names)}")


class NamedFile(Protocol):
    """A log of a paper."""

    @property
    def name(self) -> str:
        """What the paper calls it."""
        ...

    @property
    def file(self) -> str:
        """Where it is in the directory of traces; empty if it is not to be had."""
        ...


AnyLog = TypeVar("AnyLog", bound=NamedFile)


def chosen(logs: Iterable[AnyLog], names: Iterable[str], paper: str) -> list[AnyLog]:
    """Return the logs with these names, or all if there are none; neither case nor hyphens matter.

    Raises
    ------
    InputError
        If the paper has no such log.
    """
    known = {plain_name(log.name): log for log in logs}
    wanted = {plain_name(name) for name in names}
    for name in sorted(wanted - known.keys()):
        raise InputError(f"{paper} has no log {name}; known are {' '.join(sorted(known))}")
    return [log for name, log in known.items() if not wanted or name in wanted]


def plain_name(name: str) -> str:
    """Return the name of a log as options and files have it.

    Examples
    --------
    >>> plain_name("SDSC Blue")
    'sdsc-blue'
    """
    return name.lower().replace(" ", "-")


def missing(experiment: str, file: str) -> Row:
    """Return the row of an experiment whose trace is not there."""
    return Row(experiment, "", notes=(f"trace not found: {file}",))


def _decimals(numbers: Iterable[Number]) -> int:
    """Return with how many decimals a column of numbers was printed."""
    return max((len(repr(number).partition(".")[2]) for number in numbers if number is not None), default=0)


def _shown(number: Number, decimals: int) -> str:
    if number is None:
        return "-"
    return f"{number:,}" if isinstance(number, int) else f"{number:,.{decimals}f}"


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{fraction:+z.2%}"
