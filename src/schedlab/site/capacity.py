"""How many nodes, and of which kind, a site needs until its jobs wait less: the smallest number that reaches a goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from schedlab.arguments import explained
from schedlab.campaign.results.statistics import LARGER_IS_BETTER
from schedlab.errors import InputError
from schedlab.site.capacity_found import Capacity, KindCapacity
from schedlab.site.capacity_goal import Goal
from schedlab.site.capacity_search import MOST_TRIED, CapacitySearch, Progress, mean_of
from schedlab.site.copies import in_copies
from schedlab.site.grounds import grounds_of
from schedlab.site.more_nodes import NodeKind, check_kind, node_kinds
from schedlab.site.samples import THE_LOG, SiteSample
from schedlab.site.sweep import Paired, Sweep
from schedlab.wording import count_of


@explained
def capacity(
    directory: str | PathLike[str],
    goal: Goal | None = None,
    nodes: Sequence[str] = (),
    *,
    add: int | None = None,
    partitions: Sequence[str] = (),
    most: int = 64,
    prices: Mapping[str, float] | float | None = None,
    currency: str = "",
    sample: SiteSample = THE_LOG,
    copies: int | None = None,
    anyway: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
    told: Callable[[str], None] | None = None,
) -> Capacity:
    """Return how many nodes of which kind a site needs until a metric reaches a goal, or which kind so many should be.

    Nodes of each kind are added to the partitions that hold all of its kind: 1, 2, 4 and so on until the goal is
    reached, then numbers in between; or one number of each kind, side by side.

    Parameters
    ----------
    directory
        Of a site with jobs and nodes; it keeps the simulations.
    goal
        To be reached; with `add` what kinds are compared by, whatever its value, by default the mean wait.
    nodes
        The kinds, see `schedlab.site.more_nodes.node_kinds`; empty: all.
    add
        How many nodes of each kind to compare, instead of reaching a goal.
    partitions
        That new nodes join; empty: those that hold all nodes of the kind.
    most
        Nodes to try of each kind.
    prices
        Of a node-hour: one for all kinds, or by host list as in `nodes` ("": all others).
    currency
        Of prices.
    sample
        The jobs.
    copies
        Of these, some seconds earlier or later, on which both sides are simulated; as for `what_if`. If it is not given
        and there are many numbers to try, they are tried on one, and those that decide are run on several.
    anyway
        Whether a twin answers that its last calibration found not good enough.
    workers, progress
        As for `Sweep.run`.
    told
        Called with what will be simulated, in words, before it is.

    Raises
    ------
    InputError
        If there are no such nodes, partitions or jobs, neither goal nor number, or the twin is not good
        enough.
    """
    for number in (most, add):
        if number is not None and number < 1:
            raise InputError(f"{number} nodes: must be 1 or more")
    if goal is None and add is None:
        raise InputError("give a goal, or how many nodes of each kind are to be compared")
    goal = goal or Goal("mean_wait", 0.0)
    sweep = Sweep(directory, anyway=anyway)
    kinds = node_kinds(sweep.site, nodes, partitions)
    priced = _priced(sweep, kinds, prices)
    samples = in_copies(sweep, [sample], copies, len(kinds) * (1 if add else MOST_TRIED * most.bit_length()))
    deciding = in_copies(sweep, [sample], copies, len(kinds))
    search = CapacitySearch(sweep, goal, samples, deciding, most, add, workers, progress)
    say = told or (lambda _: None)
    say(_plan(len(kinds), most, len(samples), len(deciding)) if add is None else _comparison(len(kinds), add, samples))
    base = search.as_it_is(len(kinds))
    answers = [one.other for one in base]
    before = search.value(answers)
    say(f"{'' if add else f'goal: {goal.aim}; '}the {goal.text} is {goal.in_words(before)} as it is")
    found: list[KindCapacity] = []
    if not goal.reached(before):
        for kind in kinds:
            check_kind(sweep.site, kind)
        search.search(kinds)
        found = search.beside_best(sorted(search.found(priced), key=_order(goal)))
    shown = found[0].decisive if found else None
    pairs = base if shown is None else search.pairs(shown.variant) or sweep.pairs(shown.variant, samples)
    return Capacity(
        sweep,
        goal,
        sample,
        len(deciding),
        most,
        add,
        _until(base),
        before,
        mean_of(answers, "mean_wait"),
        mean_of(answers, "utilisation"),
        int(search.mine.sum()),
        tuple(found),
        grounds_of(sweep, pairs[0], [], pairs),
        currency,
    )


def _plan(kinds: int, most: int, copies: int, deciding: int) -> str:
    """Say what will be simulated, and how often.

    Examples
    --------
    >>> _plan(1, 64, 1, 3)
    '1, 2, 4 and more nodes, up to 64, of 1 kind are tried until the goal is reached, on one copy of the ...'
    """
    text = f"1, 2, 4 and more nodes, up to {most:,}, of {count_of(kinds, 'kind')} are tried until the goal is reached, "
    text += "on one copy of the log" if copies == 1 else f"on {copies} copies of the log"
    if deciding > copies:
        return f"{text}; the number that decides is run on {deciding}, and with a tenth more work"
    return f"{text}; the number that decides is also run with a tenth more work"


def _comparison(kinds: int, add: int, samples: Sequence[SiteSample]) -> str:
    of = f"each of {count_of(kinds, 'kind')}" if kinds > 1 else "one kind"
    on = "one copy" if len(samples) == 1 else f"{len(samples)} copies"
    return f"{count_of(add, 'more node')} of {of}, on {on} of the log, and the site as it is"


def _until(base: Sequence[Paired]) -> int:
    """Return the seconds from the first submission to the last start at the site as it is, a mean over copies."""
    spans = [int(one.base.schedule.start_time.max() - one.base.jobs.submit_time.min()) for one in base]
    return max(round(float(np.mean(spans))), 1)


def _order(goal: Goal) -> Callable[[KindCapacity], tuple[Any, ...]]:
    """Return the order of kinds: those that reach the goal by cost and number, the others by how near they come."""
    sign = -1 if goal.metric in LARGER_IS_BETTER else 1

    def key(one: KindCapacity) -> tuple[Any, ...]:
        if one.needed is not None:
            cost = one.cost(one.needed)
            return 0, float("inf") if cost is None else cost, one.needed
        step = one.decisive
        return 1, float("inf") if step is None else sign * step.value, 0

    return key


def _priced(
    sweep: Sweep, kinds: Sequence[NodeKind], prices: Mapping[str, float] | float | None
) -> dict[NodeKind, float | None]:
    if not isinstance(prices, Mapping):
        return dict.fromkeys(kinds, prices)
    found: dict[NodeKind, float | None] = dict.fromkeys(kinds, prices.get(""))
    for name, price in prices.items():
        if not name:
            continue
        kind = node_kinds(sweep.site, [name], kinds[0].partitions if len(kinds) == 1 else ())[0]
        same = [one for one in kinds if set(one.lines) & set(kind.lines)]
        if not same:
            raise InputError(f"a price of {name} is given, but no such nodes are added")
        found[same[0]] = price
    return found
