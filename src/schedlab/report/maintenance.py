"""The page that says when to drain a site for a maintenance."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.cluster.hostlist import host_list
from schedlab.report.calibration import HEADINGS, MOST
from schedlab.report.illustrations import illustrate
from schedlab.report.page import Page, write_page
from schedlab.report.style import COLOURS, new_figure, styled
from schedlab.report.tables import Cell, Table, seconds_cell
from schedlab.report.variants import one_of, pair_of, provenance_of
from schedlab.site.maintenance import Maintenance, MaintenanceSlot
from schedlab.site.maintenance_costs import MaintenancePayer
from schedlab.site.maintenance_text import lead_of, wait_changes
from schedlab.site.sweep import Sweep
from schedlab.site.variants import AS_IT_IS
from schedlab.wording import count_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMES = 42
"""Begins whose names have room under the figure."""

FEW_NAMES = 16
"""Begins whose names have room in letters of a usual size."""


GROUPS = HEADINGS | {"user": "By user", "GPU": "Jobs with GPUs"}


def write_maintenance(sweep: Sweep, found: Maintenance, path: str | PathLike[str], *, command: str = "") -> Path:
    """Write when to drain for a maintenance as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    sweep
        Where the answers are.
    found
        The begins.
    path
        The file; an existing one is replaced.
    command
        What the user typed.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    return write_page(path, lambda: render_maintenance(sweep, found, command=command))


def render_maintenance(sweep: Sweep, found: Maintenance, *, command: str = "") -> str:
    """Return when to drain for a maintenance as HTML; see `write_maintenance`."""
    # The last week of the best begin is the one to look into.
    schedules = pair_of(sweep, found.variant(found.best.costs[-1]), found.sample)
    page = Page()
    page.explore(schedules, baseline=AS_IT_IS, both=True)
    points = " Bars: means; a point for each week of the log." if _in_weeks(found) else ""
    figure = illustrate(
        plot_begins(found),
        "Core-hours that idle before each begin, and hours by which jobs start later; the numbers are in the table.",
        f"Begins in the order of the log, the best in another colour.{points}",
    )
    sentences = found.sentences()
    jobs = len(schedules[AS_IT_IS])
    kinds = [kind for kind in dict.fromkeys(one.kind for one in found.payers) if len(found.payers_of(kind)) > 1]
    where = "all nodes" if len(found.nodes) == len(sweep.site.cluster.nodes) else host_list(found.nodes)
    return page.render(
        "site.html.j2",
        kind="Maintenance",
        title=f"{found.site}: a maintenance of {found.plan.hours:g} h on {where}",
        lead=f"{count_of(jobs, 'job')} of {found.sample.text} replayed, {count_of(len(found.slots), 'begin')} compared",
        sentences=sentences[:1],
        besides=sentences[1 : len(lead_of(found))],
        details=sentences[len(lead_of(found)) :],
        tables=[_begins(found)],
        omissions=found.omissions.parts(),
        of_several=one_of(found.copies * len(found.best.costs)),
        over_time=[figure],
        time_heading="By begin",
        more_tables=[_payers(kind, found.payers_of(kind), found.best) for kind in kinds],
        command=command,
        provenance=provenance_of(sweep),
    )


def _in_weeks(found: Maintenance) -> bool:
    """Return whether a begin is one of several weeks, between which it differs."""
    return any(len(one.costs) > 1 for one in found.slots)


def plot_begins(found: Maintenance) -> Figure:
    """Draw what each begin costs, in the order of the week."""
    slots = sorted(found.slots, key=lambda one: one.costs[0].begin.second)
    places = np.arange(len(slots))
    with styled():
        figure = new_figure((8.0, 5.2))
        idle, later = figure.subplots(2, 1, sharex=True)
        for axes, measure, label in (
            (idle, "drained", "Core-hours idle before it"),
            (later, "moved_hours", "Hours by which jobs\nstart later, in all"),
        ):
            best = [COLOURS[3] if one is found.best else COLOURS[0] for one in slots]
            axes.bar(places, [one.mean(measure) for one in slots], color=best)
            if _in_weeks(found):  # of a single week, a point says what its bar says
                points = [(place, getattr(cost, measure)) for place, one in enumerate(slots) for cost in one.costs]
                axes.plot(*zip(*points, strict=True), "o", color="black", markeredgecolor="white", markersize=4)
            axes.set_ylabel(label)
            axes.grid(visible=False, axis="x")
        step = 1 + (len(slots) - 1) // MOST_NAMES
        few = len(slots) <= FEW_NAMES
        names = [one.name for one in slots[::step]]
        turned = {"rotation": 45, "ha": "right", "fontsize": 8} if few else {"rotation": 90, "fontsize": 6}
        later.set_xticks(places[::step], names, **turned)
        later.set_xlabel(f"Begin of the maintenance{' (UTC)' if found.dated else ''}")
        figure.suptitle(f"{found.site}: maintenance of {found.plan.hours:g} h", fontsize=10.5, fontweight="bold")
    return figure


def _begins(found: Maintenance) -> Table:
    weeks = max(len(one.costs) for one in found.slots)
    head = [Cell("Begin"), Cell("Core-hours idle before it"), *([Cell("Fewest to most")] if weeks > 1 else [])]
    head += [Cell("Core-hours put off"), Cell("Jobs that start later"), Cell("Later by, on average")]
    head += [Cell("Hours later, all jobs"), Cell("Jobs that start earlier")]
    head += [Cell("Change of mean wait", term="wait"), Cell("Change of p95 wait", term="percentile")]
    head += [Cell("Jobs still running")]
    note = (
        "Idle before it: core-hours that jobs hold between the announcement and the begin at the site as it is, and "
        f"not with the maintenance. Put off: the same of the {found.closed:,.0f} core-hours of the maintenance "
        "itself, in which jobs that still run go on. Later, earlier: jobs that start so by a minute or more. "
        "Waits: changes of the jobs submitted between the announcement and the end. Still running: jobs that began "
        "before the announcement and run beyond the begin."
    )
    means = f"; means over {count_of(weeks, 'week')}" if weeks > 1 else ""
    caption = f"Fewest core-hours idle before it first{means}"
    return Table("Begins", caption, head, _rows(found.slots, several=weeks > 1), note)


def _rows(slots: Sequence[MaintenanceSlot], *, several: bool) -> list[list[Cell]]:
    return [_row(slot, told, several=several) for slot, told in zip(slots, wait_changes(slots), strict=True)]


def _row(slot: MaintenanceSlot, changes: tuple[str, str], *, several: bool) -> list[Cell]:
    fewest, most = slot.range
    row = [Cell(slot.name), _number(slot.drained)]
    row += [Cell(f"{fewest:,.0f} to {most:,.0f}", most - fewest)] if several else []
    row += [_number(slot.mean("put_off")), _number(slot.mean("moved")), seconds_cell(slot.delay)]
    row += [_number(slot.mean("moved_hours")), _number(slot.mean("earlier"))]
    values = (slot.mean("mean_wait"), slot.mean("p95_wait"))
    row += [Cell(text, value) for text, value in zip(changes, values, strict=True)]
    return [*row, _number(slot.mean("outlasting"))]


def _number(value: float) -> Cell:
    return Cell(f"{value:,.0f}", value)


def _payers(kind: str, found: Sequence[MaintenancePayer], best: MaintenanceSlot) -> Table:
    head = [
        Cell(GROUPS[kind]),
        Cell("Jobs that start later"),
        Cell("Hours later, all jobs"),
        Cell("Share of all hours"),
    ]
    rows = [
        [Cell(one.group), _number(one.jobs), _number(one.hours), Cell(f"{one.share:.1%}", one.share)]
        for one in found[:MOST]
    ]
    left = len(found) - MOST
    note = f"{left:,} groups that pay less are not shown." if left > 0 else ""
    weeks = f", {len(best.costs):,} weeks together" if len(best.costs) > 1 else ""
    return Table(GROUPS[kind], f"Who pays at {best.name}{weeks}", head, rows, note)
