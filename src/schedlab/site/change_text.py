"""What a variant does to the mean wait of all jobs, in sentences, and how sure that is."""

from __future__ import annotations

from schedlab.site.effects import Effect
from schedlab.site.intervals import Interval
from schedlab.site.variant_names import verb
from schedlab.site.wait_text import among, between, wait_text, waits_texts

LITTLE, FEW_MINUTES = 0.05, 600
"""Share of the mean wait, and seconds, up to which an interval that contains 0 says that a change is small, if there is
any."""


def change_texts(name: str, every: Effect, unchanged: bool = False, *, advice: bool = True) -> list[str]:
    """Say what a variant does to the mean wait of all jobs; then how sure that is; with advice where it does little.

    Examples
    --------
    >>> for one in change_texts("x", Effect("all", "all jobs", 9, 7200.0, 6000.0, (-6000.0, 3360.0))):
    ...     print(one)
    whether x changes the mean wait cannot be told from this log
    anything between 100 min shorter and 56 min longer is possible: leave it as it is
    >>> sure = Effect("all", "all jobs", 9, 7200.0, 6000.0, (-1500.0, -900.0), copies=(-1320.0, -1080.0))
    >>> for one in change_texts("x", sure):
    ...     print(one)
    x would shorten the mean wait from 2 h to 1.67 h
    that is 20 min shorter (95 % interval: 15 to 25 min shorter; copies: 18 to 22 min shorter)
    """
    changes = f"{name} {verb(name, 'changes', 'change')}"
    if unchanged:
        return [f"{changes} nothing in the twin", f"all {every.jobs:,} jobs start and end as before"]
    if every.is_none:
        return [f"{changes} the mean wait by less than a second: {wait_text(every.after)}"]
    if every.interval is not None and every.interval[0] <= 0 <= every.interval[1]:
        open_ = _undecided(every, every.interval)
        told = [f"{open_}: leave it as it is" if advice else open_]
        told += [] if every.copies is None else [f"the simulated copies came out {among(every.copies)}"]
        return [f"whether {changes} the mean wait cannot be told from this log", *told]
    how, before_after = "shorten" if every.difference < 0 else "lengthen", waits_texts(every.before, every.after)
    return [f"{name} would {how} the mean wait from {' to '.join(before_after)}", _size(every)]


def of_same_work(every: Effect) -> list[str]:
    """Say what a variant that does less work does to the mean wait beside today's rules with the same work."""
    rules = f"with the same reduced work, today's rules give {wait_text(every.before)}"
    if every.is_none:
        return [f"{rules}, too: the change is less work, not shorter waits"]
    if every.interval is not None and every.interval[0] <= 0 <= every.interval[1]:
        return [f"{rules}: whether the change itself shortens waits cannot be told", _undecided(every, every.interval)]
    longer = "longer" if every.difference > 0 else "shorter"
    return [f"{rules}: the change itself makes waits {longer}", _size(every)]


def _size(every: Effect) -> str:
    """Return by how much the mean wait changes, and how sure that is."""
    size = f"that is {wait_text(abs(every.difference))} {'shorter' if every.difference < 0 else 'longer'}"
    if every.interval is None:
        return f"{size}, on these jobs; the log is too short to say how sure that is"
    around = "" if every.copies is None else f"; copies: {between(every.copies)}"
    return f"{size} (95 % interval: {between(every.interval)}{around})"


def _undecided(every: Effect, interval: Interval) -> str:
    """Say what an interval that contains 0 leaves open: a change that may be large, or at most a small one."""
    most = max(map(abs, interval))
    if most <= min(LITTLE * every.before, FEW_MINUTES):
        return f"any change is small, between {between(interval)}"
    possible = f"anything between {between(interval)} is possible"
    return f"{possible}, at most {most / every.before:.0%} of it" if most <= LITTLE * every.before else possible
