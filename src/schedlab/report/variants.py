"""The page of many variants of a site: how they rank, and who wins and pays under the best of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from schedlab.campaign.results.statistics import quantity
from schedlab.errors import InputError
from schedlab.report.calibration import HEADINGS, MOST
from schedlab.report.campaigns import metric_label
from schedlab.report.illustrations import example_figures
from schedlab.report.page import Page, write_page
from schedlab.report.tables import Cell, Table, seconds_cell, waits_cells
from schedlab.schedule.schedule import Schedule
from schedlab.site.affected import KINDS, Affected, columns_of
from schedlab.site.confirmation import Confirmation
from schedlab.site.effects import Effect, before_text, difference_text, group_name, notes_on
from schedlab.site.grounds import Grounds
from schedlab.site.ranking import SHOWN, RankedVariant, VariantRanking
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Sweep
from schedlab.site.variants import Variant
from schedlab.wording import count_of

GROUPS = HEADINGS | {"user": "By user", "GPU": "Jobs with GPUs"}


def write_ranking(
    sweep: Sweep,
    ranking: VariantRanking,
    path: str | PathLike[str],
    *,
    confirmation: Confirmation | None = None,
    command: str = "",
) -> Path:
    """Write a ranking of variants as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    sweep
        Where the answers are.
    ranking
        Of the variants.
    path
        The file; an existing one is replaced.
    confirmation
        What the real Slurm says, if it was asked.
    command
        What the user typed.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    return write_page(path, lambda: render_ranking(sweep, ranking, confirmation, command=command))


def render_ranking(
    sweep: Sweep, ranking: VariantRanking, confirmation: Confirmation | None = None, *, command: str = ""
) -> str:
    """Return a ranking of variants as HTML; see `write_ranking`."""
    best = ranking.best
    number = len(ranking.variants)
    changed = [_affected(best.variant.name, best.affected)] if best.affected else []
    return render_answer(
        pair_of(sweep, best.variant, ranking.samples[0]),
        kind="What if",
        title=f"{sweep.site.name}: {best.variant.name if number == 1 else count_of(number, 'variant')}",
        replayed=", ".join(one.text for one in ranking.samples),
        sentences=[*ranking.sentences(), *([] if confirmation is None else confirmation.sentences())],
        grounds=ranking.grounds,
        leading=[_ranked(ranking), *([] if confirmation is None else [_confirmed(confirmation)])],
        tables=[*changed, *([] if best.unchanged else by_group(best.effects))],
        command=command,
        provenance=provenance_of(sweep),
    )


def render_answer(
    schedules: Mapping[str, Schedule],
    *,
    replayed: str,
    sentences: Sequence[str],
    grounds: Grounds,
    leading: Sequence[Table] = (),
    tables: Sequence[Table] = (),
    **context: Any,
) -> str:
    """Return the page of an answer about a site: the first sentence, the others, tables, and what is left out.

    Parameters
    ----------
    schedules
        To look into, of the site as it is, which stands first, and of a variant.
    replayed
        Which jobs.
    sentences
        The answer; the first one stands out.
    grounds
        What it stands on.
    leading, tables
        Those of the answer, and of who wins and who pays: both stand before all figures.
    **context
        For the template: kind, title, chart, command, provenance.
    """
    page = Page()
    baseline = next(iter(schedules))
    page.explore(schedules, baseline=baseline)
    jobs = len(schedules[baseline])
    return page.render(
        "schedule.html.j2",
        lead=f"{count_of(jobs, 'job')} replayed on {replayed}",
        sentences=sentences[:1],
        details=sentences[1:],
        omissions=grounds.omissions.parts(),
        leading=[*leading, *tables],
        tables=[],
        over_time=example_figures(schedules, list(schedules), baseline),
        **context,
    )


def pair_of(sweep: Sweep, variant: Variant, sample: SiteSample) -> dict[str, Schedule]:
    """Return the schedules of the site as it is and of a variant, of the same jobs."""
    pair = sweep.pair(variant, sample)
    if pair is None:
        raise InputError(f"{variant.name}: it has not been run")
    return {pair.base_name: pair.base.schedule} | {variant.name: pair.other.schedule}


def provenance_of(sweep: Sweep) -> dict[str, str]:
    """Return what a page says of where its answer comes from."""
    from schedlab import __version__

    record = sweep.standing.record
    return {
        "schedlab": __version__,
        "site": str(sweep.directory),
        "scheduler": sweep.site.settings.scheduler,
        "calibration": sweep.standing.state if record is None else f"{sweep.standing.state}, {record.date}",
    }


def _ranked(ranking: VariantRanking) -> Table:
    own = [] if ranking.metric in SHOWN else [Cell(metric_label(ranking.metric))]
    head = [Cell("Variant", words=True), *own, Cell("Mean wait", term="wait"), Cell("As it is, same work", term="wait")]
    less = any(not one.same_work for one in ranking.ranked)
    head += [Cell("Change of the mean wait"), Cell("95 % interval", term="paired_interval"), Cell("Verdict")]
    head += [Cell("Jobs killed"), Cell("Work not done")] if less else []
    head += [Cell("p95 wait", term="percentile"), Cell("Utilisation", term="utilisation")]
    note = "The jobs of each variant are paired with those of the site as it is, copy by copy."
    return Table(
        "Variants", "The best first", head, [_row(ranking.metric, one, less=less) for one in ranking.ranked], note
    )


def _row(metric: str, one: RankedVariant, *, less: bool) -> list[Cell]:
    change, interval, verdict = one.difference
    own = [] if metric in SHOWN else [Cell(quantity(metric, one.value), one.value)]
    row = [Cell(one.variant.name, words=True), *own, *waits_cells(one.mean_wait, one.mean_wait_before)]
    every = next((found for found in one.effects if found.kind == "all"), None)
    row += [Cell(change, every.difference if every else 0.0), Cell(interval), Cell(verdict)]
    row += [Cell(f"{one.killed:,}", one.killed), Cell(one.undone_text, one.undone)] if less else []
    return [*row, seconds_cell(one.p95_wait), Cell(f"{one.utilisation:.1%}", one.utilisation)]


def _confirmed(confirmation: Confirmation) -> Table:
    """Return what variants do on the real Slurm and in the twin, to all jobs and group by group."""
    head = [Cell("Variant"), Cell("Jobs"), Cell("Number"), Cell("As it is on Slurm", term="wait"), Cell("in the twin")]
    head += [Cell("Difference on Slurm"), Cell("in the twin"), Cell("")]
    rows = []
    for one in confirmation.effects():
        if one.kind == "user":
            continue
        row = [Cell(one.variant), Cell(group_name(one.kind, one.group)), Cell(f"{one.jobs:,}", one.jobs)]
        row += waits_cells(one.real.before, one.twin.before)
        row += [Cell(str(one.real), one.real.difference), Cell(str(one.twin), one.twin.difference)]
        rows.append([*row, Cell(one.verdict)])
    note = f"Mean waits over {count_of(confirmation.phases, 'phase')}; in brackets the lowest and the highest of them."
    return Table("On the real Slurm", f"slurmctld {confirmation.slurm} beside the twin", head, rows, note)


def _affected(name: str, found: Sequence[Affected]) -> Table:
    """Return whose jobs a variant changes, kills or leaves out before it schedules them."""
    columns = {head: values for head, values in columns_of(found).items() if any(values)}
    rows, seen = [], dict.fromkeys(KINDS, 0)
    for number, one in enumerate(found):
        seen[one.kind] += 1
        if seen[one.kind] > MOST:
            continue
        row = [Cell(GROUPS.get(one.kind, one.kind)), Cell(one.group), Cell(f"{one.jobs:,}", one.jobs)]
        rows.append([*row, *(Cell(f"{values[number]:,.0f}", values[number]) for values in columns.values())])
    head = [Cell("Group"), Cell(""), Cell("Jobs"), *(Cell(text[:1].upper() + text[1:]) for text in columns)]
    note = "Core-hours are those of the site as it is. A job in pieces counts once, and waits for all its pieces."
    return Table("Whose jobs it changes", name, head, rows, note)


def by_group(effects: Sequence[Effect]) -> list[Table]:
    """Return who wins and who pays, a table for each kind of group."""
    kinds = dict.fromkeys(one.kind for one in effects)
    return [_groups(kind, [one for one in effects if one.kind == kind]) for kind in kinds]


def _groups(kind: str, found: list[Effect]) -> Table:
    head = [
        Cell(GROUPS[kind]),
        Cell("Jobs"),
        Cell(f"Mean {before_text(found)}", term="wait"),
        Cell("changed"),
        Cell("difference"),
    ]
    head += [Cell("95 % interval", term="paired_interval"), Cell("")]
    rows = []
    for one in found[:MOST]:
        change, interval, verdict = difference_text(one)
        row = [Cell(one.group), Cell(f"{one.jobs:,}", one.jobs), *waits_cells(one.before, one.after)]
        rows.append([*row, Cell(change, one.difference), Cell(interval), Cell(verdict)])
    more = [f"{len(found) - MOST:,} smaller groups are not shown."] if len(found) > MOST else []
    note = " ".join([*more, *notes_on(found[:MOST])])
    return Table(GROUPS[kind], "Who wins, and who pays", head, rows, note)
