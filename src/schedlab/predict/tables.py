"""Validations as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schedlab.predict.validation import Validation

COLUMNS = {
    "jobs": ("jobs", "{:,.0f}"),
    "mae": ("MAE (s)", "{:,.0f}"),
    "rmse": ("RMSE (s)", "{:,.0f}"),
    "mean_e_loss": ("mean E-loss", "{:.3g}"),
    "under": ("under", "{:.1%}"),
    "over": ("over", "{:.1%}"),
    "exact": ("exact", "{:.1%}"),
    "coverage": ("coverage", "{:.1%}"),
    "mean_ratio": ("mean ratio", "{:,.3g}"),
}
"""Heading and format of each measure."""


def validation_text(validation: Validation) -> str:
    """Return the measures of a validation, of all jobs and by class."""
    return "\n\n".join([comparison_text([validation]), *class_texts(validation)])


def comparison_text(validations: Sequence[Validation]) -> str:
    """Return one line per predictor; all have predicted the same jobs."""
    first = validations[0]
    replay = "the waits of the log" if first.replay == "log" else first.replay
    lines = {validation.predictor: validation.measures() for validation in validations}
    return f"{first.workload.name}: {len(first):,} jobs, replaying {replay}\n\n{_table('predictor', lines)}"


def class_texts(validation: Validation) -> list[str]:
    """Return the tables by user class and by size class."""
    tables = {"users": validation.by_user_class(), "size": validation.by_size_class()}
    return [
        _table(heading, {str(name).replace("_", " "): row for name, row in frame.to_dict(orient="index").items()})
        for heading, frame in tables.items()
        if len(frame)
    ]


def _table(heading: str, lines: Mapping[str, Mapping[Any, float]]) -> str:
    rows = [[heading, *(title for title, _ in COLUMNS.values())]]
    rows += [[name, *(form.format(line[key]) for key, (_, form) in COLUMNS.items())] for name, line in lines.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )
