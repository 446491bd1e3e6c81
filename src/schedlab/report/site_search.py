"""The page of a search over the parameters of a site: the best variant, judged on jobs that it was not chosen on."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from schedlab.campaign.results.statistics import quantity
from schedlab.report.calibration import MOST
from schedlab.report.campaigns import metric_label
from schedlab.report.page import write_page
from schedlab.report.tables import Cell, Table
from schedlab.report.variants import by_group, of_power, pair_of, provenance_of, render_answer
from schedlab.site.sweep import Sweep
from schedlab.site.tuning import ParameterSearch
from schedlab.wording import count_of


def write_search(sweep: Sweep, found: ParameterSearch, path: str | PathLike[str], *, command: str = "") -> Path:
    """Write what a search over parameters has found as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    sweep
        Where the answers are.
    found
        By the search.
    path
        The file; an existing one is replaced.
    command
        What the user typed.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    return write_page(path, lambda: render_search(sweep, found, command=command))


def render_search(sweep: Sweep, found: ParameterSearch, *, command: str = "") -> str:
    """Return what a search has found as HTML; see `write_search`."""
    return render_answer(
        pair_of(sweep, found.best, found.judged_on),
        kind="Search",
        title=f"{sweep.site.name}: the best of {count_of(len(found.values) - 1, 'variant')}",
        replayed=found.judged_on.text,
        sentences=found.sentences(),
        opening=len(found.lead),
        simulations=found.copies,
        grounds=found.grounds,
        leading=[_values(found)],
        **of_power(sweep, found.best, found.judged_on),
        tables=[by_group(found.best.name, found.effects)] if found.effects else [],
        command=command,
        provenance=provenance_of(sweep),
    )


def _values(found: ParameterSearch) -> Table:
    what = metric_label(found.metric)
    rows = [[Cell(one.name), Cell(quantity(found.metric, value), value)] for one, value in found.values[:MOST]]
    rows = [[*row, *(Cell(text) for text in texts)] for row, texts in zip(rows, found.besides(), strict=False)]
    left = len(found.values) - MOST
    note = f"{left:,} further variants are not shown." if left > 0 else ""
    head = [Cell("Variant"), Cell(what.capitalize()), *(Cell(text.capitalize()) for text in found.beside)]
    return Table("Variants", f"On {found.chosen_on.text}, which they were chosen on", head, rows, note)
