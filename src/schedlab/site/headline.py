"""An answer about a site in sentences: what would change, how sure that is, and who pays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from schedlab.campaign.results.statistics import quantity
from schedlab.site.copies import USUAL
from schedlab.site.coverage import listed
from schedlab.site.effects import Effect
from schedlab.site.grounds import Grounds
from schedlab.site.intervals import Interval
from schedlab.site.variants import AS_IT_IS
from schedlab.site.wait_text import between, signed, wait_text
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.site.ranking import RankedVariant, VariantRanking

MOST_PAYERS, MOST_WINNERS = 3, 8
"""Groups that sentences name."""

LARGE = 0.2
"""Share of a user's mean wait from which on a change is told although it may be chance."""

EACH = 4
"""Variants up to which the first sentence speaks of each; of more, it speaks of the best and counts the others."""

LITTLE = 0.05
"""Share of the mean wait up to which an interval that contains 0 says that a change is small, if there is any."""


def sentences_of(ranking: VariantRanking) -> list[str]:
    """Return an answer in sentences; the first one has all that somebody must know who reads no further."""
    best, grounds = ranking.best, ranking.grounds
    several = len(ranking.variants) > 1
    told = [first_sentence(grounds, _change(ranking), _payers(best), best.variant.name * several), *grounds.sentences()]
    told += [copies_text(ranking.copies), *(ranking.less_work()), *winners_text(best.effects)]
    told += open_text(best.effects)
    told += _of_others(ranking)
    told += [f"{sentence[:1].upper()}{sentence[1:]}." for one in ranking.ranked for sentence in one.lost_text]
    told += [f"{policy}." for policy in dict.fromkeys(one.policy_text for one in ranking.ranked) if policy]
    if several and best.same_work and ranking.ranked[0] is best and best.difference[2] == "wins":
        told.append(
            f"It is the best of {len(ranking.variants):,} on the jobs that it was chosen on, so some of its advantage "
            "is chance; schedlab site search evaluates the choice on held-out jobs."
        )
    return [*told, *(f"{one.variant.name} could not be run: {one.reason}." for one in ranking.failures)]


def first_sentence(grounds: Grounds, change: str, payers: str, best: str = "") -> str:
    """Return the sentence that an answer begins with: how good the twin is, what changes, what decides, who pays, what
    is missing.

    `best` names the variant of which the last two are told, if there are several.
    """
    told = [*([payers] if payers else []), grounds.left_out_text]
    rest = [f"under {best}, {', and '.join(told)}"] if best else told
    return f"According to {grounds.standing.clause}, {'; '.join([change, *grounds.deciding, *rest])}."


def copies_text(copies: int, where: str = "the intervals") -> str:
    """Say what copies of the log show, or what a single one cannot; `where` an answer has what they show."""
    if copies > 1:
        return (
            f"Both sides were simulated {copies} times, with jobs and passes that come some seconds earlier or later: "
            f"what such seconds, which no record tells, change by themselves is in {where}."
        )
    return (
        "Both sides were simulated once. Waits already change if jobs or passes come some seconds earlier or later, "
        f"which is not in {where}: a small effect may look sure and be chance (--copies {USUAL} tells)."
    )


def _change(ranking: VariantRanking) -> str:
    """Say what the variant does or, of several, which one is the best, and what each does."""
    best, number = ranking.best, len(ranking.variants)
    if number == 1 and ranking.metric == "mean_wait":
        return change_text(best.variant.name, _every(best), unchanged=best.unchanged)
    what = ranking.metric.replace("_", " ")
    as_it_is = next(one for one in ranking.ranked if one.variant.name == AS_IT_IS)
    before, today = as_it_is.value, as_it_is.mean_wait
    if not best.same_work:
        head = f"none of {count_of(number, 'variant')} does all the work that the site as it is does"
    elif ranking.ranked[0].variant.name == AS_IT_IS:
        head = f"none of {count_of(number, 'variant')} has a better {what} than the site as it is"
        head += f" ({quantity(ranking.metric, before)})"
    elif ranking.metric == "mean_wait" and not any(one.difference[2] == "wins" for one in ranking.ranked):
        head = f"none of {count_of(number, 'variant')} surely has a better {what} than the site as it is; the best is "
        head += best.variant.name
    else:
        told = f"{quantity(ranking.metric, best.value)}, {quantity(ranking.metric, before)} as it is"
        told = "" if ranking.metric == "mean_wait" else f" ({told})"
        head = f"the best of {count_of(number, 'variant')} by {what}{told} is {best.variant.name}"
    variants = [one for one in ranking.ranked if one.variant.name != AS_IT_IS]
    named = head.endswith(best.variant.name)
    if number <= EACH:
        texts = [_of_variant(one, today, "it" if named and one is best else "") for one in variants]
        return f"{head}: {'; '.join(texts)}"
    return f"{head}: {_of_variant(best, today, 'it' if named else '')}; {_counted(variants, best)}"


def _of_variant(one: RankedVariant, today: float, name: str = "") -> str:
    """Say what a variant does to the mean wait, beside that of today, and whether it does less work."""
    name = name or one.variant.name
    if one.same_work:
        return change_text(name, _every(one), unchanged=one.unchanged)
    return (
        f"{name} does {one.undone_text} less work than today{_whose_work(one)}, and the mean wait goes from "
        f"{wait_text(today)} to {wait_text(one.mean_wait)}; beside today's rules without that work, "
        + change_text("it", _every(one), unchanged=one.unchanged, advice=False)
    )


def _whose_work(one: RankedVariant) -> str:
    """Say how many jobs are killed or left out, and whose most of the work is, in brackets."""
    every = one.every
    if every is None or every.same_work:
        return ""
    numbers = ((every.killed, "killed"), (every.left_out, "left out"))
    parts = [f"{count_of(number, 'job')} {what}" for number, what in numbers if number]
    first = next((row for row in one.affected if row.kind == "user" and row.undone_hours), None)
    most = "" if first is None else f"; {first.undone_hours / every.undone_hours:.0%} of that work is {first.who}'s"
    return f" ({' and '.join(parts)}{most})"


def _every(one: RankedVariant) -> Effect:
    return next(effect for effect in one.effects if effect.kind == "all")


def _counted(variants: Sequence[RankedVariant], best: RankedVariant) -> str:
    """Count what the other variants do."""
    words = {"wins": "surely shorten the mean wait", "pays": "surely lengthen it", "less work": "do less work"}
    found = Counter(
        words.get(one.difference[2], "cannot be told from no change") for one in variants if one is not best
    )
    return "of the others, " + ", ".join(f"{number:,} {what}" for what, number in found.items())


def change_text(name: str, every: Effect, *, unchanged: bool = False, advice: bool = True) -> str:
    """Say what a variant does to the mean wait of all jobs, and how sure that is; with advice where it does little.

    Examples
    --------
    >>> change_text("x", Effect("all", "all jobs", 9, 7200.0, 6000.0, (-6000.0, 3360.0)))
    'whether x changes the mean wait cannot be told from this log: anything between 100 min shorter and 56 min long...'
    >>> change_text("x", Effect("all", "all jobs", 9, 7200.0, 6000.0, (-1500.0, -900.0), copies=(-1320.0, -1080.0)))
    'x would shorten the mean wait by 20 min, from 2 h to 100 min (95 % interval: 15 to 25 min shorter; copies: 18 t...'
    """
    if unchanged:
        return f"{name} changes nothing in the twin: all {every.jobs:,} jobs start and end as before"
    how = "shorten" if every.difference < 0 else "lengthen"
    size = f"by {wait_text(abs(every.difference))}, from {wait_text(every.before)} to {wait_text(every.after)}"
    if every.interval is None:
        return f"{name} would {how} the mean wait {size}, on these jobs; the log is too short to say how sure that is"
    if every.negligible:
        return f"{name} changes the mean wait by less than a second: {wait_text(every.after)}"
    if every.interval[0] <= 0 <= every.interval[1]:
        open_ = _undecided(every, every.interval, advice)
        return f"whether {name} changes the mean wait cannot be told from this log: {open_}"
    around = "" if every.copies is None else f"; copies: {between(every.copies)}"
    return f"{name} would {how} the mean wait {size} (95 % interval: {between(every.interval)}{around})"


def _undecided(every: Effect, interval: Interval, advice: bool) -> str:
    """Say what an interval that contains 0 leaves open: a change that may be large, or at most a small one."""
    if max(map(abs, interval)) <= LITTLE * every.before:
        return f"at most between {between(interval)}, which is little{': leave it as it is' if advice else ''}"
    return f"anything between {between(interval)} is possible"


def of_verdict(effects: Sequence[Effect], verdict: str) -> list[Effect]:
    """Return the groups that surely win or pay, those with most hours first; not one that is all jobs."""
    every = next((one.jobs for one in effects if one.kind == "all"), 0)
    found = [one for one in effects if one.verdict == verdict and one.kind != "all" and one.jobs < every]
    apart = {(one.jobs, one.before, one.after): one for one in reversed(found)}  # an account of one user counts once
    return sorted(apart.values(), key=lambda one: -abs(one.difference) * one.jobs)


def payers_text(effects: Sequence[Effect]) -> str:
    """Say who waits longer."""
    payers = of_verdict(effects, "pays")
    every = next((one for one in effects if one.kind == "all"), None)
    if payers:
        return f"waits become longer for {_with_changes(payers, most=MOST_PAYERS)}"
    if every is not None and every.verdict == "pays":
        return "all jobs pay"
    return "no group of jobs surely waits longer"


def winners_text(effects: Sequence[Effect]) -> list[str]:
    """Say who waits less, if any group surely does."""
    winners = of_verdict(effects, "wins")
    return [f"Waits become shorter for {_with_changes(winners, most=MOST_WINNERS)}."] if winners else []


def open_text(effects: Sequence[Effect]) -> list[str]:
    """Say which users' waits change most though the log cannot tell whether that is chance."""
    unsure = [
        one for one in effects if one.kind == "user" and not one.verdict and abs(one.difference) >= LARGE * one.before
    ]
    found = sorted(unsure, key=lambda one: -abs(one.difference) * one.jobs)
    return [f"Large changes that may be chance: {_with_changes(found, most=MOST_PAYERS)}."] if found else []


def _payers(best: RankedVariant) -> str:
    return "" if best.unchanged or not best.effects else payers_text(best.effects)


def _of_others(ranking: VariantRanking) -> Iterator[str]:
    """Say who wins and pays under the variants that are not the best, if they are few."""
    others = [one for one in ranking.ranked if one is not ranking.best and one.variant.name != AS_IT_IS]
    for one in others if len(others) < EACH else ():
        if not one.unchanged:
            gain = [f"w{text[1:].removesuffix('.')}" for text in winners_text(one.effects)]
            yield f"Under {one.variant.name}, {'; '.join([payers_text(one.effects), *gain])}."


def _with_changes(effects: Sequence[Effect], most: int) -> str:
    return listed([f"{one.who} ({signed(one.difference)})" for one in effects], most)
