"""The page of how many nodes a site needs: the answer, the metric by the number of nodes, what they cost and buy."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from schedlab.report.illustrations import Illustration, illustrate
from schedlab.report.page import write_page
from schedlab.report.style import COLOURS, new_figure, styled
from schedlab.report.tables import Cell, Table
from schedlab.report.variants import by_group, pair_of, provenance_of, render_answer
from schedlab.site.capacity_found import Capacity
from schedlab.site.capacity_table import columns
from schedlab.site.capacity_text import lead_of
from schedlab.site.changes import parse_change
from schedlab.site.variants import AS_IT_IS, Variant
from schedlab.wording import count_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 8
"""Kinds of nodes that the figure shows."""


def write_capacity(found: Capacity, path: str | PathLike[str], *, command: str = "") -> Path:
    """Write how many nodes a site needs as one self-contained HTML file, and return where it is.

    Parameters
    ----------
    found
        By the search.
    path
        The file; an existing one is replaced.
    command
        What the user typed.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    return write_page(path, lambda: render_capacity(found, command=command))


def render_capacity(found: Capacity, *, command: str = "") -> str:
    """Return how many nodes a site needs as HTML; see `write_capacity`."""
    step = None if found.best is None else found.best.decisive
    variant = Variant(AS_IT_IS) if step is None else step.variant
    return render_answer(
        pair_of(found.sweep, variant, found.sample),
        kind="How many nodes",
        title=f"{found.sweep.site.name}: {_question(found)}",
        replayed=found.sample.text,
        sentences=found.sentences(),
        opening=len(lead_of(found)),
        simulations=1 if step is None else found.copies,
        grounds=found.grounds,
        leading=_tables(found),
        chart=_figures(found),
        chart_heading="By the number of nodes",
        behind_chart=[] if step is None or step.unchanged else [by_group(step.variant.name, step.effects)],
        command=command,
        provenance=provenance_of(found.sweep),
    )


def _question(found: Capacity) -> str:
    if found.add is None:
        return f"nodes for a {found.goal.text} of {found.goal.in_words(found.goal.value)}"
    return f"{count_of(found.add, 'more node')}, of which kind?"


def _figures(found: Capacity) -> list[Illustration]:
    drawn = [one for one in found.kinds if one.steps][:MOST_LINES]
    if not drawn:
        return []
    goal = found.goal
    return [
        illustrate(
            plot_capacity(found),
            f"The {goal.text} by the number of nodes that are added; the numbers are in the table.",
            f"A line for each kind of nodes, a point for each number that was tried{_of_goal(found)}.",
        )
    ]


def _of_goal(found: Capacity) -> str:
    if found.add is not None:
        return ""
    return f"; dashed: the goal of {found.goal.in_words(found.goal.value)}; filled: the smallest number that reaches it"


def plot_capacity(found: Capacity, ax: Axes | None = None) -> Axes:
    """Draw the metric by the number of nodes that are added, a line for each kind.

    Parameters
    ----------
    found
        By the search.
    ax
        Where to draw; by default, in a new figure.
    """
    from matplotlib.ticker import MaxNLocator

    hours = found.goal.is_time
    unit = 3600.0 if hours else 1.0
    with styled():
        axes = new_figure((8.0, 3.6)).add_subplot() if ax is None else ax
        for place, one in enumerate([kind for kind in found.kinds if kind.steps][:MOST_LINES]):
            numbers = np.array([0, *(step.nodes for step in one.steps)])
            values = np.array([found.before, *(step.value for step in one.steps)]) / unit
            colour = COLOURS[place % len(COLOURS)]
            axes.plot(numbers, values, color=colour, marker="o", markerfacecolor="none", lw=1.4, label=one.kind.name)
            if one.needed is not None:
                at = numbers == one.needed
                axes.plot(numbers[at], values[at], color=colour, marker="o", ls="none")
        if found.add is None:
            axes.axhline(found.goal.value / unit, color="#666666", lw=1.0, ls="--")
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("Nodes added")
        axes.set_ylabel(f"{found.goal.text}{' (h)' if hours else ''}")
        axes.legend(title="nodes like", frameon=False)
    return axes


def _tables(found: Capacity) -> list[Table]:
    if not found.kinds:
        return []
    head, rows = columns(found)
    use = max(place for place, text in enumerate(head) if text == "utilisation")  # there is no room for it
    marked = any(row[-1] for row in rows)
    shown = [place for place in range(len(head) - (not marked)) if place != use]
    cells = [[Cell(row[place], words=place == len(head) - 1) for place in shown] for row in rows]
    note = (
        "The jobs are paired with those of the site as it is; the interval is of the change. New nodes are in service "
        f"all the time. {count_of(found.jobs, 'job')} count in the {found.goal.text}."
    )
    numbers = Table("Numbers of nodes", "Those that were tried", [_head(head[place]) for place in shown], cells, note)
    return [numbers, _kinds(found)]


def _head(text: str) -> Cell:
    return Cell(text[:1].upper() + text[1:], term="paired_interval" if text == "95 % interval" else None)


def _kinds(found: Capacity) -> Table:
    head = [Cell("Nodes like"), Cell("There are", words=True)]
    head += [Cell("New ones, as many as are needed or were tried", words=True)]
    rows = []
    for one in found.kinds:
        new = "" if one.decisive is None else parse_change(one.decisive.variant.changes[0]).value
        there = one.kind.text if len(one.kind.lines) == 1 else f"{one.kind.text}, on {len(one.kind.lines):,} lines"
        rows.append([Cell(one.kind.name), Cell(there, words=True), Cell(new, words=True)])
    return Table("Kinds of nodes", "What was added", head, rows)
