"""Tables of a page, each head with the key of its definition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from schedlab.campaign.prices import Price
from schedlab.schedule.summary import duration
from schedlab.scheduler.predictor import CLAIRVOYANT, is_clairvoyant
from schedlab.wording import count_of


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: its text, what it is sorted by, and the key of its definition."""

    text: str
    value: float | None = None
    term: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a page."""

    heading: str
    caption: str
    head: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


def seconds_cell(seconds: float) -> Cell:
    """Return a duration that may be unknown."""
    return Cell("–") if np.isnan(seconds) else Cell(duration(seconds), seconds)


def who_pays(prices: Sequence[Price], baseline: str, labels: Mapping[int, str]) -> Table:
    """Return what each scheduler asks of the jobs that wait longest, of wide jobs and of users.

    Parameters
    ----------
    prices
        What `Comparison.who_pays` returned.
    baseline
        What users are compared with.
    labels
        Names of users by number, as far as they are known.
    """
    users = any(price.users for price in prices)
    head = [
        Cell("Scheduler"),
        Cell("Mean wait", term="wait"),
        Cell("Median wait", term="median"),
        Cell("95th percentile", term="percentile"),
        Cell("Longest wait", term="largest"),
        Cell("Mean wait of wide jobs", term="size_class"),
    ]
    head += [Cell("Users who wait longer", term="users_worse"), Cell("Most for", term="users_worse")] if users else []
    rows = []
    for price in prices:
        waits = (price.mean_wait, price.median_wait, price.p95_wait, price.max_wait, price.wide_wait)
        row = [Cell(price.scheduler), *map(seconds_cell, waits)]
        if users:
            row += [Cell(f"{price.worse:,} of {price.users:,}", price.worse) if price.users else Cell("–")]
            row += [Cell(most_for(price, labels), price.worst_change) if price.worse else Cell("–")]
        rows.append(row)
    foresee = [price.scheduler for price in prices if is_clairvoyant(price.scheduler)]
    note = f"{', '.join(foresee)}: {CLAIRVOYANT}." if foresee else ""
    known = next((price for price in prices if price.jobs < max(each.jobs for each in prices)), None)
    if known is not None:
        note += f" {known.scheduler}: of {count_of(known.jobs, 'job')} the wait is known."
    return Table("Who pays", f"Waits under each scheduler; users against {baseline}", head, rows, note.strip())


def most_for(price: Price, labels: Mapping[int, str]) -> str:
    """Return the user who loses most, and how much."""
    return f"{labels.get(price.worst_user, f'user {price.worst_user}')} +{duration(price.worst_change)}"
