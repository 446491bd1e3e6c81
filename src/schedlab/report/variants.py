"""The page of many variants of a site: how they rank, and who wins and pays under the best of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from schedlab.campaign.results.statistics import quantity
from schedlab.errors import InputError
from schedlab.report.campaigns import metric_label
from schedlab.report.illustrations import example_figures
from schedlab.report.page import Page, write_page
from schedlab.report.power import power_figures
from schedlab.report.tables import Cell, Table, seconds_cell, waits_cells
from schedlab.schedule.schedule import Schedule
from schedlab.site.affected import KINDS, Affected, columns_of
from schedlab.site.confirmation import Confirmation, confirmation_sentences, differences_in_columns
from schedlab.site.effect_texts import difference_texts, notes_on, on_page, waits_heads, waits_of
from schedlab.site.effects import Effect, group_name
from schedlab.site.energy_effects import energy_texts
from schedlab.site.grounds import Grounds
from schedlab.site.headline import EACH, NOTHING_TO_TELL
from schedlab.site.ranked_variant import RankedVariant, differences_of
from schedlab.site.ranking import IN_TABLES, VariantRanking
from schedlab.site.samples import SiteSample
from schedlab.site.sweep import Sweep
from schedlab.site.variant_task import with_cap
from schedlab.site.variants import Variant, compared_with
from schedlab.wording import count_of

MOST_OF_A_KIND = 10
"""Groups of a kind that the table of jobs which are changed has."""


def write_ranking(
    sweep: Sweep,
    ranking: VariantRanking,
    path: str | PathLike[str],
    *,
    confirmation: Confirmation | None = None,
    failed: str = "",
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
    failed
        Why it says nothing though it was asked; empty: it was not, or says something.
    command
        What the user typed.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    return write_page(path, lambda: render_ranking(sweep, ranking, confirmation, failed=failed, command=command))


def render_ranking(
    sweep: Sweep,
    ranking: VariantRanking,
    confirmation: Confirmation | None = None,
    *,
    failed: str = "",
    command: str = "",
) -> str:
    """Return a ranking of variants as HTML; see `write_ranking`."""
    best = ranking.best
    number = len(ranking.variants)
    sentences, opening = [*ranking.sentences(), *confirmation_sentences(confirmation, failed)], len(ranking.lead)
    if confirmation is not None:
        sentences, opening = [*confirmation.warning, *sentences], opening + len(confirmation.warning)
    tables = []
    for one in (one for one in ranking.changed[:EACH] if not one.same_as):
        tables += [_affected(one.variant.name, one.affected)] if one.affected else []
        tables += [] if one.difference[2] in NOTHING_TO_TELL else [by_group(one.variant.name, one.effects)]
    return render_answer(
        pair_of(sweep, best.variant, ranking.samples[0]),
        kind="What if",
        title=f"{sweep.site.name}: {best.variant.name if number == 1 else count_of(number, 'variant')}",
        replayed=", ".join(one.text for one in ranking.samples),
        sentences=sentences,
        opening=opening,
        grounds=ranking.grounds,
        simulations=ranking.copies * len(ranking.samples),
        leading=[_ranked(ranking), *([] if confirmation is None else [confirmed_table(confirmation)])],
        tables=tables,
        **of_power(sweep, best.variant, ranking.samples[0]),
        command=command,
        provenance=provenance_of(sweep),
    )


def render_answer(
    schedules: Mapping[str, Schedule],
    *,
    replayed: str,
    sentences: Sequence[str],
    grounds: Grounds,
    opening: int,
    simulations: int,
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
    opening
        How many of the sentences the answer begins with; the others are details.
    simulations
        Of each side, of which the answer is a mean.
    leading, tables
        Those of the answer, and of who wins and who pays: both stand before all figures.
    **context
        For the template: kind, title, chart, command, provenance.
    """
    page = Page()
    baseline = next(iter(schedules))
    page.explore(schedules, baseline=baseline, both=True)
    jobs = len(schedules[baseline])
    return page.render(
        "schedule.html.j2",
        lead=f"Replayed: {count_of(jobs, 'job')} ({replayed})",
        sentences=sentences[:1],
        besides=sentences[1:opening],
        details=sentences[opening:],
        omissions=grounds.omissions.parts(),
        of_several=one_of(simulations),
        leading=[*leading, *tables],
        tables=[],
        over_time=example_figures(schedules, list(schedules), baseline),
        **context,
    )


def one_of(simulations: int) -> str:
    """Say that schedules are of one simulation of several, of which the answer is a mean; "": there is only one."""
    if simulations == 1:
        return ""
    return f"One of the {simulations:,} simulations of each side is shown; the answer is a mean over all of them."


def pair_of(sweep: Sweep, variant: Variant, sample: SiteSample) -> dict[str, Schedule]:
    """Return the schedules of the site as it is and of a variant, of the same jobs."""
    pair = sweep.pair(variant, sample)
    if pair is None:
        raise InputError(f"{variant.name}: it has not been run")
    return {pair.base_name: pair.base.schedule} | {variant.name: pair.other.schedule}


def of_power(sweep: Sweep, variant: Variant, sample: SiteSample) -> dict[str, Any]:
    """Return, for the template, the power over time of the site as it is and of a variant; nothing without a model."""
    pair = sweep.pair(variant, sample)
    if sweep.power is None or pair is None:
        return {}
    capped = with_cap(sweep.power, variant.cap)
    sides = {pair.base_name: (pair.base, sweep.power)} | {variant.name: (pair.other, capped)}
    given = {
        name: (one.schedule, power, one.watts, one.in_use)
        for name, (one, power) in sides.items()
        if one.watts is not None
    }
    return {"chart": power_figures(given), "chart_heading": "Power over time"} if given else {}


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
    """Return the table of variants: what decides stands first, where a narrow window shows it."""
    own = [] if ranking.metric in IN_TABLES else [Cell(metric_label(ranking.metric))]
    less = any(not one.same_work for one in ranking.ranked)
    head = [Cell("Variant", words=True), *own, Cell("Change of the mean wait")]
    head += [Cell("95 % interval", term="paired_interval"), Cell("Verdict")]
    head += [Cell("Killed at new limit"), Cell("Work lost", term="work_lost")] if less else []
    head += [Cell("Mean wait", term="wait"), *([Cell("As it is, same work", term="wait")] if less else [])]
    head += [Cell("p95 wait", term="percentile"), Cell("Longest wait", term="largest")]
    head += [] if less else [Cell("Utilisation", term="utilisation")]
    energy = ranking.energy_heads
    head += [Cell(f"{text[:1].upper()}{text[1:]}") for text in energy]
    note = "The jobs of each variant are paired with those of the site as it is, copy by copy."
    return Table(
        "Variants",
        ranking.order,
        head,
        [
            [*_row(ranking.metric, one, difference, less=less), *map(Cell, energy_texts(one.energy, energy))]
            for one, difference in zip(ranking.ranked, differences_of(ranking.ranked), strict=True)
        ],
        note,
    )


def _row(metric: str, one: RankedVariant, difference: tuple[str, str, str], *, less: bool) -> list[Cell]:
    change, interval, verdict = difference
    own = [] if metric in IN_TABLES else [Cell(quantity(metric, one.value), one.value)]
    row = [Cell(one.variant.name, words=True), *own, Cell(change, one.on_all.difference if one.on_all else 0.0)]
    row += [Cell(interval), Cell(verdict)]
    killed, lost = one.killed_texts
    row += [Cell(killed, one.killed), Cell(lost, one.in_vain)] if less else []
    same = compared_with(one.variant).load == one.variant.load
    row += waits_cells(one.mean_wait, *([one.mean_wait_before if same else np.nan] if less else []))
    row += [seconds_cell(one.p95_wait), seconds_cell(one.far.longest)]
    return row if less else [*row, Cell(f"{one.utilisation:.1%}", one.utilisation)]


def confirmed_table(confirmation: Confirmation) -> Table:
    """Return what variants do on the real Slurm and in the twin, to all jobs and group by group."""
    head = [Cell("Variant"), Cell("Jobs"), Cell("Number"), Cell("As it is on Slurm", term="wait"), Cell("in the twin")]
    head += [Cell("Difference on Slurm"), Cell("in the twin"), Cell("")]
    rows = []
    effects = [one for one in confirmation.effects() if one.kind != "user"]
    for one, (real, twin) in zip(effects, differences_in_columns(effects), strict=True):
        row = [Cell(one.variant), Cell(group_name(one.kind, one.group)), Cell(f"{one.jobs:,}", one.jobs)]
        row += waits_cells(one.real.before, one.twin.before)
        row += [Cell(real, one.real.difference), Cell(twin, one.twin.difference)]
        rows.append([*row, Cell(one.verdict)])
    note = f"Mean waits over {count_of(confirmation.phases, 'phase')}; in brackets the lowest and the highest of them."
    return Table("On the real Slurm", f"slurmctld {confirmation.slurm} beside the twin", head, rows, note)


def _affected(name: str, found: Sequence[Affected]) -> Table:
    """Return whose jobs a variant changes, kills or leaves out before it schedules them."""
    shown, others = _telling(found)
    columns = {head: values for head, values in columns_of(shown).items() if any(values)}
    rows = []
    for number, one in enumerate(shown):
        row = [Cell(group_name(one.kind, one.group), words=True)]
        row += [Cell(f"{values[number]:,.0f}", values[number]) for values in columns.values()]
        rows.append([*row, Cell(f"{one.jobs:,}", one.jobs)])
    head = [Cell("Whose", words=True), *(Cell(text[:1].upper() + text[1:]) for text in columns), Cell("Jobs")]
    note = "Core-hours are those of the site as it is. A job in pieces counts once, and waits for all its pieces."
    if others:
        note += f" Not shown, as they have less of it or only ask for less: {others}."
    return Table(f"{name}: whose jobs it changes", "Those who lose most first", head, rows, note)


def _telling(found: Sequence[Affected]) -> tuple[list[Affected], str]:
    """Return the groups that lose most work or, if none loses any, have most jobs changed, and how many others are."""
    lose = any(one.lost_hours for one in found)
    shown, left = [], dict.fromkeys(KINDS, 0)
    seen = dict.fromkeys(KINDS, 0)
    for one in found:
        seen[one.kind] += 1
        if seen[one.kind] > MOST_OF_A_KIND or (lose and not one.lost_hours):
            left[one.kind] += 1
        else:
            shown.append(one)
    return shown, ", ".join(f"{number:,} of {kind}" for kind, number in left.items() if number)


def by_group(name: str, effects: Sequence[Effect]) -> Table:
    """Return who wins and who pays under a variant, the largest groups of each kind and those that are sure."""
    less = any(one.today is not None for one in effects)
    shown = on_page(effects)
    judged = any(one.verdict for one in shown)
    head = [Cell("Whose", words=True), Cell("Difference"), Cell("95 % interval", term="paired_interval")]
    head += [Cell("Verdict")] if judged else []
    head += [Cell(text[:1].upper() + text[1:], term="wait") for text in waits_heads(effects)]
    head += [Cell("Changed", term="wait"), Cell("Jobs")]
    rows = []
    for one, (change, interval, verdict) in zip(shown, difference_texts(shown), strict=True):
        row = [Cell(group_name(one.kind, one.group), words=True), Cell(change, one.difference), Cell(interval)]
        row += [Cell(verdict)] if judged else []
        rows.append([*row, *waits_cells(*waits_of(one, less)), Cell(f"{one.jobs:,}", one.jobs)])
    left = len(effects) - len(shown)
    more = [f"{count_of(left, 'smaller group')} of which none is sure to win or pay are not shown."] if left else []
    note = " ".join([*more, *notes_on(shown)])
    return Table(f"{name}: who wins, and who pays", "The largest groups of each kind first", head, rows, note)
