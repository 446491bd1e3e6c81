"""What a variant of a site does to groups of jobs, as texts of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from schedlab.schedule.columns import in_columns
from schedlab.site.effects import Effect
from schedlab.site.intervals import FEWEST_BLOCKS
from schedlab.site.wait_text import changes_in_columns, wait_text
from schedlab.wording import table

MUCH = 60
"""Seconds from which on it is told that jobs wait longer where there is less work."""

MOST_ON_PAGE = 10
"""Groups of a kind that a page has, but for those that surely win or pay."""

SAME_WORK = "as it is, same work"
"""What the wait at the site as it is is called where that has only the work that a variant does."""


def effects_text(found: Iterable[Effect], *, most: int = 5) -> str:
    """Return the largest groups of each kind as a table in text."""
    every = list(found)
    less = any(one.today is not None for one in every)
    shown = largest(every, most)
    rows: list[list[str | float]] = []
    for number, (one, told) in enumerate(zip(shown, difference_texts(shown), strict=True)):
        kind = one.kind if not number or shown[number - 1].kind != one.kind else ""
        rows.append([kind, one.group, f"{one.jobs:,}", *waits_of(one, less), *told])
    head = ["", "", "jobs", *waits_heads(every), "changed", "difference", "95 % interval"]
    if any(one.verdict for one in shown):
        head.append("")
    else:
        rows = [row[:-1] for row in rows]
    waits = range(3, 3 + len(waits_of(every[0], less)) if every else 3)
    notes = [*_on_page_alone(every, shown), *notes_on(shown)]
    return "\n".join([table(head, in_columns(rows, together=waits)), *(line for why in notes for line in ("", why))])


def _on_page_alone(found: Sequence[Effect], shown: Sequence[Effect]) -> list[str]:
    """Say how many groups more the page has than those that are shown here, if it has more."""
    more = Counter(one.kind for one in on_page(found) if one not in shown)
    kinds = [f"{number:,} of {kind}" for kind, number in more.items()]
    return [f"The page (--report) has more groups: {', '.join(kinds)}."] if kinds else []


def on_page(found: Sequence[Effect]) -> list[Effect]:
    """Return the groups that a page has: the largest of each kind, and those that surely win or pay."""
    few = largest(found, MOST_ON_PAGE)
    return [one for one in found if one in few or one.verdict in ("wins", "pays")]


def largest(found: Sequence[Effect], most: int) -> list[Effect]:
    """Return the largest groups of each kind."""
    seen: Counter[str] = Counter()
    shown = []
    for one in found:
        seen[one.kind] += 1
        if seen[one.kind] <= most:
            shown.append(one)
    return shown


def waits_heads(found: Sequence[Effect]) -> list[str]:
    """Return what waits at the site as it is are called: beside a variant that does less work, there are two."""
    if any(one.today is not None for one in found):
        return ["wait today", SAME_WORK]
    return ["wait as it is" if all(one.same_work for one in found) else f"wait {SAME_WORK}"]


def waits_of(one: Effect, less: bool) -> list[float]:
    """Return the waits of a group: today, if there is less work than that, at the site as it is, and in the variant."""
    return [*([one.before if one.today is None else one.today] if less else []), one.before, one.after]


def notes_on(found: Sequence[Effect]) -> list[str]:
    """Say why groups have no interval, or no verdict although their interval is without 0, if there are such."""
    told = []
    if any(one.interval is None and one.difference for one in found):
        told.append(
            f"A difference without an interval (-): the jobs of the group come in fewer than {FEWEST_BLOCKS} periods "
            "of the log, or most of them in one. So nothing shows how much of it is chance."
        )
    told += longer_with_less(found)
    if any(one.alone for one in found):
        told.append(
            "An interval without 0, but no verdict: the group would be sure if it were the only one. Among so many "
            "groups, some such intervals come by chance."
        )
    return told


def longer_with_less(found: Sequence[Effect]) -> list[str]:
    """Say that less work makes a group wait longer than today, if it does.

    Parameters
    ----------
    found
        The effects of a variant.
    """
    longer = {one.who: (one.before - one.today, one) for one in found if one.today is not None and one.kind != "all"}
    if not longer or max(more for more, _ in longer.values()) < MUCH:
        return []
    _, first = max(longer.values(), key=lambda each: each[0] * each[1].jobs)
    return [
        f"Less work makes some wait longer than today: {first.who} {wait_text(first.before)} instead of "
        f"{wait_text(first.today or 0.0)} without the work of jobs that are killed or left out. Which job goes first "
        "depends on fair share and on all jobs before: not all gain by work that is gone."
    ]


def difference_texts(found: Sequence[Effect]) -> list[tuple[str, str, str]]:
    """Return differences, intervals and verdicts as texts of columns, the first two in the unit of the first one."""
    changes = [(one.difference, one.interval) for one in found]
    every = [told for told, one in zip(changes, found, strict=True) if one.kind == "all"]
    texts = changes_in_columns(changes, every[:1] or None)
    return [
        ("none", "-", one.verdict) if _is_same(one) else (*told, one.verdict)
        for one, told in zip(found, texts, strict=True)
    ]


def _is_same(one: Effect) -> bool:
    return not one.difference and one.interval in (None, (0.0, 0.0))
