"""Tables for papers: LaTeX with booktabs, escaped texts, one unit in each column, and the best value in bold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from schedlab.campaign.results.statistics import LARGER_IS_BETTER, NO_BETTER_END
from schedlab.durations import DAY, HOUR
from schedlab.errors import InputError
from schedlab.wording import did_you_mean

SECONDS = ("wait", "run_time", "turnaround", "makespan")
"""Parts of the names of metrics that are durations."""

SHARES = ("utilisation", "share")

_ESCAPED = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\textquotedbl{}",
}


class Scale(NamedTuple):
    """How a column of a metric is written: divided by `unit`, whose name is `name` in LaTeX ("" for none)."""

    unit: float
    name: str


class Column(NamedTuple):
    """A column of numbers: its heading, its cells in LaTeX, and how they stand in it."""

    heading: str
    cells: Sequence[str]
    place: str = "r"


def escaped(text: str) -> str:
    r"""Return a text as LaTeX prints it.

    Examples
    --------
    >>> print(escaped("saf+easy,window=5"), escaped("a_b & 50 %"))
    saf+easy,window=5 a\_b \& 50 \%
    """
    return "".join(_ESCAPED.get(sign, sign) for sign in text)


def scale_of(metric: str, values: Sequence[float]) -> Scale:
    r"""Return the unit in which the values of a metric are written: that of the largest of them.

    Examples
    --------
    >>> scale_of("mean_wait", [60.0, 7200.0]), scale_of("utilisation", [0.5]), scale_of("mean_bounded_slowdown", [3.0])
    (Scale(unit=3600, name='h'), Scale(unit=0.01, name='\\%'), Scale(unit=1, name=''))
    """
    largest = max((abs(value) for value in values if not math.isnan(value)), default=0.0)
    if any(part in metric for part in SHARES):
        return Scale(0.01, r"\%")
    if not any(part in metric for part in SECONDS):
        return Scale(1, "")
    for unit, name in ((DAY, "d"), (HOUR, "h"), (60, "min")):
        if largest >= 2 * unit:
            return Scale(unit, name)
    return Scale(1, "s")


def heading(metric: str, scale: Scale) -> str:
    """Return the name of a metric with its unit.

    Examples
    --------
    >>> heading("mean_bounded_slowdown", Scale(1, "")), heading("max_wait", Scale(3600, "h"))
    ('Mean bounded slowdown', 'Max wait (h)')
    """
    words = metric.rpartition(":")[2].replace("_", " ")
    return f"{escaped(words[:1].upper() + words[1:])}{f' ({scale.name})' if scale.name else ''}"


def number(value: float, *, sign: bool = False, whole: bool = False) -> str:
    r"""Return a number with three significant digits, or all before its point; a dash if it is not known.

    A `whole` one has no point.

    Examples
    --------
    >>> print(number(12.3456), number(12345.6), number(0.5), number(-1.5, sign=True), number(math.nan))
    12.3 12\,346 0.500 $-$1.50 --
    """
    if math.isnan(value):
        return "--"
    size = abs(value)
    digits = 0 if whole or size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    text = f"{size:,.{digits}f}".replace(",", r"\,")
    before = "$-$" if value < 0 else "+" if sign and value > 0 else ""
    return f"{before}{text}"


def of_metric(metric: str, values: Sequence[float], eligible: Sequence[bool], scale: Scale | None = None) -> Column:
    """Return the column of a metric; the best of the eligible values, as it is written, is in bold.

    None is if all are written alike, or if neither more nor less of the metric is better. Counts have no point.
    """
    scale = scale or scale_of(metric, values)
    whole = metric.endswith("jobs") and all(math.isnan(value) or value == int(value) for value in values)
    cells = [number(value / scale.unit, whole=whole) for value in values]
    known = [value for value, allowed in zip(values, eligible, strict=True) if allowed and not math.isnan(value)]
    if known and metric not in NO_BETTER_END and len({number(one / scale.unit, whole=whole) for one in known}) > 1:
        best = number((max if metric in LARGER_IS_BETTER else min)(known) / scale.unit, whole=whole)
        cells = [
            rf"\textbf{{{cell}}}" if allowed and cell == best else cell
            for cell, allowed in zip(cells, eligible, strict=True)
        ]
    return Column(heading(metric, scale), cells)


def checked_metrics(metrics: Sequence[str], known: Mapping[str, float]) -> list[str]:
    """Return the names of metrics, or raise InputError for one that is unknown."""
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    for name in names:
        if name not in known:
            raise InputError(f"unknown metric {name!r}{did_you_mean(str(name), known)}")
    return names


def tabular(columns: Sequence[Column], groups: Mapping[int, str] | None = None) -> str:
    r"""Return a table, which needs `\usepackage{booktabs}`.

    Parameters
    ----------
    columns
        From left to right.
    groups
        What stands above some rows, by the number of the row.
    """
    places = "".join(column.place for column in columns)
    lines = [rf"\begin{{tabular}}{{{places}}}", r"\toprule", _line([column.heading for column in columns]), r"\midrule"]
    for row in range(len(columns[0].cells)):
        if groups and row in groups:
            lines += [r"\midrule"] if row else []
            lines.append(rf"\multicolumn{{{len(columns)}}}{{l}}{{\emph{{{escaped(groups[row])}}}}} \\")
        lines.append(_line([column.cells[row] for column in columns]))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def with_caption(table: str, caption: str, label: str, notes: Sequence[str] = ()) -> str:
    r"""Return a table as a float with caption and label, if it has one of them; notes stand below it."""
    below = [rf"\par\smallskip {{\footnotesize {note}}}" for note in notes]
    if not caption and not label:
        return "\n".join([table, *below]) + "\n"
    inner = [rf"\caption{{{escaped(caption)}}}"] if caption else []
    inner += [rf"\label{{{label}}}"] if label else []
    return "\n".join([r"\begin{table}", r"\centering", *inner, table, *below, r"\end{table}"]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"
