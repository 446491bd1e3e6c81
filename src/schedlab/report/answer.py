"""The answer of a campaign in plain sentences, each with its uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from schedlab.campaign.results.ranking import RankedScheduler, SchedulerRanking
from schedlab.campaign.results.statistics import (
    FEWEST_PAIRS,
    LARGER_IS_BETTER,
    MIXED,
    Paired,
    by_instance,
    interval_text,
    paired,
    quantity,
    signed,
)
from schedlab.campaign.results.trade_offs import NOTICED, Price
from schedlab.report.campaigns import metric_label
from schedlab.schedule.summary import duration
from schedlab.scheduler.predictor import is_clairvoyant
from schedlab.wording import count_of

if TYPE_CHECKING:
    import pandas as pd

UNDECIDED = ("cannot be told apart", "equal")

MOST_NAMES = 4
"""Schedulers that a sentence names before it counts the others."""

MEANINGS = {
    "mean_bounded_slowdown": "how many times its run time a job spends in the system",
    "mean_slowdown": "how many times its run time a job spends in the system",
    "utilisation": "the share of the machine in use",
}
"""What metrics with names of the field say, for who does not know them."""


MUCH_LONGER = 1.5
"""Times as long from which on a longest wait is told."""


def answer(
    ranking: SchedulerRanking, frame: pd.DataFrame, *, instance: str = "pair", prices: Sequence[Price] = ()
) -> list[str]:
    """Return what the results say, as sentences: the best scheduler, how sure that is, and how the others stand.

    Where the metric is known over all jobs at once, that decides which one is best; where the pairs say something else,
    a sentence tells so.

    Parameters
    ----------
    ranking
        Of the frame.
    frame
        The results, for the comparison of the best scheduler with the others.
    instance
        What a pair of results is, singular, such as "week".
    prices
        What schedulers ask of jobs, if known; else their waits are told as far as the frame has them.
    """
    rows = ranking.of()
    others = [row for row in rows if row.paired is not None]
    if not others:
        return [f"There is only one scheduler, {ranking.baseline}, and nothing to compare it with."]
    most = max(row.paired.pairs for row in others if row.paired)
    if most < FEWEST_PAIRS:
        return _too_few(ranking, most, instance)
    best = rows[0]
    to_best = [
        paired(frame, ranking.metric, row.scheduler, best.scheduler, level=ranking.level).on_the_whole(ranking.whole)
        for row in rows[1:]
    ]
    against = sorted((pair for pair in to_best if pair.verdict == MIXED), key=_by_ratio)
    sentences = _first(ranking, instance, contradicted=bool(against))
    if against:
        sentences += _contradiction(ranking, against, instance)
    elif best.paired is not None:
        sentences += _disagreement(best.paired, instance)
    told = [best.scheduler, *(pair.scheduler for pair in against[:1])]
    sentences += _waits(ranking, told, _known_waits(frame, prices))
    rivals = [pair.scheduler for pair in to_best if pair.verdict in UNDECIDED]
    if best.paired is not None:
        rivals = [name for name in rivals if name != ranking.baseline]
    if len(others) > 1 and rivals:
        by_pair = f" {_each(instance)}" if ranking.whole else ""
        sentences += [f"{_list(rivals)} cannot be told apart from {best.scheduler}{by_pair}."]
    return [*sentences, *_verdicts(others, ranking.baseline)]


def _too_few(ranking: SchedulerRanking, pairs: int, instance: str) -> list[str]:
    """Say that there are too few pairs, and what is known."""
    rows, metric = ranking.of(), metric_label(ranking.metric)
    noun = instance if ranking.whole else "instance"
    known = [(row.scheduler, ranking.whole.get(row.scheduler, row.median)) for row in rows]
    what = f"The {metric} over all jobs" if ranking.whole else f"The medians of the {metric} so far"
    return [
        f"There is not enough data for an answer: schedulers share {count_of(pairs, noun)}, and an interval "
        f"needs {FEWEST_PAIRS}.",
        f"{what}: {_list([f'{name} {quantity(ranking.metric, value)}' for name, value in known])}.",
    ]


def _first(ranking: SchedulerRanking, instance: str, *, contradicted: bool) -> list[str]:
    """Name the best scheduler: by the metric over all jobs if that is known, and how it stands pair by pair."""
    rows, baseline, whole = ranking.of(), ranking.baseline, ranking.whole
    most = "highest" if ranking.metric in LARGER_IS_BETTER else "lowest"
    meaning = MEANINGS.get(ranking.metric)
    what = metric_label(ranking.metric) + (f" ({meaning})" if meaning else "")
    best, pair = rows[0], rows[0].paired
    closest = next(row.paired for row in rows if row.paired)
    bound = " (clairvoyant)" if is_clairvoyant(best.scheduler) else ""
    if not whole:
        what += f", {_each(instance)}" if contradicted else ""
        if pair is not None:
            return [f"{best.scheduler}{bound} has the {most} {what}: {_against(pair, instance)}."]
        sentence = f"No scheduler was found to be better than {baseline}, the baseline: it has the {most} {what}."
        return [sentence, f"The closest is {closest.scheduler}: {_against(closest, instance)}."]
    value = {name: quantity(ranking.metric, one) for name, one in whole.items()}
    if pair is None:
        than = f"{'higher' if most == 'highest' else 'lower'} {what} over all jobs than {baseline}, the baseline"
        pair = closest
        first = f"No scheduler has a {than}: {value[baseline]}; {pair.scheduler} has {value[pair.scheduler]}."
    else:
        first = f"{best.scheduler}{bound} has the {most} {what} over all jobs: {value[best.scheduler]}, "
        first += f"{value[baseline]} under {baseline}."
    if pair.verdict == MIXED:
        return [first]
    return [first, f"{_each(instance).capitalize()}, that of {pair.scheduler} is {_against(pair, instance)}."]


def _contradiction(ranking: SchedulerRanking, against: Sequence[Paired], instance: str) -> list[str]:
    """Say that pairs and all jobs (or, of a campaign, ratios and means) rank the best scheduler and others differently.

    Parameters
    ----------
    ranking
        Of which the first scheduler is the best.
    against
        Schedulers against the best one, whose verdict is mixed; that with the best ratio first.
    instance
        What a pair is.
    """
    pair, also = against[0], [one.scheduler for one in against[1:]]
    same = f"; the same holds of {_list(also)}" if also else ""
    if ranking.whole:
        text = f"{_each(instance).capitalize()}, where every {instance} counts alike, the order is the other way: "
        text += f"that of {pair.scheduler} is {_against(pair, instance)}."
    else:
        text = f"In the mean over the {instance}s the order is the other way: "
        text += f"{quantity(pair.metric, pair.mean)} under {pair.scheduler}, "
        text += f"{quantity(pair.metric, pair.baseline_mean)} under {pair.baseline}."
    return [text, f"So neither of the two is surely better{same}."]


def _by_ratio(pair: Paired) -> float:
    """Return what is the smaller, the better a scheduler is by its ratio or, without one, its difference."""
    value = pair.difference if pair.ratio is None else pair.ratio
    return -value if pair.metric in LARGER_IS_BETTER else value


def _each(instance: str) -> str:
    return f"{instance} by {instance}"


Waits = Mapping[str, tuple[float, float]]
"""Mean and longest wait by scheduler, in seconds."""


def _known_waits(frame: pd.DataFrame, prices: Sequence[Price]) -> Waits:
    """Return mean and longest waits: of all jobs if prices are known, else over the instances that all have."""
    if prices:
        return {price.scheduler: (price.mean_wait, price.max_wait) for price in prices}
    if not {"mean_wait", "max_wait"} <= set(frame.columns):
        return {}
    mean, longest = (by_instance(frame, metric)[0].dropna() for metric in ("mean_wait", "max_wait"))
    if mean.empty or longest.empty:
        return {}
    return {name: (float(mean[name].mean()), float(longest[name].max())) for name in mean.columns}


def _waits(ranking: SchedulerRanking, names: Sequence[str], waits: Waits) -> list[str]:
    """Say how long jobs wait under schedulers and under the baseline, and where the longest wait is much longer."""
    sentences = []
    for name in names:
        if name == ranking.baseline or not {name, ranking.baseline} <= waits.keys():
            continue
        (mean, longest), (mean_before, longest_before) = waits[name], waits[ranking.baseline]
        texts = duration(mean), duration(mean_before)
        parts = []
        if ranking.metric != "mean_wait" and texts[0] != texts[1]:
            parts.append(f"jobs wait {texts[0]} on average instead of {texts[1]}")
        if ranking.metric != "max_wait" and longest >= max(MUCH_LONGER * longest_before, longest_before + NOTICED):
            parts.append(f"the longest wait is {duration(longest)} instead of {duration(longest_before)}")
        if parts:
            joined = " and " if mean > mean_before else ", but "
            sentences.append(f"Under {name}, {joined.join(parts)}.")
    return sentences


def _against(pair: Paired, instance: str) -> str:
    """Say how large the difference from the baseline is, and how sure."""
    if pair.ratio is None or pair.ratio_interval is None:
        size = f"on average {signed(pair.metric, pair.difference)} against {pair.baseline} ("
        uncertainty = interval_text(pair.difference_interval, pair.metric)
    else:
        size = f"{_change(pair.ratio)} that of {pair.baseline} (geometric mean, "
        uncertainty = _changes(*pair.ratio_interval)
    text = f"{size}{100 * pair.level:g}% interval {uncertainty})"
    text += f", better in {pair.wins:,} of {count_of(pair.pairs, instance)}"
    if pair.ties:
        text += f" and equal in {pair.ties:,}"
    if pair.verdict == "cannot be told apart":
        text += "; these results do not tell the two apart, because the interval contains no difference"
    return text


def _change(ratio: float) -> str:
    """Return a ratio as a person says it: percents below and above, multiples from two on.

    Examples
    --------
    >>> _change(0.283), _change(1.024), _change(13.42)
    ('72% below', '2.4% above', '13.4 times')
    """
    if ratio >= 2:
        return f"{ratio:,.3g} times"
    return f"{_percent(ratio)} {'below' if ratio <= 1 else 'above'}"


def _changes(low: float, high: float) -> str:
    """Return a range of ratios, the smaller change first.

    Examples
    --------
    >>> _changes(0.2, 0.5), _changes(0.9, 1.1), _changes(1.1, 1.9), _changes(2.5, 3)
    ('50% to 80% below', '10% below to 10% above', '10% to 90% above', '2.5 to 3 times')
    """
    first, second = _change(low), _change(high)
    (before, how), (after, same) = first.split(), second.split()
    if how != same:
        return f"{first} to {second}"
    return f"{after} to {before} {how}" if how == "below" else f"{before} to {after} {how}"


def _percent(ratio: float) -> str:
    change = abs(100 * (ratio - 1))
    return f"{change:.0f}%" if change >= 10 else f"{change:.2g}%"


def _disagreement(pair: Paired, instance: str) -> list[str]:
    """Say so if the mean difference does not bear out what the mean ratio says."""
    interval = pair.difference_interval
    if pair.ratio is None or interval is None or pair.verdict not in {"better", "worse"}:
        return []
    if not interval[0] <= 0 <= interval[1]:
        return []
    text = f"{signed(pair.metric, pair.difference)} {interval_text(interval, pair.metric)}"
    return [f"Its mean difference, {text}, cannot be told from none: a few {instance}s weigh heavily in it."]


def _verdicts(others: Sequence[RankedScheduler], baseline: str) -> list[str]:
    """Count how the schedulers stand against the baseline, if there are several."""
    if len(others) < 2:
        return []
    verdicts = [row.paired.verdict for row in others if row.paired]
    worse, undecided = verdicts.count("worse"), sum(verdict in UNDECIDED for verdict in verdicts)
    parts = [f"{_are(verdicts.count('better'))} better"]
    parts += [f"{_are(worse)} worse"] if worse else []
    parts += [f"{undecided} cannot be told apart from it"] if undecided else []
    mixed = verdicts.count(MIXED)
    parts += [f"{_are(mixed)} mixed"] if mixed else []
    scarce = verdicts.count("not enough data")
    parts += [f"{scarce} {'has' if scarce == 1 else 'have'} not enough data"] if scarce else []
    return [f"Of the {len(others)} schedulers besides {baseline}, {_list(parts)}."]


def _are(number: int) -> str:
    return f"{number or 'none'} {'is' if number < 2 else 'are'}"


def _list(names: Sequence[str]) -> str:
    """Return names as a person lists them.

    Examples
    --------
    >>> _list(["a"]), _list(["a", "b", "c"]), _list(list("abcdefg"))
    ('a', 'a, b and c', 'a, b, c, d and 3 others')
    """
    shown = list(names)
    if len(shown) > MOST_NAMES + 1:
        shown = [*shown[:MOST_NAMES], f"{len(shown) - MOST_NAMES} others"]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))
