"""An answer about a site in sentences: what would change, how sure that is, and who pays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedlab.campaign.results.statistics import quantity
from schedlab.schedule.summary import duration
from schedlab.site.coverage import listed
from schedlab.site.effects import Effect, signed
from schedlab.site.grounds import Grounds
from schedlab.site.variants import AS_IT_IS
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.site.ranking import VariantRanking

MOST_PAYERS, MOST_WINNERS = 3, 8
"""Groups that sentences name."""


def sentences_of(ranking: VariantRanking) -> list[str]:
    """Return an answer in sentences; the first one has all that somebody must know who reads no further."""
    best, grounds = ranking.best, ranking.grounds
    told = [first_sentence(grounds, _change(ranking), () if best.unchanged else best.effects), *grounds.sentences()]
    told += [*ranking.less_work(), *winners_text(best.effects)]
    if len(ranking.variants) > 1 and best.same_work and ranking.ranked[0] is best:
        told.append(
            f"It is the best of {len(ranking.variants):,} on the jobs that it was chosen on, so some of its advantage "
            "is chance; schedlab site search evaluates the choice on held-out jobs."
        )
    return [*told, *(f"{one.variant.name} could not be run: {one.reason}." for one in ranking.failures)]


def first_sentence(grounds: Grounds, change: str, effects: Sequence[Effect]) -> str:
    """Return the sentence that an answer begins with: how good the twin is, what changes, what decides, who pays, what
    is missing."""
    parts = [change, *grounds.deciding, *([payers_text(effects)] if effects else []), grounds.left_out_text]
    return f"According to {grounds.standing.clause}, {'; '.join(parts)}."


def _change(ranking: VariantRanking) -> str:
    """Say which variant is the best one, if there are several, and what it does."""
    best, several = ranking.best, len(ranking.variants) > 1
    every = next(one for one in best.effects if one.kind == "all")
    if not several and ranking.metric == "mean_wait":
        return change_text(best.variant.name, every, unchanged=best.unchanged)
    what, number = ranking.metric.replace("_", " "), count_of(len(ranking.variants), "variant")
    if several and not best.same_work:
        change = change_text(best.variant.name, every)
        return f"none of {number} does all the work that the site as it is does; of them, {change}"
    if ranking.ranked[0].variant.name == AS_IT_IS:
        change = change_text(best.variant.name, every, unchanged=best.unchanged)
        return f"none of {number} has a better {what} than the site as it is; {'of them, ' * several}{change}"
    before = next(one.value for one in ranking.ranked if one.variant.name == AS_IT_IS)
    values = f"{quantity(ranking.metric, best.value)}, {quantity(ranking.metric, before)} as it is"
    told = "" if ranking.metric == "mean_wait" else f" ({values})"
    change = change_text("it", every, unchanged=best.unchanged)
    return f"the best of {number} by {what}{told} is {best.variant.name}: {change}"


def change_text(name: str, every: Effect, *, unchanged: bool = False) -> str:
    """Say what a variant does to the mean wait of all jobs, and how sure that is.

    Examples
    --------
    >>> change_text("x", Effect("all", "all jobs", 9, 7200.0, 6000.0, (-6000.0, 3360.0)))
    'whether x changes the mean wait cannot be told from this log: between 100 min shorter and 56 min longer; leave ...'
    """
    if unchanged:
        return f"{name} changes nothing in the twin: all {every.jobs:,} jobs start and end as before"
    how = "shorten" if every.difference < 0 else "lengthen"
    size = f"by {duration(abs(every.difference))}, from {duration(every.before)} to {duration(every.after)}"
    if every.interval is None:
        return f"{name} would {how} the mean wait {size}, on these jobs; the log is too short to say how sure that is"
    if every.interval[0] <= 0 <= every.interval[1]:
        return (
            f"whether {name} changes the mean wait cannot be told from this log: between {between(every.interval)}; "
            "leave it as it is"
        )
    return f"{name} would {how} the mean wait {size} (95 % interval: {between(every.interval)})"


def between(interval: tuple[float, float]) -> str:
    """Return an interval of differences of waits in words.

    Examples
    --------
    >>> between((-60.0, 120.0)), between((60.0, 120.0))
    ('60 s shorter and 2 min longer', '60 s to 2 min longer')
    """
    words = ["shorter" if one < 0 else "longer" for one in interval]
    low, high = (duration(abs(one)) for one in interval)
    if words[0] == words[1]:
        return f"{high} to {low} shorter" if words[0] == "shorter" else f"{low} to {high} longer"
    return f"{low} shorter and {high} longer"


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


def _with_changes(effects: Sequence[Effect], most: int) -> str:
    return listed([f"{one.who} ({signed(one.difference)})" for one in effects], most)
