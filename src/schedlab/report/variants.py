"""The page of many variants of a site: how they rank, and who wins and pays under the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from schedlab.campaign.results.statistics import quantity
from schedlab.errors import InputError
from schedlab.report.calibration import HEADINGS, MOST
from schedlab.report.campaigns import metric_label
from schedlab.report.illustrations import example_figures
from schedlab.report.page import Page, write_page
from schedlab.report.tables import Cell, Table, seconds_cell
from schedlab.schedule.schedule import Schedule
from schedlab.site.affected import KINDS, Affected, columns_of, sentences
from schedlab.site.confirmation import Confirmation
from schedlab.site.effects import Effect, difference_text
from schedlab.site.ranking import SHOWN, RankedVariant, VariantRanking
from schedlab.site.sweep import Sweep
from schedlab.site.variants import AS_IT_IS
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
    both = _schedules(sweep, ranking)
    page = Page()
    page.explore(both, baseline=AS_IT_IS)
    kinds = dict.fromkeys(one.kind for one in best.effects)
    groups = [_groups(kind, [one for one in best.effects if one.kind == kind]) for kind in kinds]
    changed = [_affected(best.variant.name, best.affected)] if best.affected else []
    jobs = len(next(iter(both.values())))
    return page.render(
        "schedule.html.j2",
        kind="What if",
        title=f"{sweep.site.name}: {count_of(len(ranking.ranked) - 1, 'variant')}",
        lead=f"{count_of(jobs, 'job')} replayed on {', '.join(one.text for one in ranking.samples)}",
        changes=[f"{best.variant.name}: {text}." for text in (*best.notes, *sentences(best.affected))],
        sentences=[*_sentences(ranking), *([] if confirmation is None else confirmation.sentences())],
        over_time=example_figures(both, list(both), AS_IT_IS),
        tables=[_ranked(ranking), *([] if confirmation is None else [_confirmed(confirmation)]), *changed, *groups],
        command=command,
        provenance={"site": str(sweep.directory), "scheduler": sweep.site.settings.scheduler},
    )


def _schedules(sweep: Sweep, ranking: VariantRanking) -> dict[str, Schedule]:
    """Return the schedules of the best variant and of the site as it is, of the same jobs."""
    pair = sweep.pair(ranking.best.variant, ranking.samples[0])
    if pair is None:
        raise InputError(f"{ranking.best.variant.name}: it has not been run")
    same = {AS_IT_IS: pair.base.schedule}
    return same if ranking.best.variant.name == AS_IT_IS else same | {ranking.best.variant.name: pair.other.schedule}


def _sentences(ranking: VariantRanking) -> list[str]:
    best = ranking.best
    told = [f"By {metric_label(ranking.metric)}, the best variant is {best.variant.name} ({best.variant.text})."]
    if ranking.ranked[0].variant.name == AS_IT_IS:
        told = ["By " + metric_label(ranking.metric) + ", no variant is better than the site as it is."]
    told += ranking.less_work()
    every = next((one for one in best.effects if one.kind == "all"), None)
    if every is not None:
        change, interval, _ = difference_text(every)
        told.append(f"It changes the mean wait by {change} (95 % interval: {interval}).")
        told += [
            f"{'Winners' if verdict == 'wins' else 'Who pays'}: {', '.join(names)}."
            for verdict in ("wins", "pays")
            if (names := [one.group for one in best.effects if one.kind != "all" and one.verdict == verdict][:8])
        ]
    if len(ranking.ranked) > 2:
        told.append(
            f"It is the best of {len(ranking.ranked) - 1:,} on the jobs that it was chosen on, so some of its "
            "advantage is chance; schedlab site search evaluates the choice on held-out jobs."
        )
    return [*told, *(f"{one.variant.name} could not be run: {one.reason}" for one in ranking.failures)]


def _ranked(ranking: VariantRanking) -> Table:
    own = [] if ranking.metric in SHOWN else [Cell(metric_label(ranking.metric))]
    head = [Cell("Variant"), *own, Cell("Mean wait", term="wait"), Cell("p95 wait", term="percentile")]
    head += [Cell("Utilisation", term="utilisation"), Cell("Change of the mean wait"), Cell("95 % interval")]
    note = "The jobs of each variant are paired with those of the site as it is."
    return Table("Variants", "The best first", head, [_row(ranking.metric, one) for one in ranking.ranked], note)


def _row(metric: str, one: RankedVariant) -> list[Cell]:
    every = next((found for found in one.effects if found.kind == "all"), None)
    change, interval, _ = difference_text(every) if every else ("–", "–", "")
    own = [] if metric in SHOWN else [Cell(quantity(metric, one.value), one.value)]
    row = [Cell(one.variant.name), *own]
    row += [seconds_cell(one.mean_wait), seconds_cell(one.p95_wait), Cell(f"{one.utilisation:.1%}", one.utilisation)]
    return [*row, Cell(change, every.difference if every else 0.0), Cell(interval)]


def _confirmed(confirmation: Confirmation) -> Table:
    """Return what variants do on the real Slurm and in the twin, to all jobs and group by group."""
    head = [Cell("Variant"), Cell("Jobs"), Cell("Number"), Cell("As it is on Slurm", term="wait"), Cell("in the twin")]
    head += [Cell("Difference on Slurm"), Cell("in the twin"), Cell("")]
    rows = []
    for one in confirmation.effects():
        if one.kind == "user":
            continue
        row = [Cell(one.variant), Cell(one.group), Cell(f"{one.jobs:,}", one.jobs)]
        row += [seconds_cell(one.real.before), seconds_cell(one.twin.before)]
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


def _groups(kind: str, found: list[Effect]) -> Table:
    head = [
        Cell(GROUPS[kind]),
        Cell("Jobs"),
        Cell("Mean wait as it is", term="wait"),
        Cell("changed"),
        Cell("difference"),
    ]
    head += [Cell("95 % interval"), Cell("")]
    rows = []
    for one in found[:MOST]:
        change, interval, verdict = difference_text(one)
        row = [Cell(one.group), Cell(f"{one.jobs:,}", one.jobs), seconds_cell(one.before), seconds_cell(one.after)]
        rows.append([*row, Cell(change, one.difference), Cell(interval), Cell(verdict)])
    note = f"{len(found) - MOST:,} smaller groups are not shown." if len(found) > MOST else ""
    return Table(GROUPS[kind], "Who wins, and who pays", head, rows, note)
