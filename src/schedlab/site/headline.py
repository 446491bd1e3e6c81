"""An answer about a site in sentences: what would change, how sure that is, and who pays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from schedlab.campaign.results.statistics import quantity
from schedlab.energy.measures import words_of
from schedlab.site.affected import share
from schedlab.site.change_text import change_texts, of_same_work
from schedlab.site.copies import USUAL
from schedlab.site.coverage import listed
from schedlab.site.effect_texts import longer_with_less
from schedlab.site.effects import Effect
from schedlab.site.grounds import Grounds
from schedlab.site.named_groups import named_texts
from schedlab.site.undecided import SOME_PAY, UNDECIDED, adds_nodes, undecided_texts
from schedlab.site.variant_names import in_list
from schedlab.site.variants import AS_IT_IS, compared_with
from schedlab.site.wait_text import among, wait_text, waits_texts
from schedlab.site.who_pays import open_text, payers_of, winners_text
from schedlab.wording import count_of, sentence

if TYPE_CHECKING:
    from schedlab.site.ranked_variant import RankedVariant
    from schedlab.site.ranking import VariantRanking

NO_EFFECT, NEGLIGIBLE, NOT_SIMULATED = "no effect", "negligible", "not simulated"
"""Verdicts of a variant under which all jobs start and end as before, of one that changes the mean wait by less than a
second, and of one whose change no twin can show."""

NOTHING_TO_TELL = (NO_EFFECT, NEGLIGIBLE, NOT_SIMULATED)

EACH = 4
"""Variants up to which the first sentences speak of each; of more, they speak of the best and count the others."""

SURE = {
    "wins": ("surely shortens the mean wait", "surely shorten the mean wait"),
    "pays": ("surely lengthens the mean wait", "surely lengthen the mean wait"),
    NO_EFFECT: ("changes nothing", "change nothing"),
    NEGLIGIBLE: ("changes the mean wait by less than a second", "change the mean wait by less than a second"),
    SOME_PAY: (
        "makes some jobs wait longer and none much less: do not set it",
        "make some jobs wait longer and none much less: do not set them",
    ),
}
"""What one variant does to the mean wait, and what several do, by their verdict, where that is sure."""

OTHER_LOAD = "other load"
"""The verdict of a variant that changes nothing but how often jobs come, which no site chooses."""

MUCH = 0.2
"""Share of the mean wait from which on a variant that lengthens it in each copy is named, though it may be chance."""


def lead_of(ranking: VariantRanking) -> list[str]:
    """Return the sentences that an answer begins with; the first one has what would change, in some twenty words."""
    best, grounds = ranking.best, ranking.grounds
    single = len(ranking.variants) == 1
    if single or ranking.has_winner:
        grounds = replace(grounds, cautions=best.bounds.cautions)
    change = [*_change(ranking), *([] if single else _others(ranking))]
    if single and best.policy_text:  # what the policy stands for decides what the answer is of, and names what is lost
        told = tuple(one for one in grounds.cautions if one != best.bounds.instead)
        change, grounds = [*change, best.policy_text], replace(grounds, cautions=told)
    if single:
        return lead_sentences(grounds, change, payers_of(best))
    if ranking.metric != "mean_wait" or ranking.has_winner:
        return lead_sentences(grounds, change, payers_of(best), best.variant.name)
    return grounds.standing.lead([*change, *_replaced(ranking), *_dangers_of_first(ranking), *grounds.deciding])


def details_of_answer(ranking: VariantRanking) -> list[str]:
    """Return the sentences that follow: on what it stands, and what each variant does."""
    best, grounds = ranking.best, ranking.grounds
    several = len(ranking.variants) > 1
    effect = any(not one.why_unchanged and not one.unchanged for one in ranking.changed)
    told = [*grounds.sentences(effect=effect), copies_text(ranking.copies)]
    if several and len(ranking.variants) <= EACH:
        for one in ranking.changed:
            if one.same_as:
                alike = f"{one.variant.name}: all jobs start and end as under {one.same_as}."
                told.append(" ".join([alike, *map(sentence, one.bounds.cautions)]))
                continue
            own = _of_one(one, ranking)
            told += [*([own] if own else []), *details_of(one, one.variant.name)]
    else:
        told += [*not_ranked(ranking), *winners_text(best.effects), *details_of(best), *_dangers(ranking)]
    told += [sentence(lost) for one in ranking.ranked for lost in one.lost_text]
    if several:
        told += [f"{policy}." for policy in dict.fromkeys(one.policy_text for one in ranking.ranked) if policy]
    if several and ranking.has_winner:
        told.append(
            f"The best of {len(ranking.variants):,} was chosen and judged on the same jobs: some of its advantage is "
            "chance. schedlab site search judges a choice on jobs that had no part in it."
        )
    return [*told, *(f"{one.variant.name} could not be run: {one.reason}." for one in ranking.failures)]


def _dangers(ranking: VariantRanking) -> list[str]:
    """Say of each of many variants what is dangerous about it, and who waits by far longer; not of the one of which
    the first sentences have said that."""
    found = []
    first = [ranking.best] if ranking.has_winner else _undecided_of(ranking)
    for one in ranking.changed if len(ranking.variants) > EACH else []:
        cautions = () if one in first else one.bounds.cautions
        elsewhere = one in first or one is ranking.best or one.same_as
        far = [one.far.clause] if one.far.jobs and not elsewhere else []
        found += [f"{one.variant.name}: {text}." for text in (*cautions, *far)]
    return found


def details_of(one: RankedVariant, name: str = "") -> list[str]:
    """Say which jobs and users change most under a variant, whatever the intervals say, and what is ever reached.

    `name` is what it is called, if there are several.
    """
    who = not any(text.removeprefix("but ") == one.far.clause for text in payers_of(one))
    shorter = one.difference[2] == "wins"
    far = one.far.sentences(name or one.variant.name, who=who, shorter=shorter)
    under = f"Under {name}, " if name else ""
    told = [*named_texts(one.variant.changes, one.effects, under), *far, *open_text(one.effects, under)]
    told += [f"{under}{text[:1].lower()}{text[1:]}" if under else text for text in longer_with_less(one.effects)]
    return [*told, *(f"{text}." for text in one.bounds.reach if one.difference[2] not in NOTHING_TO_TELL)]


def lead_sentences(grounds: Grounds, change: Sequence[str], payers: Sequence[str], best: str = "") -> list[str]:
    """Return the sentences that an answer begins with: what changes, what decides, who pays, what is missing, and how
    good the twin is.

    `best` names the variant of which it is told who pays, if there are several.
    """
    first = [f"under {best}, {payers[0]}", *payers[1:]] if best and payers else payers
    left_out = [grounds.left_out_text] if grounds.left_out_text else []
    return grounds.standing.lead([*change, *grounds.deciding, *first, *left_out])


def copies_text(copies: int, where: str = "the intervals") -> str:
    """Say what copies of the log show, or what a single one cannot; `where` an answer has what they show."""
    if copies > 1:
        return (
            f"Both sides were simulated {copies} times, with jobs and passes some seconds earlier or later: no record "
            f"tells these seconds. What they change by themselves is in {where}."
        )
    return (
        "Both sides were simulated once. Waits already change if jobs or passes come some seconds earlier or later: "
        f"that is not in {where}. So a small effect may look sure and be chance (--copies {USUAL} tells)."
    )


def _change(ranking: VariantRanking) -> list[str]:
    """Say what the variant does or, of several, which one is the best, or that none is; then how sure that is."""
    best, number = ranking.best, len(ranking.variants)
    what = words_of(ranking.metric)
    if first := _first_of_each(ranking):
        return [*first, *_of_variant(best, ranking.today, "" if number == 1 else best.variant.name, advice=False)]
    if number == 1 and ranking.metric == "mean_wait":
        return _of_variant(best, ranking.today)
    if ranking.metric == "mean_wait" and ranking.has_winner:
        return _of_variant(best, ranking.today, f"the best of {count_of(number, 'variant')}, {best.variant.name},")
    before = next(one for one in ranking.ranked if one.variant.name == AS_IT_IS).value
    if (none := _none_of(ranking, quantity(ranking.metric, before))) is not None:
        return none
    told = f"{quantity(ranking.metric, best.value)}, {quantity(ranking.metric, before)} as it is"
    best_of = f"the best of {count_of(number, 'variant')} by {what} is {best.variant.name} ({told})"
    return [best_of, *_of_variant(best, ranking.today, "it")]


def _first_of_each(ranking: VariantRanking) -> list[str]:
    """Say what variants do to energy or by checkpoints: of the best one all, of the next ones briefly."""
    others = [one for one in ranking.changed if one is not ranking.best][: EACH - 1]
    return [*ranking.best.first_texts, *(text for one in others for text in one.first_texts[:1])]


def _none_of(ranking: VariantRanking, before: str) -> list[str] | None:
    """Say that no variant is the best, and why; None: one is. `before` is the metric of the site as it is."""
    number, what = len(ranking.variants), words_of(ranking.metric)
    variants = "neither variant" if number == 2 else f"none of {count_of(number, 'variant')}"
    if not any(one.can_be_chosen for one in ranking.changed) and any(one.only_load for one in ranking.changed):
        return [f"{variants} can be chosen"]
    if ranking.metric == "mean_wait":
        if undecided := _undecided_of(ranking):
            open_ = sum(one.can_be_chosen and one.difference[2] == UNDECIDED for one in ranking.changed)
            today = ranking.mean_waits[2 * [one.variant.name for one in ranking.ranked].index(AS_IT_IS)]
            return undecided_texts(open_, undecided, today)
        whole = "" if all(one.same_work for one in ranking.changed) else "does all the work and "
        return [f"{variants} {whole}shortens the mean wait: leave the site as it is"]
    if not ranking.best.same_work:
        return [f"{variants} does all the work that the site as it is does"]
    if ranking.ranked[0].variant.name == AS_IT_IS:
        return [f"{variants} has a better {what} than the site as it is ({before})"]
    return None


def _replaced(ranking: VariantRanking) -> list[str]:
    """Say of a few variants with which of them rules of the site no longer count: they are no lines beside others."""
    if len(ranking.variants) > EACH:
        return []
    names: dict[str, list[str]] = {}
    for one in ranking.changed:
        for text in filter(None, (one.bounds.instead, one.bounds.lost)):
            names.setdefault(text.removeprefix("under this scheduler, "), []).append(one.variant.name)
    return [f"under {listed(under)}, {lost}" for lost, under in names.items()]


def _dangers_of_first(ranking: VariantRanking) -> list[str]:
    """Say what is dangerous about the one of many variants of which the first sentences speak, though none is sure."""
    told = _undecided_of(ranking) if len(ranking.variants) > EACH else []
    return [f"under {one.variant.name}, {caution}" for one in told for caution in one.bounds.cautions]


def _undecided_of(ranking: VariantRanking) -> list[RankedVariant]:
    """Return the variants of which the log cannot tell, and of which the answer speaks first; of many, the best."""
    open_ = (one for one in ranking.changed if one.can_be_chosen and one.difference[2] == UNDECIDED)
    found = [one for one in open_ if not one.same_as]
    return found if len(ranking.variants) <= EACH else found[:1]


def _others(ranking: VariantRanking) -> list[str]:
    """Say briefly what the variants do of which nothing has been said; if many, count them."""
    of_best = ranking.has_winner or (ranking.metric != "mean_wait" and not ranking.best.only_load)
    told_of = [ranking.best] if of_best else _undecided_of(ranking)
    names = {one.variant.name for one in told_of}  # what is as open as one of them need not be said again
    others = [one for one in ranking.changed if one not in told_of and (of_best or one.same_as not in names)]
    if len(ranking.variants) > EACH:
        return [_counted(others), *much_longer(others)]
    besides = "besides, " if told_of else ""  # beside what has been said of others
    losing = [f"{besides}{in_list(one.variant.name)} {one.lost_work_texts[0]}" for one in others if not one.same_work]
    loads = other_loads([one for one in others if one.same_work and one.only_load])
    words: dict[str, list[str]] = {}
    for one in others:
        if one.can_be_chosen:
            words.setdefault(one.difference[2], []).append(in_list(one.variant.name))
    sure = [
        f"besides, {listed(names)} {what[len(names) > 1]}" for one, names in words.items() if (what := SURE.get(one))
    ]
    told = [*losing, *([f"besides, {loads}"] if loads else []), *sure]
    if unsimulated := words.pop(NOT_SIMULATED, []):
        it = "it is" if len(unsimulated) == 1 else "they are"
        told.append(f"what {listed(unsimulated)} would do cannot be told, as {it} not simulated")
    unsure = [name for verdict, names in words.items() if verdict not in SURE for name in names]
    do = "does" if len(unsure) == 1 else "do"
    told += [f"what {listed(unsure)} {do} to the mean wait cannot be told from this log"] if unsure else []
    return [*told, *much_longer([one for one in ranking.changed if one not in told_of[:1]])]


def not_ranked(ranking: VariantRanking) -> list[str]:
    """Say of each variant that does less work than the site as it is, or other work, what the table compares."""
    told = [
        f"{one.variant.name} does {share(one.every)} less work and is not ranked. It is compared with the site as it "
        f"is without that work (mean wait {wait_text(one.mean_wait_before)})."
        for one in ranking.ranked
        if one.every is not None and not one.every.same_work
    ]
    told += [
        f"{one.variant.name} is not ranked: more work is lost on the way than at the site as it is."
        for one in ranking.ranked
        if one.lost.exceeds(one.lost_before)
    ]
    loads = other_loads([one for one in ranking.changed if one.only_load])
    return [*told, *([f"{loads}."] if loads else [])]


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
        return f"{'; '.join(_of_variant(one, ranking.today))}."
    if ranking.has_winner and one is ranking.best:  # the first sentences have the rest
        return f"Under {one.variant.name}, {gain[0]}." if gain else ""
    change = _of_variant(one, ranking.today, "it", advice=False) if one.same_work else _without_work(one, ranking.today)
    payers = [] if _pays_in_lead(one, ranking) else payers_of(one)
    first, *others = [change[0], *one.whose_work_texts, *change[1:], *payers, *gain, *one.bounds.cautions]
    return " ".join([f"{one.variant.name}: {first}.", *map(sentence, others)])


def _pays_in_lead(one: RankedVariant, ranking: VariantRanking) -> bool:
    """Return whether the first sentences say who pays under a variant: where they are of what the log cannot tell."""
    of_waits = ranking.metric == "mean_wait" and not ranking.has_winner and not _first_of_each(ranking)
    return of_waits and one in _undecided_of(ranking)


def _of_variant(one: RankedVariant, today: float, name: str = "", *, advice: bool = True) -> list[str]:
    """Say what a variant does to the mean wait, beside that of today, and whether it does less work."""
    name = name or one.variant.name
    if one.same_work:
        if one.why_unchanged:
            return _unchanged(one, name)
        reach = one.bounds.reach if one.difference[2] in (NO_EFFECT, NEGLIGIBLE) else ()
        advice = advice and not (adds_nodes(one.variant) or one.variant.slurm or one.variant.node_events is not None)
        every, advice = _every(one), advice and not one.first_texts
        harms = one.harms and not one.first_texts
        change = _harm(one, name, every) if harms else change_texts(name, every, one.unchanged, advice=advice)
        return [*change, *_load(one), *reach]
    first, *others = one.lost_work_texts
    return [f"{name} {first}", *others, *_without_work(one, today), *_load(one)]


def _unchanged(one: RankedVariant, name: str) -> list[str]:
    """Say why a variant changes nothing in the twin, and whether that tells anything of the site."""
    if not one.unsimulated:
        return [f"{name} changes nothing, as {one.why_unchanged}"]
    return [f"what {name} would change cannot be told", one.why_unchanged]


def _load(one: RankedVariant) -> list[str]:
    """Say at which load both sides are, if that is not the load of today."""
    load = compared_with(one.variant).load
    return [] if load == 1 else [f"both sides have {load:g} times the load of today"]


def _without_work(one: RankedVariant, today: float) -> list[str]:
    """Say what a variant that does less work does to the mean wait, beside that of today and that of its work."""
    before, after = waits_texts(today, one.mean_wait)
    first = f"the mean wait goes from {before} to {after}, but less work is done"
    return [first, *of_same_work(_every(one))]


def _harm(one: RankedVariant, name: str, every: Effect) -> list[str]:
    """Say that a variant makes some wait longer and none less, though not by how much all do."""
    before, after = waits_texts(every.before, every.after)
    told = [f"{name} makes some jobs wait longer and none much less: do not set it"]
    told.append(f"the mean wait goes from {before} to {after} here")
    if every.interval is not None:
        told.append(f"by how much it changes in general cannot be told ({among(every.interval)})")
    return told


def _every(one: RankedVariant) -> Effect:
    return next(effect for effect in one.effects if effect.kind == "all")


def _counted(others: Sequence[RankedVariant]) -> str:
    """Count what the other variants do."""
    words = {
        **SURE,
        "less work": ("does less work", "do less work"),
        NOT_SIMULATED: ("is not simulated", "are not simulated"),
        OTHER_LOAD: ("is not ranked, as it is another load", "are not ranked, as they are other loads"),
    }
    unsure = "cannot be told from no change"
    found = Counter(words.get(one.difference[2], (unsure, unsure)) for one in others)
    return "of the others, " + ", ".join(f"{number:,} {what[number > 1]}" for what, number in found.items())


def much_longer(others: Sequence[RankedVariant]) -> list[str]:
    """Say which variants lengthen the mean wait by far in the replay, though the log cannot tell in general."""
    open_ = [(_every(one), one) for one in others if one.can_be_chosen and one.difference[2] == UNDECIDED]
    longer = [
        (every.difference, one.variant.name)
        for every, one in open_
        if every.difference > MUCH * every.before and (every.copies is None or every.copies[0] > 0)
    ]
    if not longer:
        return []
    most, name = max(longer)
    told = f"in the replay, {name} makes the mean wait {wait_text(most)} longer"
    if len(longer) > 1:
        told += f", and {count_of(len(longer) - 1, 'other variant')} by more than {MUCH:.0%}"
    return [f"{told}: nothing speaks for setting {'it' if len(longer) == 1 else 'them'}"]
