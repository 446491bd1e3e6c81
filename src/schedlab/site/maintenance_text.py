"""When to drain for a maintenance, in sentences and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schedlab.durations import DAY, duration_text
from schedlab.schedule.columns import in_columns
from schedlab.schedule.summary import duration
from schedlab.site.coverage import listed
from schedlab.site.effects import group_name
from schedlab.site.headline import copies_text
from schedlab.site.maintenance import Maintenance, MaintenanceSlot
from schedlab.site.wait_text import changes_in_columns, signed
from schedlab.site.who_pays import payers_texts
from schedlab.wording import count_of, sentence, table

BEST, WORST = 8, 2
"""Begins that tables in the terminal show."""

MOST_PAYERS, NEARLY_ALL = 3, 0.99
"""Groups that pay and that a sentence names, and the share of one group from which on the others are not told."""

MOST_NEAR = 3
"""Begins as good as the best one that a sentence names."""

SHORT = 28 * DAY
"""Seconds of a log below which it is called short."""


def sentences_of(found: Maintenance) -> list[str]:
    """Return the answer in plain sentences."""
    told = [*lead_of(found), *found.standing.details(), *_left_out(found), *_certainty(found)]
    told.append(copies_text(found.copies, "what is called chance"))
    return [*told, *_who_pays(found), *_assumed(found)]


def lead_of(found: Maintenance) -> list[str]:
    """Return the sentences that the answer begins with: when to drain, what that costs, and how sure it is."""
    best, worst = found.best, found.slots[-1]
    told = _choice(found)
    if found.left_out.interrupted:
        done, every = _counts(found)
        told = f"of the {done:,} of {count_of(every, 'begin')} that were simulated before the interruption, {told}"
    idle = f"{_hours(best.drained)} idle before it, beyond the {found.closed:,.0f} of the maintenance itself"
    parts = [told, *_how_to_drain(found), idle, *_moved(best)]
    if len(found.slots) > 1:
        times = worst.drained / best.drained if best.drained >= 1 else 0.0
        size = f"{times:.1f} times as many" if times >= 1.05 else _hours(worst.drained)
        parts.append(f"the worst begin, {worst.name}, lets {size} idle and moves {worst.mean('moved'):,.0f}")
    parts += _other_ranking(found)
    parts.append(_chance(found))
    return found.standing.lead(parts)


def _choice(found: Maintenance) -> str:
    """Say for when to drain or, if that is no drain, or the log cannot tell days, that first."""
    best, several = found.best, len(found.slots) > 1
    alike = found.chance.least is not None and len(_near_ones(found)) == len(found.slots) - 1
    cheapest = f"no begin is surely better than another; the cheapest in this log is {best.name}"
    but = []
    if found.whole and (running := found.still_running):
        them = f"{count_of(running, 'job')} would still run then"
        but.append(f"with a notice of {duration(found.plan.told)} it is no drain, as {them}")
    if several and not found.tells_days:
        but.append(f"a log of {duration(found.span)} cannot tell for which day to drain")
    if not but:
        return cheapest if alike else f"drain for {best.name}{', as fewest core-hours idle then' if several else ''}"
    begin = cheapest if alike else f"fewest core-hours idle before {best.name}" if several else f"{best.name} was asked"
    return f"{begin}, but {', and '.join(but)}"


def _how_to_drain(found: Maintenance) -> Iterator[str]:
    """Say how long before jobs have to know of a maintenance so that none still runs, and whether this log can tell."""
    if not found.whole or not found.still_running:
        return
    if found.longest <= found.plan.told:  # such jobs run beyond their limits
        yield "end the jobs that still run"
        return
    told = f"jobs may run for {duration(found.longest)}: announce it as long before (--notice "
    told += f"{duration_text(found.longest)}), or end those that still run"
    short = found.span < found.longest + found.plan.seconds
    yield f"{told}; to tell what that costs, this log is too short" if short else told


def _other_ranking(found: Maintenance) -> Iterator[str]:
    """Say which begin makes jobs wait least, if that is another one, and when to take it."""
    best, least = found.best, min(found.slots, key=lambda one: one.mean("moved_hours"))
    if least is not best:
        few, many = least.mean("moved_hours"), best.mean("moved_hours")
        yield (
            f"if waits matter more to you than idle nodes, take {least.name}: that adds {few:,.0f} hours of waiting "
            f"instead of {many:,.0f}, but {_hours(least.drained)} idle"
        )


def _counts(found: Maintenance) -> tuple[int, int]:
    done = sum(len(one.costs) for one in found.slots)
    return done, done + found.left_out.interrupted + len(found.failures)


def _moved(slot: MaintenanceSlot) -> list[str]:
    number = round(slot.mean("moved"))
    if not number:
        return ["no job starts later"]
    later = f"{count_of(number, 'job')} start{'s' * (number == 1)} later, by {duration(slot.delay)} on average"
    earlier = round(slot.mean("earlier"))
    if not earlier:
        return [later]
    return [f"{later}, and {earlier:,} earlier (the mean wait changes by {signed(slot.mean('mean_wait'))})"]


def _chance(found: Maintenance) -> str:
    single = max(len(one.costs) for one in found.slots) == 1
    why = "from a single week" if single else "as not all begins were simulated in the same weeks"
    if found.chance.least is None:
        return f"how much of that is chance cannot be told{'' if single else ','} {why}"
    below = f"differences below {_hours(found.chance.least)} are chance"
    if found.chance.weeks is None:
        return f"{below} of some seconds; how much is chance between weeks cannot be told{'' if single else ','} {why}"
    return f"{below} between weeks{'' if found.chance.copies is None else ' and copies'}"


def _alike(found: Maintenance) -> str:
    """Say which begins are as good, those first that make jobs wait least."""
    near = sorted(_near_ones(found), key=lambda one: one.mean("moved_hours"))
    named = listed([f"{one.name} ({one.mean('moved_hours'):,.0f} hours)" for one in near], MOST_NEAR)
    best = f"{found.best.name}, which adds {found.best.mean('moved_hours'):,.0f} hours of waiting"
    return f"{len(near):,} of the {len(found.slots) - 1:,} other begins cannot be told from {best}: {named}."


def _near_ones(found: Maintenance) -> list[MaintenanceSlot]:
    """Return the other begins that differ from the best by no more than chance."""
    return [one for one in found.slots[1:] if one.drained - found.best.drained < (found.chance.least or 0.0)]


def _left_out(found: Maintenance) -> Iterator[str]:
    left = found.left_out
    if left.interrupted:
        what = f"{count_of(left.interrupted, 'begin')} {'was' if left.interrupted == 1 else 'were'} not simulated"
        yield f"{what}: ask again, and only the missing ones are run."
    if left.shortened:
        yield (
            f"The log is short ({duration(found.span)}): the maintenance is announced {duration(found.plan.told)} "
            "before its begin, and not a week. Give the notice that users will have (--notice)."
        )
    if left.too_early:
        they, are = ("it", "is") if left.too_early == 1 else ("they", "are")
        yield (
            f"{count_of(left.too_early, 'begin')} of the window {are} left out: when {they} would be announced "
            f"({duration(found.plan.told)} before), the log had not begun."
        )


def _certainty(found: Maintenance) -> Iterator[str]:
    best, weeks = found.best, len(found.best.costs)
    if weeks > 1:
        low, high = best.range
        dates = listed([one.begin.name for one in best.costs])
        yield f"In {weeks:,} weeks of the log ({dates}), {low:,.0f} to {high:,.0f} core-hours idled before it."
    if found.chance.least is not None and 0 < len(_near_ones(found)) < len(found.slots) - 1:
        yield _alike(found)
    if best.drained >= 1:
        yield (
            f"It is announced {duration(found.plan.told)} before. From then on no job starts whose time limit reaches "
            "into it, so that nodes idle. With a shorter notice fewer do, and more jobs still run when it begins "
            "(--notice; --at asks for this begin alone)."
        )
    if found.still_running:
        where = "" if found.whole else ", on any nodes"
        yield (
            f"Up to {count_of(found.still_running, 'job')} that began before the announcement would still run when it "
            f"begins{where}. The more jobs still run, the fewer core-hours idle before: a begin may be the best for "
            "that alone."
        )
    if found.span < SHORT:
        yield f"The log covers {duration(found.span)}: one event in it can decide which begin is the best."
    for one in found.failures:
        yield f"{one.variant.name} could not be simulated: {one.reason}."


def _who_pays(found: Maintenance) -> Iterator[str]:
    begin = found.best.costs[0].begin.name
    payers, *unjudged = payers_texts(found.effects)
    yield f"Told as what-if does, with the begin {begin}, {payers}."
    yield from map(sentence, unjudged)
    if found.refusals is not None:
        yield from found.refusals.sentences(f"With the begin {begin},")
    for kind in ("user", "account", "partition"):
        groups = found.payers_of(kind)
        if len(groups) > 1 and groups[0].share < NEARLY_ALL:
            told = listed([f"{group_name(kind, one.group)} has {one.share:.0%}" for one in groups[:MOST_PAYERS]])
            yield f"Of the hours by which jobs start later with the begin {found.best.name}, {told}."


def _assumed(found: Maintenance) -> Iterator[str]:
    begins = sorted((one.begin for slot in found.slots for one in slot.costs), key=lambda one: one.second)
    yield (
        f"The time from {begins[0].name} to {begins[-1].name} of the log stands for the time to come. Users submit "
        "what and when they did, with the time limits that they gave, although they know of the maintenance. Jobs that "
        "ask for less than what is left until it may run."
    )
    yield "Of late begins, fewer jobs start later only because the log has fewer jobs after them."
    yield (
        "Times of day are UTC."
        if found.dated
        else "The log has no dates: days and hours count from its second 0, and no time of day and no day of the week "
        "is known."
    )


def maintenance_text(found: Maintenance) -> str:
    """Return the answer as text: sentences, and a table of the best and the worst begins."""
    shown = found.slots if len(found.slots) <= BEST + WORST else (*found.slots[:BEST], *found.slots[-WORST:])
    left = len(found.slots) - len(shown)
    note = [f"{left:,} begins between the best {BEST} and the worst {WORST} are not shown."] if left else []
    weeks = any(len(one.costs) > 1 for one in found.slots)
    head = [one for one in HEAD if weeks or one != RANGE]
    changes = wait_changes(shown)
    rows = [_row(one, told, weeks=weeks) for one, told in zip(shown, changes, strict=True)]
    return "\n".join([*sentences_of(found), "", table(head, in_columns(rows)), *note])


def wait_changes(slots: Sequence[MaintenanceSlot]) -> list[tuple[str, str]]:
    """Return the changes of mean and 95th percentile of the waits, as texts of two columns."""
    columns = [
        [change for change, _ in changes_in_columns([(slot.mean(name), None) for slot in slots])]
        for name in ("mean_wait", "p95_wait")
    ]
    return [*zip(*columns, strict=True)]


RANGE = "fewest to most"
HEAD = (
    "begin",
    "core-hours idle before",
    RANGE,
    "core-hours put off",
    "jobs later",
    "later, mean",
    "job hours later",
    "change of mean wait",
    "change of p95 wait",
    "still running",
)


def _row(slot: MaintenanceSlot, changes: tuple[str, str], *, weeks: bool) -> list[str | float]:
    numbers: list[str | float] = [f"{slot.drained:,.0f}"]
    numbers += [" to ".join(f"{value:,.0f}" for value in slot.range)] if weeks else []
    numbers += [f"{slot.mean('put_off'):,.0f}", f"{slot.mean('moved'):,.0f}", slot.delay]
    numbers += [f"{slot.mean('moved_hours'):,.0f}", *changes]
    return [slot.name, *numbers, f"{slot.mean('outlasting'):,.0f}"]


def _hours(core_hours: float) -> str:
    return f"{core_hours:,.0f} core-hours"
