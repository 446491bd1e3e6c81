"""The verb that asks when to drain a site for a maintenance."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import Json
from schedlab.cli.outputs import check_page, note_report
from schedlab.cli.site_variants import (
    Anyway,
    Copies,
    Report,
    SiteDirectory,
    Workers,
)
from schedlab.cli.terminal import campaign_bar, command_line, note, resumable, show, show_json
from schedlab.cli.times import seconds_of
from schedlab.durations import HOUR
from schedlab.errors import InputError
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.site.site import Site


def maintenance(
    directory: SiteDirectory,
    hours: Annotated[
        str, typer.Option(metavar="HOURS", help="How long the nodes are closed, in hours, or with a unit, such as 2d.")
    ] = "8",
    notice: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            show_default="7d, of a log of less than four weeks a quarter of it",
            help="How long before its begin the scheduler is told.",
        ),
    ] = None,
    window: Annotated[
        str,
        typer.Option(metavar="TIME", help="End of the log in which it could begin; it stands for the time to come."),
    ] = "14d",
    every: Annotated[
        str, typer.Option(metavar="TIME", help="Time between two possible begins, from midnight on (UTC).")
    ] = "4h",
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIME",
            help="Begins to compare instead: 06:00, 'Tue 06:00' of each week, or a single one, '2026-06-02 06:00' or, "
            "of jobs without dates, 'day 2, 06:00' (UTC); repeatable.",
        ),
    ] = None,
    nodes: Annotated[
        str | None, typer.Option(metavar="LIST", help="Nodes that are closed, such as n[1-4].", show_default="all")
    ] = None,
    partition: Annotated[
        str | None, typer.Option(metavar="NAME", help="Close the nodes of a partition instead.")
    ] = None,
    copies: Copies = None,
    workers: Workers = None,
    report: Report = None,
    anyway: Anyway = False,
    as_json: Json = False,
) -> None:
    """Compare begins of a maintenance: core-hours that idle before it, jobs that start later, and whose they are.

    Every begin in the last days of the log is simulated, with the jobs of the log. Results are stored in SITE/what-if,
    so an interrupted run, which compares those that it has, resumes.
    """
    from schedlab.site.copies import once_text
    from schedlab.site.maintenance import maintenance as compared
    from schedlab.site.maintenance import samples_of
    from schedlab.site.maintenance_plan import MaintenancePlan, possible_begins
    from schedlab.site.sweep import Sweep

    if report is not None:
        check_page(report)
    begin = MaintenancePlan(  # before the site is read
        _hours(hours),
        seconds_of("--notice", notice),
        seconds_of("--window", window) or 0,
        seconds_of("--every", every) or 0,
        tuple(at or ()),
    )
    sweep = Sweep(directory, anyway=anyway)
    plan = replace(begin, nodes=_nodes(sweep.site, nodes, partition))
    plan.nodes_of(sweep.site)  # a slip in a name comes before anything that looks like a beginning
    begins = possible_begins(plan, sweep.jobs).begins
    note(
        f"{count_of(len(begins), 'begin')} to simulate, from {begins[0].name} to {begins[-1].name}; Ctrl-C ends it, "
        "and those simulated until then are compared; the site as it is comes first"
    )
    if once := once_text(copies, samples_of(sweep, plan, begins, copies)):
        note(once)
    with resumable(sweep.answers), campaign_bar() as progress:
        found = compared(sweep, plan, copies=copies, workers=workers, progress=progress)
    done, missing = sum(len(one.costs) for one in found.slots), found.left_out.interrupted
    if missing:
        note(
            f"interrupted: {done:,} of {count_of(done + missing, 'begin')} compared; answers are in {sweep.answers}, "
            "and the same command goes on with the others"
        )
    else:
        note(f"{count_of(done, 'begin')} compared; answers are in {sweep.answers}")
    if as_json:
        show_json(found.to_document())
    else:
        show(found)
    if report is not None:
        from schedlab.report.maintenance import write_maintenance

        note_report(report, lambda: write_maintenance(sweep, found, report, command=command_line()))


def _hours(text: str) -> float:
    """Return a length in hours, which the name of its option has as its unit; another one may be given."""
    try:
        return float(text)
    except ValueError:
        return (seconds_of("--hours", text) or 0) / HOUR


def _nodes(site: Site, listed: str | None, partition: str | None) -> tuple[str, ...]:
    from schedlab.cluster.hostlist import host_names

    if listed is not None and partition is not None:
        raise InputError("--nodes and --partition are both given: name the nodes once")
    if partition is not None:
        return site.cluster.nodes_of(site.cluster.partition(partition))
    return () if listed is None else tuple(host_names(listed))
