"""What a notebook shows of a schedule, a comparison or a workload: the widget where one can run, else the summary."""

from __future__ import annotations

import html
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from schedlab.errors import InputError

MOST_JOBS = 50_000
"""Of more jobs, a notebook shows the widget only when it is asked to with `explore()`."""


MOST_ROWS = 40
"""Rows of a table that a notebook shows; of more, it says how many."""

LONGEST_CELL = 100
"""Characters of a cell."""


def rich_display(subject: Any, jobs: int, summary: str, *, page: str | None = None) -> dict[str, Any]:
    """Return the MIME bundle of a subject that `schedlab.plot.explore` takes.

    Parameters
    ----------
    subject
        What is shown.
    jobs
        How many it has.
    summary
        Text that says the same in a few lines.
    page
        HTML instead of the summary.
    """
    plain = {"text/plain": repr(subject), "text/html": as_html(summary) if page is None else page}
    if not 0 < jobs <= MOST_JOBS or not _in_a_kernel():
        return plain
    # Reports stand above what they show: they are reached by the public name.
    import schedlab

    try:
        bundle = schedlab.plot.explore(subject)._repr_mimebundle_()
    except InputError:
        return plain
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    return plain if data is None else {**data, "text/plain": repr(subject)}


def as_html(text: object) -> str:
    """Return a text as HTML that keeps its lines and columns, for `_repr_html_`.

    Examples
    --------
    >>> as_html("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{html.escape(str(text))}</pre>"


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Return a table as HTML, as notebooks show it: the first column to the left, the others to the right.

    Long cells are cut, and of a long table the first rows are shown.

    Examples
    --------
    >>> html_table(["a"], [])
    '<table><thead><tr><th style="text-align:left">a</th></tr></thead><tbody></tbody></table>'
    """

    def line(cells: Sequence[str], other: str) -> str:
        written = (
            f'<{"td" if place and other == "td" else "th"} style="text-align:{"right" if place else "left"}">'
            f"{html.escape(_cut(cell))}</{'td' if place and other == 'td' else 'th'}>"
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(written)}</tr>"

    lines = [line(row, "td") for row in rows]
    more = len(lines) - MOST_ROWS
    body = "".join(lines[:MOST_ROWS])
    told = "".join(f"<p>{html.escape(note)}</p>" for note in [*([f"and {more} more"] if more > 0 else []), *notes])
    return f"<table><thead>{line(header, 'th')}</thead><tbody>{body}</tbody></table>{told}"


def _cut(cell: str) -> str:
    return cell if len(cell) <= LONGEST_CELL else f"{cell[: LONGEST_CELL - 1]}…"


def _in_a_kernel() -> bool:
    """Return whether this is a notebook, and not IPython in a terminal, which asks for bundles too."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None
