"""How many nodes a site needs, in sentences and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedlab.schedule.summary import duration
from schedlab.site.capacity_found import SLACK, Capacity, CapacityStep, KindCapacity, not_monotone
from schedlab.site.capacity_search import MORE_WORK
from schedlab.site.coverage import listed
from schedlab.site.headline import copies_text
from schedlab.site.intervals import Interval
from schedlab.site.log_end import MOSTLY
from schedlab.site.unusable import TELLING
from schedlab.site.wait_text import signed_interval
from schedlab.site.who_pays import payers_texts, winners_text
from schedlab.wording import sentence

ALL = 0.95
"""Share of all waiting from which on nodes that these jobs cannot use save nothing by themselves."""

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
            f"What nodes save is told of {period_text(found)}, not of a month or a year: a log of less than four weeks "
            "is too short for that."
        )
    if any(one.price is not None for one in found.kinds):
        told.append(
            f"The cost per hour saved is that of the nodes in {duration(found.until)}, from the first submission until "
            "the last job starts, over the hours saved in that time."
        )
    told += [sentence for one in found.kinds for sentence in _mostly_drained(found, one)]
    told += [sentence for one in found.kinds if one.needed is not None for sentence in _who(one)]
    if found.best is not None and found.best.needed is None:
        told += [
            *_who(found.best),
            "What jobs wait for, and which limits cost most, is what schedlab site explain tells.",
        ]
    return told


def lead_of(found: Capacity) -> list[str]:
    """Return the sentences that the answer begins with."""
    if found.add is not None and found.kinds:
        told = _compared(found)
    elif len(found.kinds) > 1 and all(one.needed is None for one in found.kinds):
        told = _none_reached(found)
    else:
        others = [one for one in found.kinds[1:] if one.needed is None]
        told = [*_answer(found), *(clause for one in others for clause in _not_reached(found, one))]
    return found.grounds.standing.lead([*told, *filter(None, [*found.grounds.deciding, found.grounds.left_out_text])])


def _who(one: KindCapacity) -> Iterator[str]:
    """Say who gains and who pays."""
    if one.decisive is None or one.decisive.unchanged:
        return
    step = one.decisive
    first, *others = [text.removesuffix(".") for text in (*winners_text(step.effects), *payers_texts(step.effects))]
    name = f"{step.nodes:,} more like {one.kind.name}"
    yield f"With {name}, {first[:1].lower()}{first[1:]}."
    yield from map(sentence, others)
    yield from step.far.sentences(name)


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
    to = f"the {goal.text} from {before} to {goal.in_words(step.value)}"
    chance = f"on this log, {_number(best)} bring {to}; whether they really change it cannot be told"
    return [
        chance if step.may_be_chance else f"{_number(best)} would bring {to}",
        f"the goal is {goal.in_words(goal.value)}{sure}",
        *([f"that costs {cost}"] if (cost := _cost(found, best)) else []),
        *_cannot_use(best),
        *(_so_would(found, one) for one in found.kinds[1:] if one.needed is not None),
    ]


def _compared(found: Capacity) -> list[str]:
    """Say what the same number of nodes of each kind brings and costs, the kind first that brings most."""
    goal, best, others = found.goal, found.kinds[0], found.kinds[1:]
    step = best.decisive
    if step is None or (step.unchanged and not others):
        return [_how_near(found, best)]
    if step.unchanged:
        return [f"{step.nodes:,} more nodes of none of {len(found.kinds):,} kinds let a job start earlier"]
    sure = f" ({_sure(found, step)})" if step.interval or step.copies else ""
    nodes = f"{step.nodes:,} more nodes like {best.kind.name}"
    to = f"from {goal.in_words(found.before)} to {goal.in_words(step.value)}{sure}"
    if step.may_be_chance:
        most = f", the largest change of {len(found.kinds):,} kinds" if others else ""
        told = [f"whether {nodes} change the {goal.text} cannot be told from this log", f"here it goes {to}{most}"]
    else:
        most = f", those of {len(found.kinds):,} kinds that help most here" if others else ""
        told = [f"{nodes}{most}, bring the {goal.text} {to}"]
    each = found.cost_of_an_hour(best, step) if step.saves_surely else None
    price = "" if each is None else f"; {money(each, found.currency)} per hour of waiting saved"
    return [
        *told,
        *([f"they cost {cost}{price}"] if (cost := _cost(found, best)) else []),
        *_cannot_use(best),
        *(_how_near(found, one) for one in others),
        *_alike(best, others),
    ]


def _alike(best: KindCapacity, others: Sequence[KindCapacity]) -> list[str]:
    """Say which kinds this log cannot tell from the best one: of those whose nodes jobs that wait can use."""
    found = [
        one.kind.name
        for one in others
        if one.unusable.share < ALL and one.instead is not None and one.instead.interval is not None
        if not one.instead.excludes_none
    ]
    if not found:
        return []
    return [f"this log cannot tell which help more, nodes like {best.kind.name} or those like {listed(found)}"]


def _so_would(found: Capacity, one: KindCapacity) -> str:
    cost = _cost(found, one)
    return f"so would {_number(one)}{f', for {cost}' if cost else ''}"


def _sure(found: Capacity, step: CapacityStep) -> str:
    """Say how sure the change of the metric is."""
    parts = [] if step.interval is None else [f"95 % interval of the change: {span_text(found, step.interval)}"]
    parts += [] if step.copies is None else [f"copies: {span_text(found, step.copies)}"]
    return "; ".join(parts)


def _number(one: KindCapacity) -> str:
    number = _decided(one)
    return f"{number:,} more {'node' if number == 1 else 'nodes'} like {one.kind.name}"


def _decided(one: KindCapacity) -> int:
    return 0 if one.decisive is None else one.decisive.nodes


def _cost(found: Capacity, one: KindCapacity) -> str:
    """Return what the nodes that decide cost; empty: they have no price."""
    cost = one.cost(_decided(one))
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
    chance = bool(moved) and all(one.may_be_chance for one in moved)
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
    if one.unusable.share >= ALL:
        return f"{nodes} help hardly anybody{_price(found, one, step)}: {why}"
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

    Of all numbers that were tried, those count that surely save waiting: the table has smaller costs by chance.
    """
    if any(one.needed is not None for one in found.kinds):
        return
    costs = [
        (cost, one, step)
        for one in found.kinds
        for step in one.steps
        if (cost := found.cost_of_an_hour(one, step)) is not None
    ]
    sure = [each for each in costs if each[2].saves_surely]
    if len(costs) > 1 and not sure:
        yield "Which nodes save an hour of waiting at the least cost cannot be told: all that they save may be chance."
    if len(costs) > 1 and sure:
        cost, one, step = min(sure, key=lambda each: each[0])
        chance = " Smaller costs in the table may be chance." if min(each[0] for each in costs) < cost else ""
        yield (
            f"Of the numbers that surely save waiting, {step.nodes:,} more like {one.kind.name} save an hour of it at "
            f"the least cost: {money(cost, found.currency)}.{chance}"
        )


def _perhaps(step: CapacityStep) -> str:
    """Say so if the change may be chance."""
    return ", a change that this log cannot tell from none" if step.may_be_chance else ""


def _why(one: KindCapacity, step: CapacityStep) -> list[str]:
    """Say which waiting such nodes cannot shorten, as far as that is known."""
    limits = f"{step.at_limits:.0%} of the waiting that is left is at limits of accounts, QOS or licences"
    return [*_cannot_use(one), *([limits] if step.at_limits >= TELLING else [])]


def _cannot_use(one: KindCapacity) -> list[str]:
    return [one.unusable.text("them")] if one.unusable.share >= TELLING else []


def span_text(found: Capacity, changes: Interval) -> str:
    """Return the smallest and the largest of some changes as text."""
    return signed_interval(changes) if found.goal.is_time else " to ".join(signed_text(found, one) for one in changes)


def signed_text(found: Capacity, value: float) -> str:
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
            f"{_number(one)} {saves} {saved:,.0f} hours of waiting in {period_text(found)}, "
            f"{saved / step.nodes:,.0f} per node{each}."
        )
    if step.may_be_chance:
        what = f"{_number(one)} really {'changes' if step.nodes == 1 else 'change'} the {found.goal.text}"
        yield f"Whether {what} cannot be told from this log: the interval includes 0."
    if one.with_more_work is not None:
        holds = "the goal still holds" if found.goal.reached(one.with_more_work) else "the goal is missed"
        yield (
            f"Users submit more where waits are short. If {_number(one)} attracted {MORE_WORK - 1:.0%} more work, the "
            f"{found.goal.text} would be {found.goal.in_words(one.with_more_work)}: {holds}."
        )


def period_text(found: Capacity) -> str:
    """Return of which time hours of waiting are told."""
    if found.extrapolates:
        return "30 days"
    if found.until <= (1 + SLACK) * found.span:
        return f"the {duration(found.span)} of the log"
    return f"the {duration(found.until)} until the last job of the log starts"


def _mostly_drained(found: Capacity, one: KindCapacity) -> Iterator[str]:
    """Say how little of what nodes save lies in the time of the log, while other jobs still come, and its price."""
    step = one.decisive
    if step is None or step.saved <= 0 or step.saved_in_log >= MOSTLY * step.saved:
        return
    cost = found.cost_of_an_hour(one, step, in_log=True)
    alone = ". Of these alone, with the nodes until then, one costs "
    price = "" if cost is None else f"{alone}{money(cost, found.currency)}"
    yield (
        f"Of the {step.saved:,.0f} hours that {step.nodes:,} more like {one.kind.name} save, "
        f"{step.saved_in_log:,.0f} lie before the last submission ({duration(found.span)}), the others while the log "
        f"only drains{price}."
    )


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
