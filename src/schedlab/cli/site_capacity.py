"""The verb that finds how many nodes a site needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from schedlab.cli.options import Json
from schedlab.cli.outputs import check_page, note_report
from schedlab.cli.site_variants import (
    Anyway,
    Copies,
    LogPart,
    Report,
    SiteDirectory,
    Workers,
)
from schedlab.cli.terminal import campaign_bar, command_line, note, resumable, show, show_json
from schedlab.errors import InputError
from schedlab.wording import shown

if TYPE_CHECKING:
    from schedlab.site.capacity_goal import Goal


def capacity(
    directory: SiteDirectory,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC=VALUE",
            show_default="none",
            help="What more nodes are to reach: at most p95_wait=4h or mean_wait=1h, at least utilisation=0.8.",
        ),
    ] = None,
    add: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            show_default="none",
            help="Instead of --until: add N nodes of each kind, and compare the kinds by the mean wait.",
        ),
    ] = None,
    of: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            show_default="all jobs",
            help="Jobs that the metric is of: 'partition NAME', 'QOS NAME', 'account NAME', 'user NAME', 'size serial' "
            "or 'GPU with GPUs'.",
        ),
    ] = "",
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--node",
            metavar="NODES",
            show_default="every kind that a partition has",
            help="Kind of nodes to add, named by nodes of its line, such as n[001-087] or n001; repeatable.",
        ),
    ] = None,
    partitions: Annotated[
        list[str] | None,
        typer.Option(
            "--partition",
            metavar="NAME",
            show_default="those that hold all nodes of the kind",
            help="Partition that new nodes join; repeatable.",
        ),
    ] = None,
    most: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", show_default="64", help="With --until: most nodes to try of each kind."),
    ] = None,
    prices: Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            metavar="PRICE",
            help="Price of a node-hour, such as 0.90, and of one kind NODES=PRICE, such as g[1-8]=4; repeatable.",
        ),
    ] = None,
    currency: Annotated[str, typer.Option(metavar="TEXT", show_default="none", help="Currency of prices.")] = "",
    part: LogPart = None,
    copies: Copies = None,
    workers: Workers = None,
    report: Report = None,
    anyway: Anyway = False,
    as_json: Json = False,
) -> None:
    """Find how many nodes a site needs until its jobs wait less, or which kind N should be of; what they cost and buy.

    New nodes of a kind join the partitions and the switch of the kind. The answer begins with how good the site's twin
    is known to be (schedlab site calibrate). Simulations are stored in SITE/what-if.
    """
    from schedlab.site.capacity import capacity as search
    from schedlab.site.samples import SiteSample
    from schedlab.site.sweep import ANSWERS

    if report is not None:
        check_page(report)
    goal, priced = _goal(until, of, add, most), _prices(prices or [])
    with resumable(directory / ANSWERS), campaign_bar() as progress:
        found = search(
            directory,
            goal,
            nodes or [],
            add=add,
            partitions=partitions or [],
            most=64 if most is None else most,
            prices=priced,
            currency=currency,
            sample=SiteSample() if part is None else SiteSample.parse(part),
            copies=copies,
            anyway=anyway,
            workers=workers,
            progress=progress,
            told=note,
        )
    note(f"simulations are in {found.sweep.answers}")
    if as_json:
        show_json(found.to_document())
    else:
        show(found)
    if report is not None:
        from schedlab.report.capacity import write_capacity

        note_report(report, lambda: write_capacity(found, report, command=command_line()))


def _goal(until: str | None, of: str, add: int | None, most: int | None) -> Goal:
    """Return the goal or, if kinds are compared, the metric that they are compared by."""
    from schedlab.site.capacity_goal import Goal

    if (until is None) == (add is None):
        both = "--until and --add are both given: " if add else ""
        raise InputError(
            f"{both}give --until, such as p95_wait=4h, to ask how many nodes are needed, or --add, such as 10, to ask "
            "which kind so many should be of"
        )
    if add is not None and most is not None:
        raise InputError("--most bounds what --until tries: remove it, as --add says how many nodes are added")
    return Goal.parse("mean_wait=0s" if until is None else until, of)


def _prices(texts: Sequence[str]) -> dict[str, float]:
    """Return the prices of some kinds of nodes, and under "" that of all others."""
    found: dict[str, float] = {}
    for text in texts:
        nodes, _, price = text.rpartition("=")
        try:
            value = float(price)
        except ValueError:
            raise InputError(f"--price {shown(text)}: must be a number, or NODES=NUMBER such as g[1-8]=4") from None
        if not 0 <= value < float("inf"):
            raise InputError(f"--price {shown(text)}: must be 0 or more")
        if nodes in found:
            raise InputError(f"--price {shown(text)}: a price of these nodes is given twice")
        found[nodes] = value
    return found
