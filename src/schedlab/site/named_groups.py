"""What becomes of the groups that changes name: the QOS, account, user or partition whose line is changed."""

from __future__ import annotations

from collections.abc import Sequence

from schedlab.arguments import explained
from schedlab.site.changes import parse_change
from schedlab.site.effects import FEWEST_JOBS, Effect, group_name
from schedlab.site.variant_names import LINES
from schedlab.site.wait_text import among, waits_texts
from schedlab.wording import count_of, sentence

NEARLY_ALL = 0.95
"""Share of all jobs up to which a group is told apart from them."""


@explained
def named_texts(changes: Sequence[str], effects: Sequence[Effect], under: str = "") -> list[str]:
    """Say what a variant does to the jobs of each group whose line it changes: who favours one asks that first.

    Parameters
    ----------
    changes
        Of the variant.
    effects
        What it does, group by group.
    under
        How the sentences begin, such as "Under x, ".

    Examples
    --------
    >>> found = [
    ...     Effect("all", "all jobs", 90, 3600.0, 3600.0, (-60.0, 60.0)),
    ...     Effect("QOS", "high", 40, 7200.0, 3600.0, (-5400.0, -1800.0)),
    ... ]
    >>> named_texts(["QOS=high Priority=100"], found)
    ['QOS high, whose line is changed: 40 jobs wait 1 h instead of 2 h in the mean (30 to 90 min shorter).']
    >>> named_texts(["QOS=low Priority=7"], found)
    ['QOS low, whose line is changed, has fewer than 30 of these jobs: nothing can be told of them.']
    """
    every = next((one.jobs for one in effects if one.kind == "all"), 0)
    known = {one.kind for one in effects}  # kinds of which jobs are told apart
    lines = [parse_change(text) for text in changes]
    told = []
    for kind, name in dict.fromkeys((LINES.get(one.key.lower()), one.value) for one in lines):
        if kind not in known:
            continue
        one = next((each for each in effects if (each.kind, each.group.lower()) == (kind, name.lower())), None)
        whose = f"{group_name(kind, name)}, whose line is changed"
        if one is None:
            told.append(f"{under}{whose}, has fewer than {FEWEST_JOBS} of these jobs: nothing can be told of them")
        elif one.jobs <= NEARLY_ALL * every:  # else it has been told of all jobs
            told.append(f"{under}{whose}: {_of_waits(one)}")
    return [sentence(text) for text in told]


def _of_waits(one: Effect) -> str:
    """Say how long the jobs of a group wait, how long they did, and how sure that is."""
    before, after = waits_texts(one.before, one.after)
    wait = "waits" if one.jobs == 1 else "wait"
    if abs(one.difference) < 1:
        return f"{count_of(one.jobs, 'job')} {wait} as long as before in the mean ({before})"
    told = f"{count_of(one.jobs, 'job')} {wait} {after} instead of {before} in the mean"
    told += "" if one.same_work else ", of the same work"
    if one.interval is None:
        copies = "" if one.copies is None else f" ({among(one.copies)} in its copies)"
        return f"{told}{copies}; of other weeks this log tells nothing"
    if one.excludes_none:
        return f"{told} ({among(one.interval)})"
    low, high = one.copies or (0.0, 0.0)
    same = "in each copy of this log, but other weeks may differ" if low * high > 0 else "perhaps by chance"
    return f"{told}, {same} ({among(one.interval)})"
