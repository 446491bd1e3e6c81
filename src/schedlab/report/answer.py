"""The answer of a campaign in plain sentences, each with its uncertainty."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedlab.campaign.results.ranking import RankedScheduler, SchedulerRanking
from schedlab.campaign.results.statistics import (
    FEWEST_PAIRS,
    LARGER_IS_BETTER,
    Paired,
    interval_text,
    paired,
    quantity,
    signed,
)
from schedlab.campaign.results.trade_offs import Price
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


def answer(
    ranking: SchedulerRanking, frame: pd.DataFrame, *, instance: str = "pair", prices: Sequence[Price] = ()
) -> list[str]:
    """Return what the results say, as sentences: the best scheduler, how sure that is, and how the others stand.

    Parameters
    ----------
    ranking
        Of the frame.
    frame
        The results, for the comparison of the best scheduler with the others.
    instance
        What a pair of results is, singular, such as "week".
    prices
        What schedulers ask of jobs, if known: the mean waits of the best one and the baseline are told.
    """
    rows = ranking.of()
    metric, baseline = metric_label(ranking.metric), ranking.baseline
    others = [row for row in rows if row.paired is not None]
    if not others:
        return [f"There is only one scheduler, {baseline}, and nothing to compare it with."]
    most = max(row.paired.pairs for row in others if row.paired)
    if most < FEWEST_PAIRS:
        return [
            f"There is not enough data for an answer: schedulers share {count_of(most, 'instance')}, and an interval "
            f"needs {FEWEST_PAIRS}.",
            f"The medians of the {metric} so far: {_list([_median(ranking, row) for row in rows])}.",
        ]
    highest = "highest" if ranking.metric in LARGER_IS_BETTER else "lowest"
    best = rows[0]
    meaning = MEANINGS.get(ranking.metric)
    what = metric + (f" ({meaning})" if meaning else "")
    if best.paired is None:
        closest = next(row.paired for row in others if row.paired)
        sentences = [f"No scheduler was found to be better than {baseline}, the baseline: it has the {highest} {what}."]
        sentences += [f"The closest is {closest.scheduler}: {_against(closest, instance)}."]
        rivals = [row.scheduler for row in others if row.paired and row.paired.verdict in UNDECIDED]
    else:
        bound = " (clairvoyant)" if is_clairvoyant(best.scheduler) else ""
        sentences = [f"{best.scheduler}{bound} has the {highest} {what}: {_against(best.paired, instance)}."]
        sentences += [*_waits(best.scheduler, baseline, prices), *_disagreement(best.paired)]
        rivals = _rivals(best.scheduler, others, ranking, frame)
    if len(others) > 1 and rivals:
        sentences += [f"{_list(rivals)} cannot be told apart from {best.scheduler}."]
    return [*sentences, *_verdicts(others, baseline)]


def _median(ranking: SchedulerRanking, row: RankedScheduler) -> str:
    return f"{row.scheduler} {quantity(ranking.metric, row.median)}"


def _waits(best: str, baseline: str, prices: Sequence[Price]) -> list[str]:
    """Say how long jobs wait, if that is known."""
    mean = {price.scheduler: price.mean_wait for price in prices}
    if not {best, baseline} <= mean.keys():
        return []
    return [f"Its jobs wait {duration(mean[best])} on average, those of {baseline} {duration(mean[baseline])}."]


def _against(pair: Paired, instance: str) -> str:
    """Say how large the difference from the baseline is, and how sure."""
    if pair.ratio is None or pair.ratio_interval is None:
        size = f"on average {signed(pair.metric, pair.difference)} against {pair.baseline}"
        uncertainty = interval_text(pair.difference_interval, pair.metric)
    else:
        size = f"on average {_change(pair.ratio)} that of {pair.baseline}"
        uncertainty = _changes(*pair.ratio_interval)
    text = f"{size} ({100 * pair.level:g}% interval {uncertainty})"
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


def _disagreement(pair: Paired) -> list[str]:
    """Say so if the mean difference does not bear out what the mean ratio says."""
    interval = pair.difference_interval
    if pair.ratio is None or interval is None or pair.verdict not in {"better", "worse"}:
        return []
    if not interval[0] <= 0 <= interval[1]:
        return []
    text = f"{signed(pair.metric, pair.difference)} {interval_text(interval, pair.metric)}"
    return [f"Its mean difference, {text}, cannot be told from none: a few instances weigh heavily in it."]


def _rivals(best: str, others: Sequence[RankedScheduler], ranking: SchedulerRanking, frame: pd.DataFrame) -> list[str]:
    """Name the other schedulers, but for the baseline, that cannot be told apart from the best one."""
    pairs = [
        paired(frame, ranking.metric, row.scheduler, best, level=ranking.level)
        for row in others
        if row.scheduler != best
    ]
    return [pair.scheduler for pair in pairs if pair.verdict in UNDECIDED]


def _verdicts(others: Sequence[RankedScheduler], baseline: str) -> list[str]:
    """Count how the schedulers stand against the baseline, if there are several."""
    if len(others) < 2:
        return []
    verdicts = [row.paired.verdict for row in others if row.paired]
    worse, undecided = verdicts.count("worse"), sum(verdict in UNDECIDED for verdict in verdicts)
    parts = [f"{_are(verdicts.count('better'))} better"]
    parts += [f"{_are(worse)} worse"] if worse else []
    parts += [f"{undecided} cannot be told apart from it"] if undecided else []
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
