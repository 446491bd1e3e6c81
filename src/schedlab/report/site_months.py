"""The page of a site month by month: waits and use as recorded and in the twin."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.report.illustrations import illustrate
from schedlab.report.page import Page, write_page
from schedlab.report.style import COLOURS, legend, new_figure, percent_ticks, styled
from schedlab.report.tables import Cell, Table, waits_cells
from schedlab.schedule.provenance import provenance_for_pages
from schedlab.site.months import PeriodUse, SiteMonths
from schedlab.wording import count_of, percent_change

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMES = 14
"""Periods whose names have room under the figure."""


def write_months(found: SiteMonths, path: str | PathLike[str], *, command: str = "") -> Path:
    """Write a site month by month as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    found
        The periods.
    path
        The file; an existing one is replaced.
    command
        What the user typed.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    return write_page(path, lambda: render_months(found, command=command))


def render_months(found: SiteMonths, *, command: str = "") -> str:
    """Return a site month by month as HTML; see `write_months`."""
    figure = illustrate(
        plot_months(found),
        f"Mean wait and use of the machine {found.length} by {found.length}; the numbers are in the table below.",
        f"Top: mean wait of the jobs submitted in each {found.length}. Bottom: bars are the share of the machine in "
        "use; dots are the work submitted, as a share of what the machine can do in that time.",
    )
    return Page().render(
        "site.html.j2",
        kind=f"{found.length.capitalize()} by {found.length}",
        title=f"{found.site}: {count_of(len(found.periods), found.length)}",
        lead=f"{count_of(len(found.twin), 'job')}, replayed under the site's own scheduler",
        omissions=found.omissions.parts(),
        sentences=found.sentences()[:1],
        details=[*found.sentences()[1:], *(() if found.calibration is None else found.calibration.sentences()[2:])],
        over_time=[figure],
        tables=[_table(found)],
        more_tables=(),
        command=command,
        provenance=provenance_for_pages(found.twin),
    )


def plot_months(found: SiteMonths) -> Figure:
    """Draw mean waits and use, period by period, as recorded and in the twin."""
    places = np.arange(len(found.periods))
    recorded = found.calibration is not None
    with styled():
        figure = new_figure((8.0, 5.2))
        waits, use = figure.subplots(2, 1, sharex=True)
        if recorded:
            past = [one.recorded[0] / 3600 if one.recorded else np.nan for one in found.periods]
            waits.bar(places - 0.2, past, 0.4, color=COLOURS[0], label="recorded")
            use.bar(places - 0.2, [one.use[0] for one in found.periods], 0.4, color=COLOURS[0], label="recorded")
        shift = 0.2 if recorded else 0.0
        twin = [one.simulated[0] / 3600 for one in found.periods]
        waits.bar(places + shift, twin, 0.4, color=COLOURS[3], label="twin")
        use.bar(places + shift, [one.use[1] for one in found.periods], 0.4, color=COLOURS[3], label="twin")
        use.plot(places, [one.work for one in found.periods], "o", color=COLOURS[4], label="work submitted")
        waits.set_ylabel("Mean wait (hours)")
        use.set_ylabel("Share of the machine")
        use.set_xlabel(f"{found.length.capitalize()} in which jobs were submitted")
        percent_ticks(use.yaxis)
        for axes in (waits, use):
            axes.grid(visible=False, axis="x")
            legend(axes)
        step = 1 + (len(places) - 1) // MOST_NAMES
        use.set_xticks(places[::step], [one.name for one in found.periods[::step]], rotation=45, ha="right")
        figure.suptitle(f"{found.site}, {found.length} by {found.length}", fontsize=10.5, fontweight="bold")
    return figure


def _table(found: SiteMonths) -> Table:
    known = found.calibration is not None
    head = [Cell(found.length.capitalize()), Cell("Jobs"), Cell("Work submitted, of capacity")]
    head += [Cell("Mean wait recorded", term="wait"), Cell("in the twin"), Cell("Error")] if known else []
    head += [] if known else [Cell("Mean wait", term="wait")]
    head += [Cell("p95 wait recorded", term="percentile"), Cell("in the twin")] if known else []
    head += [] if known else [Cell("Median wait", term="median"), Cell("p95 wait", term="percentile")]
    head += [Cell("In use recorded", term="utilisation"), Cell("in the twin")] if known else [Cell("In use")]
    head += [Cell("Waiting jobs recorded"), Cell("in the twin")] if known else [Cell("Waiting jobs")]
    caption = f"Waits of the jobs submitted in each {found.length}, and use of the machine"
    note = (
        f"Work submitted: processor time of the jobs submitted in the {found.length}, as a share of what the machine "
        "can do in it; above 100 %, the queue grows. In use: share of the machine. Waiting jobs: mean number. Part: "
        f"less than half of the {found.length} is in the log."
    )
    rows = [_row(one, known=known) for one in found.periods]
    return Table(f"{found.length.capitalize()} by {found.length}", caption, head, rows, note)


def _row(one: PeriodUse, *, known: bool) -> list[Cell]:
    name = one.name if one.complete else f"{one.name} (part)"
    row = [Cell(name), Cell(f"{one.jobs:,}", one.jobs), Cell(f"{one.work:.0%}", one.work)]
    for measure in (0, 2) if known else range(3):
        waits = [*(() if one.recorded is None else one.recorded[measure : measure + 1]), one.simulated[measure]]
        row += waits_cells(*waits)
        if measure == 0 and known:
            row.append(Cell("–") if np.isnan(one.error) else Cell(percent_change(one.error), one.error))
    first = 0 if known else 1
    row += [Cell(f"{value:.0%}", value) for value in one.use[first:]]
    return [*row, *(Cell(f"{value:,.0f}" if value >= 10 else f"{value:.1f}", value) for value in one.queue[first:])]
