"""A report of the cleaning of a log."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from schedlab.display import as_html


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of one rule: how many jobs it dropped or changed."""

    rule: str
    meaning: str
    dropped: int = 0
    changed: int = 0


@dataclass(frozen=True, slots=True)
class CleaningReport:
    """The effects of cleaning on a workload, rule by rule in the order of application.

    Parameters
    ----------
    workload
        Name of the workload.
    jobs_before, jobs_after
        Jobs before and after all rules.
    steps
        The effect of each rule.
    rounded
        Values with a fraction that the reader rounded to whole numbers.
    above_request
        Remaining jobs whose run time exceeds the requested time; for information.
    """

    workload: str
    jobs_before: int
    jobs_after: int
    steps: tuple[Step, ...]
    rounded: int
    above_request: int

    def to_dict(self) -> dict[str, Any]:
        """Return the report as dictionaries and numbers."""
        return asdict(self)

    _repr_html_ = as_html

    def __str__(self) -> str:
        rows = [("rule", "dropped", "changed", "")]
        rows += [(step.rule, f"{step.dropped:,}", f"{step.changed:,}", step.meaning) for step in self.steps]
        name, dropped, changed = (max(len(row[column]) for row in rows) for column in range(3))
        lines = [f"{a:<{name}}  {b:>{dropped}}  {c:>{changed}}  {d}".rstrip() for a, b, c, d in rows]
        lines.append(f"{self.jobs_before:,} jobs before, {self.jobs_after:,} after")
        if self.rounded:
            lines.append(f"{self.rounded:,} values with fractions were rounded to whole numbers")
        if self.above_request:
            lines.append(f"{self.above_request:,} jobs run longer than they asked for")
        return "\n".join(lines)
