"""The page of a calibration: a site's past as recorded and as replayed, and whether that is good enough."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from schedlab.report.illustrations import example_figures
from schedlab.report.page import Page, write_page
from schedlab.report.tables import Cell, Table, waits_cells, waits_in_row
from schedlab.schedule.provenance import provenance_for_pages
from schedlab.schedule.recorded import AS_RECORDED
from schedlab.site.calibration import Calibration
from schedlab.site.coverage import MINUTE
from schedlab.site.jobs import left_out_texts
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

QUANTILE_NAMES = {0.5: "Median"}

NO_ERROR = "No error is given where both waits are below a minute."

REPLAYED = "replayed"
"""What the schedule of the twin is called."""

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
    both = {AS_RECORDED: calibration.recorded, REPLAYED: calibration.simulated}
    page.explore(both, baseline=AS_RECORDED, both=True)
    facts = provenance_for_pages(calibration.simulated)
    left_out = [f"{told}." for told in left_out_texts(calibration.left_out)]
    return page.render(
        "schedule.html.j2",
        kind="Calibration",
        title=f"{calibration.site}: the replay is {calibration.verdict}",
        lead=f"{count_of(len(calibration.recorded), 'job')} as recorded, and as replayed by the twin",
        changes=left_out,
        sentences=calibration.sentences()[:2],
        details=[*calibration.sentences()[2:], *calibration.caveats],
        over_time=example_figures(both, list(both), AS_RECORDED),
        leading=[
            _all(found[0]) if kind == "all" else _table(kind, found)
            for kind, found in calibration.errors.items()
            if found
        ],
        tables=[],
        command=command,
        provenance=facts,
    )


def _all(errors: WaitErrors) -> Table:
    """Return mean and quantiles of the waits of all jobs, one below the other."""
    head = [Cell(count_of(errors.jobs, "job")), Cell("Recorded", term="wait"), Cell("Replayed")]
    head += [Cell("Error of the replay"), Cell("Guess of the naive model"), Cell("Error of the naive model")]
    names = ["Mean wait", *(f"{QUANTILE_NAMES.get(one, f'p{100 * one:g}')} wait" for one in QUANTILES)]
    terms = ["mean", *("median" if one == 0.5 else "percentile" for one in QUANTILES)]
    rows = []
    for name, term, *waits in zip(names, terms, errors.recorded, errors.simulated, errors.naive, strict=True):
        recorded, simulated, naive = waits
        past, replayed, guess = waits_in_row(recorded, simulated, naive)
        row = [Cell(name, term=term), past, replayed, _error(simulated, recorded)]
        rows.append([*row, guess, _error(naive, recorded)])
    note = (
        f"Errors of the mean up to {GOOD:.0%} count as good, up to {ROUGH:.0%} as rough. The naive model guesses the "
        f"mean wait of the jobs of the same partition that started within the week before. {NO_ERROR}"
    )
    return Table(HEADINGS["all"], "Recorded waits and those of the replay", head, rows, note)


def _table(kind: str, errors: Iterable[WaitErrors]) -> Table:
    every = list(errors)
    head = [
        Cell(HEADINGS[kind].removeprefix("By ").capitalize()),
        Cell("Jobs"),
        Cell("Mean wait recorded", term="wait"),
        Cell("replayed"),
    ]
    head += [Cell("Error"), Cell("Error of the naive model")]
    head += [Cell("Median wait recorded", term="median"), Cell("replayed")]
    head += [Cell("p90 wait recorded", term="percentile"), Cell("replayed")]
    left = f" {len(every) - MOST:,} smaller groups are not shown." if len(every) > MOST else ""
    caption = "Recorded waits and those of the replay"
    return Table(HEADINGS[kind], caption, head, [_row(one) for one in every[:MOST]], f"{NO_ERROR}{left}")


def _row(one: WaitErrors) -> list[Cell]:
    recorded, simulated = one.recorded[0], one.simulated[0]
    row = [Cell(one.group), Cell(f"{one.jobs:,}", one.jobs), *waits_cells(recorded, simulated)]
    row += [_error(simulated, recorded), _error(one.naive[0], recorded)]
    for quantile in (0.5, 0.9):
        place = 1 + QUANTILES.index(quantile)
        row += waits_cells(one.recorded[place], one.simulated[place])
    return row


def _error(guessed: float, recorded: float) -> Cell:
    """Return a relative error; none where both waits are below a minute, as it would be one of seconds."""
    if not recorded or max(guessed, recorded) < MINUTE:
        return Cell("–")
    error = (guessed - recorded) / recorded
    return Cell(f"{error:+.1%}" if abs(error) < 1 else f"{error:+,.0%}", error)
