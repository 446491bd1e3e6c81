"""The page of why the jobs of a site wait: who carries the mean wait, for what they wait, which nodes are short."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from schedlab.report.calibration import MOST
from schedlab.report.comparison import STRIP, TIME_BINS
from schedlab.report.illustrations import Illustration, illustrate
from schedlab.report.page import Page, write_page
from schedlab.report.style import COLOURS, TimeAxis, new_figure, styled
from schedlab.report.tables import Cell, Table, seconds_cell, waits_cells
from schedlab.schedule.provenance import provenance_for_pages
from schedlab.schedule.recorded import AS_RECORDED
from schedlab.schedule.schedule import Schedule
from schedlab.schedule.timeline import Steps
from schedlab.site.bottlenecks import NodesInDemand
from schedlab.site.carriers import WaitShare
from schedlab.site.causes import kind_of
from schedlab.site.explained import (
    KINDS,
    asks_for,
    cause_text,
    first_sentences,
    hours_text,
    mostly_for,
    other_sentences,
)
from schedlab.site.explaining import SiteExplanation
from schedlab.wording import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TWIN = "in the twin"
"""What the schedule of the site's own scheduler is called."""

MOST_STRIPS = 8
"""Kinds of nodes that the figure shows."""


def write_explanation(found: SiteExplanation, path: str | PathLike[str], *, command: str = "") -> Path:
    """Write why the jobs of a site wait as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    found
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
    return write_page(path, lambda: render_explanation(found, command=command))


def render_explanation(found: SiteExplanation, *, command: str = "") -> str:
    """Return why the jobs of a site wait as HTML; see `write_explanation`."""
    page = Page()
    both: dict[str, Schedule] = {} if found.recorded is None else {AS_RECORDED: found.recorded}
    page.explore(both | {TWIN: found.twin}, both=True)
    waits = "waits as recorded" if found.recorded is not None else "waits of the twin, as none are recorded"
    return page.render(
        "site.html.j2",
        kind="Why do they wait?",
        title=f"{found.site}: why jobs wait",
        lead=f"{count_of(len(found.twin), 'job')}; {waits}",
        omissions=found.omissions.parts(),
        sentences=first_sentences(found)[:1],
        besides=first_sentences(found)[1:],
        details=other_sentences(found),
        over_time=_figures(found),
        tables=[_carriers(found), _causes(found), *_limits(found), *_nodes(found)],
        more_tables=_groups(found),
        command=command,
        provenance=provenance_for_pages(found.twin),
    )


def _figures(found: SiteExplanation) -> list[Illustration]:
    shown = [one for one in found.kinds if one.job_hours > 0][:MOST_STRIPS]
    if not shown:
        return []
    return [
        illustrate(
            plot_demand(shown, found.twin),
            "Use of each kind of nodes over time, and how many jobs had no room on it; the means are in the "
            "tables below.",
            "Areas: share of the cores in use (or of GPUs, if all have some in greater use), from 0 to 100 %. Lines: "
            "jobs that wait for these nodes and have no room, on a square-root scale. Where the area is full and the "
            "line is up, nodes are short; where the line is up and the area is not full, what is free is too small for "
            "the jobs that wait, as before half-empty nodes. Vertical line: the last submission.",
            vector=False,
        )
    ]


def plot_demand(shown: Sequence[NodesInDemand], schedule: Schedule, ax: Axes | None = None) -> Axes:
    """Draw the use of some kinds of nodes over time, and how many jobs wait for them without room, a strip each.

    Parameters
    ----------
    shown
        What to draw, the first on top.
    schedule
        Whose time the axis shows.
    ax
        Where to draw; by default, in a new figure.
    """
    submit = schedule.workload.submit_time
    begin, end = int(submit.min()), max(int(schedule.start_time.max()), int(submit.min()) + 1)
    axis = TimeAxis(begin, end, begin, schedule.workload.start_time)
    queues = [_binned(one.without_room, begin, end) for one in shown]
    top = max(1.0, *(float(queue.values.max()) for queue in queues))
    with styled():
        axes = new_figure((8.0, 1.4 + 0.75 * len(shown))).add_subplot() if ax is None else ax
        strips = np.arange(len(shown))[::-1]
        for place, one, queue in zip(strips.tolist(), shown, queues, strict=True):
            use = _binned(one.use, begin, end)
            axes.fill_between(axis(use.times), place, place + STRIP * use.values, step="post", color=COLOURS[3], lw=0)
            height = place + STRIP * np.sqrt(queue.values / top)
            axes.step(axis(queue.times), height, where="post", color=COLOURS[4], lw=1.2)
        axes.axvline(axis(int(submit.max())), color="#666666", lw=0.8)
        axes.hlines(strips + STRIP, 0, 1, transform=axes.get_yaxis_transform(), color="#DDDDDD", linewidth=0.6)
        axes.set_ylim(0, len(shown))
        axes.set_yticks(strips + STRIP / 2, [_wrapped(one.name) for one in shown])
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axis.label(axes)
        axes.set_ylabel("Kind of nodes")
        axes.set_title(f"Share in use (areas, 0 to 100 %), and jobs without room (lines, 0 to {top:,.0f})")
    return axes


def _binned(steps: Steps, begin: int, end: int) -> Steps:
    """Return the means of a step function over equal parts of a period; it is 0 outside its times."""
    times = np.concatenate([[min(begin, int(steps.times[0])) - 1], steps.times, [max(end, int(steps.times[-1])) + 1]])
    values = np.concatenate([[0.0], steps.values, [0.0]])
    return Steps(times, values).binned(TIME_BINS, begin, end)


def _wrapped(name: str) -> str:
    """Return a name on at most two lines."""
    lines = wrap(name, 22)
    return "\n".join([*lines[:1], f"{lines[1][:21]}…" if len(lines) > 2 else lines[1]] if len(lines) > 1 else lines)


def _carriers(found: SiteExplanation) -> Table:
    recorded = found.recorded is not None
    head = [Cell("Jobs of"), Cell("Jobs"), Cell("Share of waiting", term="share_of_waiting")]
    head += [Cell("Mean wait recorded" if recorded else "Mean wait", term="wait")]
    head += [Cell("in the twin")] if recorded else []
    head += [Cell("Median wait", term="median"), Cell("Mean wait of all others")]
    head += [Cell("Nearly all ask for; wait mostly for", words=True)]
    rows = []
    for one in found.carriers:
        share = found.share(one)
        twin = [float(found.twin.wait_time[one.rows].mean())] if recorded else []
        row = [Cell(share.group), Cell(f"{share.jobs:,}", share.jobs), _shares(share)[1]]
        row += [*waits_cells(share.mean, *twin), seconds_cell(share.median), seconds_cell(share.mean_without)]
        words = "; ".join(filter(None, [asks_for(found, one), mostly_for(found, one)]))
        rows.append([*row, Cell(words, words=True)])
    note = (
        "Groups without jobs in common, found by user, account, partition, QOS and what jobs ask for: the most telling "
        "one, then that of the rest, and so on. The mean wait of all others is how they waited beside the group; "
        "without it in the queue, they might have waited less."
    )
    return Table("Who carries the mean wait", "Groups of jobs by their share of all waiting", head, rows, note)


def _shares(share: WaitShare) -> list[Cell]:
    values = (share.share_of_jobs, share.share_of_waiting)
    return [Cell(f"{value:.1%}", value) for value in values]


def _causes(found: SiteExplanation) -> Table:
    totals, inside = found.causes.totals(), found.causes.totals(inside=True)
    whole = sum(totals.values())
    head = [Cell("Cause"), Cell("Kind", words=True), Cell("Job-hours of waiting")]
    head += [Cell("Share of waiting", term="share_of_waiting"), Cell("Hours until the last submission")]
    head += [Cell("Share until then", term="share_of_waiting")]
    rows = []
    for cause, seconds in totals.items():
        row = [Cell(cause_text(cause)), Cell(kind_of(cause), words=True)]
        for one in (seconds, inside.get(cause, 0)):
            row += [Cell(hours_text(one / 3600), one / 3600), Cell(f"{one / whole:.1%}", one / whole)]
        rows.append(row)
    note = (
        "In the twin. A job has no free cores, nodes, memory or GPUs while it could not start even if alone in the "
        "queue. It waits before half-empty nodes while these have enough free cores in sum, and a quarter of all their "
        "cores are free, but no node has enough of them. It is behind other jobs while it could start, but nodes are "
        "kept for jobs before it, or the scheduler has not looked at it yet; of many like jobs, as many as there is "
        "room for. Limits and other holds are in Slurm's words. After the last submission, the log only drains."
    )
    return Table("What they wait for", "Hours of waiting by cause", head, rows, note)


def _nodes(found: SiteExplanation) -> list[Table]:
    note = (
        "Until the last submission; the drain after it does not count, unless no job waits before. Shares in use are "
        "means from the first submission on, and those while jobs wait. Hours full: those of the hours with waiting "
        "jobs in which most of these had no room. Job-hours without room: what all jobs "
        "waited together while no node that they may use had room; {}."
    )
    kinds = note.format("each job counts for the one kind that it asks for")
    groups = note.format("a job that may use several groups counts for each")
    return [
        _in_demand(
            "Nodes that jobs ask for", "Use and queue by the kind of nodes that jobs ask for", found.kinds, kinds
        ),
        _in_demand("Groups of nodes", "Use and queue of each group of nodes", found.groups, groups),
    ]


def _in_demand(heading: str, caption: str, some: Sequence[NodesInDemand], note: str) -> Table:
    head = [Cell("Kind of nodes"), Cell("Nodes"), Cell("Cores in use"), Cell("GPUs in use")]
    head += [Cell("Cores in use while jobs wait"), Cell("Hours with waiting jobs"), Cell("Hours full")]
    head += [Cell("Job-hours without room")]
    featured = any(one.features for one in some)
    head += [Cell("Features", words=True)] if featured else []
    rows = []
    for one in some[:MOST]:
        shares = [
            Cell("–") if np.isnan(value) else Cell(f"{value:.0%}", value) for value in (one.cores, one.gpus, one.busy)
        ]
        hours = [Cell(hours_text(value), value) for value in (one.waited_for, one.full, one.job_hours)]
        features = [Cell(one.features or "–", words=True)] if featured else []
        rows.append([Cell(one.name), Cell(f"{one.nodes:,}", one.nodes), *shares, *hours, *features])
    return Table(heading, caption, head, rows, note)


def _limits(found: SiteExplanation) -> list[Table]:
    if not found.limits:
        return []
    head = [Cell("Reason", term="told_reason"), Cell("Jobs"), Cell("Users"), Cell("Job-hours held")]
    head += [Cell("Limit", words=True)]
    rows = []
    for one in found.limits[:MOST]:
        row = [Cell(one.reason), Cell(f"{one.jobs:,}", one.jobs), Cell(f"{one.users:,}", one.users)]
        rows.append([*row, Cell(hours_text(one.hours), one.hours), Cell(one.limit or "–", words=True)])
    return [Table("Limits", "Hours that jobs were held at limits, in the twin", head, rows)]


def _groups(found: SiteExplanation) -> list[Table]:
    return [
        _by(words, found.shares(kind)) for kind, words in KINDS.items() if len(found.labels[kind].in_order().names) > 1
    ]


def _by(words: str, every: Sequence[WaitShare]) -> Table:
    head = [Cell(words[0].upper() + words[1:]), Cell("Jobs"), Cell("Share of jobs")]
    head += [Cell("Share of waiting", term="share_of_waiting"), Cell("Mean wait", term="wait")]
    head += [Cell("Median wait", term="median"), Cell("p95 wait", term="percentile"), Cell("Mean wait of all others")]
    rows = []
    for one in every[:MOST]:
        row = [Cell(one.group), Cell(f"{one.jobs:,}", one.jobs), *_shares(one), seconds_cell(one.mean)]
        rows.append([*row, seconds_cell(one.median), seconds_cell(one.p95), seconds_cell(one.mean_without)])
    note = f"{len(every) - MOST:,} smaller shares are not shown." if len(every) > MOST else ""
    return Table(f"By {words}", f"Shares of all waiting by {words}", head, rows, note)
