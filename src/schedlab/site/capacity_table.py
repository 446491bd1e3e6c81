"""How many nodes a site needs, as a table and as all that is printed: sentences, numbers, and how to ask further."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import join

from schedlab.schedule.summary import duration
from schedlab.site.capacity_found import Capacity, CapacityStep, KindCapacity
from schedlab.site.capacity_text import money, signed_text, span_text
from schedlab.site.changes import MORE_NODES, Change, parse_change
from schedlab.site.more_nodes import expanded
from schedlab.site.variants import AS_IT_IS
from schedlab.wording import table

AGAIN = 8
"""Kinds whose changes are printed."""


def capacity_text(found: Capacity) -> str:
    """Return the answer as text: sentences, the table, and how to ask again."""
    head, rows = columns(found)
    text = [*found.sentences()]
    if found.kinds:
        text += ["", table(head, rows)]
    told = [command for one in found.kinds[:AGAIN] for command in again(found, one)]
    text += ["", "to look into one of them:", *told] if told else []
    if found.grounds.omissions.parts():
        text += ["", str(found.grounds.omissions)]
    return "\n".join(text)


def again(found: Capacity, one: KindCapacity) -> list[str]:
    """Return the command that asks what the decisive number of nodes of a kind changes, on one line to be pasted."""
    step = one.decisive
    if step is None:
        return []
    words = ["schedlab", "site", "what-if", str(found.sweep.directory)]
    if (found.sample.begin, found.sample.end) != (0, 1):
        words += ["--part", f"{100 * found.sample.begin:g}-{100 * found.sample.end:g}"]
    for change in _briefly(found, one, step):
        words += ["--set", change]
    return [join([*words, "--copies", str(step.runs)])]


def _briefly(found: Capacity, one: KindCapacity, step: CapacityStep) -> Sequence[str]:
    """Return the changes that add nodes, as "N more nodes like" others if that is the same."""
    changes = step.variant.changes
    short = Change(MORE_NODES, one.kind.lines[-1], str(step.nodes)).text
    same = [change.text for change in expanded(found.sweep.site, [short])] == [
        parse_change(one).text for one in changes
    ]
    return [short] if same else changes


def columns(found: Capacity) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of the table of all numbers that were tried."""
    priced = any(one.price is not None for one in found.kinds)
    currency = f" ({found.currency})" if found.currency else ""
    apart = ["as it is, same copies"] if _on_fewer(found) else []
    head = ["nodes like", "nodes added", found.goal.text, *apart, "change", "95 % interval"]
    head += _mean_wait(found, "mean wait")
    head += ["utilisation", f"hours of waiting saved in {found.period}", "hours saved per node"]
    head += [f"cost in 30 days{currency}", f"cost per hour saved{currency}"] if priced else []
    before = found.goal.in_words(found.before)
    first = [AS_IT_IS, "0", before, *([before] if apart else []), "-", "-"]
    first += _mean_wait(found, duration(found.mean_wait))
    rows = [[*first, f"{found.utilisation:.1%}", *["-"] * (4 if priced else 2), ""]]
    for one in found.kinds:
        rows += [_row(found, one, step, priced=priced) for step in one.steps]
    return [*head, ""], rows


def _mean_wait(found: Capacity, text: str) -> list[str]:
    """Return a text of the mean wait, unless the goal is that one."""
    return [] if found.goal.metric == "mean_wait" and not found.goal.kind else [text]


def _on_fewer(found: Capacity) -> bool:
    """Return whether numbers were run on fewer copies than the site as it is, whose metric is another one there."""
    return any(step.runs < found.copies for one in found.kinds for step in one.steps)


def _row(found: Capacity, one: KindCapacity, step: CapacityStep, *, priced: bool) -> list[str]:
    saved, goal = found.saved(step), found.goal
    row = [one.kind.name, f"{step.nodes:,}", goal.in_words(step.value)]
    row += [goal.in_words(step.before)] if _on_fewer(found) else []
    row.append(signed_text(found, step.change))
    row += [
        "-" if step.interval is None else span_text(found, step.interval),
        *_mean_wait(found, duration(step.mean_wait)),
    ]
    row += [f"{step.utilisation:.1%}", f"{saved:,.0f}", f"{saved / step.nodes:,.0f}"]
    if priced:
        cost, each = one.cost(step.nodes), found.cost_of_an_hour(one, step)
        row += ["-" if cost is None else money(cost, ""), "-" if each is None else money(each, "")]
    return [*row, ", ".join(_marks(found, one, step))]


def _marks(found: Capacity, one: KindCapacity, step: CapacityStep) -> Iterator[str]:
    """Yield what is to be known of a row: whether the number is needed, has an effect, and was simulated less often."""
    if step.unchanged:
        yield "no effect"
        return
    if step.nodes == one.needed:
        yield "needed"
    if step.saved > 0 and not step.saves_surely:
        yield "saving may be chance"
    if step.runs < found.copies:
        yield f"simulated {'once' if step.runs == 1 else f'{step.runs} times'}"
