"""How many nodes a site needs, as a table and as all that is printed: sentences, numbers, and how to ask further."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import join
from typing import TypeVar

from schedlab.schedule.columns import in_columns
from schedlab.site.capacity_found import Capacity, CapacityStep, KindCapacity
from schedlab.site.capacity_text import money, signed_text, span_text
from schedlab.site.changes import MORE_NODES, Change, parse_change
from schedlab.site.more_nodes import expanded
from schedlab.site.variants import AS_IT_IS
from schedlab.site.wait_text import changes_in_columns
from schedlab.wording import table

Cell = TypeVar("Cell", str, float)

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
    before = _value(found, found.before)
    first: list[str | float] = [AS_IT_IS, "0", before, *([before] if apart else []), "-", "-"]
    first += _mean_wait(found, found.mean_wait)
    rows = [[*first, f"{found.utilisation:.1%}", *["-"] * (4 if priced else 2), ""]]
    steps = [(one, step) for one in found.kinds for step in one.steps]
    for (one, step), changes in zip(steps, _changes(found, [step for _, step in steps]), strict=True):
        rows.append([*_waits(found, one, step, changes), *_use(found, one, step, priced=priced)])
    return [*head, ""], in_columns(rows, together=(2, 3) if apart else ())


def _value(found: Capacity, value: float) -> str | float:
    """Return a value of the goal's metric: a time as seconds, for those of a column are shown in one unit."""
    return value if found.goal.is_time else found.goal.in_words(value)


def _mean_wait(found: Capacity, value: Cell) -> list[Cell]:
    """Return a cell of the mean wait, unless the goal is that one."""
    return [] if found.goal.metric == "mean_wait" and not found.goal.kind else [value]


def _on_fewer(found: Capacity) -> bool:
    """Return whether numbers were run on fewer copies than the site as it is, whose metric is another one there."""
    return any(step.runs < found.copies for one in found.kinds for step in one.steps)


def _changes(found: Capacity, steps: Sequence[CapacityStep]) -> list[tuple[str, str]]:
    """Return the changes of the metric and the intervals around them; times in one unit."""
    if found.goal.is_time:
        return changes_in_columns([(step.change, step.interval) for step in steps])
    spans = ("-" if step.interval is None else span_text(found, step.interval) for step in steps)
    return [(signed_text(found, step.change), span) for step, span in zip(steps, spans, strict=True)]


def _waits(found: Capacity, one: KindCapacity, step: CapacityStep, changes: Sequence[str]) -> list[str | float]:
    row = [one.kind.name, f"{step.nodes:,}", _value(found, step.value)]
    row += [_value(found, step.before)] if _on_fewer(found) else []
    return [*row, *changes, *_mean_wait(found, step.mean_wait)]


def _use(found: Capacity, one: KindCapacity, step: CapacityStep, *, priced: bool) -> list[str]:
    saved = found.saved(step)
    row = [f"{step.utilisation:.1%}", f"{saved:,.0f}", f"{saved / step.nodes:,.0f}"]
    if priced:
        cost, each = one.cost(step.nodes), found.cost_of_an_hour(one, step)
        row += ["-" if cost is None else money(cost, ""), "-" if each is None else money(each, "")]
    return [*row, ", ".join(_marks(found, one, step))]


def _looks_like(found: Capacity, value: float) -> bool:
    """Return whether a value that misses the goal is the same with the digits of the table."""
    return found.goal.in_words(value) == found.goal.in_words(found.goal.value)


def _marks(found: Capacity, one: KindCapacity, step: CapacityStep) -> Iterator[str]:
    """Yield what is to be known of a row: whether the number is needed, has an effect, and was simulated less often."""
    if step.unchanged:
        yield "no effect"
        return
    if step.nodes == one.needed:
        yield "needed"
    elif found.add is None and not found.goal.reached(step.value) and _looks_like(found, step.value):
        yield "just misses the goal"
    if step.saved > 0 and not step.saves_surely:
        yield "saving may be chance"
    if step.runs < found.copies:
        yield f"simulated {'once' if step.runs == 1 else f'{step.runs} times'}"
