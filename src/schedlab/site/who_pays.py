"""Who waits longer, and who waits less, in sentences: groups that surely do, users that may, jobs that do by far."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from schedlab.durations import HOUR
from schedlab.site.coverage import listed
from schedlab.site.effects import Effect
from schedlab.site.wait_text import signed, waits_texts
from schedlab.wording import count_of, sentence

if TYPE_CHECKING:
    from schedlab.site.ranked_variant import RankedVariant

MOST_PAYERS, MOST_WINNERS = 3, 8
"""Groups that sentences name."""

MINUTE = 60
"""Seconds from which on it is told how the mean wait of a user changes, although that may be chance."""

MULTIPLE = 2
"""How many times as long a group waits of which that is told, although it may be chance and is little in sum."""

PART = 0.05
"""Of all hours by which the waits of such users change, the share from which on a user is named."""

NO_GROUP = "no group of jobs surely waits longer"


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
    return NO_GROUP


def some_pay(effects: Sequence[Effect]) -> bool:
    """Return whether groups surely wait longer and none surely less, though the mean of all is longer in copies alone.

    Its interval contains 0: a short log has few periods.
    """
    every = next((one for one in effects if one.kind == "all"), None)
    if every is None or every.verdict or min(every.copies or (every.difference,)) <= 0:
        return False
    return bool(of_verdict(effects, "pays")) and not of_verdict(effects, "wins")


def winners_text(effects: Sequence[Effect]) -> list[str]:
    """Say who waits less, if any group surely does."""
    winners = of_verdict(effects, "wins")
    return [f"Waits become shorter for {_with_changes(winners, most=MOST_WINNERS)}."] if winners else []


def open_text(effects: Sequence[Effect], under: str = "") -> list[str]:
    """Say which users' waits change most in sum, though the log cannot tell whether that is chance.

    Where users win or pay surely, or most of their jobs are in a group that does, which is told already, it is said to
    be of the others.
    """
    users = [one for one in effects if one.kind == "user"]
    unsure = [one for one in users if one.verdict in ("", "less work") and not one.told]
    most = PART * sum(map(_in_sum, unsure))
    found = sorted(unsure, key=lambda one: -_in_sum(one))[:MOST_PAYERS]
    named = [
        f"{one.who} ({count_of(one.jobs, 'job')}, {signed(one.difference)} each)"
        for one in takewhile(lambda one: abs(one.difference) >= MINUTE and _in_sum(one) >= most, found)
    ]
    grown = _multiplied(effects, under)
    if not named:
        return grown
    others = ", of users of whom nothing is sure," if len(unsure) < len(users) else ""
    return [
        sentence(f"{under}these waits change most in sum{others or ','} perhaps by chance: {listed(named)}"),
        *grown,
    ]


def _multiplied(effects: Sequence[Effect], under: str) -> list[str]:
    """Say of which group that is no user the mean wait is multiplied most, though that may be chance."""
    longer = [
        one
        for one in effects
        if one.kind not in ("all", "user") and one.verdict == "" and one.interval is not None and not one.told
        if one.difference >= HOUR and one.after >= MULTIPLE * one.before and min(one.copies or (one.difference,)) > 0
    ]
    if not longer:
        return []
    most = max(longer, key=lambda one: one.after / max(one.before, 1))
    before, after = waits_texts(most.before, most.after)
    whose = f"{under}{most.who} ({count_of(most.jobs, 'job')})"
    each = "" if most.copies is None else " in each copy"
    return [sentence(f"{whose} wait {after} instead of {before}{each}; other weeks may differ")]


def _in_sum(one: Effect) -> float:
    return abs(one.difference) * one.jobs


def payers_of(one: RankedVariant) -> list[str]:
    """Say who waits longer under a variant; where no group surely does, which jobs wait by far longer all the same."""
    if one.unchanged or not one.effects:
        return []
    told = payers_texts(one.effects)
    if told[0] != NO_GROUP or not one.far.jobs:
        return told
    return [*told, f"but {one.far.clause}" if len(told) == 1 else one.far.clause]


def payers_texts(effects: Sequence[Effect]) -> list[str]:
    """Say who waits longer; where no group surely does, also of whom that cannot be judged."""
    told = payers_text(effects)
    return [told, *unjudged_texts(effects)] if told == NO_GROUP else [told]


def unjudged_texts(effects: Sequence[Effect]) -> list[str]:
    """Say of whom no interval tells how sure it is, though they wait longer in each copy: their jobs come at one time.

    Of several groups, it is the one with most hours; an account of one user counts once.
    """
    longer = [
        one
        for one in effects
        if one.kind != "all" and one.interval is None and one.copies is not None
        if one.copies[0] >= max(MINUTE, PART * one.before)
    ]
    if not longer:
        return []
    most = max(longer, key=lambda one: (_in_sum(one), one.kind == "user"))
    whose = f"{most.who} ({count_of(most.jobs, 'job')}, {signed(most.difference)} each)"
    return [
        f"waits become longer in each copy for {whose}; of other weeks that tells nothing, as these jobs come at one "
        "time"
    ]


def _with_changes(effects: Sequence[Effect], most: int) -> str:
    return listed([f"{one.who} ({signed(one.difference)})" for one in effects], most)
