"""The page of an upgrade of Slurm, for the maintenance meeting: configuration, waits, and the rules behind them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from schedlab.errors import InputError
from schedlab.report.page import write_page
from schedlab.report.tables import Cell, Table
from schedlab.report.variants import by_group, confirmed_table, pair_of, provenance_of, render_answer
from schedlab.site.confirmation import Confirmation, confirmation_sentences
from schedlab.site.upgrade import Upgrade, rows_of


def write_upgrade(
    found: Upgrade,
    path: str | PathLike[str],
    *,
    confirmation: Confirmation | None = None,
    failed: str = "",
    command: str = "",
) -> Path:
    """Write what an upgrade changes as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    found
        The answer, of a site with jobs.
    path
        The file; an existing one is replaced.
    confirmation
        What both real Slurms say, if they were asked.
    failed
        Why they say nothing though they were asked; empty: they were not, or say something.
    command
        What the user typed.

    Raises
    ------
    InputError
        If the site has no jobs.
    OutputError
        If the file cannot be written.
    """
    return write_page(path, lambda: render_upgrade(found, confirmation, failed=failed, command=command))


def render_upgrade(
    found: Upgrade, confirmation: Confirmation | None = None, *, failed: str = "", command: str = ""
) -> str:
    """Return what an upgrade changes as HTML; see `write_upgrade`."""
    sweep, ranking = found.sweep, found.ranking
    if sweep is None or ranking is None:
        raise InputError("the site has no jobs: there is nothing to look into")
    best = ranking.best
    leading = [_lines(found)] if found.paper.lines else []
    leading += [_rules(found), *([] if confirmation is None else [confirmed_table(confirmation)])]
    return render_answer(
        pair_of(sweep, best.variant, ranking.samples[0]),
        kind="Upgrade",
        title=f"{sweep.site.name}: from Slurm {found.paper.old} to {found.paper.new}",
        replayed=", ".join(one.text for one in ranking.samples),
        sentences=[*found.sentences(), *confirmation_sentences(confirmation, failed)],
        opening=len(found.lead),
        grounds=ranking.grounds,
        simulations=ranking.copies * len(ranking.samples),
        leading=leading,
        tables=[] if best.unchanged else [by_group(best.variant.name, best.effects)],
        command=command,
        provenance=provenance_of(sweep),
    )


def _lines(found: Upgrade) -> Table:
    """Return what becomes of the lines of the configuration."""
    head = ["What becomes of it", "Where", "Option", "Instead, or what changes", "Taken by"]
    rows = [[Cell(text, words=True) for text in row] for row in found.paper.rows()]
    if not any(row[-1].text for row in rows):  # every version takes all lines
        head, rows = head[:-1], [row[:-1] for row in rows]
    note = (
        "Its own programs read the configuration." if found.paper.judged else "The newer version was not asked itself."
    )
    return Table("Configuration", "The gravest first", [Cell(text, words=True) for text in head], rows, note)


def _rules(found: Upgrade) -> Table:
    """Return what each rule that differs does alone."""
    head = [Cell("Rule", words=True), Cell("Change of the mean wait"), Cell("95 % interval", term="paired_interval")]
    head += [Cell("Verdict"), Cell("Most", words=True), Cell("What it says", words=True)]
    rows = []
    for one, (name, change, interval, verdict, most) in zip(found.rules, rows_of(found.rules), strict=True):
        meaning = one.rule.between(found.paper.old, found.paper.new)
        size = one.alone.mean_wait - one.alone.mean_wait_before
        row = [Cell(name, words=True), Cell(change, size), Cell(interval), Cell(verdict)]
        rows.append([*row, Cell(most, words=True), Cell(meaning, words=True)])
    note = "Each rule is switched alone; together they need not add up."
    return Table("Rules that differ", "What each does alone", head, rows, note)
