"""How many nodes a site needs, in sentences and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import join

from schedlab.schedule.summary import duration
from schedlab.site.capacity import MORE_WORK
from schedlab.site.capacity_found import Capacity, CapacityStep, KindCapacity, not_monotone
from schedlab.site.changes import MORE_NODES, Change, parse_change
from schedlab.site.headline import copies_text
from schedlab.site.intervals import Interval
from schedlab.site.log_end import log_end_clause
from schedlab.site.more_nodes import expanded
from schedlab.site.unusable import TELLING
from schedlab.site.variants import AS_IT_IS
from schedlab.site.wait_text import signed_interval
from schedlab.site.who_pays import payers_text, winners_text
from schedlab.wording import sentence, table

AGAIN = 8
"""Kinds whose changes are printed."""

HALFWAY = 0.5
"""Share of the way to the goal from which on more nodes than were tried are proposed."""


def sentences_of(found: Capacity) -> list[str]:
    """Return the answer in sentences: what is needed, what it costs, how sure that is, and what it does not say."""
    told = [*lead_of(found), *found.grounds.sentences()]
    told += [copies_text(found.copies)] if found.kinds else []
    if found.tried_once:
        told.append("That holds for the numbers of nodes that decide; the others were simulated on fewer copies.")
    told += _cheapest(found)
    told += [sentence for one in found.kinds if one.needed is not None for sentence in _of_needed(found, one)]
    told += [sentence for one in found.kinds for sentence in _cautions(found, one)]
    if found.kinds and not found.extrapolates:
        told.append(
            f"What nodes save is told of the {duration(found.span)} of the log, not of a month or a year: a log of "
            "less than four weeks is too short for that."
        )
    if any(one.price is not None for one in found.kinds):
        told.append(
            f"The cost per hour saved is that of the {duration(found.span)} of the log over the hours saved in it."
        )
    told += [sentence for one in found.kinds if one.needed is not None for sentence in _who(one)]
    if found.best is not None and found.best.needed is None:
        told += [
            *_who(found.best),
            "What jobs wait for, and which limits cost most, is what schedlab site explain tells.",
        ]
    return told


def lead_of(found: Capacity) -> list[str]:
    """Return the sentences that the answer begins with."""
    if len(found.kinds) > 1 and all(one.needed is None for one in found.kinds):
        told = _none_reached(found)
    else:
        others = [one for one in found.kinds[1:] if one.needed is None]
        told = [*_answer(found), *(clause for one in others for clause in _not_reached(found, one))]
    more = (log_end_clause(found.grounds.after_the_log), found.grounds.left_out_text)
    return found.grounds.standing.lead([*told, *filter(None, more)])


def _who(one: KindCapacity) -> Iterator[str]:
    """Say who gains and who pays."""
    if one.decisive is None or one.decisive.unchanged:
        return
    step = one.decisive
    first, *others = [text.removesuffix(".") for text in (*winners_text(step.effects), payers_text(step.effects))]
    yield f"With {step.nodes:,} more like {one.kind.name}, {first[:1].lower()}{first[1:]}."
    yield from map(sentence, others)


def _answer(found: Capacity) -> list[str]:
    goal, best = found.goal, found.best
    before = goal.in_words(found.before)
    if best is None:
        return [f"no more nodes are needed: the {goal.text} is {before} as it is (goal: {goal.in_words(goal.value)})"]
    if best.needed is None:
        return _not_reached(found, best)
    step = best.decisive
    assert step is not None
    sure = f" ({_sure(found, step)})" if step.interval or step.copies else ""
    return [
        f"{_number(best)} would bring the {goal.text} from {before} to {goal.in_words(step.value)}",
        f"the goal is {goal.in_words(goal.value)}{sure}",
        *([f"that costs {cost}"] if (cost := _cost(found, best)) else []),
        *_cannot_use(best),
        *(_so_would(found, one) for one in found.kinds[1:] if one.needed is not None),
    ]


def _so_would(found: Capacity, one: KindCapacity) -> str:
    cost = _cost(found, one)
    return f"so would {_number(one)}{f', for {cost}' if cost else ''}"


def _sure(found: Capacity, step: CapacityStep) -> str:
    """Say how sure the change of the metric is."""
    parts = [] if step.interval is None else [f"95 % interval of the change: {_span(found, step.interval)}"]
    parts += [] if step.copies is None else [f"copies: {_span(found, step.copies)}"]
    return "; ".join(parts)


def _number(one: KindCapacity) -> str:
    number = one.needed or 0
    return f"{number:,} more {'node' if number == 1 else 'nodes'} like {one.kind.name}"


def _cost(found: Capacity, one: KindCapacity) -> str:
    """Return what the needed nodes cost; empty: they have no price."""
    cost = one.cost(one.needed or 0)
    if cost is None:
        return ""
    return f"{money(cost, found.currency)} in 30 days at {money(one.price or 0, found.currency)} per node-hour"


def _price(found: Capacity, one: KindCapacity, step: CapacityStep) -> str:
    """Return what nodes cost, behind a comma."""
    cost = one.cost(step.nodes)
    return "" if cost is None else f", for {money(cost, found.currency)} in 30 days"


def money(amount: float, currency: str) -> str:
    """Return an amount as text.

    Examples
    --------
    >>> money(8640, "EUR"), money(0.9, "")
    ('8,640 EUR', '0.90')
    """
    return f"{amount:,.0f} {currency}".strip() if amount >= 100 else f"{amount:,.2f} {currency}".strip()


def _not_reached(found: Capacity, one: KindCapacity) -> list[str]:
    step, goal = one.decisive, found.goal
    if step is None:
        return [f"nodes like {one.kind.name} could not be tried: {one.failure}"]
    nodes = f"{step.nodes:,} more {'node' if step.nodes == 1 else 'nodes'} like {one.kind.name}"
    if step.unchanged:
        why = " and ".join(_why(one, step)) or "no job that waits starts earlier"
        return [f"{nodes} change{'s' * (step.nodes == 1)} nothing: {why}"]
    misses = "does not reach" if step.nodes == 1 else "do not reach"
    cost = _price(found, one, step)
    told = f"{nodes}{cost}{',' if cost else ''} {misses} the goal of {goal.in_words(goal.value)}"
    to = f"the {goal.text} goes from {goal.in_words(found.before)} to {goal.in_words(step.value)}{_perhaps(step)}"
    return [told, to, *_why(one, step), *(_ask_for_more(found) if one is found.best else [])]


def _none_reached(found: Capacity) -> list[str]:
    """Say that no kind reaches the goal, how near each comes and at what cost, the nearest first."""
    goal, kinds = found.goal, found.kinds
    tried = [step for one in kinds if (step := one.decisive) is not None]
    most = max((step.nodes for step in tried), default=0)
    text = f"with up to {most:,} more nodes, none of {len(kinds):,} kinds brings the {goal.text}, "
    text += f"{goal.in_words(found.before)} as it is, to the goal of {goal.in_words(goal.value)}"
    moved = [step for step in tried if not step.unchanged]
    chance = bool(moved) and all(map(_may_be_chance, moved))
    told = ["this log cannot tell any of these changes from none (95 % intervals)"] if chance else []
    return [text, *(_how_near(found, one) for one in kinds), *told, *_ask_for_more(found)]


def _how_near(found: Capacity, one: KindCapacity) -> str:
    """Say to what value the most nodes of a kind bring the metric, what they cost, and why that is not more."""
    step = one.decisive
    if step is None:
        return f"nodes like {one.kind.name} could not be tried ({one.failure})"
    why = " and ".join(_why(one, step))
    nodes = f"{step.nodes:,} like {one.kind.name}"
    if step.unchanged:
        return f"{nodes} change nothing: {why or 'no job that waits starts earlier'}"
    to = found.goal.in_words(step.value)
    return f"{nodes} bring it to {to}{_price(found, one, step)}{f' ({why})' if why else ''}"


def _ask_for_more(found: Capacity) -> list[str]:
    """Propose to try more nodes, if the kind that comes nearest is more than halfway, and comes nearer with each."""
    best, goal = found.best, found.goal
    step = None if best is None else best.decisive
    if best is None or step is None or step.nodes < found.most or step.change == 0:
        return []
    way = (step.value - found.before) / (goal.value - found.before)
    return [f"{2 * found.most:,} are tried with --most {2 * found.most}"] if way >= HALFWAY else []


def _cheapest(found: Capacity) -> Iterator[str]:
    """Say which nodes save an hour of waiting at the least cost, if kinds have prices, and none reaches the goal.

    Kinds whose change may be chance do not count.
    """
    if any(one.needed is not None for one in found.kinds):
        return
    costs = [
        (cost, one)
        for one in found.kinds
        if (step := one.decisive) is not None
        and not _may_be_chance(step)
        and (cost := found.cost_of_an_hour(one, step)) is not None
    ]
    if len(costs) > 1:
        cost, one = min(costs, key=lambda each: each[0])
        yield f"An hour of waiting saved costs least with nodes like {one.kind.name}: {money(cost, found.currency)}."


def _may_be_chance(step: CapacityStep) -> bool:
    return step.interval is not None and step.interval[0] <= 0 <= step.interval[1]


def _perhaps(step: CapacityStep) -> str:
    """Say so if the change may be chance."""
    return ", a change that this log cannot tell from none" if _may_be_chance(step) else ""


def _why(one: KindCapacity, step: CapacityStep) -> list[str]:
    """Say which waiting such nodes cannot shorten, as far as that is known."""
    limits = f"{step.at_limits:.0%} of the waiting that is left is at limits of accounts, QOS or licences"
    return [*_cannot_use(one), *([limits] if step.at_limits >= TELLING else [])]


def _cannot_use(one: KindCapacity) -> list[str]:
    return [one.unusable.text("them")] if one.unusable.share >= TELLING else []


def _span(found: Capacity, changes: Interval) -> str:
    """Return the smallest and the largest of some changes as text."""
    return signed_interval(changes) if found.goal.is_time else " to ".join(_signed(found, one) for one in changes)


def _signed(found: Capacity, value: float) -> str:
    text = found.goal.in_words(abs(value))
    return f"{'-' if value < 0 else '+'}{text}"


def _of_needed(found: Capacity, one: KindCapacity) -> Iterator[str]:
    """Say what the needed nodes buy, and what happens if shorter waits bring more work."""
    step = one.decisive
    assert step is not None
    saved, price = found.saved(step), found.cost_of_an_hour(one, step)
    if saved > 0:
        saves = "saves" if step.nodes == 1 else "save"
        each = "" if price is None else f", {money(price, found.currency)} per hour of waiting saved"
        yield (
            f"{_number(one)} {saves} {saved:,.0f} hours of waiting in {_period(found)}, {saved / step.nodes:,.0f} per "
            f"node{each}."
        )
    if _may_be_chance(step):
        what = f"{_number(one)} really {'changes' if step.nodes == 1 else 'change'} the {found.goal.text}"
        yield f"Whether {what} cannot be told from this log: the interval includes 0."
    if one.with_more_work is not None:
        holds = "the goal still holds" if found.goal.reached(one.with_more_work) else "the goal is missed"
        yield (
            f"Users submit more where waits are short. If {_number(one)} attracted {MORE_WORK - 1:.0%} more work, the "
            f"{found.goal.text} would be {found.goal.in_words(one.with_more_work)}: {holds}."
        )


def _period(found: Capacity) -> str:
    """Return of which time hours of waiting are told."""
    return "30 days" if found.extrapolates else f"the {duration(found.span)} of the log"


def _cautions(found: Capacity, one: KindCapacity) -> Iterator[str]:
    if one.failure and one.steps:
        yield f"Further nodes like {one.kind.name} could not be tried: {one.failure}."
    if (worse := not_monotone(found.goal, one)) is not None:
        fewer, more = worse
        so = "" if one.needed is None else " Fewer nodes than were found might do."
        yield (
            f"More is not always better: with {more.nodes:,} more nodes like {one.kind.name} the {found.goal.text} is "
            f"{found.goal.in_words(more.value)}, with {fewer.nodes:,} it is {found.goal.in_words(fewer.value)}. Chance "
            f"has a part in the numbers.{so}"
        )


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
    head += ["utilisation", f"hours of waiting saved in {_period(found)}", "hours saved per node"]
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
    row.append(_signed(found, step.change))
    row += ["-" if step.interval is None else _span(found, step.interval), *_mean_wait(found, duration(step.mean_wait))]
    row += [f"{step.utilisation:.1%}", f"{saved:,.0f}", f"{saved / step.nodes:,.0f}"]
    if priced:
        cost, each = one.cost(step.nodes), found.cost_of_an_hour(one, step)
        row += ["-" if cost is None else money(cost, ""), "-" if each is None else money(each, "")]
    mark = "needed" if step.nodes == one.needed else "no effect" if step.unchanged else ""
    mark = mark or (
        f"simulated {'once' if step.runs == 1 else f'{step.runs} times'}" if step.runs < found.copies else ""
    )
    return [*row, mark]
