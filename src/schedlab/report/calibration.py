"""The page of a calibration: a site's past as recorded and as replayed, and whether that is good enough."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

import numpy as np

from schedlab.report.illustrations import example_figures
from schedlab.report.page import Page, write_page
from schedlab.report.tables import Cell, Table, seconds_cell
from schedlab.schedule.provenance import provenance_for_pages
from schedlab.schedule.recorded import AS_RECORDED
from schedlab.site.calibration import Calibration
from schedlab.site.standing import GOOD, ROUGH
from schedlab.site.wait_errors import QUANTILES, WaitErrors
from schedlab.wording import count_of

HEADINGS = {
    "all": "All jobs",
    "partition": "By partition",
    "QOS": "By quality of service",
    "account": "By account",
    "size": "By size",
}

MOST = 50
"""Groups that a table names."""


def write_calibration(calibration: Calibration, path: str | PathLike[str], *, command: str = "") -> Path:
    """Write a calibration as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    calibration
        Of a site.
    path
        The file; an existing one is replaced.
    command
        What the user typed.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    return write_page(path, lambda: render_calibration(calibration, command=command))


def render_calibration(calibration: Calibration, *, command: str = "") -> str:
    """Return a calibration as HTML; see `write_calibration`."""
    page = Page()
    both = {AS_RECORDED: calibration.recorded, calibration.scheduler: calibration.simulated}
    page.explore(both, baseline=AS_RECORDED)
    facts = provenance_for_pages(calibration.simulated)
    left_out = [f"{count_of(count, 'job')} left out: {reason}." for reason, count in calibration.left_out.items()]
    return page.render(
        "schedule.html.j2",
        kind="Calibration",
        title=f"{calibration.site}: {calibration.verdict}",
        lead=f"{count_of(len(calibration.recorded), 'job')} as recorded, and replayed under {calibration.scheduler}",
        changes=left_out,
        sentences=[*calibration.sentences(), *calibration.caveats],
        over_time=example_figures(both, list(both), AS_RECORDED),
        tables=[_table(kind, found) for kind, found in calibration.errors.items() if found],
        command=command,
        provenance=facts,
    )


def _table(kind: str, errors: Iterable[WaitErrors]) -> Table:
    every = list(errors)
    quantiles = [f"p{100 * one:g}" for one in QUANTILES]
    head = [Cell(HEADINGS[kind]), Cell("Jobs"), Cell("Mean wait recorded", term="wait"), Cell("replayed")]
    head += [Cell("error"), Cell("naive model"), Cell("its error")]
    head += [Cell(f"{one} {what}", term="percentile") for one in quantiles for what in ("recorded", "replayed")]
    note = (
        f"Errors up to {GOOD:.0%} count as good, up to {ROUGH:.0%} as rough. The naive model guesses the mean wait of "
        "the jobs of the same partition that started within the week before."
        if kind == "all"
        else f"{len(every) - MOST:,} smaller groups are not shown."
        if len(every) > MOST
        else ""
    )
    return Table(
        HEADINGS[kind], "Recorded waits and those of the replay", head, [_row(one) for one in every[:MOST]], note
    )


def _row(one: WaitErrors) -> list[Cell]:
    row = [
        Cell(one.group),
        Cell(f"{one.jobs:,}", one.jobs),
        seconds_cell(one.recorded[0]),
        seconds_cell(one.simulated[0]),
    ]
    row += [_error(one.error), seconds_cell(one.naive[0]), _error(one.naive_error)]
    for recorded, simulated in zip(one.recorded[1:], one.simulated[1:], strict=True):
        row += [seconds_cell(recorded), seconds_cell(simulated)]
    return row


def _error(error: float) -> Cell:
    return Cell(f"{100 * error:+.1f}%", error) if np.isfinite(error) else Cell("–")
