"""Variants of which none surely shortens the mean wait: what the log says of them as far as it goes, and who pays.

That a log cannot tell is no answer by itself: sizes that are uncertain are all that a reader has to decide by.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from schedlab.site.changes import MORE_NODES, parse_change
from schedlab.site.coverage import listed
from schedlab.site.variant_names import verb
from schedlab.site.variants import Variant
from schedlab.site.wait_text import among, signed
from schedlab.site.who_pays import NO_GROUP, payers_of
from schedlab.wording import count_of

if TYPE_CHECKING:
    from schedlab.site.ranked_variant import RankedVariant

UNDECIDED = "cannot be told"
"""The verdict of a variant whose interval contains 0."""

SOME_PAY = "some pay"
"""The verdict of one whose interval contains 0, and under which groups surely wait longer and none surely less."""

FREE = "leave the site as it is until a longer log tells"
BOUGHT = "this log decides neither for nor against more nodes"
"""What follows where a log cannot tell: of changes that cost nothing, and of nodes, which a site may need."""


def adds_nodes(variant: Variant) -> bool:
    """Return whether nodes are added or described anew in a variant."""
    return any(parse_change(one).key.lower() in ("nodename", MORE_NODES) for one in variant.changes)


def undecided_texts(number: int, told: Sequence[RankedVariant], today: str) -> list[str]:
    """Return clauses: that nothing is sure, what is likeliest all the same, who pays, what follows.

    Parameters
    ----------
    number
        Variants that do all the work.
    told
        Those of which the log cannot tell, and of which the answer speaks; the best first.
    today
        The mean wait of the site as it is, in the unit of the table below.
    """
    whether = "either of 2 variants" if number == 2 else f"any of {count_of(number, 'variant')}"
    whether = told[0].variant.name if number == 1 else whether
    payers: dict[str, list[str]] = {}
    for one in told:
        payers.setdefault("; ".join(payers_of(one)), []).append(one.variant.name)
    who_pays = [f"under {listed(names)}, {who}" for who, names in payers.items() if who]
    return [
        f"whether {whether} {verb(whether, 'shortens', 'shorten')} the mean wait cannot be told from this log",
        *_size(told[0], today),
        *([_below(told)] if len(told) > 1 else []),
        *([NO_GROUP] if [*payers] == [NO_GROUP] else who_pays),
        *([BOUGHT if any(adds_nodes(one.variant) for one in told) else FREE] if some_choice(told) else []),
    ]


def some_choice(told: Sequence[RankedVariant]) -> bool:
    """Return whether one of some variants is a choice of the site; what happens to nodes is none."""
    return any(one.variant.node_events is None for one in told)


def _below(told: Sequence[RankedVariant]) -> str:
    """Say where the variants of which no size is told are."""
    others = [one.variant.name for one in told[1:]]
    return f"what is known of {others[0] if len(others) == 1 else f'the {len(others)} others'} follows below"


def _size(one: RankedVariant, today: str) -> list[str]:
    """Say between which ends the mean wait changes, what copies gave, and how much of it the variant cannot change."""
    every = next(effect for effect in one.effects if effect.kind == "all")
    if every.interval is None:
        size = [
            f"in the replay, the mean wait of {today} changes by {signed(every.difference)} under {one.variant.name}"
        ]
    else:
        size = [f"under {one.variant.name}, the mean wait of {today} becomes anything {among(every.interval)}"]
    size += [] if every.copies is None else [f"its simulated copies came out {among(every.copies)}"]
    return [*size, *one.bounds.no_use]
