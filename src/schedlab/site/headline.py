"""An answer about a site in sentences: what would change, how sure that is, and who pays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from schedlab.campaign.results.statistics import quantity
from schedlab.site.copies import USUAL
from schedlab.site.coverage import listed
from schedlab.site.effects import Effect
from schedlab.site.grounds import Grounds
from schedlab.site.intervals import Interval
from schedlab.site.undecided import UNDECIDED, adds_nodes, undecided_parts
from schedlab.site.variant_names import in_list
from schedlab.site.variants import AS_IT_IS, compared_with
from schedlab.site.wait_text import between, wait_text, waits_texts
from schedlab.site.who_pays import open_text, payers_of, winners_text
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.site.ranking import RankedVariant, VariantRanking

NO_EFFECT, NEGLIGIBLE, NOT_SIMULATED = "no effect", "negligible", "not simulated"
"""Verdicts of a variant under which all jobs start and end as before, of one that changes the mean wait by less than a
second, and of one whose change no twin can show."""

NOTHING_TO_TELL = (NO_EFFECT, NEGLIGIBLE, NOT_SIMULATED)

EACH = 4
"""Variants up to which the first sentence speaks of each; of more, it speaks of the best and counts the others."""

SURE = {
    "wins": ("surely shortens it", "surely shorten it"),
    "pays": ("surely lengthens it", "surely lengthen it"),
    NO_EFFECT: ("changes nothing", "change nothing"),
    NEGLIGIBLE: ("changes it by less than a second", "change it by less than a second"),
}
"""What one variant does to the mean wait, and what several do, by their verdict, where that is sure."""

OTHER_LOAD = "other load"
"""The verdict of a variant that changes nothing but how often jobs come, which no site chooses."""

LITTLE = 0.05
"""Share of the mean wait up to which an interval that contains 0 says that a change is small, if there is any."""


def sentences_of(ranking: VariantRanking) -> list[str]:
    """Return an answer in sentences; the first one has all that somebody must know who reads no further."""
    best, grounds = ranking.best, ranking.grounds
    several = len(ranking.variants) > 1
    told = [_first(ranking), *grounds.sentences(), copies_text(ranking.copies)]
    if several and len(ranking.variants) <= EACH:
        for one in ranking.changed:
            own = _of_one(one, ranking)
            told += [*([own] if own else []), *details_of(one, "it" if own else one.variant.name)]
    else:
        told += [*ranking.not_ranked(), *winners_text(best.effects), *details_of(best)]
    told += [f"{sentence[:1].upper()}{sentence[1:]}." for one in ranking.ranked for sentence in one.lost_text]
    told += [f"{policy}." for policy in dict.fromkeys(one.policy_text for one in ranking.ranked) if policy]
    if several and ranking.has_winner:
        told.append(
            f"It is the best of {len(ranking.variants):,} on the jobs that it was chosen on, so some of its advantage "
            "is chance; schedlab site search evaluates the choice on held-out jobs."
        )
    return [*told, *(f"{one.variant.name} could not be run: {one.reason}." for one in ranking.failures)]


def _first(ranking: VariantRanking) -> str:
    best, grounds = ranking.best, ranking.grounds
    if len(ranking.variants) == 1 or ranking.has_winner:
        grounds = replace(grounds, cautions=best.bounds.cautions)
    if len(ranking.variants) == 1:
        return first_sentence(grounds, _change(ranking), payers_of(best))
    change = "; ".join([_change(ranking), *_others(ranking)])
    if ranking.metric != "mean_wait" or ranking.has_winner:
        return first_sentence(grounds, change, payers_of(best), best.variant.name)
    return grounds.sentence([change, *grounds.deciding])


def details_of(one: RankedVariant, name: str = "") -> list[str]:
    """Say which jobs and users change most under a variant, whatever the intervals say, and what is ever reached.

    `name` is what it is called, if there are several.
    """
    far = one.far.sentences(name or one.variant.name, who=one.far.clause not in payers_of(one))
    told = [*far, *open_text(one.effects, f"Under {name}, " if name else "")]
    return [*told, *(f"{text}." for text in one.bounds.reach if one.difference[2] not in NOTHING_TO_TELL)]


def first_sentence(grounds: Grounds, change: str, payers: str, best: str = "") -> str:
    """Return the sentence that an answer begins with: how good the twin is, what changes, what decides, who pays, what
    is missing.

    `best` names the variant of which the last two are told, if there are several.
    """
    told = [one for one in (payers, grounds.left_out_text) if one]
    rest = [f"under {best}, {', and '.join(told)}"] if best and told else told
    return grounds.sentence([change, *grounds.deciding, *rest])


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
    """Say what the variant does or, of several, which one is the best, or that none is."""
    best, number = ranking.best, len(ranking.variants)
    what = ranking.metric.replace("_", " ")
    if number == 1 and ranking.metric == "mean_wait":
        return _of_variant(best, ranking.today)
    variants = "neither variant" if number == 2 else f"none of {count_of(number, 'variant')}"
    if not any(one.can_be_chosen for one in ranking.changed) and any(one.only_load for one in ranking.changed):
        return f"{variants} can be chosen"
    if ranking.metric == "mean_wait" and not ranking.has_winner:
        if undecided := _undecided_of(ranking):
            open_ = sum(one.can_be_chosen and one.difference[2] == UNDECIDED for one in ranking.changed)
            today = ranking.mean_waits[2 * [one.variant.name for one in ranking.ranked].index(AS_IT_IS)]
            return "; ".join(undecided_parts(open_, undecided, today))
        whole = all(one.same_work for one in ranking.changed)
        return f"{variants} {'' if whole else 'does all the work and '}shortens the mean wait: leave the site as it is"
    before = next(one for one in ranking.ranked if one.variant.name == AS_IT_IS).value
    if not best.same_work:
        head = f"{variants} does all the work that the site as it is does"
    elif ranking.ranked[0].variant.name == AS_IT_IS:
        head = f"{variants} has a better {what} than the site as it is ({quantity(ranking.metric, before)})"
    else:
        told = f"{quantity(ranking.metric, best.value)}, {quantity(ranking.metric, before)} as it is"
        told = "" if ranking.metric == "mean_wait" else f" ({told})"
        return (
            f"the best of {count_of(number, 'variant')} by {what}{told} is {best.variant.name}: "
            f"{_of_variant(best, ranking.today, 'it')}"
        )
    return head


def _undecided_of(ranking: VariantRanking) -> list[RankedVariant]:
    """Return the variants of which the log cannot tell, and of which the first sentence speaks; of many, the best."""
    found = [one for one in ranking.changed if one.can_be_chosen and one.difference[2] == UNDECIDED]
    return found if len(ranking.variants) <= EACH else found[:1]


def _others(ranking: VariantRanking) -> list[str]:
    """Say briefly what the variants do that the first part of the sentence does not speak of; if many, count them."""
    of_best = ranking.has_winner or (ranking.metric != "mean_wait" and not ranking.best.only_load)
    told_of = [ranking.best] if of_best else _undecided_of(ranking)
    others = [one for one in ranking.changed if one not in told_of]
    if len(ranking.variants) > EACH:
        return [_counted(others)]
    losing = [f"{one.variant.name} {one.lost_work_text}" for one in others if not one.same_work]
    losing += [text] if (text := other_loads([one for one in others if one.same_work and one.only_load])) else []
    words: dict[str, list[str]] = {}
    for one in others:
        if one.can_be_chosen:
            words.setdefault(one.difference[2], []).append(in_list(one.variant.name))
    told = [f"{listed(names)} {SURE[verdict][len(names) > 1]}" for verdict, names in words.items() if verdict in SURE]
    if unsimulated := words.pop(NOT_SIMULATED, []):
        it = "it is" if len(unsimulated) == 1 else "they are"
        told.append(f"what {listed(unsimulated)} would do cannot be told, as {it} not simulated")
    unsure = [name for verdict, names in words.items() if verdict not in SURE for name in names]
    do = "does" if len(unsure) == 1 else "do"
    told += [f"what {listed(unsure)} {do} to it cannot be told from this log"] if unsure else []
    return [*losing, *told]


def other_loads(variants: Sequence[RankedVariant]) -> str:
    """Say why variants that are nothing but other loads are not ranked; "" of none."""
    if not variants:
        return ""
    names, are = listed([in_list(one.variant.name) for one in variants]), "is" if len(variants) == 1 else "are"
    return f"{names} {are} not ranked, because a site does not choose how often jobs come"


def _of_one(one: RankedVariant, ranking: VariantRanking) -> str:
    """Say of one of several variants what it does, who pays and who wins; of the best one, only who wins."""
    gain = [f"w{text[1:].removesuffix('.')}" for text in winners_text(one.effects)]
    if one.unchanged:
        return f"{_of_variant(one, ranking.today)}."
    if ranking.has_winner and one is ranking.best:  # the first sentence has the rest
        return f"Under {one.variant.name}, {gain[0]}." if gain else ""
    change = _of_variant(one, ranking.today, "it", advice=False) if one.same_work else _without_work(one, ranking.today)
    told = [change, payers_of(one), *gain, *one.bounds.cautions]
    return f"{one.variant.name}: {'; '.join(told)}."


def _of_variant(one: RankedVariant, today: float, name: str = "", *, advice: bool = True) -> str:
    """Say what a variant does to the mean wait, beside that of today, and whether it does less work."""
    name = name or one.variant.name
    if one.same_work:
        if one.why_unchanged:
            return _unchanged(one, name)
        reach = one.bounds.reach if one.difference[2] in (NO_EFFECT, NEGLIGIBLE) else ()
        every, advice = _every(one), advice and not (adds_nodes(one.variant) or one.variant.slurm)
        return "; ".join([change_text(name, every, unchanged=one.unchanged, advice=advice), *_load(one), *reach])
    return "; ".join([f"{name} {one.lost_work_text}", _without_work(one, today), *_load(one)])


def _unchanged(one: RankedVariant, name: str) -> str:
    """Say why a variant changes nothing in the twin, and whether that tells anything of the site."""
    if not one.unsimulated:
        return f"{name} changes nothing, as {one.why_unchanged}"
    told = f"{one.why_unchanged}: what that would change cannot be told from a twin"
    return told if len(one.variant.changes) == 1 and one.variant.name == name else f"{name}: {told}"


def _load(one: RankedVariant) -> list[str]:
    """Say at which load both sides are, if that is not the load of today."""
    load = compared_with(one.variant).load
    return [] if load == 1 else [f"both sides have {load:g} times the load of today"]


def _without_work(one: RankedVariant, today: float) -> str:
    """Say what a variant that does less work does to the mean wait, beside that of today and that of its work."""
    before, after = waits_texts(today, one.mean_wait)
    return (
        f"the mean wait goes from {before} to {after}, but beside today's rules without "
        "the work that is not run, " + change_text("it", _every(one), unchanged=one.unchanged, advice=False)
    )


def _every(one: RankedVariant) -> Effect:
    return next(effect for effect in one.effects if effect.kind == "all")


def _counted(others: Sequence[RankedVariant]) -> str:
    """Count what the other variants do."""
    words = {
        "wins": ("surely shortens the mean wait", "surely shorten the mean wait"),
        "pays": ("surely lengthens the mean wait", "surely lengthen the mean wait"),
        "less work": ("does less work", "do less work"),
        NO_EFFECT: ("changes nothing", "change nothing"),
        NEGLIGIBLE: ("changes the mean wait by less than a second", "change the mean wait by less than a second"),
        NOT_SIMULATED: ("is not simulated", "are not simulated"),
        OTHER_LOAD: ("is not ranked, as it is another load", "are not ranked, as they are other loads"),
    }
    unsure = "cannot be told from no change"
    found = Counter(words.get(one.difference[2], (unsure, unsure)) for one in others)
    return "of the others, " + ", ".join(f"{number:,} {what[number > 1]}" for what, number in found.items())


def change_text(name: str, every: Effect, *, unchanged: bool = False, advice: bool = True) -> str:
    """Say what a variant does to the mean wait of all jobs, and how sure that is; with advice where it does little.

    Examples
    --------
    >>> change_text("x", Effect("all", "all jobs", 9, 7200.0, 6000.0, (-6000.0, 3360.0)))
    'whether x changes the mean wait cannot be told from this log: anything between 100 min shorter and 56 min long...'
    >>> change_text("x", Effect("all", "all jobs", 9, 7200.0, 6000.0, (-1500.0, -900.0), copies=(-1320.0, -1080.0)))
    'x would shorten the mean wait by 20 min, from 2 h to 1.67 h (95 % interval: 15 to 25 min shorter; copies: 18 to...'
    """
    if unchanged:
        return f"{name} changes nothing in the twin: all {every.jobs:,} jobs start and end as before"
    how = "shorten" if every.difference < 0 else "lengthen"
    before, after = waits_texts(every.before, every.after)
    size = f"by {wait_text(abs(every.difference))}, from {before} to {after}"
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
    open_ = f"anything between {between(interval)} is possible"
    return f"{open_}; leave it as it is" if advice else open_
