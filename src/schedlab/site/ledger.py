"""The ledger of an import: every option of every line of every file, and what becomes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from schedlab.site.parameters import STATUSES, Status, known

BESIDE_SUSPEND_TIME = frozenset(
    {"ResumeRate", "ResumeTimeout", "SuspendExcNodes", "SuspendExcParts", "SuspendRate", "SuspendTimeout"}
)
"""Options that decide nothing where no nodes are switched off."""


@dataclass(frozen=True, slots=True)
class LedgerLine:
    """An option of a line.

    Parameters
    ----------
    where
        File and line.
    place
        What kind of line or list it stands in, one of `schedlab.site.parameters.PLACES`, or the name of the file.
    name
        Of the parameter, as it is written.
    value
        What is written behind it.
    status
        "modelled", "approximated", "ignored", or "unknown" for what neither schedlab nor the site's Slurm
        knows.
    reason
        What is done with it, or why nothing is.
    """

    where: str
    place: str
    name: str
    value: str
    status: Status
    reason: str

    @property
    def text(self) -> str:
        """Name and value, as they are written."""
        return f"{self.name}={self.value}" if self.value else self.name

    @property
    def decides(self) -> bool:
        """Whether Slurm starts jobs otherwise because of it, or that is not known."""
        found = known(self.place, self.name)
        return self.status != "ignored" or (found is not None and found.decides)

    @property
    def idle(self) -> bool:
        """Whether it has no effect, as in Slurm, though Slurm knows it."""
        return self.status == "modelled" and self.reason.startswith("has no effect")

    def __str__(self) -> str:
        return f"{self.where}: {self.text}: {self.status}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Ledger:
    """All that the files of a site say.

    Examples
    --------
    >>> ledger = Ledger((LedgerLine("slurm.conf:1", "slurm.conf", "KillWait", "30", "ignored", "in the run times"),))
    >>> ledger.counts()
    {'modelled': 0, 'approximated': 0, 'ignored': 1, 'unknown': 0}
    >>> print(ledger)
    ignored   lines  where         reason
    KillWait  1      slurm.conf:1  in the run times
    """

    lines: tuple[LedgerLine, ...] = ()

    def __len__(self) -> int:
        return len(self.lines)

    def __iter__(self) -> Iterator[LedgerLine]:
        return iter(self.lines)

    def counts(self) -> dict[str, int]:
        """Return how many options have each status."""
        found = Counter(line.status for line in self.lines)
        return {status: found[status] for status in STATUSES}

    def of(self, *statuses: str) -> tuple[LedgerLine, ...]:
        """Return the options of some statuses."""
        return tuple(line for line in self.lines if line.status in statuses)

    def find(self, name: str, where: str = "") -> tuple[LedgerLine, ...]:
        """Return the options of a name, whatever its case, perhaps of one file and line."""
        return tuple(line for line in self.lines if line.name.lower() == name.lower() and where in ("", line.where))

    def summary(self) -> str:
        """Return the counts in a line."""
        return ", ".join(
            f"{count:,} {status}" for status, count in self.counts().items() if count or status != "unknown"
        )

    def deciding(self) -> Ledger:
        """Return the options that decide about scheduling at this site."""
        idle = () if self.find("SuspendTime") else BESIDE_SUSPEND_TIME
        return Ledger(tuple(line for line in self.lines if line.decides and line.name not in idle))

    def text(self, *statuses: str) -> str:
        """Return a table for each status: parameters with the number of lines, where the first is, and the reason."""
        parts = []
        for status in statuses or ("unknown", "ignored", "approximated", "modelled"):
            grouped: dict[tuple[str, str, str], list[LedgerLine]] = {}
            for line in self.of(status):
                grouped.setdefault((line.place, line.name.lower(), line.reason), []).append(line)
            if grouped:
                rows = [(one[0].name, f"{len(one):,}", one[0].where, one[0].reason) for one in grouped.values()]
                parts.append(_block((status, "lines", "where", "reason"), rows))
        return "\n\n".join(parts)

    def __str__(self) -> str:
        return self.text()

    def to_document(self) -> list[dict[str, Any]]:
        """Return it as lists and texts, for JSON."""
        return [asdict(line) for line in self.lines]


def _block(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of texts."""
    lines = [head, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
